//! The rules of the crate's table, one by one.

use std::time::Duration;

use lighterman_calls::{Lost, LostCause, Phase, RequestKind};
use lighterman_engine::Event;
use lighterman_status::ContainerStatus;
use lighterman_view::WaitReason;

use crate::rig::{Rig, task_id};

#[test]
fn the_first_question_waits_until_the_incarnation_is_durable() {
    let mut rig = Rig::new();
    rig.leaves(&[]);
    assert!(rig.commit_begins());
    rig.leaves(&[]);
    rig.commit_ends(true, true);
    rig.leaves(&["version", "show host"]);
    assert_eq!(rig.durable().host.unwrap().incarnation, 1);
}

#[test]
fn what_follows_from_a_record_waits_for_its_commit() {
    let mut rig = Rig::submitted();
    rig.world.carry_out(&pull());
    rig.serve(RequestKind::InspectImage);
    rig.leaves(&[]);
    assert!(rig.commit_begins());
    rig.leaves(&[]);
    rig.commit_ends(true, true);
    rig.leaves(&["create", "show PULLED"]);
}

fn pull() -> lighterman_calls::Request {
    let limits = lighterman_calls::PullLimits { first_progress: Duration::ZERO, inactivity: Duration::ZERO };
    lighterman_calls::Request::Pull { image: lighterman_ids::ImageRef::parse("web:1").unwrap(), platform: None, limits }
}

#[test]
fn a_turn_that_changed_nothing_holds_nothing() {
    let mut rig = Rig::running();
    rig.turn([Event::EventsDropped]);
    rig.leaves(&["list"]);
    assert!(!rig.commit_begins(), "nothing is to be written");
}

#[test]
fn a_turn_that_changed_nothing_keeps_its_place_behind_what_is_held() {
    let mut rig = Rig::submitted();
    rig.world.carry_out(&pull());
    rig.serve(RequestKind::InspectImage);
    rig.turn([Event::EventsDropped]);
    rig.leaves(&[]);
    assert!(rig.commit_begins());
    // The same while the commit is in flight: it leaves with it.
    rig.turn([Event::Stop { task: lighterman_ids::TaskId::from_bits(99), reason: None, force: false }]);
    rig.leaves(&[]);
    rig.commit_ends(true, true);
    rig.leaves(&["create", "show PULLED", "list"]);
}

#[test]
fn what_changes_nothing_during_a_commit_leaves_with_that_commit() {
    let mut rig = Rig::submitted();
    rig.world.carry_out(&pull());
    rig.serve(RequestKind::InspectImage);
    assert!(rig.commit_begins());
    rig.turn([Event::EventsDropped]);
    rig.leaves(&[]);
    rig.commit_ends(true, true);
    rig.leaves(&["create", "show PULLED", "list"]);
    assert!(!rig.commit_begins());
}

#[test]
fn turns_during_a_commit_share_the_next_one() {
    let mut rig = Rig::running();
    rig.turn([Event::Stop { task: task_id(), reason: None, force: false }]);
    assert!(rig.commit_begins());
    rig.world.process_ends(3);
    let reports = rig.reports();
    rig.turn(reports);
    rig.turn([Event::Stop { task: task_id(), reason: Some("again".into()), force: true }]);
    rig.leaves(&[]);
    assert!(rig.turns.is_committing());
    assert!(rig.turns.poll_commit(rig.now).is_none(), "one commit is in flight");
    rig.commit_ends(true, true);
    // The look follows from no record, so it leaves with the commit that was in flight.
    rig.leaves(&["stop", "show RUNNING", "inspect"]);
    rig.commit_works();
    rig.leaves(&["kill", "show RUNNING"]);
    assert!(!rig.commit_begins());
}

#[test]
fn a_view_is_never_shown_before_its_commit() {
    let mut rig = Rig::submitted();
    rig.views.clear();
    rig.world.carry_out(&pull());
    rig.serve(RequestKind::InspectImage);
    assert!(rig.views.is_empty());
    assert!(rig.commit_begins());
    assert!(rig.views.is_empty());
    rig.commit_ends(true, true);
    assert_eq!(rig.views.last().unwrap().containers[0].known, ContainerStatus::Pulled);
}

