//! Status of a container and the tables that begin with it.

use crate::{TaskStatus, ordered::ordered_status};

ordered_status! {
    /// How far a container has come, or is to come (engine.md 1.1).
    pub enum ContainerStatus, "container status" {
        /// Nothing done.
        None = 0, "NONE";
        /// The image's digest is resolved, needs no resolving, or could not be resolved and that is tolerated.
        ManifestPulled = 1, "MANIFEST_PULLED";
        /// The image is present, was not to be pulled, or could not be pulled and that is tolerated.
        Pulled = 2, "PULLED";
        /// The runtime has the container.
        Created = 3, "CREATED";
        /// It was started.
        Running = 4, "RUNNING";
        /// It was started and its network set-up is finished.
        ResourcesProvisioned = 5, "RESOURCES_PROVISIONED";
        /// It has finished, or will never run.
        Stopped = 6, "STOPPED";
    }
}

/// The status at which a container counts as up (engine.md 1.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum SteadyState {
    /// Up once it exists; possible, used by nothing today.
    Created,
    /// Up once started: every container but network pauses.
    #[default]
    Running,
    /// Up once its network is set up: network pause containers.
    ResourcesProvisioned,
}

impl SteadyState {
    /// Every value, in the order of their statuses.
    pub const ALL: &'static [Self] = &[Self::Created, Self::Running, Self::ResourcesProvisioned];

    /// The status meant.
    #[must_use]
    pub const fn status(self) -> ContainerStatus {
        match self {
            Self::Created => ContainerStatus::Created,
            Self::Running => ContainerStatus::Running,
            Self::ResourcesProvisioned => ContainerStatus::ResourcesProvisioned,
        }
    }

    /// The steady state at `status`; `None` where a container cannot stay.
    #[must_use]
    pub const fn from_status(status: ContainerStatus) -> Option<Self> {
        match status {
            ContainerStatus::Created => Some(Self::Created),
            ContainerStatus::Running => Some(Self::Running),
            ContainerStatus::ResourcesProvisioned => Some(Self::ResourcesProvisioned),
            ContainerStatus::None
            | ContainerStatus::ManifestPulled
            | ContainerStatus::Pulled
            | ContainerStatus::Stopped => None,
        }
    }
}

/// The status a container event carries (engine.md 1.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventStatus {
    /// The image digest is known.
    ManifestPulled,
    /// The container has reached its steady state, whichever that is.
    Running,
    /// The container has stopped.
    Stopped,
}

impl EventStatus {
    /// Every value.
    pub const ALL: &'static [Self] = &[Self::ManifestPulled, Self::Running, Self::Stopped];

    /// The text sent to the backend.
    #[must_use]
    pub const fn backend_text(self) -> &'static str {
        match self {
            Self::ManifestPulled => "PENDING",
            Self::Running => "RUNNING",
            Self::Stopped => "STOPPED",
        }
    }
}

impl ContainerStatus {
    /// Whether it can go no further.
    #[must_use]
    pub const fn is_terminal(self) -> bool {
        match self {
            Self::Stopped => true,
            Self::None
            | Self::ManifestPulled
            | Self::Pulled
            | Self::Created
            | Self::Running
            | Self::ResourcesProvisioned => false,
        }
    }

    /// Whether a process runs in it, so that stopping it needs a call.
    #[must_use]
    pub const fn is_running(self) -> bool {
        match self {
            Self::Running | Self::ResourcesProvisioned => true,
            Self::None | Self::ManifestPulled | Self::Pulled | Self::Created | Self::Stopped => false,
        }
    }

    /// Whether this is exactly the steady state.
    #[must_use]
    pub const fn is_steady(self, steady: SteadyState) -> bool {
        self.number() == steady.status().number()
    }

    /// The next known status on the way (1.1, "progression"); `None` after the last.
    #[must_use]
    pub const fn next(self, steady: SteadyState) -> Option<Self> {
        use SteadyState as At;
        match (self, steady) {
            (Self::None, At::Created | At::Running | At::ResourcesProvisioned) => Some(Self::ManifestPulled),
            (Self::ManifestPulled, At::Created | At::Running | At::ResourcesProvisioned) => Some(Self::Pulled),
            (Self::Pulled, At::Created | At::Running | At::ResourcesProvisioned) => Some(Self::Created),
            (Self::Created, At::Running | At::ResourcesProvisioned) => Some(Self::Running),
            (Self::Running, At::Created | At::ResourcesProvisioned) => Some(Self::ResourcesProvisioned),
            (Self::Created, At::Created)
            | (Self::Running, At::Running)
            | (Self::ResourcesProvisioned, At::Created | At::Running | At::ResourcesProvisioned) => Some(Self::Stopped),
            (Self::Stopped, At::Created | At::Running | At::ResourcesProvisioned) => None,
        }
    }

    /// What this container contributes to its task's status (1.3).
    #[must_use]
    pub const fn task_status(self, steady: SteadyState) -> TaskStatus {
        use SteadyState as At;
        match (self, steady) {
            (Self::None, At::Created | At::Running | At::ResourcesProvisioned)
            | (Self::Running, At::Created)
            | (Self::ResourcesProvisioned, At::Created | At::Running) => TaskStatus::None,
            (Self::ManifestPulled | Self::Pulled, At::Created | At::Running | At::ResourcesProvisioned) => {
                TaskStatus::ManifestPulled
            }
            (Self::Created, At::Running | At::ResourcesProvisioned) | (Self::Running, At::ResourcesProvisioned) => {
                TaskStatus::Created
            }
            (Self::Created, At::Created)
            | (Self::Running, At::Running)
            | (Self::ResourcesProvisioned, At::ResourcesProvisioned) => TaskStatus::Running,
            (Self::Stopped, At::Created | At::Running | At::ResourcesProvisioned) => TaskStatus::Stopped,
        }
    }

    /// The status written in this container's event (1.5); `None` where no event is ever sent.
    #[must_use]
    pub const fn event_status(self, steady: SteadyState) -> Option<EventStatus> {
        use SteadyState as At;
        match (self, steady) {
            (Self::Created, At::Created)
            | (Self::Running, At::Running)
            | (Self::ResourcesProvisioned, At::ResourcesProvisioned) => Some(EventStatus::Running),
            (Self::ManifestPulled, At::Created | At::Running | At::ResourcesProvisioned) => {
                Some(EventStatus::ManifestPulled)
            }
            (Self::Stopped, At::Created | At::Running | At::ResourcesProvisioned) => Some(EventStatus::Stopped),
            (Self::None | Self::Pulled, At::Created | At::Running | At::ResourcesProvisioned)
            | (Self::Created, At::Running | At::ResourcesProvisioned)
            | (Self::Running, At::Created | At::ResourcesProvisioned)
            | (Self::ResourcesProvisioned, At::Created | At::Running) => None,
        }
    }

    /// The plain backend string (1.1). An event writes [`EventStatus::backend_text`] instead.
    #[must_use]
    pub const fn backend_text(self) -> &'static str {
        match self {
            Self::None | Self::ManifestPulled | Self::Pulled | Self::Created | Self::ResourcesProvisioned => "PENDING",
            Self::Running => "RUNNING",
            Self::Stopped => "STOPPED",
        }
    }
}
