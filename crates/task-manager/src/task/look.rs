//! Looking at a container because of an event or a difference (engine.md 4.10, 4.12).
//!
//! Per container one inspect is in flight. One begun after an event answers all earlier ones, so a burst
//! of events costs at most two. Since they are never side by side, the last answer is the newest: facts are
//! ordered by when we asked, not by clocks of the runtime, which may step (B-078).

use alloc::collections::BTreeMap;

use lighterman_calls::{Answer, ContainerFacts, EventAction, ExitCode, Lost, Outcome, Refusal, Request, RuntimeEvent};
use lighterman_ids::{ActionId, ContainerName, RuntimeId};
use lighterman_status::ContainerStatus;

use super::{
    TaskManager,
    ask::{AWAY_PACE, is_away},
    expect_answer,
};
use crate::{
    ContainerError, Context, ErrorName,
    container::{Cause, Look, Step, Work},
};

impl TaskManager {
    pub(super) fn on_runtime_event(&mut self, cx: &mut Context<'_>, event: &RuntimeEvent) {
        let Some(c) = self.index_of_runtime_id(&event.container) else { return };
        let known = self.containers[c].known;
        match &event.action {
            // The create call's own answer says the same; an out-of-memory kill shows when the container ends.
            EventAction::Create | EventAction::Oom => {}
            // The look after our start call covers the event of that call (engine.md 4.10).
            EventAction::Start if core::mem::take(&mut self.containers[c].own_start) => {}
            EventAction::Start | EventAction::Restart => self.look(cx, c, Cause::Started),
            EventAction::Die { exit_code } => {
                self.containers[c].own_start = false;
                self.containers[c].last_end = *exit_code;
                if !known.is_terminal() {
                    self.look(cx, c, Cause::Died { exit_code: *exit_code });
                }
            }
            // A stop call has finished: the end itself came as a `die` before.
            EventAction::Stop => {
                if !known.is_terminal() && !self.is_stopping(c) {
                    self.look(cx, c, Cause::Differs);
                }
            }
            EventAction::Destroy => {
                if !known.is_terminal() {
                    self.look(cx, c, Cause::Differs);
                }
            }
            EventAction::HealthStatus(_) => {
                if self.definition_of(c).health_check.is_some() && known.is_running() && !self.containers[c].stopping {
                    self.look(cx, c, Cause::Differs);
                }
            }
        }
    }

    /// Events may be silent, and the end of the output is a hint: a container that is known to run is looked at.
    pub(super) fn on_output_ended(&mut self, cx: &mut Context<'_>, name: &ContainerName) {
        let Some(c) = self.containers.iter().position(|container| container.name == *name) else { return };
        if self.containers[c].known.is_running() {
            self.look(cx, c, Cause::OutputEnded);
        }
    }

    /// Only containers whose listing differs from what is known are looked at.
    pub(super) fn on_listed(&mut self, cx: &mut Context<'_>, running: &BTreeMap<RuntimeId, bool>) {
        for c in 0..self.containers.len() {
            // The stream may have been away: what it tells from here on may be of another start.
            self.containers[c].own_start = false;
            let container = &self.containers[c];
            let Some(id) = &container.runtime_id else { continue };
            let listed = running.get(id).copied();
            let differs = match (container.known, listed) {
                (ContainerStatus::Running | ContainerStatus::ResourcesProvisioned, Some(runs)) => !runs,
                (ContainerStatus::Running | ContainerStatus::ResourcesProvisioned, None) => true,
                // A look at its start that is out may be older than the list, and show a run that is over.
                (ContainerStatus::Created, Some(runs)) => runs || container.work.inspects(),
                (ContainerStatus::Created, None) => true,
                (ContainerStatus::Stopped, listed) => listed == Some(true) && !container.removed,
                (ContainerStatus::None | ContainerStatus::ManifestPulled | ContainerStatus::Pulled, _) => false,
            };
            if differs {
                self.look(cx, c, Cause::Differs);
            }
        }
    }

    /// Events may have been lost: an inspect that is out may show less than they told. A list does not help where
    /// it agrees with what is known so far.
    pub(super) fn look_once_more(&mut self, cx: &mut Context<'_>) {
        for c in 0..self.containers.len() {
            let container = &mut self.containers[c];
            container.own_start = false;
            let is_out = matches!(container.look, Look::Asking { .. }) || container.work.inspects();
            if is_out && container.runtime_id.is_some() && !container.known.is_terminal() {
                self.look(cx, c, Cause::Differs);
            }
        }
    }

    /// What a look by name showed of a container whose id was not known until then. An event that told of its end
    /// meanwhile found nobody: what is seen running is looked at once more.
    pub(super) fn observe_adopted(&mut self, cx: &mut Context<'_>, c: usize, facts: &ContainerFacts) {
        self.observe(cx, c, facts);
        let container = &self.containers[c];
        // A stop looks by itself.
        if container.known.is_running() && !container.desired.is_terminal() {
            self.look(cx, c, Cause::Differs);
        }
    }

    /// Begins a look, or notes that the one in flight has to be followed by another.
    fn look(&mut self, cx: &mut Context<'_>, c: usize, cause: Cause) {
        if self.containers[c].removed || self.is_looked_at_anyway(c) {
            return;
        }
        let behind = self.containers[c].work.inspects();
        match &mut self.containers[c].look {
            Look::Asking { again, .. } => *again = Some(again.map_or(cause, |first| first.then(cause))),
            Look::Behind { cause: first } => *first = first.then(cause),
            Look::Pausing { until, cause: first, away, .. } => {
                *first = first.then(cause);
                // Something arrived from the runtime: it is back.
                if *away {
                    *until = cx.now.mono;
                }
            }
            Look::None if behind => self.containers[c].look = Look::Behind { cause },
            Look::None => self.ask_look(cx, c, cause, 1),
        }
    }

