//! Which task an event is for, and what comes out of it.

use std::time::Duration;

use lighterman_calls::{Answer, EventAction, Outcome, Phase, Refusal, RefusalClass};
use lighterman_engine::{Event, HostSettings, RecordKey};
use lighterman_status::ContainerStatus;
use lighterman_taskdef::TaskDefinition;

use crate::host::{Host, created, facts, image_is_there, no_image, shows, spec, task_id};

fn at_once() -> HostSettings {
    let mut settings = HostSettings::REFERENCE;
    settings.task.cleanup_wait = Duration::ZERO;
    settings
}

#[test]
fn two_tasks_go_their_own_ways() {
    let mut host = Host::connected();
    host.run(1);
    host.submit(2);
    host.answer(image_is_there());
    host.forget_deeds();
    host.event(1, EventAction::Die { exit_code: Some(9) });
    host.does(&["inspect 1"]);
    host.answer(created(2));
    host.does(&["start 2"]);
    host.answer(shows(facts(1, Phase::Exited { code: Some(9) })));
    assert_eq!(host.container(1).exit_code, Some(9));
    assert_eq!(host.container(2).known, ContainerStatus::Created);
    assert_eq!(host.view(2).reason, None);
}

#[test]
fn events_of_containers_that_nobody_has_are_dropped() {
    let mut host = Host::connected();
    host.run(1);
    host.forget_deeds();
    host.event(5, EventAction::Die { exit_code: Some(1) });
    host.does(&[]);
}

#[test]
fn a_task_that_is_known_is_left_as_it_is() {
    let mut host = Host::connected();
    host.run(1);
    let _ = host.engine.take_dirty();
    let mut again = spec(1);
    again.seed = 999;
    host.forget_deeds();
    host.tell(Event::Submit(Box::new(again)));
    host.does(&[]);
    assert!(!host.engine.is_dirty());
    assert_eq!(host.engine.take_views(host.now).len(), 1, "who submitted it is shown how it stands");
    assert_eq!(host.engine.tasks().next().unwrap().spec().seed, 1);
}

#[test]
fn a_task_without_containers_is_refused() {
    let mut host = Host::connected();
    let mut empty = spec(1);
    empty.definition = TaskDefinition::new(empty.definition.family.clone(), vec![]).into();
    host.tell(Event::Submit(Box::new(empty)));
    let (_, error) = host.engine.poll_refusal().unwrap();
    assert_eq!(error.to_string(), "task has no containers");
    assert!(host.engine.tasks().next().is_none());
    assert!(!host.engine.take_dirty().contains(&RecordKey::Task(task_id(1))));
}

#[test]
fn a_stop_for_a_task_that_nobody_has_is_ignored() {
    let mut host = Host::connected();
    host.stop(8);
    host.does(&[]);
}

#[test]
fn a_removed_task_takes_its_records_with_it_and_is_shown_once_more() {
    let mut host = Host::connected_with(at_once());
    host.run(1);
    host.stop(1);
    host.answer(Answer::Stop(Outcome::Done(())));
    host.answer(shows(facts(1, Phase::Exited { code: Some(0) })));
    let _ = (host.engine.take_dirty(), host.engine.take_views(host.now));
    host.answer(Answer::Remove(Outcome::Done(())));
    let dirty = host.engine.take_dirty();
    let keys = [RecordKey::Definition(task_id(1)), RecordKey::Task(task_id(1)), RecordKey::Container(task_id(1), 0)];
    assert!(keys.iter().all(|key| dirty.contains(key) && host.engine.record(key).is_none()), "{dirty:?}");
    let views = host.engine.take_views(host.now);
    assert_eq!((views.len(), views[0].removed, views[0].containers[0].exit_code), (1, true, Some(0)));
    // What still comes for it is dropped.
    host.event(1, EventAction::Destroy);
    host.event(1, EventAction::Start);
    assert!(host.engine.is_quiet());
    let left = format!("{:?}", host.engine);
    assert!(!left.contains(crate::host::container_id(1).as_str()), "nothing of it is kept: {left}");
}

