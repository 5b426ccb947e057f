//! Task definitions: ECS JSON, or the same in TOML, read into a shape-valid [`TaskDefinition`].
//!
//! Every finding is reported at once, with line, column, JSON path and what would be right. Every
//! field of the API is read and typed; one that the program does not carry yet is refused by name
//! in the end, an unknown one is warned about with the nearest known name, and nothing is dropped
//! in silence: the module [`fields`] is the one table that knows what becomes of each.
//!
//! Begin with `read` (feature `reader`), [`TaskDefinition`] and [`Finding`]. A definition goes into
//! a record and comes back by [`TaskDefinition::to_register_json`] and
//! [`TaskDefinition::from_register_json`], which need no feature.
//!
//! Not for: whether containers may wait for each other as they say (`graph`), what a container
//! becomes in the engine (`container-spec`), reading files.
//!
//! ```
//! # #[cfg(feature = "reader")] {
//! let file = br#"{
//!   "family": "page",
//!   "containerDefinitions": [{"name": "web", "image": "busybox:test", "memory": 64, "comand": ["httpd", "-f"]}]
//! }"#;
//! let reading = lighterman_taskdef::read("page.json", file).unwrap();
//! assert_eq!(reading.definition.containers[0].image.as_str(), "busybox:test");
//! assert_eq!(
//!     reading.warnings.to_string(),
//!     "page.json: warning: unknown field \"comand\" at containerDefinitions[0] (line 3, column 83); \
//!      did you mean \"command\" [V5]"
//! );
//!
//! let refused = lighterman_taskdef::read("page.json", &file[..60]).unwrap_err();
//! assert_eq!(refused.errors.len(), 1);
//! # }
//! ```
#![no_std]
#![forbid(unsafe_code)]
#![warn(clippy::wildcard_enum_match_arm)]

extern crate alloc;

mod amount;
mod build;
mod canonical;
mod cloudformation;
mod codec;
mod conform;
mod definition;
mod field;
pub mod fields;
mod finding;
mod health;
mod json;
pub mod limits;
mod node;
mod path;
mod pipeline;
#[cfg(feature = "reader")]
mod read;
mod rules;
mod shape;
mod support;
#[cfg(feature = "reader")]
mod toml_source;
mod wording;

#[cfg(feature = "reader")]
pub use read::{read, read_with};

pub use definition::{
    AppProtocol, Capability, Compatibility, Condition, ContainerDefinition, CpuArchitecture, CpuUnits, Dependency,
    Device, DevicePermissions, DockerVolume, EfsVolume, EnvironmentFile, EnvironmentValue, ExtraHost, FsxVolume,
    HostAddress, InferenceAccelerator, IpcMode, IsolationMode, Link, LinuxParameters, LogConfiguration, LogDriver,
    LogRouter, Mebibytes, MountPoint, NetworkMode, OperatingSystem, PidMode, PortMapping, Protocol, ProxyConfiguration,
    ResourceRequirement, RestartPolicy, RouterKind, RuntimePlatform, S3FilesVolume, Secret, SecretReference,
    SecretReferenceError, SecretSource, Tag, TaskDefinition, Tmpfs, Toggle, Ulimit, UlimitName, VersionConsistency,
    Volume, VolumeScope, VolumeSource, VolumesFrom,
};
pub use finding::{Advice, Finding, Findings, Level, RuleId};
pub use health::{HealthCheck, HealthTest, HealthTestError};
pub use pipeline::Reading;
pub use shape::Shape;
