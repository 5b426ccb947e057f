//! The gate of *persist, then act* (design.md R1, ADR 0002).
//!
//! A **turn** takes in what has arrived, lets the engine decide, and ends. What the turn gave out –
//! actions, views – leaves only after the records it changed are durable. One commit is in flight; turns
//! handled meanwhile share the next one. [`Turns`] is a pure value: the driver, the simulation and `plan`
//! all use it and add only I/O, so the rule is proven where it is kept.
//!
//! | what happens | what the gate does |
//! | --- | --- |
//! | a turn changed records | holds its output until the commit that holds them |
//! | a turn changed nothing | holds its output only behind what is held already |
//! | a commit succeeds | lets out what waited for it, begins the next |
//! | a commit fails | answers `NeverSent` for held actions that create something, lets protective ones leave, shows no view, and tells the engine |
//! | the store fails | protective actions and the host's view leave at once; a task is shown as it last was, but for what waits for the store |
//! | an action is cancelled that has not left | answers `NeverSent` |
//! | the end is asked for | answers `NeverSent` for actions that create something and have not left |
//!
//! Not for: what is decided (`lighterman-engine`), how records look (`lighterman-records`).
//!
//! ```
//! use lighterman_engine::{Engine, HostSettings, SavedState};
//! use lighterman_ids::{InstanceId, Moment};
//! use lighterman_records::Ledger;
//! use lighterman_turn::{Output, Turns};
//!
//! let now = Moment::default();
//! let instance = InstanceId::from_bits(1);
//! let engine = Engine::take_up(HostSettings::REFERENCE, instance, SavedState::default(), 1, now).unwrap();
//! let mut turns = Turns::new(engine, Ledger::new());
//! turns.handle_timeout(now);
//! turns.end_turn(now);
//! // Its first question waits until the new incarnation is durable …
//! assert!(!turns.outputs().any(|output| matches!(output, Output::Act(_))));
//! let commit = turns.poll_commit(now).unwrap();
//! assert_eq!(commit.generation, 1);
//! turns.committed(now, Ok(()));
//! // … and leaves then.
//! assert!(turns.outputs().any(|output| matches!(output, Output::Act(_))));
//! ```
#![no_std]
#![forbid(unsafe_code)]
#![warn(clippy::wildcard_enum_match_arm)]

extern crate alloc;

mod turns;

pub use turns::{Commit, Output, Turns};
