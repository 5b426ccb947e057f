//! The graph as text, as a tree and as DOT.

use lighterman_graph::{Condition, ContainerPlan, Graph, Node, Plan, ResourceName, ResourcePlan};
use lighterman_ids::VolumeName;
use lighterman_status::{ContainerKind, ContainerStatus as C, SteadyState};

use crate::{after, graph, name, node, plan};

/// A web server with a database, a cache that it links, a log router and a job; in a network of their own, with a
/// volume that is mounted through it.
fn shop() -> Graph {
    let data = ResourceName::Volume(VolumeName::parse("data").unwrap());
    let mut web = after("web", &[("db", Condition::Healthy)]);
    web.links = vec![name("cache")];
    web.logs_to = Some(name("router"));
    let mut db = after("db", &[("init", Condition::Success)]);
    db.need(data.clone());
    let pause = ContainerPlan {
        kind: ContainerKind::CniPause,
        steady: SteadyState::ResourcesProvisioned,
        ..ContainerPlan::new(name("pause"))
    };
    let cache = after("cache", &[("init", Condition::Success)]);
    let mut plan = Plan::new(vec![web, db, cache, plan("router"), plan("init"), pause]);
    plan.share_network_of(&name("pause"));
    let after = vec![(name("pause"), C::ResourcesProvisioned)];
    plan.resources.push(ResourcePlan { after, ..ResourcePlan::new(data) });
    Graph::build(plan).unwrap()
}

fn statuses(graph: &Graph) -> Vec<Node<'_>> {
    let mut nodes = graph.nodes();
    let known = [C::ManifestPulled, C::Running, C::Created, C::Running, C::Stopped, C::ResourcesProvisioned];
    for (node, known) in nodes.iter_mut().zip(known) {
        *node = Node { known, desired: C::Running, ..*node };
    }
    nodes
}

#[test]
fn text_has_one_line_per_container_without_edges() {
    let graph = graph(&[plan("web"), plan("database")]);
    let [web, db] = graph.names() else { panic!("two containers") };
    let nodes = [node(web, C::Created, C::Running), node(db, C::Running, C::Running)];
    insta::assert_snapshot!(graph.to_text(&nodes), @r"
    web       CREATED -> RUNNING
    database  RUNNING
    ");
}

#[test]
fn text_has_one_line_per_edge() {
    let graph = shop();
    insta::assert_snapshot!(graph.to_text(&statuses(&graph)));
}

#[test]
fn dot_is_a_digraph_of_the_task() {
    let graph = shop();
    insta::assert_snapshot!(graph.to_dot("shop:3", &statuses(&graph)));
}

#[test]
fn a_label_cannot_leave_its_quotes() {
    let graph = graph(&[plan("web")]);
    let dot = graph.to_dot("a\"b\\c\nd", &graph.nodes());
    assert_eq!(dot.lines().next(), Some(r#"digraph "a\"b\\c\nd" {"#));
}

#[test]
fn a_tree_has_what_waits_at_the_left() {
    let graph = shop();
    insta::assert_snapshot!(graph.to_tree(&statuses(&graph)));
}

#[test]
fn a_long_chain_does_not_leave_the_screen() {
    let names: Vec<String> = (0..9).map(|n| format!("c{n}")).collect();
    let link = |n: usize| match names.get(n + 1) {
        Some(next) => after(&names[n], &[(next, Condition::Start)]),
        None => plan(&names[n]),
    };
    let graph = graph(&(0..9).map(link).collect::<Vec<_>>());
    insta::assert_snapshot!(graph.to_tree(&graph.nodes()));
}

#[test]
fn long_names_are_cut_to_eighty_columns() {
    let long = |letter: &str| letter.repeat(255);
    let volumes_from = |text: &str, on: &str| ContainerPlan { volumes_from: vec![name(on)], ..plan(text) };
    let letters = ["a", "b", "c", "d", "e", "f", "g"].map(long);
    let mut containers: Vec<_> = letters.windows(2).map(|pair| volumes_from(&pair[0], &pair[1])).collect();
    containers.push(plan(&letters[6]));
    let graph = graph(&containers);
    let mut nodes = graph.nodes();
    for node in &mut nodes {
        *node = Node { known: C::ManifestPulled, desired: C::ResourcesProvisioned, ..*node };
    }
    let tree = graph.to_tree(&nodes);
    for line in tree.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    insta::assert_snapshot!(tree);
}
