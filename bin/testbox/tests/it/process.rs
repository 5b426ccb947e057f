//! Running the program, and waiting for what it does.

use std::{
    fs,
    io::{BufRead, BufReader, Read},
    process::{Child, ChildStdout, Command, ExitStatus, Output, Stdio},
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};

/// Far beyond what a busy host needs; reached only if the program fails.
const LIMIT: Duration = Duration::from_secs(30);

/// Waits for a level.
pub(crate) fn until<T>(what: &str, mut level: impl FnMut() -> Option<T>) -> T {
    let begin = Instant::now();
    loop {
        if let Some(value) = level() {
            return value;
        }
        assert!(begin.elapsed() < LIMIT, "{what}: not within {LIMIT:?}");
        thread::sleep(Duration::from_millis(1));
    }
}

pub(crate) fn command(line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_testbox"));
    command.args(line.split(' '));
    command
}

/// Runs the words of `line`, which come to an end by themselves.
pub(crate) fn run(line: &str) -> Output {
    command(line).output().unwrap()
}

/// Exit code and standard output.
pub(crate) fn result(line: &str) -> (Option<i32>, String) {
    let output = run(line);
    (output.status.code(), String::from_utf8(output.stdout).unwrap())
}

/// The program at work; ended whatever becomes of the test.
pub(crate) struct Running {
    child: Child,
    stdout: BufReader<ChildStdout>,
}

impl Running {
    pub(crate) fn start(line: &str) -> Self {
        let mut child = command(line).stdout(Stdio::piped()).spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        Self { child, stdout }
    }

    /// The next line of standard output.
    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        line
    }

    /// The rest of standard output.
    pub(crate) fn rest(&mut self) -> String {
        let mut rest = String::new();
        self.stdout.read_to_string(&mut rest).unwrap();
        rest
    }

    /// One line of `/proc/PID/status`.
    pub(crate) fn status(&self, field: &str) -> String {
        let text = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
        line.unwrap().trim().to_owned()
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn send(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    pub(crate) fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    pub(crate) fn wait(&mut self) -> ExitStatus {
        until("the end of the program", || self.child.try_wait().unwrap())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It has ended already, as a rule, and then there is nothing to kill.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
