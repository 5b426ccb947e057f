//! Names, ids and instants of Lighterman.
//!
//! Every name that crosses a boundary is a newtype with a private field, a `parse` that can fail
//! and a `Display` that round-trips. What exists is therefore well-formed: an adapter may put a
//! [`RuntimeName`] into a URL path without looking at it again (crates.md, "Names in paths").
//!
//! Not for: statuses (`lighterman-status`), task definitions (`lighterman-taskdef`).
//!
//! ```
//! use lighterman_ids::{ContainerName, RuntimeName};
//!
//! let name = ContainerName::parse("web").unwrap();
//! assert_eq!(name.as_str(), "web");
//! let bad = RuntimeName::parse("../../etc").unwrap_err();
//! assert!(bad.to_string().contains("runtime container name"));
//! ```
//!
//! Time comes in two types so that they cannot be mixed up: [`Mono`] for deadlines, [`Wall`] for
//! people. A [`Moment`] is both on a given boot; it is what is persisted, and its
//! [`Moment::since`] follows rule R8 of the design: monotonic on the same boot, the wall clock
//! difference, never below zero, on another.
#![no_std]
#![forbid(unsafe_code)]
#![warn(clippy::wildcard_enum_match_arm)]

extern crate alloc;

mod action;
mod image;
mod name;
mod time;

pub use action::{ActionId, ActionIds};
pub use image::{Digest, ImageId, ImageRef};
pub use name::{
    ContainerName, DefinitionDigest, Family, InstanceId, NameError, RuntimeId, RuntimeName, TaskArn, TaskId, VolumeName,
};
pub use time::{BootId, Moment, Mono, Wall};
