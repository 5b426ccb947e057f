//! A program is not started twice by us (B-017).
//!
//! One thing cannot be known from outside: whether a start call whose connection broke before the runtime saw
//! it will still be carried out. Each such call may cost one run more, and the core is asked for no more than that.

use std::collections::BTreeMap;

use lighterman_ids::{RuntimeId, TaskId};

use super::Check;
use crate::note::{Note, Sight};

#[derive(Debug, Default)]
pub(super) struct Once {
    /// Starts of each container that may still come, or have, though nobody waits for them.
    adrift: BTreeMap<RuntimeId, u64>,
}

impl Check for Once {
    fn name(&self) -> &'static str {
        "once"
    }

    fn see(&mut self, sight: &Sight<'_>, note: &Note<'_>) -> Result<(), String> {
        match note {
            Note::StartAdrift(id) => {
                if let Some(id) = id {
                    *self.adrift.entry((*id).clone()).or_default() += 1;
                }
                Ok(())
            }
            Note::Moved => self.count(sight),
            _ => Ok(()),
        }
    }
}

impl Once {
    fn count(&self, sight: &Sight<'_>) -> Result<(), String> {
        let mut runs: BTreeMap<&TaskId, (u64, u64)> = BTreeMap::new();
        for (id, real) in sight.truth.all() {
            let Some(task) = real.task() else { continue };
            let (by_us, excused) = runs.entry(task).or_default();
            *by_us += real.starts.saturating_sub(real.marks.restarts);
            *excused += self.adrift.get(id).copied().unwrap_or(0);
        }
        match runs.into_iter().find(|(_, (by_us, excused))| *by_us > 1 + excused) {
            Some((task, (by_us, _))) => Err(format!("the program of task {task} was started {by_us} times")),
            None => Ok(()),
        }
    }
}
