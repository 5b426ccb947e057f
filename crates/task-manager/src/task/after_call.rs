//! A create or start call returned, or was lost: a look tells what became of it.

use lighterman_calls::{Lost, LostCause};

use super::{TaskManager, ask::is_away};
use crate::{
    ContainerError, Context, ErrorName, Settings,
    container::{AfterCall, Job},
};

impl AfterCall {
    /// The call was answered.
    pub(super) const fn answered() -> Self {
        Self { lost: None, timed_out: false, looks: 1 }
    }

    /// The answer to the call of this transition was lost.
    pub(super) fn lost(name: ErrorName, word: &str, lost: &Lost) -> Self {
        let timed_out = match lost.cause {
            LostCause::TimedOut(_) => true,
            LostCause::Unreachable | LostCause::ConnectionLost | LostCause::Garbled => false,
        };
        Self { lost: Some(ContainerError::lost(name, word, lost)), timed_out, looks: 1 }
    }

    /// Whether the call, which had no effect so far, is sent again after `n` tries. One that ran into its limit may
    /// still be carried out.
    pub(super) const fn allows_another_try(&self, settings: &Settings, n: u32) -> bool {
        !self.timed_out && n < settings.call_tries
    }

    /// Why the call failed: it was lost, or what `otherwise` says.
    pub(super) fn error_or(self, name: ErrorName, otherwise: &str) -> ContainerError {
        self.lost.unwrap_or_else(|| ContainerError::new(name, otherwise))
    }
}

impl TaskManager {
    /// The look failed, so there is another one after a pause.
    ///
    /// # Errors
    /// There were as many as there may be; what the call did stays unknown.
    pub(super) fn look_again(
        &self,
        cx: &Context<'_>,
        c: usize,
        n: u32,
        after: AfterCall,
        lost: Lost,
    ) -> Result<(AfterCall, Job), ContainerError> {
        if is_away(&lost) {
            let job = self.pause_away(cx, c, n, &lost);
            return Ok((after, job));
        }
        if after.looks >= cx.settings.look_tries {
            return Err(after.error_or(ErrorName::CannotInspectContainer, &lost.text));
        }
        let pause = self.pause(cx, c, &cx.settings.call_retry, after.looks, lost.text);
        Ok((AfterCall { looks: after.looks + 1, ..after }, Job { attempt: n, ..pause }))
    }
}
