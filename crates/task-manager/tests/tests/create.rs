//! PULLED → CREATED.

use std::time::Duration;

use lighterman_calls::{Answer, Outcome, Phase, RefusalClass, Request, RequestKind, labels};
use lighterman_status::ContainerStatus::{Created, Pulled, Running, Stopped};
use lighterman_view::WaitReason;

use crate::{
    answers::{away, created, cut_off, fault, no_container, refusal, removed, runtime_id, shows, timed_out},
    script::Script,
};

fn name_in_use() -> Answer {
    Answer::Create(Outcome::Refused(refusal(RefusalClass::NameInUse, "the name is in use")))
}

fn name_of(s: &Script) -> String {
    let Request::Create(request) = s.request(RequestKind::Create) else { panic!() };
    request.name.to_string()
}

#[test]
fn the_name_is_recorded_before_the_call_leaves() {
    let mut s = Script::pulled();
    let state = s.task.container_state(0).unwrap();
    assert_eq!(state.runtime_name.unwrap().as_str(), name_of(&s));
    assert_eq!(state.create_sent, Some(s.now));
    assert!(s.task.take_dirty().containers.contains(&0));
}

#[test]
fn a_create_that_works_leaves_no_doubt() {
    let s = Script::created();
    let state = s.task.container_state(0).unwrap();
    assert_eq!((state.runtime_id, state.create_sent), (Some(runtime_id()), None));
    assert_eq!(s.known(), Created);
}

#[test]
fn e10_a_create_that_fails_stops_the_container() {
    let mut s = Script::pulled();
    s.answer(Answer::Create(Outcome::Refused(fault())));
    s.does(&["create"]);
    assert_eq!((s.known(), s.desired()), (Stopped, Stopped));
    assert!(!s.history.contains(&Created), "known went back to PULLED first");
    assert_eq!(s.error(), "CannotCreateContainerError: internal server error");
    assert_eq!(s.view().reason.as_deref(), Some("CannotCreateContainerError: internal server error"), "B-030");
    assert_eq!(s.container().exit_code, None, "B-061");
}

#[test]
fn a_create_whose_image_is_gone_says_so() {
    let mut s = Script::pulled();
    s.answer(Answer::Create(Outcome::Gone));
    assert_eq!(s.error(), "CannotCreateContainerError: Docker does not know the image");
}

#[test]
fn e9_no_second_create_while_one_is_out() {
    let mut s = Script::pulled();
    s.does(&["create"]);
    s.wake();
    s.listed(None);
    s.does(&[]);
}

#[test]
fn a_create_that_was_cut_off_and_happened_is_adopted() {
    let mut s = Script::pulled();
    s.answer(Answer::Create(Outcome::Unknown(cut_off())));
    s.does(&["create", "inspect by name"]);
    s.answer(shows(s.facts(Phase::Created)));
    s.does(&["start"]);
    assert_eq!(s.task.container_state(0).unwrap().runtime_id, Some(runtime_id()));
}

#[test]
fn a_create_that_was_cut_off_and_did_not_happen_is_sent_again_under_the_same_name() {
    let mut s = Script::pulled();
    let first = name_of(&s);
    s.answer(Answer::Create(Outcome::Unknown(cut_off())));
    s.answer(no_container());
    s.until_due();
    s.does(&["create", "inspect by name", "create"]);
    assert_eq!(name_of(&s), first);
    // The first one was carried out late: the second finds the name taken, by us.
    s.answer(name_in_use());
    s.answer(shows(s.facts(Phase::Created)));
    s.does(&["inspect by name", "start"]);
}

#[test]
fn a_create_that_stays_lost_fails_after_its_tries() {
    let mut s = Script::pulled();
    for _ in 0..2 {
        s.answer(Answer::Create(Outcome::Unknown(cut_off())));
        s.answer(no_container());
        s.until_due();
    }
    s.answer(Answer::Create(Outcome::Unknown(cut_off())));
    s.answer(no_container());
    assert_eq!((s.known(), s.error().as_str()), (Stopped, "CannotCreateContainerError: EOF"));
}