#[test]
fn a_commit_that_fails_keeps_back_what_creates_and_what_is_new() {
    let mut rig = Rig::submitted();
    rig.world.carry_out(&pull());
    rig.serve(RequestKind::InspectImage);
    rig.views.clear();
    rig.commit_fails();
    rig.leaves(&["show NONE", "show host: store fails"]);
    assert_eq!(rig.turns.engine().calls_in_progress(), 0, "the create call was answered: never sent");
    assert_eq!(rig.host.as_ref().unwrap().store_failing.as_deref(), Some("disk full"));
}

#[test]
fn a_commit_that_fails_lets_out_what_looks_or_ends_things() {
    let mut rig = Rig::running();
    rig.turn([Event::EventsDropped, Event::Stop { task: task_id(), reason: None, force: false }]);
    rig.leaves(&[]);
    rig.commit_fails();
    rig.leaves(&["list", "stop", "show host: store fails"]);
}

#[test]
fn while_the_store_fails_only_what_looks_or_ends_things_leaves_and_at_once() {
    let mut rig = Rig::running();
    rig.turn([Event::Stop { task: task_id(), reason: None, force: false }]);
    rig.commit_fails();
    rig.leaves(&["stop", "show host: store fails"]);
    rig.views.clear();
    rig.serve(RequestKind::Stop);
    rig.leaves(&["inspect"]);
    rig.serve(RequestKind::Inspect);
    // The removal waits, and that it has stopped is not told.
    rig.leaves(&["show RUNNING"]);
    assert_eq!(rig.views.last().unwrap().containers[0].wait.as_ref().unwrap().reason, wait_of_store());
    assert_eq!(rig.world.container.as_ref().unwrap().phase, Phase::Exited { code: Some(143) });
}

#[test]
fn new_tasks_are_refused_while_the_store_fails() {
    let mut rig = Rig::connected();
    rig.submit();
    rig.commit_fails();
    // It only looks, so it may leave.
    rig.leaves(&["inspect-image", "show host", "show host: store fails"]);
    let mut another = rig.turns.engine().tasks().next().unwrap().spec().clone();
    another.id = lighterman_ids::TaskId::from_bits(2);
    rig.turn([Event::Submit(Box::new(another))]);
    rig.leaves(&["refuse: the state store takes no changes: disk full"]);
}

#[test]
fn a_failed_commit_is_tried_again_after_its_pause_and_everything_goes_on() {
    let mut rig = Rig::submitted();
    rig.world.carry_out(&pull());
    rig.serve(RequestKind::InspectImage);
    let mut pauses = vec![];
    for _ in 0..10 {
        rig.commit_fails();
        assert!(!rig.commit_begins(), "not before its time");
        let due = rig.turns.poll_timeout().unwrap();
        assert!(due > rig.now.mono, "it would spin");
        pauses.push(due.since(rig.now.mono));
        assert!(rig.until_due());
    }
    assert!(pauses[0] >= Duration::from_millis(100) && pauses[9] >= Duration::from_secs(5), "{pauses:?}");
    // It says the same each time, so it is shown once.
    rig.leaves(&["show NONE", "show host: store fails"]);
    rig.commit_works();
    rig.leaves(&["show PULLED"]);
    // Decided again, with the record that goes with it.
    rig.commit_works();
    rig.leaves(&["create", "show PULLED", "show host"]);
    assert!(rig.host.as_ref().unwrap().store_failing.is_none());
}

