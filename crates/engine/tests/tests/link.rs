//! Connecting, the event stream, re-checks, giving up.

use std::time::Duration;

use lighterman_calls::{Answer, EventAction, Lost, LostCause, Outcome, Phase, Refusal, RefusalClass, RequestKind};
use lighterman_engine::{Event, HostSettings};
use lighterman_status::ContainerStatus;
use lighterman_view::{RuntimeLink, WaitReason};

use crate::host::{Host, cut_off, facts, garbled, refused, shows, task_id, version};

fn secs(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds)
}

#[track_caller]
fn assert_about(waited: Duration, plain: f64) {
    assert!(waited >= secs(plain * 0.999) && waited <= secs(plain * 1.2), "{waited:?} for {plain} s");
}

#[test]
fn the_version_is_asked_first_and_the_stream_stands_before_anything_is_looked_at() {
    let mut host = Host::new();
    host.does(&["version"]);
    host.submit(1);
    host.does(&[]);
    host.answer(version());
    host.does(&["watch"]);
    assert!(host.watch.unwrap().1.is_some(), "from now on nothing is missed");
    host.open();
    host.does(&["list", "inspect-image image1:1"]);
}

#[test]
fn e150_a_runtime_that_answers_wrongly_is_asked_again_ever_more_slowly() {
    let mut host = Host::new();
    let mut plain = 2.0;
    for _ in 0..30 {
        host.answer(Answer::Version(Outcome::Unknown(garbled())));
        assert_about(host.until_due(), plain);
        plain = f64::min(plain * 1.5, 200.0);
    }
    host.connect();
    assert_eq!(host.host_view().runtime, RuntimeLink::Up { version: "20.10.24".into() });
}

#[test]
fn e150_a_socket_that_refuses_is_asked_again_soon_and_for_ever() {
    let mut host = Host::new();
    for plain in [0.1, 0.2, 0.4, 0.7, 0.7, 0.7] {
        host.answer(Answer::Version(Outcome::Unknown(refused())));
        assert_about(host.until_due(), plain);
    }
}

/// Goal P16: what ended while Docker was away is known a second after it is back, opening, list and inspect included.
#[test]
fn p16_a_socket_that_refuses_is_tried_again_well_within_a_second_whatever_the_jitter() {
    let longest = HostSettings::REFERENCE.away_retry.longest();
    assert!(longest < secs(0.9), "{longest:?}");
    let mut host = Host::new();
    host.connect();
    for _ in 0..50 {
        host.lose_stream(refused());
        let waited = host.until_due();
        assert!(waited <= longest, "{waited:?}");
    }
}

#[test]
fn a_version_that_is_refused_may_pass() {
    let mut host = Host::new();
    let fault = Refusal::new(RefusalClass::PeerFault, "starting");
    host.answer(Answer::Version(Outcome::Refused(fault)));
    assert_eq!(host.host_view().runtime, RuntimeLink::Connecting { trouble: Some("starting".into()) });
    host.until_due();
    host.connect();
    assert_eq!(host.host_view().runtime, RuntimeLink::Up { version: "20.10.24".into() });
}

#[test]
fn a_version_that_cannot_be_used_ends_it_by_name() {
    let mut host = Host::new();
    host.submit(1);
    let text = "Docker 1.13 speaks API 1.25, and 1.41 is needed";
    host.answer(Answer::Version(Outcome::Refused(Refusal::new(RefusalClass::Unsupported, text))));
    host.does(&["version"]);
    let view = host.host_view();
    assert_eq!((view.runtime, view.gave_up), (RuntimeLink::Unusable { text: text.into() }, true));
    assert_eq!(host.engine.poll_timeout(), None, "nothing is tried any more");
    assert_eq!(host.container(1).wait.unwrap().reason, WaitReason::RuntimeAway { text: text.into() });
}

#[test]
fn until_the_runtime_answers_every_task_says_what_it_waits_for() {
    let mut host = Host::new();
    host.submit(1);
    assert_eq!(host.container(1).wait.unwrap().reason, WaitReason::Connecting);
    let _ = host.engine.take_views(host.now);
    host.answer(Answer::Version(Outcome::Unknown(refused())));
    let views = host.engine.take_views(host.now);
    assert_eq!(
        views[0].containers[0].wait.as_ref().unwrap().reason,
        WaitReason::RuntimeAway { text: "connection refused".into() }
    );
}

#[test]
fn a_task_waits_for_the_runtime_since_this_agent_began_and_says_until_when() {
    let mut host = Host::with(impatient());
    let begun = host.now;
    host.pass(Duration::from_secs(12));
    host.submit(1);
    host.answer(Answer::Version(Outcome::Unknown(refused())));
    let wait = host.container(1).wait.unwrap();
    assert_eq!((wait.since, wait.until), (begun, Some(host.now.mono.after(Duration::from_secs(60)))));
}

