//! May this container take its next step (engine.md 2.4, 3.7.2)?

use alloc::vec::Vec;

use lighterman_ids::Mono;
use lighterman_status::{ContainerStatus, ResourceStatus, SteadyState};

use crate::{Edge, Fatal, Graph, Node, Snapshot, graph::PlacedGate};

/// What a container may do now (engine.md 3.7.2).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Readiness {
    /// It is where it should be, or beyond: nothing to do.
    PastDesired,
    /// It may take this step.
    Ready(Step),
    /// It has to wait.
    Blocked(Block),
    /// What it waits for will never be: it has to be given up (engine.md 2.6).
    Fatal(Fatal),
}

/// What a container waits for. Others are named by their place in task order.
///
/// [`Graph::block_text`] says it in words.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Block {
    /// The answer to a transition that is under way.
    InFlight {
        /// The status that transition leads to.
        toward: ContainerStatus,
    },
    /// The credentials of the execution role, to pull its image.
    Credentials,
    /// An ordering condition; the last one in the list that is not true yet.
    Ordering(Edge),
    /// A transition dependency on a container.
    Container {
        /// The other container.
        on: usize,
        /// How far it has to be.
        reached: ContainerStatus,
        /// The status that is held back.
        toward: ContainerStatus,
    },
    /// A transition dependency on a resource.
    Resource {
        /// The resource.
        on: usize,
        /// How far it has to be.
        reached: ResourceStatus,
        /// The status that is held back.
        toward: ContainerStatus,
    },
    /// The containers that depend on it: they stop first.
    StopOrder {
        /// Those that have not stopped; at least one.
        dependents: Vec<usize>,
    },
}

/// A step from one status to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// Resolve the digest of the image.
    ResolveDigest,
    /// Have the image on the host.
    Pull,
    /// Create the container.
    Create,
    /// Start it.
    Start,
    /// Finish its network.
    Provision,
    /// Stop what runs.
    Stop,
    /// Take it for stopped without a runtime call: nothing of it runs.
    MarkStopped,
}

impl Step {
    /// Every step.
    pub const ALL: &'static [Self] =
        &[Self::ResolveDigest, Self::Pull, Self::Create, Self::Start, Self::Provision, Self::Stop, Self::MarkStopped];

    /// The known status that success leads to.
    #[must_use]
    pub const fn toward(self) -> ContainerStatus {
        match self {
            Self::ResolveDigest => ContainerStatus::ManifestPulled,
            Self::Pull => ContainerStatus::Pulled,
            Self::Create => ContainerStatus::Created,
            Self::Start => ContainerStatus::Running,
            Self::Provision => ContainerStatus::ResourcesProvisioned,
            Self::Stop | Self::MarkStopped => ContainerStatus::Stopped,
        }
    }
}

impl Graph {
    /// What each container may do now, in task order; linear in containers and edges.
    ///
    /// # Panics
    /// The nodes of the snapshot are not those of this graph in its order.
    #[must_use]
    pub fn readiness(&self, snapshot: &Snapshot<'_>) -> Vec<Readiness> {
        self.check_snapshot(snapshot);
        (0..self.names.len()).map(|container| self.decide(container, snapshot)).collect()
    }

    /// What one container may do now.
    ///
    /// # Panics
    /// There is no such container, or the nodes of the snapshot are not as many as those of this graph.
    #[must_use]
    pub fn readiness_of(&self, container: usize, snapshot: &Snapshot<'_>) -> Readiness {
        assert!(self.names.len() == snapshot.containers.len(), "the nodes are the containers of the graph");
        assert!(self.resources.len() == snapshot.resources.len(), "the nodes are the resources of the graph");
        self.decide(container, snapshot)
    }

    /// When an answer may change without any event, because a start timeout is over; always later than `now`.
    /// `None`: not by itself.
    ///
    /// # Panics
    /// The nodes of the snapshot are not those of this graph in its order.
    #[must_use]
    pub fn next_change(&self, snapshot: &Snapshot<'_>) -> Option<Mono> {
        self.check_snapshot(snapshot);
        self.edges().filter_map(|edge| self.time_out_at(edge, snapshot)).min()
    }

    /// The steps of 2.4 in their order; the first that fails is the answer.
    fn decide(&self, container: usize, snapshot: &Snapshot<'_>) -> Readiness {
        let node = &snapshot.containers[container];
        if node.known.at_least(node.desired) {
            return Readiness::PastDesired;
        }
        if self.lacks_credentials(container, snapshot) {
            return Readiness::Blocked(Block::Credentials);
        }
        if self.is_wanted_up(container, node.desired)
            && let Err(answer) = self.check_edges(container, snapshot)
        {
            return answer;
        }
        if let Some(block) = self.closed_gate(container, snapshot) {
            return Readiness::Blocked(block);
        }
        if let Some(block) = self.running_dependents(container, snapshot) {
            return Readiness::Blocked(block);
        }
        node.next_step(self.members[container].steady)
    }

