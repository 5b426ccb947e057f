//! CREATED → RUNNING.

use lighterman_calls::{Answer, EventAction, Outcome, Phase, RefusalClass, RequestKind};
use lighterman_status::ContainerStatus::{Created, Running, Stopped};

use crate::{
    answers::{away, cut_off, fault, no_container, refusal, shows, started, stopped, timed_out},
    script::Script,
};

#[test]
fn a_start_is_confirmed_by_one_look() {
    let mut s = Script::created();
    s.does(&["start"]);
    s.answer(started());
    s.does(&["inspect"]);
    assert_eq!(s.known(), Created, "only the look makes it RUNNING");
    s.answer(shows(s.facts(Phase::Running)));
    s.does(&[]);
    assert_eq!(s.known(), Running);
    assert!(s.container().started_at.is_some());
}

#[test]
fn the_look_of_the_start_event_serves_the_start_call_too() {
    let mut s = Script::created();
    s.event(EventAction::Start);
    s.does(&["start", "inspect"]);
    s.answer(started());
    s.does(&[]);
    s.answer(shows(s.facts(Phase::Running)));
    s.does(&[]);
    assert_eq!(s.known(), Running);
}

#[test]
fn a_container_seen_running_does_not_wait_for_its_start_call() {
    let mut s = Script::created();
    s.event(EventAction::Start);
    s.answer(shows(s.facts(Phase::Running)));
    assert_eq!(s.known(), Running);
    // The call returns at last.
    s.answer(started());
    s.does(&["start", "inspect"]);
    assert_eq!((s.known(), s.error()), (Running, String::new()));
}

#[test]
fn e53_a_start_that_timed_out_is_stopped_to_make_sure() {
    let mut s = Script::created();
    s.answer(Answer::Start(Outcome::Unknown(timed_out(180))));
    s.does(&["start", "inspect"]);
    s.answer(shows(s.facts(Phase::Created)));
    s.does(&["stop 30s"]);
    assert_eq!((s.known(), s.desired()), (Created, Stopped));
    s.answer(stopped());
    s.answer(shows(s.facts(Phase::Created)));
    s.does(&["inspect"]);
    assert_eq!(s.known(), Stopped);
    assert_eq!(s.error(), "DockerTimeoutError: Could not transition to started; timed out after waiting 3m0s");
    assert_eq!(s.container().exit_code, None);
}

#[test]
fn b026_a_start_that_lost_its_answer_and_worked_runs() {
    let mut s = Script::created();
    s.answer(Answer::Start(Outcome::Unknown(cut_off())));
    s.does(&["start", "inspect"]);
    s.answer(shows(s.facts(Phase::Running)));
    s.does(&[]);
    assert_eq!((s.known(), s.error()), (Running, String::new()));
}

#[test]
fn e54_a_start_that_was_cut_off_is_tried_again_and_then_stopped_to_make_sure() {
    let mut s = Script::created();
    for _ in 0..2 {
        s.answer(Answer::Start(Outcome::Unknown(cut_off())));
        s.answer(shows(s.facts(Phase::Created)));
        s.until_due();
    }
    s.answer(Answer::Start(Outcome::Unknown(cut_off())));
    s.answer(shows(s.facts(Phase::Created)));
    s.does(&["start", "inspect", "start", "inspect", "start", "inspect", "stop 30s"]);
}

#[test]
fn e54_a_start_that_was_refused_is_not_stopped() {
    let mut s = Script::created();
    s.answer(Answer::Start(Outcome::Refused(fault())));
    s.does(&["start"]);
    assert_eq!((s.known(), s.error().as_str()), (Stopped, "CannotStartContainerError: internal server error"));
}

#[test]
fn b041_b027_a_host_port_that_is_taken_is_named_and_never_shown_as_running() {
    let mut s = Script::created();
    let text = "Bind for 0.0.0.0:18080 failed: port is already allocated";
    s.answer(Answer::Start(Outcome::Refused(refusal(RefusalClass::PeerFault, text))));
    assert_eq!(s.error(), format!("CannotStartContainerError: {text}"));
    assert_eq!(s.view().reason, Some(format!("CannotStartContainerError: {text}")));
    assert!(!s.history.contains(&Running));
    assert_eq!(s.container().exit_code, None);
    // The created container is removed.
    s.until_due();
    s.does(&["start", "remove"]);
}

#[test]
fn a_start_that_says_it_worked_and_did_not_is_tried_again() {
    let mut s = Script::created();
    s.answer(started());
    s.answer(shows(s.facts(Phase::Created)));
    s.until_due();
    s.does(&["start", "inspect", "start"]);
}

#[test]
fn e146_a_container_that_never_started_and_has_an_error_text_has_stopped() {
    let mut s = Script::created();
    s.answer(Answer::Start(Outcome::Unknown(cut_off())));
    let mut facts = s.facts(Phase::Exited { code: None });
    facts.error = "exec: \"/nope\": no such file or directory".into();
    s.answer(shows(facts));
    assert_eq!((s.known(), s.container().exit_code), (Stopped, None));
    assert_eq!(s.error(), "DockerStateError: exec: \"/nope\": no such file or directory");
    assert!(!s.history.contains(&Running), "B-027");
}

