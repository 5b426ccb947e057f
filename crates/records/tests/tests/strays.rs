//! Records that do not fit together although nothing is damaged.

use lighterman_engine::{Record, RecordKey};
use lighterman_ids::TaskId;
use lighterman_records::{Ledger, OpenError};

use crate::samples::{Store, commit, container, definition, full, task, task_id};

#[test]
fn e144_a_container_without_its_task_is_named_and_the_others_load() {
    let (mut store, mut ledger) = full();
    let lost = TaskId::from_bits(0xdead);
    let stray = RecordKey::Container(lost, 4);
    commit(&mut store, &mut ledger, [(stray.clone(), Some(Record::Container(container())))]);
    let (_, saved) = Ledger::open(store.entries(), Some(2)).unwrap();
    assert_eq!(saved.strays.iter().collect::<Vec<_>>(), [&stray]);
    assert_eq!((saved.tasks.len(), saved.tasks[0].containers.len()), (1, 1));

    // Once deleted it is gone.
    commit(&mut store, &mut ledger, saved.strays.iter().map(|key| (key.clone(), None)));
    assert!(Ledger::open(store.entries(), Some(3)).unwrap().1.strays.is_empty());
}

#[test]
fn a_definition_without_its_task_is_a_stray_too() {
    let (mut store, mut ledger) = (Store::default(), Ledger::new());
    let key = RecordKey::Definition(task_id());
    commit(&mut store, &mut ledger, [(key.clone(), Some(Record::Definition(definition().into())))]);
    let (_, saved) = Ledger::open(store.entries(), Some(1)).unwrap();
    assert_eq!(saved.strays.into_iter().collect::<Vec<_>>(), [key]);
}

#[test]
fn a_task_without_its_definition_is_refused() {
    let (mut store, mut ledger) = (Store::default(), Ledger::new());
    commit(&mut store, &mut ledger, [(RecordKey::Task(task_id()), Some(Record::Task(task())))]);
    let error = Ledger::open(store.entries(), Some(1)).unwrap_err();
    assert_eq!(error, OpenError::Damaged(format!("task {} has no definition", task_id())));
}

#[test]
fn a_record_under_the_key_of_another_kind_or_task_is_refused() {
    let other = TaskId::from_bits(9);
    for (key, record) in [
        (RecordKey::Host, Record::Task(task())),
        (RecordKey::Task(other.clone()), Record::Task(task())),
        (RecordKey::Task(task_id()), Record::Container(container())),
        (RecordKey::Definition(other), Record::Host(crate::samples::host())),
        (RecordKey::Image("other:1".parse_image()), Record::Image(crate::samples::image())),
    ] {
        let (mut store, mut ledger) = (Store::default(), Ledger::new());
        commit(&mut store, &mut ledger, [(key, Some(record))]);
        let error = Ledger::open(store.entries(), Some(1)).unwrap_err().to_string();
        assert!(error.ends_with("its key and its kind do not fit"), "{error}");
    }
}

trait ParseImage {
    fn parse_image(&self) -> lighterman_ids::ImageRef;
}

impl ParseImage for str {
    fn parse_image(&self) -> lighterman_ids::ImageRef {
        lighterman_ids::ImageRef::parse(self).unwrap()
    }
}
