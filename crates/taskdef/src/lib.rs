//! Reads ECS task definitions (JSON or TOML) into shape-valid tasks, with errors that name line and path.
#![no_std]
#![forbid(unsafe_code)]
#![warn(clippy::wildcard_enum_match_arm)]

extern crate alloc;

mod definition;
mod health;

pub use definition::{
    Compatibility, ContainerDefinition, CpuUnits, EnvironmentValue, LinuxParameters, LogConfiguration, LogDriver,
    Mebibytes, NetworkMode, PortMapping, Protocol, Tag, TaskDefinition, Ulimit, UlimitName,
};
pub use health::{HealthCheck, HealthTest, HealthTestError};
