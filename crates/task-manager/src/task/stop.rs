//! RUNNING → STOPPED (engine.md 4.8.4, 3.6.2).

use alloc::boxed::Box;
use core::time::Duration;

use lighterman_calls::{
    Answer, ContainerFacts, ContainerTarget, Lost, LostCause, Outcome, Phase, Refusal, Request, RequestKind, Signal,
};
use lighterman_ids::Mono;
use lighterman_status::ContainerStatus;

use super::{TaskManager, ask::is_away, expect_answer};
use crate::{
    Action, ContainerError, Context, ErrorName,
    container::{Cause, Container, Job, Step, StopStage, Work},
};

impl TaskManager {
    pub(super) fn begin_stop(&mut self, cx: &mut Context<'_>, c: usize) {
        self.containers[c].stopping = true;
        self.containers[c].killed = self.force;
        self.containers[c].grace_from = None;
        self.ask_stop(cx, c, 1);
    }

    pub(super) fn resume_stop(&mut self, cx: &mut Context<'_>, c: usize, stage: StopStage, attempt: u32) {
        match stage {
            StopStage::Stopping => self.ask_stop(cx, c, attempt),
            StopStage::Pinging { failed } => self.ask_ping(cx, c, failed),
            StopStage::Confirming { .. } | StopStage::Verifying { .. } => {
                self.ask_whether_stopped(cx, c, stage, attempt);
            }
            StopStage::Killing { failed } => self.ask_kill(cx, c, failed),
        }
    }

    fn ask_stop(&mut self, cx: &mut Context<'_>, c: usize, attempt: u32) {
        let Some(container) = self.containers[c].target() else {
            let error = ContainerError::new(ErrorName::CannotStopContainer, "the container has no name in Docker");
            self.record_error(c, error);
            return self.set_known(cx.now, c, ContainerStatus::Stopped);
        };
        let grace = if self.force { Duration::ZERO } else { self.stop_timeout(cx, c) };
        let limit = grace.saturating_add(cx.settings.limits.stop_margin);
        let job = self.ask_job(cx, Request::Stop { container, grace }, limit, attempt);
        self.containers[c].work = Work::Stop { stage: StopStage::Stopping, job };
    }

    fn ask_ping(&mut self, cx: &mut Context<'_>, c: usize, failed: ContainerError) {
        let job = self.ask_job(cx, Request::Ping, cx.settings.limits.ping, 1);
        self.containers[c].work = Work::Stop { stage: StopStage::Pinging { failed }, job };
    }

    fn ask_whether_stopped(&mut self, cx: &mut Context<'_>, c: usize, stage: StopStage, attempt: u32) {
        self.take_over_look(c, |_| false);
        let target = self.stop_target(c);
        let job = self.ask_job(cx, Request::Inspect(target), cx.settings.limits.inspect, attempt);
        self.containers[c].work = Work::Stop { stage, job };
    }

    fn ask_kill(&mut self, cx: &mut Context<'_>, c: usize, failed: ContainerError) {
        let request = Request::Kill { container: self.stop_target(c), signal: Signal::Kill };
        let job = self.ask_job(cx, request, cx.settings.limits.kill, 1);
        self.containers[c].work = Work::Stop { stage: StopStage::Killing { failed }, job };
    }

    fn stop_target(&self, c: usize) -> ContainerTarget {
        self.containers[c].target().expect("a container that is being stopped has a name")
    }

    pub(super) fn on_stop_answer(&mut self, cx: &mut Context<'_>, c: usize, stage: StopStage, n: u32, answer: Answer) {
        match stage {
            StopStage::Stopping => self.on_stopped(cx, c, n, expect_answer!(answer, Stop)),
            StopStage::Pinging { failed } => self.on_pinged(cx, c, failed, &expect_answer!(answer, Ping)),
            StopStage::Confirming { stops } => self.on_stop_confirmed(cx, c, n, stops, expect_answer!(answer, Inspect)),
            StopStage::Verifying { failed, killed } => {
                self.on_stop_verified(cx, c, n, failed, killed, expect_answer!(answer, Inspect));
            }
            StopStage::Killing { failed } => self.on_killed(cx, c, failed, &expect_answer!(answer, Kill)),
        }
    }

