//! Random tasks: admission against a naive reading of the spec, and whole lives in an honest world.

use std::collections::BTreeSet;

use lighterman_graph::{
    Condition, ContainerPlan, Gate, Graph, Node, Plan, Problem, Readiness, ResourceName, ResourceNode, ResourcePlan,
    ResourceReadiness, ResourceStep, Snapshot, Source, Step, Tie,
};
use lighterman_ids::{ContainerName, Moment, VolumeName};
use lighterman_status::{ContainerKind, ContainerStatus as C, Health, ResourceStatus as R, SteadyState, TaskStatus};
use proptest::{prelude::*, sample};

use crate::name;

const NAMES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

fn condition() -> impl Strategy<Value = Condition> {
    sample::select(Condition::ALL)
}

/// A container that depends on anything, itself and what is not there included.
fn wild_container() -> impl Strategy<Value = ContainerPlan> {
    let any_name = || sample::select(&["a", "b", "c", "d", "e", "f", "g"][..]).prop_map(name);
    let depends_on = prop::collection::vec((any_name(), condition()), 0..2);
    let names = || prop::collection::vec(any_name(), 0..2);
    let router = prop::option::weighted(0.2, any_name());
    let flags = (prop::bool::weighted(0.7), prop::bool::weighted(0.2), sample::select(SteadyState::ALL));
    (depends_on, names(), names(), router, flags).prop_map(|(depends_on, volumes_from, links, logs_to, flags)| {
        let (has_health_check, essential, steady) = flags;
        let edges = ContainerPlan { depends_on, volumes_from, links, logs_to, ..ContainerPlan::new(name("a")) };
        ContainerPlan { has_health_check, essential, steady, ..edges }
    })
}

fn wild() -> impl Strategy<Value = Plan> {
    prop::collection::vec(wild_container(), 1..=NAMES.len()).prop_map(|mut containers| {
        for (container, text) in containers.iter_mut().zip(NAMES) {
            container.name = name(text);
        }
        Plan::new(containers)
    })
}

/// The edges of a container as 2.1 has them, by name.
fn edges_of(plan: &Plan, container: &ContainerPlan) -> Vec<(ContainerName, Condition)> {
    let written = |container: &ContainerPlan| {
        let mut edges = container.depends_on.clone();
        edges.extend(container.volumes_from.iter().map(|on| (on.clone(), Condition::Create)));
        edges.extend(container.links.iter().map(|on| (on.clone(), Condition::Start)));
        edges
    };
    let mut edges = written(container);
    if let Some(router) = &container.logs_to {
        let has_edges = plan.containers.iter().any(|other| other.name == *router && !written(other).is_empty());
        let depends = edges.iter().any(|(on, _)| on == router);
        if !has_edges && !depends && *router != container.name {
            edges.push((router.clone(), Condition::Start));
        }
    }
    edges
}

/// Engine.md 2.2, as it stands there: move over whatever can resolve against what was moved over.
fn naive_admission(plan: &Plan, desired: &[C]) -> bool {
    let mut resolved: BTreeSet<usize> = BTreeSet::new();
    loop {
        let next = (0..plan.containers.len())
            .find(|c| !resolved.contains(c) && naive_can_resolve(plan, desired, *c, &resolved));
        match next {
            Some(c) => resolved.insert(c),
            None => return resolved.len() == plan.containers.len(),
        };
    }
}

/// Engine.md 2.3.
fn naive_can_resolve(plan: &Plan, desired: &[C], c: usize, resolved: &BTreeSet<usize>) -> bool {
    let container = &plan.containers[c];
    let to_steady = desired[c] == container.steady.status();
    if !to_steady && desired[c] != C::Created {
        return true;
    }
    edges_of(plan, container).iter().all(|(on, condition)| {
        let Some(d) = resolved.iter().copied().find(|d| plan.containers[*d].name == *on) else { return false };
        let steady = plan.containers[d].steady.status();
        let like_create = [C::Created, C::Stopped, steady].contains(&desired[d]);
        match condition {
            Condition::Create | Condition::Complete | Condition::Success => like_create,
            Condition::Start => {
                desired[c] == C::Created && [C::Created, steady].contains(&desired[d])
                    || to_steady && desired[d] == steady
            }
            Condition::Healthy => like_create && plan.containers[d].has_health_check,
        }
    })
}