    /// Step A.
    fn lacks_credentials(&self, container: usize, snapshot: &Snapshot<'_>) -> bool {
        let node = &snapshot.containers[container];
        let needs = self.members[container].pull_needs_role
            && node.known.is_before(ContainerStatus::Pulled)
            && node.desired.is_before(ContainerStatus::Stopped);
        needs && !snapshot.has_role_credentials
    }

    /// Whether ordering edges count: not for a container that is being stopped (step B).
    pub(crate) fn is_wanted_up(&self, container: usize, desired: ContainerStatus) -> bool {
        desired == ContainerStatus::Created || desired.is_steady(self.members[container].steady)
    }

    /// Step B: the first edge that can never be satisfied, else the last that is not yet.
    fn check_edges(&self, container: usize, snapshot: &Snapshot<'_>) -> Result<(), Readiness> {
        let mut blocked_on = None;
        for edge in &self.members[container].edges {
            if let Some(cause) = self.fatal_cause(edge, snapshot) {
                return Err(Readiness::Fatal(Fatal { edge: *edge, cause }));
            }
            if !self.is_resolved(edge, snapshot) {
                blocked_on = Some(*edge);
            }
        }
        blocked_on.map_or(Ok(()), |edge| Err(Readiness::Blocked(Block::Ordering(edge))))
    }

    /// Step D, for the next status on the way, whatever is desired.
    fn closed_gate(&self, container: usize, snapshot: &Snapshot<'_>) -> Option<Block> {
        let member = &self.members[container];
        let next = snapshot.containers[container].known.next(member.steady)?;
        let mut gates = member.gates.iter().filter(|gate| gate.toward() == next);
        gates.find_map(|gate| match *gate {
            PlacedGate::Container { toward, on, reached } => {
                let is_open = snapshot.containers[on].known.at_least(reached);
                (!is_open).then_some(Block::Container { on, reached, toward })
            }
            PlacedGate::Resource { toward, on, reached } => {
                let is_open = snapshot.resources[on].known.at_least(reached);
                (!is_open).then_some(Block::Resource { on, reached, toward })
            }
        })
    }

    /// Step E: only while the whole task stops. One container that has to stop by itself does not wait for those
    /// that depend on it.
    fn running_dependents(&self, container: usize, snapshot: &Snapshot<'_>) -> Option<Block> {
        if !snapshot.task_desired.is_terminal() || !snapshot.containers[container].desired.is_terminal() {
            return None;
        }
        let dependents = self.members[container].dependents.iter().copied();
        let dependents: Vec<usize> =
            dependents.filter(|dependent| !snapshot.containers[*dependent].known.is_terminal()).collect();
        (!dependents.is_empty()).then_some(Block::StopOrder { dependents })
    }
}

impl Node<'_> {
    /// The step of a container that waits for nobody else.
    fn next_step(&self, steady: SteadyState) -> Readiness {
        let step = match self.desired {
            ContainerStatus::Stopped => return self.way_down(),
            ContainerStatus::None
            | ContainerStatus::ManifestPulled
            | ContainerStatus::Pulled
            | ContainerStatus::Created
            | ContainerStatus::Running
            | ContainerStatus::ResourcesProvisioned => self.way_up(steady),
        };
        step.map_or(Readiness::PastDesired, |step| self.unless_in_flight(step))
    }

    /// A start in flight is waited for: what was taken for stopped meanwhile would come back. A pull or create
    /// in flight is not: its late result is redundant.
    fn way_down(&self) -> Readiness {
        match (self.known.is_running(), self.applied) {
            (true, _) => self.unless_in_flight(Step::Stop),
            (false, ContainerStatus::Running) => {
                Readiness::Blocked(Block::InFlight { toward: ContainerStatus::Running })
            }
            (
                false,
                ContainerStatus::None
                | ContainerStatus::ManifestPulled
                | ContainerStatus::Pulled
                | ContainerStatus::Created
                | ContainerStatus::ResourcesProvisioned
                | ContainerStatus::Stopped,
            ) => Readiness::Ready(Step::MarkStopped),
        }
    }

    fn unless_in_flight(&self, step: Step) -> Readiness {
        match self.applied {
            ContainerStatus::None => Readiness::Ready(step),
            toward @ (ContainerStatus::ManifestPulled
            | ContainerStatus::Pulled
            | ContainerStatus::Created
            | ContainerStatus::Running
            | ContainerStatus::ResourcesProvisioned
            | ContainerStatus::Stopped) => Readiness::Blocked(Block::InFlight { toward }),
        }
    }

    /// The step to the next known status, whatever is desired; `None` once there is no next.
    fn way_up(&self, steady: SteadyState) -> Option<Step> {
        match self.known.next(steady)? {
            ContainerStatus::ManifestPulled => Some(Step::ResolveDigest),
            ContainerStatus::Pulled => Some(Step::Pull),
            ContainerStatus::Created => Some(Step::Create),
            ContainerStatus::Running => Some(Step::Start),
            ContainerStatus::ResourcesProvisioned => Some(Step::Provision),
            ContainerStatus::Stopped => Some(Step::Stop),
            ContainerStatus::None => None,
        }
    }
}
