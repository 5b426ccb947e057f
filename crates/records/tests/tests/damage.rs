//! Whatever is missing, changed, old or too much is found.

use lighterman_engine::{HostState, Record, RecordKey};
use lighterman_records::{Ledger, OpenError, export};

use crate::samples::{Entries, Store, commit, full, host};

#[track_caller]
fn assert_damaged(entries: Entries, what: &str) {
    match Ledger::open(entries, Some(1)) {
        Err(OpenError::Damaged(_)) => {}
        other => panic!("{what}: {other:?}"),
    }
}

#[test]
fn every_bit_flip_in_every_value_is_found() {
    let entries = full().0.entries();
    let mut flips = 0;
    for at in 0..entries.len() {
        for bit in 0..entries[at].1.len() * 8 {
            let mut damaged = entries.clone();
            damaged[at].1[bit / 8] ^= 1 << (bit % 8);
            assert_damaged(damaged, &format!("bit {bit} of {}", String::from_utf8_lossy(&entries[at].0)));
            flips += 1;
        }
    }
    assert!(flips > 10_000, "{flips}");
}

#[test]
fn every_bit_flip_in_every_key_is_found() {
    let entries = full().0.entries();
    for at in 0..entries.len() {
        for bit in 0..entries[at].0.len() * 8 {
            let mut damaged = entries.clone();
            damaged[at].0[bit / 8] ^= 1 << (bit % 8);
            assert_damaged(damaged, &format!("bit {bit} of the key {}", String::from_utf8_lossy(&entries[at].0)));
        }
    }
}

#[test]
fn every_cut_tail_is_found() {
    let entries = full().0.entries();
    for at in 0..entries.len() {
        for length in 0..entries[at].1.len() {
            let mut damaged = entries.clone();
            damaged[at].1.truncate(length);
            assert_damaged(damaged, "a value was cut");
        }
        let mut damaged = entries.clone();
        damaged[at].1.push(0);
        assert_damaged(damaged, "a value grew");
    }
}

#[test]
fn every_missing_entry_is_found() {
    let entries = full().0.entries();
    for at in 0..entries.len() {
        let mut damaged = entries.clone();
        damaged.remove(at);
        assert_damaged(damaged, &String::from_utf8_lossy(&entries[at].0));
    }
    assert_damaged(vec![], "an empty store that is known to have held something");
}

#[test]
fn an_extra_entry_is_found() {
    let (store, ledger) = full();
    for (key, value) in [(&b"host2"[..], &b""[..]), (b"", b""), (b"zz", b"LMR1"), (b"task/0", &[0; 64])] {
        let mut entries = store.entries();
        entries.push((key.to_vec(), value.to_vec()));
        assert_damaged(entries, &String::from_utf8_lossy(key));
    }
    // One of ours that its commit deleted again.
    let extra = ledger.prepare([(RecordKey::Container(crate::samples::task_id(), 7), Some(a_container()))]);
    let mut entries = store.entries();
    let (key, value) = extra.writes[0].clone();
    entries.push((key, value.unwrap()));
    assert_damaged(entries, "a record of a commit that was never made");
}

fn a_container() -> Record {
    Record::Container(crate::samples::container())
}

#[test]
fn an_entry_under_another_key_is_found() {
    let entries = full().0.entries();
    for at in 0..entries.len() {
        for to in 0..entries.len() {
            if at != to {
                let mut damaged = entries.clone();
                damaged[to].1 = entries[at].1.clone();
                assert_damaged(damaged, "a value stands under another key");
            }
        }
    }
}

/// The same store one and two commits later, in which every record changed.
fn generations() -> [Store; 2] {
    let (mut store, mut ledger) = full();
    let before = store.clone();
    let changed = crate::samples::records().into_iter().map(|(key, record)| (key, Some(changed(record))));
    commit(&mut store, &mut ledger, changed);
    [before, store]
}

fn changed(record: Record) -> Record {
    match record {
        Record::Host(state) => Record::Host(HostState { incarnation: state.incarnation + 1, ..state }),
        Record::Definition(definition) => {
            let mut definition = (*definition).clone();
            definition.revision += 1;
            Record::Definition(definition.into())
        }
        Record::Task(mut state) => {
            state.reason = None;
            Record::Task(state)
        }
        Record::Container(mut state) => {
            state.exit_code = None;
            Record::Container(state)
        }
        Record::Image(mut state) => {
            state.pulled_at = crate::samples::at(99);
            Record::Image(state)
        }
    }
}