/// Taskdef.md V43, which the admission of the spec leaves to others.
fn waits_for_essential(plan: &Plan) -> bool {
    let is_essential = |on: &ContainerName| plan.containers.iter().any(|d| d.name == *on && d.essential);
    let ends = |condition| matches!(condition, Condition::Complete | Condition::Success);
    plan.containers.iter().flat_map(|c| edges_of(plan, c)).any(|(on, condition)| ends(condition) && is_essential(&on))
}

/// Whether the graph takes the plan and what its containers desire.
fn admits(plan: &Plan, desired: &[C]) -> bool {
    Graph::build(plan.clone()).is_ok_and(|graph| {
        let mut nodes = graph.nodes();
        nodes.iter_mut().zip(desired).for_each(|(node, desired)| node.desired = *desired);
        graph.admit(&nodes).is_ok()
    })
}

/// Every step of every ring stands in the plan.
fn check_rings(plan: &Plan) {
    let Err(error) = Graph::build(plan.clone()) else { return };
    for problem in error.problems() {
        let Problem::Ring(ring) = problem else { continue };
        for (n, (from, tie)) in ring.steps().iter().enumerate() {
            let (from, to) = (from.to_string(), ring.steps()[(n + 1) % ring.steps().len()].0.to_string());
            let Tie::Edge { condition, source } = tie else { panic!("there are no other ties: {tie:?}") };
            let container = plan.containers.iter().find(|c| c.name.as_str() == from).unwrap();
            let written = match source {
                Source::DependsOn { at } => container.depends_on[*at].clone(),
                Source::VolumesFrom { at } => (container.volumes_from[*at].clone(), Condition::Create),
                Source::Links { at } => (container.links[*at].clone(), Condition::Start),
                Source::LogRouter => (container.logs_to.clone().unwrap(), Condition::Start),
            };
            assert_eq!(written, (name(&to), *condition));
        }
    }
}

/// A task that can be admitted: containers depend on later ones only.
fn tame() -> impl Strategy<Value = Plan> {
    let edges = prop::collection::vec((1..NAMES.len(), condition(), 0..3_usize), 0..3);
    let gates = prop::collection::vec((1..NAMES.len(), sample::select(C::ALL), sample::select(C::ALL)), 0..2);
    let container = (edges, gates, any::<u8>());
    let containers = prop::collection::vec(container, 1..=NAMES.len());
    (containers, any::<u8>()).prop_map(|(containers, surroundings)| {
        let n = containers.len();
        let mut plan = Plan::new(NAMES[..n].iter().map(|text| ContainerPlan::new(name(text))).collect());
        for (c, (edges, gates, needs)) in containers.iter().enumerate() {
            for (step, condition, line) in edges.iter().filter(|(step, _, _)| c + step < n) {
                let on = name(NAMES[c + step]);
                plan.containers[c + step].has_health_check |= *condition == Condition::Healthy;
                let ends = matches!(condition, Condition::Success | Condition::Complete);
                plan.containers[c + step].essential &= !ends;
                match line {
                    0 => plan.containers[c].links.push(on),
                    1 => plan.containers[c].volumes_from.push(on),
                    _ => plan.containers[c].depends_on.push((on, *condition)),
                }
            }
            for (step, toward, reached) in gates {
                // In any direction, to any status: many of these are refused.
                let (toward, reached) = (*toward, *reached);
                plan.containers[c].gates.push(Gate::Container { toward, on: name(NAMES[(c + step) % n]), reached });
            }
            need(&mut plan, c, *needs);
        }
        surround(&mut plan, surroundings);
        plan
    })
}

