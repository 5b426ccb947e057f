//! Asking the runtime, and pausing between tries.

use alloc::string::String;
use core::time::Duration;

use lighterman_backoff::{Backoff, derive};
use lighterman_calls::{Lost, LostCause, Request};
use lighterman_ids::{ActionId, Mono};
use lighterman_status::ContainerStatus;

use super::{TaskManager, boxed};
use crate::{
    Action, Context,
    container::{Container, Job, Look, RemoveStage, Step, Work},
};

impl TaskManager {
    /// Emits a call and returns the id its answer will carry.
    pub(super) fn ask(&mut self, cx: &mut Context<'_>, request: Request, limit: Duration) -> ActionId {
        let id = cx.ids.next_id();
        self.emit(Action::Call { id, call: boxed(request, limit) });
        id
    }

    /// A job whose call has just been emitted.
    pub(super) fn ask_job(&mut self, cx: &mut Context<'_>, request: Request, limit: Duration, attempt: u32) -> Job {
        let kind = request.kind();
        Job::asking(self.ask(cx, request, limit), kind, attempt)
    }

    /// A job that waits before its next try. The jitter belongs to container, stage and try alone.
    pub(super) fn pause(&self, cx: &Context<'_>, c: usize, wait: &Backoff, done: u32, after: impl Into<String>) -> Job {
        let seed = derive(self.spec.seed, self.containers[c].name.as_str());
        let until = cx.now.mono.after(wait.delay(done, seed));
        Job { step: Step::Pausing { until, after: after.into(), away: false }, attempt: done + 1 }
    }

    /// A job that waits for the runtime to come back: the try does not count, since it had no effect.
    pub(super) fn pause_away(&self, cx: &Context<'_>, c: usize, attempt: u32, lost: &Lost) -> Job {
        let seed = derive(self.spec.seed, self.containers[c].name.as_str());
        let until = cx.now.mono.after(cx.settings.away_retry.delay(AWAY_PACE, seed));
        Job { step: Step::Pausing { until, after: lost.text.clone(), away: true }, attempt }
    }

    /// Goes on with work whose pause is over.
    pub(super) fn resume_work(&mut self, cx: &mut Context<'_>, c: usize) {
        let container = &mut self.containers[c];
        let due = container.work.job().is_some_and(|job| match job.step {
            Step::Pausing { until, .. } => until <= cx.now.mono,
            Step::Asking { .. } => false,
        });
        if !due {
            return;
        }
        let work = core::mem::replace(&mut container.work, Work::Idle);
        self.touch(c, cx.now);
        match work {
            Work::Idle => {}
            Work::Pull { stage, job } => self.resume_pull(cx, c, stage, job.attempt),
            Work::Create { stage, job } => self.resume_create(cx, c, stage, job.attempt),
            Work::Start { stage, job } => self.resume_start(cx, c, stage, job.attempt),
            Work::Stop { stage, job } => self.resume_stop(cx, c, stage, job.attempt),
            Work::Remove { stage, job } => self.resume_remove(cx, c, stage, job.attempt),
            Work::Restore { job } => self.ask_restore(cx, c, job.attempt),
        }
    }
}

/// Unreachable calls cost nothing and come back by `Resume`, so the pauses need not grow from the first.
pub(super) const AWAY_PACE: u32 = 3;

/// Whether the call certainly had no effect because nobody was there.
pub(super) fn is_away(lost: &Lost) -> bool {
    match lost.cause {
        LostCause::Unreachable => true,
        LostCause::TimedOut(_) | LostCause::ConnectionLost | LostCause::Garbled => false,
    }
}

impl Work {
    /// The same work, waiting for `until` to go on.
    pub(super) fn paused(mut self, until: Mono) -> Self {
        if let Some(job) = self.job_mut() {
            job.step = Step::Pausing { until, after: "not sent".into(), away: false };
        }
        self
    }
}

impl Look {
    /// The same look, still to be made at `until`.
    pub(super) fn paused(self, until: Mono) -> Self {
        let attempt = match self {
            Self::Asking { attempt, .. } | Self::Pausing { attempt, .. } => attempt,
            Self::None | Self::Behind { .. } => 1,
        };
        self.cause().map_or(Self::None, |cause| Self::Pausing { until, cause, attempt, away: false })
    }
}

impl Container {
    /// When something is due for it.
    pub(super) fn deadlines(&self) -> impl Iterator<Item = Mono> {
        let work = match self.work.job().map(|job| &job.step) {
            Some(Step::Pausing { until, .. }) => Some(*until),
            Some(Step::Asking { .. }) | None => None,
        };
        let look = match self.look {
            Look::Pausing { until, .. } => Some(until),
            Look::None | Look::Behind { .. } | Look::Asking { .. } => None,
        };
        work.into_iter().chain(look)
    }

    /// Whether all that is left to do is to watch for a late create.
    pub(super) fn is_watching(&self) -> bool {
        match self.work {
            Work::Remove { stage: RemoveStage::Finding(search), .. } => search.looked,
            Work::Idle
            | Work::Pull { .. }
            | Work::Create { .. }
            | Work::Start { .. }
            | Work::Stop { .. }
            | Work::Remove { stage: RemoveStage::Removing { .. } | RemoveStage::Killing, .. }
            | Work::Restore { .. } => false,
        }
    }

    /// Whether it has not come as far as `status`.
    pub(super) const fn is_before(&self, status: ContainerStatus) -> bool {
        self.known.is_before(status)
    }
}
