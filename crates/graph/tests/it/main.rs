//! Structure, readiness and drawings.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod drawing;
mod readiness;
mod structure;

use lighterman_graph::{Graph, Node};
use lighterman_ids::ContainerName;
use lighterman_status::{ContainerStatus, SteadyState};

fn name(text: &str) -> ContainerName {
    ContainerName::parse(text).unwrap()
}

fn graph(names: &[&str]) -> Graph {
    Graph::build(names.iter().map(|text| name(text))).unwrap()
}

/// A container with nothing under way, up once it runs.
const fn node(name: &ContainerName, known: ContainerStatus, desired: ContainerStatus) -> Node<'_> {
    Node { name, known, desired, steady: SteadyState::Running, applied: ContainerStatus::None }
}
