//! What is persisted of the host: plain data, given out to and taken back from `records`.

use alloc::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    vec::Vec,
};

use lighterman_ids::{ImageRef, InstanceId, Moment, TaskId};
use lighterman_task_manager::{ContainerState, TaskState};
use lighterman_taskdef::TaskDefinition;

/// Names one record.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RecordKey {
    /// The host itself.
    Host,
    /// A definition, written once.
    Definition(TaskId),
    /// A task.
    Task(TaskId),
    /// A container, by its place in task order.
    Container(TaskId, usize),
    /// An image.
    Image(ImageRef),
}

/// What stands in a record.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Record {
    /// Under [`RecordKey::Host`].
    Host(HostState),
    /// Under [`RecordKey::Definition`].
    Definition(Arc<TaskDefinition>),
    /// Under [`RecordKey::Task`].
    Task(TaskState),
    /// Under [`RecordKey::Container`].
    Container(ContainerState),
    /// Under [`RecordKey::Image`].
    Image(ImageState),
}

/// The host.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct HostState {
    /// Who owns what is created from this state (design.md R10).
    pub instance: InstanceId,
    /// How often it was started; part of every action's id (design.md R9).
    pub incarnation: u64,
}

/// An image that was pulled.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ImageState {
    /// As the definition names it.
    pub image: ImageRef,
    /// A pull of it succeeded; never taken back (engine.md 5.1).
    pub pull_succeeded: bool,
    /// When that was first known.
    pub pulled_at: Moment,
}

/// Everything that was persisted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct SavedState {
    /// `None` in a new store.
    pub host: Option<HostState>,
    /// Tasks with their definitions and containers.
    pub tasks: Vec<SavedTask>,
    /// Images by name.
    pub images: BTreeMap<ImageRef, ImageState>,
    /// Records that belong to no task: a fault of ours, warned of and then deleted (engine.md E144).
    pub strays: BTreeSet<RecordKey>,
}

/// One persisted task.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SavedTask {
    /// The part that moves.
    pub state: TaskState,
    /// The part that does not.
    pub definition: Arc<TaskDefinition>,
    /// Its containers that have left NONE.
    pub containers: Vec<ContainerState>,
}
