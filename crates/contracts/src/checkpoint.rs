//! The store of the agent: an ordered map of opaque bytes.

use alloc::{string::String, vec::Vec};
use core::future::Future;

/// One change of the map.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Write {
    /// Which entry; 1 to 512 bytes.
    pub key: Vec<u8>,
    /// Its new value, at most 64 KiB; `None` removes it.
    pub value: Option<Vec<u8>>,
}

impl Write {
    /// Sets an entry.
    #[must_use]
    pub const fn put(key: Vec<u8>, value: Vec<u8>) -> Self {
        Self { key, value: Some(value) }
    }

    /// Removes an entry; fine when there is none.
    #[must_use]
    pub const fn delete(key: Vec<u8>) -> Self {
        Self { key, value: None }
    }
}

/// Changes that become durable together or not at all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Batch {
    /// Rises by one with every commit; the witness of [`Loaded`].
    pub generation: u64,
    /// In order; of two writes to one key the later counts.
    pub writes: Vec<Write>,
}

impl Batch {
    /// An empty batch of this generation.
    #[must_use]
    pub const fn new(generation: u64) -> Self {
        Self { generation, writes: Vec::new() }
    }

    /// Bytes of all keys and values.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.writes.iter().map(|write| write.key.len() + write.value.as_ref().map_or(0, Vec::len)).sum()
    }
}

/// Everything that the store holds, read once at start.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Loaded {
    /// All entries, by key.
    pub entries: Vec<(Vec<u8>, Vec<u8>)>,
    /// Highest generation that is known, from outside the map, to have been durable; `None` for a
    /// new store. If the map itself tells of an earlier one, acknowledged commits are missing.
    pub witness: Option<u64>,
}

/// Why a commit did not become durable.
#[derive(Clone, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum CommitError {
    /// No room left on the device.
    #[error("no space left on the state device: {0}")]
    NoSpace(String),
    /// The device or file failed in another way.
    #[error("the state store failed: {0}")]
    Failed(String),
    /// A write is larger than the store takes; nothing of the batch was written.
    #[error("refused by the state store: {0}")]
    TooLarge(String),
}

/// A durable, ordered map of bytes. One owner per directory.
pub trait Checkpoint: Send + Sync + 'static {
    /// Makes the batch durable, all of it or nothing. Returns only when it would survive a power cut.
    ///
    /// After an error it is not known whether the batch is in the store; the next commit carries
    /// everything that changed since the last success. Implementations re-open a handle that does not
    /// heal, once per call and without waiting: when to call again is decided by the core.
    fn commit(&self, batch: Batch) -> impl Future<Output = Result<(), CommitError>> + Send;
}
