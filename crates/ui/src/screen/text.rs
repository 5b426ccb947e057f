//! Text for people on one or two writers, with lines that live on a terminal.

use std::{
    collections::BTreeMap,
    io::{self, Write},
    time::Duration,
};

use lighterman_ids::{ContainerName, Moment, Mono};
use lighterman_view::TaskView;

use super::{live::Scene, waits::Waits};
use crate::{
    Look, Size,
    escape::for_terminal,
    event::Kind,
    lines::Line,
    paint::{Brush, Ink},
    pull::Pulls,
    render::Renderer,
    text::{fit, pad, whole_span},
    timeline::Timeline,
};

/// Living lines are drawn at most ten times in a second.
const FRAME: Duration = Duration::from_millis(100);

/// They count seconds.
const TICK: Duration = Duration::from_secs(1);

/// Where nothing lives, a wait is told of after so long, then after twice as long, and so on.
const FIRST_REMINDER: Duration = Duration::from_secs(10);

/// A pull that moves is looked at again after so long.
const SILENCE_CHECK: Duration = Duration::from_secs(5);

/// No cursor movement may happen between these: a line that is longer than the terminal is cut off, not broken, whatever
/// width the terminal has got meanwhile.
const NO_WRAP: &str = "\u{1b}[?7l";
const WRAP: &str = "\u{1b}[?7h";

#[derive(Debug)]
pub(super) struct Text {
    pub(super) look: Look,
    pub(super) renderer: Renderer,
    /// How many living lines are on the terminal.
    drawn: usize,
    /// When they were drawn last.
    drawn_at: Option<Mono>,
    /// They do not show what is.
    stale: bool,
    /// For each container that waits, since when and after how long it is told next.
    reminders: BTreeMap<ContainerName, (Moment, Duration)>,
    pub(super) waits: Waits,
    over: bool,
}

impl Text {
    pub(super) fn new(look: Look) -> Self {
        let renderer = Renderer::new(&look);
        Self {
            look,
            renderer,
            drawn: 0,
            drawn_at: None,
            stale: false,
            reminders: BTreeMap::new(),
            waits: Waits::default(),
            over: false,
        }
    }

    pub(super) fn resize(&mut self, size: Size) {
        if self.look.terminal.is_some() {
            self.look.terminal = Some(size);
            self.renderer.columns = self.look.text_width();
            self.stale = true;
        }
    }

    /// Something that the living lines show has changed.
    pub(super) const fn touch(&mut self) {
        self.stale = true;
    }

    /// Nothing lives from now on.
    pub(super) const fn end(&mut self) {
        self.over = true;
    }

    /// Writes lines that stay, and what lives below them if that may be drawn again already.
    pub(super) fn write(
        &mut self,
        now: Moment,
        lines: &str,
        stage: &Stage<'_>,
        out: &mut impl Write,
    ) -> io::Result<()> {
        let may_draw = self.may_draw(now.mono);
        if lines.is_empty() && !(self.stale && may_draw) {
            return Ok(());
        }
        let mut text = self.erase();
        text += lines;
        if may_draw {
            text += &self.draw(now, stage);
        }
        out.write_all(text.as_bytes())?;
        out.flush()
    }

    /// Takes the living lines away, so that something else may be written where they were.
    pub(super) fn clear(&mut self, out: &mut impl Write) -> io::Result<()> {
        let text = self.erase();
        if text.is_empty() {
            return Ok(());
        }
        out.write_all(text.as_bytes())?;
        out.flush()
    }

    /// When [`Text::wake`] has something to do.
    pub(super) fn poll_timeout(&self, stage: &Stage<'_>) -> Option<Mono> {
        if self.over {
            return None;
        }
        let told = self.waits.poll_timeout();
        if self.look.terminal.is_none() {
            let reminders = self.reminders.values().map(|(since, next)| since.mono.after(*next));
            return reminders.chain(told).min();
        }
        let wait = if self.stale { FRAME } else { TICK };
        let moves = self.stale || self.drawn > 0 || stage.timeline.last().is_some_and(|view| !view.removed);
        let drawing = moves.then(|| self.drawn_at.map_or(Mono(0), |at| at.after(wait)));
        drawing.into_iter().chain(told).min()
    }