#[test]
fn a_create_that_timed_out_is_looked_up_and_not_sent_again() {
    let mut s = Script::pulled();
    s.answer(Answer::Create(Outcome::Unknown(timed_out(240))));
    s.answer(no_container());
    s.does(&["create", "inspect by name"]);
    assert_eq!(s.error(), "DockerTimeoutError: Could not transition to created; timed out after waiting 4m0s");
    assert_eq!(s.known(), Stopped);
}

#[test]
fn a_look_for_the_name_that_fails_is_tried_again() {
    let mut s = Script::pulled();
    s.answer(Answer::Create(Outcome::Unknown(cut_off())));
    for _ in 0..2 {
        s.answer(Answer::Inspect(Outcome::Unknown(timed_out(30))));
        s.until_due();
    }
    s.answer(Answer::Inspect(Outcome::Unknown(timed_out(30))));
    s.does(&["create", "inspect by name", "inspect by name", "inspect by name"]);
    assert_eq!(s.error(), "CannotCreateContainerError: EOF", "what was lost first");
}

#[test]
fn a_look_for_the_name_that_never_succeeds_is_told_where_nothing_was_lost() {
    let mut s = Script::pulled();
    s.answer(name_in_use());
    for outcome in [Outcome::Refused(fault()), Outcome::Unknown(away()), Outcome::Refused(fault())] {
        s.answer(Answer::Inspect(outcome));
        s.until_due();
    }
    s.answer(Answer::Inspect(Outcome::Refused(fault())));
    s.does(&["create", "inspect by name", "inspect by name", "inspect by name", "inspect by name"]);
    assert_eq!(s.error(), "CannotInspectContainerError: internal server error", "while Docker is away no look counts");
}

#[test]
fn a_name_that_somebody_else_has_is_chosen_anew_once() {
    let mut s = Script::pulled();
    let first = name_of(&s);
    s.answer(name_in_use());
    let mut foreign = s.facts(Phase::Running);
    foreign.labels.insert(labels::INSTANCE.into(), "0".repeat(32));
    s.answer(shows(foreign.clone()));
    s.does(&["create", "inspect by name", "create"]);
    assert_ne!(name_of(&s), first);
    s.answer(name_in_use());
    s.answer(shows(foreign));
    assert_eq!(s.known(), Stopped);
    assert!(s.error().starts_with("CannotCreateContainerError: the name "), "{}", s.error());
}

#[test]
fn only_our_own_labels_prove_that_a_container_is_ours() {
    for key in [labels::INSTANCE, labels::TASK, labels::CONTAINER] {
        let mut s = Script::pulled();
        s.answer(name_in_use());
        let mut foreign = s.facts(Phase::Created);
        foreign.labels.remove(key);
        foreign.labels.insert("com.amazonaws.ecs.task-arn".into(), s.task.spec().arn.to_string());
        s.answer(shows(foreign));
        s.does(&["create", "inspect by name", "create"]);
    }
}

#[test]
fn a_container_found_by_its_name_is_judged_by_how_it_stands() {
    let mut s = Script::pulled();
    s.answer(name_in_use());
    s.answer(shows(s.facts(Phase::Running)));
    s.does(&["create", "inspect by name", "inspect"]);
    assert_eq!(s.known(), Running);

    let mut s = Script::pulled();
    s.answer(name_in_use());
    s.answer(shows(s.exited(3)));
    assert_eq!((s.known(), s.container().exit_code), (Stopped, Some(3)), "B-023");
}

#[test]
fn a_create_while_the_runtime_is_away_leaves_no_doubt() {
    let mut s = Script::pulled();
    s.answer(Answer::Create(Outcome::Unknown(away())));
    assert_eq!(s.task.container_state(0).unwrap().create_sent, None);
    s.until_due();
    s.does(&["create", "create"]);
}