#[test]
fn a_stream_that_cannot_be_opened_is_tried_again() {
    let mut host = Host::new();
    host.answer(version());
    for plain in [1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0] {
        host.lose_stream(garbled());
        assert_about(host.until_due(), plain);
    }
    host.open();
    assert_eq!(kinds_of(&host), [RequestKind::List]);
}

fn kinds_of(host: &Host) -> Vec<RequestKind> {
    crate::host::kinds(host)
}

#[test]
fn e149_a_stream_that_breaks_is_opened_again_at_once_and_everything_is_listed() {
    let mut host = Host::connected();
    host.run(1);
    host.pass(Duration::from_secs(60));
    host.event(1, EventAction::Oom);
    let last = host.now.wall;
    host.forget_deeds();
    host.lose_stream(cut_off());
    assert_eq!(host.until_due(), Duration::ZERO);
    host.does(&["watch"]);
    assert_eq!(host.watch.unwrap().1, Some(last), "from the last event on");
    // Twenty seconds without Docker, in which the container ends.
    while host.now.wall.since(last) < Duration::from_secs(20) {
        host.lose_stream(refused());
        host.until_due();
    }
    host.open();
    host.forget_deeds();
    let mut ended = crate::host::summary(1);
    ended.running = false;
    host.answer(Answer::List(Outcome::Done(vec![ended])));
    host.does(&["inspect 1"]);
    host.answer(shows(facts(1, Phase::Exited { code: Some(3) })));
    assert_eq!((host.container(1).known, host.container(1).exit_code), (ContainerStatus::Stopped, Some(3)));
}

#[test]
fn b002_a_stream_that_breaks_as_soon_as_it_stands_is_no_busy_loop() {
    let mut host = Host::connected();
    let begun = host.now.mono;
    let mut opened = 0;
    while host.now.mono.since(begun) < Duration::from_secs(300) {
        host.lose_stream(cut_off());
        host.until_due();
        host.open();
        host.list(&[]);
        opened += 1;
        assert!(opened < 100, "opened 100 times in {:?}", host.now.mono.since(begun));
    }
    assert!((5..30).contains(&opened), "{opened}");
}

#[test]
fn a_runtime_that_is_back_ends_the_pauses_of_the_tasks() {
    let mut host = Host::connected();
    host.submit(1);
    host.pass(Duration::from_secs(60));
    host.lose_stream(refused());
    host.until_due();
    host.answer(Answer::InspectImage(Outcome::Unknown(refused())));
    assert!(matches!(host.container(1).wait.unwrap().reason, WaitReason::RuntimeAway { .. }));
    host.open();
    host.forget_deeds();
    assert_eq!(host.until_due(), Duration::ZERO);
    host.does(&["inspect-image image1:1"]);
}

#[test]
fn what_comes_from_an_old_stream_is_dropped() {
    let mut host = Host::connected();
    host.run(1);
    let old = host.watch.unwrap().0;
    host.pass(Duration::from_secs(60));
    host.lose_stream(cut_off());
    host.until_due();
    host.open();
    host.list(&[1]);
    host.forget_deeds();
    let die = EventAction::Die { exit_code: Some(1) };
    let event =
        lighterman_calls::RuntimeEvent { at: host.now.wall, container: crate::host::container_id(1), action: die };
    host.tell(Event::Runtime { id: old, event });
    host.tell(Event::WatchLost { id: old, lost: cut_off() });
    host.tell(Event::WatchOpened(old));
    host.does(&[]);
    assert_eq!(host.host_view().runtime, RuntimeLink::Up { version: "20.10.24".into() });
}

#[test]
fn e45_all_is_checked_again_every_five_minutes() {
    let mut host = Host::connected();
    host.run(1);
    host.forget_deeds();
    let mut waits = std::collections::BTreeSet::new();
    for _ in 0..5 {
        let waited = host.until_due();
        assert!(waited >= Duration::from_secs(300) && waited <= Duration::from_secs(330), "{waited:?}");
        waits.insert(waited);
        host.does(&["list"]);
        host.list(&[1]);
        host.does(&[]);
    }
    assert!(waits.len() > 1, "drawn anew each time");
}

#[test]
fn without_tasks_nothing_is_listed() {
    let mut host = Host::connected();
    for _ in 0..3 {
        host.until_due();
    }
    host.does(&[]);
}

#[test]
fn a_list_that_fails_is_repeated_soon() {
    let mut host = Host::connected();
    host.run(1);
    host.until_due();
    for _ in 0..3 {
        host.forget_deeds();
        host.answer(Answer::List(Outcome::Unknown(garbled())));
        assert!(host.until_due() <= Duration::from_secs(3));
        host.does(&["list"]);
    }
}

#[test]
fn dropped_events_cost_one_list_and_another_if_they_were_dropped_during_it() {
    let mut host = Host::connected();
    host.run(1);
    host.forget_deeds();
    host.tell(Event::EventsDropped);
    host.tell(Event::EventsDropped);
    host.tell(Event::EventsDropped);
    host.does(&["list"]);
    host.list(&[1]);
    host.does(&["list"]);
    host.list(&[1]);
    host.does(&[]);
}

