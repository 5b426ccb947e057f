//! From the first turn to the end.

use alloc::{boxed::Box, collections::BTreeMap, sync::Arc, vec::Vec};
use core::time::Duration;

use lighterman_calls::ExitCode;
use lighterman_engine::{Event, HostSettings, SubmitError, TaskSpec};
use lighterman_ids::{ContainerName, Mono, TaskId};
use lighterman_status::{ContainerStatus, Health, TaskStatus};
use lighterman_taskdef::TaskDefinition;
use lighterman_view::TaskView;

use crate::{
    Behaviour, Cause, Subject,
    cause::Change,
    rehearsal::{Ask, Rehearsal, Turn},
};

/// A plan has no more calls than this: what asks for more goes round in a circle.
const MOST_CALLS: usize = 1_000;
/// Nor more turns. A day of health probes every five seconds takes some 50,000.
const MOST_TURNS: u32 = 1_000_000;

/// What a run would do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The calls, in their order.
    pub calls: Vec<Planned>,
    /// What became of the task.
    pub ending: Ending,
}

/// One call that would be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planned {
    /// When, since the run began; for a stop since it was asked for.
    pub at: Duration,
    /// What is asked.
    pub ask: Ask,
    /// What it is about.
    pub subject: Subject,
    /// Why now, the nearest reason first; never empty.
    pub causes: Vec<Cause>,
}

/// How a plan ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The task ended and nothing of it is left.
    Removed {
        /// Its last view.
        view: Box<TaskView>,
    },
    /// Nothing changes any more: it stays as it is until somebody stops it. Docker is looked at again now and then.
    Stays {
        /// Since when, from the beginning of the run.
        since: Duration,
        /// How it then is.
        view: Box<TaskView>,
        /// What a stop would do; times count from there.
        stop: Vec<Planned>,
    },
    /// It goes on without coming to rest; the calls are those up to here.
    Restless {
        /// How it is at last.
        view: Box<TaskView>,
    },
    /// It would not be accepted.
    Refused {
        /// Why.
        error: SubmitError,
    },
}

/// What a run of this task would do, if its containers do what is assumed. Containers without an entry have the default
/// behaviour; entries of others mean nothing.
#[must_use]
pub fn plan(task: TaskSpec, behaviours: &BTreeMap<ContainerName, Behaviour>, settings: HostSettings) -> Plan {
    let rehearsal = Rehearsal::new(&task.definition, behaviours.clone(), settings);
    let settles_within = settles_within(&task.definition, behaviours);
    let mut course = Course::new(rehearsal, task.id.clone(), settles_within);
    // As a run does it: first comes the question who Docker is.
    let refused = course.take_turn();
    course.rehearsal.wish(Event::Submit(Box::new(task)));
    let end = refused.map_or_else(|| course.run(), End::Refused);
    course.conclude(end)
}

/// How long after the last change another can come that no wait tells of: from programs, health checks and start
/// timeouts.
fn settles_within(definition: &Arc<TaskDefinition>, behaviours: &BTreeMap<ContainerName, Behaviour>) -> Duration {
    let of_container = |container: &lighterman_taskdef::ContainerDefinition| {
        let lasts = behaviours.get(&container.name).map_or(Duration::ZERO, Behaviour::lasts);
        let probes = container.health_check.as_ref().map_or(Duration::ZERO, |check| {
            check.start_period + (check.interval + check.timeout) * (check.retries + 1)
        });
        lasts + probes + container.start_timeout.unwrap_or_default()
    };
    definition.containers.iter().map(of_container).sum::<Duration>() + Duration::from_secs(1)
}

/// Why a course ended.
enum End {
    Removed,
    Settled,
    Restless,
    Refused(SubmitError),
}

/// What of a task makes a plan go on when it changes.
type Standing = (TaskStatus, TaskStatus, Vec<(ContainerStatus, ContainerStatus, Health, Option<ExitCode>)>);

/// A rehearsal, and what is noted of it.
#[derive(Clone, Debug)]
struct Course {
    rehearsal: Rehearsal,
    task: TaskId,
    settles_within: Duration,
    begun: Mono,
    calls: Vec<Planned>,
    view: Option<TaskView>,
    turns: u32,
    /// When something changed last, looks apart.
    changed: Mono,
    let_go: bool,
}