#[test]
fn a_refused_second_create_does_not_take_back_the_doubt_about_the_first() {
    let mut s = Script::pulled();
    s.settings.cleanup_wait = Duration::ZERO;
    s.answer(Answer::Create(Outcome::Unknown(cut_off())));
    s.answer(no_container());
    let first = s.task.container_state(0).unwrap().create_sent;
    s.until_due();
    s.answer(Answer::Create(Outcome::Refused(fault())));
    assert_eq!(s.known(), Stopped);
    assert_eq!(s.task.container_state(0).unwrap().create_doubt, first, "the first may still be carried out");
    // So its name is watched when the container is removed.
    s.answer(no_container());
    assert!(s.task.is_lingering() && !s.task.is_removed());
}

#[test]
fn the_doubt_outlives_a_second_create_that_never_left_or_found_nobody() {
    for never_sent in [true, false] {
        let mut s = Script::pulled();
        s.answer(Answer::Create(Outcome::Unknown(cut_off())));
        s.answer(no_container());
        s.until_due();
        s.store_fails();
        if never_sent {
            s.never_sent(RequestKind::Create);
        } else {
            s.answer(Answer::Create(Outcome::Unknown(away())));
        }
        assert!(s.task.container_state(0).unwrap().create_doubt.is_some());
    }
}

#[test]
fn a_first_create_that_never_left_leaves_no_doubt() {
    let mut s = Script::pulled();
    s.does(&["create"]);
    s.store_fails();
    s.never_sent(RequestKind::Create);
    assert_eq!(s.task.container_state(0).unwrap().create_sent, None);
    s.does(&[]);
    assert_eq!(s.wait().unwrap().reason, WaitReason::Store { text: "disk full".into() });
    s.store_works();
    s.does(&["create"]);
}

#[test]
fn a_stop_does_not_wait_for_a_create() {
    let mut s = Script::pulled();
    s.stop();
    s.does(&["create"]);
    assert_eq!(s.known(), Stopped);
    assert_eq!(s.wait().unwrap().reason, WaitReason::LateCreate);
    assert_eq!(s.due(), None, "nothing is removed before the create is known");
    s.answer(created());
    s.settings.cleanup_wait = Duration::ZERO;
    s.does(&[]);
    s.until_due();
    s.does(&["remove"]);
    s.answer(removed());
    assert!(s.task.is_removed());
}

#[test]
fn a_late_create_that_was_refused_leaves_nothing_to_remove() {
    let mut s = Script::pulled();
    s.stop();
    s.answer(Answer::Create(Outcome::Refused(fault())));
    assert_eq!(s.task.container_state(0).unwrap().create_sent, None);
    s.until_due();
    s.does(&["create"]);
    assert!(s.task.is_removed());
}

#[test]
fn a_stop_while_the_name_is_looked_up_gives_the_look_up() {
    let mut s = Script::pulled();
    s.answer(Answer::Create(Outcome::Unknown(cut_off())));
    s.stop();
    s.does(&["create", "inspect by name", "cancel inspect by name"]);
    assert_eq!(s.known(), Stopped);
    assert!(s.task.container_state(0).unwrap().create_sent.is_some(), "the name is watched");
}

#[test]
fn what_cannot_be_said_to_the_runtime_fails_with_its_reason() {
    let mut task = crate::script::definition();
    task.containers[0].docker_labels.insert("dev.lighterman.instance".into(), "forged".into());
    // Our own labels win over the user's, so this is no error …
    let mut s = Script::of(task);
    s.answer(crate::answers::image_is_there());
    let Request::Create(request) = s.request(RequestKind::Create) else { panic!() };
    assert_eq!(request.config.labels[labels::INSTANCE], s.instance.as_str());
    assert_eq!(s.known(), Pulled);
}

/// Whatever an event told of it before its id was known found nobody.
#[test]
fn what_is_found_running_by_its_name_is_looked_at_once_more() {
    let mut s = Script::pulled();
    s.answer(Answer::Create(Outcome::Unknown(cut_off())));
    s.forget_deeds();
    s.answer(shows(s.facts(Phase::Running)));
    s.does(&["inspect"]);
    s.answer(shows(s.exited(3)));
    assert_eq!((s.known(), s.container().exit_code), (Stopped, Some(3)));
}
