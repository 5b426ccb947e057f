//! One place through which everything goes that a command shows.

mod live;
mod text;
mod waits;

use std::{
    collections::BTreeMap,
    io::{self, Write},
    path::Path,
    time::Duration,
};

use lighterman_calls::PullProgress;
use lighterman_contracts::{LogChunk, LogStream};
use lighterman_ids::{ContainerName, ImageRef, Moment, Mono};
use lighterman_view::TaskView;

use crate::{
    Leftover, Mode, Size,
    event::{End, Event, Failure, LogEvent, NoteEvent, ProblemEvent, SignalEvent, Started, What},
    lines::{Line, LineSplitter},
    messages,
    pull::{self, Pulls},
    render::First,
    summary,
    timeline::Timeline,
};
use text::{Stage, Text};

/// A pull is told of so often where nothing lives.
const PULL_LINE_EVERY: Duration = Duration::from_secs(5);

/// A pull is an event so often in JSON.
const PULL_EVENT_EVERY: Duration = Duration::from_secs(1);

/// A person or a service manager asks the command to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopSignal {
    /// Ctrl-C.
    Interrupt,
    /// SIGTERM.
    Terminate,
    /// SIGHUP: the terminal is gone.
    HangUp,
    /// Ctrl-\, SIGQUIT.
    Quit,
}

impl StopSignal {
    /// Its name in POSIX.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Interrupt => "SIGINT",
            Self::Terminate => "SIGTERM",
            Self::HangUp => "SIGHUP",
            Self::Quit => "SIGQUIT",
        }
    }
}

/// What the command does about a [`StopSignal`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopAction {
    /// Containers get their stop signal and their stop timeout.
    Stop,
    /// They are killed.
    Kill,
    /// The command ends, and leaves them as they are.
    Leave,
}

/// The output of a command: container output on one writer, our own words on another; as JSON all on the first.
///
/// Views, log pieces and the rest go in as they come, each with the time at which it came, which never runs backwards.
/// On a terminal, lines below all others show what each container waits for; they need
/// [`handle_timeout`](Self::handle_timeout) at [`poll_timeout`](Self::poll_timeout) to count on. Everything else is
/// written at once, and every method flushes what it wrote.
///
/// Writing blocks while the reader does not read: give a screen a thread of its own and a bounded queue. An error of a
/// writer comes out of the method that met it and leaves the screen usable; what it would have written is lost. The first
/// one of the writer of logs is told on the other.
///
/// The two writers may be the same terminal; the living lines are taken away before anything is written there.
#[derive(Debug)]
pub struct Screen<L, S> {
    form: Form,
    logs: L,
    status: S,
    timeline: Timeline,
    pulls: Pulls,
    splitters: BTreeMap<ContainerName, LineSplitter>,
    /// How the next task that is seen comes to be seen; `None` while that of before goes on.
    first: Option<First>,
    resumed: bool,
    /// That output is lost has been said.
    output_failed: bool,
}

#[derive(Debug)]
enum Form {
    Text(Box<Text>),
    Json,
}

impl<L: Write, S: Write> Screen<L, S> {
    /// A screen that has shown nothing yet. `logs` gets container output, or all of JSON; `status` our own words.
    pub fn new(mode: Mode, logs: L, status: S) -> Self {
        let form = match mode {
            Mode::Text(look) => Form::Text(Box::new(Text::new(look))),
            Mode::Json => Form::Json,
        };
        Self {
            form,
            logs,
            status,
            timeline: Timeline::default(),
            pulls: Pulls::default(),
            splitters: BTreeMap::new(),
            first: None,
            resumed: false,
            output_failed: false,
        }
    }

    /// The command begins its work.
    ///
    /// # Errors
    /// A writer failed.
    pub fn started(&mut self, now: Moment, started: &Started) -> io::Result<()> {
        self.resumed = started.resumed;
        self.timeline.begin(now);
        self.tell(now, &[What::Started(started.clone())])
    }

