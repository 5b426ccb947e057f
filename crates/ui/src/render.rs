//! Events as lines for people.
//!
//! A line is `time  name  status  health  (time since the last change)`; what does not fit, and everything about an end,
//! hangs below the status.

use std::time::Duration;

use lighterman_ids::Wall;
use lighterman_status::{ContainerStatus, Health, TaskStatus};
use lighterman_view::TaskView;

use crate::{
    Look, Zone,
    escape::clean,
    event::{
        Changed, ContainerEvent, Kind, PullEvent, Reason, SignalEvent, Started, TaskEvent, WaitDetails, WaitEvent,
    },
    exit,
    paint::{Brush, Ink},
    ports, pull,
    text::{fit, pad, span, whole_span, width, wrap},
};

/// Names that no container can have.
const TASK: &str = "(task)";
const RUN: &str = "(run)";
const PULL: &str = "(pull)";

/// `12:01:03.123` and two blanks.
const TIME_COLUMNS: usize = 14;

/// `MANIFEST_PULLED`.
const STATUS_COLUMNS: usize = 15;

/// `UNHEALTHY`.
const HEALTH_COLUMNS: usize = 9;

const NAME_COLUMNS: usize = 20;

/// How a task comes to be seen for the first time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum First {
    /// It is new.
    Accepted,
    /// An earlier run began it.
    Adopted,
}

/// Writes events as lines.
#[derive(Clone, Debug)]
pub(crate) struct Renderer {
    pub(crate) columns: usize,
    pub(crate) brush: Brush,
    zone: Zone,
    names: usize,
    /// Whether any container has a health check.
    has_health: bool,
}

impl Renderer {
    pub(crate) fn new(look: &Look) -> Self {
        let colour = look.colour && look.terminal.is_some();
        Self {
            columns: look.text_width(),
            brush: Brush { colour },
            zone: look.zone.clone(),
            names: TASK.len(),
            has_health: false,
        }
    }

    /// Makes the columns wide enough for a task.
    pub(crate) fn fit_to(&mut self, view: &TaskView) {
        let names = view.containers.iter().map(|container| width(container.name.as_str()));
        self.names = names.fold(TASK.len(), usize::max).min(NAME_COLUMNS);
        self.has_health = view.containers.iter().any(|container| container.has_health_check);
    }

    pub(crate) const fn names(&self) -> usize {
        self.names
    }

    pub(crate) fn started(&self, now: Wall, event: &Started) -> String {
        let verb = if event.resumed { "goes on with instance" } else { "instance" };
        self.entry(now, RUN, &[], &[format!("{verb} {}", event.instance)])
    }

    pub(crate) fn signal(&self, now: Wall, event: &SignalEvent) -> String {
        let what = match event.signal {
            "SIGINT" => "Ctrl-C",
            "SIGQUIT" => "Ctrl-\\",
            other => other,
        };
        let text = match event.action {
            "kill" => format!("{what} again: killing"),
            "leave" => format!("{what}: leaving at once, whatever still runs"),
            _ => format!("{what}: stopping; once more kills at once"),
        };
        self.entry(now, RUN, &[], &[self.brush.paint(Ink::Attention, &text)])
    }

    pub(crate) fn note(&self, now: Wall, level: &str, text: &str) -> String {
        let text = clean(text);
        let text = if level == "warning" { format!("warning: {text}") } else { text };
        let lines = wrap(&text, self.columns - self.indent());
        self.entry(now, RUN, &[], &lines)
    }

    pub(crate) fn pull(&self, now: Wall, event: &PullEvent) -> String {
        let text = format!("{}: {}", event.image, pull::in_words(event));
        self.entry(now, PULL, &[], &wrap(&text, self.columns - self.indent()))
    }

    pub(crate) fn task(&self, now: Wall, event: &TaskEvent, first: Option<First>) -> String {
        let elapsed = format!("({})", span(Duration::from_millis(event.elapsed_ms)));
        let stopped = TaskStatus::Stopped.as_str();
        let mut out = String::new();
        if let Some(first) = first {
            let name = format!("{}:{}", event.family, event.revision);
            let word = match first {
                First::Accepted => "accepted",
                First::Adopted => "adopted",
            };
            out += &self.entry(now, TASK, &[(Ink::Busy, word)], &[name]);
        }
        if event.changed.contains(&Changed::Desired) && event.desired == stopped && event.known != stopped {
            out += &self.entry(now, TASK, &[(Ink::Attention, "stopping")], &self.because(event));
        }
        let is_told = event.known == stopped || event.known == TaskStatus::Running.as_str();
        if event.changed.contains(&Changed::Known) && is_told {
            let ink = TaskStatus::parse(event.known).map_or(Ink::Strong, Ink::of_task);
            let because = if event.known == stopped { self.because(event) } else { Vec::new() };
            let details = [vec![elapsed], because].concat();
            out += &self.entry(now, TASK, &[(ink, event.known)], &details);
        }
        if event.changed.contains(&Changed::Lingering) && event.lingering {
            let text = "a create call was cut off and may still be carried out: watching for it";
            out += &self.entry(now, TASK, &[(Ink::Attention, "lingering")], &wrap(text, self.columns - self.indent()));
        }
        if event.changed.contains(&Changed::Removed) && event.removed {
            out += &self.entry(now, TASK, &[(Ink::Faint, "removed")], &[]);
        }
        out
    }

