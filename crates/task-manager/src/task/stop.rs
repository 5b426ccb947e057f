//! RUNNING → STOPPED (engine.md 4.8.4, 3.6.2).

use alloc::boxed::Box;

use lighterman_calls::{Answer, ContainerFacts, ContainerTarget, Lost, Outcome, Phase, Refusal, Request, Signal};
use lighterman_status::ContainerStatus;

use super::{TaskManager, ask::is_away, expect_answer};
use crate::{
    Action, ContainerError, Context, ErrorName,
    container::{Cause, Look, StopStage, Work},
};

impl TaskManager {
    pub(super) fn begin_stop(&mut self, cx: &mut Context<'_>, c: usize) {
        self.containers[c].stopping = true;
        self.containers[c].killed = self.force;
        self.ask_stop(cx, c, 1);
    }

    pub(super) fn resume_stop(&mut self, cx: &mut Context<'_>, c: usize, stage: StopStage, attempt: u32) {
        match stage {
            StopStage::Stopping => self.ask_stop(cx, c, attempt),
            StopStage::Pinging { failed } => self.ask_ping(cx, c, failed),
            StopStage::Verifying { failed, killed } => self.ask_whether_stopped(cx, c, failed, killed),
            StopStage::Killing { failed } => self.ask_kill(cx, c, failed),
        }
    }

    fn ask_stop(&mut self, cx: &mut Context<'_>, c: usize, attempt: u32) {
        let Some(container) = self.containers[c].target() else {
            let error = ContainerError::new(ErrorName::CannotStopContainer, "the container has no name in Docker");
            self.record_error(c, error);
            return self.set_known(cx.now, c, ContainerStatus::Stopped);
        };
        let grace = if self.force { core::time::Duration::ZERO } else { self.stop_timeout(cx, c) };
        let limit = grace.saturating_add(cx.settings.limits.stop_margin);
        let job = self.ask_job(cx, Request::Stop { container, grace }, limit, attempt);
        self.containers[c].work = Work::Stop { stage: StopStage::Stopping, job };
    }

    fn ask_ping(&mut self, cx: &mut Context<'_>, c: usize, failed: ContainerError) {
        let job = self.ask_job(cx, Request::Ping, cx.settings.limits.ping, 1);
        self.containers[c].work = Work::Stop { stage: StopStage::Pinging { failed }, job };
    }

    fn ask_whether_stopped(&mut self, cx: &mut Context<'_>, c: usize, failed: ContainerError, killed: bool) {
        let target = self.stop_target(c);
        let job = self.ask_job(cx, Request::Inspect(target), cx.settings.limits.inspect, 1);
        self.containers[c].work = Work::Stop { stage: StopStage::Verifying { failed, killed }, job };
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
            StopStage::Verifying { failed, killed } => {
                self.on_stop_verified(cx, c, failed, killed, expect_answer!(answer, Inspect));
            }
            StopStage::Killing { failed } => {
                // Whatever the kill answered, the next look is the judge.
                let Answer::Kill(_) = answer else { panic!("an answer of kind {:?} to a kill", answer.kind()) };
                self.ask_whether_stopped(cx, c, failed, true);
            }
        }
    }

    fn on_stopped(&mut self, cx: &mut Context<'_>, c: usize, n: u32, outcome: Outcome<()>) {
        match outcome {
            Outcome::Done(()) => self.look_after_stop(cx, c),
            Outcome::Gone => self.vanished(cx, c),
            Outcome::Unknown(lost) if is_away(&lost) => {
                let job = self.pause_away(cx, c, n, &lost);
                self.containers[c].work = Work::Stop { stage: StopStage::Stopping, job };
            }
            Outcome::Unknown(lost) => {
                let error = ContainerError::lost(ErrorName::CannotStopContainer, "stopped", &lost);
                self.stop_failed(cx, c, n, error);
            }
            Outcome::Refused(Refusal { text, .. }) => {
                self.stop_failed(cx, c, n, ContainerError::new(ErrorName::CannotStopContainer, text));
            }
        }
    }

    /// The stop is a fact; the look brings the exit code. One that is out and began after the end does.
    fn look_after_stop(&mut self, cx: &mut Context<'_>, c: usize) {
        let failed = ContainerError::new(ErrorName::CannotStopContainer, "Docker said it was stopped, but it runs");
        match core::mem::replace(&mut self.containers[c].look, Look::None) {
            Look::Asking { id, again: None, cause: Cause::Died { .. }, .. } => {
                let job = crate::container::Job::asking(id, lighterman_calls::RequestKind::Inspect, 1);
                self.containers[c].work = Work::Stop { stage: StopStage::Verifying { failed, killed: false }, job };
            }
            Look::None | Look::Asking { .. } | Look::Pausing { .. } => self.ask_whether_stopped(cx, c, failed, false),
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
            Outcome::Done(()) => self.ask_whether_stopped(cx, c, failed, false),
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

    fn on_stop_verified(
        &mut self,
        cx: &mut Context<'_>,
        c: usize,
        failed: ContainerError,
        killed: bool,
        outcome: Outcome<Box<ContainerFacts>>,
    ) {
        match outcome {
            Outcome::Done(facts) if facts.phase == Phase::Running && !killed => self.ask_kill(cx, c, failed),
            Outcome::Done(facts) if facts.phase == Phase::Running => {
                // Killed and still shown as running: assumed stopped, so that nothing can wedge (E59).
                self.record_error(c, failed);
                self.set_known(cx.now, c, ContainerStatus::Stopped);
            }
            Outcome::Done(facts) => self.finish(cx, c, &facts),
            Outcome::Gone => self.vanished(cx, c),
            Outcome::Unknown(lost) if is_away(&lost) => {
                let job = self.pause_away(cx, c, 1, &lost);
                self.containers[c].work = Work::Stop { stage: StopStage::Verifying { failed, killed }, job };
            }
            Outcome::Unknown(Lost { .. }) | Outcome::Refused(_) if !killed => self.ask_kill(cx, c, failed),
            Outcome::Unknown(_) | Outcome::Refused(_) => {
                self.record_error(c, failed);
                self.set_known(cx.now, c, ContainerStatus::Stopped);
            }
        }
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
