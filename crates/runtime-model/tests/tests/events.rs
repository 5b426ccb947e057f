//! Watches and what the engine remembers.

use lighterman_calls::{EventAction, Lost, LostCause};
use lighterman_ids::{InstanceId, Moment, Wall};
use lighterman_runtime_model::REPLAY_LIMIT;

use crate::rig::{Rig, START, WATCH, container, ms, named, secs};

#[test]
fn stamps_rise_and_are_never_shared() {
    let mut rig = Rig::with(lighterman_runtime_model::Settings {
        latencies: lighterman_runtime_model::Latencies::ZERO,
        ..Default::default()
    });
    rig.run(container("web", "exit 0"));
    rig.remove("web");
    let stamps: Vec<Wall> = rig.events.iter().map(|event| event.at).collect();
    assert_eq!(stamps.len(), 4);
    assert!(stamps.is_sorted_by(|one, two| one < two), "{stamps:?}");
}

#[test]
fn stamps_follow_the_wall_clock_when_it_is_set_back() {
    let mut rig = Rig::new();
    rig.create(container("one", "exit 0"));
    rig.now = Moment { wall: Wall(START.0 - 3_600_000_000_000), ..rig.now };
    rig.create(container("two", "exit 0"));
    assert!(rig.events[1].at < rig.events[0].at);
}

#[test]
fn since_includes_its_own_stamp() {
    let mut rig = Rig::new();
    rig.create(container("one", "exit 0"));
    rig.create(container("two", "exit 0"));
    let [first, second] = [rig.events[0].clone(), rig.events[1].clone()];
    rig.watch(Some(first.at));
    rig.pass(ms(10));
    assert_eq!(rig.events, [first.clone(), second.clone()]);
    rig.watch(Some(Wall(first.at.0 + 1)));
    rig.pass(ms(10));
    assert_eq!(rig.events, [second]);
    rig.watch(None);
    rig.pass(ms(10));
    assert_eq!(rig.events, []);
}

#[test]
fn b002_a_replay_holds_256_events_of_all_kinds() {
    let mut rig = Rig::new();
    let before = rig.now.wall;
    for turn in 0..60 {
        let name = format!("short-{turn}");
        rig.run(container(&name, "exit 0"));
        rig.pass(ms(100));
        rig.remove(&name);
    }
    rig.watch(Some(before));
    rig.pass(ms(10));
    // Create, start, die and destroy, with two of the network that take room as well.
    assert_eq!(rig.events.len(), REPLAY_LIMIT * 4 / 6 + 1, "60 runs of 4 events do not fit");
    assert_eq!(rig.events.last().unwrap().action, EventAction::Destroy);
}

#[test]
fn a_watch_is_told_of_its_own_instance_only() {
    let mut rig = Rig::new();
    let mut foreign = container("foreign", "exit 0");
    foreign.config.labels.insert("dev.lighterman.instance".into(), InstanceId::from_bits(8).to_string());
    rig.create(foreign);
    rig.create(container("ours", "exit 0"));
    assert_eq!(rig.told(), ["create"]);
}

#[test]
fn a_broken_watch_says_so_once_and_hears_no_more() {
    let mut rig = Rig::new();
    rig.model.break_watch(rig.now, WATCH, Lost::new(LostCause::ConnectionLost, "cut"));
    rig.model.break_watch(rig.now, WATCH, Lost::new(LostCause::ConnectionLost, "cut"));
    rig.create(container("web", "exit 0"));
    assert_eq!((rig.lost.len(), rig.told().len()), (1, 0));
}

#[test]
fn a_watch_that_was_left_hears_no_more() {
    let mut rig = Rig::new();
    rig.model.unwatch(rig.now, WATCH);
    rig.create(container("web", "exit 0"));
    assert_eq!((rig.lost.len(), rig.told().len()), (0, 0));
}

#[test]
fn b003_probes_and_signals_are_not_told() {
    let mut rig = Rig::new();
    let mut request = container("web", "ignore-term");
    request.config.healthcheck = Some(crate::rig::check("exit 0"));
    rig.run(request);
    rig.pass(secs(10));
    for _ in 0..20 {
        rig.kill("web", lighterman_calls::Signal::Term);
    }
    assert_eq!(rig.told(), ["create", "start", "healthy"]);
    assert!(rig.model.is_alive(&named("web")));
}
