//! What a container may do, over all its statuses.

use std::fmt::Write as _;

use lighterman_graph::{Block, Node, Readiness, Step};
use lighterman_status::{ContainerStatus as C, SteadyState};

use crate::{graph, name, node};

fn ask(node: Node<'_>) -> Readiness {
    let [readiness] = graph(&[node.name.as_str()]).readiness(&[node])[..] else { panic!("one answer for one node") };
    readiness
}

#[test]
fn one_container_over_all_pairs() {
    let web = name("web");
    let mut table = String::new();
    for steady in SteadyState::ALL {
        writeln!(table, "up at {}; known downwards, desired across:", steady.status()).unwrap();
        writeln!(table, "{:24}{}", "", C::ALL.map_join(|desired| format!("{desired:<24}"))).unwrap();
        for known in C::ALL {
            let cells = C::ALL.map_join(|desired| {
                let cell = match ask(Node { steady: *steady, ..node(&web, *known, *desired) }) {
                    Readiness::PastDesired => "-".to_owned(),
                    Readiness::Ready(step) => format!("{step:?}"),
                    Readiness::Blocked(Block::InFlight { toward }) => format!("in flight to {toward}"),
                };
                format!("{cell:<24}")
            });
            writeln!(table, "{}", format!("{known:<24}{cells}").trim_end()).unwrap();
        }
    }
    insta::assert_snapshot!(table);
}

trait MapJoin {
    fn map_join(&self, cell: impl Fn(&C) -> String) -> String;
}

impl MapJoin for &[C] {
    fn map_join(&self, cell: impl Fn(&C) -> String) -> String {
        self.iter().map(cell).collect::<String>().trim_end().to_owned()
    }
}

/// The transition under way decides only where there is a step to take.
#[test]
fn over_all_statuses_a_step_waits_for_the_transition_under_way() {
    let web = name("web");
    for steady in SteadyState::ALL.iter().copied() {
        for known in C::ALL.iter().copied() {
            for desired in C::ALL.iter().copied() {
                let idle = Node { steady, ..node(&web, known, desired) };
                for applied in C::ALL.iter().copied().filter(|applied| *applied != C::None) {
                    let in_flight = Readiness::Blocked(Block::InFlight { toward: applied });
                    let expected = match ask(idle) {
                        Readiness::Ready(Step::MarkStopped) if applied != C::Running => ask(idle),
                        Readiness::Ready(_) => in_flight,
                        Readiness::PastDesired => Readiness::PastDesired,
                        Readiness::Blocked(block) => panic!("nothing is under way: {block:?}"),
                    };
                    assert_eq!(ask(Node { applied, ..idle }), expected, "{known} {desired} {applied}");
                }
            }
        }
    }
}

#[test]
fn a_step_leads_to_the_next_known_status() {
    let web = name("web");
    for steady in SteadyState::ALL.iter().copied() {
        for known in C::ALL.iter().copied() {
            for desired in C::ALL.iter().copied() {
                match ask(Node { steady, ..node(&web, known, desired) }) {
                    Readiness::Ready(step @ (Step::Stop | Step::MarkStopped)) => assert_eq!(step.toward(), C::Stopped),
                    Readiness::Ready(step) => assert_eq!(Some(step.toward()), known.next(steady)),
                    Readiness::PastDesired => assert!(known.at_least(desired), "{known} {desired}"),
                    Readiness::Blocked(block) => panic!("nothing is under way: {block:?}"),
                }
            }
        }
    }
}

#[test]
fn every_step_can_be_reached() {
    let web = name("web");
    let mut missing: Vec<_> = Step::ALL.to_vec();
    for steady in SteadyState::ALL.iter().copied() {
        for known in C::ALL.iter().copied() {
            for desired in C::ALL.iter().copied() {
                let readiness = ask(Node { steady, ..node(&web, known, desired) });
                missing.retain(|step| Readiness::Ready(*step) != readiness);
            }
        }
    }
    assert_eq!(missing, []);
}

#[test]
fn a_start_in_flight_is_waited_for_a_create_in_flight_is_not() {
    let web = name("web");
    let stopping = node(&web, C::Created, C::Stopped);
    let wait = Readiness::Blocked(Block::InFlight { toward: C::Running });
    assert_eq!(ask(Node { applied: C::Running, ..stopping }), wait, "it would come back");
    let stopping = node(&web, C::Pulled, C::Stopped);
    assert_eq!(ask(Node { applied: C::Created, ..stopping }), Readiness::Ready(Step::MarkStopped));
}

#[test]
fn containers_without_edges_do_not_wait_for_each_other() {
    let (web, db) = (name("web"), name("db"));
    let answers =
        graph(&["web", "db"]).readiness(&[node(&web, C::None, C::Running), node(&db, C::Running, C::Stopped)]);
    assert_eq!(answers, [Readiness::Ready(Step::ResolveDigest), Readiness::Ready(Step::Stop)]);
}
