//! The store as people and tools see it.

use alloc::{string::String, vec::Vec};

use crate::{envelope, parts};

/// One record in readable form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportedRecord {
    /// Its key.
    pub key: String,
    /// Its kind, generation and payload (JSON text), or why it cannot be read.
    pub content: Result<(envelope::Kind, u64, String), envelope::EnvelopeError>,
}

/// All records of a store by key, the damaged ones too: an export must work when opening does not.
#[must_use]
pub fn export(entries: Vec<(Vec<u8>, Vec<u8>)>) -> Vec<ExportedRecord> {
    let records = parts::join(entries).into_iter();
    records
        .map(|(key, (value, _))| ExportedRecord {
            key: String::from_utf8_lossy(&key).into_owned(),
            content: envelope::open(&key, &value)
                .map(|opened| (opened.kind, opened.generation, String::from_utf8_lossy(opened.payload).into_owned())),
        })
        .collect()
}
