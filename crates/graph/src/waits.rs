//! Whether everybody who waits can be served: no ring of waits on the way up, none on the way down.
//!
//! Three questions, each a search for rings in a graph of its own:
//! 1. Do containers wait for each other by their ordering edges (engine.md 2.2)?
//! 2. Does a status wait for itself, once transition dependencies are added? Statuses on the way up are nodes here.
//! 3. Can a stop get stuck: does somebody who stops last hold back somebody who has to be far enough to stop?
//!
//! Ordering edges alone cannot make a ring in 2 and 3 that is not one in 1. Transition dependencies come from the
//! agent itself, so that a ring of them is a mistake in a plan that no user could repair.

use alloc::{vec, vec::Vec};

use lighterman_status::{ContainerStatus, ResourceStatus};

use crate::{
    Condition, Edge, Graph, Member, Ring, Tie,
    graph::PlacedGate,
    rings::{Web, rings},
};

/// The rings of a graph, whose names have been looked up and whose dependents have not.
pub(crate) fn rings_of(graph: &Graph) -> impl Iterator<Item = Ring> {
    let mut found = ordering_rings(graph);
    let has_gates = graph.members.iter().any(|container| !container.gates.is_empty());
    if found.is_empty() && has_gates {
        found = Climb(graph).rings();
        if found.is_empty() {
            found = Descent(graph).rings();
        }
    }
    found.into_iter()
}

fn ordering_rings(graph: &Graph) -> Vec<Ring> {
    let steps = |edges: &[Edge]| edges.iter().map(|edge| (edge.on, edge.tie())).collect();
    let web: Web<Tie> = graph.members.iter().map(|container| steps(&container.edges)).collect();
    let named = |(place, tie): (usize, Tie)| (Member::Container(graph.names[place].clone()), tie);
    rings(&web).into_iter().map(|ring| Ring::new(ring.into_iter().map(named).collect())).collect()
}

/// Rings in a web whose nodes stand for members; a step without a tie goes on within one member.
fn member_rings(web: &Web<Option<Tie>>, member: impl Fn(usize) -> Member) -> Vec<Ring> {
    let named = |(node, tie): (usize, Option<Tie>)| tie.map(|tie| (member(node), tie));
    rings(web).into_iter().map(|ring| Ring::new(ring.into_iter().filter_map(named).collect())).collect()
}

const fn gate_tie(toward: &'static str, reached: &'static str) -> Option<Tie> {
    Some(Tie::Gate { toward, reached })
}

/// Statuses from MANIFEST_PULLED to RESOURCES_PROVISIONED.
const FLOORS: usize = 5;

/// The way up: a node is a container at a status, or a resource that exists.
struct Climb<'a>(&'a Graph);

