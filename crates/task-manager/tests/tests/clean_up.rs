//! Removing what a stopped task leaves (engine.md 3.11).

use std::time::Duration;

use lighterman_calls::{Answer, EventAction, Outcome, Phase, RefusalClass};
use lighterman_view::WaitReason;

use crate::{
    answers::{away, created, cut_off, fault, killed, no_container, refusal, removed, shows, stopped, timed_out},
    script::Script,
};

fn ended() -> Script {
    let mut s = Script::running();
    s.event(EventAction::Die { exit_code: Some(0) });
    s.answer(shows(s.exited(0)));
    s.does(&["inspect"]);
    s
}

fn running_refusal() -> Answer {
    Answer::Remove(Outcome::Refused(refusal(RefusalClass::Conflict, "You cannot remove a running container")))
}

#[test]
fn e93_a_container_is_kept_for_the_clean_up_wait() {
    let mut s = ended();
    let wait = s.wait().unwrap();
    assert_eq!(wait.reason, WaitReason::Cleanup);
    assert_eq!(wait.until, Some(s.now.mono.after(Duration::from_secs(10_800))));
    s.passes(Duration::from_secs(10_799));
    s.wake();
    s.does(&[]);
    assert_eq!(s.until_due(), Duration::from_secs(1));
    s.does(&["remove"]);
    s.answer(removed());
    assert!(s.task.is_removed());
    assert_eq!(s.container().wait, None);
    assert_eq!(s.due(), None);
}

#[test]
fn b018_a_container_is_removed_first_and_forgotten_then() {
    let mut s = ended();
    s.until_due();
    assert!(!s.task.container_state(0).unwrap().removed, "a crash now finds it again");
    s.answer(removed());
    assert!(s.task.container_state(0).unwrap().removed);
}

#[test]
fn a_container_found_running_is_killed_once_in_each_try() {
    let mut s = ended();
    s.until_due();
    s.answer(running_refusal());
    s.does(&["remove", "kill SIGKILL"]);
    s.answer(killed());
    s.does(&["remove"]);
    s.answer(running_refusal());
    s.does(&[]);
    assert!(s.until_due() >= Duration::from_secs(60));
    s.does(&["remove"]);
    // Somebody starts it again and again.
    s.answer(running_refusal());
    s.does(&["kill SIGKILL"]);
    s.answer(killed());
    s.does(&["remove"]);
}

#[test]
fn a_container_found_running_at_a_later_try_is_killed_too() {
    let mut s = ended();
    s.until_due();
    s.answer(Answer::Remove(Outcome::Refused(fault())));
    s.until_due();
    s.answer(running_refusal());
    s.does(&["remove", "remove", "kill SIGKILL"]);
}

#[test]
fn a_removal_that_fails_is_tried_again_from_a_minute_to_an_hour() {
    let mut s = ended();
    s.until_due();
    let mut pauses = vec![];
    for _ in 0..10 {
        s.answer(Answer::Remove(Outcome::Unknown(timed_out(300))));
        pauses.push(s.until_due());
    }
    assert!(pauses[0] >= Duration::from_secs(60) && pauses[0] <= Duration::from_secs(72), "{pauses:?}");
    assert!(pauses[9] >= Duration::from_secs(3_600), "{pauses:?}");
    s.answer(removed());
    assert!(s.task.is_removed());
}

#[test]
fn a_removal_waits_for_a_runtime_that_is_away() {
    let mut s = ended();
    s.until_due();
    for _ in 0..30 {
        s.answer(Answer::Remove(Outcome::Unknown(away())));
        assert!(matches!(s.wait().unwrap().reason, WaitReason::RuntimeAway { .. }));
        assert!(s.until_due() <= Duration::from_millis(1_200));
    }
    s.answer(Answer::Remove(Outcome::Gone));
    assert!(s.task.is_removed());
}

#[test]
fn e91_events_during_the_removal_are_discarded() {
    let mut s = ended();
    s.until_due();
    s.does(&["remove"]);
    for action in [EventAction::Start, EventAction::Die { exit_code: Some(1) }, EventAction::Destroy] {
        s.event(action);
    }
    s.listed(Some(true));
    s.does(&[]);
    s.answer(removed());
    s.event(EventAction::Destroy);
    s.does(&[]);
    assert!(s.task.is_removed());
}

#[test]
fn a_look_that_is_out_does_not_hold_the_removal_up() {
    let mut s = ended();
    s.event(EventAction::Start);
    s.does(&["inspect"]);
    s.until_due();
    s.does(&["remove"]);
    s.answer(shows(s.facts(Phase::Running)));
    s.does(&[]);
}

