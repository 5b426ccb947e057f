//! The state machine of the host, without I/O.
//!
//! [`Engine`] owns all tasks and what they share: the link to the runtime with its event stream, the
//! places for calls, the images, the state of the store. It takes in [`Event`]s and gives out
//! [`Action`]s; its own records and those of its tasks are named by [`RecordKey`].
//!
//! # Rooms
//!
//! | file | what is decided there |
//! | --- | --- |
//! | `engine/link.rs` | connecting, the event stream and its re-opening, re-checks, when to give up |
//! | `engine/calls.rs` | which call may leave now |
//! | `engine/tasks.rs` | which task an event is for, and what comes out of it |
//! | `engine/orphans.rs` | what becomes of containers without a record |
//! | `engine/persist.rs` | which records changed, and taking them up again |
//!
//! **Invariant.** The engine knows one task only through `TaskManager`'s public methods; it never looks
//! at a container's status.
//!
//! Not for: when what comes out may leave (`lighterman-turn`), formats (`lighterman-records`), doing
//! anything (`lighterman-driver`).
//!
//! ```
//! use lighterman_engine::{Action, Engine, HostSettings, SavedState};
//! use lighterman_ids::{InstanceId, Moment};
//!
//! let now = Moment::default();
//! let saved = SavedState::default();
//! let mut engine = Engine::take_up(HostSettings::REFERENCE, InstanceId::from_bits(1), saved, 1, now).unwrap();
//! engine.handle_timeout(now);
//! // It asks who it is talking to before anything else.
//! assert!(matches!(engine.poll_action(), Some(Action::Call { .. })));
//! // The new incarnation has to be durable before that question leaves.
//! assert_eq!(engine.take_dirty().len(), 1);
//! ```
#![no_std]
#![forbid(unsafe_code)]
#![warn(clippy::wildcard_enum_match_arm)]

extern crate alloc;

mod engine;
mod event;
mod settings;
mod state;

pub use engine::{Engine, TakeUpError};
pub use event::{Action, Event, SubmitError};
/// What [`Event::Submit`] takes: whoever hands in tasks need not know the crate that drives them.
pub use lighterman_task_manager::TaskSpec;
pub use settings::HostSettings;
pub use state::{HostState, ImageState, Record, RecordKey, SavedState, SavedTask};