#[test]
fn the_views_of_a_removed_task_stay_in_order_when_they_are_given_back() {
    let mut host = Host::connected_with(at_once());
    host.run(1);
    host.stop(1);
    host.answer(Answer::Stop(Outcome::Done(())));
    host.answer(shows(facts(1, Phase::Exited { code: Some(0) })));
    let held = host.engine.take_views(host.now);
    host.answer(Answer::Remove(Outcome::Done(())));
    host.engine.give_back_views(held);
    let shown: Vec<bool> = host.engine.take_views(host.now).iter().map(|view| view.removed).collect();
    assert_eq!(shown, [false, true]);
}

#[test]
fn an_image_is_remembered_once_a_pull_of_it_succeeded() {
    let mut host = Host::connected();
    host.submit(1);
    host.answer(no_image());
    let _ = host.engine.take_dirty();
    host.answer(Answer::Pull(Outcome::Done(())));
    let key = RecordKey::Image(spec(1).definition.containers[0].image.clone());
    assert!(host.engine.take_dirty().contains(&key));
    assert!(matches!(host.engine.record(&key), Some(lighterman_engine::Record::Image(state)) if state.pull_succeeded));
}

#[test]
fn a_task_wakes_when_its_pause_is_over() {
    let mut host = Host::connected();
    host.submit(1);
    host.submit(2);
    host.answer(Answer::InspectImage(Outcome::Unknown(crate::host::cut_off())));
    host.pass(Duration::from_millis(300));
    host.answer(Answer::InspectImage(Outcome::Unknown(crate::host::cut_off())));
    host.forget_deeds();
    assert!(host.until_due() >= Duration::from_millis(700));
    host.does(&["inspect-image image1:1"]);
    assert!(host.until_due() <= Duration::from_millis(600));
    host.does(&["inspect-image image2:1"]);
}

#[test]
fn how_many_tasks_are_unfinished_is_told() {
    let mut host = Host::connected_with(at_once());
    assert_eq!(host.host_view().unfinished, 0);
    host.run(1);
    host.run(2);
    assert_eq!(host.host_view().unfinished, 2);
    host.stop(1);
    host.answer(Answer::Stop(Outcome::Done(())));
    host.answer(shows(facts(1, Phase::Exited { code: Some(0) })));
    assert_eq!(host.host_view().unfinished, 2, "its container is still there");
    host.answer(Answer::Remove(Outcome::Done(())));
    assert_eq!(host.host_view().unfinished, 1);
}

#[test]
fn the_end_of_output_looks_at_the_container_of_its_task_only() {
    let mut host = Host::connected();
    host.run(1);
    host.run(2);
    host.forget_deeds();
    let container = host.container(2).name;
    host.tell(Event::OutputEnded { task: task_id(2), container: container.clone() });
    host.does(&["inspect 2"]);
    host.tell(Event::OutputEnded { task: task_id(3), container });
    host.does(&[]);
}

#[test]
fn a_task_that_is_kept_is_not_waited_for() {
    let mut host = Host::connected_with(at_once());
    host.run(1);
    host.stop(1);
    host.answer(Answer::Stop(Outcome::Done(())));
    host.answer(shows(facts(1, Phase::Exited { code: Some(0) })));
    assert_eq!(host.host_view().unfinished, 1);
    host.pass(Duration::from_secs(60));
    let busy = Refusal::new(RefusalClass::PeerFault, "device or resource busy");
    host.answer(Answer::Remove(Outcome::Refused(busy)));
    assert_eq!(host.host_view().unfinished, 0);
    assert!(host.view(1).is_kept());
    host.until_due();
    host.answer(Answer::Remove(Outcome::Done(())));
    assert_eq!(host.engine.tasks().count(), 0);
}