    fn because(&self, event: &TaskEvent) -> Vec<String> {
        let reason = event.reason.as_deref().map(clean).unwrap_or_default();
        wrap(&reason, self.columns - self.indent())
    }

    pub(crate) fn container(&self, now: Wall, event: &ContainerEvent) -> String {
        let mut out = String::new();
        let stopped = ContainerStatus::Stopped.as_str();
        let is_stopped = event.known == stopped;
        let has = |changed: Changed| event.changed.contains(&changed);
        let end_is_new = is_stopped && (has(Changed::ExitCode) || has(Changed::Reason));
        if has(Changed::Known) || has(Changed::Health) || has(Changed::Ports) || end_is_new {
            let elapsed = format!("({})", span(Duration::from_millis(event.elapsed_ms)));
            let elapsed = has(Changed::Known).then_some(elapsed);
            let details = if is_stopped { self.end(event, elapsed) } else { self.links(event, elapsed) };
            out += &self.entry(now, &event.container, &self.states(event), &details);
        }
        if has(Changed::Desired) && event.desired == stopped && !is_stopped {
            let is_running = ContainerStatus::parse(event.known).is_ok_and(ContainerStatus::is_running);
            let grace = whole_span(Duration::from_millis(event.stop_timeout_ms));
            let more = if is_running { vec![format!("kill after {grace}")] } else { Vec::new() };
            out += &self.entry(now, &event.container, &[(Ink::Attention, "stopping")], &more);
        }
        out
    }