#[test]
fn while_the_store_fails_a_task_is_shown_as_it_was_but_for_what_waits_for_the_store() {
    let mut rig = Rig::submitted();
    let accepted = rig.views.last().unwrap().clone();
    rig.world.carry_out(&pull());
    rig.serve(RequestKind::InspectImage);
    rig.views.clear();
    rig.commit_fails();
    let [shown] = &rig.views[..] else { panic!("once: {:?}", rig.views) };
    let wait = shown.containers[0].wait.clone().unwrap();
    assert_eq!(wait.reason, wait_of_store());
    let mut expected = accepted;
    expected.containers[0].wait = Some(wait);
    assert_eq!(*shown, expected, "that it is PULLED is not durable");

    rig.until_due();
    rig.commit_fails();
    assert_eq!(rig.views.len(), 1, "it is said once");
    rig.until_due();
    rig.commit_works();
    rig.commit_works();
    let last = &rig.views.last().unwrap().containers[0];
    assert_eq!(last.known, ContainerStatus::Pulled);
    assert_ne!(last.wait.as_ref().unwrap().reason, wait_of_store());
}

fn wait_of_store() -> WaitReason {
    WaitReason::Store { text: "disk full".into() }
}

#[test]
fn a_store_that_fails_with_nothing_to_write_is_tried_all_the_same() {
    let mut rig = Rig::connected();
    rig.submit();
    rig.commit_fails();
    rig.until_due();
    rig.commit_works();
    assert!(rig.host.as_ref().unwrap().store_failing.is_none());
    rig.flow();
    assert!(rig.world.container.is_some());
}

#[test]
fn an_action_that_is_cancelled_before_it_left_never_leaves() {
    let mut rig = Rig::submitted();
    rig.serve(RequestKind::InspectImage);
    rig.leaves(&[]);
    // The pull is held; the task is stopped before its commit begins, or while it is in flight.
    rig.turn([Event::Stop { task: task_id(), reason: None, force: false }]);
    rig.flow();
    assert_eq!(rig.turns.engine().tasks().count(), 0);
    assert!(!rig.out.iter().any(|(_, request)| request.kind() == RequestKind::Pull));
    let left = rig.take_left();
    assert!(!left.contains(&"pull".to_string()) && !left.iter().any(|words| words.starts_with("cancel")), "{left:?}");
}

#[test]
fn an_action_that_is_cancelled_during_its_commit_never_leaves() {
    let mut rig = Rig::submitted();
    rig.serve(RequestKind::InspectImage);
    assert!(rig.commit_begins());
    rig.turn([Event::Stop { task: task_id(), reason: None, force: false }]);
    rig.commit_ends(true, true);
    let left = rig.take_left();
    assert!(!left.contains(&"pull".to_string()), "{left:?}");
    assert_eq!(rig.turns.engine().calls_in_progress(), 0);
}

#[test]
fn an_action_that_is_cancelled_after_it_left_is_cancelled_outside() {
    let mut rig = Rig::submitted();
    rig.serve(RequestKind::InspectImage);
    rig.commit_works();
    rig.leaves(&["pull", "show MANIFEST_PULLED"]);
    rig.turn([Event::Stop { task: task_id(), reason: None, force: false }]);
    rig.leaves(&[]);
    rig.commit_works();
    let left = rig.take_left();
    assert_eq!(left.first().unwrap(), "cancel pull");
}

#[test]
fn a_removed_task_is_shown_when_its_records_are_gone() {
    let mut rig = Rig::running();
    rig.turn([Event::Stop { task: task_id(), reason: None, force: false }]);
    rig.flow();
    assert!(rig.views.last().unwrap().removed);
    assert!(rig.durable_task().is_none() && rig.world.container.is_none());
}

#[test]
fn the_last_view_of_a_task_is_not_lost_when_its_commit_fails() {
    let mut rig = Rig::running();
    rig.turn([Event::Stop { task: task_id(), reason: None, force: false }]);
    rig.commit_works();
    rig.serve(RequestKind::Stop);
    rig.serve(RequestKind::Inspect);
    rig.commit_works();
    rig.serve(RequestKind::Remove);
    rig.views.clear();
    rig.commit_fails();
    assert!(rig.views.is_empty());
    rig.until_due();
    rig.commit_works();
    rig.flow();
    let shown: Vec<bool> = rig.views.iter().map(|view| view.removed).collect();
    assert_eq!(shown, [true]);
}

