//! Whole sessions, in every mode.

use lighterman_calls::RequestKind;
use lighterman_contracts::LogStream;
use lighterman_status::{ContainerStatus, Health, TaskStatus};
use lighterman_ui::{End, Failure, StopAction, StopSignal};
use lighterman_view::{StopReason, Wait, WaitReason};

use crate::stage::{Stage, Watching, call, container, port, started};

/// Plays a story in front of a pipe, a terminal and a machine.
fn play(title: &str, story: fn(&mut Stage)) {
    for watching in [Watching::Pipe, Watching::Terminal, Watching::Json] {
        let mut checked = container("web");
        checked.has_health_check = title == "success";
        let mut stage = Stage::new(watching, vec![checked]);
        story(&mut stage);
        let outcome = stage.outcome();
        if watching != Watching::Json {
            let longest = outcome.lines().map(|line| line.chars().count()).max();
            assert!(longest <= Some(80), "{longest:?} columns in {outcome}");
        }
        insta::assert_snapshot!(format!("{title}_{watching:?}").to_lowercase(), outcome);
    }
}

fn end(stage: &mut Stage, exit_code: u8, kind: &'static str, text: Option<&str>) {
    let end = End { exit_code, kind, text: text.map(Into::into) };
    stage.show(|screen, now| screen.end(now, &end));
    assert_eq!(stage.screen.poll_timeout(), None, "nothing lives after the end");
}

fn up_to_created(stage: &mut Stage) {
    stage.started().until(3).reach(ContainerStatus::None, Some(call(RequestKind::InspectImage)));
    stage.until(6).reach(ContainerStatus::Pulled, Some(call(RequestKind::Create)));
    stage.until(14).reach(ContainerStatus::Created, Some(call(RequestKind::Start))).frame();
}

#[test]
fn success() {
    play("success", |stage| {
        up_to_created(stage);
        let started_at = stage.until(204).now().wall;
        stage.view.containers[0].started_at = Some(started_at);
        stage.view.containers[0].ports = vec![port("0.0.0.0", 32810), port("::", 32810)];
        stage.reach(ContainerStatus::Running, Some(WaitReason::Running));
        stage.until(210).log(LogStream::Stdout, b"listening on ").log(LogStream::Stdout, b"80\nready\n");
        stage.until(1_300).frame();
        stage.log(LogStream::Stderr, b"\x1b[31mwarn\x1b[0m \x1b[2Jno config\r\n");
        stage.until(5_250).change(|task| task.containers[0].health = Health::Healthy);
        stage.until(9_000).log(LogStream::Stdout, b"10%\r100%\ndone").frame();
        stage.until(9_500).stop(Some(0), None);
        stage.until(9_540).change(|task| task.containers[0].wait = None).change(|task| task.removed = true);
        end(stage, 0, "task", None);
    });
}

#[test]
fn failed_start() {
    play("failed_start", |stage| {
        up_to_created(stage);
        stage.until(180).stop(
            None,
            Some(StopReason {
                name: "CannotStartContainerError",
                text: "failed to create shim task: OCI runtime create failed: exec: \"/no/such/program\": stat \
                       /no/such/program: no such file or directory: unknown"
                    .into(),
                advice: Some("Check `entryPoint` and `command` against the files of the image."),
            }),
        );
        stage.until(190).change(|task| task.removed = true);
        end(stage, 125, "own-error", Some("the container never ran"));
    });
}

#[test]
fn out_of_memory() {
    play("out_of_memory", |stage| {
        up_to_created(stage);
        stage.until(200).reach(ContainerStatus::Running, Some(WaitReason::Running));
        stage.until(83_456).stop(
            Some(137),
            Some(StopReason {
                name: "OutOfMemoryError",
                text: "Container killed due to memory usage".into(),
                advice: Some("Raise `memory` of the container, or find out what it uses it for."),
            }),
        );
        stage.until(83_500).change(|task| task.removed = true);
        end(stage, 137, "task", None);
    });
}

#[test]
fn own_exit() {
    play("own_exit", |stage| {
        up_to_created(stage);
        stage.until(200).reach(ContainerStatus::Running, Some(WaitReason::Running));
        stage.until(300).log(LogStream::Stderr, b"no such table: users\n");
        // The end is learned before the task draws its conclusions.
        stage.until(310).change(|task| {
            (task.containers[0].known, task.containers[0].exit_code) = (ContainerStatus::Stopped, Some(3));
        });
        stage.until(311).stop(Some(3), None).until(320).change(|task| task.removed = true);
        end(stage, 3, "task", None);
    });
}

