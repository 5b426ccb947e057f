//! Looking into a state directory without changing it: `state export` and `state verify`.

use std::{
    io::Write,
    path::{Path, PathBuf},
};

use lighterman_checkpoint::{OpenError, OpenOptions, read};
use lighterman_engine::SavedState;
use lighterman_records::{Ledger, OpenError as RecordsError, export};
use serde_json::{Value, json};

use crate::notes;

/// Why a state directory could not be looked into, or is not what it should be.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// The store itself.
    #[error(transparent)]
    Store(#[from] OpenError),
    /// What stands in it.
    #[error("{}: {source}", .directory.display())]
    Records {
        /// The directory.
        directory: PathBuf,
        /// Why.
        source: RecordsError,
    },
    /// A note beside the store.
    #[error("{} cannot be read", .path.display())]
    Note {
        /// Which.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The output could not be written.
    #[error("the output could not be written")]
    Output(#[from] std::io::Error),
}

impl StateError {
    /// What a person can do about it.
    #[must_use]
    pub const fn advice(&self) -> Option<&'static str> {
        match self {
            Self::Store(OpenError::Damaged { .. }) | Self::Records { source: RecordsError::Damaged(_), .. } => Some(
                "run it again with --recover and the task definition it was started with: the damaged store is moved \
                 aside, and its container is found by its labels and gone on with",
            ),
            Self::Store(OpenError::Missing { .. }) => Some("name another directory"),
            Self::Store(error) => Some(error.advice()),
            Self::Records { source: RecordsError::Newer(_), .. } => Some("use the version that wrote it"),
            Self::Note { .. } => Some("see to it that this user can read it"),
            Self::Output(_) => None,
        }
    }
}

/// Prints every record that can be found as a line of JSON; a damaged one with what is wrong with it. Of a store whose
/// file cannot be read at all, nothing is found.
///
/// # Errors
/// The store cannot be read, or the output not be written; or all has been printed, and it is not all there should be.
pub fn export_to(directory: &Path, out: &mut impl Write) -> Result<(), StateError> {
    let loaded = read(directory, OpenOptions::default())?;
    for record in export(loaded.entries.clone()) {
        let line = match record.content {
            Ok((kind, generation, payload)) => {
                let value = serde_json::from_str::<Value>(&payload).unwrap_or(Value::String(payload));
                json!({ "key": record.key, "kind": kind.as_str(), "generation": generation, "value": value })
            }
            Err(error) => json!({ "key": record.key, "damage": error.to_string() }),
        };
        writeln!(out, "{line}")?;
    }
    open(directory, loaded.entries, loaded.witness).map(drop)
}

/// Checks that the store holds exactly what it should; says how much that is, and what of the notes beside it the next
/// run will write anew.
///
/// # Errors
/// It does not, or it cannot be read.
pub fn verify(directory: &Path, out: &mut impl Write) -> Result<(), StateError> {
    let loaded = read(directory, OpenOptions::default())?;
    let (ledger, saved) = open(directory, loaded.entries, loaded.witness)?;
    writeln!(
        out,
        "{}: sound; commit {}, {}, {}",
        directory.display(),
        ledger.generation(),
        counted(ledger.len(), "record"),
        counted(saved.tasks.len(), "task"),
    )?;
    for line in wrong_notes(directory, &saved)? {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

type Entries = Vec<(Vec<u8>, Vec<u8>)>;

fn open(directory: &Path, entries: Entries, witness: Option<u64>) -> Result<(Ledger, SavedState), StateError> {
    Ledger::open(entries, witness).map_err(|source| StateError::Records { directory: directory.into(), source })
}

/// The store knows better than each of them.
fn wrong_notes(directory: &Path, saved: &SavedState) -> Result<Vec<String>, StateError> {
    let Some(host) = &saved.host else { return Ok(Vec::new()) };
    let read = |name| {
        let path = directory.join(name);
        notes::read(directory, name).map_err(|source| StateError::Note { path, source })
    };
    let mut lines = Vec::new();
    let mut tell = |name: &str, what: &str| {
        lines.push(format!("{}: {what}; the next run writes it anew", directory.join(name).display()));
    };
    match read(notes::INSTANCE)? {
        Some(noted) if noted == host.instance.as_str() => {}
        Some(_) => tell(notes::INSTANCE, "not the instance id that the store has"),
        None => tell(notes::INSTANCE, "missing or empty"),
    }
    if read(notes::DOCKER)?.is_none() {
        tell(notes::DOCKER, "missing or empty");
    }
    Ok(lines)
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
