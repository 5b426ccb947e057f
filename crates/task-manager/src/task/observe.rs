//! What an inspect means for a container (engine.md 3.5).

use lighterman_calls::{ContainerFacts, HealthWord, Phase, labels};
use lighterman_status::{ContainerStatus, Health};
use lighterman_view::Restarted;

use super::TaskManager;
use crate::{
    ContainerError, Context, ErrorName,
    container::{Look, Work},
};

/// The exit code of a process that was killed.
const KILLED: i32 = 137;

impl TaskManager {
    /// Takes in what a look showed. Facts about another container are dropped.
    pub(super) fn observe(&mut self, cx: &mut Context<'_>, c: usize, facts: &ContainerFacts) {
        let container = &self.containers[c];
        let other = container.runtime_id.as_ref().is_some_and(|id| *id != facts.id);
        if other {
            return;
        }
        self.note_run(c, facts);
        match (facts.phase, self.containers[c].known) {
            (Phase::Running, ContainerStatus::Stopped) => self.came_back(cx, c),
            (Phase::Running, ContainerStatus::Running | ContainerStatus::ResourcesProvisioned) => {
                self.note_health(c, facts)
            }
            (
                Phase::Running,
                ContainerStatus::None
                | ContainerStatus::ManifestPulled
                | ContainerStatus::Pulled
                | ContainerStatus::Created,
            ) => {
                self.end_start(c);
                self.note_health(c, facts);
                self.set_known(cx.now, c, ContainerStatus::Running);
            }
            (Phase::Created, ContainerStatus::None | ContainerStatus::ManifestPulled | ContainerStatus::Pulled) => {
                self.set_known(cx.now, c, ContainerStatus::Created);
            }
            (
                Phase::Created,
                ContainerStatus::Created
                | ContainerStatus::Running
                | ContainerStatus::ResourcesProvisioned
                | ContainerStatus::Stopped,
            )
            | (Phase::Exited { .. } | Phase::Dead { .. }, ContainerStatus::Stopped) => {}
            (
                Phase::Exited { .. } | Phase::Dead { .. },
                ContainerStatus::None
                | ContainerStatus::ManifestPulled
                | ContainerStatus::Pulled
                | ContainerStatus::Created
                | ContainerStatus::Running
                | ContainerStatus::ResourcesProvisioned,
            ) => self.finish(cx, c, facts),
        }
    }

    /// The container has ended, or will never run.
    pub(super) fn finish(&mut self, cx: &Context<'_>, c: usize, facts: &ContainerFacts) {
        self.end_start(c);
        self.note_run(c, facts);
        let code = match facts.phase {
            Phase::Exited { code } => code,
            // Where the runtime does not say it any more, the event has told how it ended (engine.md 4.10).
            Phase::Dead { code } => code.or_else(|| self.told_exit_code(c)),
            Phase::Created | Phase::Running => None,
        };
        let container = &mut self.containers[c];
        // Whoever starts it after its end does not change how it ended.
        if !container.known.is_terminal() {
            container.finished_at = facts.finished_at.or(container.finished_at);
            container.exit_code = code.or(container.exit_code);
            if let Some(error) = error_of(facts, container.stopping) {
                self.record_error(c, error);
            }
        }
        self.containers[c].work = Work::Idle;
        self.set_known(cx.now, c, ContainerStatus::Stopped);
    }

    /// The runtime does not know the container any more, and it was not us (B-001). No exit code is made up.
    pub(super) fn vanished(&mut self, cx: &Context<'_>, c: usize) {
        if self.containers[c].known.is_terminal() {
            return;
        }
        let text = "the container no longer exists in Docker";
        self.record_error(c, ContainerError::new(ErrorName::ContainerVanished, text));
        self.end_start(c);
        self.containers[c].work = Work::Idle;
        self.set_known(cx.now, c, ContainerStatus::Stopped);
    }

    /// A transition failed: known stays, the container is to stop, and with it the task if it is essential.
    pub(super) fn fail(&mut self, now: lighterman_ids::Moment, c: usize, error: ContainerError) {
        self.containers[c].work = Work::Idle;
        self.blame(now, c, error);
    }

    /// The same, without touching the work in progress.
    pub(super) fn blame(&mut self, now: lighterman_ids::Moment, c: usize, error: ContainerError) {
        self.record_error(c, error);
        let container = &mut self.containers[c];
        container.desired = ContainerStatus::Stopped;
        if container.essential
            && let Some(error) = container.error.clone()
            && !self.desired.is_terminal()
        {
            self.give_reason(alloc::format!("{error}"));
        }
        self.mark(c);
        self.derive(now);
    }