    /// Status and, where any container has one, health.
    fn states<'a>(&self, event: &'a ContainerEvent) -> Vec<(Ink, &'a str)> {
        let ink = match event.exit_code {
            Some(code) if code != 0 => Ink::Bad,
            Some(_) | None if event.reason.is_some() => Ink::Bad,
            Some(_) | None => ContainerStatus::parse(event.known).map_or(Ink::Strong, Ink::of_status),
        };
        let mut states = vec![(ink, word(event.known))];
        let is_running = ContainerStatus::parse(event.known).is_ok_and(ContainerStatus::is_running);
        if let Some(health) = event.health.filter(|_| is_running) {
            states.push((Health::parse(health).map_or(Ink::Faint, Ink::of_health), health));
        }
        states
    }

    fn links(&self, event: &ContainerEvent, elapsed: Option<String>) -> Vec<String> {
        let link =
            |(address, inside): (String, String)| format!("{} -> {inside}", self.brush.paint(Ink::Link, &address));
        let told = event.changed.contains(&Changed::Ports);
        let links = ports::for_people(&event.ports).into_iter().filter(|_| told).map(link);
        elapsed.into_iter().chain(links).collect()
    }

    /// How it ended: code, cause, and what to do.
    fn end(&self, event: &ContainerEvent, elapsed: Option<String>) -> Vec<String> {
        let code = event.exit_code.map(|code| format!("exit code {}", exit::in_words(code)));
        let first: Vec<String> = code.into_iter().chain(elapsed).collect();
        let mut paragraphs = vec![first.join("  ")];
        match &event.reason {
            Some(Reason { name, text, advice }) => {
                paragraphs.push(clean(&exit::reason(name, text, &event.image)));
                paragraphs.extend(advice.as_ref().map(|advice| format!("what to do: {advice}")));
            }
            None => paragraphs.extend(exit::cause(event.exit_code).map(Into::into)),
        }
        let (first, below) = paragraphs.split_first().expect("the code stands first");
        let below = below.iter().flat_map(|text| wrap(text, self.columns - self.indent()));
        std::iter::once(first.clone()).chain(below).collect()
    }

    /// What a container waits for, where a person would not expect it.
    pub(crate) fn wait_begins(&self, now: Wall, event: &WaitEvent) -> String {
        let Some(wait) = &event.wait else { return String::new() };
        let room = self.columns - self.indent();
        let left = wait.left_ms.map(|left| format!(", at the latest in {}", span(Duration::from_millis(left))));
        let text = format!("waits for {}; ends when {}", in_short(wait, room), wait.ends_when);
        let lines = wrap(&(text + &left.unwrap_or_default()), room);
        self.entry(now, &event.container, &[(Ink::Attention, word(event.known))], &lines)
    }

    /// The end of a wait of the kind `told`. `event` is the change that ended it, `next` what is waited for now.
    pub(crate) fn wait_is_over(&self, now: Wall, event: &WaitEvent, told: Kind, next: Option<Kind>) -> String {
        let over = over(told, next, event.waited_ms);
        over.map_or_else(String::new, |over| {
            self.entry(now, &event.container, &[(Ink::Good, word(event.known))], &[over])
        })
    }

    /// A wait that goes on, where nothing on the screen counts its seconds.
    pub(crate) fn reminder(&self, now: Wall, container: &str, known: &str, text: &str, for_: Duration) -> String {
        let text = format!("still waits ({}) for {}", whole_span(for_), clean(text));
        self.entry(now, container, &[(Ink::Faint, word(known))], &wrap(&text, self.columns - self.indent()))
    }

    /// One entry: the first detail behind the states if it fits, the others below.
    fn entry(&self, now: Wall, name: &str, states: &[(Ink, &str)], details: &[String]) -> String {
        let time = self.brush.paint(Ink::Faint, &self.zone.time_of_day(now));
        let name = pad(&fit(name, self.names), self.names);
        let mut line = format!("{time}  {}", self.brush.paint(Ink::Strong, &name));
        let mut used = TIME_COLUMNS + self.names;
        let widths = [STATUS_COLUMNS, HEALTH_COLUMNS];
        let shown = if states.is_empty() { 0 } else { 1 + usize::from(self.has_health) };
        for (index, columns) in widths.into_iter().take(shown).enumerate() {
            let (ink, text) = states.get(index).copied().unwrap_or((Ink::Faint, ""));
            line += "  ";
            line += &self.brush.paint(ink, text);
            line += &" ".repeat(columns.saturating_sub(width(text)));
            used += 2 + columns.max(width(text));
        }
        let mut details = details.iter();
        let fits = |detail: &String| used + 2 + visible_width(detail) <= self.columns;
        let first = details.clone().next().filter(|detail| fits(detail));
        if let Some(first) = first {
            line += "  ";
            line += first;
            details.next();
        }
        let below = details.map(|detail| format!("{}{detail}\n", " ".repeat(self.indent())));
        format!("{}\n{}", line.trim_end(), below.collect::<String>())
    }

    /// Where details hang: below the status.
    const fn indent(&self) -> usize {
        TIME_COLUMNS + self.names + 2
    }
}

/// The status as people are told it. `MANIFEST_PULLED` is passed before anything has been pulled.
fn word(known: &str) -> &str {
    if known == ContainerStatus::ManifestPulled.as_str() { "pulling" } else { known }
}

/// What is waited for. A cause that is told again is cut to a line: it was told whole before the second try.
fn in_short(wait: &WaitDetails, room: usize) -> String {
    const SECOND: u32 = 2;
    let whole = clean(&wait.text);
    match (&wait.cause, wait.attempt) {
        (Some(cause), Some(attempt)) if attempt > SECOND => {
            let cause = clean(cause);
            whole.replace(&cause, &fit(&cause, room))
        }
        _ => whole,
    }
}

/// What is told when a wait is over. A task that was given up waits for nothing more, though Docker never answered:
/// that it does is known only from what is waited for next.
fn over(told: Kind, next: Option<Kind>, waited_ms: Option<u64>) -> Option<String> {
    let waited = span(Duration::from_millis(waited_ms.unwrap_or(0)));
    let is_heard = matches!(next, Some(Kind::Call | Kind::Running));
    match told {
        Kind::RuntimeAway => is_heard.then(|| format!("Docker answers again after {waited}")),
        Kind::Connecting => is_heard.then(|| format!("Docker answers after {waited}")),
        Kind::Store => Some(format!("the state store takes changes again after {waited}")),
        Kind::Call | Kind::Pause | Kind::Running | Kind::Cleanup | Kind::LateCreate | Kind::Closing => None,
    }
}

/// Width of a text in which there may be our own colour.
fn visible_width(text: &str) -> usize {
    let mut parts = text.split('\u{1b}');
    let first = parts.next().map_or(0, width);
    first + parts.map(|part| width(part.split_once('m').map_or("", |(_, rest)| rest))).sum::<usize>()
}
