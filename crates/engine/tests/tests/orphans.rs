//! Containers that carry our label and have no record.

use std::{sync::Arc, time::Duration};

use lighterman_calls::{Answer, Outcome, Phase, labels};
use lighterman_engine::{HostSettings, Record, RecordKey};
use lighterman_ids::InstanceId;
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