fn need(plan: &mut Plan, c: usize, needs: u8) {
    let resources =
        [ResourceName::SsmSecret, ResourceName::AsmAuth, ResourceName::Volume(VolumeName::parse("data").unwrap())];
    for (n, resource) in resources.into_iter().enumerate().filter(|(n, _)| needs & (8 << n) == 8 << n) {
        plan.containers[c].need(resource.clone());
        if plan.resources.iter().all(|other| other.name != resource) {
            let after = if n == 2 { vec![(name("net"), C::ResourcesProvisioned)] } else { Vec::new() };
            plan.resources.push(ResourcePlan { after, ..ResourcePlan::new(resource) });
        }
    }
}

fn surround(plan: &mut Plan, surroundings: u8) {
    let pause = |text, kind: ContainerKind| ContainerPlan {
        kind,
        steady: kind.steady_state(),
        ..ContainerPlan::new(name(text))
    };
    // A volume may be mounted through the network.
    plan.containers.push(pause("net", ContainerKind::CniPause));
    if surroundings & 1 == 1 {
        plan.share_network_of(&name("net"));
    }
    if surroundings & 2 == 2 {
        plan.containers.insert(0, pause("pid", ContainerKind::NamespacePause));
        plan.share_namespaces_of(&name("pid"));
    }
    if surroundings & 4 == 4 {
        plan.run_in_cgroup();
    }
}

/// A runtime in which everything succeeds, programs get healthy, and only jobs end.
struct World<'a> {
    graph: &'a Graph,
    jobs: Vec<bool>,
    checked: Vec<bool>,
    nodes: Vec<Node<'a>>,
    resources: Vec<ResourceNode>,
    task: TaskStatus,
    /// In the order in which they came to be STOPPED.
    stopped: Vec<usize>,
}

/// Something that can happen next.
#[derive(Clone, Copy, Debug)]
enum Turn {
    Begin(usize, Step),
    Answer(usize),
    GetHealthy(usize),
    End(usize),
    BeginResource(usize, ResourceStep),
    AnswerResource(usize),
}

impl<'a> World<'a> {
    fn new(plan: &Plan, graph: &'a Graph) -> Self {
        let is_awaited = |c: &ContainerPlan| {
            let ends = |condition| matches!(condition, Condition::Success | Condition::Complete);
            let mut edges = plan.containers.iter().flat_map(|other| edges_of(plan, other));
            let gates = plan.containers.iter().flat_map(|other| &other.gates);
            let mut gates = gates.filter_map(|gate| match gate {
                Gate::Container { on, reached, .. } => Some((on, *reached)),
                Gate::Resource { .. } => None,
            });
            let by_gate = gates.any(|(on, reached)| *on == c.name && reached.is_after(c.steady.status()));
            edges.any(|(on, condition)| on == c.name && ends(condition)) || by_gate && !c.essential
        };
        let mut world = Self {
            graph,
            jobs: plan.containers.iter().map(is_awaited).collect(),
            checked: plan.containers.iter().map(|c| c.has_health_check).collect(),
            nodes: graph.nodes(),
            resources: vec![
                ResourceNode { known: R::None, desired: R::Created, applied: R::None };
                plan.resources.len()
            ],
            task: TaskStatus::Running,
            stopped: Vec::new(),
        };
        for (node, container) in world.nodes.iter_mut().zip(&plan.containers) {
            node.desired = container.steady.status();
        }
        world
    }

