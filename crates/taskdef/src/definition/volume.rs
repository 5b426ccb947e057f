//! Volumes of a task and where containers see them (taskdef.md 2.8).

use alloc::{collections::BTreeMap, string::String};

use lighterman_ids::{ContainerName, VolumeName};

use super::Toggle;

/// A volume that the containers of the task can mount.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Volume {
    /// Unique within the task.
    pub name: VolumeName,
    /// What it is.
    pub source: VolumeSource,
}

/// What a volume is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum VolumeSource {
    /// Empty at first, and gone with the task.
    Empty,
    /// An absolute path of the host.
    HostPath(String),
    /// A volume of the engine.
    Docker(DockerVolume),
    /// A file system of the cloud over NFS.
    Efs(EfsVolume),
    /// A bucket of the cloud as a file system.
    S3Files(S3FilesVolume),
    /// A Windows file server of the cloud.
    FsxWindows(FsxVolume),
    /// A block device that is named when the task is run.
    ConfiguredAtLaunch,
}

/// A volume of the engine.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DockerVolume {
    /// How long it lives.
    pub scope: VolumeScope,
    /// `local` where the file has none.
    pub driver: String,
    /// Options of the driver.
    pub driver_opts: BTreeMap<String, String>,
    /// Labels of the user.
    pub labels: BTreeMap<String, String>,
}

/// How long a volume of the engine lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VolumeScope {
    /// As long as the task.
    Task,
    /// Longer than the task, under the name of the file.
    Shared {
        /// Create it if it is not there.
        autoprovision: bool,
    },
}

/// A file system of the cloud over NFS.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EfsVolume {
    /// Its id.
    pub file_system_id: String,
    /// Absolute; `/` where the file has none.
    pub root_directory: String,
    /// Whether the way there is encrypted; off where the file has none.
    pub transit_encryption: Toggle,
    /// 1 to 65535, only with encryption; `None`: any free one.
    pub transit_encryption_port: Option<u16>,
    /// Id of an access point.
    pub access_point_id: Option<String>,
    /// Whether the role of the task is shown; off where the file has none.
    pub iam: Toggle,
}

/// A bucket of the cloud as a file system.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct S3FilesVolume {
    /// Its ARN.
    pub file_system_arn: String,
    /// Absolute; `/` where the file has none.
    pub root_directory: String,
    /// 1 to 65535; `None`: any free one.
    pub transit_encryption_port: Option<u16>,
    /// ARN of an access point.
    pub access_point_arn: Option<String>,
}

/// A Windows file server of the cloud.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FsxVolume {
    /// Its id.
    pub file_system_id: String,
    /// Directory on it.
    pub root_directory: String,
    /// ARN of the secret that opens it.
    pub credentials_parameter: String,
    /// Windows domain.
    pub domain: String,
}

/// Where a container sees a volume.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MountPoint {
    /// A volume of the task.
    pub source_volume: VolumeName,
    /// Absolute and not the root; unique in the container.
    pub container_path: String,
    /// No writing.
    pub read_only: bool,
}

/// All mounts of another container.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VolumesFrom {
    /// Another container of the task.
    pub source_container: ContainerName,
    /// No writing.
    pub read_only: bool,
}