#[test]
fn what_a_failed_commit_left_in_the_store_does_no_harm() {
    for there in [true, false] {
        let mut rig = Rig::submitted();
        rig.world.carry_out(&pull());
        rig.serve(RequestKind::InspectImage);
        assert!(rig.commit_begins());
        rig.commit_ends(false, there);
        rig.until_due();
        rig.flow();
        assert_eq!(rig.world.container.as_ref().unwrap().phase, Phase::Running);
        // And the same when it dies right after.
        let mut rig = Rig::submitted();
        rig.world.carry_out(&pull());
        rig.serve(RequestKind::InspectImage);
        assert!(rig.commit_begins());
        rig.commit_ends(false, there);
        rig.crash();
        rig.flow();
        assert_eq!(rig.world.container.as_ref().unwrap().phase, Phase::Running);
    }
}

#[test]
fn a_crash_while_a_create_is_held_leaves_nothing_behind() {
    let mut rig = Rig::submitted();
    rig.world.carry_out(&pull());
    rig.serve(RequestKind::InspectImage);
    rig.crash();
    assert!(rig.world.container.is_none());
    rig.flow();
    assert_eq!(rig.world.container.as_ref().unwrap().phase, Phase::Running);
}

#[test]
fn once_the_end_is_asked_for_nothing_that_creates_leaves() {
    let mut rig = Rig::submitted();
    rig.world.carry_out(&pull());
    rig.serve(RequestKind::InspectImage);
    assert!(rig.commit_begins());
    rig.turn([Event::Shutdown]);
    rig.commit_ends(true, true);
    rig.flow();
    let left = rig.take_left();
    assert!(!left.contains(&"create".to_string()), "{left:?}");
    assert!(rig.world.container.is_none());
    assert_eq!(rig.turns.poll_timeout(), None);
}

#[test]
fn what_is_out_when_the_end_is_asked_for_is_still_learned_and_committed() {
    let mut rig = Rig::running();
    rig.turn([Event::Stop { task: task_id(), reason: None, force: false }]);
    rig.commit_works();
    rig.turn([Event::Shutdown]);
    rig.serve(RequestKind::Stop);
    rig.flow();
    let task = rig.durable_task().unwrap();
    assert_eq!(task.containers[0].exit_code, Some(143));
}

#[test]
#[should_panic(expected = "the store answers only commits that were handed to it")]
fn an_answer_of_the_store_without_a_commit_is_a_fault_of_the_driver() {
    let mut rig = Rig::connected();
    rig.turns.committed(rig.now, Ok(()));
}

#[test]
fn a_stream_that_breaks_is_opened_again_without_a_commit() {
    let mut rig = Rig::running();
    rig.pass(Duration::from_secs(60));
    let id = rig.stream();
    rig.turn([Event::WatchLost { id, lost: Lost::new(LostCause::ConnectionLost, "EOF") }]);
    rig.wake();
    let left = rig.take_left();
    assert!(left.contains(&"watch".to_string()), "{left:?}");
    assert!(!rig.commit_begins());
}

#[test]
fn the_host_view_does_not_overtake_the_views_of_the_tasks_it_counts() {
    let mut rig = Rig::running();
    rig.turn([Event::Stop { task: task_id(), reason: None, force: false }]);
    rig.flow();
    let left = rig.take_left();
    let last = |words: &str| left.iter().rposition(|left| left == words).unwrap();
    assert_eq!(rig.host.as_ref().unwrap().unfinished, 0);
    assert!(last("show STOPPED") < last("show host"), "{left:?}");
    // While it is counted as unfinished, so it is in the store.
    let mut rig = Rig::running();
    rig.world.process_ends(3);
    let reports = rig.reports();
    rig.turn(reports);
    rig.serve(RequestKind::Inspect);
    rig.leaves(&["inspect"]);
    assert_eq!(rig.host.as_ref().unwrap().unfinished, 1);
}
