//! Containers that carry our instance's label and have no record (engine.md 4.11, design.md R10).
//!
//! They are what a damaged store, or a create that outlived its agent, leaves behind. Each becomes a task
//! again, rebuilt from its label; it is only stopped and removed unless the definition is at hand.

use alloc::{
    borrow::ToOwned,
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    vec::Vec,
};

use lighterman_calls::{ContainerSummary, labels};
use lighterman_container_spec::{OwnLabels, recover};
use lighterman_ids::{ContainerName, DefinitionDigest, Moment, TaskId};
use lighterman_status::{ContainerStatus, TaskStatus};
use lighterman_task_manager::{ContainerState, TaskManager, TaskSpec, TaskState};
use lighterman_taskdef::TaskDefinition;

use super::Engine;
use crate::RecordKey;

impl Engine {
    /// `forgotten`: tasks that were removed after the list was asked for.
    pub(super) fn find_orphans(&mut self, now: Moment, listed: &[ContainerSummary], forgotten: &BTreeSet<TaskId>) {
        let mut orphans: BTreeMap<TaskId, Vec<&ContainerSummary>> = BTreeMap::new();
        for container in listed {
            match OwnLabels::read(&container.labels) {
                // The list was asked for ours only; what is another's stays so whatever it says.
                Some(own) if own.instance != self.instance => {}
                // A task that has records looks its containers up by itself, by id or by name.
                Some(own) if self.tasks.contains_key(&own.task) || forgotten.contains(&own.task) => {}
                Some(own) => orphans.entry(own.task).or_default().push(container),
                None => {
                    tracing::warn!(container.runtime_id = %container.id, "a listed container does not say whose it is; it is left alone")
                }
            }
        }
        for (task, containers) in orphans {
            self.recover_task(now, task, &containers);
        }
    }

    fn recover_task(&mut self, now: Moment, id: TaskId, containers: &[&ContainerSummary]) {
        let Some((digest, definition, at_hand)) = self.definition_of(containers) else {
            tracing::warn!(task.id = %id, "containers of a task have our label and cannot be understood; they are left alone");
            return;
        };
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

    /// The definition at hand, where the digest says it is the same; else what the label holds.
    fn definition_of(&self, containers: &[&ContainerSummary]) -> Option<(DefinitionDigest, Arc<TaskDefinition>, bool)> {
        containers.iter().find_map(|container| {
            let digest = DefinitionDigest::parse(container.labels.get(labels::DEFINITION)?).ok()?;
            if let Some(definition) = self.definitions.get(&digest) {
                return Some((digest, definition.clone(), true));
            }
            let recovered = recover::read(container.labels.get(labels::RECOVER)?).ok()?;
            Some((digest, Arc::new(recovered.definition), false))
        })
    }
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
