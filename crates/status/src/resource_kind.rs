//! What a task can need besides its containers (engine.md 1.6).

use crate::{StatusTextError, TaskStatus, TextFault};

/// The kind of a resource.
///
/// `fsxwindowsfileserver` has no variant: such a task is refused on Linux, so the name does not parse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ResourceKind {
    /// The control group around all containers of the task.
    Cgroup,
    /// A volume that the agent makes for the task.
    DockerVolume,
    /// Registry credentials kept in Secrets Manager.
    AsmAuth,
    /// Secret values from the Parameter Store.
    SsmSecret,
    /// Secret values from Secrets Manager.
    AsmSecret,
    /// The environment files of one container.
    EnvFile,
    /// The configuration of the log router.
    Firelens,
    /// Credential specs for domain accounts.
    CredentialSpec,
}

/// When a resource needs the credentials of the execution role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RoleNeed {
    /// Never.
    Never,
    /// Always.
    Always,
    /// Only if its configuration file lies in S3.
    ForS3Config,
    /// Only if one of its values is not a `file://` path.
    ForRemoteSpec,
}

/// When a resource waits for the network of its task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NetworkNeed {
    /// Never.
    Never,
    /// Only a volume on EFS or S3 files, which is mounted through it.
    ForRemoteVolume,
}

impl ResourceKind {
    /// Every kind, in the order of the spec's table.
    pub const ALL: &'static [Self] = &[
        Self::Cgroup,
        Self::DockerVolume,
        Self::AsmAuth,
        Self::SsmSecret,
        Self::AsmSecret,
        Self::EnvFile,
        Self::Firelens,
        Self::CredentialSpec,
    ];

    /// The key of the kind; [`Self::parse`] reads it back.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Cgroup => "cgroup",
            Self::DockerVolume => "dockerVolume",
            Self::AsmAuth => "asm-auth",
            Self::SsmSecret => "ssmsecret",
            Self::AsmSecret => "asmsecret",
            Self::EnvFile => "envfile",
            Self::Firelens => "firelens",
            Self::CredentialSpec => "credentialspec",
        }
    }

    /// Reads what [`Self::as_str`] writes, and nothing else.
    ///
    /// # Errors
    /// `text` is not one of the keys; case counts.
    pub fn parse(text: &str) -> Result<Self, StatusTextError> {
        match text {
            "cgroup" => Ok(Self::Cgroup),
            "dockerVolume" => Ok(Self::DockerVolume),
            "asm-auth" => Ok(Self::AsmAuth),
            "ssmsecret" => Ok(Self::SsmSecret),
            "asmsecret" => Ok(Self::AsmSecret),
            "envfile" => Ok(Self::EnvFile),
            "firelens" => Ok(Self::Firelens),
            "credentialspec" => Ok(Self::CredentialSpec),
            _ => Err(StatusTextError::new("resource type", text, TextFault::UnknownName)),
        }
    }

    /// When it needs the credentials of the execution role.
    #[must_use]
    pub const fn role_need(self) -> RoleNeed {
        match self {
            Self::Cgroup | Self::DockerVolume => RoleNeed::Never,
            Self::AsmAuth | Self::SsmSecret | Self::AsmSecret | Self::EnvFile => RoleNeed::Always,
            Self::Firelens => RoleNeed::ForS3Config,
            Self::CredentialSpec => RoleNeed::ForRemoteSpec,
        }
    }

    /// When it waits for the network of the task.
    #[must_use]
    pub const fn network_need(self) -> NetworkNeed {
        match self {
            Self::DockerVolume => NetworkNeed::ForRemoteVolume,
            Self::Cgroup
            | Self::AsmAuth
            | Self::SsmSecret
            | Self::AsmSecret
            | Self::EnvFile
            | Self::Firelens
            | Self::CredentialSpec => NetworkNeed::Never,
        }
    }

    /// Whether a restore sets it back to `NONE`, for a task that was `known` and desires `desired`.
    ///
    /// Secret values live in memory only: they are fetched again while a container may still need them.
    #[must_use]
    pub const fn is_reset_on_restore(self, known: TaskStatus, desired: TaskStatus) -> bool {
        let needed_before = match self {
            Self::Cgroup | Self::DockerVolume | Self::Firelens | Self::CredentialSpec => return false,
            Self::AsmAuth => TaskStatus::Pulled,
            Self::SsmSecret | Self::AsmSecret | Self::EnvFile => TaskStatus::Created,
        };
        known.is_before(needed_before) && !desired.is_after(TaskStatus::Running)
    }

    /// The reason when making it fails without a text of its own; `None` where there always is one.
    #[must_use]
    pub const fn failure_reason(self) -> Option<&'static str> {
        match self {
            Self::Cgroup => Some("CgroupError: Agent could not create task's platform resources"),
            Self::DockerVolume => Some("VolumeError: Agent could not create task's volume resources"),
            Self::AsmAuth
            | Self::SsmSecret
            | Self::AsmSecret
            | Self::EnvFile
            | Self::Firelens
            | Self::CredentialSpec => None,
        }
    }
}

impl core::fmt::Display for ResourceKind {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.pad(self.as_str())
    }
}
