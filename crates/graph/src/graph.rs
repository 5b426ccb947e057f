//! The containers and resources of one task and what holds between them.

use alloc::{boxed::Box, vec, vec::Vec};
use core::time::Duration;

use lighterman_ids::ContainerName;
use lighterman_status::{ContainerStatus, ResourceStatus, SteadyState};

use crate::{Edge, Node, ResourceName, Snapshot};

/// The containers of one task, in task order, its resources, and who waits for whom.
///
/// A graph that exists is well-formed: every name is there, and nobody waits for itself, at whatever distance, on the
/// way up or down. It knows no statuses; they come in with each question.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Graph {
    pub(crate) names: Box<[ContainerName]>,
    /// In the order of `names`.
    pub(crate) members: Box<[Container]>,
    pub(crate) resources: Box<[Resource]>,
}

/// What does not change about one container.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Container {
    pub(crate) steady: SteadyState,
    /// Above zero.
    pub(crate) start_timeout: Option<Duration>,
    pub(crate) pull_needs_role: bool,
    /// In the order in which they are checked.
    pub(crate) edges: Box<[Edge]>,
    /// Who has an edge to it; each once, in task order.
    pub(crate) dependents: Vec<usize>,
    /// Waits for containers come before waits for resources: that is the order in which they are checked.
    pub(crate) gates: Box<[PlacedGate]>,
}

/// A transition dependency whose names have been looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum PlacedGate {
    Container { toward: ContainerStatus, on: usize, reached: ContainerStatus },
    Resource { toward: ContainerStatus, on: usize, reached: ResourceStatus },
}

/// What does not change about one resource.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Resource {
    pub(crate) name: ResourceName,
    pub(crate) needs_role: bool,
    pub(crate) after: Box<[(usize, ContainerStatus)]>,
}

impl Graph {
    /// The containers, in task order.
    #[must_use]
    pub fn names(&self) -> &[ContainerName] {
        &self.names
    }

    /// The resources, in the order of the plan.
    pub fn resources(&self) -> impl ExactSizeIterator<Item = &ResourceName> {
        self.resources.iter().map(|resource| &resource.name)
    }

    /// The ordering edges: by dependent in task order, and there in the order in which they are checked.
    pub fn edges(&self) -> impl Iterator<Item = &Edge> {
        self.members.iter().flat_map(|container| &container.edges)
    }

    /// Who has an ordering edge to this container, by place in task order.
    ///
    /// # Panics
    /// There is no such container.
    #[must_use]
    pub fn dependents(&self, container: usize) -> &[usize] {
        &self.members[container].dependents
    }

    /// The containers in the order in which they stop: those of one group at once, a group only after the
    /// one before it has stopped.
    ///
    /// This is the stop order of engine.md 2.4, step E, and the transition dependencies toward STOPPED, in as
    /// few groups as possible; [`Graph::readiness`] waits for what has to be waited for and no more.
    #[must_use]
    pub fn shutdown_order(&self) -> Vec<Vec<&ContainerName>> {
        let group = self.stop_groups();
        let mut groups = vec![Vec::new(); group.iter().map(|group| group + 1).max().unwrap_or(0)];
        for (name, group) in self.names.iter().zip(group) {
            groups[group].push(name);
        }
        groups
    }

    /// For each container how many groups stop before it.
    fn stop_groups(&self) -> Vec<usize> {
        let mut waits = vec![0_usize; self.names.len()];
        for (_, later) in self.stop_pairs() {
            waits[later] += 1;
        }
        let mut then = vec![Vec::new(); self.names.len()];
        for (earlier, later) in self.stop_pairs() {
            then[earlier].push(later);
        }
        let mut open: Vec<usize> = (0..waits.len()).filter(|container| waits[*container] == 0).collect();
        let mut group = vec![0; self.names.len()];
        while let Some(earlier) = open.pop() {
            for later in &then[earlier] {
                group[*later] = group[*later].max(group[earlier] + 1);
                waits[*later] -= 1;
                if waits[*later] == 0 {
                    open.push(*later);
                }
            }
        }
        group
    }

    /// Who stops before whom.
    fn stop_pairs(&self) -> impl Iterator<Item = (usize, usize)> {
        self.members.iter().enumerate().flat_map(|(place, container)| {
            let edges = container.edges.iter().map(move |edge| (place, edge.on));
            edges.chain(container.gates.iter().filter_map(move |gate| gate.stops_after().map(|on| (on, place))))
        })
    }

    pub(crate) fn check_order(&self, nodes: &[Node<'_>]) {
        let same = self.names.iter().eq(nodes.iter().map(|node| node.name));
        assert!(same, "the nodes are the containers of the graph, in its order");
    }

    pub(crate) fn check_snapshot(&self, snapshot: &Snapshot<'_>) {
        self.check_order(snapshot.containers);
        assert!(self.resources.len() == snapshot.resources.len(), "the nodes are the resources of the graph");
    }
}

impl PlacedGate {
    /// The status that is held back.
    pub(crate) const fn toward(self) -> ContainerStatus {
        match self {
            Self::Container { toward, .. } | Self::Resource { toward, .. } => toward,
        }
    }

    /// Whether it holds back a status that a container goes through on its way up to `steady`.
    pub(crate) const fn holds_below(self, steady: SteadyState) -> bool {
        let toward = self.toward();
        toward.is_after(ContainerStatus::None) && !toward.is_after(steady.status())
    }

    /// The container that has to have stopped before this one may stop.
    pub(crate) fn stops_after(self) -> Option<usize> {
        match self {
            Self::Container { toward, on, reached } => (toward.is_terminal() && reached.is_terminal()).then_some(on),
            Self::Resource { .. } => None,
        }
    }
}
