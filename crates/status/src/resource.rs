//! Status of a resource of a task: cgroup, volume, secrets and the like.

use crate::{TaskStatus, ordered::ordered_status};

ordered_status! {
    /// How far a resource has come, or is to come (engine.md 1.6).
    pub enum ResourceStatus, "resource status" {
        /// Nothing done.
        None = 0, "NONE";
        /// It exists; the steady state of every resource.
        Created = 1, "CREATED";
        /// Marked as gone; it is cleaned up once, while the task is removed.
        Removed = 2, "REMOVED";
    }
}

impl ResourceStatus {
    /// Whether it can go no further.
    #[must_use]
    pub const fn is_terminal(self) -> bool {
        match self {
            Self::Removed => true,
            Self::None | Self::Created => false,
        }
    }

    /// The next known status on the way; `None` after the last.
    #[must_use]
    pub const fn next(self) -> Option<Self> {
        match self {
            Self::None => Some(Self::Created),
            Self::Created => Some(Self::Removed),
            Self::Removed => None,
        }
    }

    /// The desired status after this one, once the task desires `task`: it only rises.
    #[must_use]
    pub const fn desired_under(self, task: TaskStatus) -> Self {
        match task.resource_desired() {
            Some(asked) => self.later_of(asked),
            None => self,
        }
    }
}
