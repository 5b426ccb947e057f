//! Every "not yet" has a reason (design.md R5).

use super::Check;
use crate::note::{Note, Sight};

#[derive(Debug, Default)]
pub(super) struct WaitsExplained;

impl Check for WaitsExplained {
    fn name(&self) -> &'static str {
        "waits-explained"
    }

    fn see(&mut self, _: &Sight<'_>, note: &Note<'_>) -> Result<(), String> {
        let Note::Shows(view) = note else { return Ok(()) };
        if view.removed {
            return Ok(());
        }
        match view.containers.iter().find(|container| container.wait.is_none()) {
            Some(container) => Err(format!(
                "task {}: {} is {}, is to be {}, and waits for nothing",
                view.id,
                container.name,
                container.known.as_str(),
                container.desired.as_str()
            )),
            None => Ok(()),
        }
    }
}
