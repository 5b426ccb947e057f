//! An exit code that is shown is the one with which the process ended; one that is known is not withheld.

use std::collections::BTreeSet;

use lighterman_calls::ExitCode;
use lighterman_ids::RuntimeId;
use lighterman_view::ContainerView;

use super::Check;
use crate::{
    note::{Note, Sight},
    truth::Real,
};

#[derive(Debug, Default)]
pub(super) struct ExitCodes {
    /// Containers that were, or may have been, started behind our back: by a call that nobody waited for.
    adrift: BTreeSet<RuntimeId>,
    /// Containers of tasks that were forgotten. What is found of such a task later is another beginning.
    past: BTreeSet<RuntimeId>,
}

impl Check for ExitCodes {
    fn name(&self) -> &'static str {
        "exit-codes"
    }

    fn see(&mut self, sight: &Sight<'_>, note: &Note<'_>) -> Result<(), String> {
        let view = match note {
            Note::StartAdrift(id) => {
                self.adrift.extend(id.cloned());
                return Ok(());
            }
            Note::Shows(view) => view,
            _ => return Ok(()),
        };
        // A create that came late may have brought a second container, which never ran.
        let reals = sight.truth.of_task(&view.id);
        let reals = reals.filter(|(id, _)| !self.past.contains(*id));
        let reals: Vec<_> = reals.map(|(id, real)| (real, self.adrift.contains(id))).collect();
        view.containers.iter().try_for_each(|container| check(&reals, container))?;
        if view.removed {
            self.past.extend(sight.truth.of_task(&view.id).filter(|(_, real)| real.gone).map(|(id, _)| id.clone()));
        }
        Ok(())
    }
}

/// Containers of the task, and whether they may have been started behind our back.
fn check(reals: &[(&Real, bool)], container: &ContainerView) -> Result<(), String> {
    let codes: BTreeSet<ExitCode> = reals.iter().flat_map(|(real, _)| real.codes.iter().copied()).collect();
    let ran = reals.iter().any(|(real, _)| real.starts > 0);
    // What somebody is removing tells nothing any more (engine.md 4.9: dead).
    let by_us = reals
        .iter()
        .any(|(real, adrift)| real.starts > 0 && !adrift && !real.marks.removed && real.marks.restarts == 0);
    match container.exit_code {
        Some(code) if !ran => Err(format!("exit code {code} of {}, which never ran", container.name)),
        Some(code) if !codes.contains(&code) => {
            Err(format!("exit code {code} of {}, which ended with {codes:?}", container.name))
        }
        // Whatever keeps it from us has to be named.
        None if container.known.is_terminal() && by_us && container.reason.is_none() => {
            Err(format!("{} ended with {codes:?}, and no code and no reason is shown", container.name))
        }
        None | Some(_) => Ok(()),
    }
}
