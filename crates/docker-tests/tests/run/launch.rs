//! Starting the command, reading what it tells, and ending it.

use std::{
    ffi::{OsStr, OsString},
    path::Path,
    process::Stdio,
    time::{Duration, Instant},
};

use lighterman_docker_tests::AMPLE;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    process::{Child, ChildStdout, Command},
    task::JoinHandle,
    time::timeout,
};

/// A command that is about to be started.
pub(crate) struct Launch {
    command: Command,
    input: Option<String>,
}

/// What a command left when it had ended.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) took: Duration,
}

impl Launch {
    pub(crate) fn new(program: &Path, home: &Path, arguments: &[&str]) -> Self {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .current_dir(home)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", home)
            .env("XDG_STATE_HOME", home.join("state"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        if let Some(host) = std::env::var_os("DOCKER_HOST") {
            command.env("DOCKER_HOST", host);
        }
        Self { command, input: None }
    }

    pub(crate) fn argument(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.command.arg(argument);
        self
    }

    pub(crate) fn arguments(self, arguments: &[&str]) -> Self {
        arguments.iter().fold(self, Self::argument)
    }

    pub(crate) fn env(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.command.env(name, value.into());
        self
    }

    /// With Docker behind this socket.
    pub(crate) fn docker(self, socket: &Path) -> Self {
        self.env("DOCKER_HOST", format!("unix://{}", socket.display()))
    }

    /// With this on standard input.
    pub(crate) fn input(mut self, text: impl Into<String>) -> Self {
        self.command.stdin(Stdio::piped());
        self.input = Some(text.into());
        self
    }

    /// With a standard input that nobody writes to, and that does not end.
    pub(crate) fn input_without_end(mut self) -> Self {
        self.command.stdin(Stdio::piped());
        self
    }

    /// Runs it to its end with its standard output going there; exit code and standard error.
    pub(crate) async fn write_to(mut self, output: impl Into<Stdio>) -> (Option<i32>, String) {
        self.command.stdout(output);
        self.spawn().end().await
    }

    /// Starts it; its standard output is read as JSON.
    pub(crate) fn start(self) -> Running {
        let mut child = self.spawn();
        let lines = BufReader::new(child.0.stdout.take().unwrap());
        Running { child, lines, half: Vec::new(), events: Vec::new() }
    }

    /// Starts it; its standard output is read by the test, or not at all.
    pub(crate) fn start_unread(self) -> Unread {
        let mut child = self.spawn();
        let stdout = child.0.stdout.take().unwrap();
        Unread { child, stdout }
    }

    /// Runs it to its end.
    pub(crate) async fn output(self) -> Output {
        let Unread { child, stdout } = self.start_unread();
        let began = child.2;
        let text = timeout(AMPLE, read_all(stdout)).await.expect("the command does not end");
        let (code, stderr) = child.end().await;
        Output { code, stdout: text, stderr, took: began.elapsed() }
    }

    fn spawn(mut self) -> Process {
        let began = Instant::now();
        let mut child = self.command.spawn().unwrap();
        let stderr = tokio::spawn(read_all(child.stderr.take().unwrap()));
        if let Some(text) = self.input {
            let mut stdin = child.stdin.take().unwrap();
            tokio::spawn(async move { stdin.write_all(text.as_bytes()).await });
        }
        Process(child, stderr, began)
    }
}

async fn read_all(mut from: impl AsyncRead + Unpin) -> String {
    let mut bytes = Vec::new();
    from.read_to_end(&mut bytes).await.unwrap();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The process, what it says on standard error, and when it was started.
struct Process(Child, JoinHandle<String>, Instant);

impl Process {
    fn signal(&self, signal: Signal) {
        let id = self.0.id().expect("it has not been waited for");
        kill_process(Pid::from_raw(id.try_into().unwrap()).unwrap(), signal).unwrap();
    }

    /// Waits for its end; exit code and standard error.
    async fn end(mut self) -> (Option<i32>, String) {
        let status = timeout(AMPLE, self.0.wait()).await.expect("the command does not end").unwrap();
        (status.code(), self.1.await.unwrap())
    }
}

/// A command of which nobody reads the standard output but the test.
pub(crate) struct Unread {
    child: Process,
    pub(crate) stdout: ChildStdout,
}

impl Unread {
    pub(crate) fn signal(&self, signal: Signal) {
        self.child.signal(signal);
    }

    /// Waits for its end while nobody reads; exit code and standard error.
    pub(crate) async fn end(self) -> (Option<i32>, String) {
        let Self { child, stdout } = self;
        let ended = child.end().await;
        drop(stdout);
        ended
    }

    /// Closes the pipe and waits for its end; exit code and standard error.
    pub(crate) async fn end_without_reader(self) -> (Option<i32>, String) {
        let Self { child, stdout } = self;
        drop(stdout);
        child.end().await
    }
}

/// A command that runs, and what it has told so far.
pub(crate) struct Running {
    child: Process,
    lines: BufReader<ChildStdout>,
    half: Vec<u8>,
    pub(crate) events: Vec<Value>,
}

/// A command that has ended.
#[derive(Debug)]
pub(crate) struct Ended {
    /// `None` when a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) events: Vec<Value>,
    pub(crate) stderr: String,
    pub(crate) took: Duration,
}

impl Running {
    pub(crate) fn pid(&self) -> u32 {
        self.child.0.id().expect("it has not been waited for")
    }

    pub(crate) fn signal(&self, signal: Signal) {
        self.child.signal(signal);
    }

    /// The same signal once more: what comes sooner belongs to the wish before.
    #[expect(clippy::disallowed_methods, reason = "the time that makes a second wish of it")]
    pub(crate) async fn signal_again(&self, signal: Signal) {
        tokio::time::sleep(Duration::from_millis(1_100)).await;
        self.signal(signal);
    }

    /// Reads what it tells until `level` finds what it looks for, in what was told before or is told now.
    pub(crate) async fn until<T>(&mut self, level: impl Fn(&Value) -> Option<T>) -> T {
        if let Some(found) = self.events.iter().find_map(&level) {
            return found;
        }
        let reading = async {
            while let Some(event) = self.next().await {
                if let Some(found) = level(&event) {
                    return Some(found);
                }
            }
            None
        };
        match timeout(AMPLE, reading).await {
            Ok(Some(found)) => found,
            Ok(None) => panic!("it ended without it: {}", self.story()),
            Err(_) => panic!("it never came: {}", self.story()),
        }
    }

    /// Waits until its container is so.
    pub(crate) async fn until_known(&mut self, status: &str) -> Value {
        self.until(|event| (event["type"] == "container" && event["known"] == status).then(|| event.clone())).await
    }

    /// Waits until a line of output has come.
    pub(crate) async fn until_said(&mut self, line: &str) {
        self.until(|event| (event["type"] == "log" && event["line"] == line).then_some(())).await;
    }

    /// The id of the instance.
    pub(crate) async fn instance(&mut self) -> String {
        self.until(|event| (event["type"] == "started").then(|| text(event, "instance"))).await
    }

    /// The task's id.
    pub(crate) async fn task(&mut self) -> String {
        self.until(|event| (event["type"] == "task").then(|| text(event, "task"))).await
    }

    /// Waits for its end, at most so long; `None` and the command back when it has not ended by then.
    pub(crate) async fn end_within(mut self, limit: Duration) -> Result<Ended, Self> {
        let reading = async { while self.next().await.is_some() {} };
        if timeout(limit, reading).await.is_err() {
            return Err(self);
        }
        let took = self.child.2.elapsed();
        let (code, stderr) = self.child.end().await;
        Ok(Ended { code, events: self.events, stderr, took })
    }

    /// Waits for its end.
    pub(crate) async fn end(self) -> Ended {
        match self.end_within(AMPLE).await {
            Ok(ended) => ended,
            Err(running) => panic!("it does not end: {}", running.story()),
        }
    }

    /// `kill -9`, and what it had told by then.
    pub(crate) async fn kill(self) -> Ended {
        self.signal(Signal::KILL);
        self.end().await
    }

    async fn next(&mut self) -> Option<Value> {
        // What was read before a limit passed is kept: nothing of a line is lost.
        let count = self.lines.read_until(b'\n', &mut self.half).await.unwrap();
        let line = std::mem::take(&mut self.half);
        if count == 0 || !line.ends_with(b"\n") {
            // A line that was cut off by the end of the process is none.
            return None;
        }
        let event: Value = serde_json::from_slice(&line).unwrap();
        self.events.push(event.clone());
        Some(event)
    }

    pub(crate) fn story(&self) -> String {
        story(&self.events)
    }
}

impl Ended {
    /// The events of this type.
    pub(crate) fn of<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a Value> {
        self.events.iter().filter(move |event| event["type"] == kind)
    }

    /// The lines of output.
    pub(crate) fn said(&self) -> Vec<String> {
        self.of("log").map(|event| text(event, "line")).collect()
    }

    /// Every status that was told of the container, without repeats.
    pub(crate) fn statuses(&self) -> Vec<&str> {
        let mut all: Vec<&str> = self.of("container").map(|event| event["known"].as_str().unwrap()).collect();
        all.dedup();
        all
    }

    /// The container as it was told last.
    pub(crate) fn container(&self) -> &Value {
        self.of("container").last().unwrap_or_else(|| panic!("no container: {}", self.story()))
    }

    /// All words of the failure: text, causes, advice.
    pub(crate) fn failure(&self) -> String {
        let error = self.of("error").last().unwrap_or_else(|| panic!("no failure: {}", self.story()));
        error.to_string()
    }

    /// Checks the exit code, and that the last event says the same.
    #[track_caller]
    pub(crate) fn assert_code(&self, code: i32) {
        assert_eq!(self.code, Some(code), "{}", self.story());
        let end = self.events.last().unwrap();
        assert_eq!((&end["type"], &end["exit_code"]), (&Value::from("end"), &Value::from(code)), "{}", self.story());
    }

    /// Everything it told, for messages.
    pub(crate) fn story(&self) -> String {
        format!("exit code {:?} after {:?}\n{}{}", self.code, self.took, story(&self.events), self.stderr)
    }
}

/// A field that holds text.
#[track_caller]
pub(crate) fn text(event: &Value, field: &str) -> String {
    event[field].as_str().unwrap_or_else(|| panic!("{field} of {event}")).to_owned()
}

/// What was told, a line each, with what matters most.
fn story(events: &[Value]) -> String {
    const TOLD: [&str; 14] = [
        "known",
        "desired",
        "exit_code",
        "reason",
        "wait",
        "stream",
        "line",
        "signal",
        "action",
        "state",
        "container",
        "text",
        "causes",
        "advice",
    ];
    let member = |event: &Value, name: &str| match &event[name] {
        Value::Null => String::new(),
        Value::Object(inner) => format!(" {name}={}", inner.get("text").unwrap_or(&Value::Null)),
        value => format!(" {name}={value}"),
    };
    let line = |event: &Value| {
        let members: String = TOLD.iter().map(|name| member(event, name)).collect();
        format!("{} {}{members}\n", event["time"].as_str().unwrap_or_default(), event["type"])
    };
    let lines: Vec<String> = events.iter().map(line).collect();
    match lines.len() {
        0..=80 => lines.concat(),
        count => format!("{}... {} more ...\n{}", lines[..40].concat(), count - 80, lines[count - 40..].concat()),
    }
}