    fn on_stopped(&mut self, cx: &mut Context<'_>, c: usize, n: u32, outcome: Outcome<()>) {
        match outcome {
            Outcome::Done(()) => self.look_after_stop(cx, c, n),
            Outcome::Gone => self.vanished(cx, c),
            Outcome::Unknown(lost) if is_away(&lost) => {
                let job = self.pause_away(cx, c, n, &lost);
                self.containers[c].work = Work::Stop { stage: StopStage::Stopping, job };
            }
            Outcome::Unknown(lost) => {
                let error = ContainerError::lost(ErrorName::CannotStopContainer, "stopped", &lost);
                let waited = match lost.cause {
                    LostCause::TimedOut(limit) => limit,
                    LostCause::Unreachable | LostCause::ConnectionLost | LostCause::Garbled => Duration::ZERO,
                };
                self.containers[c].grace_runs(cx.now.mono, waited);
                self.stop_failed(cx, c, n, error);
            }
            Outcome::Refused(Refusal { text, .. }) => {
                self.stop_failed(cx, c, n, ContainerError::new(ErrorName::CannotStopContainer, text));
            }
        }
    }

    /// The stop is a fact; the look brings the exit code. One that is out and began after the end does.
    fn look_after_stop(&mut self, cx: &mut Context<'_>, c: usize, stops: u32) {
        let stage = StopStage::Confirming { stops };
        match self.take_over_look(c, tells_of_an_end) {
            Some(id) => {
                let job = Job::asking(id, RequestKind::Inspect, 1);
                self.containers[c].work = Work::Stop { stage, job };
            }
            None => self.ask_whether_stopped(cx, c, stage, 1),
        }
    }

    fn stop_failed(&mut self, cx: &mut Context<'_>, c: usize, n: u32, error: ContainerError) {
        if n < cx.settings.stop_tries {
            let job = self.pause(cx, c, &cx.settings.stop_retry, n, error.text);
            self.containers[c].work = Work::Stop { stage: StopStage::Stopping, job };
        } else {
            self.ask_ping(cx, c, error);
        }
    }

    /// A runtime that does not answer proves nothing: the container keeps its status and the stop begins
    /// anew (E60).
    fn on_pinged(&mut self, cx: &mut Context<'_>, c: usize, failed: ContainerError, outcome: &Outcome<()>) {
        match outcome {
            Outcome::Done(()) => {
                self.ask_whether_stopped(cx, c, StopStage::Verifying { failed, killed: false }, 1);
            }
            Outcome::Unknown(lost) => {
                let job = self.pause_away(cx, c, 1, lost);
                self.containers[c].work = Work::Stop { stage: StopStage::Stopping, job };
            }
            Outcome::Refused(_) | Outcome::Gone => {
                let job = self.pause(cx, c, &cx.settings.stop_retry, 1, failed.text);
                self.containers[c].work = Work::Stop { stage: StopStage::Stopping, job };
            }
        }
    }

    fn on_stop_confirmed(
        &mut self,
        cx: &mut Context<'_>,
        c: usize,
        n: u32,
        stops: u32,
        outcome: Outcome<Box<ContainerFacts>>,
    ) {
        match outcome {
            // It was started after the stop was done, by a call of ours that came late or by somebody: it has
            // its grace like any other run.
            Outcome::Done(facts) if facts.phase == Phase::Running => {
                let runs = "Docker said it was stopped, but it runs";
                self.stop_failed(cx, c, stops, ContainerError::new(ErrorName::CannotStopContainer, runs));
            }
            Outcome::Done(facts) => self.finish(cx, c, &facts),
            Outcome::Gone => self.vanished(cx, c),
            Outcome::Unknown(lost) if is_away(&lost) => {
                let job = self.pause_away(cx, c, n, &lost);
                self.containers[c].work = Work::Stop { stage: StopStage::Confirming { stops }, job };
            }
            Outcome::Unknown(Lost { text, .. }) | Outcome::Refused(Refusal { text, .. })
                if n < cx.settings.look_tries =>
            {
                let job = self.pause(cx, c, &cx.settings.call_retry, n, text);
                self.containers[c].work = Work::Stop { stage: StopStage::Confirming { stops }, job };
            }
            // That it was stopped is a fact; only what an inspect would add is missing.
            Outcome::Unknown(Lost { text, .. }) | Outcome::Refused(Refusal { text, .. }) => {
                self.assume_stopped(cx, c, ContainerError::new(ErrorName::CannotInspectContainer, text));
            }
        }
    }

