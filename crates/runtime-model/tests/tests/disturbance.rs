//! Calls that are slow, late, lost or refused.

use core::time::Duration;

use lighterman_calls::{Answer, LostCause, Outcome, Phase, Refusal, RefusalClass, Request};
use lighterman_runtime_model::Disturbance;

use crate::rig::{Rig, container, ms, named, secs};

const LIMIT: Duration = Duration::from_secs(60);

fn create(name: &str) -> Request {
    Request::Create(Box::new(container(name, "sleep 60")))
}

fn cause(answer: &Answer) -> LostCause {
    match answer {
        Answer::Create(Outcome::Unknown(lost)) => lost.cause,
        Answer::Start(Outcome::Unknown(lost)) | Answer::Stop(Outcome::Unknown(lost)) => lost.cause,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_create_dropped_after_a_millisecond_exists() {
    let mut rig = Rig::new();
    let token = rig.send_disturbed(create("web"), LIMIT, Disturbance::lost(ms(1)));
    assert_eq!(cause(&rig.answer(token)), LostCause::ConnectionLost);
    assert_eq!(rig.model.facts(&named("web")), None, "not yet");
    rig.pass(ms(50));
    assert_eq!(rig.inspect("web").phase, Phase::Created);
    assert_eq!(rig.told(), ["create"]);
}

#[test]
fn a_call_can_take_effect_long_after_it_was_given_up() {
    let mut rig = Rig::new();
    let token = rig.send_disturbed(create("web"), LIMIT, Disturbance::late(secs(20)));
    assert_eq!(cause(&rig.answer(token)), LostCause::ConnectionLost);
    rig.pass(secs(10));
    assert_eq!(rig.model.facts(&named("web")), None);
    rig.pass(secs(11));
    assert!(rig.model.facts(&named("web")).is_some());
}

#[test]
fn a_call_can_vanish_or_hang() {
    let mut rig = Rig::new();
    let vanished = rig.send_disturbed(create("web"), LIMIT, Disturbance::never(ms(5)));
    assert_eq!(cause(&rig.answer(vanished)), LostCause::ConnectionLost);
    let hung = rig.send_disturbed(create("web"), LIMIT, Disturbance::hangs());
    let before = rig.now;
    assert_eq!(cause(&rig.answer(hung)), LostCause::TimedOut(LIMIT));
    assert_eq!(rig.now.since(before), LIMIT);
    assert_eq!((rig.model.in_flight(), rig.model.poll_timeout()), (0, None));
    assert_eq!(rig.model.facts(&named("web")), None);
}

#[test]
fn a_limit_ends_the_call_and_not_what_it_began() {
    let mut rig = Rig::new();
    rig.run(container("web", "sleep 60"));
    let stop = Request::Stop { container: named("web"), grace: secs(5) };
    let token = rig.send_disturbed(stop, secs(2), Disturbance::NONE);
    assert_eq!(cause(&rig.answer(token)), LostCause::TimedOut(secs(2)));
    rig.pass(secs(4));
    assert_eq!(rig.inspect("web").phase, Phase::Exited { code: Some(137) });
    assert_eq!(rig.told(), ["create", "start", "die 137", "stop"]);
}

#[test]
fn a_slow_start_holds_the_lock_and_a_late_answer_is_old() {
    let mut rig = Rig::new();
    rig.create(container("web", "sleep 60"));
    let slow = Disturbance { slower_by: secs(10), ..Disturbance::NONE };
    let start = rig.send_disturbed(Request::Start(named("web")), LIMIT, slow);
    let late = Disturbance { answers_after: secs(5), ..Disturbance::NONE };
    let inspect = rig.send_disturbed(Request::Inspect(named("web")), LIMIT, late);
    rig.pass(secs(9));
    assert!(!rig.model.is_alive(&named("web")));
    assert_eq!(rig.answer(start), Answer::Start(Outcome::Done(())));
    rig.model.external_kill(rig.now, &named("web"));
    rig.pass(secs(1));
    let Answer::Inspect(Outcome::Done(facts)) = rig.answer(inspect) else { panic!() };
    assert_eq!(facts.phase, Phase::Running, "it was looked at before the kill");
}

#[test]
fn a_refusal_can_be_put_in_the_engines_mouth() {
    let mut rig = Rig::new();
    let refusal = Refusal::new(RefusalClass::NoSpace, "no space left on device");
    let token = rig.send_disturbed(create("web"), LIMIT, Disturbance::refuses(refusal.clone()));
    assert_eq!(rig.answer(token), Answer::Create(Outcome::Refused(refusal)));
    assert_eq!(rig.told(), [] as [&str; 0]);
}

#[test]
fn an_abandoned_call_takes_its_course_in_silence() {
    let mut rig = Rig::new();
    rig.create(container("web", "sleep 60"));
    let token = rig.send(Request::Start(named("web")));
    rig.model.abandon(rig.now, token);
    rig.pass(secs(1));
    assert!(rig.model.is_alive(&named("web")));
    assert!(rig.answers.is_empty());
}
