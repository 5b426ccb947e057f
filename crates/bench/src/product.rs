//! The command, as a process of its own.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::{ExitStatus, Stdio},
    time::{Duration, Instant},
};

use lighterman_docker_tests::AMPLE;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt as _, BufReader, Lines},
    process::{Child, ChildStdout, Command},
    time::timeout,
};

use crate::stage::{Stage, Trouble};

/// A running `lighterman run --json`.
#[derive(Debug)]
pub struct Run {
    child: Child,
    pid: Pid,
    events: Lines<BufReader<ChildStdout>>,
    log: PathBuf,
    begun: Instant,
    _directory: TempDir,
}

impl Run {
    /// Starts it on this definition, against this engine.
    ///
    /// # Errors
    /// It does not start.
    pub fn start(stage: &Stage, definition: &Path, docker_host: &str) -> Result<Self, Trouble> {
        let directory = stage.scratch()?;
        let log = directory.path().join("log");
        let mut command = Command::new(stage.product()?);
        command
            .args(["run", "--json", "--log-level", "info", "--docker-host", docker_host, "--state-dir"])
            .args([&stage.state_directory(), definition])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(File::create(&log)?)
            .kill_on_drop(true);
        let begun = Instant::now();
        let mut child = command.spawn()?;
        let pid = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?)).ok_or("the command has no id")?;
        let events = BufReader::new(child.stdout.take().ok_or("its output is not there")?).lines();
        Ok(Self { child, pid, events, log, begun, _directory: directory })
    }

    /// When it was spawned.
    #[must_use]
    pub const fn begun(&self) -> Instant {
        self.begun
    }

    /// Reads events until one is it; that one, and when it was read.
    ///
    /// # Errors
    /// None is it within a minute, or the output ends.
    pub async fn until(&mut self, is_it: impl Fn(&Value) -> bool) -> Result<(Value, Instant), Trouble> {
        let reading = async {
            let mut said = Vec::new();
            while let Some(line) = self.events.next_line().await? {
                let now = Instant::now();
                let event: Value = serde_json::from_str(&line)?;
                if is_it(&event) {
                    return Ok((event, now));
                }
                said.push(line);
            }
            Err(Trouble::from(format!("the command ended after it said {said:?}")))
        };
        timeout(AMPLE, reading).await?
    }

    /// Reads events until the task is known to be so.
    ///
    /// # Errors
    /// As [`until`](Self::until).
    pub async fn until_task(&mut self, known: &str) -> Result<Instant, Trouble> {
        let (_, at) = self.until(|event| event["type"] == "task" && event["known"] == known).await?;
        Ok(at)
    }

    /// Asks it to end and waits for that.
    ///
    /// # Errors
    /// It does not end within a minute.
    pub async fn stop(mut self) -> Result<ExitStatus, Trouble> {
        kill_process(self.pid, Signal::TERM)?;
        self.wait().await
    }

    /// Waits for its end; what it still says is read.
    ///
    /// # Errors
    /// It does not end within a minute.
    pub async fn wait(&mut self) -> Result<ExitStatus, Trouble> {
        let ending = async {
            while self.events.next_line().await?.is_some() {}
            self.child.wait().await
        };
        Ok(timeout(AMPLE, ending).await??)
    }

    /// Lines on its standard error so far.
    ///
    /// # Errors
    /// They cannot be read.
    pub fn log_lines(&self) -> Result<Vec<String>, Trouble> {
        Ok(fs::read_to_string(&self.log)?.lines().map(ToOwned::to_owned).collect())
    }

    /// Processor time of all its threads so far, to the nanosecond.
    ///
    /// # Errors
    /// The kernel does not tell.
    pub fn cpu_time(&self) -> Result<Duration, Trouble> {
        let mut nanos = 0;
        for thread in fs::read_dir(format!("/proc/{}/task", self.pid.as_raw_nonzero()))? {
            let text = fs::read_to_string(thread?.path().join("schedstat"))?;
            nanos += text.split(' ').next().ok_or("an empty schedstat")?.parse::<u64>()?;
        }
        Ok(Duration::from_nanos(nanos))
    }

    /// A size from the process's status, such as `VmRSS`, in bytes.
    ///
    /// # Errors
    /// The kernel does not tell.
    pub fn memory(&self, field: &str) -> Result<u32, Trouble> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid.as_raw_nonzero()))?;
        let line = status.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
        let kib = line.and_then(|line| line.split_whitespace().next()).ok_or_else(|| format!("no {field}"))?;
        Ok(kib.parse::<u32>()? * 1024)
    }
}