fn impatient() -> HostSettings {
    HostSettings { patience: Some(Duration::from_secs(60)), ..HostSettings::REFERENCE }
}

/// Seconds until the host gives up, if it does within ten minutes.
fn gives_up(host: &mut Host, mut answer: impl FnMut(&mut Host)) -> Option<u64> {
    let begun = host.now.mono;
    while host.now.mono.since(begun) < Duration::from_secs(600) {
        answer(host);
        if host.engine.take_host_view().is_some_and(|view| view.gave_up) {
            return Some(host.now.mono.since(begun).as_secs());
        }
        host.until_due();
    }
    None
}

#[test]
fn a_host_without_patience_never_gives_up() {
    let mut host = Host::new();
    let gave_up = gives_up(&mut host, |host| {
        if !host.out.is_empty() {
            host.answer(Answer::Version(Outcome::Unknown(refused())));
        }
    });
    assert_eq!(gave_up, None);
}

#[test]
fn a_runtime_that_gives_no_proper_answer_for_too_long_is_given_up() {
    let fault = || Refusal::new(RefusalClass::PeerFault, "internal server error");
    let answers: [fn() -> Answer; 3] = [
        || Answer::Version(Outcome::Unknown(refused())),
        || Answer::Version(Outcome::Unknown(garbled())),
        || Answer::Version(Outcome::Gone),
    ];
    for answer in answers {
        let mut host = Host::with(impatient());
        let gave_up = gives_up(&mut host, |host| {
            if !host.out.is_empty() {
                host.answer(answer());
            }
        });
        assert_eq!(gave_up, Some(60));
    }
    let mut host = Host::with(impatient());
    let gave_up = gives_up(&mut host, |host| {
        if !host.out.is_empty() {
            host.answer(Answer::Version(Outcome::Refused(fault())));
        }
    });
    assert_eq!(gave_up, Some(60), "a refusal of the version is no proper answer either");
}

#[test]
fn a_runtime_that_answers_again_in_time_is_not_given_up() {
    let mut host = Host::connected_with(impatient());
    host.run(1);
    host.lose_stream(cut_off());
    host.pass(Duration::from_secs(50));
    host.wake();
    host.open();
    host.list(&[1]);
    host.pass(Duration::from_secs(50));
    host.wake();
    assert!(!host.host_view().gave_up);
}

#[test]
fn a_runtime_that_goes_away_later_is_given_up_too() {
    let mut host = Host::connected_with(impatient());
    host.run(1);
    host.lose_stream(Lost::new(LostCause::ConnectionLost, "EOF"));
    let gave_up = gives_up(&mut host, |host| {
        if host.engine.poll_timeout().is_some_and(|due| due > host.now.mono) {
            host.lose_stream(refused());
        }
    });
    assert!(gave_up.is_some_and(|seconds| (59..=61).contains(&seconds)), "{gave_up:?}");
}

#[test]
fn a_stalled_pull_says_nothing_of_the_runtime() {
    let mut host = Host::connected_with(impatient());
    host.submit(1);
    host.answer(crate::host::no_image());
    host.answer(Answer::Pull(Outcome::Unknown(Lost::new(LostCause::TimedOut(secs(60.0)), "silence"))));
    assert_eq!(host.host_view().runtime, RuntimeLink::Up { version: "20.10.24".into() });
}

#[test]
fn what_the_host_asked_and_never_left_is_asked_again() {
    // The version …
    let mut host = Host::new();
    let (id, _) = host.out.remove(0);
    host.forget_deeds();
    host.tell(Event::NeverSent(id));
    host.until_due();
    host.does(&["version"]);
    // … the stream …
    host.answer(version());
    let (id, _) = host.watch.unwrap();
    host.forget_deeds();
    host.tell(Event::NeverSent(id));
    host.until_due();
    host.does(&["watch"]);
    // … and the list.
    host.open();
    host.run(1);
    let at = host.out.iter().position(|(_, request)| request.kind() == RequestKind::List).unwrap();
    let (id, _) = host.out.remove(at);
    host.forget_deeds();
    host.tell(Event::NeverSent(id));
    assert!(host.until_due() <= Duration::from_secs(1));
    host.does(&["list"]);
}

#[test]
fn how_it_stands_with_the_runtime_in_words() {
    let mut host = Host::new();
    assert_eq!(host.host_view().runtime, RuntimeLink::Connecting { trouble: None });
    host.answer(Answer::Version(Outcome::Unknown(refused())));
    let trouble = Some("connection refused".to_string());
    assert_eq!(host.host_view().runtime, RuntimeLink::Connecting { trouble });
    host.until_due();
    host.connect();
    assert!(!host.host_view().checked);
    host.list(&[]);
    assert!(host.host_view().checked);
    host.lose_stream(cut_off());
    assert_eq!(host.host_view().runtime, RuntimeLink::Away { trouble: "EOF".into() });
    assert!(host.engine.view(host.now, &task_id(1)).is_none());
}
