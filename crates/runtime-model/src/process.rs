//! What runs in a container: the steps of the test program, played on a clock that is an input.

use alloc::{borrow::ToOwned, collections::BTreeMap, format, string::String, sync::Arc, vec::Vec};
use core::time::Duration;

use lighterman_calls::ExitCode;
use lighterman_ids::Mono;

use crate::{
    command::{self, Command, TermRule, Writing},
    image::ProgramKind,
};

/// Exit code of a process that SIGKILL ended.
pub(crate) const KILLED: ExitCode = 137;
/// Exit code of the test program for words that are no program.
const USAGE: ExitCode = 64;
/// What a `flip` of no interval is taken for: a process that changes a file without end takes time, too.
const SHORTEST_FLIP: Duration = Duration::from_millis(1);
/// Lines that one wake-up of `write` makes at most; more are due at once only at rates nobody can follow.
const LINES_AT_ONCE: u64 = 10_000;

/// Where output was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OutputStream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// What a process can see of its container, and change.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct World {
    /// The writable layer: it outlives a run.
    pub(crate) files: BTreeMap<String, String>,
    /// Sorted `NAME=VALUE` lines.
    pub(crate) env: Vec<String>,
    /// Working directory.
    pub(crate) directory: String,
    /// Memory limit in bytes.
    pub(crate) memory: Option<u64>,
    /// Whether the program is process 1: not with `docker-init`, nor among the processes of others.
    pub(crate) first: bool,
}

/// Something a process did.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Happening {
    /// It wrote this, line feeds included.
    Wrote(OutputStream, String),
    /// The kernel killed a process of the container for memory.
    OutOfMemory,
    /// It ended, at this instant.
    Ended(Mono, ExitCode),
}

/// One running program.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Process {
    steps: Arc<[Command]>,
    /// Index of the step that is going on.
    step: usize,
    /// When that step began.
    entered: Mono,
    /// Changes or lines that the step has made.
    made: u64,
    /// What SIGTERM does; `None` is the kernel's default for this process.
    term: Option<TermRule>,
    /// Set by the first SIGTERM that counts, or by a step that fails: the end to come.
    doom: Option<(Mono, ExitCode)>,
    ended: bool,
}

impl Process {
    /// The program that `kind` runs with these arguments, begun at `now`.
    pub(crate) fn new(kind: ProgramKind, arguments: &[String], now: Mono) -> (Self, Option<Happening>) {
        let (steps, complaint) = match kind {
            ProgramKind::Pause => (Vec::from([Command::OnTerm { code: 0 }]), None),
            ProgramKind::Testbox => {
                let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
                match command::parse(&words) {
                    Ok(steps) => (steps, None),
                    Err(error) => (Vec::new(), Some(format!("{error}\n{}\n", help()))),
                }
            }
        };
        let doom = complaint.is_some().then_some((now, USAGE));
        let first_rule = steps.first().and_then(Command::term_rule);
        let steps = Arc::from(steps);
        let process = Self { steps, step: 0, entered: now, made: 0, term: first_rule, doom, ended: false };
        (process, complaint.map(|text| Happening::Wrote(OutputStream::Stderr, text)))
    }

    /// A program that ends at once because the kernel would not run it.
    pub(crate) fn stillborn(code: ExitCode, now: Mono) -> Self {
        let steps = Arc::from(Vec::new());
        Self { steps, step: 0, entered: now, made: 0, term: None, doom: Some((now, code)), ended: false }
    }

    /// When it does something by itself, if ever.
    pub(crate) fn wakes_at(&self, world: &World) -> Option<Mono> {
        if self.ended {
            return None;
        }
        let doom = self.doom.map(|(at, _)| at);
        [doom, self.step_at(world)].into_iter().flatten().min()
    }

    /// Plays everything up to `now`.
    pub(crate) fn run(&mut self, now: Mono, world: &mut World) -> Vec<Happening> {
        let mut happenings = Vec::new();
        while !self.ended {
            let Some(at) = self.wakes_at(world).filter(|at| *at <= now) else { break };
            match self.doom {
                Some((doom, code)) if doom <= at => self.end(doom, code, &mut happenings),
                Some(_) | None => self.play(at, world, &mut happenings),
            }
        }
        happenings
    }

    /// SIGTERM arrives.
    pub(crate) fn terminate(&mut self, now: Mono, world: &World) {
        let rule = match self.term {
            Some(rule) => rule,
            // The kernel does not let process 1 be ended by a signal that it does not handle.
            None if !world.first => TermRule::Exit { after: Duration::ZERO, code: 143 },
            None => TermRule::Ignore,
        };
        match (rule, self.doom) {
            (TermRule::Ignore, _) | (_, Some(_)) => {}
            (TermRule::Exit { after, code }, None) => self.doom = Some((now.after(after), ExitCode::from(code))),
        }
    }

    /// SIGKILL, of whatever origin, ends it at once; nothing when it has ended.
    pub(crate) fn kill(&mut self, now: Mono) -> Option<Happening> {
        if self.ended {
            return None;
        }
        self.ended = true;
        Some(Happening::Ended(now, KILLED))
    }

