//! Having the image: NONE → PULLED.

use std::time::Duration;

use lighterman_calls::{Answer, Outcome, RefusalClass, Request, RequestKind};
use lighterman_ids::{ContainerName, ImageRef};
use lighterman_status::ContainerStatus::{self, ManifestPulled, Pulled, Stopped};
use lighterman_taskdef::ContainerDefinition;
use lighterman_view::WaitReason;

use crate::{
    answers::{away, cut_off, fault, image_is_there, no_image, pulled, refusal, timed_out},
    script::{Script, definition},
};

#[test]
fn e112_an_image_that_is_there_is_not_pulled() {
    let mut s = Script::new();
    s.does(&["inspect-image"]);
    s.answer(image_is_there());
    s.does(&["create"]);
    assert_eq!(s.known(), Pulled);
}

#[test]
fn an_image_that_is_not_there_is_pulled_and_looked_at_again() {
    let mut s = Script::new();
    s.does(&["inspect-image"]);
    s.answer(no_image());
    s.does(&["pull"]);
    assert_eq!(s.known(), ManifestPulled);
    s.answer(pulled());
    s.does(&["inspect-image"]);
    s.answer(image_is_there());
    s.does(&["create"]);
    assert_eq!(s.history, [ContainerStatus::None, ManifestPulled, Pulled]);
}

#[test]
fn a_pull_carries_its_limits() {
    let mut s = Script::new();
    s.answer(no_image());
    let Request::Pull { image, platform: None, limits } = s.request(RequestKind::Pull) else { panic!() };
    assert_eq!(image.as_str(), "web:1");
    assert_eq!((limits.first_progress, limits.inactivity), (Duration::from_secs(300), Duration::from_secs(60)));
}

#[test]
fn e40_two_containers_pull_side_by_side() {
    let mut two = definition();
    let name = ContainerName::parse("db").unwrap();
    two.containers.push(ContainerDefinition::new(name, ImageRef::parse("db:1").unwrap()));
    let mut s = Script::of(two);
    s.does(&["inspect-image", "inspect-image"]);
    s.answer(no_image());
    s.answer(no_image());
    s.does(&["pull", "pull"]);
}

#[test]
fn e56_a_pull_that_fails_is_tolerated_when_the_image_is_there_all_the_same() {
    let mut s = Script::new();
    s.answer(no_image());
    s.answer(Answer::Pull(Outcome::Refused(refusal(RefusalClass::NotFound, "manifest unknown"))));
    s.answer(image_is_there());
    s.does(&["inspect-image", "pull", "inspect-image", "create"]);
    assert_eq!(s.error(), "", "E58: a tolerated pull error is not shown");
}

#[test]
fn b012_a_pull_that_goes_silent_although_the_image_arrived_goes_on() {
    let mut s = Script::new();
    s.answer(no_image());
    s.answer(Answer::Pull(Outcome::Unknown(timed_out(60))));
    s.answer(image_is_there());
    s.does(&["inspect-image", "pull", "inspect-image", "create"]);
}

#[test]
fn b034_a_pull_that_stalls_is_tried_a_few_times_with_growing_pauses() {
    let mut s = Script::new();
    s.does(&["inspect-image"]);
    s.answer(no_image());
    let mut pauses = vec![];
    for nth in 1..=5 {
        s.does(&["pull"]);
        s.answer(Answer::Pull(Outcome::Unknown(timed_out(60))));
        s.does(&["inspect-image"]);
        s.answer(no_image());
        if nth < 5 {
            let wait = s.wait().unwrap();
            assert!(matches!(wait.reason, WaitReason::Pause { attempt, .. } if attempt == nth + 1), "{wait}");
            assert!(wait.until.is_some());
            pauses.push(s.until_due());
        }
    }
    assert!(pauses.is_sorted(), "{pauses:?}");
    assert!(pauses[0] >= Duration::from_millis(1_100) && pauses[3] >= Duration::from_secs(5), "{pauses:?}");
    s.does(&[]);
    assert_eq!(s.known(), Stopped);
    assert_eq!(s.error(), "CannotPullContainerError: inactivity time exceeded timeout while pulling image");
}

#[test]
fn a_pull_names_the_limit_that_passed() {
    for (seconds, error) in [
        (60, "CannotPullContainerError: inactivity time exceeded timeout while pulling image"),
        (300, "DockerTimeoutError: Could not transition to pullBegin; timed out after waiting 5m0s"),
        (7_200, "DockerTimeoutError: Could not transition to pulled; timed out after waiting 2h0m0s"),
    ] {
        let mut s = Script::new();
        s.settings.pull_tries = 1;
        s.answer(no_image());
        s.answer(Answer::Pull(Outcome::Unknown(timed_out(seconds))));
        s.answer(no_image());
        assert_eq!(s.error(), error);
    }
}

