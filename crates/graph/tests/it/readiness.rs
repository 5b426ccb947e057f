//! What a container may do, over all its statuses.

use std::fmt::Write as _;

use lighterman_graph::{
    Block, Condition, ContainerPlan, Gate, Graph, Node, Plan, Readiness, ResourceName, ResourceNode, ResourcePlan,
    Snapshot, Step,
};
use lighterman_status::{ContainerStatus as C, ResourceStatus as R, SteadyState, TaskStatus};

use crate::{after, first, graph, name, node, plan};

fn alone(steady: SteadyState) -> Graph {
    graph(&[ContainerPlan { steady, ..plan("web") }])
}

/// Every status a container can have and be to have, whenever it counts as up.
fn over_all_statuses(mut check: impl FnMut(&Graph, SteadyState, Node<'_>)) {
    for steady in SteadyState::ALL.iter().copied() {
        let graph = alone(steady);
        for known in C::ALL.iter().copied() {
            for desired in C::ALL.iter().copied() {
                check(&graph, steady, node(&graph.names()[0], known, desired));
            }
        }
    }
}

#[test]
fn one_container_over_all_pairs() {
    let mut table = String::new();
    for steady in SteadyState::ALL {
        writeln!(table, "up at {}; known downwards, desired across:", steady.status()).unwrap();
        writeln!(table, "{:24}{}", "", C::ALL.map_join(|desired| format!("{desired:<24}"))).unwrap();
        let graph = alone(*steady);
        for known in C::ALL {
            let cells = C::ALL.map_join(|desired| {
                let cell = match first(&graph, &[node(&graph.names()[0], *known, *desired)]) {
                    Readiness::PastDesired => "-".to_owned(),
                    Readiness::Ready(step) => format!("{step:?}"),
                    Readiness::Blocked(block) => panic!("it waits for nobody: {block:?}"),
                    Readiness::Fatal(fatal) => panic!("it depends on nobody: {fatal:?}"),
                };
                format!("{cell:<24}")
            });
            writeln!(table, "{}", format!("{known:<24}{cells}").trim_end()).unwrap();
        }
    }
    insta::assert_snapshot!(table);
}

trait MapJoin {
    fn map_join(&self, cell: impl Fn(&C) -> String) -> String;
}

impl MapJoin for &[C] {
    fn map_join(&self, cell: impl Fn(&C) -> String) -> String {
        self.iter().map(cell).collect::<String>().trim_end().to_owned()
    }
}

/// The transition under way decides only where there is a step to take.
#[test]
fn e9_over_all_statuses_a_step_waits_for_the_transition_under_way() {
    over_all_statuses(|graph, _, idle| {
        for applied in C::ALL.iter().copied().filter(|applied| *applied != C::None) {
            let expected = match first(graph, &[idle]) {
                Readiness::Ready(Step::MarkStopped) if applied != C::Running => Readiness::Ready(Step::MarkStopped),
                Readiness::Ready(_) => Readiness::Blocked(Block::InFlight { toward: applied }),
                Readiness::PastDesired => Readiness::PastDesired,
                other => panic!("nothing is under way: {other:?}"),
            };
            assert_eq!(first(graph, &[Node { applied, ..idle }]), expected, "{idle:?} {applied}");
        }
    });
}

#[test]
fn a_step_leads_to_the_next_known_status() {
    over_all_statuses(|graph, steady, node| match first(graph, &[node]) {
        Readiness::Ready(step @ (Step::Stop | Step::MarkStopped)) => assert_eq!(step.toward(), C::Stopped),
        Readiness::Ready(step) => assert_eq!(Some(step.toward()), node.known.next(steady)),
        Readiness::PastDesired => assert!(node.known.at_least(node.desired), "{node:?}"),
        other => panic!("nothing is under way: {other:?}"),
    });
}

#[test]
fn every_step_can_be_reached() {
    let mut missing: Vec<_> = Step::ALL.to_vec();
    over_all_statuses(|graph, _, node| {
        let readiness = first(graph, &[node]);
        missing.retain(|step| Readiness::Ready(*step) != readiness);
    });
    assert_eq!(missing, []);
}

#[test]
fn e39_a_start_in_flight_is_waited_for_a_create_in_flight_is_not() {
    let graph = alone(SteadyState::Running);
    let web = &graph.names()[0];
    let stopping = node(web, C::Created, C::Stopped);
    let wait = Readiness::Blocked(Block::InFlight { toward: C::Running });
    assert_eq!(first(&graph, &[Node { applied: C::Running, ..stopping }]), wait, "it would come back");
    let stopping = node(web, C::Pulled, C::Stopped);
    assert_eq!(first(&graph, &[Node { applied: C::Created, ..stopping }]), Readiness::Ready(Step::MarkStopped));
}

#[test]
fn e40_containers_without_edges_do_not_wait_for_each_other() {
    let graph = graph(&[plan("web"), plan("db")]);
    let nodes = [node(&graph.names()[0], C::None, C::Running), node(&graph.names()[1], C::Running, C::Stopped)];
    let answers = graph.readiness(&Snapshot::new(&nodes));
    assert_eq!(answers, [Readiness::Ready(Step::ResolveDigest), Readiness::Ready(Step::Stop)]);
}

/// 1.9: what is in flight is told last, so that a reason to give up or to wait is not hidden by it.
#[test]
fn a_dependency_is_looked_at_while_a_transition_is_under_way() {
    let graph = graph(&[after("c", &[("d", Condition::Start)]), plan("d")]);
    let c = Node { applied: C::Pulled, ..node(&graph.names()[0], C::ManifestPulled, C::Running) };
    let d = node(&graph.names()[1], C::Stopped, C::Stopped);
    assert!(matches!(first(&graph, &[c, d]), Readiness::Fatal(_)));
}

/// Step D asks for the next status on the way and no other, containers before resources.
#[test]
fn over_all_gates_only_the_next_status_is_held_back() {
    for toward in C::ALL.iter().copied() {
        let mut web = plan("web");
        web.gates = vec![
            Gate::Resource { toward, on: ResourceName::Cgroup, reached: R::Created },
            Gate::Container { toward, on: name("pause"), reached: C::Running },
        ];
        let plan =
            Plan { containers: vec![web, plan("pause")], resources: vec![ResourcePlan::new(ResourceName::Cgroup)] };
        let graph = Graph::build(plan).unwrap();
        for known in C::ALL.iter().copied() {
            let mut nodes = graph.nodes();
            nodes[0] = Node { known, desired: C::Stopped, ..nodes[0] };
            let ask = |pause: C, cgroup: R| {
                let nodes = [nodes[0], Node { known: pause, ..nodes[1] }];
                let resources = [ResourceNode { known: cgroup, desired: R::Created, applied: R::None }];
                let readiness = graph.readiness_of(0, &Snapshot { resources: &resources, ..Snapshot::new(&nodes) });
                match readiness {
                    Readiness::Blocked(Block::Container { .. }) => "container",
                    Readiness::Blocked(Block::Resource { .. }) => "resource",
                    Readiness::Ready(_) | Readiness::PastDesired => "free",
                    other => panic!("{other:?}"),
                }
            };
            let holds = known.next(SteadyState::Running) == Some(toward);
            let expected = |held| if holds { held } else { "free" };
            assert_eq!(ask(C::Created, R::None), expected("container"), "{known} {toward}");
            assert_eq!(ask(C::Running, R::None), expected("resource"), "{known} {toward}");
            assert_eq!(ask(C::Stopped, R::None), expected("resource"), "{known} {toward}");
            assert_eq!(ask(C::Running, R::Created), "free");
            assert_eq!(ask(C::Stopped, R::Removed), "free");
        }
    }
}

/// Step A over all statuses: only who still has to pull, and is not to stop.
#[test]
fn e31_credentials_are_waited_for_until_the_image_is_there() {
    let graph = graph(&[ContainerPlan { pull_needs_role: true, ..plan("web") }]);
    for known in C::ALL.iter().copied() {
        for desired in C::ALL.iter().copied() {
            let nodes = [node(&graph.names()[0], known, desired)];
            let with = graph.readiness_of(0, &Snapshot::new(&nodes));
            let without = graph.readiness_of(0, &Snapshot { has_role_credentials: false, ..Snapshot::new(&nodes) });
            let waits = known.is_before(desired) && known.is_before(C::Pulled) && desired != C::Stopped;
            let expected = if waits { Readiness::Blocked(Block::Credentials) } else { with };
            assert_eq!(without, expected, "{known} {desired}");
        }
    }
}

/// The first step that fails is the answer: credentials, ordering, transition dependencies, stop order.
#[test]
fn the_steps_are_asked_in_their_order() {
    let mut web = ContainerPlan { pull_needs_role: true, ..after("web", &[("db", Condition::Start)]) };
    web.gates.push(Gate::Container { toward: C::Pulled, on: name("pause"), reached: C::Running });
    let graph = graph(&[web, plan("db"), plan("pause"), after("user", &[("web", Condition::Start)])]);
    let mut nodes = graph.nodes();
    nodes[0] = Node { known: C::ManifestPulled, desired: C::Running, ..nodes[0] };
    let mut has_role_credentials = false;
    let mut ask = |nodes: &[Node<'_>], task_desired| {
        let snapshot = Snapshot { has_role_credentials, task_desired, ..Snapshot::new(nodes) };
        has_role_credentials = true;
        match graph.readiness_of(0, &snapshot) {
            Readiness::Blocked(block) => graph.block_text(&block),
            other => format!("{other:?}"),
        }
    };
    let mut told = vec![ask(&nodes, TaskStatus::Running), ask(&nodes, TaskStatus::Running)];
    nodes[1].known = C::Running;
    told.push(ask(&nodes, TaskStatus::Running));
    nodes[0].desired = C::Stopped;
    told.push(ask(&nodes, TaskStatus::Stopped));
    nodes[2].known = C::Running;
    told.push(ask(&nodes, TaskStatus::Stopped));
    nodes[3].known = C::Stopped;
    told.push(ask(&nodes, TaskStatus::Stopped));
    insta::assert_snapshot!(told.join("\n"), @r"
    the credentials of the execution role
    db to be up (dependsOn[0])
    pause to be RUNNING, before it becomes PULLED
    pause to be RUNNING, before it becomes PULLED
    user to stop first
    Ready(MarkStopped)
    ");
}
