//! What the runtime reports by itself.

use alloc::{boxed::Box, string::String};

use lighterman_ids::{RuntimeId, Wall};

use crate::{ExitCode, Lost};

/// One event about a container.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RuntimeEvent {
    /// The runtime's nanosecond stamp: events of one stream are ordered by it.
    pub at: Wall,
    /// Which container.
    pub container: RuntimeId,
    /// What happened.
    pub action: EventAction,
}

/// The events that matter (engine.md 4.10); the adapter drops all others.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EventAction {
    /// `create`.
    Create,
    /// `start`.
    Start,
    /// `die`: its process ended.
    Die {
        /// Attribute `exitCode`, where it is an integer.
        exit_code: Option<ExitCode>,
    },
    /// `stop`: a stop call has finished.
    Stop,
    /// `restart`: a restart call has finished.
    Restart,
    /// `oom`: a process inside was killed for memory.
    Oom,
    /// `destroy`: it was removed.
    Destroy,
    /// `health_status: …`; the word after the colon.
    HealthStatus(String),
}

/// What comes out of a watch.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Watched {
    /// The stream stands: from here on nothing is missed.
    Opened,
    /// The next event; one that was already delivered by this watch is not repeated.
    Event(Box<RuntimeEvent>),
    /// The stream ended; always the last item.
    Lost(Lost),
}
