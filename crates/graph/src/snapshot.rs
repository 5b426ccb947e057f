//! A task as it is now: what is asked about, apart from what never changes.

use alloc::vec::Vec;

use lighterman_ids::{ContainerName, Moment};
use lighterman_status::{ContainerStatus, Health, ResourceStatus, TaskStatus};

use crate::Graph;

/// Everything an answer depends on besides the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Snapshot<'a> {
    /// The present, for start timeouts.
    pub now: Moment,
    /// Where the task should go.
    pub task_desired: TaskStatus,
    /// Whether the credentials of the execution role are there.
    pub has_role_credentials: bool,
    /// Whether images are pulled without regard to the order of the containers (setting
    /// `ECS_PULL_DEPENDENT_CONTAINERS_UPFRONT`).
    pub pulls_upfront: bool,
    /// The containers of the graph, in its order.
    pub containers: &'a [Node<'a>],
    /// The resources of the graph, in its order.
    pub resources: &'a [ResourceNode],
}

/// One container as it is now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Node<'a> {
    /// Its name in the task.
    pub name: &'a ContainerName,
    /// What is known of it.
    pub known: ContainerStatus,
    /// Where it should go.
    pub desired: ContainerStatus,
    /// The transition that was started and has not been answered; `None` where there is none (engine.md 1.9).
    pub applied: ContainerStatus,
    /// How its process ended; `None` when that is not known, or it has not.
    pub exit_code: Option<i32>,
    /// The last verdict of its health check.
    pub health: Health,
    /// When we learned of its first start, on our own clock; `None` if it never started.
    pub started_at: Option<Moment>,
    /// Whether the runtime ever had it.
    pub was_created: bool,
}

/// One resource as it is now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ResourceNode {
    /// What is known of it.
    pub known: ResourceStatus,
    /// Where it should go.
    pub desired: ResourceStatus,
    /// The transition that was started and has not been answered; `None` where there is none.
    pub applied: ResourceStatus,
}

impl<'a> Snapshot<'a> {
    /// A task that is to run, at the beginning of time, with credentials and without resources.
    #[must_use]
    pub fn new(containers: &'a [Node<'a>]) -> Self {
        Self {
            now: Moment::default(),
            task_desired: TaskStatus::Running,
            has_role_credentials: true,
            pulls_upfront: false,
            containers,
            resources: &[],
        }
    }
}

impl<'a> Node<'a> {
    /// A container for which nothing has been done and nothing is wanted.
    #[must_use]
    pub const fn new(name: &'a ContainerName) -> Self {
        Self {
            name,
            known: ContainerStatus::None,
            desired: ContainerStatus::None,
            applied: ContainerStatus::None,
            exit_code: None,
            health: Health::Unknown,
            started_at: None,
            was_created: false,
        }
    }

    pub(crate) const fn has_succeeded(&self) -> bool {
        self.known.is_terminal() && matches!(self.exit_code, Some(0))
    }
}

impl Graph {
    /// The containers of the graph, each with nothing done and nothing wanted.
    #[must_use]
    pub fn nodes(&self) -> Vec<Node<'_>> {
        self.names().iter().map(Node::new).collect()
    }
}
