//! Records to work with, and a store that is a map.

use std::{collections::BTreeMap, sync::Arc};

use lighterman_engine::{HostState, ImageState, Record, RecordKey};
use lighterman_ids::{
    BootId, ContainerName, DefinitionDigest, Family, ImageRef, InstanceId, Moment, Mono, RuntimeId, RuntimeName,
    TaskId, Wall,
};
use lighterman_records::{Ledger, WriteOp};
use lighterman_status::{ContainerStatus, TaskStatus};
use lighterman_task_manager::{ContainerError, ContainerState, ErrorName, TaskState};
use lighterman_taskdef::{ContainerDefinition, TaskDefinition};

pub(crate) type Entries = Vec<(Vec<u8>, Vec<u8>)>;

pub(crate) fn task_id() -> TaskId {
    TaskId::from_bits(0x5eed)
}

pub(crate) const fn at(seconds: i64) -> Moment {
    let nanos = seconds.unsigned_abs() * 1_000_000_000;
    Moment { boot: BootId(0xb007), mono: Mono(nanos), wall: Wall(seconds * 1_000_000_000) }
}

pub(crate) fn host() -> HostState {
    HostState { instance: InstanceId::from_bits(0x1057), incarnation: 3 }
}

pub(crate) fn definition() -> TaskDefinition {
    let web = ContainerDefinition::new(ContainerName::parse("web").unwrap(), ImageRef::parse("web:1").unwrap());
    TaskDefinition::new(Family::parse("site").unwrap(), vec![web])
}

pub(crate) fn task() -> TaskState {
    TaskState {
        id: task_id(),
        arn: task_id().local_arn(None),
        digest: DefinitionDigest::parse(&format!("sha256:{}", "ab".repeat(32))).unwrap(),
        seed: u64::MAX,
        known: TaskStatus::Running,
        desired: TaskStatus::Stopped,
        reason: Some("Essential container in task exited".into()),
        accepted_at: at(10),
        known_at: at(20),
        execution_stopped_at: Some(at(30)),
    }
}

pub(crate) fn container() -> ContainerState {
    ContainerState {
        name: ContainerName::parse("web").unwrap(),
        known: ContainerStatus::Stopped,
        desired: ContainerStatus::Stopped,
        runtime_name: Some(RuntimeName::parse("ecs-site-1-web-0123456789abcdef0123").unwrap()),
        runtime_id: Some(RuntimeId::parse(&"c0".repeat(32)).unwrap()),
        create_sent: Some(at(12)),
        create_doubt: Some(at(11)),
        renamed: true,
        exit_code: Some(137),
        error: Some(ContainerError {
            name: ErrorName::OutOfMemory,
            text: "Container killed due to memory usage".into(),
        }),
        started_at: Some(Wall(15)),
        finished_at: Some(Wall(-1)),
        run: Some(Wall(16)),
        restopped: true,
        removed: true,
    }
}

pub(crate) fn image() -> ImageState {
    ImageState { image: ImageRef::parse("registry.test:5000/web:1").unwrap(), pull_succeeded: true, pulled_at: at(11) }
}

/// One record of every kind.
pub(crate) fn records() -> Vec<(RecordKey, Record)> {
    vec![
        (RecordKey::Host, Record::Host(host())),
        (RecordKey::Definition(task_id()), Record::Definition(Arc::new(definition()))),
        (RecordKey::Task(task_id()), Record::Task(task())),
        (RecordKey::Container(task_id(), 0), Record::Container(container())),
        (RecordKey::Image(image().image), Record::Image(image())),
    ]
}

/// A store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Store(pub(crate) BTreeMap<Vec<u8>, Vec<u8>>);

impl Store {
    pub(crate) fn apply(&mut self, writes: &[WriteOp]) {
        for (key, value) in writes {
            match value {
                Some(value) => self.0.insert(key.clone(), value.clone()),
                None => self.0.remove(key),
            };
        }
    }

    pub(crate) fn entries(&self) -> Entries {
        self.0.iter().map(|(key, value)| (key.clone(), value.clone())).collect()
    }
}

/// A commit that succeeds.
pub(crate) fn commit(
    store: &mut Store,
    ledger: &mut Ledger,
    records: impl IntoIterator<Item = (RecordKey, Option<Record>)>,
) {
    let prepared = ledger.prepare(records);
    store.apply(&prepared.writes);
    ledger.committed(prepared.change);
}

/// A store with one record of every kind, after one commit.
pub(crate) fn full() -> (Store, Ledger) {
    let (mut store, mut ledger) = (Store::default(), Ledger::new());
    commit(&mut store, &mut ledger, records().into_iter().map(|(key, record)| (key, Some(record))));
    (store, ledger)
}
