//! What goes into and comes out of the state machine of the host.

use alloc::{boxed::Box, string::String};

use lighterman_calls::{Answer, Call, Lost, RuntimeEvent};
use lighterman_ids::{ActionId, ContainerName, InstanceId, TaskId, Wall};
use lighterman_task_manager::TaskSpec;

/// Facts and wishes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    /// A task is to run. One that is known already is left as it is.
    Submit(Box<TaskSpec>),
    /// A task is to stop; see [`lighterman_task_manager::TaskEvent::Stop`].
    Stop {
        /// Which.
        task: TaskId,
        /// Its reason, if it has none yet.
        reason: Option<String>,
        /// Do not wait for the graces.
        force: bool,
    },
    /// Whoever kept the containers of a stopped task is done with them; see
    /// [`lighterman_task_manager::TaskEvent::CleanUp`].
    CleanUp(TaskId),
    /// Whoever reads the output of a container has come to its end; see
    /// [`lighterman_task_manager::TaskEvent::OutputEnded`].
    OutputEnded {
        /// The task.
        task: TaskId,
        /// Its name in the definition.
        container: ContainerName,
    },
    /// The answer to a call.
    Answer {
        /// Which action.
        id: ActionId,
        /// How it ended.
        answer: Box<Answer>,
    },
    /// The action never left.
    NeverSent(ActionId),
    /// The event stream stands.
    WatchOpened(ActionId),
    /// The runtime reported something on that stream.
    Runtime {
        /// Which stream.
        id: ActionId,
        /// What.
        event: RuntimeEvent,
    },
    /// The event stream ended, or never stood.
    WatchLost {
        /// Which stream.
        id: ActionId,
        /// How.
        lost: Lost,
    },
    /// Events were dropped because too many waited: everything is to be looked at again (design.md R6).
    EventsDropped,
    /// A commit failed.
    StoreFailed(String),
    /// A commit succeeded after others had failed.
    StoreWorks,
    /// Begin nothing more; what is out is still learned (engine.md 3.12).
    Shutdown,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Make this call; answered by [`Event::Answer`] or [`Event::NeverSent`].
    Call {
        /// To be repeated by the answer.
        id: ActionId,
        /// What to call.
        call: Box<Call>,
    },
    /// Stop waiting for this call, if it is out; answered, if at all, like the call itself.
    Cancel(ActionId),
    /// Open the event stream; answered by [`Event::WatchOpened`] or [`Event::WatchLost`].
    Watch {
        /// To be repeated by everything that comes from the stream.
        id: ActionId,
        /// Whose containers.
        instance: InstanceId,
        /// From when on; from now on when `None`.
        since: Option<Wall>,
        /// How long opening may take.
        limit: core::time::Duration,
    },
}

impl Action {
    /// Whether it may leave while the store fails: it only looks, or only ends things (design.md R1).
    #[must_use]
    pub const fn is_protective(&self) -> bool {
        match self {
            Self::Call { call, .. } => call.request.is_protective(),
            Self::Cancel(_) | Self::Watch { .. } => true,
        }
    }

    /// The id that its answer will carry; `None` when it has no answer of its own.
    #[must_use]
    pub const fn id(&self) -> Option<ActionId> {
        match self {
            Self::Call { id, .. } | Self::Watch { id, .. } => Some(*id),
            Self::Cancel(_) => None,
        }
    }
}

/// Why a task was not accepted.
#[derive(Clone, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum SubmitError {
    /// Nothing new is accepted while the state store takes no changes.
    #[error("the state store takes no changes: {0}")]
    StoreFailing(String),
    /// The host is shutting down.
    #[error("the host is shutting down")]
    Closing,
    /// Its containers do not fit together.
    #[error("{0}")]
    Invalid(String),
}
