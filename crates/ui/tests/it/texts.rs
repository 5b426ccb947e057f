//! Texts that stand by themselves.

use std::{path::Path, time::Duration};

use lighterman_calls::RequestKind;
use lighterman_contracts::LogStream;
use lighterman_ids::InstanceId;
use lighterman_status::{ContainerStatus, Health, TaskStatus};
use lighterman_ui::{Failure, Leftover, Zone, explain, failure, leftovers, problems, summary};
use lighterman_view::{ContainerView, StopReason, TaskView, Wait, WaitReason};

use crate::stage::{Stage, Watching, at, call, container, name, task};

/// Every line of a text fits 80 columns.
#[track_caller]
fn fits(text: &str) -> &str {
    let longest = text.lines().max_by_key(|line| line.chars().count()).unwrap_or_default();
    assert!(longest.chars().count() <= 80, "too long: {longest}");
    text
}

fn every_wait() -> TaskView {
    let text =
        "a text of the other side that takes more than one line of eighty columns to be told, \u{1b}[2Jas\nthey do";
    let waits = [
        ("asking", call(RequestKind::Start)),
        ("asking-again", WaitReason::Call { kind: RequestKind::Create, attempt: 3 }),
        ("pausing", WaitReason::Pause { attempt: 2, after: text.into() }),
        ("store", WaitReason::Store { text: "no space left on the state device".into() }),
        ("away", WaitReason::RuntimeAway { text: text.into() }),
        ("running", WaitReason::Running),
        ("kept", WaitReason::Cleanup),
        ("late", WaitReason::LateCreate),
    ];
    let waiting = waits.map(|(name, reason)| {
        let mut container = container(name);
        let until = (name != "running" && name != "store").then(|| at(200_000).mono);
        container.known = if name == "running" { ContainerStatus::Running } else { ContainerStatus::Created };
        container.wait = Some(Wait { reason, since: at(1_000), until });
        container
    });
    task(waiting.into())
}

#[test]
fn explain_tells_for_every_wait_what_since_when_and_until_when() {
    insta::assert_snapshot!(fits(&explain(&every_wait(), at(75_500), &Zone::UTC)));
}

#[test]
fn explain_tells_of_containers_that_wait_for_nothing() {
    let mut ended = ended("job", Some(3), None);
    ended.desired = ContainerStatus::Stopped;
    let mut checked = container("a-container-with-quite-a-long-name");
    (checked.known, checked.has_health_check, checked.health) = (ContainerStatus::Running, true, Health::Unhealthy);
    let mut view = task(vec![ended, checked, container("new")]);
    view.reason = Some("Essential container in task exited".into());
    insta::assert_snapshot!(fits(&explain(&view, at(1_000), &Zone::UTC)));
    (view.known, view.desired) = (TaskStatus::Stopped, TaskStatus::Stopped);
    let text = explain(&view, at(1_000), &Zone::UTC);
    assert!(text.starts_with("task demo:3 (") && text.contains("is STOPPED, as it should be\n"), "{text}");
    view.removed = true;
    assert!(explain(&view, at(1_000), &Zone::UTC).contains(") is over, and its containers"));
}

fn ended(name: &str, exit_code: Option<i32>, reason: Option<StopReason>) -> ContainerView {
    ContainerView { known: ContainerStatus::Stopped, exit_code, reason, ..container(name) }
}

#[test]
fn the_summary_is_a_table_of_80_columns() {
    let oom = StopReason {
        name: "OutOfMemoryError",
        text: "Container killed due to memory usage".into(),
        advice: Some("Raise `memory` of the container, or find out what it uses it for."),
    };
    let long = StopReason { name: "CannotPullContainerError", text: "x".repeat(200), advice: None };
    let mut view = task(vec![
        ended("web", Some(137), Some(oom)),
        ended("init", Some(0), None),
        ended("job-with-a-very-long-name", Some(127), None),
        ended("never", None, Some(long)),
        ended("idle", None, None),
        ContainerView { known: ContainerStatus::Running, ..container("left") },
    ]);
    (view.known, view.reason) = (TaskStatus::Stopped, Some("Essential container in task exited".into()));
    view.execution_stopped_at = Some(at(65_000));
    insta::assert_snapshot!(fits(&summary(&view, at(99_000), 80)));
    insta::assert_snapshot!("the_summary_on_a_narrow_terminal", summary(&view, at(99_000), 40));
    for columns in 0..120 {
        let text = summary(&view, at(99_000), columns);
        assert!(text.lines().all(|line| line.chars().count() <= columns.max(40)), "{columns}: {text}");
    }
}

