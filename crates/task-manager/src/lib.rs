//! The state machine of one task, without I/O.
//!
//! A task is a group of containers that start, run and end together. [`TaskManager`] takes in facts
//! ([`TaskEvent`]) and gives out decisions ([`Action`]); what happens in between is a function of the
//! two and of `now`. It never waits, never calls anybody and never looks at a clock, so it can be run
//! a million times by seed, crashed at every step, and asked what it waits for.
//!
//! # States
//!
//! | status | what is true | who may leave it |
//! | --- | --- | --- |
//! | NONE | nothing was done | `pull` |
//! | MANIFEST_PULLED | the image is named for good | `pull` |
//! | PULLED | the image is there, or a pull error was tolerated | `create` |
//! | CREATED | the container exists | `start`, or `observe` when it was seen running |
//! | RUNNING | it was started | `stop`, or `observe` when it was seen to have ended |
//! | STOPPED | it has ended, or will never run | `remove`, which forgets it |
//!
//! Rules that the rest leans on:
//! 1. *Known* moves only by an event; *desired* only rises.
//! 2. At most one transition per container is in progress; beside it at most one look.
//! 3. A call whose outcome is unknown is followed by a look, never by a guess.
//! 4. Every wait ends: by an answer, an event, or a deadline that `poll_timeout` tells.
//! 5. What a restart must know is in the records ([`TaskState`], [`ContainerState`]); everything else
//!    is decided again.
//!
//! # Rooms
//!
//! One file per operation: `pull`, `create`, `start`, `stop`, `remove`, `restore`; `look` decides when to
//! inspect, `observe` what an inspect means, `progress` what may be done next. A new error of the engine
//! goes into the file of the call that meets it; a new dependency condition into `lighterman-graph`; a new
//! status into `lighterman-status`, and the compiler then names the places here.
//!
//! Not for: several tasks and what they share (`lighterman-engine`), formats (`lighterman-records`).
//!
//! ```
//! use std::{sync::Arc, time::Duration};
//! use lighterman_calls::{Answer, Outcome, Request};
//! use lighterman_ids::*;
//! use lighterman_task_manager::{Action, Context, Settings, TaskEvent, TaskManager, TaskSpec};
//! use lighterman_taskdef::{ContainerDefinition, TaskDefinition};
//!
//! let web = ContainerDefinition::new(ContainerName::parse("web").unwrap(), ImageRef::parse("web:1").unwrap());
//! let id = TaskId::from_bits(1);
//! let spec = TaskSpec {
//!     arn: id.local_arn(None),
//!     id,
//!     definition: Arc::new(TaskDefinition::new(Family::parse("site").unwrap(), vec![web])),
//!     digest: DefinitionDigest::parse(&format!("sha256:{}", "0".repeat(64))).unwrap(),
//!     seed: 1,
//! };
//! let now = Moment::default();
//! let mut task = TaskManager::accept(spec, now).unwrap();
//! let (instance, mut ids) = (InstanceId::from_bits(7), ActionIds::new(1));
//! let settings = &Settings::REFERENCE;
//! let mut cx =
//!     Context { now, ids: &mut ids, settings, instance: &instance, store_failing: None, awaited: None, closing: false };
//! task.handle_timeout(&mut cx);
//! // The first thing it wants to know: is the image there?
//! let Some(Action::Call { id, call }) = task.poll_action() else { panic!() };
//! assert!(matches!(call.request, Request::InspectImage(_)));
//! // It is not: it is to be pulled.
//! let answer = Box::new(Answer::InspectImage(Outcome::Gone));
//! task.handle_event(&mut cx, TaskEvent::Answer { id, answer });
//! assert!(matches!(task.poll_action(), Some(Action::Call { call, .. }) if matches!(call.request, Request::Pull { .. })));
//! ```
#![no_std]
#![forbid(unsafe_code)]
#![warn(clippy::wildcard_enum_match_arm)]

extern crate alloc;

mod action;
mod container;
mod error;
mod settings;
mod state;
mod task;

pub use action::{Action, Awaited, Context, Dirty, TaskEvent};
pub use error::{ContainerError, ErrorName};
pub use settings::{Limits, Settings};
pub use state::{ContainerState, TaskState};
pub use task::{RestoreError, TaskManager, TaskSpec};

/// Bytes that a task holds per container, besides its texts: for estimates of how many fit on a host.
pub const CONTAINER_BYTES: usize = size_of::<container::Container>();
