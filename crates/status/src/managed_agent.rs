//! Status of a helper that the agent runs inside a container (engine.md 1.8).

use crate::ordered::ordered_status;

ordered_status! {
    /// How far the helper for executing commands has come.
    pub enum ManagedAgentStatus, "managed agent status" {
        /// Not there.
        None = 0, "NONE";
        /// Copied in, not started.
        Created = 1, "CREATED";
        /// Started; may be reported more than once.
        Running = 2, "RUNNING";
        /// Ended, or its container has.
        Stopped = 3, "STOPPED";
    }
}

impl ManagedAgentStatus {
    /// The text of an event about the helper; `None` is never sent.
    #[must_use]
    pub const fn event_text(self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::Created | Self::Running | Self::Stopped => Some(self.as_str()),
        }
    }

    /// The generic backend string.
    #[must_use]
    pub const fn backend_text(self) -> &'static str {
        match self {
            Self::None | Self::Created => "PENDING",
            Self::Running => "RUNNING",
            Self::Stopped => "STOPPED",
        }
    }
}
