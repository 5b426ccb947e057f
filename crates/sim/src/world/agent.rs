//! The agent: engine and gate, and what a driver keeps around them.

use std::collections::BTreeMap;

use lighterman_calls::{Answer, Call, Lost, RuntimeEvent};
use lighterman_engine::Event;
use lighterman_ids::{ActionId, Moment};
use lighterman_turn::{Output, Turns};

use super::{Checked, World};
use crate::{
    clock::{At, Clock},
    note::Note,
    store::Fate,
};

/// One life of the agent.
#[derive(Debug)]
pub(super) struct Agent {
    pub(super) turns: Turns,
    /// Calls that have left, by their token in the runtime.
    pub(super) calls: BTreeMap<u64, Sent>,
    pub(super) watch: Option<Watch>,
    /// What is on its way to the engine, by arrival.
    pub(super) inbox: BTreeMap<(At, u64), Delivery>,
    serial: u64,
    /// It was told to end, and does so at this time at the latest.
    pub(super) closing: Option<(At, core::time::Duration)>,
    begun: bool,
}

/// A call that has left.
#[derive(Debug)]
pub(super) struct Sent {
    pub(super) id: ActionId,
    pub(super) call: Call,
    /// When it reaches the runtime; `None`: never.
    pub(super) arrives: Option<At>,
}

/// An event stream.
#[derive(Debug)]
pub(super) struct Watch {
    pub(super) id: ActionId,
    pub(super) token: u64,
    pub(super) opened: bool,
    pub(super) gives_up_at: At,
    /// When the last of its items arrives.
    pub(super) last: At,
}

/// Something on its way to the engine.
#[derive(Debug)]
pub(super) enum Delivery {
    Answer { sent: Box<Sent>, answer: Box<Answer> },
    Opened(ActionId),
    Event { id: ActionId, event: RuntimeEvent },
    WatchLost { id: ActionId, lost: Lost },
    Wish(Event),
}

impl Agent {
    pub(super) fn new(turns: Turns) -> Self {
        Self {
            turns,
            calls: BTreeMap::new(),
            watch: None,
            inbox: BTreeMap::new(),
            serial: 0,
            closing: None,
            begun: false,
        }
    }

    pub(super) const fn turns(&self) -> &Turns {
        &self.turns
    }

    pub(super) fn calls_out(&self) -> usize {
        let on_the_way = self.inbox.values().filter(|delivery| matches!(delivery, Delivery::Answer { .. })).count();
        self.calls.len() + on_the_way
    }

    pub(super) fn deliver(&mut self, at: At, delivery: Delivery) {
        self.serial += 1;
        self.inbox.insert((at, self.serial), delivery);
    }

    pub(super) fn next_at(&self, clock: &Clock) -> Option<At> {
        if !self.begun {
            return Some(clock.at());
        }
        let inbox = self.inbox.keys().next().map(|(at, _)| *at);
        let timeout = self.turns.poll_timeout().map(|mono| clock.line_up(mono));
        let opening = self.watch.as_ref().filter(|watch| !watch.opened).map(|watch| watch.gives_up_at);
        let closing = self.closing.map(|(at, _)| at);
        [inbox, timeout, opening, closing].into_iter().flatten().min()
    }

    /// No task, nothing out, nothing to come.
    pub(super) fn is_idle(&self) -> bool {
        self.turns.engine().tasks().next().is_none()
            && self.inbox.is_empty()
            && self.calls.is_empty()
            && self.watch.as_ref().is_some_and(|watch| watch.opened)
            && !self.turns.is_committing()
            && !self.turns.engine().is_dirty()
    }

    /// What everything waits for, for people.
    pub(super) fn describe(&self, now: Moment) -> impl Iterator<Item = String> {
        let engine = self.turns.engine();
        let views = engine.tasks().filter_map(move |task| engine.view(now, task.id()));
        views.flat_map(|view| {
            view.containers.into_iter().map(move |container| {
                let wait = container.wait.map_or_else(|| "nothing".to_string(), |wait| wait.reason.to_string());
                format!("{} {}→{}: {wait}", view.id, container.known.as_str(), container.desired.as_str())
            })
        })
    }

    fn take_due(&mut self, now: At) -> Option<Delivery> {
        let first = self.inbox.first_entry()?;
        (first.key().0 <= now).then(|| first.remove())
    }
}

impl World {
    /// Hands the engine everything that has arrived, and the time if it asked for it: one turn.
    pub(super) fn take_turn(&mut self) -> Checked {
        self.give_up_on_watch();
        let (now, at) = (self.moment(), self.clock.at());
        let mut any = false;
        while let Some(delivery) = self.agent.as_mut().and_then(|agent| agent.take_due(at)) {
            any = true;
            self.arrives(now, delivery)?;
        }
        let Some(agent) = &mut self.agent else { return Ok(()) };
        let due = agent.turns.poll_timeout().is_some_and(|mono| mono <= now.mono);
        if due || !agent.begun {
            any = true;
            agent.begun = true;
            agent.turns.handle_timeout(now);
        }
        if any {
            agent.turns.end_turn(now);
            self.after_turn()?;
        }
        self.end_if_closed()
    }

