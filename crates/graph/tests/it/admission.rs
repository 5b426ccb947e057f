//! What is refused, and in which words.

use lighterman_graph::{Condition, ContainerPlan, Gate, Graph, Node, Plan, Problem, ResourceName, ResourcePlan, Tie};
use lighterman_ids::VolumeName;
use lighterman_status::{ContainerKind, ContainerStatus as C, ResourceStatus as R, SteadyState};

use crate::{after, complaint, graph, name, plan, problems};

#[test]
fn b009_a_ring_through_every_kind_of_line_is_spelled_out() {
    let a = after("a", &[("b", Condition::Healthy)]);
    let b = ContainerPlan { links: vec![name("c")], ..plan("b") };
    let c = ContainerPlan { volumes_from: vec![name("d")], ..plan("c") };
    let d = after("d", &[("a", Condition::Success)]);
    let ring = "a -[dependsOn HEALTHY]-> b -[links]-> c -[volumesFrom]-> d -[dependsOn SUCCESS]-> a";
    assert_eq!(complaint(&[a, b, c, d]), format!("containers wait for each other: {ring}\n"));
}

#[test]
fn b009_two_containers_that_link_and_mount_each_other_are_refused() {
    let a = ContainerPlan { links: vec![name("b")], ..plan("a") };
    let b = ContainerPlan { volumes_from: vec![name("a")], ..plan("b") };
    assert_eq!(complaint(&[a, b]), "containers wait for each other: a -[links]-> b -[volumesFrom]-> a\n");
}

#[test]
fn b009_a_link_to_oneself_is_refused() {
    let a = ContainerPlan { links: vec![name("a")], ..plan("a") };
    assert_eq!(complaint(&[a]), "a waits for itself: a -[links]-> a\n");
}

#[test]
fn t54_a_ring_of_three_is_printed() {
    let a = after("a", &[("b", Condition::Start)]);
    let b = ContainerPlan { links: vec![name("c")], ..plan("b") };
    let c = ContainerPlan { volumes_from: vec![name("a")], ..plan("c") };
    let ring = "a -[dependsOn START]-> b -[links]-> c -[volumesFrom]-> a";
    assert_eq!(complaint(&[a, b, c]), format!("containers wait for each other: {ring}\n"));
}

