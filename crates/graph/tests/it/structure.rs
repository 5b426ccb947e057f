//! What is a graph, and in which order it stops.

use lighterman_graph::{Graph, GraphError};
use lighterman_status::ContainerStatus as C;

use crate::{graph, name, node};

#[test]
fn containers_keep_their_order() {
    assert_eq!(graph(&["web", "db", "init"]).names(), [name("web"), name("db"), name("init")]);
}

#[test]
fn a_task_without_containers_is_refused() {
    let error = Graph::build([]).unwrap_err();
    assert_eq!(error, GraphError::NoContainers);
    assert_eq!(error.to_string(), "task has no containers");
}

#[test]
fn two_containers_of_one_name_are_refused() {
    let error = Graph::build([name("web"), name("db"), name("web"), name("db")]).unwrap_err();
    assert_eq!(error, GraphError::DuplicateName { name: name("web") });
    assert_eq!(error.to_string(), "two containers are named web");
    assert!(Graph::build([name("web"), name("Web")]).is_ok(), "case counts");
}

#[test]
fn without_edges_all_stop_at_once() {
    assert_eq!(graph(&["web"]).shutdown_order(), [[&name("web")]]);
    assert_eq!(graph(&["web", "db"]).shutdown_order(), [[&name("web"), &name("db")]]);
}

#[test]
#[should_panic(expected = "the nodes are the containers of the graph, in its order")]
fn nodes_in_another_order_are_a_broken_structure() {
    let (web, db) = (name("web"), name("db"));
    let nodes = [node(&db, C::None, C::Running), node(&web, C::None, C::Running)];
    let _ = graph(&["web", "db"]).readiness(&nodes);
}

#[test]
#[should_panic(expected = "the nodes are the containers of the graph, in its order")]
fn a_missing_node_is_a_broken_structure() {
    let web = name("web");
    let _ = graph(&["web", "db"]).to_text(&[node(&web, C::None, C::Running)]);
}