    /// A task was published anew.
    ///
    /// # Errors
    /// A writer failed.
    pub fn view(&mut self, now: Moment, view: &TaskView) -> io::Result<()> {
        self.pulls.settle(view);
        let is_known = self.timeline.last().is_some_and(|last| last.id == view.id);
        self.first = (!is_known).then_some(if self.resumed { First::Adopted } else { First::Accepted });
        let events = self.timeline.observe(now, view);
        if let Form::Text(text) = &mut self.form {
            text.renderer.fit_to(view);
            text.watch(view, &self.timeline);
            text.touch();
        }
        self.tell(now, &events)
    }

    /// A pull of the engine moved.
    ///
    /// # Errors
    /// A writer failed.
    pub fn pull(&mut self, now: Moment, image: &ImageRef, step: &PullProgress) -> io::Result<()> {
        if self.timeline.last().is_some_and(|view| !pull::is_wanted(view, image)) {
            return Ok(());
        }
        self.pulls.progress(now.mono, image, step);
        let every = match &mut self.form {
            Form::Text(text) if text.look.terminal.is_some() => {
                text.touch();
                return self.tell(now, &[]);
            }
            Form::Text(_) => PULL_LINE_EVERY,
            Form::Json => PULL_EVENT_EVERY,
        };
        let event = self.pulls.tell(now.mono, image, every).map(What::Pull);
        self.tell(now, event.as_slice())
    }

    /// A container wrote something. Pieces may be cut anywhere; a line is shown when it is whole, or long.
    ///
    /// # Errors
    /// A writer failed.
    pub fn log(&mut self, now: Moment, container: &ContainerName, chunk: &LogChunk) -> io::Result<()> {
        let mut splitter = self.splitters.remove(container).unwrap_or_default();
        let mut bytes = Vec::new();
        splitter.push(chunk, |line| self.put_line(now, container, &line, &mut bytes));
        self.splitters.insert(container.clone(), splitter);
        self.write_logs(now, &bytes)
    }

    /// The output of a container is over: what it wrote last without a line feed is shown.
    ///
    /// # Errors
    /// A writer failed.
    pub fn log_end(&mut self, now: Moment, container: &ContainerName) -> io::Result<()> {
        let Some(mut splitter) = self.splitters.remove(container) else { return Ok(()) };
        let mut bytes = Vec::new();
        splitter.finish(|line| self.put_line(now, container, &line, &mut bytes));
        self.write_logs(now, &bytes)
    }

    /// The command was asked to end.
    ///
    /// # Errors
    /// A writer failed.
    pub fn signal(&mut self, now: Moment, signal: StopSignal, action: StopAction) -> io::Result<()> {
        let signal = signal.name();
        let action = match action {
            StopAction::Stop => "stop",
            StopAction::Kill => "kill",
            StopAction::Leave => "leave",
        };
        self.tell(now, &[What::Signal(SignalEvent { signal, action })])
    }

    /// What earlier runs left.
    ///
    /// # Errors
    /// A writer failed.
    pub fn leftovers(&mut self, now: Moment, found: &[Leftover]) -> io::Result<()> {
        match &self.form {
            Form::Text(text) => {
                let lines = messages::leftovers(found, text.renderer.columns);
                self.write_status(now, &lines)
            }
            Form::Json => {
                let events: Vec<What> = found.iter().map(|leftover| What::Leftover(leftover.event())).collect();
                self.tell(now, &events)
            }
        }
    }