/// A create that was cut off, and a task that stopped because of it.
fn with_a_lost_create() -> Script {
    let mut s = Script::pulled();
    s.settings.cleanup_wait = Duration::ZERO;
    s.answer(Answer::Create(Outcome::Unknown(timed_out(240))));
    s.answer(no_container());
    s.does(&["create", "inspect by name", "inspect by name"]);
    s
}

#[test]
fn the_name_of_a_lost_create_is_watched_until_it_cannot_come_any_more() {
    let mut s = with_a_lost_create();
    let sent = s.now.mono;
    let mut looks = 0;
    while !s.task.is_removed() {
        s.answer(no_container());
        if s.task.is_removed() {
            break;
        }
        assert!(s.task.is_lingering());
        assert_eq!(s.wait().unwrap().reason, WaitReason::LateCreate);
        s.until_due();
        s.does(&["inspect by name"]);
        looks += 1;
    }
    let watched = s.now.mono.since(sent);
    // Its limit, and the same time again: an engine that let it run into the limit may get to it afterwards.
    assert!(watched >= s.settings.limits.create * 2 && watched <= Duration::from_secs(510), "{watched:?}");
    assert!((5..30).contains(&looks), "{looks}");
}

#[test]
fn a_lost_create_that_comes_late_is_removed() {
    let mut s = with_a_lost_create();
    s.answer(no_container());
    s.until_due();
    s.answer(shows(s.facts(Phase::Created)));
    s.does(&["inspect by name", "remove"]);
    s.answer(removed());
    assert!(s.task.is_removed());
}

#[test]
fn what_somebody_else_made_under_the_name_of_a_lost_create_is_left_alone() {
    let mut s = with_a_lost_create();
    let mut theirs = s.facts(Phase::Running);
    theirs.labels.clear();
    s.answer(shows(theirs.clone()));
    while !s.task.is_removed() {
        s.until_due();
        s.answer(shows(theirs.clone()));
    }
    assert!(s.deeds().iter().skip(1).all(|call| call == "inspect by name"));
}

#[test]
fn a_late_create_that_somebody_started_is_killed() {
    let mut s = with_a_lost_create();
    s.answer(no_container());
    s.until_due();
    s.answer(shows(s.facts(Phase::Running)));
    s.answer(running_refusal());
    s.does(&["inspect by name", "remove", "kill SIGKILL"]);
    s.answer(killed());
    s.answer(removed());
    assert!(s.task.is_removed());
}

#[test]
fn the_watch_goes_on_after_a_restart() {
    let mut s = with_a_lost_create();
    s.answer(no_container());
    s.passes(Duration::from_secs(100));
    s.restart();
    s.wake();
    s.does(&["inspect by name"]);
    assert!(!s.task.is_lingering(), "whether it has come meanwhile is not known yet");
    s.answer(no_container());
    assert!(s.task.is_lingering() && !s.task.is_removed());
    s.passes(Duration::from_secs(390));
    s.wake();
    s.answer(no_container());
    assert!(s.task.is_removed());
}

#[test]
fn a_late_create_that_is_answered_lost_is_watched() {
    let mut s = Script::pulled();
    s.settings.cleanup_wait = Duration::ZERO;
    s.stop();
    s.answer(Answer::Create(Outcome::Unknown(cut_off())));
    s.does(&["create", "inspect by name"]);
    s.answer(no_container());
    assert!(s.task.is_lingering() && !s.task.is_removed());
}

#[test]
fn a_create_that_was_cut_off_may_come_after_the_one_that_followed_it_was_removed() {
    let mut s = Script::pulled();
    s.settings.cleanup_wait = Duration::ZERO;
    s.answer(Answer::Create(Outcome::Unknown(cut_off())));
    s.answer(no_container());
    s.until_due();
    s.answer(created());
    s.stop();
    s.answer(Answer::Start(Outcome::Done(())));
    s.answer(shows(s.facts(Phase::Running)));
    s.answer(stopped());
    s.answer(shows(s.exited(0)));
    s.forget_deeds();
    s.answer(removed());
    s.does(&["inspect by name"]);
    s.answer(no_container());
    assert!(s.task.is_lingering() && !s.task.is_removed());
    s.until_due();
    s.does(&["inspect by name"]);
}

#[test]
fn a_late_create_that_never_left_is_nothing_to_watch() {
    let mut s = Script::pulled();
    s.settings.cleanup_wait = Duration::ZERO;
    s.stop();
    s.never_sent(lighterman_calls::RequestKind::Create);
    assert!(s.task.is_removed());
}

#[test]
fn a_late_create_that_worked_is_removed_by_its_id() {
    let mut s = Script::pulled();
    s.settings.cleanup_wait = Duration::ZERO;
    s.stop();
    s.answer(created());
    s.does(&["create", "remove"]);
}

