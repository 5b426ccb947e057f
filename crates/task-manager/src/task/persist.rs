//! What is persisted (engine.md 3.12).

use super::TaskManager;
use crate::{ContainerState, TaskState};

impl TaskManager {
    /// The record of the task itself.
    #[must_use]
    pub fn state(&self) -> TaskState {
        TaskState {
            id: self.spec.id.clone(),
            arn: self.spec.arn.clone(),
            digest: self.spec.digest.clone(),
            seed: self.spec.seed,
            known: self.known,
            desired: self.desired,
            reason: self.reason.clone(),
            accepted_at: self.accepted_at,
            known_at: self.known_at,
            execution_stopped_at: self.execution_stopped_at,
        }
    }

    /// The record of the container at this place in task order; `None` beyond the last.
    #[must_use]
    pub fn container_state(&self, index: usize) -> Option<ContainerState> {
        let container = self.containers.get(index)?;
        Some(ContainerState {
            name: container.name.clone(),
            known: container.known,
            desired: container.desired,
            runtime_name: container.runtime_name.clone(),
            runtime_id: container.runtime_id.clone(),
            create_sent: container.create_sent,
            create_doubt: container.create_doubt,
            renamed: container.renamed,
            exit_code: container.exit_code,
            error: container.error.clone(),
            started_at: container.started_at,
            finished_at: container.finished_at,
            run: container.run,
            restopped: container.restopped,
            removed: container.removed,
        })
    }

    /// How many containers it has.
    #[must_use]
    pub const fn container_count(&self) -> usize {
        self.containers.len()
    }
}