#[test]
fn e115_the_fifth_pull_may_work() {
    let mut s = Script::new();
    s.answer(no_image());
    for _ in 1..=4 {
        s.answer(Answer::Pull(Outcome::Refused(refusal(RefusalClass::RateLimited, "toomanyrequests"))));
        s.answer(no_image());
        s.until_due();
    }
    s.answer(pulled());
    s.answer(image_is_there());
    assert_eq!((s.known(), s.error()), (Pulled, String::new()));
}

#[test]
fn definite_refusals_of_a_pull_are_not_tried_again() {
    for (class, tried_again) in [
        (RefusalClass::NotFound, false),
        (RefusalClass::NameInUse, false),
        (RefusalClass::Unauthorised, false),
        (RefusalClass::Invalid, false),
        (RefusalClass::Unsupported, false),
        (RefusalClass::RateLimited, true),
        (RefusalClass::PeerFault, true),
        (RefusalClass::Conflict, true),
        (RefusalClass::NoSpace, true),
    ] {
        let mut s = Script::new();
        s.answer(no_image());
        s.answer(Answer::Pull(Outcome::Refused(refusal(class, "no"))));
        s.answer(no_image());
        assert_eq!(s.known() != Stopped, tried_again, "{class}");
        if !tried_again {
            assert_eq!(s.error(), "CannotPullContainerError: no");
            assert_eq!(s.view().reason.as_deref(), Some("CannotPullContainerError: no"), "B-030");
            assert_eq!(s.container().exit_code, None, "B-061");
        }
    }
}

#[test]
fn an_answer_lost_after_the_pull_says_nothing_of_the_image() {
    let mut s = Script::new();
    s.answer(no_image());
    s.answer(pulled());
    s.does(&["inspect-image", "pull", "inspect-image"]);
    s.answer(Answer::InspectImage(Outcome::Unknown(cut_off())));
    s.does(&[]);
    assert_eq!(s.error(), "", "it may well be there");
    s.until_due();
    s.does(&["inspect-image"]);
    s.answer(image_is_there());
    s.does(&["create"]);
}

#[test]
fn an_image_that_was_pulled_and_cannot_be_found_fails() {
    let mut s = Script::new();
    s.answer(no_image());
    s.answer(pulled());
    s.answer(no_image());
    assert_eq!(s.error(), "CannotPullContainerError: web:1 was pulled but cannot be found");
    assert_eq!(s.known(), Stopped);
}

#[test]
fn looks_for_an_image_that_fail_end_in_a_pull() {
    let mut s = Script::new();
    for _ in 0..2 {
        s.answer(Answer::InspectImage(Outcome::Unknown(timed_out(30))));
        s.until_due();
    }
    s.answer(Answer::InspectImage(Outcome::Unknown(timed_out(30))));
    s.does(&["inspect-image", "inspect-image", "inspect-image", "pull"]);
}

#[test]
fn an_image_that_cannot_be_read_is_pulled() {
    let mut s = Script::new();
    s.answer(Answer::InspectImage(Outcome::Refused(fault())));
    s.does(&["inspect-image", "pull"]);
}

#[test]
fn a_runtime_that_is_away_costs_no_tries() {
    let mut s = Script::new();
    for _ in 0..20 {
        s.answer(Answer::InspectImage(Outcome::Unknown(away())));
        let wait = s.wait().unwrap();
        assert_eq!(wait.reason, WaitReason::RuntimeAway { text: "connection refused".into() });
        s.until_due();
    }
    s.answer(no_image());
    for _ in 0..20 {
        s.answer(Answer::Pull(Outcome::Unknown(away())));
        s.until_due();
    }
    s.answer(pulled());
    for _ in 0..20 {
        s.answer(Answer::InspectImage(Outcome::Unknown(away())));
        s.until_due();
    }
    s.answer(image_is_there());
    assert_eq!((s.known(), s.error()), (Pulled, String::new()));
}

#[test]
fn b038_e38_a_stop_ends_a_pull_at_once() {
    let mut s = Script::new();
    s.answer(no_image());
    s.does(&["inspect-image", "pull"]);
    let pull = s.out[0].0;
    s.stop();
    s.does(&["cancel pull"]);
    assert_eq!(s.known(), Stopped);
    // The late result changes nothing.
    s.tell(lighterman_task_manager::TaskEvent::Answer { id: pull, answer: Box::new(pulled()) });
    s.does(&[]);
    assert_eq!((s.known(), s.error()), (Stopped, String::new()));
    // Nothing was created, so nothing has to be removed.
    s.until_due();
    s.does(&[]);
    assert!(s.task.is_removed());
}

#[test]
fn e37_a_stop_before_anything_was_done_needs_no_call() {
    let mut s = Script::accepted(definition());
    s.stop();
    s.does(&[]);
    assert_eq!(s.known(), Stopped);
    assert_eq!(s.view().reason, None, "stopped on request");
}
