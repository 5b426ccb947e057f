//! Task, container, resource and health status, and the tables between them (engine.md §1).
//!
//! Statuses are compared by name, never by `<`, and each table is a function that names every pair:
//!
//! ```
//! use lighterman_status::{ContainerStatus, SteadyState, TaskStatus};
//!
//! let known = ContainerStatus::Created;
//! assert!(known.is_before(ContainerStatus::Running));
//! assert_eq!(known.next(SteadyState::Running), Some(ContainerStatus::Running));
//! assert_eq!(known.task_status(SteadyState::Running), TaskStatus::Created);
//! assert_eq!(known.to_string(), "CREATED");
//! ```
//!
//! What a task does about its containers is derived here too ([`task_known_from`], [`task_must_stop`]), as pure
//! functions over [`Member`]s.
//!
//! Not for: holding a status and its transition under way, which is the business of whoever drives the thing
//! (`lighterman-task-manager`).
#![no_std]
#![forbid(unsafe_code)]
#![warn(clippy::wildcard_enum_match_arm)]

extern crate alloc;

mod container;
mod derive;
mod health;
mod kind;
mod managed_agent;
mod ordered;
mod resource;
mod resource_kind;
mod task;
mod text;

pub use container::{ContainerStatus, EventStatus, SteadyState};
pub use derive::{Member, StopCause, TaskKnown, container_desired_from, task_known_from, task_must_stop};
pub use health::{Health, HealthRecord};
pub use kind::ContainerKind;
pub use managed_agent::ManagedAgentStatus;
pub use resource::ResourceStatus;
pub use resource_kind::{NetworkNeed, ResourceKind, RoleNeed};
pub use task::TaskStatus;
pub use text::{StatusTextError, TextFault};
