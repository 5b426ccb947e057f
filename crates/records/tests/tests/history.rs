//! Random commits, some of which fail: the store always tells the state of a commit.

use std::collections::{BTreeMap, BTreeSet};

use lighterman_engine::{HostState, Record, RecordKey};
use lighterman_ids::{ImageRef, InstanceId, TaskId};
use lighterman_records::Ledger;
use proptest::{collection::vec, prelude::*};

use crate::samples::{Store, container, definition, image, task};

#[derive(Clone, Debug)]
enum Change {
    Host(u64),
    /// A task with a reason of so many bytes, or none.
    Task(u8, Option<usize>),
    Container(u8, usize, Option<i32>),
    Image(u8, bool),
}

#[derive(Clone, Copy, Debug)]
enum End {
    Works,
    /// The store says that it failed; it is there all the same, or it is not.
    Fails {
        there: bool,
    },
    /// The same, and the agent is started again.
    Dies {
        there: bool,
    },
}

fn change() -> impl Strategy<Value = Change> {
    let size = prop_oneof![4 => 0..200_usize, 1 => 48_000..50_000_usize, 1 => 0..160_000_usize];
    prop_oneof![
        any::<u64>().prop_map(Change::Host),
        (0..3_u8, prop::option::weighted(0.8, size)).prop_map(|(task, reason)| Change::Task(task, reason)),
        (0..3_u8, 0..2_usize, prop::option::of(any::<i32>())).prop_map(|(t, c, code)| Change::Container(t, c, code)),
        (0..3_u8, any::<bool>()).prop_map(|(image, there)| Change::Image(image, there)),
    ]
}

fn end() -> impl Strategy<Value = End> {
    prop_oneof![
        3 => Just(End::Works),
        1 => any::<bool>().prop_map(|there| End::Fails { there }),
        1 => any::<bool>().prop_map(|there| End::Dies { there }),
    ]
}

/// The record and its key; a task comes with its definition.
fn records(change: &Change) -> Vec<(RecordKey, Option<Record>)> {
    let id = |n: u8| TaskId::from_bits(u128::from(n));
    match change {
        Change::Host(incarnation) => {
            let state = HostState { instance: InstanceId::from_bits(1), incarnation: *incarnation };
            vec![(RecordKey::Host, Some(Record::Host(state)))]
        }
        Change::Task(n, reason) => {
            let state = reason.map(|bytes| {
                let mut state = task();
                (state.id, state.arn, state.reason) = (id(*n), id(*n).local_arn(None), Some("r".repeat(bytes)));
                Record::Task(state)
            });
            let definition = state.is_some().then(|| Record::Definition(definition().into()));
            vec![(RecordKey::Task(id(*n)), state), (RecordKey::Definition(id(*n)), definition)]
        }
        Change::Container(n, place, code) => {
            let record = code.map(|code| {
                let mut state = container();
                state.exit_code = Some(code);
                Record::Container(state)
            });
            vec![(RecordKey::Container(id(*n), *place), record)]
        }
        Change::Image(n, there) => {
            let mut state = image();
            state.image = ImageRef::parse(&format!("image{n}:1")).unwrap();
            vec![(RecordKey::Image(state.image.clone()), there.then_some(Record::Image(state)))]
        }
    }
}

type Model = BTreeMap<RecordKey, Record>;

fn opened(store: &Store, witness: u64) -> (Ledger, Model) {
    let (ledger, saved) = Ledger::open(store.entries(), Some(witness)).unwrap();
    let mut model = Model::new();
    model.extend(saved.host.map(|state| (RecordKey::Host, Record::Host(state))));
    for task in saved.tasks {
        model.insert(RecordKey::Definition(task.state.id.clone()), Record::Definition(task.definition));
        model.insert(RecordKey::Task(task.state.id.clone()), Record::Task(task.state));
    }
    model.extend(saved.images.into_iter().map(|(image, state)| (RecordKey::Image(image), Record::Image(state))));
    (ledger, model)
}

/// Containers are compared by their number: their records may be strays, and then only their keys are told.
fn without_containers(model: &Model) -> Model {
    let is_container = |key: &RecordKey| matches!(key, RecordKey::Container(..));
    model.iter().filter(|(key, _)| !is_container(key)).map(|(key, record)| (key.clone(), record.clone())).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn a_store_tells_the_state_of_its_last_commit(turns in vec((vec(change(), 0..4), end()), 1..25)) {
        let (mut store, mut ledger) = (Store::default(), Ledger::new());
        // What is wanted, and what is still to be written.
        let mut wanted = Model::new();
        let mut dirty = BTreeSet::new();
        let mut durable = Model::new();
        let mut witness = 0;
        for (changes, end) in &turns {
            for (key, record) in changes.iter().flat_map(records) {
                match record {
                    Some(record) => wanted.insert(key.clone(), record),
                    None => wanted.remove(&key),
                };
                dirty.insert(key);
            }
            let prepared = ledger.prepare(dirty.iter().map(|key| (key.clone(), wanted.get(key).cloned())));
            match end {
                End::Works => {
                    store.apply(&prepared.writes);
                    ledger.committed(prepared.change);
                    dirty.clear();
                    durable = wanted.clone();
                    witness = ledger.generation();
                    let (reopened, found) = opened(&store, witness);
                    prop_assert_eq!(&reopened, &ledger);
                    prop_assert_eq!(found, without_containers(&durable));
                    prop_assert_eq!(reopened.len(), durable.len());
                }
                End::Fails { there } => {
                    if *there {
                        store.apply(&prepared.writes);
                        durable = wanted.clone();
                    }
                    ledger.failed(prepared.change);
                }
                End::Dies { there } => {
                    if *there {
                        store.apply(&prepared.writes);
                        durable = wanted.clone();
                    }
                    let (reopened, found) = opened(&store, witness);
                    prop_assert_eq!(found, without_containers(&durable));
                    ledger = reopened;
                    wanted = durable.clone();
                    dirty.clear();
                }
            }
        }
    }
}
