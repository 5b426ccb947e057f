//! May this resource take its next step (engine.md 2.7, 3.7.1)?

use alloc::vec::Vec;

use lighterman_status::{ContainerStatus, ResourceStatus};

use crate::{Graph, Snapshot};

/// What a resource may do now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ResourceReadiness {
    /// It is where it should be, or beyond: nothing to do.
    PastDesired,
    /// It may take this step.
    Ready(ResourceStep),
    /// It has to wait.
    Blocked(ResourceBlock),
}

/// A step of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ResourceStep {
    /// Make it.
    Create,
    /// Take it for removed without doing anything: it is cleaned up while the task is removed.
    MarkRemoved,
}

/// What a resource waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ResourceBlock {
    /// A container that has to be far enough first.
    Container {
        /// Its place in task order.
        on: usize,
        /// How far it has to be.
        reached: ContainerStatus,
    },
    /// The credentials of the execution role.
    Credentials,
    /// The answer to a transition that is under way.
    InFlight {
        /// The status that transition leads to.
        toward: ResourceStatus,
    },
}

impl Graph {
    /// What each resource may do now, in the order of the plan.
    ///
    /// # Panics
    /// The nodes of the snapshot are not those of this graph in its order.
    #[must_use]
    pub fn resource_readiness(&self, snapshot: &Snapshot<'_>) -> Vec<ResourceReadiness> {
        self.check_snapshot(snapshot);
        (0..self.resources.len()).map(|resource| self.decide_resource(resource, snapshot)).collect()
    }

    fn decide_resource(&self, resource: usize, snapshot: &Snapshot<'_>) -> ResourceReadiness {
        let node = &snapshot.resources[resource];
        if node.known.at_least(node.desired) {
            return ResourceReadiness::PastDesired;
        }
        // Containers first: a volume that was never made counts as removed only once its pause has got far enough.
        if let Some(block) = self.container_before_resource(resource, snapshot) {
            return ResourceReadiness::Blocked(block);
        }
        let may_go_without = node.known.at_least(ResourceStatus::Created) || snapshot.task_desired.is_terminal();
        if self.resources[resource].needs_role && !may_go_without && !snapshot.has_role_credentials {
            return ResourceReadiness::Blocked(ResourceBlock::Credentials);
        }
        match (node.desired, node.applied) {
            (ResourceStatus::Removed, _) => ResourceReadiness::Ready(ResourceStep::MarkRemoved),
            (ResourceStatus::None | ResourceStatus::Created, ResourceStatus::None) => {
                ResourceReadiness::Ready(ResourceStep::Create)
            }
            (
                ResourceStatus::None | ResourceStatus::Created,
                toward @ (ResourceStatus::Created | ResourceStatus::Removed),
            ) => ResourceReadiness::Blocked(ResourceBlock::InFlight { toward }),
        }
    }

    /// Only its making waits for containers.
    fn container_before_resource(&self, resource: usize, snapshot: &Snapshot<'_>) -> Option<ResourceBlock> {
        if snapshot.resources[resource].known.at_least(ResourceStatus::Created) {
            return None;
        }
        let mut after = self.resources[resource].after.iter();
        let behind = after.find(|(on, reached)| snapshot.containers[*on].known.is_before(*reached));
        behind.map(|(on, reached)| ResourceBlock::Container { on: *on, reached: *reached })
    }
}