#[test]
fn every_group_of_containers_in_a_ring_is_named_once() {
    let containers = [
        after("a", &[("c", Condition::Start), ("b", Condition::Start)]),
        after("b", &[("a", Condition::Start), ("d", Condition::Start)]),
        after("c", &[("d", Condition::Start)]),
        after("d", &[("c", Condition::Create)]),
        // It only leads to rings.
        after("e", &[("a", Condition::Start)]),
    ];
    insta::assert_snapshot!(complaint(&containers), @r"
    containers wait for each other: a -[dependsOn START]-> b -[dependsOn START]-> a
    containers wait for each other: c -[dependsOn START]-> d -[dependsOn CREATE]-> c
    ");
}

#[test]
fn the_ring_that_is_shown_is_the_shortest_through_its_first_container() {
    let containers = [
        after("a", &[("b", Condition::Start), ("d", Condition::Start)]),
        after("b", &[("c", Condition::Start)]),
        after("c", &[("d", Condition::Start)]),
        after("d", &[("a", Condition::Start)]),
    ];
    insta::assert_snapshot!(
        complaint(&containers),
        @"containers wait for each other: a -[dependsOn START]-> d -[dependsOn START]-> a"
    );
}

#[test]
fn the_middle_of_a_long_ring_is_left_out_of_the_text_only() {
    let names: Vec<String> = (0..30).map(|n| format!("c{n}")).collect();
    let ring: Vec<_> = (0..30).map(|n| after(&names[n], &[(&names[(n + 1) % 30], Condition::Start)])).collect();
    let [Problem::Ring(ring)] = &problems(&ring)[..] else { panic!("one ring") };
    assert_eq!(ring.steps().len(), 30);
    let text = ring.to_string();
    assert!(text.contains("c5 -[dependsOn START]-> … (18 more) … -> c24 -["), "{text}");
    assert!(text.starts_with("c0 -[") && text.ends_with(" c29 -[dependsOn START]-> c0"), "{text}");
}

#[test]
fn all_problems_are_told_at_once() {
    let web = ContainerPlan {
        volumes_from: vec![name("nowhere")],
        links: vec![name("web")],
        ..after("web", &[("db", Condition::Healthy), ("job", Condition::Complete), ("api", Condition::Start)])
    };
    let db = ContainerPlan { has_health_check: false, ..plan("db") };
    let job = ContainerPlan { essential: true, ..plan("job") };
    let api = after("api", &[("web", Condition::Create)]);
    insta::assert_snapshot!(complaint(&[web, db, job, api]), @r"
    web waits for db to be healthy, but db has no health check (dependsOn[0])
    web waits for job to end, but the task ends with job, which is essential (dependsOn[1])
    web waits for nowhere, which is not in the task (volumesFrom[0])
    web waits for itself: web -[links]-> web
    containers wait for each other: web -[dependsOn START]-> api -[dependsOn CREATE]-> web
    ");
}

#[test]
fn one_error_has_all_problems_in_one_line() {
    let web = after("web", &[("a", Condition::Start), ("b", Condition::Start)]);
    let error = Graph::build(Plan::new(vec![web])).unwrap_err();
    let text = "web waits for a, which is not in the task (dependsOn[0]); \
                web waits for b, which is not in the task (dependsOn[1])";
    assert_eq!(error.to_string(), text);
}

#[test]
fn t52_healthy_takes_a_health_check_of_the_definition() {
    let db = ContainerPlan { has_health_check: false, ..plan("db") };
    let web = after("web", &[("db", Condition::Healthy)]);
    let text = "web waits for db to be healthy, but db has no health check (dependsOn[0])\n";
    assert_eq!(complaint(&[web, db]), text);
}

#[test]
fn t53_the_end_of_an_essential_container_is_not_waited_for() {
    for condition in Condition::ALL {
        let init = ContainerPlan { essential: true, ..plan("init") };
        let web = after("web", &[("init", *condition)]);
        let is_refused = Graph::build(Plan::new(vec![web, init])).is_err();
        assert_eq!(is_refused, matches!(condition, Condition::Success | Condition::Complete), "{condition}");
    }
}

#[test]
fn one_container_may_be_depended_on_in_several_ways() {
    let mut web = after("web", &[("db", Condition::Start), ("db", Condition::Healthy)]);
    web.links = vec![name("db")];
    assert_eq!(graph(&[web, plan("db")]).edges().count(), 3);
}

/// Every cell of 2.3, for a dependent that is to run and one that is only to be created.
#[test]
fn over_all_desired_statuses_a_condition_can_come_true_or_not() {
    let mut table = String::new();
    for desired in [C::Running, C::Created, C::Pulled, C::Stopped] {
        for condition in Condition::ALL {
            let graph = graph(&[after("c", &[("d", *condition)]), plan("d")]);
            let can: Vec<_> = C::ALL
                .iter()
                .filter(|on| {
                    let mut nodes = graph.nodes();
                    nodes[0].desired = desired;
                    nodes[1].desired = **on;
                    graph.admit(&nodes).is_ok()
                })
                .map(|on| on.as_str())
                .collect();
            let can = if can.len() == C::ALL.len() { "anything".to_owned() } else { can.join(" ") };
            table.push_str(&format!("{desired:8} {condition:9} on what is to become {can}\n"));
        }
    }
    insta::assert_snapshot!(table, @r"
    RUNNING  CREATE    on what is to become CREATED RUNNING STOPPED
    RUNNING  START     on what is to become RUNNING
    RUNNING  COMPLETE  on what is to become CREATED RUNNING STOPPED
    RUNNING  SUCCESS   on what is to become CREATED RUNNING STOPPED
    RUNNING  HEALTHY   on what is to become CREATED RUNNING STOPPED
    CREATED  CREATE    on what is to become CREATED RUNNING STOPPED
    CREATED  START     on what is to become CREATED RUNNING
    CREATED  COMPLETE  on what is to become CREATED RUNNING STOPPED
    CREATED  SUCCESS   on what is to become CREATED RUNNING STOPPED
    CREATED  HEALTHY   on what is to become CREATED RUNNING STOPPED
    PULLED   CREATE    on what is to become anything
    PULLED   START     on what is to become anything
    PULLED   COMPLETE  on what is to become anything
    PULLED   SUCCESS   on what is to become anything
    PULLED   HEALTHY   on what is to become anything
    STOPPED  CREATE    on what is to become anything
    STOPPED  START     on what is to become anything
    STOPPED  COMPLETE  on what is to become anything
    STOPPED  SUCCESS   on what is to become anything
    STOPPED  HEALTHY   on what is to become anything
    ");
}

#[test]
fn success_can_also_come_true_by_what_has_ended_well() {
    let graph = graph(&[after("c", &[("d", Condition::Success)]), plan("d")]);
    let mut nodes = graph.nodes();
    nodes[0].desired = C::Running;
    nodes[1] = Node { known: C::Stopped, exit_code: Some(0), ..nodes[1] };
    assert_eq!(graph.admit(&nodes), Ok(()));
    nodes[1].exit_code = Some(1);
    let error = graph.admit(&nodes).unwrap_err();
    let text = "c waits for d to end with exit code 0, but d is to become NONE (dependsOn[0])";
    assert_eq!(error.to_string(), text);
}

#[test]
fn start_asks_for_the_steady_state_of_the_dependency() {
    let pause = ContainerPlan { steady: SteadyState::ResourcesProvisioned, ..plan("pause") };
    let graph = graph(&[after("c", &[("pause", Condition::Start)]), pause]);
    let mut nodes = graph.nodes();
    nodes[0].desired = C::Running;
    nodes[1].desired = C::Running;
    assert!(graph.admit(&nodes).is_err());
    nodes[1].desired = C::ResourcesProvisioned;
    assert_eq!(graph.admit(&nodes), Ok(()));
}

#[test]
fn what_a_transition_dependency_names_has_to_be_there() {
    let mut web = plan("web");
    web.need(ResourceName::Cgroup);
    web.gates.push(Gate::Container { toward: C::Pulled, on: name("pause"), reached: C::Running });
    let mut plan = Plan::new(vec![web]);
    let volume = ResourceName::Volume(VolumeName::parse("data").unwrap());
    let after = vec![(name("pause"), C::Running)];
    plan.resources.push(ResourcePlan { after, ..ResourcePlan::new(volume.clone()) });
    plan.resources.push(ResourcePlan::new(volume));
    insta::assert_snapshot!(Graph::build(plan).unwrap_err().to_string().replace("; ", "\n"), @r"
    two resources are named volume data
    web waits for cgroup, which is not in the task
    web waits for pause, which is not in the task
    volume data waits for pause, which is not in the task
    ");
}

#[test]
fn a_status_that_comes_only_after_the_task_is_not_waited_for() {
    let mut web = plan("web");
    web.gates = vec![
        Gate::Container { toward: C::Pulled, on: name("db"), reached: C::Stopped },
        Gate::Container { toward: C::Pulled, on: name("job"), reached: C::Stopped },
        Gate::Container { toward: C::Stopped, on: name("db"), reached: C::Stopped },
        Gate::Resource { toward: C::Pulled, on: ResourceName::Cgroup, reached: R::Removed },
    ];
    let db = ContainerPlan { essential: true, ..plan("db") };
    let after = vec![(name("db"), C::ResourcesProvisioned)];
    let cgroup = ResourcePlan { after, ..ResourcePlan::new(ResourceName::Cgroup) };
    let plan = Plan { containers: vec![web, db, plan("job")], resources: vec![cgroup] };
    insta::assert_snapshot!(Graph::build(plan).unwrap_err().to_string().replace("; ", "\n"), @r"
    web waits for db to be STOPPED, which it is not while the task runs
    web waits for cgroup to be REMOVED, which it is not while the task runs
    cgroup waits for db to be RESOURCES_PROVISIONED, which it is not while the task runs
    ");
}

#[test]
fn a_volume_of_the_name_of_another_resource_is_another_resource() {
    let mut web = plan("web");
    web.need(ResourceName::Volume(VolumeName::parse("cgroup").unwrap()));
    let plan = Plan { resources: vec![ResourcePlan::new(ResourceName::Cgroup)], containers: vec![web] };
    assert_eq!(Graph::build(plan).unwrap_err().to_string(), "web waits for volume cgroup, which is not in the task");
}

#[test]
fn transition_dependencies_that_nobody_could_fulfil_are_refused() {
    // The pause depends on what lives in its network.
    let pause = ContainerPlan {
        kind: ContainerKind::CniPause,
        steady: SteadyState::ResourcesProvisioned,
        ..after("pause", &[("web", Condition::Start)])
    };
    let mut task = Plan::new(vec![plan("web"), pause]);
    task.share_network_of(&name("pause"));
    let ring = "web -[MANIFEST_PULLED after RESOURCES_PROVISIONED]-> pause -[dependsOn START]-> web";
    let error = Graph::build(task).unwrap_err();
    assert_eq!(error.to_string(), format!("containers wait for each other: {ring}"));
    let mut web = plan("web");
    web.gates.push(Gate::Container { toward: C::Pulled, on: name("web"), reached: C::Running });
    assert_eq!(complaint(&[web]), "containers wait for each other: web -[PULLED after RUNNING]-> web\n");
}

/// On its way down a container still waits for its next status on the way up, and its dependency stops after it.
#[test]
fn transition_dependencies_on_which_a_stop_could_get_stuck_are_refused() {
    let mut web = after("web", &[("db", Condition::Create)]);
    web.gates.push(Gate::Container { toward: C::Pulled, on: name("db"), reached: C::Running });
    let db = plan("db");
    let [Problem::Ring(ring)] = &problems(&[web, db])[..] else { panic!("one ring") };
    assert_eq!(ring.to_string(), "web -[PULLED after RUNNING]-> db -[stops after]-> web");
    assert!(ring.steps().iter().any(|(_, tie)| *tie == Tie::StopOrder));
}
