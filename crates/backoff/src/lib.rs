//! Jittered retry sequences drawn from a seed (engine.md 4.1).
//!
//! A [`Backoff`] is a constant that says how waits grow; [`Backoff::delay`] is a pure function of the
//! attempt and a seed. Who counts the attempts, and whether to try again at all, is the caller's business:
//! each operation starts its own sequence at attempt 1.
//!
//! ```
//! use core::time::Duration;
//! use lighterman_backoff::{Backoff, derive};
//!
//! const PULL: Backoff = Backoff::new(Duration::from_millis(1100), Duration::from_secs(5), 2000, 200);
//!
//! let seed = derive(42, "pull:web");
//! let first = PULL.delay(1, seed);
//! assert!(Duration::from_millis(1100) <= first && first <= Duration::from_millis(1320));
//! assert_eq!(first, PULL.delay(1, seed));
//! ```
//!
//! Not for: ids that grant access. They can be guessed from the seed and come in as entropy instead.
#![no_std]
#![forbid(unsafe_code)]
#![warn(clippy::wildcard_enum_match_arm)]

extern crate alloc;

mod draw;
mod policy;

pub use draw::{derive, derive_nth, hex20, up_to};
pub use policy::Backoff;
