//! What moves while nothing happens.

use std::io::{self, Write};

use lighterman_calls::RequestKind;
use lighterman_contracts::LogStream;
use lighterman_status::ContainerStatus;
use lighterman_ui::{Look, Mode, Screen, Size};
use lighterman_view::WaitReason;

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
        container.wait = Some(lighterman_view::Wait { reason: WaitReason::Running, since: at(0), until: None });
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
