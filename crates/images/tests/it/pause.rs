//! The pause program, run as a process of this host.

use std::{
    fs,
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

use lighterman_images::pause_image;
use rustix::process::{Pid, Signal, kill_process};

use crate::archive::load;

/// The very file that is embedded.
const PROGRAM: &str = concat!(env!("OUT_DIR"), "/pause");

/// Far beyond what a busy host needs; reached only if the program fails.
const LIMIT: Duration = Duration::from_secs(20);

/// Waits for a level.
#[expect(clippy::disallowed_methods, reason = "waits for another process, with a bound")]
fn within<T>(limit: Duration, what: &str, mut level: impl FnMut() -> Option<T>) -> T {
    let begin = Instant::now();
    loop {
        if let Some(value) = level() {
            return value;
        }
        assert!(begin.elapsed() < limit, "{what}: not within {limit:?}");
        thread::sleep(Duration::from_millis(1));
    }
}

/// A process that is ended whatever becomes of the test.
struct Pause(Child);

impl Pause {
    fn start(command: &mut Command) -> Self {
        Self(command.spawn().unwrap())
    }

    /// Waits until the program has replaced whatever started it, and sleeps. It sleeps nowhere but in its
    /// wait for a signal.
    fn wait_until_asleep(&self) {
        let stat = format!("/proc/{}/stat", self.0.id());
        within(LIMIT, "pause asleep", || fs::read_to_string(&stat).unwrap().contains("(pause) S ").then_some(()));
    }

    fn send(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.0), signal).unwrap();
    }

    /// Waits for the end, which takes a fraction of a millisecond on an idle host.
    fn wait(&mut self) -> ExitStatus {
        within(Duration::from_secs(1), "the end of pause", || self.0.try_wait().unwrap())
    }
}

impl Drop for Pause {
    fn drop(&mut self) {
        // It has ended already, as a rule, and then there is nothing to kill.
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

#[test]
fn the_image_holds_the_program_under_test() {
    assert_eq!(load(&pause_image()).files[0].1.content, fs::read(PROGRAM).unwrap());
}

#[test]
fn term_and_int_end_it_at_once_with_0() {
    for signal in [Signal::TERM, Signal::INT] {
        let mut pause = Pause::start(&mut Command::new(PROGRAM));
        pause.wait_until_asleep();
        pause.send(signal);
        assert_eq!(pause.wait().code(), Some(0), "{signal:?}");
    }
}

#[test]
fn it_goes_on_after_being_stopped_and_continued() {
    let mut pause = Pause::start(&mut Command::new(PROGRAM));
    pause.wait_until_asleep();
    pause.send(Signal::STOP);
    let stat = format!("/proc/{}/stat", pause.0.id());
    within(LIMIT, "pause stopped", || fs::read_to_string(&stat).unwrap().contains("(pause) T ").then_some(()));
    pause.send(Signal::CONT);
    pause.wait_until_asleep();
    assert_eq!(pause.0.try_wait().unwrap(), None);
    pause.send(Signal::TERM);
    assert_eq!(pause.wait().code(), Some(0));
}

/// The shell's child becomes a child of pause, by `exec`, and ends when its input does.
#[test]
fn it_reaps_the_children_left_to_it() {
    const SCRIPT: &str = r#"exec 3<&0; cat <&3 & echo $!; exec 3<&- "$0""#;
    let mut shell = Command::new("sh");
    shell.args(["-c", SCRIPT, PROGRAM]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut pause = Pause::start(&mut shell);
    let mut child = String::new();
    BufReader::new(pause.0.stdout.take().unwrap()).read_line(&mut child).unwrap();
    let child = format!("/proc/{}", child.trim());
    pause.wait_until_asleep();
    assert!(Path::new(&child).exists(), "the child runs");
    drop(pause.0.stdin.take());
    within(LIMIT, "the child reaped", || (!Path::new(&child).exists()).then_some(()));
    assert_eq!(pause.0.try_wait().unwrap(), None);
    pause.send(Signal::TERM);
    assert_eq!(pause.wait().code(), Some(0));
}
