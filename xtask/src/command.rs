//! A program to start: printed before it runs, limited in time, its failure worded.

use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::io::Read as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use crate::host::is_ci;

/// How long a program that was asked to end (SIGTERM) may take before it is killed. nextest needs a moment to end
/// its tests, and tests on the engine to remove their containers.
const GRACE: Duration = Duration::from_secs(20);

/// One program with its arguments and environment.
#[derive(Debug)]
pub(crate) struct Cmd {
    program: OsString,
    args: Vec<OsString>,
    env: Vec<(String, OsString)>,
    env_removed: Vec<String>,
    limit: Option<Duration>,
}

impl Cmd {
    pub(crate) fn new(program: impl AsRef<OsStr>) -> Self {
        Self {
            program: program.as_ref().to_owned(),
            args: Vec::new(),
            env: Vec::new(),
            env_removed: Vec::new(),
            limit: None,
        }
    }

    /// The cargo that runs us, or the one in `PATH`.
    pub(crate) fn cargo(subcommand: &str) -> Self {
        Self::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())).arg(subcommand)
    }

    pub(crate) fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    pub(crate) fn args<S: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = S>) -> Self {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.env.push((name.to_owned(), value.as_ref().to_owned()));
        self
    }

    pub(crate) fn env_remove(mut self, name: &str) -> Self {
        self.env_removed.push(name.to_owned());
        self
    }

    /// After this long the program is asked to end, then killed, and the run fails.
    pub(crate) fn limit(mut self, limit: Duration) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Runs it with our own output; an error unless it exits 0.
    pub(crate) fn run(self) -> Result<()> {
        let status = self.status()?;
        if status.success() { Ok(()) } else { bail!("`{}` ended with {status}", self.short()) }
    }

    /// Runs it with our own output and tells how it ended.
    pub(crate) fn status(&self) -> Result<ExitStatus> {
        self.announce();
        let child = self.build().spawn().with_context(|| format!("cannot start `{}`", self.short()))?;
        self.wait(child)
    }

    /// Runs it and returns what it wrote to standard output; an error unless it exits 0.
    pub(crate) fn output(self) -> Result<Vec<u8>> {
        self.announce();
        self.output_quietly()
    }

    /// [`Cmd::output`] without announcing the command: for look-ups that change nothing.
    pub(crate) fn output_quietly(self) -> Result<Vec<u8>> {
        let mut child =
            self.build().stdout(Stdio::piped()).spawn().with_context(|| format!("cannot start `{}`", self.short()))?;
        let stdout = child.stdout.take().expect("stdout was piped one line above");
        let reader = std::thread::Builder::new().name("xtask-stdout".into()).spawn(move || read_all(stdout))?;
        let status = self.wait(child)?;
        let bytes = reader.join().map_err(|_| anyhow::anyhow!("the reader of standard output panicked"))??;
        if status.success() { Ok(bytes) } else { bail!("`{}` ended with {status}", self.short()) }
    }

    /// The command as one could type it, changed environment first.
    pub(crate) fn line(&self) -> String {
        let mut line = String::new();
        for (name, value) in &self.env {
            write!(line, "{name}={} ", quote(value)).expect("a String takes every write");
        }
        line.push_str(&self.short());
        line
    }

    /// The program's name and its arguments.
    fn short(&self) -> String {
        let program = Path::new(&self.program).file_name().unwrap_or(&self.program);
        let words = std::iter::once(program).chain(self.args.iter().map(OsString::as_os_str));
        words.map(quote).collect::<Vec<_>>().join(" ")
    }

    fn announce(&self) {
        println!("$ {}", self.line());
    }

    fn build(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.args);
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        for name in &self.env_removed {
            command.env_remove(name);
        }
        if self.has_group() {
            command.process_group(0);
        }
        command
    }

    /// In CI a program with a limit leads a process group, so that what it started ends with it. At a terminal it
    /// stays in ours, so that Ctrl-C reaches it.
    fn has_group(&self) -> bool {
        self.limit.is_some() && is_ci()
    }

    /// Waits for the end, with the limit if there is one.
    fn wait(&self, mut child: Child) -> Result<ExitStatus> {
        let Some(limit) = self.limit else { return Ok(child.wait()?) };
        let pid = Pid::from_child(&child);
        let (sender, ended) = mpsc::channel();
        std::thread::Builder::new().name("xtask-wait".into()).spawn(move || {
            // Nobody listens any more only where even SIGKILL did not end the child: then we have said so.
            drop(sender.send(child.wait()));
        })?;
        if let Ok(status) = ended.recv_timeout(limit) {
            return Ok(status?);
        }
        for deadly in [Signal::TERM, Signal::KILL] {
            self.signal(pid, deadly)?;
            if ended.recv_timeout(GRACE).is_ok() {
                bail!("`{}` took longer than its limit of {} s", self.short(), limit.as_secs());
            }
        }
        bail!("`{}` took longer than its limit of {} s and cannot be ended", self.short(), limit.as_secs())
    }

    /// To the process or its group; one that has ended meanwhile needs no signal.
    fn signal(&self, pid: Pid, signal: Signal) -> Result<()> {
        let sent = if self.has_group() { kill_process_group(pid, signal) } else { kill_process(pid, signal) };
        match sent {
            Ok(()) | Err(Errno::SRCH) => Ok(()),
            Err(error) => Err(error).with_context(|| format!("cannot end `{}`", self.short())),
        }
    }
}

