//! Values that are cut into parts.

use lighterman_engine::{Record, RecordKey};
use lighterman_records::{Ledger, OpenError, export};
use proptest::prelude::*;

use crate::samples::{Store, commit, definition, task, task_id};

/// Above this a value is cut.
const LONGEST: usize = 48 * 1024;

/// A store whose task has a reason of so many bytes.
fn with_reason(bytes: usize) -> (Store, Ledger) {
    let (mut store, mut ledger) = (Store::default(), Ledger::new());
    commit(
        &mut store,
        &mut ledger,
        [(RecordKey::Definition(task_id()), Some(Record::Definition(definition().into())))],
    );
    set_reason(&mut store, &mut ledger, bytes);
    (store, ledger)
}

fn reason_record(bytes: usize) -> (RecordKey, Option<Record>) {
    let mut state = task();
    state.reason = Some("x".repeat(bytes));
    (RecordKey::Task(task_id()), Some(Record::Task(state)))
}

fn set_reason(store: &mut Store, ledger: &mut Ledger, bytes: usize) {
    commit(store, ledger, [reason_record(bytes)]);
}

fn task_key() -> Vec<u8> {
    format!("task/{}", task_id()).into_bytes()
}

fn parts(store: &Store) -> usize {
    store.0.keys().filter(|key| key.starts_with(&task_key())).count()
}

#[track_caller]
fn assert_reason(store: &Store, ledger: &Ledger, bytes: usize) {
    let (reopened, saved) = Ledger::open(store.entries(), Some(ledger.generation())).unwrap();
    assert_eq!(reopened, *ledger);
    assert_eq!(saved.tasks[0].state.reason.as_ref().unwrap().len(), bytes);
}

/// Bytes of the task's entry with an empty reason.
fn base() -> usize {
    with_reason(0).0.0[&task_key()].len()
}

#[test]
fn values_are_cut_just_above_48_kib() {
    for (length, expected) in [(LONGEST - 1, 1), (LONGEST, 1), (LONGEST + 1, 2), (2 * LONGEST, 2), (2 * LONGEST + 1, 3)]
    {
        let (store, ledger) = with_reason(length - base());
        assert_eq!(parts(&store), expected, "{length} bytes");
        assert_reason(&store, &ledger, length - base());
    }
}

#[test]
fn no_entry_is_longer_than_a_store_takes() {
    let (store, ledger) = with_reason(200 * 1024);
    assert_eq!(parts(&store), 5);
    for (key, value) in &store.0 {
        assert!(key.len() <= 512 && value.len() <= 64 * 1024, "{} of {}", value.len(), String::from_utf8_lossy(key));
    }
    assert_reason(&store, &ledger, 200 * 1024);
}

#[test]
fn a_value_may_grow_and_shrink() {
    let (mut store, mut ledger) = with_reason(10);
    for (bytes, expected) in [(200 * 1024, 5), (100 * 1024, 3), (300 * 1024, 7), (10, 1), (60 * 1024, 2), (0, 1)] {
        set_reason(&mut store, &mut ledger, bytes);
        assert_eq!(parts(&store), expected);
        assert_reason(&store, &ledger, bytes);
    }
    commit(&mut store, &mut ledger, [(RecordKey::Task(task_id()), None)]);
    assert_eq!(parts(&store), 0);
}

#[test]
fn a_long_value_is_deleted_whole() {
    let (mut store, mut ledger) = with_reason(200 * 1024);
    commit(&mut store, &mut ledger, [(RecordKey::Task(task_id()), None), (RecordKey::Definition(task_id()), None)]);
    assert_eq!(store.0.len(), 1, "the head");
    assert!(ledger.is_empty());
    Ledger::open(store.entries(), Some(ledger.generation())).unwrap();
}

#[test]
fn a_missing_part_is_found() {
    let (store, _) = with_reason(200 * 1024);
    for key in store.0.keys().filter(|key| key.starts_with(&task_key())) {
        let mut damaged = store.clone();
        damaged.0.remove(key);
        let error = Ledger::open(damaged.entries(), None).unwrap_err();
        assert!(matches!(error, OpenError::Damaged(_)), "{error}");
    }
}

#[test]
fn swapped_and_repeated_parts_are_found() {
    let (store, _) = with_reason(200 * 1024);
    let keys: Vec<_> = store.0.keys().filter(|key| key.starts_with(&task_key())).cloned().collect();
    for one in &keys {
        for two in keys.iter().filter(|two| *two != one) {
            let mut swapped = store.clone();
            swapped.0.insert(one.clone(), store.0[two].clone());
            assert!(Ledger::open(swapped.entries(), None).is_err(), "a part stands twice");
            swapped.0.insert(two.clone(), store.0[one].clone());
            assert!(Ledger::open(swapped.entries(), None).is_err(), "two parts are swapped");
        }
    }
}

#[test]
fn a_part_of_an_older_value_is_found() {
    let (mut store, mut ledger) = with_reason(200 * 1024);
    let before = store.clone();
    set_reason(&mut store, &mut ledger, 200 * 1024 + 1);
    for (key, old) in before.0.iter().filter(|(key, _)| key.starts_with(&task_key())) {
        let mut damaged = store.clone();
        if damaged.0.insert(key.clone(), old.clone()) != Some(old.clone()) {
            assert!(Ledger::open(damaged.entries(), None).is_err());
        }
    }
}

#[test]
fn a_damaged_long_value_is_one_damaged_record_of_an_export() {
    let (mut store, _) = with_reason(200 * 1024);
    let last = store.0.keys().rfind(|key| key.starts_with(&task_key())).unwrap().clone();
    store.0.get_mut(&last).unwrap()[100] ^= 1;
    let exported = export(store.entries());
    assert_eq!(exported.len(), 3);
    assert_eq!(exported.iter().filter(|record| record.content.is_err()).count(), 1);
}

/// A commit that failed may be in the store all the same.
#[test]
fn parts_of_a_value_whose_commit_failed_do_not_stay_behind() {
    for there_before in [true, false] {
        for then in [Some(10), Some(60 * 1024), None] {
            let (mut store, mut ledger) = (Store::default(), Ledger::new());
            commit(
                &mut store,
                &mut ledger,
                [(RecordKey::Definition(task_id()), Some(Record::Definition(definition().into())))],
            );
            if there_before {
                set_reason(&mut store, &mut ledger, 10);
            }
            let failed = ledger.prepare([reason_record(200 * 1024)]);
            store.apply(&failed.writes);
            ledger.failed(failed.change);
            match then {
                Some(bytes) => {
                    set_reason(&mut store, &mut ledger, bytes);
                    assert_reason(&store, &ledger, bytes);
                }
                None => {
                    commit(&mut store, &mut ledger, [(RecordKey::Task(task_id()), None)]);
                    assert_eq!(parts(&store), 0);
                    Ledger::open(store.entries(), Some(ledger.generation())).unwrap();
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn bit_flips_in_long_values_are_found(at in any::<prop::sample::Index>(), bit in 0..8_u32, in_header in any::<bool>()) {
        let (mut store, _) = with_reason(120 * 1024);
        let keys: Vec<_> = store.0.keys().filter(|key| key.starts_with(&task_key())).cloned().collect();
        let value = store.0.get_mut(at.get(&keys)).unwrap();
        let length = if in_header { 44 } else { value.len() };
        value[at.index(length)] ^= 1 << bit;
        prop_assert!(Ledger::open(store.entries(), None).is_err());
    }
}
