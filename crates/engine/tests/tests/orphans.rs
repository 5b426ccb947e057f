//! Containers that carry our label and have no record.

use std::{sync::Arc, time::Duration};

use lighterman_calls::{Answer, Outcome, Phase, labels};
use lighterman_engine::{HostSettings, Record, RecordKey};
use lighterman_ids::{InstanceId, RuntimeName};
use lighterman_status::TaskStatus;

use crate::host::{Host, container_id, definition, digest, facts, shows, summary, task_id};

fn at_once() -> HostSettings {
    let mut settings = HostSettings::REFERENCE;
    settings.task.cleanup_wait = Duration::ZERO;
    settings
}

/// A host whose first list is out.
fn listing() -> Host {
    let mut host = Host::with(at_once());
    host.connect();
    host.forget_deeds();
    host
}

#[test]
fn a_container_without_a_record_is_stopped_and_removed() {
    let mut host = listing();
    host.list(&[1]);
    host.does(&["inspect 1"]);
    let view = host.view(1);
    assert_eq!((view.desired, view.reason.as_deref()), (TaskStatus::Stopped, Some("Recovered without its records")));
    let dirty = host.engine.take_dirty();
    for key in [RecordKey::Definition(task_id(1)), RecordKey::Task(task_id(1)), RecordKey::Container(task_id(1), 0)] {
        assert!(dirty.contains(&key), "{key:?}");
    }
    host.answer(shows(facts(1, Phase::Running)));
    host.answer(Answer::Stop(Outcome::Done(())));
    host.answer(shows(facts(1, Phase::Exited { code: Some(143) })));
    host.does(&["stop 1", "inspect 1", "remove 1"]);
    host.answer(Answer::Remove(Outcome::Done(())));
    assert_eq!(host.engine.tasks().count(), 0);
    let views = host.engine.take_views(host.now);
    assert_eq!((views[0].removed, views[0].containers[0].exit_code), (true, Some(143)));
}

#[test]
fn a_first_list_that_is_lost_is_asked_for_again_although_there_is_no_task() {
    let mut host = listing();
    host.answer(Answer::List(Outcome::Unknown(crate::host::cut_off())));
    host.until_due();
    host.does(&["list"]);
    host.list(&[1]);
    host.does(&["inspect 1"]);
}

#[test]
fn its_label_tells_how_to_stop_it() {
    let mut definition = definition(1);
    definition.containers[0].stop_timeout = Some(Duration::from_secs(90));
    let name = definition.containers[0].name.clone();
    let mut found = summary(1);
    found.labels.insert(labels::RECOVER.into(), lighterman_container_spec::recover::label(&definition, &name).text);
    let mut host = listing();
    host.answer(Answer::List(Outcome::Done(vec![found])));
    assert_eq!(host.container(1).stop_timeout, Duration::from_secs(90));
}

#[test]
fn with_its_definition_at_hand_it_is_adopted_and_goes_on() {
    let mut host = Host::with(at_once());
    host.engine.define(digest(), Arc::new(definition(1)));
    host.connect();
    host.list(&[1]);
    host.answer(shows(facts(1, Phase::Running)));
    host.forget_deeds();
    assert_eq!((host.view(1).known, host.view(1).desired), (TaskStatus::Running, TaskStatus::Running));
    host.event(1, lighterman_calls::EventAction::Die { exit_code: Some(2) });
    host.does(&["inspect 1"]);
}

#[test]
fn what_is_not_surely_ours_is_left_alone() {
    let other = InstanceId::from_bits(99).to_string();
    let broken: [(&str, Option<&str>); 6] = [
        (labels::INSTANCE, None),
        (labels::INSTANCE, Some(&other)),
        (labels::TASK, Some("../../etc")),
        (labels::CONTAINER, Some("")),
        (labels::DEFINITION, Some("sha256:0")),
        (labels::RECOVER, Some("v9.definition.AAAA")),
    ];
    for (key, value) in broken {
        let mut found = summary(1);
        match value {
            Some(value) => found.labels.insert(key.into(), value.into()),
            None => found.labels.remove(key),
        };
        let mut host = listing();
        host.answer(Answer::List(Outcome::Done(vec![found])));
        host.does(&[]);
        assert_eq!(host.engine.tasks().count(), 0, "{key} {value:?}");
    }
}

#[test]
fn a_container_of_a_known_task_is_no_orphan() {
    let mut host = Host::connected_with(at_once());
    host.run(1);
    host.tell(lighterman_engine::Event::EventsDropped);
    host.forget_deeds();
    host.list(&[1]);
    host.does(&[]);
    assert_eq!(host.engine.tasks().count(), 1);
}

#[test]
fn a_list_that_is_older_than_a_removal_brings_nothing_back() {
    let mut host = Host::connected_with(at_once());
    host.run(1);
    host.stop(1);
    host.answer(Answer::Stop(Outcome::Done(())));
    host.answer(shows(facts(1, Phase::Exited { code: Some(0) })));
    // The list leaves before the container is removed and arrives after the task was forgotten.
    host.tell(lighterman_engine::Event::EventsDropped);
    host.answer(Answer::Remove(Outcome::Done(())));
    assert_eq!(host.engine.tasks().count(), 0);
    host.list(&[1]);
    assert_eq!(host.engine.tasks().count(), 0);
    // The next one tells of now: what stands there is an orphan.
    host.tell(lighterman_engine::Event::EventsDropped);
    host.list(&[1]);
    assert_eq!(host.engine.tasks().count(), 1);
}

