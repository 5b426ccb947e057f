//! What a run of a task would do, before it does it.
//!
//! [`plan`] submits a task to the real core – engine behind the gate – and lets it drive the modelled Docker
//! engine in virtual time, until the task has ended and is removed, or nothing changes any more. What comes
//! out is the list of calls in their order, each with its time and its [`Cause`]s. Nothing is decided here:
//! calls, statuses and reasons to wait are the core's.
//!
//! What a container does is an assumption, [`Behaviour`]: it runs for ever, or ends; its health check finds it
//! well, or not; its image is there, or has to be pulled.
//!
//! | file | what is there |
//! | --- | --- |
//! | `behaviour.rs` | what is assumed of a container, and how the model is made to play it |
//! | `rehearsal.rs` | the loop: core, model and clock |
//! | `cause.rs` | why a call was made: what the same turn changed |
//! | `plan.rs` | from the first turn to the end |
//!
//! Not for: reading definitions and assumptions (`lighterman-app`), showing a plan (`lighterman-ui`).
//!
//! ```
//! use std::{collections::BTreeMap, sync::Arc, time::Duration};
//! use lighterman_engine::{HostSettings, TaskSpec};
//! use lighterman_ids::{ContainerName, DefinitionDigest, Family, ImageRef, TaskId};
//! use lighterman_plan::{Behaviour, Ending, Exit, plan};
//! use lighterman_taskdef::{ContainerDefinition, TaskDefinition};
//!
//! let name = ContainerName::parse("job").unwrap();
//! let job = ContainerDefinition::new(name.clone(), ImageRef::parse("job:1").unwrap());
//! let id = TaskId::from_bits(1);
//! let task = TaskSpec {
//!     arn: id.local_arn(None),
//!     id,
//!     definition: Arc::new(TaskDefinition::new(Family::parse("batch").unwrap(), vec![job])),
//!     digest: DefinitionDigest::parse(&format!("sha256:{}", "0".repeat(64))).unwrap(),
//!     seed: 1,
//! };
//! let exit = Some(Exit { code: 3, after: Duration::from_secs(5) });
//! let behaviours = BTreeMap::from([(name, Behaviour { exit, ..Behaviour::default() })]);
//! let plan = plan(task, &behaviours, HostSettings::REFERENCE);
//! let calls: Vec<&str> = plan.calls.iter().map(|call| call.ask.word()).collect();
//! assert!(calls.starts_with(&["version", "watch"]) && calls.ends_with(&["remove"]), "{calls:?}");
//! assert!(matches!(plan.ending, Ending::Removed { view } if view.exit_code() == Some(3)));
//! ```
#![no_std]
#![forbid(unsafe_code)]
#![warn(clippy::wildcard_enum_match_arm)]

extern crate alloc;

mod behaviour;
mod cause;
mod plan;
mod rehearsal;

pub use behaviour::{Behaviour, Exit, HealthCourse};
pub use cause::{Cause, Subject};
pub use plan::{Ending, Plan, Planned, plan};
pub use rehearsal::Ask;
