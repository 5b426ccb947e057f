//! What holds whatever is done.

use std::collections::{BTreeMap, BTreeSet};

use lighterman_calls::{ContainerTarget, EventAction, ExitCode, Phase, Request, RuntimeEvent, Signal};
use lighterman_ids::{Moment, RuntimeId, Wall};
use lighterman_runtime_model::{Disturbance, Failure, Settings};
use proptest::prelude::*;

use crate::rig::{Rig, check, container, ms, named, secs};

const NAMES: [&str; 3] = ["one", "two", "three"];
const PROGRAMS: [&str; 7] = [
    "exit 3",
    "sleep 0.4 + exit 4",
    "sleep 60",
    "on-term 0",
    "term-after 1 5",
    "nonsense",
    "alloc-child 99 + alloc 99",
];

/// One thing to do.
#[derive(Clone, Debug)]
enum Deed {
    Create { name: usize, program: usize, checked: bool },
    Start(usize),
    Stop { name: usize, grace: u64 },
    Kill { name: usize, hard: bool },
    Remove(usize),
    Inspect(usize),
    Outside { name: usize, how: u8 },
    Engine { how: u8, away: u64 },
    Step { back: bool },
}

fn deed() -> impl Strategy<Value = Deed> {
    let name = 0..NAMES.len();
    prop_oneof![
        4 => (name.clone(), 0..PROGRAMS.len(), any::<bool>())
            .prop_map(|(name, program, checked)| Deed::Create { name, program, checked }),
        5 => name.clone().prop_map(Deed::Start),
        3 => (name.clone(), 0..4u64).prop_map(|(name, grace)| Deed::Stop { name, grace }),
        2 => (name.clone(), any::<bool>()).prop_map(|(name, hard)| Deed::Kill { name, hard }),
        3 => name.clone().prop_map(Deed::Remove),
        3 => name.clone().prop_map(Deed::Inspect),
        2 => (name, 0..5u8).prop_map(|(name, how)| Deed::Outside { name, how }),
        1 => (0..3u8, 0..5_000u64).prop_map(|(how, away)| Deed::Engine { how, away }),
        1 => any::<bool>().prop_map(|back| Deed::Step { back }),
    ]
}

fn disturbance() -> impl Strategy<Value = Disturbance> {
    prop_oneof![
        4 => Just(Disturbance::NONE),
        1 => (0..400u64).prop_map(|after| Disturbance::lost(ms(after))),
        1 => (0..9_000u64).prop_map(|after| Disturbance::late(ms(after))),
        1 => Just(Disturbance::hangs()),
        1 => (0..3_000u64).prop_map(|by| Disturbance { slower_by: ms(by), ..Disturbance::NONE }),
        1 => (0..3_000u64).prop_map(|by| Disturbance { answers_after: ms(by), ..Disturbance::NONE }),
    ]
}

fn script() -> impl Strategy<Value = Vec<(Deed, Disturbance, u64)>> {
    proptest::collection::vec((deed(), disturbance(), 0..700u64), 1..40)
}

fn request(deed: &Deed) -> Option<Request> {
    Some(match *deed {
        Deed::Create { name, program, checked } => {
            let mut request = container(NAMES[name], PROGRAMS[program]);
            request.config.healthcheck = checked.then(|| check("exit 0"));
            request.host.memory = Some(32 << 20);
            Request::Create(Box::new(request))
        }
        Deed::Start(name) => Request::Start(named(NAMES[name])),
        Deed::Stop { name, grace } => Request::Stop { container: named(NAMES[name]), grace: secs(grace) },
        Deed::Kill { name, hard } => {
            let signal = if hard { Signal::Kill } else { Signal::Term };
            Request::Kill { container: named(NAMES[name]), signal }
        }
        Deed::Remove(name) => Request::Remove(named(NAMES[name])),
        Deed::Inspect(name) => Request::Inspect(named(NAMES[name])),
        Deed::Outside { .. } | Deed::Engine { .. } | Deed::Step { .. } => return None,
    })
}

/// What was seen of a whole run of a script.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    asked: BTreeSet<u64>,
    answered: BTreeMap<u64, lighterman_calls::Answer>,
    events: Vec<RuntimeEvent>,
    /// Of each run, by container and start: every exit code it was shown with.
    codes: BTreeMap<(RuntimeId, Option<Wall>), BTreeSet<ExitCode>>,
}

fn perform(script: &[(Deed, Disturbance, u64)], live_restore: bool) -> Seen {
    let mut rig = Rig::with(Settings { live_restore, ..Settings::default() });
    let mut seen =
        Seen { asked: BTreeSet::new(), answered: BTreeMap::new(), events: Vec::new(), codes: BTreeMap::new() };
    for (deed, disturbance, wait) in script {
        match (request(deed), deed) {
            (Some(request), _) => {
                seen.asked.insert(rig.send_disturbed(request, secs(8), disturbance.clone()));
            }
            (None, Deed::Outside { name, how }) => outside(&mut rig, &named(NAMES[*name]), *how),
            (None, Deed::Engine { how, away }) => {
                let failure = [Failure::Crash, Failure::Shutdown, Failure::PowerCut][usize::from(*how)];
                rig.model.restart_engine(rig.now, failure, ms(*away));
            }
            (None, Deed::Step { back }) => {
                let step = if *back { -600_000_000_000 } else { 600_000_000_000 };
                rig.now = Moment { wall: Wall(rig.now.wall.0 + step), ..rig.now };
                rig.model.advance(rig.now);
            }
            (None, _) => unreachable!("all others are requests"),
        }
        look(&rig, &mut seen);
        rig.pass(ms(*wait));
        look(&rig, &mut seen);
        rewatch(&mut rig);
    }
    rig.pass(secs(120));
    look(&rig, &mut seen);
    seen.answered = core::mem::take(&mut rig.answers);
    seen.events = core::mem::take(&mut rig.events);
    seen
}

