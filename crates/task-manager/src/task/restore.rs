//! Taking a task up again after a restart (engine.md 4.11). Nothing is sent again; it is decided again.

use alloc::{collections::VecDeque, vec::Vec};

use lighterman_calls::{Answer, Lost, Outcome, Refusal, Request};
use lighterman_graph::GraphError;
use lighterman_ids::Moment;
use lighterman_status::ContainerStatus;

use super::{TaskManager, TaskSpec, ask::is_away, expect_answer};
use crate::{
    ContainerState, Context, Dirty, TaskState,
    container::{Container, Job, Step, Work},
};

/// Why records do not make a task.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RestoreError {
    /// Its containers are not a graph.
    #[error(transparent)]
    Graph(#[from] GraphError),
    /// There is a record of a container that is not in the definition.
    #[error("there is a record of container {0}, which is not in the definition")]
    UnknownContainer(lighterman_ids::ContainerName),
}

impl TaskManager {
    /// The task as its records tell. What may stand in the runtime is looked at first; call
    /// [`handle_timeout`](Self::handle_timeout) to begin.
    ///
    /// A container without a record has not left NONE.
    ///
    /// # Errors
    /// The records do not fit the definition.
    pub fn restore(
        spec: TaskSpec,
        state: TaskState,
        containers: Vec<ContainerState>,
        now: Moment,
    ) -> Result<Self, RestoreError> {
        let mut task = Self::accept(spec, now).map_err(RestoreError::Graph)?;
        task.known = state.known;
        task.desired = state.desired;
        task.reason = state.reason;
        task.accepted_at = state.accepted_at;
        task.known_at = state.known_at;
        task.execution_stopped_at = state.execution_stopped_at;
        for saved in containers {
            let known = |container: &Container| container.name == saved.name;
            let Some(c) = task.containers.iter().position(known) else {
                return Err(RestoreError::UnknownContainer(saved.name));
            };
            task.containers[c].restore(saved, now);
        }
        task.actions = VecDeque::new();
        task.dirty = Dirty::default();
        task.derive(now);
        Ok(task)
    }

    /// Whether a container has not been looked at since the restart.
    #[must_use]
    pub fn is_restoring(&self) -> bool {
        self.containers.iter().any(|container| matches!(container.work, Work::Restore { .. }))
    }

    pub(super) fn ask_restore(&mut self, cx: &mut Context<'_>, c: usize, attempt: u32) {
        let target = self.containers[c].target().expect("only what has a name is looked at");
        self.take_over_look(c, |_| false);
        let job = self.ask_job(cx, Request::Inspect(target), cx.settings.limits.inspect, attempt);
        self.containers[c].work = Work::Restore { job };
    }

    pub(super) fn on_restore_answer(&mut self, cx: &mut Context<'_>, c: usize, n: u32, answer: Answer) {
        let by_name = self.containers[c].runtime_id.is_none();
        match expect_answer!(answer, Inspect) {
            Outcome::Done(facts) if by_name && !self.is_ours(cx, c, &facts) => {
                // Somebody else's: the name is chosen anew when it is needed.
                let container = &mut self.containers[c];
                container.runtime_name = None;
                container.create_sent = None;
                self.mark(c);
            }
            Outcome::Done(facts) => {
                if by_name {
                    self.adopt_found(c, facts.id.clone());
                    if self.containers[c].is_before(ContainerStatus::Created) {
                        self.set_known(cx.now, c, ContainerStatus::Created);
                    }
                }
                self.mark(c);
                if by_name { self.observe_adopted(cx, c, &facts) } else { self.observe(cx, c, &facts) }
            }
            // R2: it was not created, or not yet; R4: it was there, and is not any more.
            Outcome::Gone if by_name => {}
            Outcome::Gone => self.vanished(cx, c),
            Outcome::Unknown(lost) if is_away(&lost) => {
                let job = self.pause_away(cx, c, n, &lost);
                self.containers[c].work = Work::Restore { job };
            }
            Outcome::Unknown(Lost { text, .. }) | Outcome::Refused(Refusal { text, .. }) => {
                if n < cx.settings.look_tries {
                    let job = self.pause(cx, c, &cx.settings.call_retry, n, text);
                    self.containers[c].work = Work::Restore { job };
                } else if self.containers[c].known == ContainerStatus::Created {
                    // A start may have been under way: started again it would run twice (B-017), taken for
                    // stopped its end would be lost. No list tells created and ended apart.
                    let job = self.pause(cx, c, &cx.settings.late_create_retry, n, text);
                    self.containers[c].work = Work::Restore { job };
                }
                // R4b: else the last known status is kept and the re-check decides.
            }
        }
    }
}

impl Container {
    fn restore(&mut self, saved: ContainerState, now: Moment) {
        // Taken apart, so that the compiler names this place once there is one more.
        let ContainerState {
            name: _,
            known,
            desired,
            runtime_name,
            runtime_id,
            create_sent,
            create_doubt,
            renamed,
            exit_code,
            error,
            started_at,
            finished_at,
            run,
            restopped,
            removed,
        } = saved;
        self.known = known;
        self.desired = desired;
        self.runtime_name = runtime_name;
        self.runtime_id = runtime_id;
        self.create_sent = create_sent;
        self.create_doubt = create_doubt;
        self.renamed = renamed;
        self.exit_code = exit_code;
        self.error = error;
        self.started_at = started_at;
        self.finished_at = finished_at;
        self.run = run;
        self.restopped = restopped;
        self.removed = removed;
        // A stop was wanted before the restart: what it did to the container is no news now.
        self.stopping = self.desired.is_terminal();
        let may_stand = self.target().is_some() && !self.known.is_terminal();
        if may_stand {
            let step = Step::Pausing { until: now.mono, after: "the restart".into(), away: false };
            self.work = Work::Restore { job: Job { step, attempt: 1 } };
        }
    }
}
