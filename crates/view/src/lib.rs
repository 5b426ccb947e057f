//! What readers see of a task and of the host.
//!
//! The driver publishes one shared [`TaskView`] per changed task, after the commit of what it shows.
//! A reader never enters the loop and never sees what a crash could take back (design.md R1).
//!
//! Every "not yet" has a typed reason, [`WaitReason`], and says since when it holds and what ends it
//! (design.md R5): [`Wait`]'s `Display` is the line that `explain` prints.
//!
//! Not for: deciding anything. A view is a copy; nothing reads it back.
//!
//! ```
//! use core::time::Duration;
//! use lighterman_view::WaitReason;
//!
//! let wait = WaitReason::Pause { attempt: 2, after: "the registry answered 503".into() };
//! assert_eq!(wait.to_string(), "a pause before try 2, after: the registry answered 503");
//! assert_eq!(wait.ends_when(), "the pause is over");
//! ```
#![no_std]
#![forbid(unsafe_code)]
#![warn(clippy::wildcard_enum_match_arm)]

extern crate alloc;

mod host;
mod task;
mod wait;

pub use host::{HostView, LeftAlone, RuntimeLink};
pub use task::{ContainerView, Restarted, StopReason, TaskView};
pub use wait::{Wait, WaitReason};
