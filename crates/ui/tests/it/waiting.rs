//! What moves while nothing happens.

use std::{
    io::{self, Write},
    time::Duration,
};

use lighterman_calls::RequestKind;
use lighterman_contracts::LogStream;
use lighterman_status::ContainerStatus;
use lighterman_ui::{Look, Mode, Screen, Size};
use lighterman_view::{Wait, WaitReason};

use crate::stage::{Stage, Watching, at, call, container};

#[test]
fn a_long_wait_in_a_pipe_is_told_after_10_20_40_seconds() {
    let mut stage = Stage::new(Watching::Pipe, vec![container("web")]);
    stage.reach(ContainerStatus::Created, Some(call(RequestKind::Start)));
    stage.until(100_000);
    let told: Vec<&str> = stage.raw().lines().filter_map(|line| line.split("still waits ").nth(1)).collect();
    assert_eq!(told.len(), 4, "{told:?}");
    for (told, time) in told.iter().zip(["10 s", "20 s", "40 s", "1 min 20 s"]) {
        assert!(told.starts_with(&format!("({time}) for Docker to answer a call")), "{told}");
    }
}

#[test]
fn a_container_that_runs_is_not_told_to_wait() {
    let mut stage = Stage::new(Watching::Pipe, vec![container("web")]);
    stage.reach(ContainerStatus::Created, Some(call(RequestKind::Start))).until(5_000);
    stage.reach(ContainerStatus::Running, Some(WaitReason::Running)).until(3_600_000);
    assert!(!stage.raw().contains("still waits"), "{}", stage.raw());
    assert_eq!(stage.screen.poll_timeout(), None);
}

#[test]
fn a_late_wake_is_one_reminder() {
    let mut stage = Stage::new(Watching::Pipe, vec![container("web")]);
    stage.reach(ContainerStatus::Created, Some(call(RequestKind::Start)));
    stage.show(|screen, _| screen.handle_timeout(at(300_000)));
    assert_eq!(stage.raw().matches("still waits").count(), 1);
    let next = stage.screen.poll_timeout().unwrap();
    assert_eq!(next, at(320_000).mono);
}

/// A flood of output is written as it comes; the living lines are drawn ten times a second, which the stage checks.
#[test]
fn output_is_never_held_back_by_living_lines() {
    let mut stage = Stage::new(Watching::Terminal, vec![container("web")]);
    stage.reach(ContainerStatus::Running, Some(WaitReason::Running));
    for step in 0..3_000_u64 {
        stage.until(step).log(LogStream::Stdout, format!("line {step}\n").as_bytes());
        let seen = stage.raw().matches("line ").count();
        assert_eq!(seen, usize::try_from(step).unwrap() + 1);
    }
    let drawn = stage.raw().matches("\u{1b}[?7l").count();
    assert!((29..=31).contains(&drawn), "{drawn} in three seconds");
}

#[test]
fn many_containers_do_not_fill_the_terminal() {
    let mut containers: Vec<_> = (0..40).map(|index| container(&format!("web-{index}"))).collect();
    for container in &mut containers {
        container.wait = Some(Wait { reason: WaitReason::Running, since: at(0), until: None });
    }
    let mut stage = Stage::new(Watching::Terminal, containers);
    stage.change(|_| {});
    let seen = stage.outcome();
    assert!(seen.lines().count() <= 12 && seen.ends_with("and 31 more\n"), "{seen}");
    stage.screen.resize(Size { columns: 30, rows: 5 });
    stage.until(1_000).change(|_| {});
    let last = stage.raw().rsplit("\u{1b}[?7l").next().unwrap();
    assert_eq!(last.lines().count(), 4, "three lines and what ends them: {last:?}");
}

