//! When everything was stopped and cleaned up, nothing of ours is left in the runtime, and no record of a task.

use super::Check;
use crate::note::{Note, Sight};

#[derive(Debug, Default)]
pub(super) struct NoOrphans;

impl Check for NoOrphans {
    fn name(&self) -> &'static str {
        "no-orphans"
    }

    fn see(&mut self, sight: &Sight<'_>, note: &Note<'_>) -> Result<(), String> {
        let Note::Ended = note else { return Ok(()) };
        if let Some((id, real)) = sight.truth.ours().next() {
            return Err(format!("{} ({}) is left in the runtime, and nobody knows of it", real.name, id.short()));
        }
        for prefix in ["task/", "container/", "definition/"] {
            if let Some((key, _)) = sight.store.under(prefix).next() {
                return Err(format!("record {} is left in the store", String::from_utf8_lossy(key)));
            }
        }
        Ok(())
    }
}