#[test]
fn leftovers_name_instance_container_and_what_became_of_it() {
    let instance = InstanceId::from_bits(0x0f1e_2d3c << 96);
    let state_dir = || "/home/a/.local/state/lighterman/run/0f1e2d3c000000000000000000000000".into();
    let cleaned = |exit_code| Leftover::Cleaned {
        instance: instance.clone(),
        state_dir: state_dir(),
        container: "ecs-demo-3-web-0f1e".into(),
        exit_code,
    };
    let found = [
        cleaned(Some(143)),
        cleaned(None),
        Leftover::Kept {
            instance: instance.clone(),
            state_dir: state_dir(),
            container: "ecs-demo-3-web-0f1e".into(),
            why: "device or\nresource busy".into(),
        },
        Leftover::Living { instance: instance.clone(), state_dir: state_dir(), pid: Some(4711) },
        Leftover::Living { instance: instance.clone(), state_dir: state_dir(), pid: None },
        Leftover::InCleanup { instance: instance.clone(), state_dir: state_dir(), pid: Some(4711) },
        Leftover::InCleanup { instance: instance.clone(), state_dir: state_dir(), pid: None },
        Leftover::Dead { instance: instance.clone(), state_dir: state_dir() },
        Leftover::Elsewhere {
            instance: instance.clone(),
            state_dir: state_dir(),
            docker_host: "tcp://10.0.0.1:2375".into(),
        },
        Leftover::Unreadable { state_dir: state_dir(), why: "damaged; run with --recover".into() },
    ];
    insta::assert_snapshot!(fits(&leftovers(&found, 80)));
    let mut stage = Stage::new(Watching::Json, Vec::new());
    stage.show(|screen, now| screen.leftovers(now, &found));
    insta::assert_snapshot!("leftovers_json", stage.raw());
}

#[test]
fn problems_come_a_line_each_with_a_count() {
    let file = Path::new("task.json");
    let errors = ["task.json:4:7: containerDefinitions[0].image is missing".to_owned(), "a\u{1b}[2Jb".to_owned()];
    let warnings = ["task.json:9:3: `volumes` is not known here".to_owned()];
    insta::assert_snapshot!(problems(file, &errors, &warnings, None));
    assert_eq!(problems(file, &[], &[], None), "task.json: accepted\n");
    assert!(problems(file, &[], &warnings, None).ends_with("task.json: accepted, with 1 warning\n"));
    assert!(problems(file, &errors[..1], &[], None).ends_with("task.json: refused: 1 error\n"));
    let narrow = problems(file, &errors, &warnings, Some(40));
    assert!(narrow.lines().all(|line| line.chars().count() <= 40), "{narrow}");
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(words(&narrow), words(&problems(file, &errors, &warnings, None)), "the same words");
    let mut stage = Stage::new(Watching::Json, Vec::new());
    stage.show(|screen, now| screen.problems(now, file, &errors, &warnings));
    insta::assert_snapshot!("problems_json", stage.raw());
}

#[test]
fn failures_name_causes_and_what_to_do() {
    let told = Failure {
        text: "cannot talk to Docker at unix:///var/run/docker.sock, which is what DOCKER_HOST says".into(),
        causes: vec!["connect /var/run/docker.sock".into(), "permission denied (os error 13)".into()],
        advice: Some(
            "become a member of the group `docker`, or run as root; then log in again so that it counts".into(),
        ),
    };
    insta::assert_snapshot!(fits(&failure(&told, 80)));
    let short = Failure { text: "no".into(), causes: vec![], advice: None };
    assert_eq!(failure(&short, 80), "error: no\n");
}

