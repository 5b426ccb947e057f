//! From a plan to a graph, or to everything that is wrong with it (engine.md 2.1 to 2.3).

use alloc::{
    collections::{BTreeMap, BTreeSet},
    vec::Vec,
};

use lighterman_ids::ContainerName;
use lighterman_status::ContainerStatus;

use crate::{
    Condition, ContainerPlan, Edge, Gate, Graph, GraphError, Member, Node, Plan, Problem, ResourceName, ResourcePlan,
    Source,
    graph::{Container, PlacedGate, Resource},
    waits,
};

impl Graph {
    /// The graph of this plan.
    ///
    /// Stricter than the spec's admission in this: what a container is to become does not matter, so that a ring is
    /// refused for a task that is only to stop as well; and a transition dependency on what is not there, or one that
    /// nobody could ever fulfil, is refused rather than waited for.
    ///
    /// # Errors
    /// The plan breaks the structure; the error names everything that does. Rings are looked for once no name stands
    /// twice: who waits for whom is not known before.
    pub fn build(plan: Plan) -> Result<Self, GraphError> {
        let mut builder = Builder::new(&plan);
        let members = plan.containers.iter().map(|container| builder.container(container)).collect();
        let resources = plan.resources.iter().map(|resource| builder.resource(resource)).collect();
        let mut problems = builder.problems;
        let names = plan.containers.into_iter().map(|container| container.name).collect();
        let mut graph = Self { names, members, resources };
        if !problems.iter().any(Problem::is_of_names) {
            problems.extend(waits::rings_of(&graph).map(Problem::Ring));
        }
        GraphError::check(problems)?;
        graph.note_dependents();
        Ok(graph)
    }

