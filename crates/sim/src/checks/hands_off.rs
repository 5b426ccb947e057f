//! What is not ours is never touched (design.md R10).

use std::collections::BTreeMap;

use lighterman_ids::RuntimeId;

use super::Check;
use crate::{
    note::{Note, Sight},
    truth::Owner,
};

#[derive(Debug, Default)]
pub(super) struct HandsOff {
    /// Foreign containers, and how they stood when they were last seen: starts, alive.
    seen: BTreeMap<RuntimeId, (u64, bool)>,
}

impl Check for HandsOff {
    fn name(&self) -> &'static str {
        "hands-off"
    }

    fn see(&mut self, sight: &Sight<'_>, note: &Note<'_>) -> Result<(), String> {
        let Note::Moved = note else { return Ok(()) };
        for (id, real) in sight.truth.all().filter(|(_, real)| real.owner == Owner::Foreign) {
            let before = self.seen.insert(id.clone(), (real.starts, real.alive));
            let Some((starts, alive)) = before else { continue };
            if real.gone {
                return Err(format!("{} is not ours, and was removed", real.name));
            }
            // Whoever made it starts it, once.
            if real.starts > starts.max(1) {
                return Err(format!("{} is not ours, and was started", real.name));
            }
            if alive && !real.alive && !real.marks.swept {
                return Err(format!("{} is not ours, and was stopped", real.name));
            }
        }
        Ok(())
    }
}
