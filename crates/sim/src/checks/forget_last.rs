//! A task is forgotten last: after that nothing of it is in the runtime, and nothing of it turns up (B-018).

use std::collections::BTreeSet;

use lighterman_ids::TaskId;

use super::Check;
use crate::note::{Note, Sight};

#[derive(Debug, Default)]
pub(super) struct ForgetLast {
    forgotten: BTreeSet<TaskId>,
}

impl Check for ForgetLast {
    fn name(&self) -> &'static str {
        "forget-last"
    }

    fn see(&mut self, sight: &Sight<'_>, note: &Note<'_>) -> Result<(), String> {
        match note {
            Note::Shows(view) if view.removed => drop(self.forgotten.insert(view.id.clone())),
            Note::Moved => {}
            _ => return Ok(()),
        }
        if sight.scenario.weather.overlong {
            // A call that is carried out later than the core counts on may bring something back.
            return Ok(());
        }
        for (id, real) in sight.truth.ours() {
            if let Some(task) = real.task().filter(|task| self.forgotten.contains(*task)) {
                return Err(format!("task {task} is forgotten, and its {} ({}) is there", real.name, id.short()));
            }
        }
        Ok(())
    }
}
