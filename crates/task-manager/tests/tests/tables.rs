//! Tables: what every fact makes of every pair of statuses, and every outcome of every call.

use std::{fmt::Write as _, time::Duration};

use lighterman_calls::{
    Answer, ContainerFacts, EventAction, Lost, LostCause, Outcome, Phase, RefusalClass, RequestKind,
};
use lighterman_ids::RuntimeName;
use lighterman_status::ContainerStatus;

use crate::{
    answers::{
        created, fault, image_is_there, no_container, no_image, refusal, removed, runtime_id, shows, started, stopped,
    },
    script::{Script, definition},
    world::World,
};

/// A task restored with its container in this pair of statuses, and its first look out where it makes one.
fn restored(known: ContainerStatus, desired: ContainerStatus) -> Script {
    let mut s = Script::accepted(definition());
    let mut state = s.task.container_state(0).unwrap();
    state.known = known;
    state.desired = desired;
    state.runtime_name = Some(RuntimeName::parse("elsewhere").unwrap());
    state.runtime_id = known.at_least(ContainerStatus::Created).then(runtime_id);
    let task = s.task.state();
    s.restart_from(task, vec![state]);
    s.wake();
    s
}

/// The same, after the first look has failed, so that nothing is in progress that the pair does not ask for.
/// Only CREATED proves nothing without a look: it has to succeed, and finds the container as it was made.
fn settled(known: ContainerStatus, desired: ContainerStatus) -> Script {
    let mut s = restored(known, desired);
    while s.task.is_restoring() {
        if s.out.is_empty() {
            s.until_due();
        } else if known == ContainerStatus::Created {
            s.answer(shows(s.facts(Phase::Created)));
        } else {
            s.answer(Answer::Inspect(Outcome::Refused(fault())));
        }
    }
    s
}

/// Every pair that can stand in a record: no container of this version is provisioned.
fn pairs() -> impl Iterator<Item = (ContainerStatus, ContainerStatus)> {
    let all = || ContainerStatus::ALL.iter().copied().filter(|status| *status != ContainerStatus::ResourcesProvisioned);
    all().flat_map(move |known| all().map(move |desired| (known, desired)))
}

type Show = fn(&Script) -> Option<Box<ContainerFacts>>;

const FACTS: [(&str, Show); 6] = [
    ("created", |s| Some(s.facts(Phase::Created))),
    ("running", |s| Some(s.facts(Phase::Running))),
    ("exited 3", |s| Some(s.exited(3))),
    ("start failed", |s| Some(s.facts(Phase::Exited { code: None }))),
    ("dead", |s| Some(s.facts(Phase::Dead { code: None }))),
    ("gone", |_| None),
];

fn line(s: &Script) -> String {
    let after = s.container();
    let error = after.reason.map_or("", |reason| reason.name);
    format!("{}/{} {error}", after.known, after.desired).trim_end().to_string()
}

#[test]
fn every_fact_that_a_restart_finds_on_every_pair() {
    let mut table = String::new();
    for (known, desired) in pairs().filter(|(known, _)| !known.is_terminal()) {
        for (fact, facts) in FACTS {
            let mut s = restored(known, desired);
            let answer = facts(&s).map_or_else(no_container, shows);
            s.forget_deeds();
            s.answer(answer);
            let next = s.deeds().join(", ");
            writeln!(table, "{:24} + {fact:12} -> {} {next}", format!("{known}/{desired}"), line(&s)).unwrap();
        }
    }
    insta::assert_snapshot!(table);
}

#[test]
fn every_fact_that_an_event_brings_on_every_pair() {
    let mut table = String::new();
    for (known, desired) in pairs().filter(|(known, _)| known.at_least(ContainerStatus::Created)) {
        for (fact, facts) in FACTS {
            let mut s = settled(known, desired);
            s.event(EventAction::Start);
            let answer = facts(&s).map_or_else(no_container, shows);
            s.forget_deeds();
            s.answer(answer);
            let next = s.deeds().join(", ");
            writeln!(table, "{:24} + {fact:12} -> {} {next}", format!("{known}/{desired}"), line(&s)).unwrap();
        }
    }
    insta::assert_snapshot!(table);
}

const CAUSES: [(&str, LostCause); 4] = [
    ("timed out", LostCause::TimedOut(Duration::from_secs(9))),
    ("unreachable", LostCause::Unreachable),
    ("cut off", LostCause::ConnectionLost),
    ("garbled", LostCause::Garbled),
];

/// A script in which the call is out, whose answer the table varies.
fn with_out(kind: RequestKind) -> Option<Script> {
    let answers: &[fn(&Script) -> Answer] = match kind {
        RequestKind::InspectImage => &[],
        RequestKind::Pull => &[|_| no_image()],
        RequestKind::Create => &[|_| image_is_there()],
        RequestKind::Start => &[|_| image_is_there(), |_| created()],
        RequestKind::Inspect => &[|_| image_is_there(), |_| created(), |_| started()],
        RequestKind::Stop => return Some(stopping()),
        RequestKind::Remove => return Some(removing()),
        RequestKind::Ping => return Some(pinging()),
        RequestKind::Kill => return Some(killing()),
        RequestKind::Version
        | RequestKind::ResolveDigest
        | RequestKind::TagImage
        | RequestKind::RemoveImage
        | RequestKind::ListImages
        | RequestKind::CreateVolume
        | RequestKind::InspectVolume
        | RequestKind::RemoveVolume
        | RequestKind::ListVolumes
        | RequestKind::List => return None,
    };
    let mut s = Script::new();
    for answer in answers {
        s.answer(answer(&s));
    }
    Some(s)
}

