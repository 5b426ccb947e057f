//! What goes into and comes out of the state machine of a task.

use alloc::{boxed::Box, collections::BTreeMap, string::String, sync::Arc};

use lighterman_calls::{Answer, Call, RuntimeEvent};
use lighterman_ids::{ActionId, ActionIds, ContainerName, InstanceId, Moment, Mono, RuntimeId};
use lighterman_view::{Wait, WaitReason};

use crate::Settings;

/// Facts and wishes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TaskEvent {
    /// The answer to an action. One to an action that is no longer current is dropped (design.md R2).
    Answer {
        /// Which action.
        id: ActionId,
        /// How it ended.
        answer: Box<Answer>,
    },
    /// The action never left: it certainly had no effect.
    NeverSent(ActionId),
    /// The runtime reported something about one of the task's containers.
    Runtime(RuntimeEvent),
    /// A list of the instance's containers: id → whether it runs (engine.md 4.12). Shared, since every task
    /// gets it.
    Listed(Arc<BTreeMap<RuntimeId, bool>>),
    /// The task is to stop. Asked again with `force`, what still runs is killed at once.
    Stop {
        /// The task's reason, if it has none yet; `None` leaves it empty.
        reason: Option<String>,
        /// Do not wait for the graces.
        force: bool,
    },
    /// Whoever kept the containers of the stopped task is done with them: the clean-up wait is over.
    CleanUp,
    /// The output of this container has ended, as it does with the container. A hint, should no event tell of its end.
    OutputEnded(ContainerName),
    /// The runtime answers again, or events were lost, or the store takes commits again: waits for them are over,
    /// and what is on its way may be older than what was missed.
    Resume,
}

/// What is to be done. Each is answered by an event that repeats its id.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Make this call; answered by [`TaskEvent::Answer`] or [`TaskEvent::NeverSent`].
    Call {
        /// To be repeated by the answer.
        id: ActionId,
        /// What to call.
        call: Box<Call>,
    },
    /// Give up waiting for this call, if that is possible; its answer is not expected any more.
    Cancel(ActionId),
}

/// What every method takes besides its event: time, ids and the state of the host. Never kept.
#[derive(Debug)]
pub struct Context<'a> {
    /// Now; never before an earlier now of the same boot.
    pub now: Moment,
    /// Where ids of actions come from.
    pub ids: &'a mut ActionIds,
    /// Limits and pauses.
    pub settings: &'a Settings,
    /// Who owns what is created.
    pub instance: &'a InstanceId,
    /// What the store said, while it takes no commits; creating actions are withheld then (design.md R1).
    pub store_failing: Option<&'a str>,
    /// The runtime may not be asked yet: its event stream never stood, and what a call causes would be missed. Until
    /// then only what needs no call is done.
    pub awaited: Option<Awaited<'a>>,
    /// The host is shutting down: nothing is begun any more, what is out is still learned.
    pub closing: bool,
}

/// How a runtime is waited for that has not answered since this agent began.
#[derive(Clone, Copy, Debug)]
pub struct Awaited<'a> {
    /// Since when.
    pub since: Moment,
    /// How it failed last.
    pub trouble: Option<&'a str>,
    /// When it is given up; `None`: never.
    pub until: Option<Mono>,
}

impl Awaited<'_> {
    pub(crate) fn wait(&self) -> Wait {
        let reason = self.trouble.map_or(WaitReason::Connecting, |text| WaitReason::RuntimeAway { text: text.into() });
        Wait { reason, since: self.since, until: self.until }
    }
}

/// Which of a task's records changed since they were last taken.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Dirty {
    /// The task itself.
    pub task: bool,
    /// Indices of containers, in task order.
    pub containers: alloc::collections::BTreeSet<usize>,
}

impl Dirty {
    /// Whether nothing changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        !self.task && self.containers.is_empty()
    }
}