fn read_all(mut stdout: ChildStdout) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    stdout.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Whether a program of this name is in `PATH`.
pub(crate) fn in_path(program: &str) -> bool {
    std::env::var_os("PATH").is_some_and(|path| std::env::split_paths(&path).any(|dir| dir.join(program).is_file()))
}

fn quote(word: &OsStr) -> String {
    let word = word.to_string_lossy();
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=./:,+@%^".contains(c);
    if !word.is_empty() && word.chars().all(plain) { word.into_owned() } else { format!("'{word}'") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Cmd {
        Cmd::new("sh").arg("-c").arg(script)
    }

    #[test]
    fn a_command_is_printed_as_one_could_type_it() {
        let command = Cmd::new("/usr/bin/env").env("RUSTDOCFLAGS", "-D warnings").arg("a b").arg("--x=1");
        assert_eq!(command.line(), "RUSTDOCFLAGS='-D warnings' env 'a b' --x=1");
    }

    #[test]
    fn a_non_zero_exit_is_an_error_that_names_the_command() {
        assert!(shell("exit 0").run().is_ok());
        let error = shell("exit 3").run().unwrap_err().to_string();
        assert!(error.contains("sh -c 'exit 3'") && error.contains('3'), "{error}");
        assert!(Cmd::new("no-such-program-anywhere").run().unwrap_err().to_string().contains("cannot start"));
    }

    #[test]
    fn standard_output_is_returned_whole() {
        let bytes =
            shell("i=0; while [ $i -lt 20000 ]; do echo 0123456789; i=$((i+1)); done").output_quietly().unwrap();
        assert_eq!(bytes.len(), 20_000 * 11);
    }

    #[test]
    fn a_program_over_its_limit_is_ended_and_the_run_fails() {
        let started = std::time::Instant::now();
        let error = shell("exec sleep 60").limit(Duration::from_millis(50)).run().unwrap_err().to_string();
        assert!(error.contains("longer than its limit"), "{error}");
        assert!(started.elapsed() < GRACE, "SIGTERM was enough");
    }

    #[test]
    fn a_limit_that_is_kept_changes_nothing() {
        assert!(shell("exit 0").limit(Duration::from_secs(60)).run().is_ok());
        assert!(shell("exit 3").limit(Duration::from_secs(60)).run().unwrap_err().to_string().contains("exit 3"));
        assert_eq!(shell("echo a").limit(Duration::from_secs(60)).output_quietly().unwrap(), b"a\n");
    }
}
