//! The state machine of one task.

mod after_call;
mod ask;
mod create;
mod look;
mod observe;
mod order;
mod persist;
mod progress;
mod pull;
mod remove;
mod restore;
mod start;
mod stop;
mod view;

pub use restore::RestoreError;

use alloc::{boxed::Box, collections::VecDeque, string::String, sync::Arc, vec::Vec};

use lighterman_calls::Answer;
use lighterman_graph::{Graph, GraphError};
use lighterman_ids::{ActionId, DefinitionDigest, Moment, Mono, RuntimeId, TaskArn, TaskId};
use lighterman_status::TaskStatus;
use lighterman_taskdef::TaskDefinition;

use crate::{
    Action, Context, Dirty, TaskEvent,
    container::{Container, CreateStage, Look, Step, Work},
};

/// What a task is made from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TaskSpec {
    /// Its id.
    pub id: TaskId,
    /// Its ARN.
    pub arn: TaskArn,
    /// What to run.
    pub definition: Arc<TaskDefinition>,
    /// Digest of what the user wrote.
    pub digest: DefinitionDigest,
    /// Names and jitter are drawn from it; grants no access.
    pub seed: u64,
}

/// The state machine of one task: drives its containers NONE → PULLED → CREATED → RUNNING → STOPPED
/// and removes them (engine.md 3).
///
/// Calling order: any number of [`handle_event`](Self::handle_event) and
/// [`handle_timeout`](Self::handle_timeout), each followed by [`poll_action`](Self::poll_action) until it
/// is empty; then wait for an event or for [`poll_timeout`](Self::poll_timeout). `now` never runs
/// backwards within one boot.
///
/// Every action is answered once, by an event with its id. An answer to an action that is no longer
/// current is dropped. Known statuses move only by an event; desired ones only rise.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TaskManager {
    spec: TaskSpec,
    graph: Graph,
    known: TaskStatus,
    desired: TaskStatus,
    reason: Option<String>,
    accepted_at: Moment,
    known_at: Moment,
    execution_stopped_at: Option<Moment>,
    /// When clean-up of the stopped task begins; on the clock of this boot, so not persisted.
    cleanup_at: Option<Mono>,
    /// What still runs is to be killed rather than stopped.
    force: bool,
    /// The clean-up wait is cut short.
    cleanup_now: bool,
    containers: Vec<Container>,
    actions: VecDeque<Action>,
    dirty: Dirty,
    changed: bool,
}

impl TaskManager {
    /// Accepts a new task that is to run. The first progress follows from any event or from
    /// [`handle_timeout`](Self::handle_timeout).
    ///
    /// # Errors
    /// Its containers are not a graph.
    pub fn accept(spec: TaskSpec, now: Moment) -> Result<Self, GraphError> {
        let graph = Graph::build(order::plan(&spec.definition))?;
        let containers = &spec.definition.containers;
        let containers = containers.iter().map(|c| Container::new(c.name.clone(), c.essential, now)).collect();
        let mut task = Self {
            spec,
            graph,
            known: TaskStatus::None,
            desired: TaskStatus::Running,
            reason: None,
            accepted_at: now,
            known_at: now,
            execution_stopped_at: None,
            cleanup_at: None,
            force: false,
            cleanup_now: false,
            containers,
            actions: VecDeque::new(),
            dirty: Dirty::default(),
            changed: true,
        };
        task.derive(now);
        task.admit(now)?;
        task.mark_all();
        Ok(task)
    }

    /// Takes in a fact or a wish and decides what follows from it.
    pub fn handle_event(&mut self, cx: &mut Context<'_>, event: TaskEvent) {
        match event {
            TaskEvent::Answer { id, answer } => self.on_answer(cx, id, *answer),
            TaskEvent::NeverSent(id) => self.on_never_sent(cx, id),
            TaskEvent::Runtime(event) => self.on_runtime_event(cx, &event),
            TaskEvent::Listed(running) => self.on_listed(cx, &running),
            TaskEvent::Stop { reason, force } => self.on_stop(cx, reason, force),
            TaskEvent::CleanUp => self.cleanup_now = true,
            TaskEvent::OutputEnded(container) => self.on_output_ended(cx, &container),
            TaskEvent::Resume => {
                self.end_away_pauses(cx.now);
                self.look_once_more(cx);
            }
        }
        self.progress(cx);
    }

