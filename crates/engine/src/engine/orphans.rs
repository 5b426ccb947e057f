//! Containers that carry our instance's label and have no record (engine.md 4.11, design.md R10).
//!
//! They are what a damaged store, or a create that outlived its agent, leaves behind. Each becomes a task
//! again, rebuilt from its label; it is only stopped and removed unless the definition is at hand. Labels alone
//! prove nothing here: `docker commit` copies them into an image, so the name must be one that we give.

use alloc::{
    borrow::ToOwned,
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    vec::Vec,
};

use lighterman_calls::{ContainerSummary, labels};
use lighterman_container_spec::{OwnLabels, is_runtime_name, recover};
use lighterman_ids::{ContainerName, DefinitionDigest, Moment, TaskId};
use lighterman_status::{ContainerStatus, TaskStatus};
use lighterman_task_manager::{ContainerState, TaskManager, TaskSpec, TaskState};
use lighterman_taskdef::TaskDefinition;
use lighterman_view::LeftAlone;

use super::Engine;
use crate::RecordKey;

/// What the definition of an orphan is taken from.
struct Found {
    digest: DefinitionDigest,
    definition: Arc<TaskDefinition>,
    /// The whole definition is at hand, so the task may go on.
    at_hand: bool,
}

impl Engine {
    /// `forgotten`: tasks that were removed after the list was asked for.
    pub(super) fn find_orphans(&mut self, now: Moment, listed: &[ContainerSummary], forgotten: &BTreeSet<TaskId>) {
        let mut orphans: BTreeMap<TaskId, Vec<&ContainerSummary>> = BTreeMap::new();
        let mut left_alone = Vec::new();
        for container in listed {
            match self.whose(container, forgotten) {
                Ok(None) => {}
                Ok(Some(task)) => orphans.entry(task).or_default().push(container),
                Err(why) => left_alone.push(LeftAlone { id: container.id.clone(), name: container.name.clone(), why }),
            }
        }
        self.note_left_alone(left_alone);
        // One that runs goes on rather than one that has ended.
        let (run, rest): (Vec<_>, Vec<_>) =
            orphans.into_iter().partition(|(_, containers)| containers.iter().any(|container| container.running));
        for (task, containers) in run.into_iter().chain(rest) {
            self.recover_task(now, task, &containers);
        }
    }

    /// The task without records that a listed container belongs to, if any.
    ///
    /// # Errors
    /// It is not surely ours: why not.
    fn whose(
        &self,
        container: &ContainerSummary,
        forgotten: &BTreeSet<TaskId>,
    ) -> Result<Option<TaskId>, &'static str> {
        let own = OwnLabels::read(&container.labels).ok_or("its labels cannot be read")?;
        if own.instance != self.instance || forgotten.contains(&own.task) {
            // The list was asked for ours only; what is another's stays so whatever it says.
            return Ok(None);
        }
        if let Some(task) = self.tasks.get(&own.task) {
            // A task that has records looks its containers up by itself, by id or by name.
            return if is_of(task, container) { Ok(None) } else { Err(NAMED_BY_OTHERS) };
        }
        let found = self.definition_of(container).ok_or("its labels cannot be read")?;
        let is_named_by_us = is_runtime_name(&found.definition, &own.container, &container.name);
        if is_named_by_us { Ok(Some(own.task)) } else { Err(NAMED_BY_OTHERS) }
    }

    fn note_left_alone(&mut self, left_alone: Vec<LeftAlone>) {
        if left_alone == self.link.left_alone {
            return;
        }
        for container in left_alone.iter().filter(|container| !self.link.left_alone.contains(container)) {
            tracing::warn!(container.runtime_id = %container.id, "{container}");
        }
        self.link.left_alone = left_alone;
        self.host_changed = true;
    }

    fn recover_task(&mut self, now: Moment, id: TaskId, containers: &[&ContainerSummary]) {
        let Some(found) = containers.iter().find_map(|container| self.definition_of(container)) else { return };
        let Found { digest, definition, at_hand } = found;
        tracing::warn!(task.id = %id, containers = containers.len(), "a task without records was found by its labels");
        let desired = if at_hand { TaskStatus::Running } else { TaskStatus::Stopped };
        let spec = TaskSpec { arn: id.local_arn(None), id: id.clone(), definition, digest, seed: self.seed };
        let states = containers.iter().filter_map(|container| recovered(container)).collect();
        let state = TaskState {
            id: id.clone(),
            arn: spec.arn.clone(),
            digest: spec.digest.clone(),
            seed: spec.seed,
            known: TaskStatus::None,
            desired,
            reason: (!at_hand).then(|| "Recovered without its records".to_owned()),
            accepted_at: now,
            known_at: now,
            execution_stopped_at: None,
        };
        match TaskManager::restore(spec, state, states, now) {
            Ok(task) => {
                self.dirty.insert(RecordKey::Definition(id.clone()));
                self.dirty.insert(RecordKey::Task(id.clone()));
                self.dirty.extend((0..task.container_count()).map(|c| RecordKey::Container(id.clone(), c)));
                self.routes.extend(containers.iter().map(|container| (container.id.clone(), id.clone())));
                self.changed.insert(id.clone());
                self.count_unfinished(&id, true);
                self.tasks.insert(id.clone(), task);
                self.wake(now, &id);
            }
            Err(error) => {
                tracing::warn!(task.id = %id, error = %error, "a task found by its labels does not fit together")
            }
        }
    }

    /// The definition at hand, where the digest says it is the same; else what the label holds. It is at hand for
    /// one task: what is found beside a task of it is left over from another run.
    fn definition_of(&self, container: &ContainerSummary) -> Option<Found> {
        let digest = DefinitionDigest::parse(container.labels.get(labels::DEFINITION)?).ok()?;
        let is_taken = self.tasks.values().any(|task| task.spec().digest == digest);
        if let Some(definition) = self.definitions.get(&digest).filter(|_| !is_taken) {
            return Some(Found { digest, definition: definition.clone(), at_hand: true });
        }
        let recovered = recover::read(container.labels.get(labels::RECOVER)?).ok()?;
        Some(Found { digest, definition: Arc::new(recovered.definition), at_hand: false })
    }
}

const NAMED_BY_OTHERS: &str = "its name is not one that was given here, so it is a copy (`docker commit` copies labels) or was \
     renamed; remove it by hand if it is not wanted";

/// Whether it is one of the task's own, rather than a copy.
fn is_of(task: &TaskManager, container: &ContainerSummary) -> bool {
    let states = (0..task.container_count()).filter_map(|c| task.container_state(c));
    task.has_runtime_id(&container.id)
        || states.into_iter().any(|state| state.runtime_name.as_ref() == Some(&container.name))
}

/// It exists; how far it has come is told by the look that follows.
fn recovered(container: &ContainerSummary) -> Option<ContainerState> {
    let name = ContainerName::parse(container.labels.get(labels::CONTAINER)?).ok()?;
    Some(ContainerState {
        name,
        known: ContainerStatus::Created,
        desired: ContainerStatus::Created,
        runtime_name: Some(container.name.clone()),
        runtime_id: Some(container.id.clone()),
        create_sent: None,
        create_doubt: None,
        renamed: false,
        exit_code: None,
        error: None,
        started_at: None,
        finished_at: None,
        run: None,
        restopped: false,
        removed: false,
    })
}
