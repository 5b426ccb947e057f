//! In which order a task stops.

use lighterman_graph::{Block, Condition, Graph, Readiness, Snapshot};
use lighterman_status::{ContainerStatus as C, TaskStatus};

use crate::{after, graph, plan};

fn groups(graph: &Graph) -> Vec<Vec<&str>> {
    graph.shutdown_order().iter().map(|group| group.iter().map(|name| name.as_str()).collect()).collect()
}

#[test]
fn without_edges_all_stop_at_once() {
    assert_eq!(groups(&graph(&[plan("web")])), [["web"]]);
    assert_eq!(groups(&graph(&[plan("web"), plan("db")])), [["web", "db"]]);
}

#[test]
fn a_container_stops_after_all_that_depend_on_it() {
    let graph = graph(&[
        plan("db"),
        after("api", &[("db", Condition::Start)]),
        after("web", &[("api", Condition::Healthy), ("db", Condition::Create)]),
        after("probe", &[("db", Condition::Start)]),
        plan("alone"),
    ]);
    assert_eq!(groups(&graph), [vec!["web", "probe", "alone"], vec!["api"], vec!["db"]]);
}

#[test]
fn those_that_still_run_are_named() {
    let names = ["a", "b", "c", "d", "e", "f", "g"];
    let mut containers = vec![plan("db")];
    containers.extend(names.map(|name| after(name, &[("db", Condition::Start)])));
    let graph = graph(&containers);
    let mut nodes = graph.nodes();
    for node in &mut nodes {
        node.known = C::Running;
        node.desired = C::Stopped;
    }
    nodes[2].known = C::Stopped;
    let snapshot = Snapshot { task_desired: TaskStatus::Stopped, ..Snapshot::new(&nodes) };
    let Readiness::Blocked(block) = graph.readiness_of(0, &snapshot) else { panic!("it waits") };
    assert_eq!(block, Block::StopOrder { dependents: vec![1, 3, 4, 5, 6, 7] });
    assert_eq!(graph.block_text(&block), "a, c, d, e, f and 1 more to stop first");
}
