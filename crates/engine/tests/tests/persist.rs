//! Records, and taking them up again.

use std::collections::{BTreeMap, BTreeSet};

use lighterman_calls::{Answer, Outcome, Phase};
use lighterman_engine::{Engine, HostSettings, HostState, Record, RecordKey, SavedState, SavedTask, TakeUpError};
use lighterman_ids::{ContainerName, InstanceId, Moment};
use lighterman_status::ContainerStatus;

use crate::host::{Host, facts, instance, no_image, shows, task_id, version};

/// Everything that the records of this host hold now.
pub(crate) fn saved(engine: &Engine) -> SavedState {
    let mut saved = SavedState::default();
    if let Some(Record::Host(host)) = engine.record(&RecordKey::Host) {
        saved.host = Some(host);
    }
    for task in engine.tasks() {
        let id = task.id().clone();
        let Some(Record::Task(state)) = engine.record(&RecordKey::Task(id.clone())) else { panic!() };
        let Some(Record::Definition(definition)) = engine.record(&RecordKey::Definition(id.clone())) else { panic!() };
        let containers =
            (0..task.container_count()).map(|place| match engine.record(&RecordKey::Container(id.clone(), place)) {
                Some(Record::Container(state)) => state,
                other => panic!("{other:?}"),
            });
        saved.tasks.push(SavedTask { state, definition, containers: containers.collect() });
    }
    saved
}

fn take_up(saved: SavedState) -> Result<Engine, TakeUpError> {
    Engine::take_up(HostSettings::REFERENCE, instance(), saved, 1, Moment::default())
}

#[test]
fn every_start_is_a_new_incarnation_and_is_written_first() {
    let mut engine = take_up(SavedState::default()).unwrap();
    for incarnation in 1..5 {
        assert_eq!(engine.take_dirty(), BTreeSet::from([RecordKey::Host]));
        let Some(Record::Host(host)) = engine.record(&RecordKey::Host) else { panic!() };
        assert_eq!(host, HostState { instance: instance(), incarnation });
        engine = take_up(saved(&engine)).unwrap();
    }
}

#[test]
fn ids_of_two_incarnations_never_meet() {
    let first = Host::new();
    let second = Host::on(HostSettings::REFERENCE, saved(&first.engine));
    assert_eq!(first.out[0].0.counter, second.out[0].0.counter);
    assert_ne!(first.out[0].0, second.out[0].0);
}

#[test]
fn the_state_of_another_instance_is_refused() {
    let other = InstanceId::from_bits(8);
    let state =
        SavedState { host: Some(HostState { instance: other.clone(), incarnation: 4 }), ..SavedState::default() };
    assert_eq!(take_up(state).unwrap_err(), TakeUpError::OtherInstance { found: other, expected: instance() });
}

#[test]
fn records_that_do_not_fit_together_are_refused_by_name() {
    let mut host = Host::connected();
    host.run(1);
    let mut state = saved(&host.engine);
    state.tasks[0].containers[0].name = ContainerName::parse("db").unwrap();
    let error = take_up(state).unwrap_err();
    assert_eq!(error.to_string(), format!("the records of task {} do not fit together", task_id(1)));
    let source = std::error::Error::source(&error).unwrap().to_string();
    assert_eq!(source, "there is a record of container db, which is not in the definition");
}

#[test]
fn e144_records_that_belong_to_no_task_are_deleted() {
    let stray = RecordKey::Container(task_id(9), 0);
    let state = SavedState { strays: BTreeSet::from([stray.clone()]), ..SavedState::default() };
    let mut engine = take_up(state).unwrap();
    assert_eq!(engine.take_dirty(), BTreeSet::from([RecordKey::Host, stray.clone()]));
    assert_eq!(engine.record(&stray), None, "it is to be deleted");
}

#[test]
fn a_host_taken_up_says_the_same_as_before() {
    let mut host = Host::connected();
    host.run(1);
    host.submit(2);
    host.answer(no_image());
    host.answer(Answer::Pull(Outcome::Done(())));
    let before = saved(&host.engine);
    let mut again = before.clone();
    again.images = BTreeMap::new();
    let engine = take_up(again.clone()).unwrap();
    assert_eq!(saved(&engine).tasks, before.tasks);
    assert_eq!(engine.tasks().count(), 2);
}

#[test]
fn b014_what_happened_while_nobody_watched_is_found_in_one_look() {
    let mut host = Host::connected();
    host.run(1);
    let mut host = Host::on(HostSettings::REFERENCE, saved(&host.engine));
    host.does(&["version"]);
    host.answer(version());
    host.does(&["watch"]);
    host.open();
    host.does(&["list", "inspect 1"]);
    host.answer(shows(facts(1, Phase::Exited { code: Some(9) })));
    assert_eq!((host.container(1).known, host.container(1).exit_code), (ContainerStatus::Stopped, Some(9)));
}

#[test]
fn after_a_restart_events_find_their_task() {
    let mut host = Host::connected();
    host.run(1);
    let mut host = Host::on(HostSettings::REFERENCE, saved(&host.engine));
    host.connect();
    host.list(&[1]);
    host.answer(shows(facts(1, Phase::Running)));
    host.forget_deeds();
    host.event(1, lighterman_calls::EventAction::Die { exit_code: Some(1) });
    host.does(&["inspect 1"]);
}

#[test]
fn a_record_is_what_it_is_now() {
    let mut host = Host::connected();
    host.submit(1);
    let keys = host.engine.take_dirty();
    assert_eq!(
        keys,
        BTreeSet::from([
            RecordKey::Host,
            RecordKey::Definition(task_id(1)),
            RecordKey::Task(task_id(1)),
            RecordKey::Container(task_id(1), 0),
        ])
    );
    host.answer(crate::host::image_is_there());
    let Some(Record::Container(state)) = host.engine.record(&RecordKey::Container(task_id(1), 0)) else { panic!() };
    assert!(state.create_sent.is_some(), "not what it was when the key was taken");
    assert_eq!(host.engine.record(&RecordKey::Container(task_id(1), 1)), None);
}