    /// The first error wins (engine.md 3.6.1).
    pub(super) fn record_error(&mut self, c: usize, error: ContainerError) {
        let container = &mut self.containers[c];
        tracing::warn!(task.id = %self.spec.id, container.name = %container.name, error = %error, "container error");
        container.error.get_or_insert(error);
        self.mark(c);
    }

    /// It was seen to have started, so the start call that is out is overtaken (AP-5).
    pub(super) fn end_start(&mut self, c: usize) {
        let container = &mut self.containers[c];
        let asked = container.work.asked();
        if let Work::Start { stage, .. } = &container.work {
            let starting = matches!(stage, crate::container::StartStage::Starting);
            container.work = Work::Idle;
            if let (true, Some(id)) = (starting, asked) {
                self.start_overtaken(c, id);
            }
        }
    }

    /// It had stopped and runs again: somebody started it. It is stopped once; a second time somebody
    /// wants it to run (CC-2).
    fn came_back(&mut self, cx: &mut Context<'_>, c: usize) {
        let container = &mut self.containers[c];
        if !container.restopped && matches!(container.work, Work::Idle) {
            container.restopped = true;
            self.mark(c);
            self.begin_stop(cx, c);
        }
    }

    fn note_run(&mut self, c: usize, facts: &ContainerFacts) {
        let container = &mut self.containers[c];
        let run = facts.started_at.or(container.run);
        let new_run = run != container.run;
        let was_restarted = new_run && container.run.is_some() && container.known.is_running();
        container.run = run;
        container.started_at = container.started_at.or(run);
        // Ports are set once per run (3.5.2).
        let new_ports = (new_run || container.ports.is_empty()) && !facts.ports.is_empty();
        if new_ports && container.ports != facts.ports {
            container.ports.clone_from(&facts.ports);
            self.changed = true;
        }
        if was_restarted {
            self.note_restart(c);
        }
        if new_run {
            self.mark(c);
        }
    }

    /// Somebody, or a restart policy that somebody gave it, started it again before its end was looked at: the task
    /// goes on, and how the run before ended is known from the event, if it came.
    fn note_restart(&mut self, c: usize) {
        let container = &mut self.containers[c];
        let exit_code = container.last_end.take();
        let times = container.restarted.map_or(0, |restarted| restarted.times) + 1;
        container.restarted = Some(Restarted { times, exit_code });
        tracing::warn!(
            task.id = %self.spec.id, container.name = %container.name, times, container.exit_code = ?exit_code,
            "the container was restarted, and not by us"
        );
    }

    /// Health exists only with a check of the definition, and a stop says nothing about it (1.7, B-104).
    fn note_health(&mut self, c: usize, facts: &ContainerFacts) {
        if self.definition_of(c).health_check.is_none() || self.containers[c].stopping {
            return;
        }
        let health = facts.health.as_ref().map_or(Health::Unknown, |health| match &health.word {
            HealthWord::Healthy => Health::Healthy,
            HealthWord::Unhealthy => Health::Unhealthy,
            HealthWord::Starting | HealthWord::Unrecognized(_) => Health::Unknown,
        });
        if self.containers[c].health != health {
            self.containers[c].health = health;
            self.changed = true;
        }
    }

    /// Whether what was found by the name that we chose carries our own labels too (design.md R10).
    pub(super) fn is_ours(&self, cx: &Context<'_>, c: usize, facts: &ContainerFacts) -> bool {
        let has = |key, value: &str| facts.labels.get(key).is_some_and(|found| found == value);
        has(labels::INSTANCE, cx.instance.as_str())
            && has(labels::TASK, self.spec.id.as_str())
            && has(labels::CONTAINER, self.containers[c].name.as_str())
    }

    /// Forgets a look that is out; its answer is dropped.
    pub(super) fn drop_look(&mut self, c: usize) {
        self.containers[c].look = Look::None;
    }
}

/// What the end of a container says beyond its exit code. The out-of-memory mark alone proves nothing:
/// the engine sets it when a child was killed, even when the main process exits 0 or is stopped later
/// (B-060, seen on 20.10).
fn error_of(facts: &ContainerFacts, stopping: bool) -> Option<ContainerError> {
    if facts.oom_killed && !stopping && facts.phase == (Phase::Exited { code: Some(KILLED) }) {
        return Some(ContainerError::new(ErrorName::OutOfMemory, "Container killed due to memory usage"));
    }
    if matches!(facts.phase, Phase::Dead { .. }) && !stopping {
        let text = "the container is being removed from Docker, and not by us";
        return Some(ContainerError::new(ErrorName::ContainerVanished, text));
    }
    (!facts.error.is_empty()).then(|| ContainerError::new(ErrorName::DockerState, &*facts.error))
}