    /// What the reader of a task definition found, in its own words.
    ///
    /// # Errors
    /// A writer failed.
    pub fn problems(&mut self, now: Moment, file: &Path, errors: &[String], warnings: &[String]) -> io::Result<()> {
        match &self.form {
            Form::Text(text) => {
                let columns = text.look.terminal.map(|_| text.renderer.columns);
                let lines = messages::painted_problems(file, errors, warnings, columns, text.renderer.brush);
                self.write_status(now, &lines)
            }
            Form::Json => {
                let event = |severity, text: &String| {
                    What::Problem(ProblemEvent { file: file.display().to_string(), severity, text: text.clone() })
                };
                let errors = errors.iter().map(|text| event("error", text));
                let events: Vec<What> = errors.chain(warnings.iter().map(|text| event("warning", text))).collect();
                self.tell(now, &events)
            }
        }
    }

    /// Something worth knowing.
    ///
    /// # Errors
    /// A writer failed.
    pub fn note(&mut self, now: Moment, text: &str) -> io::Result<()> {
        self.tell(now, &[What::Note(NoteEvent { level: "info", text: text.into() })])
    }

    /// Something that is probably not as it was meant.
    ///
    /// # Errors
    /// A writer failed.
    pub fn warning(&mut self, now: Moment, text: &str) -> io::Result<()> {
        self.tell(now, &[What::Note(NoteEvent { level: "warning", text: text.into() })])
    }

    /// The command cannot do what it should.
    ///
    /// # Errors
    /// A writer failed.
    pub fn failure(&mut self, now: Moment, failure: &Failure) -> io::Result<()> {
        self.tell(now, &[What::Error(failure.clone())])
    }

    /// Lines of the program's own log, above what lives. In JSON mode they go to `status`, which is otherwise unused.
    ///
    /// # Errors
    /// A writer failed.
    pub fn own_log(&mut self, now: Moment, lines: &str) -> io::Result<()> {
        match &self.form {
            Form::Text(_) => self.write_status(now, lines),
            Form::Json => {
                self.status.write_all(lines.as_bytes())?;
                self.status.flush()
            }
        }
    }

    /// The terminal has another size now.
    pub fn resize(&mut self, size: Size) {
        if let Form::Text(text) = &mut self.form {
            text.resize(size);
        }
    }