    fn ask_look(&mut self, cx: &mut Context<'_>, c: usize, cause: Cause, attempt: u32) {
        let Some(target) = self.containers[c].target() else { return };
        let id = self.ask(cx, Request::Inspect(target), cx.settings.limits.inspect);
        self.containers[c].look = Look::Asking { id, again: None, cause, attempt };
    }

    /// Whether a look would show nothing new: the first one after a restart is still to begin, or the
    /// container is being removed.
    fn is_looked_at_anyway(&self, c: usize) -> bool {
        match &self.containers[c].work {
            Work::Remove { .. } => true,
            Work::Restore { job } => matches!(job.step, Step::Pausing { .. }),
            Work::Idle | Work::Pull { .. } | Work::Create { .. } | Work::Start { .. } | Work::Stop { .. } => false,
        }
    }

    fn is_stopping(&self, c: usize) -> bool {
        self.containers[c].work.applied() == ContainerStatus::Stopped
    }

    /// The transition in progress inspects from here on, which covers every look so far. A look that is out
    /// and began after `covers` told something becomes the transition's own: its id is returned.
    pub(super) fn take_over_look(&mut self, c: usize, covers: fn(Cause) -> bool) -> Option<ActionId> {
        let look = core::mem::replace(&mut self.containers[c].look, Look::None);
        if let Some(cause @ Cause::Died { .. }) = look.cause() {
            // Should that inspect fail, this much is known.
            self.containers[c].look = Look::Behind { cause };
        }
        match look {
            Look::Asking { id, again: None, cause, .. } if covers(cause) => Some(id),
            Look::None | Look::Behind { .. } | Look::Asking { .. } | Look::Pausing { .. } => None,
        }
    }

    /// Begins the look that waited behind an inspect of the transition.
    pub(super) fn look_behind(&mut self, cx: &mut Context<'_>, c: usize) {
        if let Look::Behind { cause } = self.containers[c].look
            && !self.containers[c].work.inspects()
        {
            self.ask_look(cx, c, cause, 1);
        }
    }

    /// The exit code that a `die` event told and no inspect has confirmed.
    pub(super) fn told_exit_code(&self, c: usize) -> Option<ExitCode> {
        match self.containers[c].look.cause()? {
            Cause::Died { exit_code } => exit_code,
            Cause::Started | Cause::Differs | Cause::OutputEnded => None,
        }
    }

    pub(super) fn resume_look(&mut self, cx: &mut Context<'_>, c: usize) {
        if let Look::Pausing { until, cause, attempt, .. } = self.containers[c].look
            && until <= cx.now.mono
        {
            if self.containers[c].work.inspects() {
                self.containers[c].look = Look::Behind { cause };
            } else {
                self.ask_look(cx, c, cause, attempt);
            }
        }
    }

    pub(super) fn on_look_answer(&mut self, cx: &mut Context<'_>, c: usize, answer: Answer) {
        let look = core::mem::replace(&mut self.containers[c].look, Look::None);
        let Some(all) = look.cause() else { return };
        let Look::Asking { again, attempt, .. } = look else { return };
        match expect_answer!(answer, Inspect) {
            Outcome::Done(facts) => {
                // While the facts are taken in: where they have no exit code, the event's counts.
                self.containers[c].look = Look::Behind { cause: all };
                self.observe(cx, c, &facts);
                self.containers[c].look = Look::None;
                if let Some(cause) = again
                    && !self.containers[c].known.is_terminal()
                {
                    self.look(cx, c, cause);
                } else if all == Cause::OutputEnded
                    && attempt < cx.settings.look_tries
                    && self.containers[c].known.is_running()
                {
                    self.pause_look(cx, c, all, attempt + 1, false);
                }
            }
            Outcome::Gone => self.vanished(cx, c),
            Outcome::Unknown(lost) if is_away(&lost) => self.pause_look(cx, c, all, attempt, true),
            Outcome::Unknown(Lost { text, .. }) | Outcome::Refused(Refusal { text, .. }) => {
                if attempt < cx.settings.look_tries {
                    self.pause_look(cx, c, all, attempt + 1, false);
                } else {
                    self.look_failed(cx, c, all, &text);
                }
            }
        }
    }

    fn pause_look(&mut self, cx: &Context<'_>, c: usize, cause: Cause, attempt: u32, away: bool) {
        let (wait, nth) = if away { (&cx.settings.away_retry, AWAY_PACE) } else { (&cx.settings.call_retry, attempt) };
        let until = cx.now.mono.after(wait.delay(nth, self.spec.seed));
        self.containers[c].look = Look::Pausing { until, cause, attempt, away };
    }

    /// No inspect succeeds. That a container died is a fact all the same, with the code the event told;
    /// everything else keeps its status, and the next re-check tries again (engine.md 4.10, R4b).
    fn look_failed(&mut self, cx: &Context<'_>, c: usize, cause: Cause, text: &str) {
        match cause {
            Cause::Died { exit_code } => {
                let container = &mut self.containers[c];
                container.exit_code = exit_code.or(container.exit_code);
                self.record_error(c, ContainerError::new(ErrorName::CannotInspectContainer, text));
                self.end_start(c);
                self.containers[c].work = Work::Idle;
                self.set_known(cx.now, c, ContainerStatus::Stopped);
            }
            Cause::Started | Cause::Differs | Cause::OutputEnded => {}
        }
    }
}
