//! The table of ordering edges, over all pairs, against the rows of the spec written down a second time.

use std::{fmt::Write as _, time::Duration};

use lighterman_graph::{Block, Condition, ContainerPlan, FatalCause, Graph, Node, Readiness, Snapshot};
use lighterman_ids::{ContainerName, Moment, Mono};
use lighterman_status::{ContainerStatus as C, Health};

use crate::{after, graph, node, plan};

const LIMIT: Duration = Duration::from_secs(8);

fn at(seconds: u64) -> Moment {
    Moment { mono: Mono(seconds * 1_000_000_000), ..Moment::default() }
}

/// `c` depends on `d`, which others wait for at most [`LIMIT`].
fn pair(condition: Condition) -> Graph {
    graph(&[after("c", &[("d", condition)]), ContainerPlan { start_timeout: Some(LIMIT), ..plan("d") }])
}

/// What was decided, in the words of the rows.
fn row(readiness: &Readiness) -> &'static str {
    match readiness {
        Readiness::PastDesired => "past",
        Readiness::Ready(_) | Readiness::Blocked(Block::InFlight { .. }) => "free",
        Readiness::Blocked(Block::Ordering(_)) => "blocked",
        Readiness::Blocked(block) => panic!("nothing else holds it back: {block:?}"),
        Readiness::Fatal(fatal) => match fatal.cause {
            FatalCause::TimedOut { limit } => {
                assert_eq!(limit, LIMIT);
                "B2"
            }
            FatalCause::NotSuccessful { .. } => "B3",
            FatalCause::WillNeverStart => "B4",
            FatalCause::NeverStarted => "B4a",
            FatalCause::NotHealthy { .. } => "B4b",
        },
    }
}

/// Engine.md 2.4 step B for a container and a dependency that count as up at RUNNING.
fn spec(condition: Condition, c: &Node<'_>, d: &Node<'_>, is_late: bool, pulls_upfront: bool) -> &'static str {
    let order = |status: C| C::ALL.iter().position(|other| *other == status).unwrap();
    if order(c.known) >= order(c.desired) {
        return "past";
    }
    if c.desired != C::Running && c.desired != C::Created {
        return "free";
    }
    let is_stopped = d.known == C::Stopped;
    let times_out = [Condition::Success, Condition::Complete, Condition::Healthy].contains(&condition);
    let fatal = [
        ("B2", order(c.known) < order(C::Created) && !is_stopped && times_out && is_late),
        ("B3", condition == Condition::Success && is_stopped && d.exit_code != Some(0)),
        ("B4", order(d.known) < order(C::Running) && d.desired == C::Stopped && d.applied == C::None),
        ("B4a", is_stopped && d.started_at.is_none() && (condition != Condition::Create || !d.was_created)),
        ("B4b", condition == Condition::Healthy && is_stopped && d.health != Health::Healthy),
    ];
    if let Some((row, _)) = fatal.iter().find(|(_, holds)| *holds) {
        return row;
    }
    let is_resolved = c.known == C::None
        || pulls_upfront && c.known == C::ManifestPulled
        || match condition {
            Condition::Create => order(d.known) >= order(C::Created),
            Condition::Start => {
                is_stopped
                    || c.desired == C::Created && (d.known == C::Created || d.known == C::Running)
                    || c.desired == C::Running && d.known == C::Running
            }
            Condition::Success => is_stopped && d.exit_code == Some(0),
            Condition::Complete => is_stopped,
            Condition::Healthy => d.health == Health::Healthy,
        };
    if is_resolved { "free" } else { "blocked" }
}

#[test]
fn over_all_pairs_the_rows_are_those_of_the_spec() {
    let (mut cases, mut seen) = (0_u32, std::collections::BTreeMap::new());
    for condition in Condition::ALL.iter().copied() {
        let graph = pair(condition);
        let [c_name, d_name] = graph.names() else { panic!("two containers") };
        for d in dependencies(d_name) {
            for c in dependents(c_name) {
                for (now, pulls_upfront) in [(8, false), (9, false), (8, true)] {
                    let nodes = [c, d];
                    let snapshot = Snapshot { now: at(now), pulls_upfront, ..Snapshot::new(&nodes) };
                    let is_late = d.started_at.is_some() && now > 8;
                    let expected = spec(condition, &c, &d, is_late, pulls_upfront);
                    let found = row(&graph.readiness_of(0, &snapshot));
                    assert_eq!(found, expected, "{condition} {snapshot:?}");
                    cases += 1;
                    *seen.entry(found).or_insert(0) += 1;
                }
            }
        }
    }
    assert_eq!(cases, 5 * (7 * 4 * 3 * 3 * 3 * 2 * 2) * (7 * 4) * 3);
    assert_eq!(seen.into_keys().collect::<Vec<_>>(), ["B2", "B3", "B4", "B4a", "B4b", "blocked", "free", "past"]);
}

