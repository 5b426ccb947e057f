//! RUNNING is never shown for a container that never ran (B-027).

use super::Check;
use crate::note::{Note, Sight};

#[derive(Debug, Default)]
pub(super) struct RanBefore;

impl Check for RanBefore {
    fn name(&self) -> &'static str {
        "ran-before"
    }

    fn see(&mut self, sight: &Sight<'_>, note: &Note<'_>) -> Result<(), String> {
        let Note::Shows(view) = note else { return Ok(()) };
        for container in view.containers.iter().filter(|container| container.known.is_running()) {
            let real = container.runtime_id.as_ref().and_then(|id| sight.truth.get(id));
            if real.is_none_or(|real| real.starts == 0) {
                return Err(format!("task {}: {} is shown as running and never ran", view.id, container.name));
            }
        }
        Ok(())
    }
}
