//! Records: which changed, what stands in them, and taking them up again (engine.md 3.12, 4.11).

use alloc::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    vec::Vec,
};

use lighterman_ids::{ActionIds, InstanceId, Moment};
use lighterman_task_manager::{RestoreError, TaskManager, TaskSpec};

use super::{Engine, Store, calls::Calls, link::Link};
use crate::{HostSettings, HostState, Record, RecordKey, SavedState, SavedTask};

/// Why saved state cannot be taken up.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TakeUpError {
    /// It belongs to somebody else.
    #[error("the state belongs to instance {found}, not to {expected}")]
    OtherInstance {
        /// Whose it is.
        found: InstanceId,
        /// Whose it should be.
        expected: InstanceId,
    },
    /// The records of a task do not fit together.
    #[error("the records of task {task} do not fit together")]
    Task {
        /// Which.
        task: lighterman_ids::TaskId,
        /// How.
        source: RestoreError,
    },
}

impl Engine {
    /// The host as its records tell, under a new incarnation; a new host where there are none.
    ///
    /// `seed` gives jitter and grants no access. Call [`handle_timeout`](Self::handle_timeout) to begin.
    ///
    /// # Errors
    /// The state belongs to another instance, or its records do not fit together.
    pub fn take_up(
        settings: HostSettings,
        instance: InstanceId,
        saved: SavedState,
        seed: u64,
        now: Moment,
    ) -> Result<Self, TakeUpError> {
        let incarnation = match saved.host {
            None => 1,
            Some(host) if host.instance == instance => host.incarnation + 1,
            Some(host) => return Err(TakeUpError::OtherInstance { found: host.instance, expected: instance }),
        };
        let mut engine = Self {
            instance,
            settings,
            ids: ActionIds::new(incarnation),
            seed,
            tasks: BTreeMap::new(),
            images: saved.images,
            definitions: BTreeMap::new(),
            routes: BTreeMap::new(),
            calls: Calls::default(),
            link: Link::new(now),
            store: Store::Works,
            closing: false,
            actions: VecDeque::new(),
            refusals: VecDeque::new(),
            dirty: saved.strays,
            changed: BTreeSet::new(),
            removed: VecDeque::new(),
            host_changed: true,
            unfinished: BTreeSet::new(),
            wake_at: BTreeMap::new(),
            wakes: BTreeSet::new(),
        };
        for stray in &engine.dirty {
            tracing::warn!(record = ?stray, "a record belongs to no task; it is deleted");
        }
        engine.dirty.insert(RecordKey::Host);
        for task in saved.tasks {
            engine.take_up_task(task, now)?;
        }
        Ok(engine)
    }

    fn take_up_task(&mut self, saved: SavedTask, now: Moment) -> Result<(), TakeUpError> {
        let SavedTask { state, definition, containers } = saved;
        let id = state.id.clone();
        let spec = TaskSpec {
            id: id.clone(),
            arn: state.arn.clone(),
            definition,
            digest: state.digest.clone(),
            seed: state.seed,
        };
        let routes: Vec<_> = containers.iter().filter_map(|container| container.runtime_id.clone()).collect();
        let task = TaskManager::restore(spec, state, containers, now)
            .map_err(|source| TakeUpError::Task { task: id.clone(), source })?;
        self.routes.extend(routes.into_iter().map(|runtime_id| (runtime_id, id.clone())));
        self.changed.insert(id.clone());
        self.count_unfinished(&id, !task.is_lingering());
        self.tasks.insert(id, task);
        Ok(())
    }

    /// Which records changed since the last call. Their contents are asked for with [`record`](Self::record).
    pub fn take_dirty(&mut self) -> BTreeSet<RecordKey> {
        core::mem::take(&mut self.dirty)
    }

    /// The commit of these records failed: they are still to be written.
    pub fn give_back_dirty(&mut self, keys: BTreeSet<RecordKey>) {
        self.dirty.extend(keys);
    }

    /// Whether records wait to be written.
    #[must_use]
    pub fn is_dirty(&self) -> bool {
        !self.dirty.is_empty()
    }

    /// Readers were not shown these tasks after all: they are to be shown again.
    pub fn give_back_views(&mut self, tasks: impl IntoIterator<Item = lighterman_view::TaskView>) {
        let newer = core::mem::take(&mut self.removed);
        for view in tasks {
            if self.tasks.contains_key(&view.id) {
                self.changed.insert(view.id);
            } else {
                self.removed.push_back(view);
            }
        }
        self.removed.extend(newer);
    }

    /// What stands in the record now; `None`: it is to be deleted.
    #[must_use]
    pub fn record(&self, key: &RecordKey) -> Option<Record> {
        match key {
            RecordKey::Host => {
                Some(Record::Host(HostState { instance: self.instance.clone(), incarnation: self.ids.incarnation() }))
            }
            RecordKey::Definition(id) => {
                self.tasks.get(id).map(|task| Record::Definition(task.spec().definition.clone()))
            }
            RecordKey::Task(id) => self.tasks.get(id).map(|task| Record::Task(task.state())),
            RecordKey::Container(id, c) => {
                self.tasks.get(id).and_then(|task| task.container_state(*c)).map(Record::Container)
            }
            RecordKey::Image(image) => self.images.get(image).cloned().map(Record::Image),
        }
    }
}