    /// Takes in that time has passed.
    pub fn handle_timeout(&mut self, cx: &mut Context<'_>) {
        if cx.closing {
            return;
        }
        for c in 0..self.containers.len() {
            self.resume_work(cx, c);
            self.resume_look(cx, c);
        }
        self.progress(cx);
    }

    /// The next decision, in the order in which they were made.
    pub fn poll_action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    /// When [`handle_timeout`](Self::handle_timeout) has to be called at the latest; `None`: only an event is awaited.
    #[must_use]
    pub fn poll_timeout(&self, cx: &Context<'_>) -> Option<Mono> {
        if cx.closing {
            return None;
        }
        let pauses = self.containers.iter().flat_map(Container::deadlines);
        pauses.chain(self.cleanup_due(cx)).chain(self.start_timeout(cx.now)).min()
    }

    /// Which records changed since the last call.
    pub fn take_dirty(&mut self) -> Dirty {
        core::mem::take(&mut self.dirty)
    }

    /// Whether what readers see changed since the last call.
    pub const fn take_changed(&mut self) -> bool {
        core::mem::replace(&mut self.changed, false)
    }

    /// What orders its containers.
    #[must_use]
    pub const fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Its id.
    #[must_use]
    pub const fn id(&self) -> &TaskId {
        &self.spec.id
    }

    /// What it is made from.
    #[must_use]
    pub const fn spec(&self) -> &TaskSpec {
        &self.spec
    }

    /// What is known of it.
    #[must_use]
    pub const fn known(&self) -> TaskStatus {
        self.known
    }

    /// Where it should go.
    #[must_use]
    pub const fn desired(&self) -> TaskStatus {
        self.desired
    }

    /// Whether all its containers are gone from the runtime, so that its records may go too.
    #[must_use]
    pub fn is_removed(&self) -> bool {
        self.known.is_terminal() && self.containers.iter().all(|container| container.removed)
    }

    /// Whether all that is left of it is to watch for create calls that were cut off: nothing of it is in
    /// the runtime, but its records must stay until those calls cannot be carried out any more.
    #[must_use]
    pub fn is_lingering(&self) -> bool {
        self.known.is_terminal() && self.containers.iter().all(|container| container.removed || container.is_watching())
    }

    /// Whether all that is left of it is what the runtime did not remove for long. It is tried on, but nobody need
    /// wait for it.
    #[must_use]
    pub fn is_kept(&self) -> bool {
        let is_settled = |c: &Container| c.removed || c.kept.is_some() || c.is_watching();
        let any = self.containers.iter().any(|container| container.kept.is_some());
        self.known.is_terminal() && any && self.containers.iter().all(is_settled)
    }

    /// Whether an answer to this action is still waited for.
    #[must_use]
    pub fn awaits(&self, id: ActionId) -> bool {
        self.containers.iter().any(|container| container.waits_for(id))
    }

    /// Whether a container has this id in the runtime.
    #[must_use]
    pub fn has_runtime_id(&self, id: &RuntimeId) -> bool {
        self.index_of_runtime_id(id).is_some()
    }

    fn index_of_runtime_id(&self, id: &RuntimeId) -> Option<usize> {
        self.containers.iter().position(|container| container.runtime_id.as_ref() == Some(id))
    }

    fn on_stop(&mut self, cx: &mut Context<'_>, reason: Option<String>, force: bool) {
        if force && !self.force {
            self.force = true;
            self.mark_task();
        }
        if self.desired.is_terminal() {
            return;
        }
        self.desired = TaskStatus::Stopped;
        if let Some(reason) = reason {
            self.give_reason(reason);
        }
        self.mark_task();
        self.derive(cx.now);
    }

    /// Hands an answer to the work that waits for it; nobody waiting is an answer that came too late.
    fn on_answer(&mut self, cx: &mut Context<'_>, id: ActionId, answer: Answer) {
        let Some(c) = self.containers.iter().position(|container| container.waits_for(id)) else {
            tracing::debug!(action.id = %id, task.id = %self.spec.id, "answer to an action that is no longer current");
            return;
        };
        let container = &mut self.containers[c];
        if container.late_start == Some(id) {
            container.late_start = None;
            self.on_late_start(cx, c, answer);
        } else if container.late_create == Some(id) {
            container.late_create = None;
            self.on_late_create(cx, c, answer);
        } else if container.work.asked() == Some(id) {
            self.on_work_answer(cx, c, answer);
        } else {
            self.on_look_answer(cx, c, answer);
        }
    }

