//! Ten thousand containers are admitted, refused, asked and drawn in well under a second.
#![expect(clippy::disallowed_methods, reason = "how long it takes is what is tested")]

use std::time::{Duration, Instant};

use lighterman_graph::{Condition, ContainerPlan, Graph, GraphError, Plan, Snapshot};

use crate::{after, name, plan};

const MANY: usize = 10_000;

/// What a quadratic scan over so many names would take several times of, in a build without optimisation.
const LIMIT: Duration = Duration::from_secs(1);

fn quickly<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let begin = Instant::now();
    let result = work();
    let took = begin.elapsed();
    assert!(took < LIMIT, "{what} took {took:?}");
    result
}

fn build(what: &str, containers: impl Iterator<Item = ContainerPlan>) -> Result<Graph, GraphError> {
    let plan = Plan::new(containers.collect());
    quickly(what, || Graph::build(plan))
}

/// Container `n`, which depends on these.
fn numbered(n: usize, on: &[usize]) -> ContainerPlan {
    let on: Vec<(String, Condition)> = on.iter().map(|on| (format!("c{on}"), Condition::Healthy)).collect();
    let on: Vec<(&str, Condition)> = on.iter().map(|(name, condition)| (name.as_str(), *condition)).collect();
    after(&format!("c{n}"), &on)
}

fn use_it(what: &str, graph: &Graph) {
    let nodes = graph.nodes();
    let nodes: Vec<_> = nodes
        .into_iter()
        .map(|node| lighterman_graph::Node { desired: lighterman_status::ContainerStatus::Running, ..node })
        .collect();
    let snapshot = Snapshot::new(&nodes);
    assert_eq!(quickly(what, || graph.readiness(&snapshot)).len(), MANY);
    assert_eq!(quickly(what, || graph.next_change(&snapshot)), None);
    assert_eq!(quickly(what, || graph.admit(&nodes)), Ok(()));
    assert_eq!(quickly(what, || graph.shutdown_order()).iter().map(Vec::len).sum::<usize>(), MANY);
    assert!(quickly(what, || graph.to_text(&nodes)).lines().count() >= MANY);
    assert!(quickly(what, || graph.to_dot("many", &nodes)).lines().count() >= MANY);
    assert!(quickly(what, || graph.to_tree(&nodes)).lines().count() >= MANY);
}

#[test]
fn a_chain_of_ten_thousand() {
    let chain = |n: usize| if n == 0 { numbered(0, &[]) } else { numbered(n, &[n - 1]) };
    use_it("a chain", &build("a chain", (0..MANY).map(chain)).unwrap());
}

#[test]
fn ten_thousand_that_depend_on_one_another_in_layers() {
    let width = 10;
    let layered = |n: usize| {
        let layer = n / width * width;
        let on: Vec<usize> = if layer == 0 { Vec::new() } else { (layer - width..layer).collect() };
        numbered(n, &on)
    };
    use_it("layers", &build("layers", (0..MANY).map(layered)).unwrap());
}

#[test]
fn ten_thousand_in_one_network() {
    let mut plan = Plan::new((1..MANY).map(|n| numbered(n, &[])).collect());
    let pause = ContainerPlan {
        kind: lighterman_status::ContainerKind::CniPause,
        steady: lighterman_status::SteadyState::ResourcesProvisioned,
        ..ContainerPlan::new(name("pause"))
    };
    plan.containers.push(pause);
    plan.share_network_of(&name("pause"));
    let graph = quickly("a network", || Graph::build(plan)).unwrap();
    assert_eq!(graph.shutdown_order().len(), 2);
}

#[test]
fn ten_thousand_in_a_ring_are_refused() {
    let error = build("a ring", (0..MANY).map(|n| numbered(n, &[(n + 1) % MANY]))).unwrap_err();
    assert_eq!(error.problems().len(), 1);
    assert!(error.to_string().len() < 1_000, "the text stays short");
}

#[test]
fn ten_thousand_in_pairs_are_refused_with_every_ring() {
    let error = build("pairs", (0..MANY).map(|n| numbered(n, &[n ^ 1]))).unwrap_err();
    assert_eq!(error.problems().len(), MANY / 2);
}

#[test]
fn ten_thousand_wrong_names_are_refused_one_by_one() {
    let missing = (0..MANY).map(|n| numbered(n, &[n + MANY]));
    assert_eq!(build("missing names", missing).unwrap_err().problems().len(), MANY);
    let twice = (0..MANY).map(|n| plan(&format!("c{}", n / 2)));
    assert_eq!(build("names twice", twice).unwrap_err().problems().len(), MANY / 2);
}
