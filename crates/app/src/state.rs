//! Looking into a state directory without changing it: `state export` and `state verify`.

use std::{io::Write, path::Path};

use lighterman_checkpoint::{OpenOptions, read};
use lighterman_records::{Ledger, OpenError, export};
use serde_json::{Value, json};

/// Why a state directory could not be looked into, or is not what it should be.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// The store itself.
    #[error(transparent)]
    Store(#[from] lighterman_checkpoint::OpenError),
    /// What stands in it.
    #[error(transparent)]
    Records(#[from] OpenError),
    /// The output could not be written.
    #[error("the output could not be written")]
    Output(#[from] std::io::Error),
}

/// Prints every record that can be found as a line of JSON; a damaged one with what is wrong with it.
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
    Ledger::open(loaded.entries, loaded.witness)?;
    Ok(())
}

/// Checks that the store holds exactly what it should; says how much that is.
///
/// # Errors
/// It does not, or it cannot be read.
pub fn verify(directory: &Path, out: &mut impl Write) -> Result<(), StateError> {
    let loaded = read(directory, OpenOptions::default())?;
    let (ledger, saved) = Ledger::open(loaded.entries, loaded.witness)?;
    writeln!(
        out,
        "{}: sound; commit {}, {} records, {} tasks",
        directory.display(),
        ledger.generation(),
        ledger.len(),
        saved.tasks.len()
    )?;
    Ok(())
}