#[test]
fn every_stale_entry_is_found() {
    let [before, after] = generations();
    for (key, old) in &before.0 {
        assert_ne!(after.0[key], *old, "every record changed");
        let mut damaged = after.clone();
        damaged.0.insert(key.clone(), old.clone());
        assert_damaged(damaged.entries(), &String::from_utf8_lossy(key));
    }
}

#[test]
fn a_store_that_fell_back_as_a_whole_is_found_by_its_witness() {
    let [before, after] = generations();
    assert!(Ledger::open(before.entries(), Some(1)).is_ok());
    assert_eq!(
        Ledger::open(before.entries(), Some(2)).unwrap_err(),
        OpenError::Damaged("it ends with commit 1, and commit 2 was acknowledged".into())
    );
    // The witness may be behind: it is written after the commit.
    for witness in [None, Some(0), Some(1), Some(2)] {
        assert_eq!(Ledger::open(after.entries(), witness).unwrap().0.generation(), 2);
    }
}

#[test]
fn a_new_store_is_no_damaged_store() {
    for witness in [None, Some(0)] {
        let (ledger, saved) = Ledger::open(vec![], witness).unwrap();
        assert_eq!((ledger, saved), (Ledger::new(), lighterman_engine::SavedState::default()));
    }
}

#[test]
fn what_was_refused_is_named() {
    let mut entries = full().0.entries();
    let at = entries.iter().position(|(key, _)| key == b"host").unwrap();
    entries[at].1[40] ^= 1;
    let error = Ledger::open(entries.clone(), None).unwrap_err();
    assert_eq!(error.to_string(), "the state store is damaged: record \"host\": its checksum does not fit");
    entries[at].1.clear();
    let error = Ledger::open(entries.clone(), None).unwrap_err();
    assert_eq!(error.to_string(), "the state store is damaged: record \"host\": it is not a record of ours");
    entries.remove(at);
    let error = Ledger::open(entries, None).unwrap_err();
    assert_eq!(error.to_string(), "the state store is damaged: it holds 4 records and should hold 5");
}

#[test]
fn a_damaged_store_can_be_exported_and_says_which_record_is_damaged() {
    let mut entries = full().0.entries();
    for (key, value) in &mut entries {
        if key == b"host" {
            value[50] ^= 1;
        }
    }
    entries.retain(|(key, _)| key != b"!head");
    let exported = export(entries);
    assert_eq!(exported.len(), 5);
    for record in &exported {
        assert_eq!(record.content.is_err(), record.key == "host", "{}", record.key);
    }
    let task = exported.iter().find(|record| record.key.starts_with("task/")).unwrap();
    let (kind, generation, text) = task.content.as_ref().unwrap();
    assert_eq!((kind.as_str(), *generation), ("task", 1));
    assert!(text.contains("\"reason\":\"Essential container in task exited\""), "{text}");
}

#[test]
fn a_whole_store_exports_every_record_as_text() {
    let exported = export(full().0.entries());
    let keys: Vec<_> = exported.iter().map(|record| record.key.clone()).collect();
    let id = crate::samples::task_id();
    assert_eq!(
        keys,
        [
            "!head".to_string(),
            format!("container/{id}/0000"),
            format!("definition/{id}"),
            "host".into(),
            "image/registry.test:5000/web:1".into(),
            format!("task/{id}"),
        ]
    );
    assert!(exported.iter().all(|record| record.content.is_ok()));
}

#[test]
fn damage_in_one_commit_does_not_survive_the_next() {
    // The digest is kept up to date commit by commit; after many it still tells the truth.
    let (mut store, mut ledger) = full();
    for incarnation in 0..50 {
        let record = Record::Host(HostState { incarnation, ..host() });
        commit(&mut store, &mut ledger, [(RecordKey::Host, Some(record))]);
    }
    let (reopened, saved) = Ledger::open(store.entries(), Some(51)).unwrap();
    assert_eq!((reopened, saved.host.unwrap().incarnation), (ledger, 49));
}
