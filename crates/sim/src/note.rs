//! What a run tells its checkers.

use lighterman_calls::{Answer, Call};
use lighterman_engine::Action;
use lighterman_ids::{RuntimeId, TaskId};
use lighterman_turn::Turns;
use lighterman_view::TaskView;

use crate::{clock::At, scenario::Scenario, store::SimStore, truth::Truth};

/// Something happened.
#[derive(Debug)]
pub(crate) enum Note<'a> {
    /// A task was submitted, stopped …: what a user wanted arrived at the engine.
    Wished(&'a lighterman_engine::Event),
    /// An action left.
    Acts(&'a Action),
    /// A call ended, and its answer reached the engine.
    Answered {
        /// What was asked.
        call: &'a Call,
        /// What came back.
        answer: &'a Answer,
    },
    /// A start of this container may still take effect, though nobody waits for it any more.
    StartAdrift(Option<&'a RuntimeId>),
    /// A commit is in the store, acknowledged or not.
    Landed,
    /// Readers see this now.
    Shows(&'a TaskView),
    /// The agent is gone.
    Died,
    /// The agent took its records up again.
    Started,
    /// The records are gone; the agent began anew.
    LostRecords,
    /// What is true has changed.
    Moved,
    /// Everything that was due has been done.
    Rests,
    /// Nothing has gone wrong for long enough that what is known should be what is true.
    Settled,
    /// The run is over, everything was told to stop and to be cleaned up.
    Ended,
}

/// What checkers can look at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sight<'a> {
    /// Now.
    pub(crate) now: At,
    /// What the run is made from.
    pub(crate) scenario: &'a Scenario,
    /// What is true.
    pub(crate) truth: &'a Truth,
    /// What is durable.
    pub(crate) store: &'a SimStore,
    /// Engine and gate, while the agent is there.
    pub(crate) turns: Option<&'a Turns>,
    /// Calls that have left and are not answered.
    pub(crate) calls_out: usize,
}

impl<'a> Sight<'a> {
    /// The tasks of the run that have a record.
    pub(crate) fn durable_tasks(&self) -> impl Iterator<Item = &'a TaskId> {
        let (scenario, store) = (self.scenario, self.store);
        scenario.tasks.iter().map(|task| &task.spec.id).filter(|id| store.holds(&format!("task/{id}")))
    }
}
