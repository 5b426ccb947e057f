//! The progress round: what may be done for each container now (engine.md 3.7).

use lighterman_graph::{Readiness, Step};
use lighterman_ids::Moment;
use lighterman_status::{
    ContainerStatus, Member, SteadyState, TaskKnown, container_desired_from, task_known_from, task_must_stop,
};

use super::TaskManager;
use crate::{
    Context,
    container::{CreateStage, Look, Work},
};

impl TaskManager {
    /// Rounds until nothing more can be begun: a step that needs no call opens the next one at once.
    pub(super) fn progress(&mut self, cx: &mut Context<'_>) {
        if cx.closing {
            return;
        }
        while self.round(cx) {}
        self.clean_up(cx);
    }

    /// Starts every step that may be taken, all side by side. `true` when a status changed.
    fn round(&mut self, cx: &mut Context<'_>) -> bool {
        let mut moved = false;
        for (c, readiness) in self.readiness(cx.now).into_iter().enumerate() {
            match readiness {
                Readiness::PastDesired | Readiness::Blocked(_) => {}
                Readiness::Ready(step) => moved |= self.take(cx, c, step),
                // What the dependency has come to meanwhile is not known yet.
                Readiness::Fatal(_) if cx.awaited.is_some() || self.is_restoring() => {}
                Readiness::Fatal(fatal) => {
                    // The answers for those behind it may be out of date.
                    self.give_up(cx.now, c, &fatal);
                    return true;
                }
            }
        }
        if self.force {
            self.kill_what_runs(cx);
        }
        moved
    }

    fn take(&mut self, cx: &mut Context<'_>, c: usize, step: Step) -> bool {
        match self.containers[c].work {
            // What stood in the runtime at the restart is looked at before anything is decided.
            Work::Restore { .. } => return false,
            // A stop is under way to make sure: it ends in the same status.
            Work::Stop { .. } => return false,
            Work::Idle | Work::Pull { .. } | Work::Create { .. } | Work::Start { .. } | Work::Remove { .. } => {}
        }
        if cx.store_failing.is_some() && is_creating(step) || cx.awaited.is_some() && needs_runtime(step) {
            return false;
        }
        self.touch(c, cx.now);
        match step {
            Step::ResolveDigest | Step::Pull => self.begin_pull(cx, c),
            Step::Create => self.begin_create(cx, c),
            Step::Start => self.begin_start(cx, c),
            Step::Stop => self.begin_stop(cx, c),
            Step::MarkStopped => {
                self.abandon_work(c);
                self.set_known(cx.now, c, ContainerStatus::Stopped);
            }
            Step::Provision => unreachable!("no container of this version has a network of its own"),
        }
        !matches!(step, Step::Stop)
    }

    /// Gives up a pull, or a create whose late result is redundant (engine.md 3.7.2).
    fn abandon_work(&mut self, c: usize) {
        let container = &mut self.containers[c];
        let asked = container.work.asked();
        match core::mem::replace(&mut container.work, Work::Idle) {
            Work::Create { stage: CreateStage::Creating, .. } => container.late_create = asked,
            Work::Idle
            | Work::Pull { .. }
            | Work::Create { .. }
            | Work::Start { .. }
            | Work::Stop { .. }
            | Work::Remove { .. }
            | Work::Restore { .. } => {
                if let Some(id) = asked {
                    self.cancel(id);
                }
            }
        }
    }

    /// Sets a known status and all that follows from it (CC-7 to CC-13).
    pub(super) fn set_known(&mut self, now: Moment, c: usize, known: ContainerStatus) {
        let container = &mut self.containers[c];
        tracing::info!(
            task.id = %self.spec.id, container.name = %container.name,
            status.known = known.as_str(), status.desired = container.desired.as_str(), "container status"
        );
        container.known = known;
        container.since = now;
        if known.is_terminal() {
            container.desired = ContainerStatus::Stopped;
            container.look = Look::None;
            if container.essential && self.execution_stopped_at.is_none() {
                self.execution_stopped_at = Some(now);
                self.mark_task();
            }
        }
        self.mark(c);
        self.derive(now);
    }

    /// Statuses that follow from those of the containers (engine.md 1.10, 1.11).
    pub(super) fn derive(&mut self, now: Moment) {
        if let TaskKnown::Risen(known) = task_known_from(self.known, self.members()) {
            tracing::info!(
                task.id = %self.spec.id, status.known = known.as_str(), status.desired = self.desired.as_str(), "task status"
            );
            self.known = known;
            self.known_at = now;
            self.mark_task();
        }
        if let Some(cause) = task_must_stop(self.desired, self.members()) {
            self.desired = lighterman_status::TaskStatus::Stopped;
            if let Some(reason) = cause.reason() {
                self.give_reason(reason);
            }
            self.mark_task();
        }
        for c in 0..self.containers.len() {
            let container = &self.containers[c];
            let desired = container_desired_from(container.desired, self.desired, SteadyState::Running);
            if desired != container.desired {
                self.containers[c].desired = desired;
                self.mark(c);
            }
        }
    }

    fn members(&self) -> impl Iterator<Item = Member> {
        self.containers.iter().map(crate::container::Container::member)
    }
}

/// Whether the step asks the runtime, which waits until nothing it causes is missed.
const fn needs_runtime(step: Step) -> bool {
    match step {
        Step::ResolveDigest | Step::Pull | Step::Create | Step::Start | Step::Provision | Step::Stop => true,
        Step::MarkStopped => false,
    }
}

/// Whether the step brings something into the world, which waits while the store fails (design.md R1).
const fn is_creating(step: Step) -> bool {
    match step {
        Step::ResolveDigest | Step::Pull | Step::Create | Step::Start | Step::Provision => true,
        Step::Stop | Step::MarkStopped => false,
    }
}
