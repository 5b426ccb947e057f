//! Fakes, the contract every runtime keeps, and the proxy that breaks things.
//!
//! - [`FakeRuntime`]: the model of the engine behind the traits of `lighterman-contracts`, on tokio's
//!   clock, with a script of what befalls single calls.
//! - [`contract`]: what any container runtime has to do, as tests that run against the fake and
//!   against the real adapter alike.
//! - [`proxy`]: a unix socket in front of an engine, on which single calls are slow, cut or rewritten.
//! - [`MemoryStore`], [`ManualClock`], [`SeededEntropy`]: the host in a test's hand.
//!
//! Not for: anything that ships. Nothing but tests and tools depends on this crate.
//!
//! ```
//! use std::time::Duration;
//!
//! use lighterman_calls::{LostCause, Outcome, RequestKind};
//! use lighterman_contracts::ContainerRuntime;
//! use lighterman_runtime_model::Disturbance;
//! use lighterman_testkit::{FakeRuntime, On};
//!
//! # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
//! # runtime.block_on(async {
//! let engine = FakeRuntime::default();
//! engine.on(On::kind(RequestKind::Ping).times(1), Disturbance::hangs());
//! let limit = Duration::from_millis(20);
//! let Outcome::Unknown(lost) = engine.ping(limit).await else { panic!("it hung") };
//! assert_eq!(lost.cause, LostCause::TimedOut(limit));
//! assert_eq!(engine.ping(limit).await, Outcome::Done(()));
//! assert_eq!(engine.count(RequestKind::Ping), 2);
//! # });
//! ```
#![forbid(unsafe_code)]

mod archive;
pub mod contract;
mod fake;
mod host;
pub mod proxy;
mod store;

pub use fake::{FakeRuntime, On, Recorded};
pub use host::{ManualClock, SeededEntropy};
pub use store::MemoryStore;
