//! Nobody waits for an answer that cannot come.

use super::Check;
use crate::note::{Note, Sight};

#[derive(Debug, Default)]
pub(super) struct Answered;

impl Check for Answered {
    fn name(&self) -> &'static str {
        "answered"
    }

    fn see(&mut self, sight: &Sight<'_>, note: &Note<'_>) -> Result<(), String> {
        let (Note::Rests, Some(turns)) = (note, sight.turns) else { return Ok(()) };
        let engine = turns.engine();
        let nothing_out = sight.calls_out == 0 && !turns.is_committing() && !engine.is_dirty() && !engine.store_fails();
        if nothing_out && engine.calls_in_progress() > 0 {
            return Err(format!("{} calls are waited for, and none is out", engine.calls_in_progress()));
        }
        Ok(())
    }
}