    /// Lines that are due because time went by.
    pub(super) fn wake(&mut self, now: Moment, stage: &Stage<'_>) -> String {
        let mut lines = self.waits.wake(now, &self.renderer);
        if self.look.terminal.is_some() {
            self.stale |= self.drawn_at.is_none_or(|at| now.mono.since(at) >= TICK);
            return lines;
        }
        for container in stage.timeline.last().into_iter().flat_map(|view| &view.containers) {
            let (Some((since, next)), Some(wait)) = (self.reminders.get_mut(&container.name), &container.wait) else {
                continue;
            };
            let waited = now.since(*since);
            if waited < *next {
                continue;
            }
            let silence = stage.pulls.silence(now.mono, &container.image);
            if stage.pulls.contains(&container.image) && silence.is_none() {
                // It moves, and its own lines tell of it.
                *next = waited.saturating_add(SILENCE_CHECK);
                continue;
            }
            while waited >= *next {
                *next = next.saturating_mul(2);
            }
            let silence = silence.map(|silent| format!(", no progress for {}", whole_span(silent)));
            let text = format!("{}{}", wait.reason, silence.unwrap_or_default());
            let (name, known) = (container.name.as_str(), container.known.as_str());
            lines += &self.renderer.reminder(now.wall, name, known, &text, waited);
        }
        lines
    }

    /// Remembers which waits there are, for reminders. To run is not to wait, to a person.
    pub(super) fn watch(&mut self, view: &TaskView, timeline: &Timeline) {
        for container in &view.containers {
            let wait = container.wait.as_ref().filter(|wait| match Kind::of(&wait.reason) {
                Kind::Running | Kind::Cleanup => false,
                Kind::Call
                | Kind::Pause
                | Kind::Store
                | Kind::RuntimeAway
                | Kind::LateCreate
                | Kind::Closing
                | Kind::Connecting => true,
            });
            let known = self.reminders.get(&container.name).map(|(since, _)| *since);
            match wait.and_then(|_| timeline.waiting_since(&container.name)) {
                None => drop(self.reminders.remove(&container.name)),
                Some(since) if known == Some(since) => {}
                Some(since) => drop(self.reminders.insert(container.name.clone(), (since, FIRST_REMINDER))),
            }
        }
    }

    fn may_draw(&self, now: Mono) -> bool {
        self.look.terminal.is_some() && !self.over && self.drawn_at.is_none_or(|at| now.since(at) >= FRAME)
    }

    fn erase(&mut self) -> String {
        let drawn = std::mem::take(&mut self.drawn);
        if drawn == 0 {
            return String::new();
        }
        self.stale = true;
        // The carriage return comes first: a terminal may have echoed `^C` at the beginning of the line.
        format!("\r\u{1b}[{drawn}A\u{1b}[J")
    }

    fn draw(&mut self, now: Moment, stage: &Stage<'_>) -> String {
        let Some(size) = self.look.terminal else { return String::new() };
        let scene = Scene { stage, names: self.renderer.names(), brush: self.renderer.brush };
        let lines = scene.lines(now, size);
        self.stale = false;
        self.drawn_at = Some(now.mono);
        self.drawn = lines.len();
        if lines.is_empty() { String::new() } else { format!("{NO_WRAP}{}\n{WRAP}", lines.join("\n")) }
    }

    /// A line of a container's output behind its name.
    pub(super) fn log_line(&self, index: usize, container: &ContainerName, line: &Line<'_>, out: &mut Vec<u8>) {
        let names = self.renderer.names();
        let name = pad(&fit(container.as_str(), names), names);
        if !self.look.clean_logs {
            let bar = if line.first { '|' } else { '+' };
            out.extend_from_slice(format!("{name} {bar} ").as_bytes());
            out.extend_from_slice(line.bytes);
            out.push(b'\n');
            return;
        }
        if !line.first {
            return;
        }
        let brush = Brush { colour: self.look.colour };
        let text = for_terminal(line.bytes, self.look.colour);
        let is_error = line.stream == lighterman_contracts::LogStream::Stderr;
        let text = if is_error { brush.paint(Ink::Bad, &text) } else { text };
        let cut = if line.last { String::new() } else { brush.paint(Ink::Faint, " … [long line cut]") };
        let bar = brush.paint(Ink::Faint, "|");
        out.extend_from_slice(format!("{} {bar} {text}{cut}\n", brush.paint_name(index, &name)).as_bytes());
    }
}

/// What the living lines are about.
pub(super) struct Stage<'a> {
    pub(super) timeline: &'a Timeline,
    pub(super) pulls: &'a Pulls,
}
