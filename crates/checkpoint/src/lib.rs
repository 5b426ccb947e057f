//! The durable map: [`Checkpoint`] on sled, one directory, one owner.
//!
//! A [`Store`] keeps opaque bytes. A commit is answered only when it would survive a power cut, and is
//! there as a whole or not at all. What sled promises and does not hold is made good here (measured in
//! `crates.md §3`):
//!
//! | sled 0.34 | here |
//! | --- | --- |
//! | `flush` never commits the length of the file | `sync_data` on a second handle before the answer |
//! | a page over 128 KiB goes to a file that is never synced, and deleted too early | values lie in parts of 4 KiB, so that a page of 20 stays below |
//! | a half-written snapshot makes the next opening fail for ever | it is removed before opening |
//! | a half-written first configuration does the same | a new store is built aside and renamed into place |
//! | opening may panic or hang on damage | on a thread of its own, guarded, with a limit in time |
//! | a handle is dead after a write error | closed; the next commit opens and writes everything anew, once |
//! | the file keeps up to 18 times the live data | rebuilt while opening when it is over 8 times as large |
//!
//! Beside the map lies the *witness*, which knows the last durable generation ([`Loaded::witness`]). It
//! is written after the map and never waited for: a stale one weakens the detection of damage, and can
//! never accuse a sound store.
//!
//! Begin with [`Store::open`]; [`DirectoryLock`] when the directory may be somebody else's; [`read`] to
//! look without changing anything; [`move_aside`] before starting anew.
//!
//! Not for: what the bytes mean, their checksums, versions, splitting of large values, or deciding that
//! a map is complete (crate `records`), nor for trying again: when to commit is decided by the core.
//!
//! ```
//! use lighterman_checkpoint::{OpenOptions, Store};
//! use lighterman_contracts::{Batch, Checkpoint, Write};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let parent = tempfile::tempdir()?;
//! let directory = parent.path().join("state");
//! let (store, loaded) = Store::open(&directory, OpenOptions::default())?;
//! assert_eq!((loaded.entries.len(), loaded.witness), (0, None));
//!
//! let mut batch = Batch::new(1);
//! batch.writes.push(Write::put(b"task/1".to_vec(), b"{}".to_vec()));
//! store.commit(batch).await?; // Durable from here on.
//! drop(store.close());
//!
//! let (_store, loaded) = Store::open(&directory, OpenOptions::default())?;
//! assert_eq!(loaded.entries, [(b"task/1".to_vec(), b"{}".to_vec())]);
//! assert_eq!(loaded.witness, Some(1));
//! # Ok(())
//! # }
//! ```
//!
//! [`Checkpoint`]: lighterman_contracts::Checkpoint
//! [`Loaded::witness`]: lighterman_contracts::Loaded::witness
#![forbid(unsafe_code)]

mod aside;
mod database;
mod encoding;
mod error;
mod fault;
mod guarded;
mod keeper;
mod layout;
mod lock;
mod options;
mod rebuild;
mod store;
mod witness;

pub use aside::move_aside;
pub use encoding::{MAX_KEY_BYTES, MAX_VALUE_BYTES};
pub use error::OpenError;
pub use lock::{DirectoryLock, Owner};
pub use options::OpenOptions;
pub use store::{Store, read};
