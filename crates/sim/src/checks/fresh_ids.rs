//! No id of an action is used twice, over crashes too (design.md R9).

use std::collections::BTreeSet;

use lighterman_ids::ActionId;

use super::Check;
use crate::note::{Note, Sight};

#[derive(Debug, Default)]
pub(super) struct FreshIds {
    used: BTreeSet<ActionId>,
}

impl Check for FreshIds {
    fn name(&self) -> &'static str {
        "fresh-ids"
    }

    fn see(&mut self, sight: &Sight<'_>, note: &Note<'_>) -> Result<(), String> {
        match note {
            // A new store counts from the beginning; its agent is another process all the same.
            Note::LostRecords => self.used.clear(),
            Note::Acts(action) => {
                // While the store fails, what only looks may leave before its incarnation is durable (R1).
                let excused = action.is_protective() && sight.turns.is_some_and(|turns| turns.engine().store_fails());
                if let Some(id) = action.id().filter(|_| !excused)
                    && !self.used.insert(id)
                {
                    return Err(format!("action id {id} was used before"));
                }
            }
            _ => {}
        }
        Ok(())
    }
}
