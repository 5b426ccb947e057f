//! Edge cases of the spec and field reports that concern the graph, by their ids.

use std::time::Duration;

use lighterman_graph::{
    Block, Condition, ContainerPlan, FatalCause, Graph, Node, Plan, Readiness, ResourceName, ResourceNode,
    ResourcePlan, ResourceReadiness, ResourceStep, Snapshot, Step,
};
use lighterman_ids::{Moment, Mono, VolumeName};
use lighterman_status::{ContainerKind, ContainerStatus as C, Health, ResourceStatus as R, SteadyState, TaskStatus};

use crate::{after, complaint, first, graph, name, plan};

fn at(seconds: u64) -> Moment {
    Moment { mono: Mono(seconds * 1_000_000_000), ..Moment::default() }
}

/// A container on its way to RUNNING; started at 0 s if it is that far.
fn up<'a>(node: Node<'a>, known: C) -> Node<'a> {
    let started_at = known.at_least(C::Running).then(|| at(0));
    Node { known, desired: C::Running, started_at, was_created: known.at_least(C::Created), ..node }
}

/// One that ran and ended with this code.
fn ended(node: Node<'_>, exit_code: i32) -> Node<'_> {
    Node { desired: C::Stopped, exit_code: Some(exit_code), ..up(node, C::Stopped) }
}

/// `c` depends on `d`; `c` is PULLED and `d` is as it is made.
fn ask(condition: Condition, change: impl FnOnce(&mut Node<'_>)) -> Readiness {
    let graph = graph(&[after("c", &[("d", condition)]), plan("d")]);
    let mut nodes = graph.nodes();
    nodes[0] = up(nodes[0], C::Pulled);
    change(&mut nodes[1]);
    first(&graph, &nodes)
}

fn fatal(readiness: Readiness) -> FatalCause {
    let Readiness::Fatal(fatal) = readiness else { panic!("it can never go on: {readiness:?}") };
    fatal.cause
}

fn is_blocked(readiness: &Readiness) -> bool {
    matches!(readiness, Readiness::Blocked(Block::Ordering(_)))
}

#[test]
fn e13_containers_that_wait_for_each_other_are_refused() {
    let containers = [after("c", &[("d", Condition::Start)]), after("d", &[("c", Condition::Start)])];
    let ring = "c -[dependsOn START]-> d -[dependsOn START]-> c";
    assert_eq!(complaint(&containers), format!("containers wait for each other: {ring}\n"));
}

#[test]
fn e14_a_name_that_is_not_in_the_task_is_refused() {
    let text = "c waits for nowhere, which is not in the task (dependsOn[0])\n";
    assert_eq!(complaint(&[after("c", &[("nowhere", Condition::Start)])]), text);
}

#[test]
fn e15_a_condition_in_lower_case_is_none() {
    assert!(Condition::parse("start").is_err());
    assert!(Condition::parse("RUNNING").is_err());
}

#[test]
fn e16_a_container_that_waits_for_itself_is_refused() {
    let text = "c waits for itself: c -[dependsOn COMPLETE]-> c\n";
    assert_eq!(complaint(&[after("c", &[("c", Condition::Complete)])]), text);
}

#[test]
fn e17_start_waits_for_the_steady_state_whichever_it_is() {
    let d = ContainerPlan { steady: SteadyState::ResourcesProvisioned, ..plan("d") };
    let graph = graph(&[after("c", &[("d", Condition::Start)]), d]);
    let nodes = graph.nodes();
    let ask = |known| first(&graph, &[up(nodes[0], C::Pulled), up(nodes[1], known)]);
    assert!(is_blocked(&ask(C::Running)));
    assert_eq!(ask(C::ResourcesProvisioned), Readiness::Ready(Step::Create));
}

#[test]
fn e18_success_of_what_failed_is_fatal() {
    assert_eq!(fatal(ask(Condition::Success, |d| *d = ended(*d, 1))), FatalCause::NotSuccessful { exit_code: Some(1) });
    assert_eq!(ask(Condition::Success, |d| *d = ended(*d, 0)), Readiness::Ready(Step::Create));
}

#[test]
fn e19_create_waits_for_the_container_to_exist() {
    let c = ContainerPlan { volumes_from: vec![name("d")], ..plan("c") };
    let graph = graph(&[c, plan("d")]);
    let nodes = graph.nodes();
    let ask = |known| first(&graph, &[up(nodes[0], C::Pulled), up(nodes[1], known)]);
    assert_eq!(ask(C::Created), Readiness::Ready(Step::Create));
    assert!(is_blocked(&ask(C::Pulled)));
}

#[test]
fn e20_the_digest_is_resolved_before_anything_is_waited_for() {
    let graph = graph(&[after("c", &[("d", Condition::Healthy)]), plan("d")]);
    let nodes = graph.nodes();
    let ask = |known| first(&graph, &[up(nodes[0], known), up(nodes[1], C::Running)]);
    assert_eq!(ask(C::None), Readiness::Ready(Step::ResolveDigest));
    assert!(is_blocked(&ask(C::ManifestPulled)));
}

#[test]
fn e20_images_pulled_upfront_wait_before_their_creation() {
    let graph = graph(&[after("c", &[("d", Condition::Healthy)]), plan("d")]);
    let nodes = graph.nodes();
    let ask = |known| {
        let nodes = [up(nodes[0], known), up(nodes[1], C::Running)];
        graph.readiness_of(0, &Snapshot { pulls_upfront: true, ..Snapshot::new(&nodes) })
    };
    assert_eq!(ask(C::ManifestPulled), Readiness::Ready(Step::Pull));
    assert!(is_blocked(&ask(C::Pulled)));
}

#[test]
fn e21_what_is_unhealthy_without_a_start_timeout_is_waited_for() {
    let graph = graph(&[after("c", &[("d", Condition::Healthy)]), plan("d")]);
    let nodes = graph.nodes();
    let nodes = [up(nodes[0], C::Pulled), Node { health: Health::Unhealthy, ..up(nodes[1], C::Running) }];
    let snapshot = Snapshot { now: at(3_600), ..Snapshot::new(&nodes) };
    assert!(is_blocked(&graph.readiness_of(0, &snapshot)));
    assert_eq!(graph.next_change(&snapshot), None);
}

/// The graph with a start timeout on `d`, some seconds after `d` was started.
fn late(condition: Condition, limit_s: u64, now_s: u64, c: C, d: C, steady: SteadyState) -> Readiness {
    let start_timeout = Some(Duration::from_secs(limit_s));
    let graph = graph(&[after("c", &[("d", condition)]), ContainerPlan { start_timeout, steady, ..plan("d") }]);
    let nodes = graph.nodes();
    let nodes = [up(nodes[0], c), up(nodes[1], d)];
    graph.readiness_of(0, &Snapshot { now: at(now_s), ..Snapshot::new(&nodes) })
}

#[test]
fn e22_a_start_timeout_that_is_over_is_fatal() {
    let cause = fatal(late(Condition::Healthy, 8, 9, C::Pulled, C::Running, SteadyState::Running));
    assert_eq!(cause, FatalCause::TimedOut { limit: Duration::from_secs(8) });
}

#[test]
fn e23_start_never_times_out() {
    let readiness = late(Condition::Start, 5, 3_600, C::Pulled, C::Running, SteadyState::ResourcesProvisioned);
    assert!(is_blocked(&readiness));
}

#[test]
fn e24_what_is_created_does_not_time_out() {
    let readiness = late(Condition::Complete, 8, 9, C::Created, C::Running, SteadyState::Running);
    assert!(is_blocked(&readiness));
}

fn to_stop(node: Node<'_>, applied: C) -> Node<'_> {
    Node { applied, desired: C::Stopped, ..up(node, C::Created) }
}

#[test]
fn e25_a_start_in_flight_may_still_succeed() {
    assert!(is_blocked(&ask(Condition::Start, |d| *d = to_stop(*d, C::Running))));
    assert_eq!(fatal(ask(Condition::Start, |d| *d = to_stop(*d, C::None))), FatalCause::WillNeverStart);
}

#[test]
fn e26_the_end_of_what_never_started_is_fatal() {
    let never = |d: &mut Node<'_>| *d = Node { desired: C::Stopped, started_at: None, ..up(*d, C::Stopped) };
    assert_eq!(fatal(ask(Condition::Complete, never)), FatalCause::NeverStarted);
}

#[test]
fn e27_the_health_of_what_has_ended_is_fatal_unless_it_was_healthy() {
    let unknown = FatalCause::NotHealthy { health: Health::Unknown };
    assert_eq!(fatal(ask(Condition::Healthy, |d| *d = ended(*d, 0))), unknown);
    let healthy = |d: &mut Node<'_>| *d = Node { health: Health::Healthy, ..ended(*d, 0) };
    assert_eq!(ask(Condition::Healthy, healthy), Readiness::Ready(Step::Create));
}

/// Stops a task, all of whose containers run, and tells in which order they get their stop calls.
fn stops(graph: &Graph) -> Vec<Vec<String>> {
    let mut nodes = graph.nodes();
    for node in &mut nodes {
        *node = Node { desired: C::Stopped, ..up(*node, C::Running) };
    }
    let mut rounds = Vec::new();
    loop {
        let snapshot = Snapshot { task_desired: TaskStatus::Stopped, ..Snapshot::new(&nodes) };
        let answers = graph.readiness(&snapshot);
        let mut round = Vec::new();
        for (node, answer) in nodes.iter_mut().zip(answers) {
            if answer == Readiness::Ready(Step::Stop) {
                node.known = C::Stopped;
                round.push(node.name.to_string());
            }
        }
        if round.is_empty() {
            return rounds;
        }
        rounds.push(round);
    }
}

#[test]
fn e28_a_chain_stops_from_the_dependent_to_what_it_depends_on() {
    let chain = [("parent", "a"), ("a", "b"), ("b", "c")].map(|(name, on)| after(name, &[(on, Condition::Start)]));
    let graph = graph(&[&chain[..], &[plan("c")]].concat());
    assert_eq!(stops(&graph), [["parent"], ["a"], ["b"], ["c"]]);
}

#[test]
fn e29_whose_volumes_are_used_stops_last() {
    let c = ContainerPlan { volumes_from: vec![name("d")], ..plan("c") };
    assert_eq!(stops(&graph(&[plan("d"), c])), [["c"], ["d"]]);
}

#[test]
fn b036_cache_and_router_stop_after_the_application() {
    let mut app = after("app", &[("cache", Condition::Start)]);
    app.logs_to = Some(name("router"));
    assert_eq!(stops(&graph(&[plan("router"), plan("cache"), app])), [vec!["app"], vec!["router", "cache"]]);
}

#[test]
fn e29_a_container_that_stops_by_itself_waits_for_nobody() {
    let graph = graph(&[plan("d"), after("c", &[("d", Condition::Start)])]);
    let nodes = graph.nodes();
    let nodes = [Node { desired: C::Stopped, ..up(nodes[0], C::Running) }, up(nodes[1], C::Running)];
    assert_eq!(first(&graph, &nodes), Readiness::Ready(Step::Stop));
    let snapshot = Snapshot { task_desired: TaskStatus::Stopped, ..Snapshot::new(&nodes) };
    let wait = Readiness::Blocked(Block::StopOrder { dependents: vec![1] });
    assert_eq!(graph.readiness_of(0, &snapshot), wait);
}

/// A task in a network of its own, with a volume that is mounted through it.
fn awsvpc() -> Graph {
    let mut app = plan("app");
    let data = ResourceName::Volume(VolumeName::parse("data").unwrap());
    app.need(data.clone());
    let pause = ContainerPlan {
        kind: ContainerKind::CniPause,
        steady: SteadyState::ResourcesProvisioned,
        ..ContainerPlan::new(name("pause"))
    };
    let mut plan = Plan::new(vec![app, pause]);
    plan.share_network_of(&name("pause"));
    let after = vec![(name("pause"), C::ResourcesProvisioned)];
    plan.resources.push(ResourcePlan { after, ..ResourcePlan::new(data) });
    Graph::build(plan).unwrap()
}

const IDLE: ResourceNode = ResourceNode { known: R::None, desired: R::Created, applied: R::None };

#[test]
fn e30_the_pause_stops_after_the_last_container_of_its_network() {
    let graph = awsvpc();
    let nodes = graph.nodes();
    let pause = |app| {
        let stopping = |node, known| Node { desired: C::Stopped, ..up(node, known) };
        let nodes = [stopping(nodes[0], app), stopping(nodes[1], C::ResourcesProvisioned)];
        let resources = &[ResourceNode { known: R::Created, desired: R::Removed, ..IDLE }];
        graph.readiness_of(1, &Snapshot { task_desired: TaskStatus::Stopped, resources, ..Snapshot::new(&nodes) })
    };
    let waits = Readiness::Blocked(Block::Container { on: 0, reached: C::Stopped, toward: C::Stopped });
    assert_eq!(pause(C::Running), waits);
    assert_eq!(pause(C::Stopped), Readiness::Ready(Step::Stop));
    assert_eq!(graph.shutdown_order(), [[&name("app")], [&name("pause")]]);
}

#[test]
fn e31_credentials_are_needed_until_the_image_is_pulled() {
    let graph = graph(&[ContainerPlan { pull_needs_role: true, ..plan("c") }]);
    let ask = |known, desired| {
        let nodes = [Node { desired, ..up(graph.nodes()[0], known) }];
        graph.readiness_of(0, &Snapshot { has_role_credentials: false, ..Snapshot::new(&nodes) })
    };
    assert_eq!(ask(C::None, C::Running), Readiness::Blocked(Block::Credentials));
    assert_eq!(ask(C::Pulled, C::Running), Readiness::Ready(Step::Create));
    assert_eq!(ask(C::None, C::Stopped), Readiness::Ready(Step::MarkStopped));
}

#[test]
fn e32_links_and_volumes_of_unknown_containers_are_refused() {
    let linked = ContainerPlan { links: vec![name("nowhere")], ..plan("c") };
    assert_eq!(complaint(&[linked]), "c waits for nowhere, which is not in the task (links[0])\n");
    let mounted = ContainerPlan { volumes_from: vec![name("nowhere")], ..plan("c") };
    assert_eq!(complaint(&[mounted]), "c waits for nowhere, which is not in the task (volumesFrom[0])\n");
}

#[test]
fn e33_a_router_that_waits_itself_is_not_waited_for() {
    let c = ContainerPlan { logs_to: Some(name("router")), ..plan("c") };
    let router = after("router", &[("d", Condition::Start)]);
    let graph = graph(&[c.clone(), router, plan("d")]);
    assert!(graph.edges().all(|edge| edge.dependent != 0));
    assert_eq!(crate::graph(&[c, plan("router")]).edges().count(), 1);
}

#[test]
fn e34_who_is_to_stop_does_not_wait_for_what_it_depends_on() {
    for condition in Condition::ALL {
        let graph = graph(&[after("c", &[("d", *condition)]), plan("d")]);
        let nodes = graph.nodes();
        let nodes = [Node { desired: C::Stopped, ..up(nodes[0], C::Pulled) }, up(nodes[1], C::None)];
        assert_eq!(first(&graph, &nodes), Readiness::Ready(Step::MarkStopped), "{condition}");
    }
}

#[test]
fn e35_a_volume_in_the_network_is_made_after_its_pause_is_provisioned() {
    let graph = awsvpc();
    let nodes = graph.nodes();
    let ask = |pause, desired| {
        let nodes = [up(nodes[0], C::None), up(nodes[1], pause)];
        graph.resource_readiness(&Snapshot { resources: &[ResourceNode { desired, ..IDLE }], ..Snapshot::new(&nodes) })
    };
    assert!(matches!(ask(C::Running, R::Created)[..], [ResourceReadiness::Blocked(_)]));
    let provisioned = C::ResourcesProvisioned;
    assert_eq!(ask(provisioned, R::Created), [ResourceReadiness::Ready(ResourceStep::Create)]);
    assert!(matches!(ask(C::Running, R::Removed)[..], [ResourceReadiness::Blocked(_)]), "not far enough yet");
    assert_eq!(ask(C::Stopped, R::Removed), [ResourceReadiness::Ready(ResourceStep::MarkRemoved)]);
}

#[test]
fn e42_a_resource_waits_for_credentials_and_its_containers_for_it() {
    let mut c = plan("c");
    c.need(ResourceName::SsmSecret);
    let plan = Plan { containers: vec![c], resources: vec![ResourcePlan::new(ResourceName::SsmSecret)] };
    let graph = Graph::build(plan).unwrap();
    let nodes = [up(graph.nodes()[0], C::Pulled)];
    let missing = Snapshot { has_role_credentials: false, resources: &[IDLE], ..Snapshot::new(&nodes) };
    let wait = ResourceReadiness::Blocked(lighterman_graph::ResourceBlock::Credentials);
    assert_eq!(graph.resource_readiness(&missing), [wait]);
    let wait = Block::Resource { on: 0, reached: R::Created, toward: C::Created };
    assert_eq!(graph.readiness_of(0, &missing), Readiness::Blocked(wait));
    let arrived = Snapshot { has_role_credentials: true, ..missing };
    assert_eq!(graph.resource_readiness(&arrived), [ResourceReadiness::Ready(ResourceStep::Create)]);
}

#[test]
fn e79_success_waits_while_the_dependency_is_restarted() {
    // While it is restarted it counts as running (engine.md 3.10).
    let restarted = |d: &mut Node<'_>| *d = Node { applied: C::Running, ..up(*d, C::Running) };
    assert!(is_blocked(&ask(Condition::Success, restarted)));
}

#[test]
fn e102_containers_in_a_shared_namespace_wait_for_its_pause() {
    let pause = ContainerPlan { kind: ContainerKind::NamespacePause, ..ContainerPlan::new(name("pause")) };
    let mut plan = Plan::new(vec![plan("app"), pause]);
    plan.share_namespaces_of(&name("pause"));
    let graph = Graph::build(plan).unwrap();
    let nodes = graph.nodes();
    let ask = |app, pause| first(&graph, &[up(nodes[0], app), up(nodes[1], pause)]);
    assert_eq!(ask(C::None, C::None), Readiness::Ready(Step::ResolveDigest));
    let wait = Block::Container { on: 1, reached: C::Running, toward: C::Pulled };
    assert_eq!(ask(C::ManifestPulled, C::Created), Readiness::Blocked(wait));
    assert_eq!(ask(C::ManifestPulled, C::Running), Readiness::Ready(Step::Pull));
    assert_eq!(graph.shutdown_order(), [[&name("app")], [&name("pause")]]);
}

/// 2.1: pauses wait for the control group too, or the runtime would make it first, without limits.
#[test]
fn every_container_waits_for_the_control_group_before_its_image() {
    let pause = ContainerPlan { kind: ContainerKind::NamespacePause, ..ContainerPlan::new(name("pause")) };
    let mut plan = Plan::new(vec![plan("app"), pause]);
    plan.run_in_cgroup();
    let graph = Graph::build(plan).unwrap();
    let nodes: Vec<_> = graph.nodes().into_iter().map(|node| up(node, C::ManifestPulled)).collect();
    let wait = Readiness::Blocked(Block::Resource { on: 0, reached: R::Created, toward: C::Pulled });
    let snapshot = Snapshot { resources: &[IDLE], ..Snapshot::new(&nodes) };
    assert_eq!(graph.readiness(&snapshot), [wait.clone(), wait]);
    let made = [ResourceNode { known: R::Created, ..IDLE }];
    let snapshot = Snapshot { resources: &made, ..snapshot };
    assert_eq!(graph.readiness(&snapshot), [Readiness::Ready(Step::Pull), Readiness::Ready(Step::Pull)]);
}

#[test]
fn b006_the_reason_names_the_dependency_its_exit_code_and_the_condition() {
    let graph = graph(&[after("b", &[("a", Condition::Success)]), plan("a")]);
    let nodes = graph.nodes();
    let Readiness::Fatal(fatal) = first(&graph, &[up(nodes[0], C::ManifestPulled), ended(nodes[1], 1)]) else {
        panic!("b never runs");
    };
    let text = "waits for a to end with exit code 0 (dependsOn[0]), but a ended with exit code 1";
    assert_eq!(graph.fatal_text(&fatal), text);
}

#[test]
fn b007_start_is_satisfied_by_what_has_started_and_ended() {
    assert_eq!(ask(Condition::Start, |d| *d = ended(*d, 0)), Readiness::Ready(Step::Create));
    assert_eq!(ask(Condition::Start, |d| *d = ended(*d, 1)), Readiness::Ready(Step::Create));
}

#[test]
fn b011_health_of_what_has_exited_is_not_waited_for() {
    let cause = fatal(ask(Condition::Healthy, |d| *d = ended(*d, 1)));
    assert_eq!(cause, FatalCause::NotHealthy { health: Health::Unknown });
}

/// What was found after a restart is judged by its state and exit code, not by being there.
#[test]
fn b023_what_had_ended_before_a_restart_does_not_count_as_started_well() {
    let found = |d: &mut Node<'_>| *d = Node { desired: C::Running, ..ended(*d, 1) };
    assert_eq!(fatal(ask(Condition::Success, found)), FatalCause::NotSuccessful { exit_code: Some(1) });
    assert_eq!(ask(Condition::Start, found), Readiness::Ready(Step::Create));
}

/// 2.4: ordering is asked again on every forward step.
#[test]
fn health_that_is_lost_before_the_start_holds_the_container_again() {
    let graph = graph(&[after("c", &[("d", Condition::Healthy)]), plan("d")]);
    let nodes = graph.nodes();
    let ask = |health| first(&graph, &[up(nodes[0], C::Created), Node { health, ..up(nodes[1], C::Running) }]);
    assert_eq!(ask(Health::Healthy), Readiness::Ready(Step::Start));
    assert!(is_blocked(&ask(Health::Unhealthy)));
}

/// 2.4, row B2 comes before the table: until the dependent is created, the limit counts although the condition is
/// true.
#[test]
fn a_start_timeout_counts_until_the_dependent_is_created() {
    let start_timeout = Some(Duration::from_secs(8));
    let d = ContainerPlan { start_timeout, ..plan("d") };
    let graph = graph(&[after("c", &[("d", Condition::Healthy)]), d]);
    let nodes = graph.nodes();
    let nodes = [up(nodes[0], C::Pulled), Node { health: Health::Healthy, ..up(nodes[1], C::Running) }];
    let ask = |now| graph.readiness_of(0, &Snapshot { now: at(now), ..Snapshot::new(&nodes) });
    assert_eq!(ask(8), Readiness::Ready(Step::Create));
    assert_eq!(fatal(ask(9)), FatalCause::TimedOut { limit: Duration::from_secs(8) });
}
