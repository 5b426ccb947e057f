//! While the store takes no changes.

use std::time::Duration;

use lighterman_calls::RequestKind;
use lighterman_engine::Event;
use lighterman_view::WaitReason;

use crate::host::{Host, image_is_there, kinds, version};

fn fails(host: &mut Host) {
    host.tell(Event::StoreFailed("disk full".into()));
}

#[test]
fn new_tasks_are_refused_and_running_ones_are_kept() {
    let mut host = Host::connected();
    host.run(1);
    fails(&mut host);
    host.submit(2);
    let (task, error) = host.engine.poll_refusal().unwrap();
    assert_eq!(
        (task, error.to_string()),
        (crate::host::task_id(2), "the state store takes no changes: disk full".into())
    );
    assert!(host.container(1).known.is_running());
    // One that is known already is no new one.
    host.submit(1);
    assert!(host.engine.poll_refusal().is_none());
}

#[test]
fn commits_are_tried_again_ever_more_slowly() {
    let mut host = Host::connected();
    assert_eq!(host.engine.poll_commit_time(), None);
    let mut pauses = vec![];
    for _ in 0..10 {
        fails(&mut host);
        let at = host.engine.poll_commit_time().unwrap();
        assert!(!host.engine.may_commit(host.now));
        pauses.push(at.since(host.now.mono));
        host.pass(at.since(host.now.mono));
        assert!(host.engine.may_commit(host.now));
    }
    assert!(pauses[..7].is_sorted() && pauses[0] >= Duration::from_millis(100), "{pauses:?}");
    assert!(pauses[9] >= Duration::from_secs(5) && pauses[9] <= Duration::from_secs(6), "{pauses:?}");
    host.tell(Event::StoreWorks);
    assert_eq!(host.engine.poll_commit_time(), None);
    fails(&mut host);
    let first = host.engine.poll_commit_time().unwrap().since(host.now.mono);
    assert!(first <= Duration::from_millis(120), "its own sequence again: {first:?}");
}

#[test]
fn nothing_is_begun_until_it_works_again() {
    let mut host = Host::connected();
    host.submit(1);
    fails(&mut host);
    host.forget_deeds();
    host.answer(image_is_there());
    host.does(&[]);
    assert_eq!(host.container(1).wait.unwrap().reason, WaitReason::Store { text: "disk full".into() });
    host.tell(Event::StoreWorks);
    host.does(&["create image1:1"]);
}

#[test]
fn what_it_said_is_shown_once() {
    let mut host = Host::connected();
    host.submit(1);
    let _ = (host.engine.take_views(host.now), host.engine.take_host_view());
    fails(&mut host);
    assert_eq!(host.engine.take_host_view().unwrap().store_failing.as_deref(), Some("disk full"));
    assert_eq!(host.engine.take_views(host.now).len(), 1);
    fails(&mut host);
    assert_eq!((host.engine.take_host_view(), host.engine.take_views(host.now).len()), (None, 0));
    host.tell(Event::StoreFailed("read-only file system".into()));
    assert!(host.engine.take_host_view().is_some());
    host.tell(Event::StoreWorks);
    assert_eq!(host.engine.take_host_view().unwrap().store_failing, None);
    assert_eq!(host.engine.take_views(host.now).len(), 1, "nothing waits for the store any more");
}

#[test]
fn a_store_that_works_again_does_not_drive_tasks_before_the_stream_stands() {
    let mut host = Host::new();
    host.submit(1);
    fails(&mut host);
    host.tell(Event::StoreWorks);
    host.does(&["version"]);
    host.answer(version());
    host.open();
    assert_eq!(kinds(&host), [RequestKind::List, RequestKind::InspectImage]);
}

#[test]
fn records_that_could_not_be_written_stay_to_be_written() {
    let mut host = Host::connected();
    host.submit(1);
    let dirty = host.engine.take_dirty();
    assert!(!host.engine.is_dirty() && !dirty.is_empty());
    host.engine.give_back_dirty(dirty.clone());
    assert_eq!(host.engine.take_dirty(), dirty);
}