/// Opens the watch again after an outage; what happened before it stood is missed.
fn rewatch(rig: &mut Rig) {
    if core::mem::take(&mut rig.lost).is_empty() {
        return;
    }
    while !rig.model.is_up() {
        rig.pass(ms(500));
    }
    let events = core::mem::take(&mut rig.events);
    rig.watch(None);
    rig.events = events;
    rig.pass(ms(5));
}

fn outside(rig: &mut Rig, target: &ContainerTarget, how: u8) {
    match how {
        0 => drop(rig.model.external_kill(rig.now, target)),
        1 => drop(rig.model.external_remove(rig.now, target)),
        2 => drop(rig.model.external_restart(rig.now, target)),
        3 => drop(rig.model.external_oom(rig.now, target)),
        _ => drop(rig.model.force_health(target, Some(1))),
    }
}

fn look(rig: &Rig, seen: &mut Seen) {
    let all = rig.model.containers();
    let names: BTreeSet<_> = all.iter().map(|facts| facts.name.clone()).collect();
    assert_eq!(names.len(), all.len(), "one name, one container");
    for facts in all {
        assert_eq!(rig.model.facts(&ContainerTarget::Name(facts.name.clone())).as_ref(), Some(&facts));
        match facts.phase {
            Phase::Created => assert_eq!((facts.started_at, facts.finished_at, &*facts.error), (None, None, "")),
            Phase::Running => assert!(facts.started_at.is_some() && facts.error.is_empty()),
            Phase::Exited { code } => {
                assert_eq!(code.is_some(), facts.finished_at.is_some());
                assert!(facts.ports.is_empty());
                if let Some(code) = code {
                    seen.codes.entry((facts.id.clone(), facts.started_at)).or_default().insert(code);
                }
            }
            Phase::Dead { .. } => panic!("nothing was wedged"),
        }
        if rig.model.is_alive(&ContainerTarget::Id(facts.id.clone())) {
            assert_eq!(facts.phase, Phase::Running, "nothing runs that the engine does not believe in");
        }
    }
}

/// Events of one container on a stream that was never interrupted.
fn check_order(events: &[&EventAction]) {
    let (mut running, mut destroyed) = (false, false);
    assert_eq!(events.first(), Some(&&EventAction::Create));
    for (index, event) in events.iter().enumerate() {
        assert!(!destroyed, "nothing follows destroy: {events:?}");
        match event {
            EventAction::Create => assert_eq!(index, 0),
            EventAction::Start => assert!(!core::mem::replace(&mut running, true), "{events:?}"),
            EventAction::Die { .. } => assert!(core::mem::replace(&mut running, false), "{events:?}"),
            EventAction::Oom | EventAction::HealthStatus(_) | EventAction::Restart => assert!(running, "{events:?}"),
            EventAction::Stop => assert!(!running, "{events:?}"),
            EventAction::Destroy => {
                assert!(!running, "{events:?}");
                destroyed = true;
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn every_call_is_answered_once_and_codes_stand(script in script(), live_restore: bool) {
        let seen = perform(&script, live_restore);
        prop_assert_eq!(&seen.asked, &seen.answered.keys().copied().collect::<BTreeSet<_>>());
        for (run, codes) in &seen.codes {
            prop_assert_eq!(codes.len(), 1, "{:?} was shown with {:?}", run, codes);
        }
    }

    #[test]
    fn events_of_a_container_come_in_a_legal_order(script in script()) {
        let calm: Vec<_> = script.into_iter().filter(|(deed, ..)| !matches!(deed, Deed::Engine { .. })).collect();
        let seen = perform(&calm, false);
        let mut by_container: BTreeMap<&RuntimeId, Vec<&EventAction>> = BTreeMap::new();
        for event in &seen.events {
            by_container.entry(&event.container).or_default().push(&event.action);
        }
        by_container.values().for_each(|events| check_order(events));
    }

    #[test]
    fn the_same_script_gives_the_same_run(script in script()) {
        prop_assert_eq!(perform(&script, false), perform(&script, false));
    }

    #[test]
    fn it_comes_to_rest(script in script()) {
        let mut rig = Rig::new();
        for (deed, disturbance, _) in &script {
            if let Some(request) = request(deed) {
                rig.send_disturbed(request, secs(8), disturbance.clone());
            }
        }
        rig.pass(secs(120));
        for name in NAMES {
            rig.model.external_remove(rig.now, &named(name));
        }
        rig.pass(secs(1));
        prop_assert_eq!((rig.model.in_flight(), rig.model.poll_timeout()), (0, None));
        prop_assert_eq!(rig.model.containers(), vec![]);
        // A clone goes its own way from here on.
        let clone = rig.model.clone();
        rig.create(container("more", "exit 0"));
        prop_assert_ne!(&clone, &rig.model);
    }
}

#[test]
fn the_order_checker_can_fail() {
    let wrong = [EventAction::Create, EventAction::Die { exit_code: None }];
    let caught = std::panic::catch_unwind(|| check_order(&wrong.iter().collect::<Vec<_>>()));
    assert!(caught.is_err());
}