#[test]
fn a_writer_that_fails_is_told_of_and_the_screen_goes_on() {
    /// Takes everything but the second write.
    #[derive(Default)]
    struct Moody(Vec<u8>, u32);

    impl Write for Moody {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.1 += 1;
            if self.1 == 2 { Err(io::ErrorKind::BrokenPipe.into()) } else { self.0.write(bytes) }
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    let mut screen = Screen::new(Mode::Text(Look::PLAIN), io::sink(), Moody::default());
    screen.note(at(0), "first").unwrap();
    assert_eq!(screen.note(at(1), "second").unwrap_err().kind(), io::ErrorKind::BrokenPipe);
    screen.note(at(2), "third").unwrap();
    let text = String::from_utf8(screen.into_writers().1.0).unwrap();
    assert_eq!(text, "12:00:00.000  (run)   first\n12:00:00.002  (run)   third\n");
}

/// The raw bytes once, so that colour and cursor movements are seen by a reader too.
#[test]
fn what_a_terminal_is_sent() {
    let mut stage = Stage::new(Watching::Terminal, vec![container("web")]);
    stage.reach(ContainerStatus::Created, Some(call(RequestKind::Start)));
    stage.until(200).reach(ContainerStatus::Running, Some(WaitReason::Running));
    stage.log(LogStream::Stdout, b"hello\n").log(LogStream::Stderr, b"\x1b[1mbold\x1b[0m oh\n");
    stage.until(1_400);
    insta::assert_snapshot!(stage.raw().replace('\u{1b}', "<ESC>").replace('\r', "<CR>"));
}

/// Every start waits a few milliseconds for Docker: that is no news.
#[test]
fn a_short_wait_is_not_told_and_a_long_one_is_with_its_end() {
    for (millis, told) in [(20, false), (999, false), (3_000, true)] {
        let mut stage = Stage::new(Watching::Pipe, vec![container("web")]);
        stage.reach(ContainerStatus::None, Some(WaitReason::Connecting));
        stage.until(millis).reach(ContainerStatus::None, Some(call(RequestKind::InspectImage))).until(5_000);
        let raw = stage.raw();
        assert_eq!(raw.contains("waits for the connection to Docker"), told, "{millis}: {raw}");
        assert_eq!(raw.contains("Docker answers after 3.00 s"), told, "{millis}: {raw}");
    }
}

/// The words change while nobody has been told: the second of patience is one.
#[test]
fn a_wait_of_one_kind_is_told_after_one_second_in_its_last_words() {
    let away = |text: &str| Some(WaitReason::RuntimeAway { text: text.into() });
    let mut stage = Stage::new(Watching::Pipe, vec![container("web")]);
    stage.reach(ContainerStatus::Running, away("first words"));
    stage.until(900).reach(ContainerStatus::Running, away("last words")).until(1_500);
    let raw = stage.raw();
    assert!(raw.contains("last words") && !raw.contains("first words"), "{raw}");
    assert_eq!(raw.matches("waits for Docker").count(), 1, "{raw}");
}

/// Ctrl-C ends the wait for a Docker that never answered: nobody may read that it did.
#[test]
fn a_docker_that_never_answered_is_not_told_to_answer_again() {
    for wait in [WaitReason::RuntimeAway { text: "no such file".into() }, WaitReason::Connecting] {
        let mut stage = Stage::new(Watching::Pipe, vec![container("web")]);
        stage.reach(ContainerStatus::None, Some(wait)).until(39_900);
        stage.reach(ContainerStatus::Stopped, None);
        assert!(
            !stage.raw().contains("Docker answers after") && !stage.raw().contains("again after"),
            "{}",
            stage.raw()
        );
    }
}

/// The command removes what has stopped as soon as its output is read; a day is what the core knows of.
#[test]
fn a_container_that_is_kept_for_a_moment_is_not_told_to_be_kept() {
    let mut stage = Stage::new(Watching::Terminal, vec![container("web")]);
    stage.reach(ContainerStatus::Stopped, Some(WaitReason::Cleanup)).until(900);
    assert!(!stage.raw().contains("kept"), "{}", stage.raw());
    stage.until(3_000);
    assert!(stage.raw().contains("stopped; kept"), "{}", stage.raw());
}

/// What an earlier process waited for began before this one: nobody has waited that long here.
#[test]
fn a_wait_is_counted_from_when_this_process_began() {
    for watching in [Watching::Pipe, Watching::Json] {
        let mut stage = Stage::new(watching, vec![container("web")]);
        let earlier = stage.now();
        stage.until(12_000).started().until(12_001).change(|task| {
            task.containers[0].wait = Some(Wait { reason: WaitReason::Connecting, since: earlier, until: None });
        });
        stage.until(14_000).reach(ContainerStatus::Running, Some(WaitReason::Running));
        let raw = stage.raw();
        assert!(!raw.contains("still waits"), "{raw}");
        let told = if watching == Watching::Json { "\"waited_ms\":2000" } else { "Docker answers after 2.00 s" };
        assert!(raw.contains(told), "{raw}");
    }
}

/// A registry that is away is told whole once, then in a line.
#[test]
fn a_long_cause_is_told_whole_before_the_second_try_and_cut_later() {
    let cause = "Get \"https://registry.test/v2/\": dial tcp: lookup registry.test on 127.0.0.11:53: read udp \
                 172.17.0.2:46000->127.0.0.11:53: connection refused; the last word";
    let mut stage = Stage::new(Watching::Pipe, vec![container("web")]);
    for (attempt, begin) in [(2, 500), (3, 2_000)] {
        let since = stage.until(begin).now();
        let reason = WaitReason::Pause { attempt, after: cause.into() };
        let until = Some(since.mono.after(Duration::from_secs(1)));
        stage.change(|task| {
            task.containers[0].known = ContainerStatus::ManifestPulled;
            task.containers[0].wait = Some(Wait { reason, since, until });
        });
        stage.until(begin + 1_000).reach(ContainerStatus::ManifestPulled, Some(call(RequestKind::Pull)));
    }
    let raw = stage.raw();
    let (second, third) = raw.split_once("before try 3").expect("both are told");
    assert!(second.contains("last word") && !third.contains("last word"), "{raw}");
    assert!(third.contains('…') && third.contains("the pause is over"), "{raw}");
    assert!(raw.contains("pulling") && !raw.contains("MANIFEST_PULLED"), "nothing has been pulled: {raw}");
}

/// Writes nothing, as a full disk does.
struct Full;

impl Write for Full {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::StorageFull.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn output_that_is_lost_is_told_once_on_the_other_writer() {
    for mode in [Mode::Text(Look::PLAIN), Mode::Json] {
        let mut screen = Screen::new(mode, Full, Vec::new());
        let web = crate::stage::name("web");
        for millis in 0..3 {
            let chunk = lighterman_contracts::LogChunk { stream: LogStream::Stdout, bytes: b"line\n".to_vec() };
            assert_eq!(screen.log(at(millis), &web, &chunk).unwrap_err().kind(), io::ErrorKind::StorageFull);
        }
        let told = String::from_utf8(screen.into_writers().1).unwrap();
        assert_eq!(told.matches("output cannot be written and is lost").count(), 1, "{told}");
    }
}

/// The line of the end and the summary tell one length, whenever the end is learned.
#[test]
fn one_length_is_told_of_a_stopped_task() {
    let mut stage = Stage::new(Watching::Pipe, vec![container("web")]);
    stage.until(200).reach(ContainerStatus::Running, Some(WaitReason::Running)).until(2_540).stop(Some(0), None);
    let mut late = Stage::new(Watching::Pipe, vec![container("web")]);
    late.until(200).reach(ContainerStatus::Running, Some(WaitReason::Running)).until(2_540);
    late.view.execution_stopped_at = Some(late.now());
    late.until(2_555).change(|task| {
        task.known = lighterman_status::TaskStatus::Stopped;
        task.containers[0].known = ContainerStatus::Stopped;
    });
    for stage in [&mut stage, &mut late] {
        let end = lighterman_ui::End { exit_code: 0, kind: "task", text: None };
        stage.show(|screen, now| screen.end(now, &end));
        let raw = stage.raw();
        assert!(raw.contains("(2.54 s)") && raw.contains("stopped after 2.54 s") && !raw.contains("(2.55"), "{raw}");
    }
}
