//! What is written is read back.

use std::sync::Arc;

use lighterman_engine::{HostState, ImageState, Record, RecordKey};
use lighterman_ids::{BootId, ContainerName, ImageRef, InstanceId, Moment, Mono, RuntimeId, RuntimeName, TaskId, Wall};
use lighterman_records::Ledger;
use lighterman_status::{ContainerStatus, TaskStatus};
use lighterman_task_manager::{ContainerError, ContainerState, ErrorName, TaskState};
use lighterman_taskdef::TaskDefinition;
use proptest::{collection::vec, option, prelude::*, sample::select};

use crate::samples::{Store, commit, definition, task};

pub(crate) fn moment() -> impl Strategy<Value = Moment> {
    (any::<u128>(), any::<u64>(), any::<i64>()).prop_map(|(boot, mono, wall)| Moment {
        boot: BootId(boot),
        mono: Mono(mono),
        wall: Wall(wall),
    })
}

fn wall() -> impl Strategy<Value = Option<Wall>> {
    option::of(any::<i64>().prop_map(Wall))
}

/// Any text at all: quotes, line ends, zero bytes, other scripts.
fn text() -> impl Strategy<Value = String> {
    vec(any::<char>(), 0..60).prop_map(|letters| letters.into_iter().collect())
}

fn name() -> impl Strategy<Value = ContainerName> {
    "[A-Za-z0-9_-]{1,40}".prop_map(|text| ContainerName::parse(&text).unwrap())
}

prop_compose! {
    pub(crate) fn task_state(id: TaskId)(
        seed in any::<u64>(),
        known in select(TaskStatus::ALL.to_vec()),
        desired in select(TaskStatus::ALL.to_vec()),
        reason in option::of(text()),
        (accepted_at, known_at) in (moment(), moment()),
        execution_stopped_at in option::of(moment()),
    ) -> TaskState {
        let (id, arn, digest) = (id.clone(), id.local_arn(None), task().digest);
        TaskState { id, arn, digest, seed, known, desired, reason, accepted_at, known_at, execution_stopped_at }
    }
}

prop_compose! {
    fn error()(error in (select(ErrorName::ALL.to_vec()), text())) -> ContainerError {
        ContainerError { name: error.0, text: error.1 }
    }
}

prop_compose! {
    pub(crate) fn container_state()(
        name in name(),
        known in select(ContainerStatus::ALL.to_vec()),
        desired in select(ContainerStatus::ALL.to_vec()),
        runtime_name in option::of("[a-z][a-z0-9_.-]{1,60}"),
        runtime_id in option::of("[0-9a-f]{12,64}"),
        (create_sent, create_doubt) in (option::of(moment()), option::of(moment())),
        exit_code in option::of(any::<i32>()),
        error in option::of(error()),
        (started_at, finished_at, run) in (wall(), wall(), wall()),
        (renamed, restopped, removed) in any::<(bool, bool, bool)>(),
    ) -> ContainerState {
        let runtime_name = runtime_name.map(|text| RuntimeName::parse(&text).unwrap());
        let runtime_id = runtime_id.map(|text| RuntimeId::parse(&text).unwrap());
        ContainerState {
            name, known, desired, runtime_name, runtime_id, create_sent, create_doubt, renamed, exit_code, error,
            started_at, finished_at, run, restopped, removed,
        }
    }
}

fn image() -> impl Strategy<Value = ImageState> {
    ("[a-z0-9]{1,30}(:[a-z0-9]{1,20})?", any::<bool>(), moment()).prop_map(|(text, pull_succeeded, pulled_at)| {
        ImageState { image: ImageRef::parse(&text).unwrap(), pull_succeeded, pulled_at }
    })
}

fn some_definition() -> impl Strategy<Value = TaskDefinition> {
    // No definition holds a NUL (taskdef.md V51).
    let value = || text().prop_map(|text| text.replace('\0', ""));
    vec(("[a-z]{1,12}", value()), 0..5).prop_map(|labels| {
        let mut definition = definition();
        definition.containers[0].docker_labels = labels.into_iter().collect();
        definition
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn every_state_is_read_back_as_it_was(
        incarnation in any::<u64>(),
        instance in any::<u128>(),
        tasks in vec((any::<u128>(), some_definition(), vec(container_state(), 0..4)), 0..4),
        images in vec(image(), 0..4),
        seed in any::<u64>(),
    ) {
        let host = HostState { instance: InstanceId::from_bits(instance), incarnation };
        let mut records = vec![(RecordKey::Host, Some(Record::Host(host.clone())))];
        for (bits, definition, containers) in &tasks {
            let id = TaskId::from_bits(*bits);
            let state = TaskState { id: id.clone(), arn: id.local_arn(None), seed, ..task() };
            records.push((RecordKey::Definition(id.clone()), Some(Record::Definition(Arc::new(definition.clone())))));
            records.push((RecordKey::Task(id.clone()), Some(Record::Task(state))));
            let containers = containers.iter().enumerate();
            records.extend(containers.map(|(place, state)| {
                (RecordKey::Container(id.clone(), place), Some(Record::Container(state.clone())))
            }));
        }
        records.extend(images.iter().map(|state| (RecordKey::Image(state.image.clone()), Some(Record::Image(state.clone())))));

        let (mut store, mut ledger) = (Store::default(), Ledger::new());
        commit(&mut store, &mut ledger, records);
        let (reopened, saved) = Ledger::open(store.entries(), Some(1)).unwrap();
        prop_assert_eq!(reopened, ledger);
        prop_assert_eq!(saved.host, Some(host));
        prop_assert_eq!(saved.images.len(), images.iter().map(|state| &state.image).collect::<std::collections::BTreeSet<_>>().len());
        prop_assert!(saved.strays.is_empty());
        for task in &saved.tasks {
            let (_, definition, containers) =
                tasks.iter().rfind(|(bits, ..)| TaskId::from_bits(*bits) == task.state.id).unwrap();
            prop_assert_eq!(&*task.definition, definition);
            prop_assert_eq!(&task.containers, containers);
            prop_assert_eq!(task.state.seed, seed);
        }
    }

    #[test]
    fn every_task_state_is_read_back_as_it_was(state in task_state(TaskId::from_bits(5))) {
        let (mut store, mut ledger) = (Store::default(), Ledger::new());
        let id = state.id.clone();
        commit(&mut store, &mut ledger, [
            (RecordKey::Definition(id.clone()), Some(Record::Definition(definition().into()))),
            (RecordKey::Task(id), Some(Record::Task(state.clone()))),
        ]);
        let (_, saved) = Ledger::open(store.entries(), None).unwrap();
        prop_assert_eq!(&saved.tasks[0].state, &state);
    }
}