#[test]
fn pull() {
    play("pull", |stage| {
        stage.started().until(3).reach(ContainerStatus::None, Some(call(RequestKind::InspectImage)));
        stage.until(5).reach(ContainerStatus::None, Some(call(RequestKind::Pull)));
        stage.until(400).pull("1", "Pulling from team/web", None);
        for layer in ["a1a1a1a1a1a1", "b2b2b2b2b2b2", "c3c3c3c3c3c3"] {
            stage.until(450).pull(layer, "Pulling fs layer", None);
        }
        stage.pull("c3c3c3c3c3c3", "Already exists", None).frame();
        let total = 40 << 20;
        for step in 0..60_u64 {
            let done = (step * total / 60, total);
            stage.until(500 + step * 100).pull("a1a1a1a1a1a1", "Downloading", Some(done));
            stage.pull("b2b2b2b2b2b2", "Downloading", Some((done.0 / 10, total / 10)));
        }
        stage.frame();
        // Then the registry says nothing for a while (B-012).
        stage.until(17_000).frame();
        let layers = ["a1a1a1a1a1a1", "b2b2b2b2b2b2"];
        for (millis, status, amounts) in [
            (17_100, "Download complete", None),
            (18_000, "Extracting", Some((1, total))),
            (19_000, "Pull complete", None),
        ] {
            stage.until(millis);
            for layer in layers {
                stage.pull(layer, status, amounts);
            }
        }
        stage.until(19_200).frame();
        stage.reach(ContainerStatus::Pulled, Some(call(RequestKind::Create)));
        stage.until(19_210).pull("a1a1a1a1a1a1", "Pull complete", None);
        stage.until(19_400).frame();
    });
}

#[test]
fn failing_pull() {
    play("failing_pull", |stage| {
        stage.started().until(5).reach(ContainerStatus::None, Some(call(RequestKind::Pull)));
        let pause = |attempt| WaitReason::Pause { attempt, after: "registry.test: 503 Service\nUnavailable".into() };
        for (attempt, begin) in [(2, 500), (3, 2_500)] {
            let since = stage.until(begin).now();
            let until = Some(since.mono.after(std::time::Duration::from_millis(1_000)));
            stage.change(|task| task.containers[0].wait = Some(Wait { reason: pause(attempt), since, until }));
            stage.until(begin + 300).frame();
            stage.until(begin + 1_000);
            stage.reach(ContainerStatus::None, Some(WaitReason::Call { kind: RequestKind::Pull, attempt }));
        }
        stage.until(6_000).stop(
            None,
            Some(StopReason {
                name: "CannotPullContainerError",
                text:
                    "pull access denied for registry.test/team/web, repository does not exist or may require 'docker \
                       login': denied: requested access to the resource is denied"
                        .into(),
                advice: Some("Log in to the registry, or correct `image`."),
            }),
        );
        end(stage, 125, "own-error", Some("the container never ran"));
    });
}

#[test]
fn ctrl_c() {
    play("ctrl_c", |stage| {
        up_to_created(stage);
        stage.until(200).reach(ContainerStatus::Running, Some(WaitReason::Running));
        stage.until(3_000).frame();
        stage.echo("^C").show(|screen, now| screen.signal(now, StopSignal::Interrupt, StopAction::Stop));
        let (now, until) = (stage.now(), stage.now().mono.after(std::time::Duration::from_secs(40)));
        stage.until(3_002).change(|task| {
            task.desired = TaskStatus::Stopped;
            task.reason = Some("stopped on request".into());
            let first = &mut task.containers[0];
            first.desired = ContainerStatus::Stopped;
            first.wait = Some(Wait { reason: call(RequestKind::Stop), since: now, until: Some(until) });
        });
        stage.until(6_500).log(LogStream::Stdout, b"I do not care\n").frame();
        stage.echo("^C").show(|screen, now| screen.signal(now, StopSignal::Interrupt, StopAction::Kill));
        stage.until(6_700).stop(Some(137), None);
        stage.until(6_750).change(|task| task.removed = true);
        end(stage, 130, "interrupted", Some("stopped after Ctrl-C"));
    });
}

#[test]
fn docker_away() {
    play("docker_away", |stage| {
        up_to_created(stage);
        stage.until(200).reach(ContainerStatus::Running, Some(WaitReason::Running));
        let away = |text: &str| Some(WaitReason::RuntimeAway { text: text.into() });
        stage.until(8_000).reach(ContainerStatus::Running, away("connection closed before message completed"));
        // Further tries fail in other words: one absence, told once.
        stage.until(9_000).reach(ContainerStatus::Running, away("/var/run/docker.sock: connection refused"));
        stage.until(31_000).frame();
        stage.until(32_500).reach(ContainerStatus::Running, Some(WaitReason::Running));
        stage.until(40_000).reach(ContainerStatus::Running, away("/var/run/docker.sock: connection refused"));
        stage.until(100_000);
        let failure = Failure {
            text: "Docker at unix:///var/run/docker.sock has been away for 1 min".into(),
            causes: vec!["/var/run/docker.sock: connection refused".into()],
            advice: Some(
                "start Docker, then `lighterman run --resume 0abc` goes on, or the next `run` cleans up".into(),
            ),
        };
        stage.show(|screen, now| screen.failure(now, &failure));
        end(stage, 125, "own-error", Some("gave up; the container may still be running"));
    });
}

#[test]
fn resumed() {
    play("resumed", |stage| {
        stage.until(60_000);
        let mut started = started();
        started.resumed = true;
        stage.show(|screen, now| screen.started(now, &started));
        stage.view.known = TaskStatus::Running;
        let first = &mut stage.view.containers[0];
        first.ports = vec![port("127.0.0.1", 8080)];
        stage.reach(ContainerStatus::Running, Some(WaitReason::Running));
        stage.until(61_000).show(|screen, now| screen.note(now, "the store was rebuilt from labels"));
        stage.show(|screen, now| screen.warning(now, "`links` has no effect"));
    });
}
