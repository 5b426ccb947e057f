//! Golden files: what a version wrote, every later one reads.
//!
//! **An old golden file is never edited.** A format that changes gets a schema of its own, a directory of
//! its own beside `v1`, and a conversion; these files stay as they are. A missing file is written by
//! `LIGHTERMAN_WRITE_GOLDEN=1`; one that is there is never overwritten.

use std::{collections::BTreeMap, fmt::Write as _, fs, path::PathBuf};

use lighterman_engine::{Record, RecordKey};
use lighterman_records::Ledger;

use crate::samples::{Entries, container, full, records, task};

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden/v1").join(format!("{name}.hex"))
}

/// Key and value of one entry: the key as text, then the value as hex, 32 bytes per line.
fn to_text(key: &[u8], value: &[u8]) -> String {
    let mut text = format!("{}\n", String::from_utf8(key.to_vec()).unwrap());
    for line in value.chunks(32) {
        line.iter().for_each(|byte| write!(text, "{byte:02x}").unwrap());
        text.push('\n');
    }
    text
}

fn from_text(text: &str) -> (Vec<u8>, Vec<u8>) {
    let (key, hex) = text.split_once('\n').unwrap();
    let digits: Vec<u8> = hex.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    (key.as_bytes().to_vec(), digits.chunks(2).map(byte).collect())
}

/// The file's name is the kind of its record.
fn name_of(key: &[u8]) -> &str {
    let text = std::str::from_utf8(key).unwrap();
    text.split('/').next().unwrap().trim_start_matches('!')
}

fn golden(name: &str, fresh: impl FnOnce() -> String) -> String {
    let path = path(name);
    if !path.exists() && std::env::var_os("LIGHTERMAN_WRITE_GOLDEN").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, fresh()).unwrap();
    }
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The store of one commit, record by record, as schema 1 wrote it.
fn golden_store() -> Entries {
    let written = full().0;
    written.0.iter().map(|(key, value)| from_text(&golden(name_of(key), || to_text(key, value)))).collect()
}

#[test]
fn schema_1_is_read() {
    let (ledger, saved) = Ledger::open(golden_store(), Some(1)).unwrap();
    assert_eq!((ledger.generation(), ledger.len()), (1, 5));
    let mut found: BTreeMap<RecordKey, Record> = BTreeMap::new();
    found.insert(RecordKey::Host, Record::Host(saved.host.unwrap()));
    for task in saved.tasks {
        let id = task.state.id.clone();
        found.insert(RecordKey::Definition(id.clone()), Record::Definition(task.definition));
        found.insert(RecordKey::Task(id.clone()), Record::Task(task.state));
        let containers = task.containers.into_iter().enumerate();
        found.extend(
            containers.map(|(place, state)| (RecordKey::Container(id.clone(), place), Record::Container(state))),
        );
    }
    found.extend(saved.images.into_iter().map(|(image, state)| (RecordKey::Image(image), Record::Image(state))));
    assert_eq!(found, records().into_iter().collect());
}

#[test]
fn schema_1_is_written_byte_by_byte_as_ever() {
    for ((key, value), golden) in full().0.entries().into_iter().zip(golden_store()) {
        assert_eq!(to_text(&key, &value), to_text(&golden.0, &golden.1), "{}", name_of(&key));
    }
}

/// A record in which everything optional is absent: fields that came later must have defaults.
#[test]
fn the_sparest_records_of_schema_1_are_read() {
    let spare = || {
        let mut container = container();
        container.runtime_name = None;
        container.runtime_id = None;
        container.create_sent = None;
        container.create_doubt = None;
        (container.renamed, container.restopped, container.removed) = (false, false, false);
        (container.exit_code, container.error) = (None, None);
        (container.started_at, container.finished_at, container.run) = (None, None, None);
        let mut task = task();
        (task.reason, task.execution_stopped_at) = (None, None);
        (container, task)
    };
    let id = crate::samples::task_id();
    let (container, task) = spare();
    let ledger = Ledger::new();
    let prepared = ledger.prepare([
        (RecordKey::Container(id.clone(), 0), Some(Record::Container(container.clone()))),
        (RecordKey::Definition(id.clone()), Some(Record::Definition(crate::samples::definition().into()))),
        (RecordKey::Task(id), Some(Record::Task(task.clone()))),
    ]);
    let mut entries = Entries::new();
    for (key, value) in prepared.writes {
        let value = value.unwrap();
        let name = format!("spare-{}", name_of(&key));
        let stored = from_text(&golden(&name, || to_text(&key, &value)));
        assert_eq!(stored, (key, value), "{name}");
        entries.push(stored);
    }
    let (_, saved) = Ledger::open(entries, Some(1)).unwrap();
    assert_eq!((&saved.tasks[0].state, &saved.tasks[0].containers[0]), (&task, &container));
}