    fn on_stop_verified(
        &mut self,
        cx: &mut Context<'_>,
        c: usize,
        n: u32,
        failed: ContainerError,
        killed: bool,
        outcome: Outcome<Box<ContainerFacts>>,
    ) {
        match outcome {
            Outcome::Done(facts) if facts.phase != Phase::Running => self.finish(cx, c, &facts),
            Outcome::Gone => self.vanished(cx, c),
            Outcome::Unknown(lost) if is_away(&lost) => {
                let job = self.pause_away(cx, c, n, &lost);
                self.containers[c].work = Work::Stop { stage: StopStage::Verifying { failed, killed }, job };
            }
            Outcome::Done(_) | Outcome::Unknown(_) | Outcome::Refused(_) if killed => {
                self.assume_stopped(cx, c, failed);
            }
            Outcome::Done(_) | Outcome::Unknown(_) | Outcome::Refused(_) => self.kill_after_grace(cx, c, failed),
        }
    }

    /// The last resort, but not before its time: stop calls that were cut off in quick succession may have
    /// worked all the same, and the container may be using its grace (B-037).
    fn kill_after_grace(&mut self, cx: &mut Context<'_>, c: usize, failed: ContainerError) {
        let grace = if self.force { Duration::ZERO } else { self.stop_timeout(cx, c) };
        let over = self.containers[c].grace_from.map(|from| from.after(grace));
        match over.filter(|until| cx.now.mono < *until) {
            Some(until) => {
                let step = Step::Pausing { until, after: failed.text.clone(), away: false };
                let stage = StopStage::Verifying { failed, killed: false };
                self.containers[c].work = Work::Stop { stage, job: Job { step, attempt: 1 } };
            }
            None => self.ask_kill(cx, c, failed),
        }
    }

    /// A kill that certainly did not arrive is sent again; else the next look is the judge.
    fn on_killed(&mut self, cx: &mut Context<'_>, c: usize, failed: ContainerError, outcome: &Outcome<()>) {
        match outcome {
            Outcome::Unknown(lost) if is_away(lost) => {
                let job = self.pause_away(cx, c, 1, lost);
                self.containers[c].work = Work::Stop { stage: StopStage::Killing { failed }, job };
            }
            Outcome::Done(()) | Outcome::Refused(_) | Outcome::Gone | Outcome::Unknown(_) => {
                self.ask_whether_stopped(cx, c, StopStage::Verifying { failed, killed: true }, 1);
            }
        }
    }

    /// All that can be done was done: taken for stopped, so that nothing can wedge (engine.md 3.6.2, E59).
    fn assume_stopped(&mut self, cx: &Context<'_>, c: usize, error: ContainerError) {
        let told = self.told_exit_code(c);
        let container = &mut self.containers[c];
        container.exit_code = told.or(container.exit_code);
        self.record_error(c, error);
        self.set_known(cx.now, c, ContainerStatus::Stopped);
    }

    /// Asked again, with force: what still runs is killed beside the stop call that is out, once.
    pub(super) fn kill_what_runs(&mut self, cx: &mut Context<'_>) {
        for c in 0..self.containers.len() {
            let container = &mut self.containers[c];
            let stopping = match container.work {
                Work::Stop { stage: StopStage::Stopping, .. } => true,
                Work::Idle
                | Work::Pull { .. }
                | Work::Create { .. }
                | Work::Start { .. }
                | Work::Stop { .. }
                | Work::Remove { .. }
                | Work::Restore { .. } => false,
            };
            container.cut_grace_short(cx.now.mono);
            if stopping && !container.killed {
                container.killed = true;
                let container = self.stop_target(c);
                let id = cx.ids.next_id();
                let request = Request::Kill { container, signal: Signal::Kill };
                // Nobody waits for its answer: the stop call and the die event tell the end.
                self.emit(Action::Call { id, call: super::boxed(request, cx.settings.limits.kill) });
            }
        }
    }
}

impl Container {
    /// A stop call has been out for this long.
    fn grace_runs(&mut self, now: Mono, waited: Duration) {
        let from = Mono(now.0.saturating_sub(u64::try_from(waited.as_nanos()).unwrap_or(u64::MAX)));
        self.grace_from = Some(self.grace_from.map_or(from, |earlier| earlier.min(from)));
    }

    /// A last resort that waits for the grace to be over waits no longer.
    fn cut_grace_short(&mut self, now: Mono) {
        if let Work::Stop { stage: StopStage::Verifying { killed: false, .. }, job } = &mut self.work
            && let Step::Pausing { until, away: false, .. } = &mut job.step
        {
            *until = now.min(*until);
        }
    }
}

/// Whether what made us look happened after the end.
const fn tells_of_an_end(cause: Cause) -> bool {
    match cause {
        Cause::Died { .. } => true,
        Cause::Started | Cause::Differs | Cause::OutputEnded => false,
    }
}