    fn end(&mut self, at: Mono, code: ExitCode, happenings: &mut Vec<Happening>) {
        self.ended = true;
        happenings.push(Happening::Ended(at, code));
    }

    /// When the current step does something or comes to its end, if ever.
    fn step_at(&self, world: &World) -> Option<Mono> {
        let at_once = Some(self.entered);
        let Some(step) = self.steps.get(self.step) else { return at_once };
        let after = |time: Duration| Some(self.entered.after(time));
        match step {
            Command::Sleep { time } | Command::Burn { time } | Command::IgnoreTerm { time: Some(time) } => after(*time),
            Command::Alloc { mib, .. } if exceeds(*mib, world) => at_once,
            // These say something when they begin.
            Command::Fork { .. } | Command::Alloc { .. } | Command::Serve { .. } if self.made == 0 => at_once,
            Command::Fork { time, .. } | Command::Alloc { time, .. } => after(*time),
            Command::Serve { .. }
            | Command::OnTerm { .. }
            | Command::TermAfter { .. }
            | Command::IgnoreTerm { time: None } => None,
            Command::Flip { interval, times, .. } => self.flip_at(*interval, *times),
            Command::Write(writing) => self.write_at(*writing),
            Command::Exit { .. }
            | Command::Trap { .. }
            | Command::Fetch { .. }
            | Command::Env
            | Command::Pwd
            | Command::Print { .. }
            | Command::Eprint { .. }
            | Command::Read { .. }
            | Command::Put { .. }
            | Command::Remove { .. }
            | Command::Healthy { .. }
            | Command::AllocChild { .. }
            | Command::Spawn { .. } => at_once,
        }
    }

    fn flip_at(&self, interval: Duration, times: Option<u32>) -> Option<Mono> {
        let done = times.is_some_and(|times| self.made >= u64::from(times));
        // `entered` moves along with each change.
        Some(if done { self.entered } else { self.entered.after(interval.max(SHORTEST_FLIP)) })
    }

    fn write_at(&self, writing: Writing) -> Option<Mono> {
        let end = writing.time.map(|time| self.entered.after(time));
        let written = writing.lines().is_some_and(|lines| self.made >= lines);
        // At full speed the model writes nothing: it would never come to the end of an instant.
        if writing.rate == 0 || written { end } else { Some(self.entered.after(writing.due(self.made))) }
    }

    /// Plays what is due at `at` in the current step.
    fn play(&mut self, at: Mono, world: &mut World, happenings: &mut Vec<Happening>) {
        let Some(step) = self.steps.get(self.step).cloned() else { return self.end(at, 0, happenings) };
        let out = |line: String| Happening::Wrote(OutputStream::Stdout, line + "\n");
        match step {
            Command::Exit { code } => self.end(at, ExitCode::from(code), happenings),
            Command::Flip { path, times, .. } => self.play_flip(at, path, times, world),
            Command::Write(writing) => self.play_write(at, writing, happenings),
            Command::Serve { port, .. } => {
                self.made = 1;
                happenings.push(out(format!("listening on {port}")));
            }
            Command::Fork { children, .. } if self.made == 0 => {
                self.made = 1;
                happenings.push(out(format!("started {children}")));
            }
            Command::Alloc { mib, .. } if exceeds(mib, world) => {
                happenings.push(Happening::OutOfMemory);
                self.end(at, KILLED, happenings);
            }
            Command::Alloc { mib, .. } if self.made == 0 => {
                self.made = 1;
                happenings.push(out(format!("allocated {mib} MiB")));
            }
            Command::AllocChild { mib } => {
                if exceeds(mib, world) {
                    happenings.push(Happening::OutOfMemory);
                    happenings.push(out("child killed by signal 9".to_owned()));
                } else {
                    happenings.push(out("child exited 0".to_owned()));
                }
                self.enter_next(at);
            }
            Command::Sleep { .. }
            | Command::Burn { .. }
            | Command::Fork { .. }
            | Command::Alloc { .. }
            | Command::IgnoreTerm { .. }
            | Command::OnTerm { .. }
            | Command::TermAfter { .. }
            | Command::Trap { .. } => self.enter_next(at),
            Command::Spawn { children, .. } => {
                happenings.push(out(format!("started {children}")));
                self.enter_next(at);
            }
            Command::Env
            | Command::Pwd
            | Command::Print { .. }
            | Command::Eprint { .. }
            | Command::Read { .. }
            | Command::Put { .. }
            | Command::Remove { .. }
            | Command::Healthy { .. }
            | Command::Fetch { .. } => match instant_step(&step, world, happenings) {
                Ok(()) => self.enter_next(at),
                Err(()) => self.end(at, 1, happenings),
            },
        }
    }

    fn play_flip(&mut self, at: Mono, path: String, times: Option<u32>, world: &mut World) {
        if times.is_some_and(|times| self.made >= u64::from(times)) {
            return self.enter_next(at);
        }
        if world.files.remove(&path).is_none() {
            world.files.insert(path, String::new());
        }
        self.made += 1;
        self.entered = at;
    }