#[test]
fn containers_of_one_task_become_one_task() {
    let mut two = definition(1);
    let mut db = two.containers[0].clone();
    db.name = lighterman_ids::ContainerName::parse("db").unwrap();
    two.containers.push(db.clone());
    let label = |own| lighterman_container_spec::recover::label(&two, own).text;
    let mut web = summary(1);
    web.labels.insert(labels::RECOVER.into(), label(&two.containers[0].name));
    let mut other = summary(1);
    other.id = container_id(2);
    other.name = lighterman_container_spec::runtime_name(&two, &db.name, 2);
    other.labels.insert(labels::CONTAINER.into(), "db".into());
    other.labels.insert(labels::RECOVER.into(), label(&db.name));
    let mut host = listing();
    host.answer(Answer::List(Outcome::Done(vec![web, other])));
    host.does(&["inspect 1", "inspect 2"]);
    assert_eq!((host.engine.tasks().count(), host.view(1).containers.len()), (1, 2));
}

#[test]
fn a_recovered_task_has_records_like_any_other() {
    let mut host = listing();
    host.list(&[1]);
    let saved = crate::persist::saved(&host.engine);
    assert_eq!(saved.tasks.len(), 1);
    assert_eq!(saved.tasks[0].containers[0].runtime_id, Some(container_id(1)));
    assert!(matches!(host.engine.record(&RecordKey::Definition(task_id(1))), Some(Record::Definition(_))));
}

/// As `docker commit` and `docker run` of what it made, or `docker rename`.
fn copy_of(n: u32, id: u32) -> lighterman_calls::ContainerSummary {
    let mut copy = summary(n);
    copy.id = container_id(id);
    copy.name = RuntimeName::parse("somebodys-own").unwrap();
    copy
}

#[test]
fn our_labels_under_a_name_that_we_do_not_give_are_left_alone_and_told() {
    for at_hand in [false, true] {
        let mut host = Host::with(at_once());
        if at_hand {
            host.engine.define(digest(), Arc::new(definition(1)));
        }
        host.connect();
        host.forget_deeds();
        host.answer(Answer::List(Outcome::Done(vec![copy_of(1, 9)])));
        host.does(&[]);
        assert_eq!(host.engine.tasks().count(), 0);
        let left_alone = host.engine.take_host_view().unwrap().left_alone;
        assert_eq!((left_alone.len(), &left_alone[0].id), (1, &container_id(9)));
        assert!(left_alone[0].to_string().contains("somebodys-own"), "{}", left_alone[0]);
        // It is told once, and no more once it is gone.
        host.tell(lighterman_engine::Event::EventsDropped);
        host.answer(Answer::List(Outcome::Done(vec![copy_of(1, 9)])));
        assert_eq!(host.engine.take_host_view(), None);
        host.tell(lighterman_engine::Event::EventsDropped);
        host.list(&[]);
        assert_eq!(host.engine.take_host_view().unwrap().left_alone, []);
    }
}

#[test]
fn a_copy_beside_the_container_that_it_was_made_from_is_left_alone() {
    let mut host = Host::connected_with(at_once());
    host.run(1);
    host.tell(lighterman_engine::Event::EventsDropped);
    host.forget_deeds();
    host.answer(Answer::List(Outcome::Done(vec![summary(1), copy_of(1, 9)])));
    host.does(&[]);
    assert_eq!(host.host_view().left_alone.len(), 1);
    // Without records the one is ours, and the other is not.
    let mut host = listing();
    host.answer(Answer::List(Outcome::Done(vec![copy_of(1, 9), summary(1)])));
    host.does(&["inspect 1"]);
    assert_eq!(host.host_view().left_alone[0].id, container_id(9));
}

#[test]
fn a_renamed_container_of_a_known_task_stays_its_own() {
    let mut host = Host::connected_with(at_once());
    host.run(1);
    host.tell(lighterman_engine::Event::EventsDropped);
    host.answer(Answer::List(Outcome::Done(vec![copy_of(1, 1)])));
    assert_eq!(host.host_view().left_alone, []);
}

#[test]
fn an_orphan_beside_a_task_of_the_same_definition_is_stopped() {
    let mut host = Host::with(at_once());
    host.engine.define(digest(), Arc::new(definition(1)));
    host.connect();
    host.run(1);
    host.forget_deeds();
    host.list(&[1, 2]);
    host.does(&["inspect 2"]);
    assert_eq!((host.view(1).desired, host.view(2).desired), (TaskStatus::Running, TaskStatus::Stopped));
}

#[test]
fn of_two_orphans_of_the_definition_at_hand_the_one_that_runs_goes_on() {
    let mut host = Host::with(at_once());
    host.engine.define(digest(), Arc::new(definition(1)));
    host.connect();
    let mut ended = summary(1);
    ended.running = false;
    let mut runs = summary(2);
    runs.name = lighterman_container_spec::runtime_name(
        &definition(1),
        &lighterman_ids::ContainerName::parse("web").unwrap(),
        2,
    );
    host.answer(Answer::List(Outcome::Done(vec![ended, runs])));
    assert_eq!((host.view(1).desired, host.view(2).desired), (TaskStatus::Stopped, TaskStatus::Running));
}
