//! This test binary run again, as a process that can be stopped and killed.

use std::{
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    thread,
    time::Duration,
};

use lighterman_checkpoint::{OpenOptions, Store};
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

use crate::{
    directories, failing_device, full_disk,
    model::{Model, run},
    power_cuts,
};

const ROLE: &str = "LIGHTERMAN_CHECKPOINT_ROLE";
const ROLE_ARGUMENTS: &str = "LIGHTERMAN_CHECKPOINT_ARGUMENTS";
/// Nothing that a child is asked for takes longer.
const BOUND: Duration = Duration::from_secs(60);

/// What makes this binary run [`entry`] alone.
pub(crate) const ARGUMENTS: [&str; 4] = ["child::entry", "--exact", "--nocapture", "--test-threads=1"];

/// Where a child begins. Run as a test of its own it has no role, and nothing to do.
#[test]
fn entry() {
    let Ok(role) = std::env::var(ROLE) else { return };
    // The harness has begun a line of its own.
    println!();
    let arguments = std::env::var(ROLE_ARGUMENTS).unwrap();
    let arguments: Vec<&str> = arguments.lines().collect();
    match (role.as_str(), arguments.as_slice()) {
        ("writer", [directory, seed]) => write_for_ever(Path::new(directory), seed.parse().unwrap()),
        ("holder", [directory]) => hold(Path::new(directory)),
        ("somebody", [directory, umask]) => directories::open_as_somebody(Path::new(directory), umask),
        ("sled alone", [directory, seed]) => power_cuts::write_with_sled_alone(Path::new(directory), seed),
        ("check sled", [directory, seed, last]) => power_cuts::check_sled(Path::new(directory), seed, last),
        ("power cuts", []) => power_cuts::cut(),
        ("power cuts of sled alone", []) => power_cuts::cut_sled_alone(),
        ("full disk", []) => full_disk::fill_and_free(),
        ("failing device", []) => failing_device::fail_and_heal(),
        ("hung device", []) => failing_device::hang_and_go_on(),
        other => panic!("no such role: {other:?}"),
    }
}

pub(crate) fn executable() -> PathBuf {
    std::env::current_exe().unwrap()
}

pub(crate) fn set_role(command: &mut Command, role: &str, arguments: &[&str]) {
    command.env(ROLE, role).env(ROLE_ARGUMENTS, arguments.join("\n"));
}

/// A running child whose lines are read; killed when dropped.
pub(crate) struct Running {
    child: Child,
    lines: Receiver<String>,
}

impl Running {
    pub(crate) fn start(role: &str, arguments: &[&str]) -> Self {
        let mut command = Command::new(executable());
        command.args(ARGUMENTS).stdout(Stdio::piped());
        set_role(&mut command, role, arguments);
        let mut child = command.spawn().unwrap();
        let lines = read_lines(child.stdout.take().unwrap());
        Self { child, lines }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// The next line that begins with `word`, without it. Panics when the child ends before.
    pub(crate) fn wait_for(&self, word: &str) -> String {
        loop {
            let line = self.lines.recv_timeout(BOUND).unwrap();
            if let Some(rest) = line.strip_prefix(word) {
                return rest.trim().to_owned();
            }
        }
    }

    /// The number in the last line `ack N` that comes within `time` after the one before.
    pub(crate) fn last_ack_within(&self, time: Duration) -> Option<u64> {
        let mut last = None;
        loop {
            match self.lines.recv_timeout(time) {
                Ok(line) => last = line.strip_prefix("ack ").map(|rest| rest.parse().unwrap()).or(last),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return last,
            }
        }
    }

    /// Lets it run for `time`; not an exact one.
    pub(crate) fn let_run(&self, time: Duration) -> Option<u64> {
        let mut last = None;
        let mut left = time;
        const STEP: Duration = Duration::from_millis(1);
        while left > Duration::ZERO {
            last = self.last_ack_within_once(STEP).or(last);
            left = left.saturating_sub(STEP);
        }
        last
    }

    fn last_ack_within_once(&self, time: Duration) -> Option<u64> {
        let line = self.lines.recv_timeout(time).ok()?;
        line.strip_prefix("ack ").map(|rest| rest.parse().unwrap())
    }

    /// Stops all its threads; returns when the last one has left the kernel.
    pub(crate) fn stop(&self) {
        let pid = self.pid();
        kill_process(pid, Signal::STOP).unwrap();
        let (_, status) = waitpid(Some(pid), WaitOptions::UNTRACED).unwrap().unwrap();
        assert!(status.stopped(), "the child ended: {status:?}");
    }

    pub(crate) fn resume(&self) {
        kill_process(self.pid(), Signal::CONT).unwrap();
    }

    /// `kill -9`; answers the last acknowledgement that it had given.
    pub(crate) fn kill(mut self) -> Option<u64> {
        self.child.kill().unwrap();
        let _ = self.child.wait();
        self.lines.iter().filter_map(|line| line.strip_prefix("ack ").map(|rest| rest.parse().unwrap())).last()
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Opens, verifies, and commits generation after generation; tells each when it is durable.
fn write_for_ever(directory: &Path, seed: u64) {
    let (store, loaded) = Store::open(directory, OpenOptions::default()).unwrap();
    let mut model = Model::resume(seed, &loaded);
    println!("open {}", model.generation);
    loop {
        let batch = model.next_batch();
        run(lighterman_contracts::Checkpoint::commit(&store, batch)).unwrap();
        println!("ack {}", model.generation);
    }
}

/// Holds the directory until killed.
fn hold(directory: &Path) {
    let held = Store::open(directory, OpenOptions::default()).unwrap();
    println!("open");
    thread::park();
    drop(held);
}

#[expect(clippy::disallowed_methods, reason = "a pipe is read by a thread, so that waiting for a line has a bound")]
fn read_lines(output: ChildStdout) -> Receiver<String> {
    let (sender, lines) = channel();
    thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    lines
}
