//! Where a container comes from.

use crate::{StatusTextError, SteadyState, TextFault};

/// Whether a container was asked for, or is one the agent adds itself (engine.md 1.13, `IsInternal`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum ContainerKind {
    /// One of the task definition.
    #[default]
    Normal,
    /// Holds an empty host volume; only in very old state.
    EmptyHostVolume,
    /// Holds the network namespace of the task.
    CniPause,
    /// Holds the process or IPC namespace of the task.
    NamespacePause,
    /// A daemon the agent runs beside its tasks.
    ManagedDaemon,
    /// Passes on the traffic of the service mesh.
    ServiceConnectRelay,
}

impl ContainerKind {
    /// Every value.
    pub const ALL: &'static [Self] = &[
        Self::Normal,
        Self::EmptyHostVolume,
        Self::CniPause,
        Self::NamespacePause,
        Self::ManagedDaemon,
        Self::ServiceConnectRelay,
    ];

    pub(crate) const WHAT: &'static str = "container type";

    /// The name; [`Self::parse`] reads it back.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Normal => "NORMAL",
            Self::EmptyHostVolume => "EMPTY_HOST_VOLUME",
            Self::CniPause => "CNI_PAUSE",
            Self::NamespacePause => "NAMESPACE_PAUSE",
            Self::ManagedDaemon => "MANAGED_DAEMON",
            Self::ServiceConnectRelay => "SERVICE_CONNECT_RELAY",
        }
    }

    /// Reads what [`Self::as_str`] writes, and nothing else.
    ///
    /// # Errors
    /// `text` is not one of the names; case counts.
    pub fn parse(text: &str) -> Result<Self, StatusTextError> {
        match text {
            "NORMAL" => Ok(Self::Normal),
            "EMPTY_HOST_VOLUME" => Ok(Self::EmptyHostVolume),
            "CNI_PAUSE" => Ok(Self::CniPause),
            "NAMESPACE_PAUSE" => Ok(Self::NamespacePause),
            "MANAGED_DAEMON" => Ok(Self::ManagedDaemon),
            "SERVICE_CONNECT_RELAY" => Ok(Self::ServiceConnectRelay),
            _ => Err(StatusTextError::new(Self::WHAT, text, TextFault::UnknownName)),
        }
    }

    /// Whether the agent added it; such a container is never reported.
    #[must_use]
    pub const fn is_internal(self) -> bool {
        match self {
            Self::Normal => false,
            Self::EmptyHostVolume
            | Self::CniPause
            | Self::NamespacePause
            | Self::ManagedDaemon
            | Self::ServiceConnectRelay => true,
        }
    }

    /// The steady state of a container of this kind where nothing else is said (1.1).
    #[must_use]
    pub const fn steady_state(self) -> SteadyState {
        match self {
            Self::CniPause => SteadyState::ResourcesProvisioned,
            Self::Normal
            | Self::EmptyHostVolume
            | Self::NamespacePause
            | Self::ManagedDaemon
            | Self::ServiceConnectRelay => SteadyState::Running,
        }
    }
}

impl core::fmt::Display for ContainerKind {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.pad(self.as_str())
    }
}
