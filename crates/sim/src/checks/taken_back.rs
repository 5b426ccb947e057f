//! Nothing that was shown is taken back by a crash (design.md R1).

use std::collections::{BTreeMap, BTreeSet};

use lighterman_engine::{Engine, Event};
use lighterman_ids::{Moment, TaskId};
use lighterman_view::{ContainerView, TaskView};

use super::Check;
use crate::note::{Note, Sight};

#[derive(Debug, Default)]
pub(super) struct TakenBack {
    shown: BTreeMap<TaskId, TaskView>,
    /// Tasks that were durable at some time: one that is not any more was forgotten in good order, even if a crash
    /// kept readers from seeing that. One that was to stop may have come and gone within one commit.
    durable: BTreeSet<TaskId>,
    to_stop: BTreeSet<TaskId>,
}

impl Check for TakenBack {
    fn name(&self) -> &'static str {
        "taken-back"
    }

    fn see(&mut self, sight: &Sight<'_>, note: &Note<'_>) -> Result<(), String> {
        match note {
            Note::Wished(Event::Stop { task, .. }) => drop(self.to_stop.insert(task.clone())),
            Note::Landed => self.durable.extend(sight.durable_tasks().cloned()),
            Note::Shows(view) => drop(self.shown.insert(view.id.clone(), (*view).clone())),
            Note::LostRecords => self.shown.clear(),
            Note::Started => {
                let Some(turns) = sight.turns else { return Ok(()) };
                for view in self.shown.values() {
                    let forgotten = self.durable.contains(&view.id) || self.to_stop.contains(&view.id);
                    if forgotten && turns.engine().tasks().all(|task| *task.id() != view.id) {
                        continue;
                    }
                    compare(view, turns.engine()).map_err(|text| format!("task {}: {text}", view.id))?;
                }
            }
            _ => {}
        }
        Ok(())
    }
}

fn compare(shown: &TaskView, engine: &Engine) -> Result<(), String> {
    let restored = engine.view(Moment::default(), &shown.id);
    let restored = match (shown.removed, restored) {
        (true, None) => return Ok(()),
        (true, Some(_)) => return Err("was shown as gone, and is back".into()),
        (false, None) => return Err("was shown, and is not known any more".into()),
        (false, Some(restored)) => restored,
    };
    if restored.known.is_before(shown.known) || restored.desired.is_before(shown.desired) {
        return Err(format!(
            "was shown as {} (to be {}), and is {} (to be {})",
            shown.known.as_str(),
            shown.desired.as_str(),
            restored.known.as_str(),
            restored.desired.as_str()
        ));
    }
    same("its reason", shown.reason.as_ref(), restored.reason.as_ref())?;
    let pairs = shown.containers.iter().zip(&restored.containers);
    pairs.into_iter().try_for_each(|(shown, restored)| compare_container(shown, restored))
}

fn compare_container(shown: &ContainerView, restored: &ContainerView) -> Result<(), String> {
    if restored.known.is_before(shown.known) || restored.desired.is_before(shown.desired) {
        return Err(format!(
            "{} was shown as {}, and is {}",
            shown.name,
            shown.known.as_str(),
            restored.known.as_str()
        ));
    }
    same("the exit code", shown.exit_code.as_ref(), restored.exit_code.as_ref())?;
    same("the reason", shown.reason.as_ref(), restored.reason.as_ref())?;
    same("the start", shown.started_at.as_ref(), restored.started_at.as_ref())?;
    same("the end", shown.finished_at.as_ref(), restored.finished_at.as_ref())?;
    // Until there is a container of that name, another may have to be chosen.
    let name = shown.runtime_name.as_ref().filter(|_| shown.runtime_id.is_some() && !restored.known.is_terminal());
    same("the name", name, restored.runtime_name.as_ref())?;
    // A create that came late may have brought another one, which is to be removed as well.
    let id = shown.runtime_id.as_ref().filter(|_| !restored.known.is_terminal());
    same("the id", id, restored.runtime_id.as_ref())
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, shown: Option<&T>, restored: Option<&T>) -> Result<(), String> {
    if shown.is_some() && shown != restored {
        return Err(format!("{what} was shown as {shown:?}, and is {restored:?}"));
    }
    Ok(())
}