    /// Whether every condition can come true with what the containers desire (engine.md 2.3). Asked once, for a new
    /// task, after its desired statuses are derived.
    ///
    /// # Errors
    /// Some conditions cannot; the error names all of them.
    ///
    /// # Panics
    /// `nodes` are not the containers of this graph in its order.
    pub fn admit(&self, nodes: &[Node<'_>]) -> Result<(), GraphError> {
        self.check_order(nodes);
        let unmet = self.edges().filter(|edge| !self.can_resolve(edge, nodes));
        GraphError::check(unmet.map(|edge| self.cannot_resolve(edge, nodes)).collect())
    }

    fn can_resolve(&self, edge: &Edge, nodes: &[Node<'_>]) -> bool {
        let (dependent, on) = (&nodes[edge.dependent], &nodes[edge.on]);
        if !self.is_wanted_up(edge.dependent, dependent.desired) {
            return true;
        }
        let is_to_be_up = on.desired == self.members[edge.on].steady.status();
        let is_to_exist = is_to_be_up || on.desired == ContainerStatus::Created;
        match edge.condition {
            Condition::Create | Condition::Complete | Condition::Healthy => is_to_exist || on.desired.is_terminal(),
            Condition::Success => is_to_exist || on.desired.is_terminal() || on.has_succeeded(),
            Condition::Start if dependent.desired == ContainerStatus::Created => is_to_exist,
            Condition::Start => is_to_be_up,
        }
    }

    fn cannot_resolve(&self, edge: &Edge, nodes: &[Node<'_>]) -> Problem {
        let (dependent, on) = (self.names[edge.dependent].clone(), self.names[edge.on].clone());
        let (condition, line, desired) = (edge.condition, edge.source, nodes[edge.on].desired);
        Problem::CannotResolve { dependent, on, condition, line, desired }
    }

    fn note_dependents(&mut self) {
        for place in 0..self.members.len() {
            for at in 0..self.members[place].edges.len() {
                let on = self.members[place].edges[at].on;
                let dependents = &mut self.members[on].dependents;
                if dependents.last() != Some(&place) {
                    dependents.push(place);
                }
            }
        }
    }
}

impl Problem {
    /// Whether it leaves open who is meant, so that rings cannot be told.
    const fn is_of_names(&self) -> bool {
        match self {
            Self::NoContainers | Self::DuplicateName { .. } | Self::DuplicateResource { .. } => true,
            // What leads nowhere is left out of every ring.
            Self::Missing { .. }
            | Self::MissingGate { .. }
            | Self::TooLate { .. }
            | Self::OnItself { .. }
            | Self::NoHealthCheck { .. }
            | Self::WaitsForEssential { .. }
            | Self::Ring(_)
            | Self::CannotResolve { .. } => false,
        }
    }
}

/// Looks names up and collects what is wrong.
struct Builder<'a> {
    plan: &'a Plan,
    containers: BTreeMap<&'a ContainerName, usize>,
    resources: BTreeMap<&'a ResourceName, usize>,
    problems: Vec<Problem>,
}

impl<'a> Builder<'a> {
    fn new(plan: &'a Plan) -> Self {
        let mut problems = Vec::new();
        if plan.containers.is_empty() {
            problems.push(Problem::NoContainers);
        }
        let duplicate = |name: &ContainerName| Problem::DuplicateName { name: name.clone() };
        let containers = places(plan.containers.iter().map(|container| &container.name), duplicate, &mut problems);
        let duplicate = |name: &ResourceName| Problem::DuplicateResource { name: name.clone() };
        let resources = places(plan.resources.iter().map(|resource| &resource.name), duplicate, &mut problems);
        Self { plan, containers, resources, problems }
    }

    fn container(&mut self, plan: &ContainerPlan) -> Container {
        let mut gates: Vec<_> = plan.gates.iter().filter_map(|gate| self.gate(plan, gate)).collect();
        // Stable: within each kind the order stays.
        gates.sort_by_key(|gate| match gate {
            PlacedGate::Container { .. } => 0,
            PlacedGate::Resource { .. } => 1,
        });
        Container {
            steady: plan.steady,
            start_timeout: plan.start_timeout.filter(|timeout| !timeout.is_zero()),
            pull_needs_role: plan.pull_needs_role,
            edges: self.edges(plan).into(),
            dependents: Vec::new(),
            gates: gates.into(),
        }
    }

    /// The edges in the order in which they are checked: as received, then those that follow from other lines (2.1).
    fn edges(&mut self, plan: &ContainerPlan) -> Vec<Edge> {
        let mut edges = Vec::new();
        for (at, (on, condition)) in plan.depends_on.iter().enumerate() {
            edges.extend(self.edge(plan, on, *condition, Source::DependsOn { at }));
        }
        for (at, on) in plan.volumes_from.iter().enumerate() {
            edges.extend(self.edge(plan, on, Condition::Create, Source::VolumesFrom { at }));
        }
        for (at, on) in plan.links.iter().enumerate() {
            edges.extend(self.edge(plan, on, Condition::Start, Source::Links { at }));
        }
        if let Some(router) = plan.logs_to.as_ref().filter(|router| self.waits_for_router(plan, router)) {
            edges.extend(self.edge(plan, router, Condition::Start, Source::LogRouter));
        }
        edges
    }

    fn waits_for_router(&self, plan: &ContainerPlan, router: &ContainerName) -> bool {
        let is_free = |router: &ContainerPlan| router.written_edges().next().is_none();
        plan.name != *router
            && plan.written_edges().all(|on| on != router)
            && self.containers.get(router).is_none_or(|place| is_free(&self.plan.containers[*place]))
    }

    /// The edge, unless it leads nowhere.
    fn edge(&mut self, plan: &ContainerPlan, on: &ContainerName, condition: Condition, source: Source) -> Option<Edge> {
        let (dependent, line) = (plan.name.clone(), source);
        if *on == plan.name {
            self.problems.push(Problem::OnItself { name: dependent, condition, line });
            return None;
        }
        let Some(place) = self.containers.get(on).copied() else {
            self.problems.push(Problem::Missing { dependent, name: on.clone(), line });
            return None;
        };
        let target = &self.plan.containers[place];
        if condition == Condition::Healthy && !target.has_health_check {
            let (dependent, on) = (dependent.clone(), on.clone());
            self.problems.push(Problem::NoHealthCheck { dependent, on, line });
        }
        if condition.waits_for_the_end() && target.essential {
            self.problems.push(Problem::WaitsForEssential { dependent, on: on.clone(), condition, line });
        }
        Some(Edge { dependent: self.containers[&plan.name], on: place, condition, source })
    }

    fn gate(&mut self, plan: &ContainerPlan, gate: &Gate) -> Option<PlacedGate> {
        let waiting = || Member::Container(plan.name.clone());
        let is_on_the_way_up = |toward: ContainerStatus| !toward.is_after(plan.steady.status());
        match gate {
            Gate::Container { toward, on, reached } => {
                let place = self.container_place(on, waiting)?;
                if is_on_the_way_up(*toward) {
                    self.check_reached(place, *reached, waiting);
                }
                Some(PlacedGate::Container { toward: *toward, on: place, reached: *reached })
            }
            Gate::Resource { toward, on, reached } => {
                let Some(place) = self.resources.get(on).copied() else {
                    let on = Member::Resource(on.clone());
                    self.problems.push(Problem::MissingGate { waiting: waiting(), on });
                    return None;
                };
                if is_on_the_way_up(*toward) && reached.is_terminal() {
                    let (on, reached) = (Member::Resource(on.clone()), reached.as_str());
                    self.problems.push(Problem::TooLate { waiting: waiting(), on, reached });
                }
                Some(PlacedGate::Resource { toward: *toward, on: place, reached: *reached })
            }
        }
    }

    fn resource(&mut self, plan: &ResourcePlan) -> Resource {
        let waiting = || Member::Resource(plan.name.clone());
        let mut after = Vec::new();
        for (on, reached) in &plan.after {
            if let Some(place) = self.container_place(on, waiting) {
                self.check_reached(place, *reached, waiting);
                after.push((place, *reached));
            }
        }
        Resource { name: plan.name.clone(), needs_role: plan.needs_role, after: after.into() }
    }

    /// Beyond its steady state an essential container is only once the task is over.
    fn check_reached(&mut self, place: usize, reached: ContainerStatus, waiting: impl Fn() -> Member) {
        let on = &self.plan.containers[place];
        if on.essential && reached.is_after(on.steady.status()) {
            let (on, reached) = (Member::Container(on.name.clone()), reached.as_str());
            self.problems.push(Problem::TooLate { waiting: waiting(), on, reached });
        }
    }

    fn container_place(&mut self, name: &ContainerName, waiting: impl Fn() -> Member) -> Option<usize> {
        let place = self.containers.get(name).copied();
        if place.is_none() {
            self.problems.push(Problem::MissingGate { waiting: waiting(), on: Member::Container(name.clone()) });
        }
        place
    }
}

impl ContainerPlan {
    /// The containers it names in its own lines.
    fn written_edges(&self) -> impl Iterator<Item = &ContainerName> {
        self.depends_on.iter().map(|(on, _)| on).chain(&self.volumes_from).chain(&self.links)
    }
}

/// Where each name stands first; a name that stands twice is reported once.
fn places<'a, N: Ord>(
    names: impl Iterator<Item = &'a N>,
    duplicate: impl Fn(&N) -> Problem,
    problems: &mut Vec<Problem>,
) -> BTreeMap<&'a N, usize> {
    let mut places = BTreeMap::new();
    let mut reported = BTreeSet::new();
    for (place, name) in names.enumerate() {
        if let Some(first) = places.get(name) {
            if reported.insert(*first) {
                problems.push(duplicate(name));
            }
        } else {
            places.insert(name, place);
        }
    }
    places
}
