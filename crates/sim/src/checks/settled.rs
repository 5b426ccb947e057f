//! Once nothing goes wrong any more, what is known comes to agree with what is true.

use std::time::Duration;

use lighterman_status::ContainerStatus;
use lighterman_view::ContainerView;

use super::Check;
use crate::{
    note::{Note, Sight},
    truth::Real,
};

const MINUTE: Duration = Duration::from_secs(60);

#[derive(Debug, Default)]
pub(super) struct Settled;

impl Check for Settled {
    fn name(&self) -> &'static str {
        "settled"
    }

    fn see(&mut self, sight: &Sight<'_>, note: &Note<'_>) -> Result<(), String> {
        let (Note::Settled, Some(turns)) = (note, sight.turns) else { return Ok(()) };
        for task in turns.engine().tasks() {
            let Some(view) = turns.engine().view(lighterman_ids::Moment::default(), task.id()) else { continue };
            for container in &view.containers {
                let real = container.runtime_id.as_ref().and_then(|id| sight.truth.get(id));
                // What happened only now may still be on its way.
                if real.is_some_and(|real| sight.now.since(real.changed_at) < MINUTE) {
                    continue;
                }
                compare(container, real).map_err(|text| format!("task {}: {text}", view.id))?;
            }
        }
        Ok(())
    }
}

fn compare(container: &ContainerView, real: Option<&Real>) -> Result<(), String> {
    let alive = real.is_some_and(|real| real.alive);
    let agrees = match container.known {
        ContainerStatus::Running | ContainerStatus::ResourcesProvisioned => alive,
        // Somebody who starts a stopped container again and again wants it to run (engine.md 3.5, CC-2).
        ContainerStatus::Stopped => !alive || real.is_some_and(|real| real.marks.restarts > 0),
        ContainerStatus::None
        | ContainerStatus::ManifestPulled
        | ContainerStatus::Pulled
        | ContainerStatus::Created => !alive,
    };
    if agrees {
        return Ok(());
    }
    let truth = if alive { "runs" } else { "does not run" };
    Err(format!("{} is known as {}, and it {truth}", container.name, container.known.as_str()))
}