    fn play_write(&mut self, at: Mono, writing: Writing, happenings: &mut Vec<Happening>) {
        let lines = writing.lines();
        if writing.rate == 0 || lines.is_some_and(|lines| self.made >= lines) {
            return self.enter_next(at);
        }
        let due = writing.lines_after(at.since(self.entered)).max(self.made + 1);
        let due = due.min(lines.unwrap_or(u64::MAX)).min(self.made + LINES_AT_ONCE);
        for number in self.made..due {
            happenings.push(Happening::Wrote(OutputStream::Stdout, writing.line(number)));
        }
        self.made = due;
    }

    fn enter_next(&mut self, at: Mono) {
        self.step += 1;
        self.entered = at;
        self.made = 0;
        if let Some(rule) = self.steps.get(self.step).and_then(Command::term_rule) {
            self.term = Some(rule);
        }
    }
}

/// A step that takes no time; `Err` when it fails.
fn instant_step(step: &Command, world: &mut World, happenings: &mut Vec<Happening>) -> Result<(), ()> {
    let mut out = |line: &str| happenings.push(Happening::Wrote(OutputStream::Stdout, format!("{line}\n")));
    match step {
        Command::Env => world.env.iter().for_each(|line| out(line)),
        Command::Pwd => out(&world.directory),
        Command::Print { text } => out(text),
        Command::Eprint { text } => happenings.push(Happening::Wrote(OutputStream::Stderr, format!("{text}\n"))),
        Command::Put { path, text } => drop(world.files.insert(path.clone(), text.clone())),
        Command::Remove { path } => drop(world.files.remove(path)),
        Command::Read { path } => match world.files.get(path) {
            // As it is: it may end without a line feed.
            Some(text) => happenings.push(Happening::Wrote(OutputStream::Stdout, text.clone())),
            None => return fail(happenings, &format!("cannot open {path}: No such file or directory (os error 2)")),
        },
        Command::Healthy { path } if world.files.contains_key(path) => out("healthy"),
        Command::Healthy { .. } => {
            out("unhealthy");
            return Err(());
        }
        // Containers of the model have no network.
        Command::Fetch { url } => {
            return fail(happenings, &format!("cannot fetch from {}: the model has no network", url.host));
        }
        Command::Sleep { .. }
        | Command::Exit { .. }
        | Command::Trap { .. }
        | Command::OnTerm { .. }
        | Command::TermAfter { .. }
        | Command::IgnoreTerm { .. }
        | Command::Serve { .. }
        | Command::Flip { .. }
        | Command::Write(_)
        | Command::Alloc { .. }
        | Command::AllocChild { .. }
        | Command::Burn { .. }
        | Command::Fork { .. }
        | Command::Spawn { .. } => {}
    }
    Ok(())
}

fn fail(happenings: &mut Vec<Happening>, text: &str) -> Result<(), ()> {
    happenings.push(Happening::Wrote(OutputStream::Stderr, format!("testbox: {text}\n")));
    Err(())
}

/// What the program says to words that it does not understand.
fn help() -> String {
    format!("usage: testbox COMMAND [+ COMMAND]...\n  {}", command::USAGE.join("\n  "))
}

/// Whether this much cannot be had under the container's limit.
fn exceeds(mib: u32, world: &World) -> bool {
    world.memory.is_some_and(|limit| u64::from(mib) << 20 >= limit)
}

/// Plays a program to its end on its own: a probe of a health check.
pub(crate) fn probe(kind: ProgramKind, arguments: &[String], limit: Duration, world: &mut World) -> Probed {
    let (mut process, complaint) = Process::new(kind, arguments, Mono(0));
    let mut output = String::new();
    let mut note = |happening: Happening| match happening {
        Happening::Wrote(_, text) => {
            output += &text;
            None
        }
        Happening::OutOfMemory => None,
        Happening::Ended(at, code) => Some((at, code)),
    };
    let mut end = complaint.and_then(&mut note);
    while end.is_none() {
        let Some(at) = process.wakes_at(world).filter(|at| at.0 <= Mono(0).after(limit).0) else { break };
        end = process.run(at, world).into_iter().find_map(&mut note);
    }
    match end {
        Some((at, code)) => Probed { takes: at.since(Mono(0)), code, output },
        None => Probed { takes: limit, code: -1, output: format!("Health check exceeded timeout ({})", spell(limit)) },
    }
}

/// How a probe of a health check went.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Probed {
    pub(crate) takes: Duration,
    pub(crate) code: ExitCode,
    pub(crate) output: String,
}

/// A duration as the engine's language prints it, for whole seconds and milliseconds.
fn spell(time: Duration) -> String {
    match (time.as_secs(), time.subsec_millis()) {
        (0, millis) => format!("{millis}ms"),
        (secs, 0) if secs < 60 => format!("{secs}s"),
        (secs, millis) if secs < 60 => format!("{secs}.{}s", format!("{millis:03}").trim_end_matches('0')),
        (secs, _) => format!("{}m{}s", secs / 60, secs % 60),
    }
}