    /// When [`handle_timeout`](Self::handle_timeout) is due, if ever.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Mono> {
        match &self.form {
            Form::Text(text) => text.poll_timeout(&Stage { timeline: &self.timeline, pulls: &self.pulls }),
            Form::Json => None,
        }
    }

    /// Time went by: what lives is drawn again if it is due; elsewhere a long wait is told of.
    ///
    /// # Errors
    /// A writer failed.
    pub fn handle_timeout(&mut self, now: Moment) -> io::Result<()> {
        let Form::Text(text) = &mut self.form else { return Ok(()) };
        let lines = text.wake(now, &Stage { timeline: &self.timeline, pulls: &self.pulls });
        self.write_status(now, &lines)
    }

    /// The command ends: how the task ended, and what the command exits with where that says more. Nothing lives after
    /// this.
    ///
    /// # Errors
    /// A writer failed.
    pub fn end(&mut self, now: Moment, end: &End) -> io::Result<()> {
        let containers: Vec<ContainerName> = self.splitters.keys().cloned().collect();
        for container in containers {
            self.log_end(now, &container)?;
        }
        if let Form::Text(text) = &mut self.form {
            text.end();
        }
        self.tell(now, &[What::End(end.clone())])
    }

    /// Gives the writers back; what lives is left as it was drawn.
    pub fn into_writers(self) -> (L, S) {
        (self.logs, self.status)
    }

    fn tell(&mut self, now: Moment, events: &[What]) -> io::Result<()> {
        match self.form {
            Form::Text(_) => {
                let lines: String = events.iter().map(|event| self.in_text(now, event)).collect();
                self.write_status(now, &lines)
            }
            Form::Json => {
                let lines: Vec<u8> = events.iter().flat_map(|what| json_line(now, what)).collect();
                self.write_out(now, &lines)
            }
        }
    }

    fn in_text(&mut self, now: Moment, event: &What) -> String {
        let Form::Text(text) = &mut self.form else { return String::new() };
        let Text { renderer, waits, .. } = &mut **text;
        let wall = now.wall;
        match event {
            What::Started(event) => renderer.started(wall, event),
            What::Task(event) => renderer.task(wall, event, self.first.take()),
            What::Container(event) => renderer.container(wall, event),
            What::Wait(event) => waits.observe(now, event, renderer),
            What::Pull(event) => renderer.pull(wall, event),
            What::Signal(event) => renderer.signal(wall, event),
            What::Note(event) => renderer.note(wall, event.level, &event.text),
            What::Error(failure) => messages::painted_failure(failure, renderer.columns, renderer.brush),
            What::End(end) => {
                let table =
                    self.timeline.last().map(|view| summary::painted(view, now, renderer.columns, renderer.brush));
                let table = table.map_or(String::new(), |table| format!("\n{table}"));
                let exit = end.text.as_ref().map(|text| format!("\nexit code {}: {text}\n", end.exit_code));
                table + &exit.unwrap_or_default()
            }
            // These come as whole lists and are written where they come in.
            What::Log(_) | What::Leftover(_) | What::Problem(_) => String::new(),
        }
    }

    /// Adds a line of output as it is written.
    fn put_line(&self, now: Moment, container: &ContainerName, line: &Line<'_>, out: &mut Vec<u8>) {
        match &self.form {
            Form::Text(text) => {
                let containers = self.timeline.last().map_or(&[][..], |view| &view.containers);
                let index = containers.iter().position(|known| known.name == *container).unwrap_or(0);
                text.log_line(index, container, line, out);
            }
            Form::Json => out.extend(json_line(now, &What::Log(self.log_event(container, line)))),
        }
    }

    fn log_event(&self, container: &ContainerName, line: &Line<'_>) -> LogEvent {
        let bytes = if line.last { line.bytes.strip_suffix(b"\r").unwrap_or(line.bytes) } else { line.bytes };
        LogEvent {
            task: self.timeline.last().map(|view| view.id.to_string()),
            container: container.to_string(),
            stream: match line.stream {
                LogStream::Stdout => "stdout",
                LogStream::Stderr => "stderr",
            },
            line: String::from_utf8_lossy(bytes).into_owned(),
            first: line.first,
            last: line.last,
        }
    }

    fn write_logs(&mut self, now: Moment, bytes: &[u8]) -> io::Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        if let Form::Text(text) = &mut self.form {
            text.clear(&mut self.status)?;
        }
        self.write_out(now, bytes)?;
        self.write_status(now, "")
    }

    /// Writes to the writer of logs. Whoever redirected it must hear that it takes nothing, and only the other is left.
    fn write_out(&mut self, now: Moment, bytes: &[u8]) -> io::Result<()> {
        let outcome = self.logs.write_all(bytes).and_then(|()| self.logs.flush());
        if let Err(error) = &outcome
            && !std::mem::replace(&mut self.output_failed, true)
        {
            let text = format!("output cannot be written and is lost: {error}; the task goes on");
            self.tell_of_lost_output(now, &text)?;
        }
        outcome
    }

    fn tell_of_lost_output(&mut self, now: Moment, text: &str) -> io::Result<()> {
        match &self.form {
            Form::Text(form) => {
                let lines = form.renderer.note(now.wall, "warning", text);
                self.write_status(now, &lines)
            }
            Form::Json => {
                writeln!(self.status, "warning: {text}")?;
                self.status.flush()
            }
        }
    }

    fn write_status(&mut self, now: Moment, lines: &str) -> io::Result<()> {
        let Form::Text(text) = &mut self.form else { return Ok(()) };
        let stage = Stage { timeline: &self.timeline, pulls: &self.pulls };
        text.write(now, lines, &stage, &mut self.status)
    }
}

fn json_line(now: Moment, what: &What) -> Vec<u8> {
    let event = Event { time: now.wall, what };
    let mut line = serde_json::to_vec(&event).expect("events are plain data with text keys");
    line.push(b'\n');
    line
}
