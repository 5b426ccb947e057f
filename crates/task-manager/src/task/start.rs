//! CREATED → RUNNING (engine.md 4.8.2).

use alloc::boxed::Box;

use lighterman_calls::{Answer, ContainerFacts, Lost, LostCause, Outcome, Phase, Refusal, Request, RequestKind};
use lighterman_ids::ActionId;
use lighterman_status::ContainerStatus;

use super::{TaskManager, ask::is_away, expect_answer};
use crate::{
    ContainerError, Context, ErrorName,
    container::{AfterCall, Cause, Job, StartStage, Work},
};

impl TaskManager {
    pub(super) fn begin_start(&mut self, cx: &mut Context<'_>, c: usize) {
        self.ask_start(cx, c, 1);
    }

    pub(super) fn resume_start(&mut self, cx: &mut Context<'_>, c: usize, stage: StartStage, attempt: u32) {
        match stage {
            // It is not wanted any more. Where every try so far certainly had no effect there is nothing to stop.
            StartStage::Starting if self.containers[c].desired.is_terminal() => {
                if attempt > 1 {
                    self.begin_stop(cx, c);
                }
            }
            StartStage::Starting => self.ask_start(cx, c, attempt),
            StartStage::Looking(_) => self.ask_whether_it_runs(cx, c, stage, attempt),
        }
    }

    fn ask_start(&mut self, cx: &mut Context<'_>, c: usize, attempt: u32) {
        let Some(target) = self.containers[c].target() else {
            let error = ContainerError::new(ErrorName::CannotStartContainer, "the container has no name in Docker");
            return self.fail(cx.now, c, error);
        };
        let job = self.ask_job(cx, Request::Start(target), cx.settings.limits.start, attempt);
        self.containers[c].work = Work::Start { stage: StartStage::Starting, job };
    }

    fn ask_whether_it_runs(&mut self, cx: &mut Context<'_>, c: usize, stage: StartStage, attempt: u32) {
        self.take_over_look(c, |_| false);
        let target = self.containers[c].target().expect("a container that was started has a name");
        let job = self.ask_job(cx, Request::Inspect(target), cx.settings.limits.inspect, attempt);
        self.containers[c].work = Work::Start { stage, job };
    }

    pub(super) fn on_start_answer(
        &mut self,
        cx: &mut Context<'_>,
        c: usize,
        stage: StartStage,
        n: u32,
        answer: Answer,
    ) {
        match stage {
            StartStage::Starting => self.on_started(cx, c, n, expect_answer!(answer, Start)),
            StartStage::Looking(after) => {
                self.on_start_looked_at(cx, c, n, after, expect_answer!(answer, Inspect));
            }
        }
    }

    fn on_started(&mut self, cx: &mut Context<'_>, c: usize, n: u32, outcome: Outcome<()>) {
        match outcome {
            Outcome::Done(()) => self.look_after_start(cx, c, n, AfterCall::answered()),
            Outcome::Gone => self.vanished(cx, c),
            Outcome::Refused(Refusal { text, .. }) => {
                self.fail(cx.now, c, ContainerError::new(ErrorName::CannotStartContainer, text));
            }
            Outcome::Unknown(lost) if is_away(&lost) => {
                let job = self.pause_away(cx, c, n, &lost);
                self.containers[c].work = Work::Start { stage: StartStage::Starting, job };
            }
            Outcome::Unknown(lost) => {
                self.look_after_start(cx, c, n, AfterCall::lost(ErrorName::CannotStartContainer, "started", &lost));
            }
        }
    }

    /// One look tells whether it runs. One that is already out and began after the start event answers the
    /// same question: it becomes this one.
    fn look_after_start(&mut self, cx: &mut Context<'_>, c: usize, n: u32, after: AfterCall) {
        let has_started = after.lost.is_none();
        let stage = StartStage::Looking(after);
        match self.take_over_look(c, tells_of_a_start) {
            Some(id) => {
                let job = Job::asking(id, RequestKind::Inspect, n);
                self.containers[c].work = Work::Start { stage, job };
            }
            None => {
                self.containers[c].own_start = has_started;
                self.ask_whether_it_runs(cx, c, stage, n);
            }
        }
    }

    fn on_start_looked_at(
        &mut self,
        cx: &mut Context<'_>,
        c: usize,
        n: u32,
        after: AfterCall,
        outcome: Outcome<Box<ContainerFacts>>,
    ) {
        match outcome {
            Outcome::Done(facts) if facts.phase == Phase::Created => self.start_did_not_happen(cx, c, n, after),
            Outcome::Done(facts) => self.observe(cx, c, &facts),
            Outcome::Gone => self.vanished(cx, c),
            Outcome::Unknown(lost) => self.look_at_start_again(cx, c, n, after, lost),
            Outcome::Refused(refusal) => {
                self.look_at_start_again(cx, c, n, after, Lost::new(LostCause::Garbled, refusal.text));
            }
        }
    }

    fn look_at_start_again(&mut self, cx: &mut Context<'_>, c: usize, n: u32, after: AfterCall, lost: Lost) {
        match self.look_again(cx, c, n, after, lost) {
            Ok((after, job)) => self.containers[c].work = Work::Start { stage: StartStage::Looking(after), job },
            Err(error) => self.start_in_doubt(cx, c, error),
        }
    }

    /// The container stands as it was created.
    fn start_did_not_happen(&mut self, cx: &mut Context<'_>, c: usize, n: u32, after: AfterCall) {
        let again = after.allows_another_try(cx.settings, n) && !self.containers[c].desired.is_terminal();
        let error = after.error_or(ErrorName::CannotStartContainer, "Docker said it was started, but it was not");
        if again {
            let job = self.pause(cx, c, &cx.settings.call_retry, n, error.text);
            self.containers[c].work = Work::Start { stage: StartStage::Starting, job };
        } else {
            self.start_in_doubt(cx, c, error);
        }
    }

    /// It may be running: it is stopped before it is taken for stopped (engine.md 3.6.2, E53, E54).
    fn start_in_doubt(&mut self, cx: &mut Context<'_>, c: usize, error: ContainerError) {
        self.fail(cx.now, c, error);
        self.begin_stop(cx, c);
    }

    /// The container was seen running, or ended, before its start call returned (AP-5).
    pub(super) fn start_overtaken(&mut self, c: usize, id: ActionId) {
        self.containers[c].late_start = Some(id);
    }

    /// The start call returned after the event that told its effect. An error of the call itself still
    /// counts (CC-3); one that only says "no answer" is overruled by what was seen.
    pub(super) fn on_late_start(&mut self, cx: &Context<'_>, c: usize, answer: Answer) {
        match expect_answer!(answer, Start) {
            Outcome::Done(()) | Outcome::Gone | Outcome::Unknown(_) => {}
            Outcome::Refused(Refusal { text, .. }) => {
                if self.containers[c].known == ContainerStatus::Running {
                    self.blame(cx.now, c, ContainerError::new(ErrorName::CannotStartContainer, text));
                }
            }
        }
    }
}

/// Whether what made us look happened after the start.
const fn tells_of_a_start(cause: Cause) -> bool {
    match cause {
        Cause::Started | Cause::Died { .. } => true,
        Cause::Differs | Cause::OutputEnded => false,
    }
}
