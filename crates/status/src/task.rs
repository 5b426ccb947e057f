//! Status of a task and the tables that begin with it.

use crate::{ContainerStatus, ResourceStatus, SteadyState, ordered::ordered_status};

ordered_status! {
    /// How far a task has come, or is to come (engine.md 1.2).
    pub enum TaskStatus, "task status" {
        /// Nothing done, or some container has nothing done.
        None = 0, "NONE";
        /// Every container has at least its image's digest.
        ManifestPulled = 1, "MANIFEST_PULLED";
        /// A threshold to compare with (1.6); no container leads a task here.
        Pulled = 2, "PULLED";
        /// Every container exists.
        Created = 3, "CREATED";
        /// Every container has reached its steady state.
        Running = 4, "RUNNING";
        /// Every container has stopped, those of the agent included.
        Stopped = 5, "STOPPED";
    }
}

impl TaskStatus {
    /// Whether it can go no further.
    #[must_use]
    pub const fn is_terminal(self) -> bool {
        match self {
            Self::Stopped => true,
            Self::None | Self::ManifestPulled | Self::Pulled | Self::Created | Self::Running => false,
        }
    }

    /// Whether every container has reached its steady state and none that matters has left it.
    #[must_use]
    pub const fn is_running(self) -> bool {
        match self {
            Self::Running => true,
            Self::None | Self::ManifestPulled | Self::Pulled | Self::Created | Self::Stopped => false,
        }
    }

    /// What a task that desires this asks of a container (1.4).
    #[must_use]
    pub const fn container_desired(self, steady: SteadyState) -> ContainerStatus {
        match self {
            Self::None | Self::ManifestPulled | Self::Pulled => ContainerStatus::None,
            Self::Created => ContainerStatus::Created,
            Self::Running => steady.status(),
            Self::Stopped => ContainerStatus::Stopped,
        }
    }

    /// What a task that desires this asks of a resource (1.6); `None` leaves it as it is.
    #[must_use]
    pub const fn resource_desired(self) -> Option<ResourceStatus> {
        match self {
            Self::None | Self::ManifestPulled | Self::Pulled => None,
            Self::Created | Self::Running => Some(ResourceStatus::Created),
            Self::Stopped => Some(ResourceStatus::Removed),
        }
    }

    /// The text sent to the backend (1.2).
    #[must_use]
    pub const fn backend_text(self) -> &'static str {
        match self {
            Self::None | Self::ManifestPulled | Self::Pulled | Self::Created => "PENDING",
            Self::Running => "RUNNING",
            Self::Stopped => "STOPPED",
        }
    }

    /// Whether the backend accepts a task event with this status (1.2; `MANIFEST_PULLED` has the exception of 3.9.2).
    #[must_use]
    pub const fn is_recognised_by_backend(self) -> bool {
        match self {
            Self::Running | Self::Stopped => true,
            Self::None | Self::ManifestPulled | Self::Pulled | Self::Created => false,
        }
    }
}