fn stopping() -> Script {
    let mut s = Script::running();
    s.stop();
    s
}

fn removing() -> Script {
    let mut s = stopping();
    s.answer(stopped());
    s.answer(shows(s.exited(0)));
    s.until_due();
    s
}

fn pinging() -> Script {
    let mut s = stopping();
    for nth in 1..=5 {
        s.answer(Answer::Stop(Outcome::Refused(fault())));
        if nth < 5 {
            s.until_due();
        }
    }
    s
}

fn killing() -> Script {
    let mut s = pinging();
    s.answer(crate::answers::pong());
    s.answer(shows(s.facts(Phase::Running)));
    s
}

fn done(s: &Script, kind: RequestKind) -> Answer {
    let request = s.request(kind);
    match kind {
        RequestKind::Inspect => shows(s.facts(Phase::Running)),
        RequestKind::InspectImage => image_is_there(),
        RequestKind::Create => created(),
        RequestKind::Remove => removed(),
        RequestKind::Stop
        | RequestKind::Kill
        | RequestKind::Ping
        | RequestKind::Pull
        | RequestKind::Start
        | RequestKind::Version
        | RequestKind::ResolveDigest
        | RequestKind::TagImage
        | RequestKind::RemoveImage
        | RequestKind::ListImages
        | RequestKind::CreateVolume
        | RequestKind::InspectVolume
        | RequestKind::RemoveVolume
        | RequestKind::ListVolumes
        | RequestKind::List => World::beside_a_running(s).carry_out(request),
    }
}

fn outcomes(s: &Script, kind: RequestKind) -> Vec<(String, Answer)> {
    fn of<T>(make: impl Fn(Outcome<T>) -> Answer) -> Vec<(String, Answer)> {
        let refused = RefusalClass::ALL
            .iter()
            .map(|class| (format!("refused: {class}"), make(Outcome::Refused(refusal(*class, "no")))));
        let lost = CAUSES
            .iter()
            .map(|(name, cause)| (format!("unknown: {name}"), make(Outcome::Unknown(Lost::new(*cause, "lost")))));
        refused.chain([("gone".to_string(), make(Outcome::Gone))]).chain(lost).collect()
    }
    let rest = match kind {
        RequestKind::Ping => of(Answer::Ping),
        RequestKind::InspectImage => of(Answer::InspectImage),
        RequestKind::Pull => of(Answer::Pull),
        RequestKind::Create => of(Answer::Create),
        RequestKind::Start => of(Answer::Start),
        RequestKind::Inspect => of(Answer::Inspect),
        RequestKind::Stop => of(Answer::Stop),
        RequestKind::Kill => of(Answer::Kill),
        RequestKind::Remove => of(Answer::Remove),
        RequestKind::Version => of(Answer::Version),
        RequestKind::List => of(Answer::List),
        RequestKind::ResolveDigest
        | RequestKind::TagImage
        | RequestKind::RemoveImage
        | RequestKind::ListImages
        | RequestKind::CreateVolume
        | RequestKind::InspectVolume
        | RequestKind::RemoveVolume
        | RequestKind::ListVolumes => panic!("{kind:?} is in no table"),
    };
    [("done".to_string(), done(s, kind))].into_iter().chain(rest).collect()
}

#[test]
fn every_outcome_of_every_call() {
    let mut table = String::new();
    for kind in [
        RequestKind::InspectImage,
        RequestKind::Pull,
        RequestKind::Create,
        RequestKind::Start,
        RequestKind::Inspect,
        RequestKind::Stop,
        RequestKind::Ping,
        RequestKind::Kill,
        RequestKind::Remove,
    ] {
        let script = with_out(kind).expect("a task makes this call");
        for (outcome, answer) in outcomes(&script, kind) {
            let mut s = with_out(kind).expect("a task makes this call");
            s.forget_deeds();
            s.answer(answer);
            let next = s.deeds();
            let container = s.container();
            let wait = match container.wait {
                _ if !next.is_empty() => next.join(", "),
                Some(wait) => format!("waits for {}", wait.reason),
                None => "-".into(),
            };
            let error = container.reason.map(|reason| format!(" [{reason}]")).unwrap_or_default();
            writeln!(
                table,
                "{:13} {outcome:22} -> {}/{}: {wait}{error}",
                kind.as_str(),
                container.known,
                container.desired
            )
            .unwrap();
        }
    }
    insta::assert_snapshot!(table);
}

#[test]
fn the_size_of_a_task_is_known() {
    let task = size_of::<lighterman_task_manager::TaskManager>();
    println!("TaskManager: {task} bytes, and per container {}", lighterman_task_manager::CONTAINER_BYTES);
    assert!(task <= 400, "{task} bytes");
    const { assert!(lighterman_task_manager::CONTAINER_BYTES <= 1_024) };
}
