//! What is true of every container that ever was, whatever the engine under test, or even the runtime, believes.

use std::collections::{BTreeMap, BTreeSet};

use lighterman_calls::{ExitCode, labels};
use lighterman_ids::{InstanceId, RuntimeId, RuntimeName, TaskId};
use lighterman_runtime_model::{Glance, Model};

use crate::clock::At;

/// Every container of the run, the removed ones too.
#[derive(Clone, Debug, Default)]
pub(crate) struct Truth {
    all: BTreeMap<RuntimeId, Real>,
    /// Counts looks; what an earlier one saw last is gone.
    looks: u64,
}

/// One container.
#[derive(Clone, Debug)]
pub(crate) struct Real {
    /// Its name.
    pub(crate) name: RuntimeName,
    /// Whose it is.
    pub(crate) owner: Owner,
    /// How often it was started.
    pub(crate) starts: u64,
    /// Its process is alive.
    pub(crate) alive: bool,
    /// Codes with which its runs ended.
    pub(crate) codes: BTreeSet<ExitCode>,
    /// When it was last seen to end.
    pub(crate) ended_at: Option<At>,
    /// When it last started or ended, or was first seen.
    pub(crate) changed_at: At,
    /// It is not there any more.
    pub(crate) gone: bool,
    /// What others did to it.
    pub(crate) marks: Marks,
    seen_in: u64,
}

/// Whose a container is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Owner {
    /// Of the instance under test.
    Ours {
        /// Its task.
        task: TaskId,
        /// Its name in the definition.
        container: String,
    },
    /// Of somebody else.
    Foreign,
}

/// What others did to a container.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Marks {
    /// Somebody killed it, or the kernel did.
    pub(crate) killed: bool,
    /// Somebody removed it.
    pub(crate) removed: bool,
    /// How often somebody restarted it.
    pub(crate) restarts: u64,
    /// The runtime went away or came back while it ran, and may have ended it.
    pub(crate) swept: bool,
}

/// How the names begin that somebody gives who runs an image made of a container of ours, with all its labels.
pub(crate) const COPY: &str = "copy-";

impl Truth {
    /// Takes in how things are now. `true` when something is different.
    pub(crate) fn look(&mut self, now: At, model: &Model, instance: &InstanceId) -> bool {
        self.looks += 1;
        let mut moved = false;
        for glance in model.census() {
            moved |= self.look_at(now, &glance, instance);
        }
        for real in self.all.values_mut().filter(|real| !real.gone && real.seen_in != self.looks) {
            moved = true;
            real.gone = true;
            real.changed_at = now;
            if core::mem::take(&mut real.alive) {
                real.ended_at = Some(now);
            }
        }
        moved
    }

    fn look_at(&mut self, now: At, glance: &Glance<'_>, instance: &InstanceId) -> bool {
        let looks = self.looks;
        let Some(real) = self.all.get_mut(glance.id) else {
            self.all.insert(glance.id.clone(), Real::new(now, glance, instance, looks));
            return true;
        };
        real.seen_in = looks;
        let ended = real.alive && !glance.alive;
        let moved = ended || glance.alive != real.alive || glance.starts != real.starts;
        if moved {
            real.changed_at = now;
        }
        if ended || (glance.starts > real.starts && !glance.alive) {
            real.ended_at = Some(now);
        }
        if let Some(code) = glance.exit_code {
            real.codes.insert(code);
        }
        real.starts = glance.starts;
        real.alive = glance.alive;
        moved
    }

    /// The runtime itself tells that a run ended with this code.
    pub(crate) fn heard_end(&mut self, id: &RuntimeId, code: Option<ExitCode>) {
        if let Some(real) = self.all.get_mut(id) {
            real.codes.extend(code);
        }
    }

    /// Somebody does something to a container.
    pub(crate) fn mark(&mut self, id: &RuntimeId, mark: impl FnOnce(&mut Marks)) {
        if let Some(real) = self.all.get_mut(id) {
            mark(&mut real.marks);
        }
    }

    /// The runtime, or the whole host, goes away: whatever runs may be ended by that.
    pub(crate) fn sweep(&mut self) {
        self.all.values_mut().filter(|real| real.alive).for_each(|real| real.marks.swept = true);
    }

    /// One container.
    pub(crate) fn get(&self, id: &RuntimeId) -> Option<&Real> {
        self.all.get(id)
    }

    /// The container that has this name now.
    pub(crate) fn named(&self, name: &RuntimeName) -> Option<(&RuntimeId, &Real)> {
        self.all.iter().find(|(_, real)| !real.gone && real.name == *name)
    }

    /// All containers.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&RuntimeId, &Real)> {
        self.all.iter()
    }

    /// Containers of a task, the removed ones too.
    pub(crate) fn of_task<'a>(&'a self, task: &'a TaskId) -> impl Iterator<Item = (&'a RuntimeId, &'a Real)> {
        self.all.iter().filter(move |(_, real)| real.task() == Some(task))
    }

    /// Containers of the instance under test that are there now.
    pub(crate) fn ours(&self) -> impl Iterator<Item = (&RuntimeId, &Real)> {
        self.all.iter().filter(|(_, real)| !real.gone && real.owner != Owner::Foreign)
    }
}

impl Real {
    fn new(now: At, glance: &Glance<'_>, instance: &InstanceId, looks: u64) -> Self {
        let label = |key| glance.labels.get(key).map(String::as_str);
        let task = label(labels::TASK).and_then(|text| TaskId::parse(text).ok());
        let is_copy = glance.name.as_str().starts_with(COPY);
        let owner = match (label(labels::INSTANCE), task) {
            (Some(owner), Some(task)) if !is_copy && owner == instance.as_str() => {
                Owner::Ours { task, container: label(labels::CONTAINER).unwrap_or_default().into() }
            }
            _ => Owner::Foreign,
        };
        Self {
            name: glance.name.clone(),
            owner,
            starts: glance.starts,
            alive: glance.alive,
            codes: glance.exit_code.into_iter().collect(),
            ended_at: None,
            changed_at: now,
            gone: false,
            marks: Marks::default(),
            seen_in: looks,
        }
    }

    /// Its task, if it is ours.
    pub(crate) const fn task(&self) -> Option<&TaskId> {
        match &self.owner {
            Owner::Ours { task, .. } => Some(task),
            Owner::Foreign => None,
        }
    }
}