impl Course {
    const fn new(rehearsal: Rehearsal, task: TaskId, settles_within: Duration) -> Self {
        let begun = rehearsal.now().mono;
        Self {
            rehearsal,
            task,
            settles_within,
            begun,
            calls: Vec::new(),
            view: None,
            turns: 0,
            changed: begun,
            let_go: false,
        }
    }

    fn run(&mut self) -> End {
        loop {
            if let Some(end) = self.end() {
                return end;
            }
            self.let_go();
            if let Some(error) = self.take_turn() {
                return End::Refused(error);
            }
        }
    }

    /// What a run does as well once the task has stopped and its output was read.
    fn let_go(&mut self) {
        let stopped = self.view.as_ref().is_some_and(|view| view.known.is_terminal());
        if stopped && !self.let_go {
            self.let_go = true;
            self.rehearsal.wish(Event::CleanUp(self.task.clone()));
        }
    }

    fn end(&self) -> Option<End> {
        if self.view.as_ref().is_some_and(|view| view.removed) {
            return Some(End::Removed);
        }
        if self.calls.len() >= MOST_CALLS || self.turns >= MOST_TURNS {
            return Some(End::Restless);
        }
        self.is_settled().then_some(End::Settled)
    }

    /// Nothing has changed for so long that nothing will: no call is out, and every wait is one that only an event ends.
    fn is_settled(&self) -> bool {
        let Some(view) = &self.view else { return false };
        let is_timed =
            view.containers.iter().any(|container| container.wait.as_ref().is_some_and(|w| w.until.is_some()));
        let quiet = self.rehearsal.now().mono.since(self.changed) > self.settles_within;
        quiet && !is_timed && !self.rehearsal.is_busy()
    }

    /// One turn, noted down; why the task was refused, if it was.
    fn take_turn(&mut self) -> Option<SubmitError> {
        let turn = self.rehearsal.step()?;
        let Turn { arrival, asks, views, refused } = turn;
        let after = views.into_iter().rfind(|view| view.id == self.task).or_else(|| self.view.clone());
        let change =
            Change { arrival: &arrival, first: self.turns == 0, before: self.view.as_ref(), after: after.as_ref() };
        let now = self.rehearsal.now().mono;
        let mut changed = self.view.as_ref().map(standing) != after.as_ref().map(standing);
        for ask in asks {
            let subject = ask.request().map_or(Subject::Docker, |request| Subject::of(request, after.as_ref()));
            let causes = change.causes(&subject);
            changed |= ask.request().is_some_and(|request| !request.is_protective());
            self.calls.push(Planned { at: now.since(self.begun), ask, subject, causes });
        }
        if changed {
            self.changed = now;
        }
        self.view = after;
        self.turns += 1;
        refused
    }

    fn conclude(mut self, end: End) -> Plan {
        let view = |course: &mut Self| Box::new(course.view.take().expect("an accepted task is shown"));
        let ending = match end {
            End::Refused(error) => Ending::Refused { error },
            End::Removed => Ending::Removed { view: view(&mut self) },
            End::Restless => Ending::Restless { view: view(&mut self) },
            End::Settled => {
                let since = self.changed.since(self.begun);
                // What came after that only looked.
                self.calls.retain(|call| call.at <= since);
                Ending::Stays { since, stop: self.clone().stop(), view: view(&mut self) }
            }
        };
        Plan { calls: self.calls, ending }
    }

    /// What a stop would do from here on.
    fn stop(mut self) -> Vec<Planned> {
        self.begun = self.rehearsal.now().mono;
        self.changed = self.begun;
        self.calls.clear();
        self.rehearsal.wish(Event::Stop { task: self.task.clone(), reason: None, force: false });
        self.run();
        self.calls
    }
}

fn standing(view: &TaskView) -> Standing {
    let containers = view.containers.iter();
    let containers =
        containers.map(|container| (container.known, container.desired, container.health, container.exit_code));
    (view.known, view.desired, containers.collect())
}
