//! Structure, admission, readiness and drawings.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod admission;
mod drawing;
mod ordering;
mod random;
mod readiness;
mod resources;
mod scenarios;
mod size;
mod stopping;
mod structure;

use lighterman_graph::{Condition, ContainerPlan, Graph, Node, Plan, Problem, Readiness, Snapshot};
use lighterman_ids::ContainerName;
use lighterman_status::ContainerStatus;

fn name(text: &str) -> ContainerName {
    ContainerName::parse(text).unwrap()
}

/// A container that is not essential and has a health check: every condition may be asked of it.
fn plan(text: &str) -> ContainerPlan {
    ContainerPlan { essential: false, has_health_check: true, ..ContainerPlan::new(name(text)) }
}

/// The same with these `dependsOn`.
fn after(text: &str, depends_on: &[(&str, Condition)]) -> ContainerPlan {
    let depends_on = depends_on.iter().map(|(on, condition)| (name(on), *condition)).collect();
    ContainerPlan { depends_on, ..plan(text) }
}

fn graph(containers: &[ContainerPlan]) -> Graph {
    Graph::build(Plan::new(containers.to_vec())).unwrap()
}

fn problems(containers: &[ContainerPlan]) -> Vec<Problem> {
    Graph::build(Plan::new(containers.to_vec())).unwrap_err().problems().to_vec()
}

/// What is wrong, one line each.
fn complaint(containers: &[ContainerPlan]) -> String {
    problems(containers).iter().map(|problem| format!("{problem}\n")).collect()
}

/// A container with nothing under way.
const fn node(name: &ContainerName, known: ContainerStatus, desired: ContainerStatus) -> Node<'_> {
    Node { known, desired, ..Node::new(name) }
}

/// What the first container may do in a task that is to run.
fn first(graph: &Graph, nodes: &[Node<'_>]) -> Readiness {
    graph.readiness_of(0, &Snapshot::new(nodes))
}
