//! The engine goes away and comes back.

use lighterman_calls::{Answer, HealthWord, LostCause, Outcome, Phase, Request};
use lighterman_ids::{BootId, Moment, Mono};
use lighterman_runtime_model::{Failure, Settings};

use crate::rig::{Rig, check, container, ms, named, secs};

fn ping(rig: &mut Rig) -> Outcome<()> {
    match rig.call(Request::Ping) {
        Answer::Ping(outcome) => outcome,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn lost<T: core::fmt::Debug>(outcome: Outcome<T>) -> LostCause {
    match outcome {
        Outcome::Unknown(lost) => lost.cause,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_killed_engine_refuses_connections_and_processes_live_on() {
    let mut rig = Rig::new();
    rig.run(container("web", "sleep 60"));
    rig.model.restart_engine(rig.now, Failure::Crash, secs(5));
    rig.drain();
    assert_eq!(rig.lost.iter().map(|lost| lost.cause).collect::<Vec<_>>(), [LostCause::ConnectionLost]);
    assert_eq!(lost(ping(&mut rig)), LostCause::Unreachable);
    assert!(rig.model.is_alive(&named("web")));
    assert!(!rig.model.is_up());
}

#[test]
fn coming_back_it_stops_what_runs_and_serves_nobody_meanwhile() {
    let mut rig = Rig::new();
    rig.run(container("stubborn", "sleep 60"));
    rig.run(container("polite", "on-term 3"));
    rig.run(container("short", "sleep 2 + exit 7"));
    rig.create(container("idle", "exit 0"));
    let before = rig.now.wall;
    rig.model.restart_engine(rig.now, Failure::Crash, secs(3));
    rig.pass(ms(3_100));
    let ping = rig.send(Request::Ping);
    rig.pass(secs(8));
    assert!(!rig.answers.contains_key(&ping), "the connection is taken, and hangs");
    assert_eq!(rig.answer(ping), Answer::Ping(Outcome::Done(())));
    assert_eq!(rig.inspect("stubborn").phase, Phase::Exited { code: Some(137) });
    assert_eq!(rig.inspect("polite").phase, Phase::Exited { code: Some(3) });
    assert_eq!(rig.inspect("idle").phase, Phase::Created);
    let short = rig.inspect("short");
    assert_eq!(short.phase, Phase::Exited { code: Some(7) });
    assert!(short.finished_at.unwrap().since(before) < secs(3), "its true end, not that of the outage");
    // Its memory begins anew: nothing of before, and nothing of what ended while it was away.
    rig.watch(Some(before));
    rig.pass(ms(10));
    assert_eq!(rig.told(), ["die 3", "stop", "die 137", "stop"]);
}

#[test]
fn with_live_restore_containers_outlive_the_engine() {
    for failure in [Failure::Crash, Failure::Shutdown] {
        let mut rig = Rig::with(Settings { live_restore: true, ..Settings::default() });
        let mut request = container("web", "sleep 60");
        request.config.healthcheck = Some(check("exit 0"));
        rig.run(request);
        rig.run(container("short", "sleep 1 + exit 7"));
        rig.pass(secs(2));
        rig.run(container("other", "sleep 1 + exit 8"));
        rig.model.restart_engine(rig.now, failure, secs(3));
        rig.pass(ms(3_001));
        assert!(rig.model.is_up());
        let facts = rig.inspect("web");
        assert_eq!((facts.phase, facts.health.unwrap().word), (Phase::Running, HealthWord::Starting));
        assert_eq!(rig.inspect("other").phase, Phase::Exited { code: Some(8) });
        rig.told();
        rig.pass(secs(60));
        assert_eq!(rig.inspect("web").phase, Phase::Exited { code: Some(0) });
    }
}

#[test]
fn shut_down_it_stops_everything_and_tells_of_it_before_it_goes() {
    let mut rig = Rig::new();
    rig.run(container("stubborn", "sleep 60"));
    rig.run(container("polite", "on-term 3"));
    rig.told();
    rig.model.restart_engine(rig.now, Failure::Shutdown, secs(2));
    rig.pass(secs(1));
    assert_eq!(lost(ping(&mut rig)), LostCause::Unreachable);
    assert_eq!(rig.lost, [], "streams go on to the end");
    rig.pass(secs(9) + ms(500));
    assert_eq!(rig.told(), ["die 3", "stop", "die 137", "stop"]);
    assert_eq!(rig.lost.len(), 1);
    rig.pass(secs(2));
    assert_eq!(ping(&mut rig), Outcome::Done(()));
    assert_eq!(rig.inspect("stubborn").phase, Phase::Exited { code: Some(137) });
}

#[test]
fn after_a_power_cut_the_exit_code_is_255_and_the_end_is_the_return() {
    let mut rig = Rig::new();
    rig.run(container("web", "exit 255 + sleep 1"));
    rig.pass(secs(1));
    let own = rig.inspect("web");
    rig.run(container("other", "sleep 60"));
    rig.model.restart_engine(rig.now, Failure::PowerCut, secs(20));
    assert!(!rig.model.is_alive(&named("other")));
    let back = rig.now.wall.after(secs(20));
    rig.pass(secs(21));
    let facts = rig.inspect("other");
    assert_eq!((facts.phase, facts.finished_at), (Phase::Exited { code: Some(255) }, Some(back)));
    assert_eq!(rig.inspect("web").finished_at, own.finished_at, "a code of its own stays what it was");
}

#[test]
fn a_reboot_counts_time_anew() {
    let mut rig = Rig::new();
    rig.run(container("web", "sleep 60"));
    let start = rig.send(Request::Ping);
    rig.now = Moment { boot: BootId(2), mono: Mono(5), wall: rig.now.wall.after(secs(40)) };
    rig.model.reboot(rig.now, secs(2));
    let Answer::Ping(outcome) = rig.answer(start) else { panic!() };
    assert_eq!(lost(outcome), LostCause::ConnectionLost);
    rig.pass(secs(3));
    assert_eq!(rig.inspect("web").phase, Phase::Exited { code: Some(255) });
    assert_eq!(rig.start("web"), Outcome::Done(()));
}

#[test]
fn calls_that_were_cut_off_never_happened() {
    let mut rig = Rig::new();
    rig.create(container("web", "sleep 60"));
    let start = rig.send(Request::Start(named("web")));
    let create = rig.send(Request::Create(Box::new(container("two", "exit 0"))));
    rig.model.restart_engine(rig.now, Failure::Crash, secs(1));
    let Answer::Start(outcome) = rig.answer(start) else { panic!() };
    assert_eq!(lost(outcome), LostCause::ConnectionLost);
    let Answer::Create(outcome) = rig.answer(create) else { panic!() };
    assert_eq!(lost(outcome), LostCause::ConnectionLost);
    rig.pass(secs(2));
    assert_eq!(rig.inspect("web").phase, Phase::Created);
    assert_eq!(rig.call(Request::Inspect(named("two"))), Answer::Inspect(Outcome::Gone));
    rig.create(container("two", "exit 0"));
    assert_eq!(rig.start("web"), Outcome::Done(()));
}

#[test]
fn an_engine_that_is_away_cannot_be_taken_away_again() {
    let mut rig = Rig::new();
    rig.model.restart_engine(rig.now, Failure::Crash, secs(5));
    rig.model.restart_engine(rig.now, Failure::Crash, secs(500));
    rig.pass(secs(6));
    assert!(rig.model.is_up());
}
