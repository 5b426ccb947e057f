//! The checkpoint format: what stands in the state store, byte by byte (ADR 0003).
//!
//! The store is an ordered map of bytes (`contracts::Checkpoint`). This crate says which keys there are,
//! what their values look like, and how damage shows:
//!
//! - every record stands in an [envelope]: magic, schema version, kind, generation, length, checksum;
//! - every commit rewrites a **head** record: generation, number of records, and a digest over all of
//!   them that can be kept up to date in constant time. A record that is missing, stale or too many shows;
//! - the store tells from outside the map which generation was durable (its *witness*). A map that tells
//!   of an earlier one has lost acknowledged commits.
//!
//! Payloads are JSON, so that an older program can skip a field that a newer one wrote, and so that
//! `state export` shows what stands there. A value over 48 KiB is cut into parts, because larger ones
//! leave sled's log for files that it never syncs (crates.md §3).
//!
//! [`Ledger`] is the value that keeps all this: it opens what was loaded and prepares what to commit.
//!
//! Not for: writing anything (`lighterman-checkpoint`), when to write (`lighterman-turn`).
//!
//! ```
//! use lighterman_engine::{HostState, Record, RecordKey};
//! use lighterman_ids::InstanceId;
//! use lighterman_records::Ledger;
//!
//! let mut ledger = Ledger::new();
//! let host = HostState { instance: InstanceId::from_bits(1), incarnation: 1 };
//! let prepared = ledger.prepare([(RecordKey::Host, Some(Record::Host(host.clone())))]);
//! // … the store makes `prepared.writes` durable …
//! let entries: Vec<_> = prepared.writes.iter().filter_map(|(key, value)| Some((key.clone(), value.clone()?))).collect();
//! ledger.committed(prepared.change);
//! let (reopened, saved) = Ledger::open(entries, Some(1)).unwrap();
//! assert_eq!((reopened, saved.host), (ledger, Some(host)));
//! ```
#![no_std]
#![forbid(unsafe_code)]
#![warn(clippy::wildcard_enum_match_arm)]

extern crate alloc;

pub mod envelope;
mod export;
mod key;
mod ledger;
mod parts;
mod v1;

pub use export::{ExportedRecord, export};
pub use ledger::{Ledger, LedgerChange, OpenError, Prepared, WriteOp};
