//! While the store fails nothing is begun, and what only looks or ends things goes on (design.md R1).

use lighterman_calls::{EventAction, Phase, RequestKind};
use lighterman_status::ContainerStatus::{Created, Pulled, Running, Stopped};
use lighterman_view::WaitReason;

use crate::{
    answers::{created, image_is_there, removed, shows, started, stopped},
    script::{Script, definition},
};

fn store() -> WaitReason {
    WaitReason::Store { text: "disk full".into() }
}

#[test]
fn nothing_is_begun_and_everything_resumes() {
    let mut s = Script::accepted(definition());
    s.store_fails();
    s.wake();
    s.does(&[]);
    assert_eq!(s.wait().unwrap().reason, store());
    assert_eq!(s.due(), None, "it waits for an event, not for time");
    s.store_works();
    s.does(&["inspect-image"]);

    s.store_fails();
    s.answer(image_is_there());
    s.does(&[]);
    assert_eq!((s.known(), s.wait().unwrap().reason), (Pulled, store()));
    s.store_works();
    s.does(&["create"]);

    s.store_fails();
    s.answer(created());
    s.does(&[]);
    assert_eq!((s.known(), s.wait().unwrap().reason), (Created, store()));
    s.store_works();
    s.does(&["start"]);

    // What was begun is followed to its end.
    s.store_fails();
    s.answer(started());
    s.does(&["inspect"]);
    s.answer(shows(s.facts(Phase::Running)));
    assert_eq!(s.known(), Running);
}

#[test]
fn stops_go_on_and_removal_waits() {
    let mut s = Script::running();
    s.store_fails();
    s.stop();
    s.does(&["stop 30s"]);
    s.answer(stopped());
    s.answer(shows(s.exited(0)));
    s.does(&["inspect"]);
    assert_eq!((s.known(), s.wait().unwrap().reason), (Stopped, store()));
    assert_eq!(s.due(), None);
    s.store_works();
    s.until_due();
    s.does(&["remove"]);
}

#[test]
fn a_removal_that_never_left_waits_for_the_store() {
    let mut s = Script::running();
    s.event(EventAction::Die { exit_code: Some(0) });
    s.answer(shows(s.exited(0)));
    s.until_due();
    s.store_fails();
    s.never_sent(RequestKind::Remove);
    s.does(&["inspect", "remove"]);
    assert_eq!(s.wait().unwrap().reason, store());
    s.store_works();
    s.does(&["remove"]);
    s.answer(removed());
    assert!(s.task.is_removed());
}

#[test]
fn a_task_taken_up_while_the_store_fails_is_looked_at_and_goes_on_later() {
    let mut s = Script::pulled();
    s.does(&["create"]);
    s.restart();
    s.store_fails();
    s.wake();
    s.does(&["inspect by name"]);
    s.answer(crate::answers::no_container());
    s.does(&[]);
    assert_eq!(s.wait().unwrap().reason, store());
    s.store_works();
    s.does(&["inspect-image"]);
}

#[test]
fn while_the_host_shuts_down_nothing_is_begun_and_what_is_out_is_learned() {
    use crate::answers::{no_image, pulled};
    let mut s = Script::new();
    s.close();
    s.answer(no_image());
    s.does(&["inspect-image"]);
    assert_eq!(s.due(), None);

    let mut s = Script::pulled();
    s.close();
    s.answer(created());
    s.does(&["create"]);
    assert_eq!(s.known(), Created);

    let mut s = Script::new();
    s.answer(no_image());
    s.close();
    s.answer(pulled());
    s.answer(image_is_there());
    s.does(&["inspect-image", "pull", "inspect-image"]);

    let mut s = Script::running();
    s.stop();
    s.close();
    s.answer(stopped());
    s.answer(shows(s.exited(3)));
    assert_eq!(s.container().exit_code, Some(3));
    s.wake();
    s.stop_by_force();
    s.does(&["stop 30s", "inspect"]);
}

#[test]
fn before_the_runtime_may_be_asked_only_what_needs_no_call_is_done() {
    let mut s = Script::accepted(definition());
    s.ready = false;
    s.wake();
    s.does(&[]);
    s.stop();
    s.tell(lighterman_task_manager::TaskEvent::CleanUp);
    s.does(&[]);
    assert!(s.task.is_removed(), "a task that has nothing in the runtime can end without it");

    let mut s = Script::running();
    s.ready = false;
    s.stop();
    s.does(&[]);
    s.ready = true;
    s.wake();
    s.does(&["stop 30s"]);
}
