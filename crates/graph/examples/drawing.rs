//! Draws a task while it comes up, stops it in order, and shows what is said about one that waits for itself.
//!
//! `cargo run -p lighterman-graph --example drawing -- dot | dot -Tsvg` makes a picture instead.
#![expect(clippy::print_stdout, reason = "an example shows its result")]

use std::error::Error;

use lighterman_graph::{Condition, ContainerPlan, Graph, Node, Plan, Readiness, Snapshot};
use lighterman_ids::{ContainerName, Moment};
use lighterman_status::{ContainerStatus, Health, TaskStatus};

fn main() -> Result<(), Box<dyn Error>> {
    let graph = Graph::build(shop()?)?;
    let mut nodes = graph.nodes();
    nodes.iter_mut().for_each(|node| node.desired = ContainerStatus::Running);
    if std::env::args().any(|argument| argument == "dot") {
        print!("{}", graph.to_dot("shop", &nodes));
        return Ok(());
    }

    for round in 1.. {
        println!("round {round}\n{}", graph.to_tree(&nodes));
        if !step(&graph, &mut nodes, TaskStatus::Running) {
            break;
        }
    }

    println!("stopping");
    nodes.iter_mut().for_each(|node| node.desired = ContainerStatus::Stopped);
    while step(&graph, &mut nodes, TaskStatus::Stopped) {}

    let mut plan = shop()?;
    plan.containers[2].links.push(ContainerName::parse("web")?);
    if let Err(error) = Graph::build(plan) {
        println!("refused: {error}");
    }
    Ok(())
}

/// A web server that needs a healthy database, which needs its schema; and a cache that both link.
fn shop() -> Result<Plan, Box<dyn Error>> {
    let [web, db, cache, schema] = ["web", "db", "cache", "schema"].map(ContainerName::parse);
    let (web, db, cache, schema) = (web?, db?, cache?, schema?);
    let depends_on = vec![(db.clone(), Condition::Healthy)];
    let web = ContainerPlan { depends_on, links: vec![cache.clone()], ..ContainerPlan::new(web) };
    let depends_on = vec![(schema.clone(), Condition::Success)];
    let links = vec![cache.clone()];
    let db = ContainerPlan { depends_on, links, has_health_check: true, ..ContainerPlan::new(db) };
    let schema = ContainerPlan { essential: false, ..ContainerPlan::new(schema) };
    Ok(Plan::new(vec![web, db, ContainerPlan::new(cache), schema]))
}

/// Lets every container take the step it may take, and then ends jobs and makes databases healthy.
fn step(graph: &Graph, nodes: &mut [Node<'_>], task_desired: TaskStatus) -> bool {
    let answers = graph.readiness(&Snapshot { task_desired, ..Snapshot::new(nodes) });
    let mut moved = false;
    for (node, answer) in nodes.iter_mut().zip(&answers) {
        match answer {
            Readiness::Ready(step) => {
                println!("  {} {step:?}", node.name);
                node.known = step.toward();
                node.started_at = node.known.is_running().then(Moment::default).or(node.started_at);
                moved = true;
            }
            Readiness::Blocked(block) => println!("  {} waits for {}", node.name, graph.block_text(block)),
            Readiness::Fatal(fatal) => println!("  {} {}", node.name, graph.fatal_text(fatal)),
            Readiness::PastDesired => moved |= live(node),
        }
    }
    moved
}

/// What a program does by itself once it runs.
fn live(node: &mut Node<'_>) -> bool {
    match (node.name.as_str(), node.known, node.health) {
        ("schema", ContainerStatus::Running, _) => {
            *node = Node { known: ContainerStatus::Stopped, exit_code: Some(0), ..*node };
            true
        }
        ("db", ContainerStatus::Running, Health::Unknown) => {
            node.health = Health::Healthy;
            true
        }
        _ => false,
    }
}
