//! Traits between those who decide and those who act.
//!
//! A trait goes below both sides: adapters implement it, the driver calls it, and one crate (`app`)
//! brings them together. Dispatch is static, `fn … -> impl Future + Send`; streams are
//! [`futures_core::Stream`]s.
//!
//! Two rules hold for every trait here:
//! - **No retries.** One call of the trait is one call of the foreign API. What to do about an
//!   outcome is decided in the core.
//! - **Dropping a future means that the outcome is unknown.** It never means that nothing happened.
//!
//! | trait | implemented by | what it is |
//! | --- | --- | --- |
//! | [`ContainerRuntime`] | `docker`, `testkit` | one method per call of the engine's API |
//! | [`LogSource`] | `docker`, `testkit` | the output of a container as a stream of bytes |
//! | [`ImageStore`] | `docker`, `testkit` | images loaded from memory |
//! | [`Checkpoint`] | `checkpoint`, `testkit` | an ordered map of opaque bytes with atomic, durable commits |
//! | [`Clock`], [`Entropy`] | `driver`, `testkit` | time and randomness as inputs |
//!
//! Not for: anything that performs I/O, or a default that does.
//!
//! ```
//! use lighterman_contracts::{Batch, Write};
//!
//! let mut batch = Batch::new(7);
//! batch.writes.push(Write::put(b"task/1".to_vec(), b"{}".to_vec()));
//! batch.writes.push(Write::delete(b"task/0".to_vec()));
//! assert_eq!((batch.generation, batch.bytes()), (7, 14));
//! ```
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod checkpoint;
mod host;
mod runtime;

pub use checkpoint::{Batch, Checkpoint, CommitError, Loaded, Write};
pub use host::{Clock, Entropy};
pub use runtime::{ContainerRuntime, ImageStore, LogChunk, LogRequest, LogSource, LogStream, perform};