impl Climb<'_> {
    fn rings(&self) -> Vec<Ring> {
        let graph = self.0;
        let containers = graph.members.len() * FLOORS;
        let mut web: Web<Option<Tie>> = vec![Vec::new(); containers + graph.resources.len()];
        for (place, container) in graph.members.iter().enumerate() {
            for floor in 1..FLOORS {
                web[place * FLOORS + floor].push((place * FLOORS + floor - 1, None));
            }
            // Ordering edges hold back everything after the digest of the image.
            let Some(pulled) = self.floor(place, ContainerStatus::Pulled) else { continue };
            for edge in &container.edges {
                let reached = match edge.condition {
                    Condition::Create => ContainerStatus::Created,
                    Condition::Start => self.top(edge.on),
                    Condition::Complete | Condition::Success | Condition::Healthy => ContainerStatus::Running,
                };
                web[pulled].extend(self.floor(edge.on, reached).map(|on| (on, Some(edge.tie()))));
            }
            for gate in container.gates.iter().filter(|gate| gate.holds_below(container.steady)) {
                web[place * FLOORS + usize::from(gate.toward().number()) - 1].extend(self.gate_step(*gate));
            }
        }
        for (place, resource) in graph.resources.iter().enumerate() {
            for (on, reached) in &resource.after {
                let tie = gate_tie(ResourceStatus::Created.as_str(), reached.as_str());
                web[containers + place].extend(self.floor(*on, *reached).map(|on| (on, tie)));
            }
        }
        member_rings(&web, |node| match node.checked_sub(containers) {
            Some(resource) => Member::Resource(graph.resources[resource].name.clone()),
            None => Member::Container(graph.names[node / FLOORS].clone()),
        })
    }

    fn gate_step(&self, gate: PlacedGate) -> Option<(usize, Option<Tie>)> {
        match gate {
            PlacedGate::Container { toward, on, reached } => {
                Some((self.floor(on, reached)?, gate_tie(toward.as_str(), reached.as_str())))
            }
            PlacedGate::Resource { toward, on, reached } => {
                Some((self.0.members.len() * FLOORS + on, gate_tie(toward.as_str(), reached.as_str())))
            }
        }
    }

    /// The node of a container at a status; `None` for NONE, which is always reached. Whoever waits for an end, or
    /// for what the container never becomes, waits at least until it is up.
    fn floor(&self, container: usize, status: ContainerStatus) -> Option<usize> {
        let floor = usize::from(status.earlier_of(self.top(container)).number()).checked_sub(1)?;
        Some(container * FLOORS + floor)
    }

    fn top(&self, container: usize) -> ContainerStatus {
        self.0.members[container].steady.status()
    }
}

/// The way down: a node is a container that stops from below its steady state, or from it, or a resource that is not
/// made yet. The next status of a container on the way down is still the next on the way up (engine.md 2.4, step D),
/// so that it can be held back until others have gone further, or have stopped.
struct Descent<'a>(&'a Graph);

impl Descent<'_> {
    fn rings(&self) -> Vec<Ring> {
        let graph = self.0;
        let containers = graph.members.len() * 2;
        let mut web: Web<Option<Tie>> = vec![Vec::new(); containers + graph.resources.len()];
        for (place, container) in graph.members.iter().enumerate() {
            for edge in &container.edges {
                for on in [below(edge.on), up(edge.on)] {
                    web[on].extend([below(place), up(place)].map(|dependent| (dependent, Some(Tie::StopOrder))));
                }
            }
            for gate in &container.gates {
                let from = match (gate.holds_below(container.steady), gate.toward().is_terminal()) {
                    (true, _) => below(place),
                    (false, true) => up(place),
                    (false, false) => continue,
                };
                match *gate {
                    PlacedGate::Container { toward, on, reached } => {
                        let tie = gate_tie(toward.as_str(), reached.as_str());
                        self.push_unreached(&mut web[from], on, reached, tie);
                    }
                    PlacedGate::Resource { toward, on, reached } => {
                        web[from].push((containers + on, gate_tie(toward.as_str(), reached.as_str())));
                    }
                }
            }
        }
        for (place, resource) in graph.resources.iter().enumerate() {
            for (on, reached) in &resource.after {
                let tie = gate_tie(ResourceStatus::Created.as_str(), reached.as_str());
                self.push_unreached(&mut web[containers + place], *on, *reached, tie);
            }
        }
        member_rings(&web, |node| match node.checked_sub(containers) {
            Some(resource) => Member::Resource(graph.resources[resource].name.clone()),
            None => Member::Container(graph.names[node / 2].clone()),
        })
    }

    /// A wait for a container to be `reached`: while it is not, the container may be in these.
    fn push_unreached(
        &self,
        steps: &mut Vec<(usize, Option<Tie>)>,
        on: usize,
        reached: ContainerStatus,
        tie: Option<Tie>,
    ) {
        steps.push((below(on), tie));
        if reached.is_after(self.0.members[on].steady.status()) {
            steps.push((up(on), tie));
        }
    }
}

const fn below(container: usize) -> usize {
    container * 2
}

const fn up(container: usize) -> usize {
    container * 2 + 1
}