    fn snapshot(&self) -> Snapshot<'_> {
        Snapshot { task_desired: self.task, resources: &self.resources, ..Snapshot::new(&self.nodes) }
    }

    fn turns(&self) -> Vec<Turn> {
        let mut turns = Vec::new();
        for (c, readiness) in self.graph.readiness(&self.snapshot()).into_iter().enumerate() {
            match readiness {
                Readiness::Ready(step) => turns.push(Turn::Begin(c, step)),
                Readiness::PastDesired | Readiness::Blocked(_) => {}
                Readiness::Fatal(fatal) => panic!("in an honest world: {}", self.graph.fatal_text(&fatal)),
            }
            let node = &self.nodes[c];
            if node.applied != C::None {
                turns.push(Turn::Answer(c));
            }
            if node.known.is_running() && self.checked[c] && node.health == Health::Unknown {
                turns.push(Turn::GetHealthy(c));
            } else if node.known.is_running() && self.jobs[c] {
                turns.push(Turn::End(c));
            }
        }
        for (r, readiness) in self.graph.resource_readiness(&self.snapshot()).into_iter().enumerate() {
            if let ResourceReadiness::Ready(step) = readiness {
                turns.push(Turn::BeginResource(r, step));
            }
            if self.resources[r].applied != R::None {
                turns.push(Turn::AnswerResource(r));
            }
        }
        turns
    }

    fn take(&mut self, turn: Turn) {
        match turn {
            Turn::Begin(c, Step::MarkStopped) => self.learn(c, C::Stopped),
            Turn::Begin(c, step) => {
                self.check_begin(c, step);
                self.nodes[c].applied = step.toward();
            }
            Turn::Answer(c) => {
                let toward = self.nodes[c].applied;
                self.nodes[c].applied = C::None;
                // A late result of what was given up changes nothing.
                if self.nodes[c].known.is_before(toward) {
                    self.learn(c, toward);
                }
            }
            Turn::GetHealthy(c) => self.nodes[c].health = Health::Healthy,
            Turn::End(c) => {
                self.nodes[c].exit_code = Some(0);
                self.learn(c, C::Stopped);
            }
            Turn::BeginResource(r, ResourceStep::MarkRemoved) => self.resources[r].known = R::Removed,
            Turn::BeginResource(r, ResourceStep::Create) => self.resources[r].applied = R::Created,
            Turn::AnswerResource(r) => {
                let resource = &mut self.resources[r];
                resource.known = resource.known.later_of(resource.applied);
                resource.applied = R::None;
            }
        }
    }

    fn learn(&mut self, c: usize, known: C) {
        let node = &mut self.nodes[c];
        node.known = known;
        if !node.applied.is_after(known) {
            node.applied = C::None;
        }
        node.was_created |= known == C::Created;
        if known.is_running() {
            node.started_at.get_or_insert_with(Moment::default);
        }
        if known.is_terminal() {
            node.desired = C::Stopped;
            self.stopped.push(c);
        }
    }

    /// What 2.1 promises to whoever wrote the task, without regard to how it is decided.
    fn check_begin(&self, c: usize, step: Step) {
        for edge in self.graph.edges().filter(|edge| edge.dependent == c) {
            let on = &self.nodes[edge.on];
            let holds = match edge.condition {
                Condition::Create => on.was_created,
                Condition::Start => on.started_at.is_some(),
                Condition::Complete | Condition::Success => on.exit_code == Some(0),
                Condition::Healthy => on.health == Health::Healthy,
            };
            let goes_up = matches!(step, Step::Pull | Step::Create | Step::Start | Step::Provision);
            assert!(holds || !goes_up, "{step:?} of {c} before {edge:?}");
        }
        for dependent in self.graph.dependents(c) {
            let may_stop = step != Step::Stop || self.nodes[*dependent].known.is_terminal();
            assert!(may_stop, "{c} stops before {dependent}, which needs it");
        }
    }

    fn stop(&mut self) {
        self.task = TaskStatus::Stopped;
        self.nodes.iter_mut().for_each(|node| node.desired = C::Stopped);
        self.resources.iter_mut().for_each(|resource| resource.desired = R::Removed);
    }

    fn is_up(&self) -> bool {
        self.nodes.iter().all(|node| node.known.at_least(node.desired))
            && self.resources.iter().all(|resource| resource.known == R::Created)
    }
}

/// Lets things happen in the order that `dice` gives, until nothing can or `left` turns were taken.
fn live(world: &mut World<'_>, dice: &mut impl FnMut(usize) -> usize, mut left: usize) {
    while left > 0 {
        let turns = world.turns();
        if turns.is_empty() {
            return;
        }
        world.take(turns[dice(turns.len())]);
        left -= 1;
    }
}

