//! What is a graph.

use lighterman_graph::{Condition, Graph, Plan, Problem, Snapshot, Source};
use lighterman_status::ContainerStatus as C;

use crate::{after, complaint, graph, name, node, plan, problems};

#[test]
fn containers_keep_their_order() {
    assert_eq!(graph(&[plan("web"), plan("db"), plan("init")]).names(), [name("web"), name("db"), name("init")]);
}

#[test]
fn a_task_without_containers_is_refused() {
    let error = Graph::build(Plan::default()).unwrap_err();
    assert_eq!(error.problems(), [Problem::NoContainers]);
    assert_eq!(error.to_string(), "task has no containers");
}

#[test]
fn containers_of_one_name_are_refused_once_per_name() {
    let twice = [plan("web"), plan("db"), plan("web"), plan("db"), plan("web")];
    assert_eq!(complaint(&twice), "two containers are named web\ntwo containers are named db\n");
    assert_eq!(graph(&[plan("web"), plan("Web")]).names().len(), 2, "case counts");
}

#[test]
fn edges_stand_as_they_are_checked_whatever_the_lines_say_first() {
    let mut web = after("web", &[("db", Condition::Healthy), ("cache", Condition::Start)]);
    web.logs_to = Some(name("router"));
    web.links = vec![name("cache")];
    web.volumes_from = vec![name("data"), name("db")];
    let graph = graph(&[web, plan("db"), plan("cache"), plan("data"), plan("router")]);
    let edges: Vec<_> = graph
        .edges()
        .map(|edge| {
            assert_eq!(edge.dependent, 0);
            (graph.names()[edge.on].as_str(), edge.condition, edge.source.to_string())
        })
        .collect();
    let expected = [
        ("db", Condition::Healthy, "dependsOn[0]"),
        ("cache", Condition::Start, "dependsOn[1]"),
        ("data", Condition::Create, "volumesFrom[0]"),
        ("db", Condition::Create, "volumesFrom[1]"),
        ("cache", Condition::Start, "links[0]"),
        ("router", Condition::Start, "log router"),
    ];
    assert_eq!(edges, expected.map(|(on, condition, source)| (on, condition, source.to_owned())));
    assert_eq!(graph.dependents(1), [0], "two edges, one dependent");
}

#[test]
fn a_log_router_is_waited_for_unless_it_already_is() {
    let router_edges = |mut web: lighterman_graph::ContainerPlan| {
        web.logs_to = Some(name("router"));
        let graph = graph(&[web, plan("router"), plan("other")]);
        graph.edges().filter(|edge| edge.source == Source::LogRouter).count()
    };
    assert_eq!(router_edges(plan("web")), 1);
    assert_eq!(router_edges(after("web", &[("other", Condition::Start)])), 1);
    assert_eq!(router_edges(after("web", &[("router", Condition::Create)])), 0);
    let mut linked = plan("web");
    linked.links = vec![name("router")];
    assert_eq!(router_edges(linked), 0);
}

#[test]
fn a_log_router_does_not_wait_for_itself() {
    let mut router = plan("router");
    router.logs_to = Some(name("router"));
    assert_eq!(graph(&[router]).edges().count(), 0);
}

#[test]
fn a_log_router_that_is_not_there_is_named() {
    let mut web = plan("web");
    web.logs_to = Some(name("router"));
    assert_eq!(problems(&[web.clone()]).len(), 1);
    assert_eq!(complaint(&[web]), "web waits for router, which is not in the task (log router)\n");
}

#[test]
fn a_condition_reads_back() {
    for condition in Condition::ALL {
        assert_eq!(Condition::parse(condition.as_str()), Ok(*condition));
    }
}

#[test]
#[should_panic(expected = "the nodes are the containers of the graph, in its order")]
fn nodes_in_another_order_are_a_broken_structure() {
    let (web, db) = (name("web"), name("db"));
    let nodes = [node(&db, C::None, C::Running), node(&web, C::None, C::Running)];
    let _ = graph(&[plan("web"), plan("db")]).readiness(&Snapshot::new(&nodes));
}

#[test]
#[should_panic(expected = "the nodes are the containers of the graph, in its order")]
fn a_missing_node_is_a_broken_structure() {
    let web = name("web");
    let _ = graph(&[plan("web"), plan("db")]).to_text(&[node(&web, C::None, C::Running)]);
}
