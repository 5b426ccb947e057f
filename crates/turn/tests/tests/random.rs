//! Random histories: turns, commits that fail, crashes. What leaves is held against what is durable by the
//! rig; here that nothing is lost and that the end is always in reach.

use lighterman_calls::Request;
use lighterman_engine::Event;
use proptest::prelude::*;

use crate::rig::{Rig, task_id};

#[derive(Clone, Debug)]
enum Step {
    /// The nth call is answered, in a turn of its own or together with what follows.
    Serve {
        nth: usize,
        ends: bool,
    },
    Reports {
        ends: bool,
    },
    ProcessEnds(i32),
    Submit,
    Stop {
        force: bool,
    },
    EventsDropped,
    EndTurn,
    UntilDue,
    CommitBegins,
    CommitEnds {
        works: bool,
        there: bool,
    },
    Crash,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        10 => (0..3_usize, any::<bool>()).prop_map(|(nth, ends)| Step::Serve { nth, ends }),
        3 => any::<bool>().prop_map(|ends| Step::Reports { ends }),
        1 => (0..256_i32).prop_map(Step::ProcessEnds),
        1 => Just(Step::Submit),
        1 => any::<bool>().prop_map(|force| Step::Stop { force }),
        1 => Just(Step::EventsDropped),
        2 => Just(Step::EndTurn),
        4 => Just(Step::UntilDue),
        8 => Just(Step::CommitBegins),
        6 => Just(Step::CommitEnds { works: true, there: true }),
        2 => any::<bool>().prop_map(|there| Step::CommitEnds { works: false, there }),
        1 => Just(Step::Crash),
    ]
}

fn take(rig: &mut Rig, step: &Step) {
    match step {
        Step::Serve { nth, ends } => {
            if *nth < rig.out.len() {
                let event = rig.served_at(*nth);
                hand_over(rig, vec![event], *ends);
            }
        }
        Step::Reports { ends } => {
            let reports = rig.reports();
            hand_over(rig, reports, *ends);
        }
        Step::ProcessEnds(code) => rig.world.process_ends(*code),
        // An id names one task, once: again only where a crash took it back.
        Step::Submit => {
            if !rig.was_submitted {
                rig.submit();
            }
        }
        Step::Stop { force } => rig.turn([Event::Stop { task: task_id(), reason: None, force: *force }]),
        Step::EventsDropped => rig.turn([Event::EventsDropped]),
        Step::EndTurn => rig.end_turn(),
        Step::UntilDue => {
            if rig.until_due() && !rig.is_committing() && !rig.turns.engine().is_dirty() {
                let due = rig.turns.poll_timeout();
                let retry = rig.turns.engine().poll_commit_time();
                assert!(due.is_none_or(|due| due > rig.now.mono) || retry.is_some(), "it spins");
            }
        }
        Step::CommitBegins => {
            if !rig.is_committing() {
                rig.commit_begins();
            }
        }
        Step::CommitEnds { works, there } => {
            if rig.is_committing() {
                rig.commit_ends(*works, *there);
            }
        }
        Step::Crash => rig.crash(),
    }
    if let Some(id) = rig.opening.take() {
        rig.open(id);
    }
}

fn hand_over(rig: &mut Rig, events: Vec<Event>, ends: bool) {
    events.into_iter().for_each(|event| rig.handle(event));
    if ends {
        rig.end_turn();
    }
}

/// Nothing is held, so whatever the engine takes for being out has left.
fn assert_nothing_is_lost(rig: &mut Rig) {
    rig.end_turn();
    let holds = rig.is_committing() || rig.turns.engine().is_dirty() || rig.turns.engine().store_fails();
    if !holds && !rig.commit_begins() {
        assert_eq!(rig.turns.engine().calls_in_progress(), rig.out.len(), "{:?}", rig.out);
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn nothing_leaves_early_and_nothing_is_lost(steps in prop::collection::vec(step(), 0..80)) {
        let mut rig = Rig::new();
        for step in &steps {
            take(&mut rig, step);
            assert_nothing_is_lost(&mut rig);
        }
        come_to_the_end(&mut rig);
        prop_assert!(rig.turns.engine().tasks().next().is_none(), "{:?}", rig.views.last());
        prop_assert!(rig.durable_task().is_none());
        prop_assert_eq!(&rig.world.container, &None);
    }
}

fn config() -> ProptestConfig {
    let default = ProptestConfig::default();
    ProptestConfig { cases: default.cases * 2, max_shrink_iters: 20_000, ..default }
}

/// From here on nothing goes wrong any more.
fn come_to_the_end(rig: &mut Rig) {
    rig.end_turn();
    rig.turn([Event::EventsDropped, Event::Stop { task: task_id(), reason: None, force: false }]);
    for _ in 0..200 {
        rig.flow();
        let quiet = rig.turns.engine().tasks().next().is_none() && !rig.turns.engine().store_fails();
        if quiet || !rig.until_due() {
            return;
        }
    }
}

/// What the checks of the rig would find: each of these must be refused by them.
#[test]
#[should_panic(expected = "that the task has stopped is not durable")]
fn the_rig_finds_a_removal_that_leaves_early() {
    let rig = Rig::running();
    let id = rig.durable_task().unwrap().containers[0].runtime_id.clone().unwrap();
    rig.check_call(&Request::Remove(lighterman_calls::ContainerTarget::Id(id)));
}

#[test]
#[should_panic(expected = "shown and not durable")]
fn the_rig_finds_a_view_that_is_shown_early() {
    let mut rig = Rig::connected();
    rig.submit();
    let view = rig.turns.engine().view(rig.now, &task_id()).unwrap();
    rig.check_view(&view);
}