    fn on_work_answer(&mut self, cx: &mut Context<'_>, c: usize, answer: Answer) {
        let work = core::mem::replace(&mut self.containers[c].work, Work::Idle);
        self.touch(c, cx.now);
        match work {
            Work::Idle => {}
            Work::Pull { stage, job } => self.on_pull_answer(cx, c, stage, job.attempt, answer),
            Work::Create { stage, job } => self.on_create_answer(cx, c, stage, job.attempt, answer),
            Work::Start { stage, job } => self.on_start_answer(cx, c, stage, job.attempt, answer),
            Work::Stop { stage, job } => self.on_stop_answer(cx, c, stage, job.attempt, answer),
            Work::Remove { stage, job } => self.on_remove_answer(cx, c, stage, job.attempt, answer),
            Work::Restore { job } => self.on_restore_answer(cx, c, job.attempt, answer),
        }
        self.look_behind(cx, c);
    }

    /// The action had no effect: the work is decided again.
    fn on_never_sent(&mut self, cx: &mut Context<'_>, id: ActionId) {
        let Some(c) = self.containers.iter().position(|container| container.waits_for(id)) else { return };
        let container = &mut self.containers[c];
        if container.late_start == Some(id) {
            container.late_start = None;
        } else if container.late_create == Some(id) {
            container.late_create = None;
            container.create_sent = None;
        } else if container.work.asked() == Some(id) {
            let was = core::mem::replace(&mut container.work, Work::Idle);
            match was {
                Work::Create { stage: CreateStage::Creating, .. } => container.create_sent = None,
                Work::Restore { .. } => container.work = was.paused(cx.now.mono),
                Work::Idle
                | Work::Pull { .. }
                | Work::Create { .. }
                | Work::Start { .. }
                | Work::Stop { .. }
                | Work::Remove { .. } => {}
            }
        } else {
            container.look = core::mem::replace(&mut container.look, Look::None).paused(cx.now.mono);
        }
        self.look_behind(cx, c);
        self.mark(c);
        self.touch(c, cx.now);
    }

    /// Waits that stand for the runtime or the store are over.
    fn end_away_pauses(&mut self, now: Moment) {
        for container in &mut self.containers {
            if let Some(Step::Pausing { until, away: true, .. }) = container.work.job_mut().map(|job| &mut job.step) {
                *until = now.mono;
                self.changed = true;
            }
            if let Look::Pausing { until, away: true, .. } = &mut container.look {
                *until = now.mono;
            }
        }
    }

    fn emit(&mut self, action: Action) {
        self.actions.push_back(action);
    }

    fn cancel(&mut self, id: ActionId) {
        self.emit(Action::Cancel(id));
    }

    /// First wins; white space collapsed, first letter upper case, empty text ignored (engine.md 8).
    fn give_reason(&mut self, text: impl AsRef<str>) {
        let words: Vec<&str> = text.as_ref().split_whitespace().collect();
        let text = words.join(" ");
        let mut letters = text.chars();
        if let (None, Some(first)) = (&self.reason, letters.next()) {
            self.reason = Some(first.to_uppercase().chain(letters).collect());
            self.mark_task();
        }
    }

    const fn mark_task(&mut self) {
        self.dirty.task = true;
        self.changed = true;
    }

    fn mark(&mut self, c: usize) {
        self.dirty.containers.insert(c);
        self.changed = true;
    }

    fn mark_all(&mut self) {
        self.mark_task();
        (0..self.containers.len()).for_each(|c| self.mark(c));
    }

    /// The work of a container moved: readers see a new wait.
    fn touch(&mut self, c: usize, now: Moment) {
        self.containers[c].since = now;
        self.changed = true;
    }

    fn definition_of(&self, c: usize) -> &lighterman_taskdef::ContainerDefinition {
        &self.spec.definition.containers[c]
    }

    fn stop_timeout(&self, cx: &Context<'_>, c: usize) -> core::time::Duration {
        self.definition_of(c).stop_timeout.unwrap_or(cx.settings.stop_timeout)
    }
}

/// The inside of an answer of the expected kind. Anything else is a driver that mixed up its answers.
macro_rules! expect_answer {
    ($answer:expr, $kind:ident) => {
        match $answer {
            Answer::$kind(outcome) => outcome,
            other => panic!("an answer of kind {:?} to a call of kind {}", other.kind(), stringify!($kind)),
        }
    };
}
use expect_answer;

/// Boxes a call for an action.
fn boxed(request: lighterman_calls::Request, limit: core::time::Duration) -> Box<lighterman_calls::Call> {
    Box::new(lighterman_calls::Call { request, limit })
}
