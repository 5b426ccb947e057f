//! The state machine of the host.

mod calls;
mod link;
mod orphans;
mod persist;
mod tasks;

pub use persist::TakeUpError;

use alloc::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    string::String,
    sync::Arc,
};

use lighterman_ids::{ActionId, ActionIds, DefinitionDigest, ImageRef, InstanceId, Moment, Mono, RuntimeId, TaskId};
use lighterman_task_manager::{Context, TaskEvent, TaskManager};
use lighterman_taskdef::TaskDefinition;
use lighterman_view::{HostView, TaskView};

use crate::{
    Action, Event, HostSettings, ImageState, RecordKey, SubmitError,
    engine::{calls::Calls, link::Link},
};

/// The state machine of the host: all tasks, the link to the runtime, and what they share
/// (engine.md 4).
///
/// Calling order: any number of [`handle_event`](Self::handle_event) and
/// [`handle_timeout`](Self::handle_timeout); then take what came out of them with
/// [`poll_action`](Self::poll_action), [`take_dirty`](Self::take_dirty), [`take_views`](Self::take_views),
/// [`take_host_view`](Self::take_host_view) and [`poll_refusal`](Self::poll_refusal). What comes out must not
/// leave before the records that [`take_dirty`](Self::take_dirty) names are durable: crate `turn` sees to that.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Engine {
    instance: InstanceId,
    settings: HostSettings,
    ids: ActionIds,
    seed: u64,
    tasks: BTreeMap<TaskId, TaskManager>,
    images: BTreeMap<ImageRef, ImageState>,
    /// Definitions that are at hand, for containers without a record (engine.md 4.11).
    definitions: BTreeMap<DefinitionDigest, Arc<TaskDefinition>>,
    /// Which task a container belongs to.
    routes: BTreeMap<RuntimeId, TaskId>,
    calls: Calls,
    link: Link,
    store: Store,
    closing: bool,
    actions: VecDeque<Action>,
    refusals: VecDeque<(TaskId, SubmitError)>,
    dirty: BTreeSet<RecordKey>,
    changed: BTreeSet<TaskId>,
    /// Last views of tasks that are gone.
    removed: VecDeque<TaskView>,
    host_changed: bool,
    /// Tasks that do more than linger, or try in vain what was tried for long.
    unfinished: BTreeSet<TaskId>,
    /// When each task wants to be woken, and the same the other way round.
    wake_at: BTreeMap<TaskId, Mono>,
    wakes: BTreeSet<(Mono, TaskId)>,
}

/// How it stands with the state store.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Store {
    Works,
    Fails { text: String, failures: u32, retry_at: Mono },
}

impl Engine {
    /// Takes in a fact or a wish and decides what follows from it.
    pub fn handle_event(&mut self, now: Moment, event: Event) {
        match event {
            Event::Submit(spec) => self.on_submit(now, *spec),
            Event::Stop { task, reason, force } => self.on_stop(now, &task, reason, force),
            Event::CleanUp(task) => self.tell(now, &task, TaskEvent::CleanUp),
            Event::OutputEnded { task, container } => self.tell(now, &task, TaskEvent::OutputEnded(container)),
            Event::Answer { id, answer } => self.on_answer(now, id, *answer),
            Event::NeverSent(id) => self.on_never_sent(now, id),
            Event::WatchOpened(id) => self.on_watch_opened(now, id),
            Event::Runtime { id, event } => self.on_runtime_event(now, id, event),
            Event::WatchLost { id, lost } => self.on_watch_lost(now, id, &lost),
            Event::EventsDropped => self.on_events_dropped(now),
            Event::StoreFailed(text) => self.on_store_failed(now, text),
            Event::StoreWorks => self.on_store_works(now),
            Event::Shutdown => self.on_shutdown(),
        }
        self.send_what_has_a_place();
    }

    /// Takes in that time has passed. The first call begins the work.
    pub fn handle_timeout(&mut self, now: Moment) {
        if self.closing {
            return;
        }
        self.drive_link(now);
        if self.link.is_ready() {
            self.wake_tasks(now);
        }
        self.send_what_has_a_place();
    }

    /// When [`handle_timeout`](Self::handle_timeout) has to be called at the latest.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Mono> {
        if self.closing {
            return None;
        }
        let tasks = self.wakes.first().map(|(at, _)| *at).filter(|_| self.link.is_ready());
        [tasks, self.link.deadline(&self.settings)].into_iter().flatten().min()
    }

    /// When a commit may be tried again; `None` while the store works.
    #[must_use]
    pub const fn poll_commit_time(&self) -> Option<Mono> {
        match &self.store {
            Store::Works => None,
            Store::Fails { retry_at, .. } => Some(*retry_at),
        }
    }

    /// The next decision, in the order in which they may leave.
    pub fn poll_action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    /// The next task that was not accepted, and why.
    pub fn poll_refusal(&mut self) -> Option<(TaskId, SubmitError)> {
        self.refusals.pop_front()
    }

    /// Views of the tasks that changed since the last call.
    pub fn take_views(&mut self, now: Moment) -> VecDeque<TaskView> {
        let mut views = core::mem::take(&mut self.removed);
        for id in core::mem::take(&mut self.changed) {
            views.extend(self.view(now, &id));
        }
        views
    }

    /// The host as it is, if that changed since the last call.
    pub fn take_host_view(&mut self) -> Option<HostView> {
        core::mem::take(&mut self.host_changed).then(|| self.host_view())
    }

    /// A task as it is now.
    #[must_use]
    pub fn view(&self, now: Moment, id: &TaskId) -> Option<TaskView> {
        let task = self.tasks.get(id)?;
        // Looking needs no ids; the generator is a copy that nobody sees.
        let mut ids = self.ids.clone();
        Some(task.view(&self.context(now, &mut ids)))
    }

    /// The tasks there are.
    pub fn tasks(&self) -> impl Iterator<Item = &TaskManager> {
        self.tasks.values()
    }

    /// Who owns what is created.
    #[must_use]
    pub const fn instance(&self) -> &InstanceId {
        &self.instance
    }

    /// Whether nothing is out and nothing is to be done: no task, or only tasks that wait for a create
    /// that was cut off and may still be carried out.
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        self.tasks.values().all(TaskManager::is_lingering)
    }

    /// Calls that are out or wait for a place.
    #[must_use]
    pub fn calls_in_progress(&self) -> usize {
        self.calls.len()
    }

    /// A definition that is at hand, should a container of it be found without a record.
    pub fn define(&mut self, digest: DefinitionDigest, definition: Arc<TaskDefinition>) {
        self.definitions.insert(digest, definition);
    }

    fn context<'a>(&'a self, now: Moment, ids: &'a mut ActionIds) -> Context<'a> {
        Context {
            now,
            ids,
            settings: &self.settings.task,
            instance: &self.instance,
            store_failing: self.store.failing(),
            awaited: self.link.awaited(&self.settings),
            closing: self.closing,
        }
    }

    fn on_shutdown(&mut self) {
        self.closing = true;
        self.host_changed = true;
        self.calls.drop_waiting_work();
        for id in self.calls.pulls() {
            self.cancel(id);
        }
    }

    fn cancel(&mut self, id: ActionId) {
        if self.calls.forget(id) {
            self.actions.push_back(Action::Cancel(id));
        }
    }
}

impl Store {
    fn failing(&self) -> Option<&str> {
        match self {
            Self::Works => None,
            Self::Fails { text, .. } => Some(text),
        }
    }
}