#[test]
fn without_a_wait_the_removal_follows_the_end_at_once() {
    let mut s = Script::running();
    s.settings.cleanup_wait = Duration::ZERO;
    s.stop();
    s.answer(stopped());
    s.answer(shows(s.exited(0)));
    s.does(&["stop 30s", "inspect", "remove"]);
}

#[test]
fn what_a_create_in_doubt_brought_later_is_found_however_long_ago_that_was() {
    let mut s = Script::pulled();
    // The first call is cut off and comes late; the second works, and somebody removes what it made.
    s.answer(Answer::Create(Outcome::Unknown(cut_off())));
    s.answer(no_container());
    s.until_due();
    s.answer(created());
    s.event(EventAction::Destroy);
    s.answer(no_container());
    s.until_due();
    s.does(&["create", "inspect by name", "create", "start", "inspect", "remove"]);
    s.answer(Answer::Remove(Outcome::Gone));
    s.does(&["inspect by name"]);
    let mut facts = s.facts(Phase::Created);
    facts.id = lighterman_ids::RuntimeId::parse(&"d1".repeat(32)).unwrap();
    s.answer(shows(facts));
    s.does(&["remove"]);
    s.answer(removed());
    s.answer(no_container());
    assert!(s.task.is_removed());
}

fn busy() -> Answer {
    Answer::Remove(Outcome::Refused(refusal(RefusalClass::PeerFault, "device or resource busy")))
}

#[test]
fn what_is_not_removed_for_long_counts_as_kept_and_is_tried_on() {
    let mut s = ended();
    s.settings.cleanup_retry =
        lighterman_backoff::Backoff::new(Duration::from_secs(5), Duration::from_secs(5), 1_000, 0);
    s.until_due();
    for _ in 0..12 {
        s.answer(busy());
        assert_eq!((s.container().kept, s.task.is_kept(), s.view().is_kept()), (None, false, false));
        assert_eq!(s.until_due(), Duration::from_secs(5));
    }
    s.task.take_changed();
    s.answer(busy());
    assert!(s.task.take_changed(), "it is shown");
    assert_eq!(s.container().kept.as_deref(), Some("device or resource busy"));
    assert!(s.task.is_kept() && s.view().is_kept() && !s.task.is_removed() && !s.task.is_lingering());
    assert!(matches!(s.wait().unwrap().reason, WaitReason::Pause { .. }), "{:?}", s.wait());
    s.until_due();
    assert!(s.task.is_kept(), "while it is tried again");
    s.answer(removed());
    assert!(s.task.is_removed() && !s.task.is_kept());
    assert_eq!(s.container().kept, None);
}

#[test]
fn one_try_that_takes_its_whole_limit_is_long_enough() {
    let mut s = ended();
    s.until_due();
    s.passes(Duration::from_secs(300));
    s.answer(Answer::Remove(Outcome::Unknown(timed_out(300))));
    assert!(s.task.is_kept());
}

#[test]
fn without_patience_the_first_refusal_keeps_it() {
    let mut s = ended();
    s.settings.cleanup_patience = Duration::ZERO;
    s.until_due();
    s.answer(busy());
    assert!(s.task.is_kept());
}

#[test]
fn a_removal_that_is_in_progress_for_ever_keeps_it_too() {
    let mut s = ended();
    let in_progress = || Answer::Remove(Outcome::Refused(refusal(RefusalClass::Conflict, "already in progress")));
    s.until_due();
    for _ in 0..2 {
        s.answer(in_progress());
        s.answer(killed());
        s.answer(in_progress());
        s.until_due();
    }
    assert!(s.task.is_kept());
}

#[test]
fn time_in_which_the_runtime_is_away_does_not_count() {
    let mut s = ended();
    s.until_due();
    s.answer(busy());
    s.until_due();
    s.answer(Answer::Remove(Outcome::Unknown(away())));
    s.passes(Duration::from_secs(600));
    s.wake();
    s.answer(busy());
    assert!(!s.task.is_kept());
}

#[test]
fn a_restart_of_the_agent_begins_anew() {
    let mut s = ended();
    s.until_due();
    s.passes(Duration::from_secs(300));
    s.answer(busy());
    assert!(s.task.is_kept());
    s.restart();
    s.wake();
    assert!(!s.task.is_kept());
}

#[test]
fn a_search_that_is_refused_for_long_counts_as_kept() {
    let mut s = Script::pulled();
    s.settings.cleanup_wait = Duration::ZERO;
    s.stop();
    s.answer(Answer::Create(Outcome::Unknown(cut_off())));
    for _ in 0..12 {
        s.answer(Answer::Inspect(Outcome::Refused(fault())));
        s.until_due();
    }
    assert!(s.task.is_kept() && !s.task.is_removed());
    s.answer(no_container());
    assert!(!s.task.is_kept());
}