fn dependents(name: &ContainerName) -> Vec<Node<'_>> {
    let desired = [C::Pulled, C::Created, C::Running, C::Stopped];
    C::ALL.iter().flat_map(|known| desired.map(|desired| node(name, *known, desired))).collect()
}

fn dependencies(name: &ContainerName) -> Vec<Node<'_>> {
    let mut all = vec![Node::new(name)];
    all = vary(&all, C::ALL, |node, known| node.known = known);
    all = vary(&all, &[C::Pulled, C::Created, C::Running, C::Stopped], |node, desired| node.desired = desired);
    all = vary(&all, &[C::None, C::Created, C::Running], |node, applied| node.applied = applied);
    all = vary(&all, &[None, Some(0), Some(137)], |node, exit_code| node.exit_code = exit_code);
    all = vary(&all, Health::ALL, |node, health| node.health = health);
    all = vary(&all, &[None, Some(at(0))], |node, started_at| node.started_at = started_at);
    vary(&all, &[false, true], |node, was_created| node.was_created = was_created)
}

fn vary<'a, V: Copy>(nodes: &[Node<'a>], values: &[V], set: impl Fn(&mut Node<'a>, V)) -> Vec<Node<'a>> {
    let with = |node: &Node<'a>, value: &V| {
        let mut node = *node;
        set(&mut node, *value);
        node
    };
    nodes.iter().flat_map(|node| values.iter().map(move |value| (node, value))).map(|(n, v)| with(n, v)).collect()
}

/// The states in which a dependency really is.
fn states(name: &ContainerName) -> Vec<(&'static str, Node<'_>)> {
    let up = |known| node(name, known, C::Running);
    let created = Node { was_created: true, ..up(C::Created) };
    let running = Node { started_at: Some(at(0)), was_created: true, ..up(C::Running) };
    let ended = Node { known: C::Stopped, desired: C::Stopped, ..running };
    let never = Node { started_at: None, ..ended };
    vec![
        ("nothing done", up(C::None)),
        ("pulled", up(C::Pulled)),
        ("created", created),
        ("created, to stop", Node { desired: C::Stopped, ..created }),
        ("created, to stop, start in flight", Node { desired: C::Stopped, applied: C::Running, ..created }),
        ("runs", running),
        ("runs, healthy", Node { health: Health::Healthy, ..running }),
        ("runs, unhealthy", Node { health: Health::Unhealthy, ..running }),
        ("ended with 0", Node { exit_code: Some(0), ..ended }),
        ("ended with 0, healthy", Node { exit_code: Some(0), health: Health::Healthy, ..ended }),
        ("ended with 1", Node { exit_code: Some(1), ..ended }),
        ("ended, code unknown", ended),
        ("stopped, never started", never),
        ("stopped, never created", Node { was_created: false, ..never }),
    ]
}

/// For people: how the rules read for the states that come up.
#[test]
fn what_a_pulled_container_may_do() {
    let mut table = String::new();
    for now in [8, 9] {
        writeln!(table, "{now} s after the start, limit 8 s").unwrap();
        writeln!(table, "{:35}{}", "", Condition::ALL.iter().map(|c| format!("{c:10}")).collect::<String>().trim_end())
            .unwrap();
        let names = pair(Condition::Start);
        for (n, (state, _)) in states(&names.names()[1]).iter().enumerate() {
            let cells: String = Condition::ALL
                .iter()
                .map(|condition| {
                    let graph = pair(*condition);
                    let nodes = [node(&graph.names()[0], C::Pulled, C::Running), states(&graph.names()[1])[n].1];
                    let snapshot = Snapshot { now: at(now), ..Snapshot::new(&nodes) };
                    format!("{:10}", row(&graph.readiness_of(0, &snapshot)))
                })
                .collect();
            writeln!(table, "{}", format!("{state:35}{cells}").trim_end()).unwrap();
        }
    }
    insta::assert_snapshot!(table);
}

#[test]
fn of_several_edges_the_first_fatal_and_the_last_blocked_is_told() {
    let conditions = [("a", Condition::Start), ("b", Condition::Success), ("d", Condition::Start)];
    let graph = graph(&[after("c", &conditions), plan("a"), plan("b"), plan("d")]);
    let mut nodes = graph.nodes();
    for node in &mut nodes {
        *node = Node { known: C::Pulled, desired: C::Running, ..*node };
    }
    let Readiness::Blocked(block) = graph.readiness_of(0, &Snapshot::new(&nodes)) else { panic!("it waits") };
    assert_eq!(graph.block_text(&block), "d to be up (dependsOn[2])");
    for place in [1, 2] {
        nodes[place] = Node { known: C::Stopped, desired: C::Stopped, exit_code: Some(3), ..nodes[place] };
    }
    let Readiness::Fatal(fatal) = graph.readiness_of(0, &Snapshot::new(&nodes)) else { panic!("it cannot") };
    assert_eq!(fatal.cause, FatalCause::NeverStarted);
    assert_eq!(graph.names()[fatal.edge.on].as_str(), "a");
}

