//! An exit code that is shown is the one with which the process ended; one that is known is not withheld.

use lighterman_view::ContainerView;

use super::Check;
use crate::note::{Note, Sight};

#[derive(Debug, Default)]
pub(super) struct ExitCodes;

impl Check for ExitCodes {
    fn name(&self) -> &'static str {
        "exit-codes"
    }

    fn see(&mut self, sight: &Sight<'_>, note: &Note<'_>) -> Result<(), String> {
        let Note::Shows(view) = note else { return Ok(()) };
        view.containers.iter().try_for_each(|container| check(sight, container))
    }
}

fn check(sight: &Sight<'_>, container: &ContainerView) -> Result<(), String> {
    let real = container.runtime_id.as_ref().and_then(|id| sight.truth.get(id));
    match (container.exit_code, real) {
        (Some(code), None) => Err(format!("exit code {code} of a container that never was")),
        (Some(code), Some(real)) if real.starts == 0 => {
            Err(format!("exit code {code} of {}, which never ran", real.name))
        }
        (Some(code), Some(real)) if !real.codes.contains(&code) => {
            Err(format!("exit code {code} of {}, which ended with {:?}", real.name, real.codes))
        }
        // Whatever keeps it from us has to be named.
        (None, Some(real)) if container.known.is_terminal() && real.starts > 0 && container.reason.is_none() => {
            Err(format!("{} ended with {:?}, and no code and no reason is shown", real.name, real.codes))
        }
        (None | Some(_), _) => Ok(()),
    }
}