/// The same bytes: whole for a program that reads them, safe for a terminal.
#[test]
fn b084_long_and_broken_lines_are_kept_in_pipes_and_cut_on_terminals() {
    let mut bytes = b"\x1b]0;title\x07\xff".to_vec();
    bytes.extend(std::iter::repeat_n(b'x', 40_000));
    bytes.extend(b"\nnext\r\n");
    let written = |watching| {
        let mut stage = Stage::new(watching, vec![container("web")]);
        stage.log(LogStream::Stdout, &bytes);
        stage.raw().to_owned()
    };
    // The paper of the stage is UTF-8: the pipe's bytes are compared where they are whole.
    let mut screen =
        lighterman_ui::Screen::new(lighterman_ui::Mode::Text(lighterman_ui::Look::PLAIN), Vec::new(), Vec::new());
    let chunk = lighterman_contracts::LogChunk { stream: LogStream::Stdout, bytes: bytes.clone() };
    screen.log(at(0), &name("web"), &chunk).unwrap();
    let (logs, _) = screen.into_writers();
    let mut whole = Vec::new();
    for line in logs.split_inclusive(|byte| *byte == b'\n') {
        let (prefix, rest) = line.split_at(b"web    | ".len());
        match prefix {
            b"web    | " => whole.extend_from_slice(rest),
            b"web    + " => {
                assert_eq!(whole.pop(), Some(b'\n'));
                whole.extend_from_slice(rest);
            }
            other => panic!("{other:?}"),
        }
    }
    assert!(whole == bytes, "nothing is lost in a pipe");
    let seen = written(Watching::Terminal);
    assert!(seen.contains("[long line cut]") && seen.len() < 17_000 && !seen.contains("title"), "{}", seen.len());
    assert!(seen.ends_with("next\n"), "the next line is whole");
    assert_eq!(written(Watching::Json).lines().count(), 4, "three pieces and a line");
}

#[test]
fn a_line_that_is_not_over_is_shown_when_the_output_is() {
    let mut stage = Stage::new(Watching::Pipe, vec![container("web")]);
    stage.log(LogStream::Stdout, b"no line feed");
    assert_eq!(stage.raw(), "");
    stage.show(|screen, now| screen.log_end(now, &name("web")));
    assert_eq!(stage.raw(), "web    | no line feed\n");
    stage.show(|screen, now| screen.log_end(now, &name("web")));
    assert_eq!(stage.raw(), "web    | no line feed\n", "once");
}

/// Wherever a text of others gets into a line of ours, it cannot bring control characters.
#[test]
fn no_text_of_others_controls_the_terminal() {
    let evil = "\u{1b}]0;title\u{7}\u{1b}[2J\u{9b}2Jx\n\u{202e}y";
    let reason = || Some(StopReason { name: "CannotStartContainerError", text: evil.into(), advice: None });
    let mut stage = Stage::new(Watching::Pipe, vec![container("web")]);
    stage.reach(ContainerStatus::Created, Some(WaitReason::RuntimeAway { text: evil.into() }));
    stage.until(1).reach(ContainerStatus::Created, Some(WaitReason::Store { text: evil.into() }));
    stage.until(2).reach(ContainerStatus::Created, Some(WaitReason::Pause { attempt: 2, after: evil.into() }));
    stage.until(60_000).view.reason = Some(evil.into());
    stage.stop(None, reason());
    stage.show(|screen, now| screen.note(now, evil));
    let told = Failure { text: evil.into(), causes: vec![evil.into()], advice: Some(evil.into()) };
    stage.show(|screen, now| screen.failure(now, &told));
    stage.show(|screen, now| screen.problems(now, Path::new("f"), &[evil.into()], &[evil.into()]));
    let leftover = Leftover::Unreadable { state_dir: "/s".into(), why: evil.into() };
    stage.show(|screen, now| screen.leftovers(now, &[leftover]));
    let mut text = stage.raw().to_owned();
    text += &summary(&stage.view, at(60_000), 80);
    text += &explain(&every_wait(), at(75_500), &Zone::UTC);
    assert!(text.contains('x') && text.contains('y'), "the rest is told");
    let bad: Vec<char> = text.chars().filter(|c| (c.is_control() && *c != '\n') || *c == '\u{202e}').collect();
    assert_eq!(bad, [], "{text}");
    assert!(!text.contains("title"));
}

#[test]
fn a_time_zone_is_only_for_people() {
    assert_eq!(format!("{:?}", Zone::UTC), "Zone(UTC)");
    let view = every_wait();
    let text = explain(&view, at(Duration::from_secs(10).as_secs()), &Zone::UTC);
    assert!(text.contains("since 12:00:01.000"), "{text}");
}