/// Turns that no task of this size needs.
const ENOUGH: usize = 10_000;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn admission_agrees_with_a_naive_reading(plan in wild(), task in sample::select(&[TaskStatus::Running, TaskStatus::Created][..])) {
        let desired: Vec<C> = plan.containers.iter().map(|c| task.container_desired(c.steady)).collect();
        let expected = naive_admission(&plan, &desired) && !waits_for_essential(&plan);
        prop_assert_eq!(admits(&plan, &desired), expected, "{:?}", Graph::build(plan.clone()));
        check_rings(&plan);
    }

    /// Whatever single containers desire: nobody is admitted whom the spec refuses, and who is well-formed is judged
    /// as the spec judges.
    #[test]
    fn admission_looks_at_desired_statuses(plan in wild(), desired in prop::collection::vec(sample::select(C::ALL), 6)) {
        let desired = &desired[..plan.containers.len()];
        let expected = naive_admission(&plan, desired);
        if Graph::build(plan.clone()).is_ok() {
            prop_assert_eq!(admits(&plan, desired), expected);
        }
    }

    /// In an honest world every admitted task comes up, whatever the order in which things happen; and comes down
    /// from wherever it is, in the order of its edges.
    #[test]
    fn an_admitted_task_comes_up_and_down(plan in tame(), seed in any::<u64>(), until in 0..200_usize) {
        let Ok(graph) = Graph::build(plan.clone()) else { return Ok(()) };
        let mut state = seed;
        let mut dice = |sides: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(state >> 33).unwrap() % sides
        };
        let mut world = World::new(&plan, &graph);
        live(&mut world, &mut dice, ENOUGH);
        prop_assert!(world.is_up(), "{}\n{:?}", graph.to_text(&world.nodes), graph.readiness(&world.snapshot()));

        let mut world = World::new(&plan, &graph);
        live(&mut world, &mut dice, until);
        let before = world.stopped.len();
        world.stop();
        live(&mut world, &mut dice, ENOUGH);
        let end = graph.readiness(&world.snapshot());
        prop_assert!(world.nodes.iter().all(|node| node.known.is_terminal()), "{}\n{end:?}", graph.to_text(&world.nodes));
        prop_assert!(world.resources.iter().all(|resource| resource.known == R::Removed));
        check_order(&world, before)?;
    }

    #[test]
    fn the_shutdown_order_respects_every_edge(plan in tame()) {
        let Ok(graph) = Graph::build(plan.clone()) else { return Ok(()) };
        let order = graph.shutdown_order();
        let group = |name: &ContainerName| order.iter().position(|group| group.contains(&name)).unwrap();
        prop_assert_eq!(order.iter().map(Vec::len).sum::<usize>(), graph.names().len());
        let mut pairs: Vec<(ContainerName, ContainerName)> = Vec::new();
        for container in &plan.containers {
            pairs.extend(edges_of(&plan, container).into_iter().map(|(on, _)| (container.name.clone(), on)));
            for gate in &container.gates {
                if let Gate::Container { toward: C::Stopped, on, reached: C::Stopped } = gate {
                    pairs.push((on.clone(), container.name.clone()));
                }
            }
        }
        for (first, then) in &pairs {
            prop_assert!(group(first) < group(then), "{} before {}", first, then);
        }
        for name in graph.names().iter().filter(|name| group(name) > 0) {
            let waits = pairs.iter().any(|(first, then)| then == name && group(first) + 1 == group(name));
            prop_assert!(waits, "{} stops later than it has to", name);
        }
    }
}

/// Who has an edge stops before what it depends on, unless that is a job, which may end at any time.
fn check_order(world: &World<'_>, before: usize) -> Result<(), TestCaseError> {
    let place = |c| world.stopped[before..].iter().position(|other| *other == c);
    for edge in world.graph.edges().filter(|edge| !world.jobs[edge.on]) {
        if let (Some(dependent), Some(on)) = (place(edge.dependent), place(edge.on)) {
            prop_assert!(dependent < on, "{edge:?}");
        }
    }
    Ok(())
}

/// Most random tasks are admitted, so that the properties above say something.
#[test]
fn enough_of_the_tame_tasks_are_admitted() {
    use proptest::{strategy::ValueTree as _, test_runner::TestRunner};
    let mut runner = TestRunner::deterministic();
    let admitted = (0..1_000).filter(|_| Graph::build(tame().new_tree(&mut runner).unwrap().current()).is_ok()).count();
    assert!(admitted > 300, "{admitted} of 1000");
}