#[test]
fn a_container_that_ended_before_the_look_has_stopped() {
    let mut s = Script::created();
    s.answer(started());
    s.answer(shows(s.exited(0)));
    assert_eq!((s.known(), s.container().exit_code, s.error()), (Stopped, Some(0), String::new()));
    assert_eq!(s.view().reason.as_deref(), Some("Essential container in task exited"));
}

#[test]
fn e63_b024_e139_an_out_of_memory_mark_on_a_running_container_is_no_error() {
    let mut s = Script::created();
    s.answer(started());
    let mut facts = s.facts(Phase::Running);
    facts.oom_killed = true;
    s.answer(shows(facts));
    assert_eq!((s.known(), s.error()), (Running, String::new()));
}

#[test]
fn e39_a_stop_waits_for_the_start_that_is_out() {
    let mut s = Script::created();
    s.stop();
    s.does(&["start"]);
    assert_eq!((s.known(), s.desired()), (Created, Stopped));
    s.answer(started());
    s.does(&["inspect"]);
    s.answer(shows(s.facts(Phase::Running)));
    s.does(&["stop 30s"]);
}

#[test]
fn a_stop_that_meets_a_lost_start_makes_sure() {
    let mut s = Script::created();
    s.stop();
    s.answer(Answer::Start(Outcome::Unknown(cut_off())));
    s.answer(shows(s.facts(Phase::Created)));
    s.does(&["start", "inspect", "stop 30s"]);
}

#[test]
fn a_stop_between_two_tries_of_a_start_makes_sure() {
    let mut s = Script::created();
    s.answer(Answer::Start(Outcome::Unknown(cut_off())));
    s.answer(shows(s.facts(Phase::Created)));
    s.stop();
    assert!(s.until_due() <= std::time::Duration::from_millis(1_200));
    s.does(&["start", "inspect", "stop 30s"]);
}

#[test]
fn a_start_that_certainly_had_no_effect_needs_no_stop() {
    let mut s = Script::created();
    s.answer(Answer::Start(Outcome::Unknown(away())));
    s.stop();
    s.until_due();
    s.does(&["start"]);
    assert_eq!(s.known(), Stopped);
}

#[test]
fn b001_a_container_that_is_gone_when_it_is_started_has_vanished() {
    for answer in [Answer::Start(Outcome::Gone), started()] {
        let mut s = Script::created();
        let look = answer == started();
        s.answer(answer);
        if look {
            s.answer(no_container());
        }
        assert_eq!(s.known(), Stopped);
        assert_eq!(s.error(), "ContainerVanishedError: the container no longer exists in Docker");
    }
}

#[test]
fn a_look_after_a_start_that_fails_is_tried_again_and_then_stopped_to_make_sure() {
    let mut s = Script::created();
    s.answer(started());
    for outcome in [Outcome::Refused(fault()), Outcome::Unknown(away()), Outcome::Refused(fault())] {
        s.answer(Answer::Inspect(outcome));
        s.until_due();
    }
    s.answer(Answer::Inspect(Outcome::Refused(fault())));
    // While Docker is away no look counts.
    s.does(&["start", "inspect", "inspect", "inspect", "inspect", "stop 30s"]);
    assert_eq!(s.error(), "CannotInspectContainerError: internal server error");
}

#[test]
fn cc3_an_error_of_the_start_call_counts_although_it_was_seen_running() {
    let mut s = Script::created();
    s.event(EventAction::Start);
    s.answer(shows(s.facts(Phase::Running)));
    s.answer(Answer::Start(Outcome::Refused(fault())));
    s.does(&["start", "inspect", "stop 30s"]);
    assert_eq!((s.known(), s.desired()), (Running, Stopped));
    assert_eq!(s.error(), "CannotStartContainerError: internal server error");
}

#[test]
fn cc3_a_lost_start_call_is_overruled_by_what_was_seen() {
    for lost in [timed_out(180), cut_off()] {
        let mut s = Script::created();
        s.event(EventAction::Start);
        s.answer(shows(s.facts(Phase::Running)));
        s.answer(Answer::Start(Outcome::Unknown(lost)));
        s.does(&["start", "inspect"]);
        assert_eq!((s.known(), s.error()), (Running, String::new()));
    }
}

#[test]
fn a_late_error_of_the_start_call_does_not_begin_a_second_stop() {
    let mut s = Script::created();
    s.event(EventAction::Start);
    s.answer(shows(s.facts(Phase::Running)));
    s.stop();
    s.does(&["start", "inspect", "stop 30s"]);
    s.answer(Answer::Start(Outcome::Refused(fault())));
    s.does(&[]);
}

#[test]
fn a_start_that_never_left_is_decided_again() {
    let mut s = Script::created();
    s.store_fails();
    s.never_sent(RequestKind::Start);
    s.does(&["start"]);
    s.store_works();
    s.does(&["start"]);
}
