//! At most one container of the runtime belongs to one container of a task.

use std::collections::BTreeMap;

use super::Check;
use crate::{
    note::{Note, Sight},
    truth::Owner,
};

#[derive(Debug, Default)]
pub(super) struct NoTwins;

impl Check for NoTwins {
    fn name(&self) -> &'static str {
        "no-twins"
    }

    fn see(&mut self, sight: &Sight<'_>, note: &Note<'_>) -> Result<(), String> {
        let Note::Moved = note else { return Ok(()) };
        let mut seen: BTreeMap<&Owner, &str> = BTreeMap::new();
        for (_, real) in sight.truth.ours() {
            if let Some(other) = seen.insert(&real.owner, real.name.as_str()) {
                return Err(format!("{other} and {} are one container of one task", real.name));
            }
        }
        Ok(())
    }
}