    fn arrives(&mut self, now: Moment, delivery: Delivery) -> Checked {
        let event = match delivery {
            Delivery::Answer { sent, answer } => {
                let Sent { id, call, .. } = *sent;
                self.count_event(&call.request, &answer);
                self.log.line(self.clock.at(), "runtime", || {
                    format!("answers {id} ({}): {}", call.request.kind().as_str(), answer.summary())
                });
                self.note(&Note::Answered { call: &call, answer: &answer })?;
                Event::Answer { id, answer }
            }
            Delivery::Opened(id) => {
                self.log.line(self.clock.at(), "runtime", || format!("opens the stream {id}"));
                Event::WatchOpened(id)
            }
            Delivery::Event { id, event } => {
                self.count_runtime_event(&event);
                self.log.line(self.clock.at(), "runtime", || {
                    format!("tells of {}: {:?} (of {})", event.container.short(), event.action, event.at.0)
                });
                Event::Runtime { id, event }
            }
            Delivery::WatchLost { id, lost } => {
                self.log.line(self.clock.at(), "runtime", || format!("breaks the stream {id}: {lost}"));
                Event::WatchLost { id, lost }
            }
            Delivery::Wish(event) => {
                self.log.line(self.clock.at(), "user", || wish(&event));
                self.note(&Note::Wished(&event))?;
                event
            }
        };
        if let Some(agent) = &mut self.agent {
            agent.turns.handle_event(now, event);
        }
        Ok(())
    }

    /// Begins the next commit, and lets out what may leave.
    pub(super) fn after_turn(&mut self) -> Checked {
        let now = self.moment();
        let Some(agent) = &mut self.agent else { return Ok(()) };
        if let Some(commit) = agent.turns.poll_commit(now) {
            if self.crash_point("before a commit")? {
                return Ok(());
            }
            self.begin_commit(commit);
        }
        let Some(agent) = &mut self.agent else { return Ok(()) };
        let outputs: Vec<Output> = agent.turns.outputs().collect();
        for output in outputs {
            self.let_out(output)?;
            if self.agent.is_none() {
                return Ok(());
            }
        }
        Ok(())
    }

    fn begin_commit(&mut self, commit: lighterman_turn::Commit) {
        let at = self.clock.at();
        let fate = self.fate_of_commit();
        let weather = self.scenario.weather;
        let takes = if self.dice.chance("commit", weather.commit_slow) {
            self.dice.span("commit", core::time::Duration::from_millis(20), core::time::Duration::from_secs(20))
        } else {
            self.dice.span("commit", core::time::Duration::from_micros(100), core::time::Duration::from_millis(5))
        };
        self.log.line(at, "agent", || format!("commits {} ({} writes)", commit.generation, commit.writes.len()));
        self.count("commit", || match &fate {
            Fate::Done => "done".into(),
            Fate::Fails { lands: true, .. } => "fails and lands".into(),
            Fate::Fails { lands: false, .. } => "fails".into(),
        });
        self.store.begin(commit, at.after(takes), fate);
        if self.scenario.plant == Some(crate::Plant::AcknowledgesEarly)
            && let Some(agent) = &mut self.agent
        {
            agent.turns.committed(self.clock.moment(), Ok(()));
        }
    }

    fn fate_of_commit(&mut self) -> Fate {
        let (at, weather) = (self.clock.at(), self.scenario.weather);
        let period = self.store_fails.filter(|(until, _)| at < *until).map(|(_, lands)| lands);
        let lands = match period {
            Some(lands) => lands,
            None if self.dice.chance("commit fails", weather.commit_fails) => self.dice.chance("commit lands", 500),
            None => return Fate::Done,
        };
        Fate::Fails { text: "no space left on the state device (simulated)".into(), lands }
    }

    /// The commit under way ends, if it is due.
    pub(super) fn finish_commit(&mut self) -> Checked {
        if self.store.done_at().is_none_or(|at| at > self.clock.at()) {
            return Ok(());
        }
        let Some(outcome) = self.store.finish() else { return Ok(()) };
        self.log.line(self.clock.at(), "store", || match &outcome {
            Ok(()) => "made it durable".to_string(),
            Err(text) => format!("failed: {text}"),
        });
        self.note_landed()?;
        if self.agent.is_none() || self.crash_point("after a commit")? {
            return Ok(());
        }
        let now = self.moment();
        if let Some(agent) = self.agent.as_mut().filter(|agent| agent.turns.is_committing()) {
            agent.turns.committed(now, outcome);
        }
        self.after_turn()
    }

    /// An agent that was told to end does so when nothing is out any more, or when its patience is over.
    fn end_if_closed(&mut self) -> Checked {
        let Some(agent) = &self.agent else { return Ok(()) };
        let Some((latest, down)) = agent.closing else { return Ok(()) };
        let told = agent.inbox.is_empty();
        let done = told && agent.calls.is_empty() && !agent.turns.is_committing() && !agent.turns.engine().is_dirty();
        if done || self.clock.at() >= latest {
            return self.die(down, "has ended");
        }
        Ok(())
    }
}

fn wish(event: &Event) -> String {
    match event {
        Event::Submit(spec) => format!("submits {}", spec.id),
        Event::Stop { task, force, .. } => format!("stops {task}{}", if *force { " by force" } else { "" }),
        Event::CleanUp(task) => format!("is done with {task}"),
        Event::OutputEnded { task, container } => format!("has read the output of {container} of {task} to its end"),
        Event::EventsDropped => "(the inbox) dropped events".into(),
        Event::Shutdown => "tells the agent to end".into(),
        Event::Answer { .. }
        | Event::NeverSent(_)
        | Event::WatchOpened(_)
        | Event::Runtime { .. }
        | Event::WatchLost { .. }
        | Event::StoreFailed(_)
        | Event::StoreWorks => format!("{event:?}"),
    }
}