#[test]
fn the_reason_names_the_dependency_the_condition_and_what_became_of_it() {
    let text = |condition, d: Node<'_>, now| {
        let graph = pair(condition);
        let nodes = [node(&graph.names()[0], C::Pulled, C::Running), Node { name: &graph.names()[1], ..d }];
        let Readiness::Fatal(fatal) = graph.readiness_of(0, &Snapshot { now: at(now), ..Snapshot::new(&nodes) }) else {
            panic!("{d:?} is fatal");
        };
        graph.fatal_text(&fatal)
    };
    let d = crate::name("d");
    let ran = Node { started_at: Some(at(0)), ..node(&d, C::Stopped, C::Stopped) };
    let told = [
        text(Condition::Success, Node { exit_code: Some(1), ..ran }, 0),
        text(Condition::Success, ran, 0),
        text(Condition::Healthy, ran, 0),
        text(Condition::Complete, Node { started_at: None, ..ran }, 0),
        text(Condition::Start, Node { known: C::Created, started_at: None, ..ran }, 0),
        text(Condition::Healthy, Node { known: C::Running, desired: C::Running, ..ran }, 9),
    ];
    insta::assert_snapshot!(told.join("\n"), @r"
    waits for d to end with exit code 0 (dependsOn[0]), but d ended with exit code 1
    waits for d to end with exit code 0 (dependsOn[0]), but d ended with an unknown exit code
    waits for d to be healthy (dependsOn[0]), but d has stopped, and its health was UNKNOWN
    waits for d to end (dependsOn[0]), but d has stopped and was never started
    waits for d to be up (dependsOn[0]), but d is to stop and was not started
    waits for d to be healthy (dependsOn[0]), but d was started more than 8s ago
    ");
}

#[test]
fn a_timer_set_by_the_graph_finds_the_answer_changed() {
    for condition in Condition::ALL {
        let graph = pair(*condition);
        let mut nodes =
            [node(&graph.names()[0], C::Pulled, C::Running), node(&graph.names()[1], C::Running, C::Running)];
        nodes[1].started_at = Some(at(2));
        let ask = |now| graph.readiness_of(0, &Snapshot { now, ..Snapshot::new(&nodes) });
        let due = graph.next_change(&Snapshot { now: at(5), ..Snapshot::new(&nodes) });
        if matches!(condition, Condition::Create | Condition::Start) {
            assert_eq!(due, None, "{condition}");
            continue;
        }
        let due = due.unwrap();
        assert_eq!(due, Mono(10_000_000_001), "the limit itself is in time");
        assert!(matches!(ask(Moment { mono: Mono(due.0 - 1), ..at(0) }), Readiness::Blocked(_)), "{condition}");
        let then = Moment { mono: due, ..at(0) };
        assert!(matches!(ask(then), Readiness::Fatal(_)), "{condition}");
        assert_eq!(graph.next_change(&Snapshot { now: then, ..Snapshot::new(&nodes) }), None);
    }
}

#[test]
fn nothing_changes_by_itself_for_whoever_does_not_wait() {
    let graph = pair(Condition::Healthy);
    let running = Node { started_at: Some(at(0)), ..node(&graph.names()[1], C::Running, C::Running) };
    let due = |c: Node<'_>, d| {
        let nodes = [Node { name: &graph.names()[0], ..c }, d];
        graph.next_change(&Snapshot::new(&nodes))
    };
    let name = &graph.names()[0];
    assert!(due(node(name, C::Pulled, C::Running), running).is_some());
    assert_eq!(due(node(name, C::Created, C::Running), running), None, "created in time");
    assert_eq!(due(node(name, C::Pulled, C::Stopped), running), None, "it stops");
    assert_eq!(due(node(name, C::Pulled, C::Pulled), running), None, "it has arrived");
    assert_eq!(due(node(name, C::Pulled, C::Running), Node { started_at: None, ..running }), None, "not started");
    assert_eq!(due(node(name, C::Pulled, C::Running), Node { known: C::Stopped, ..running }), None, "it has ended");
}

#[test]
fn a_start_timeout_of_zero_is_none() {
    let d = ContainerPlan { start_timeout: Some(Duration::ZERO), ..plan("d") };
    let graph = graph(&[after("c", &[("d", Condition::Healthy)]), d]);
    let mut nodes = [node(&graph.names()[0], C::Pulled, C::Running), node(&graph.names()[1], C::Running, C::Running)];
    nodes[1].started_at = Some(at(0));
    let snapshot = Snapshot { now: at(1_000_000), ..Snapshot::new(&nodes) };
    assert!(matches!(graph.readiness_of(0, &snapshot), Readiness::Blocked(_)));
    assert_eq!(graph.next_change(&snapshot), None);
}
