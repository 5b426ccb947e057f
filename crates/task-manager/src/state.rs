//! What is persisted of a task: plain data, given out to and taken back from `records`.

use alloc::string::String;

use lighterman_calls::ExitCode;
use lighterman_ids::{ContainerName, DefinitionDigest, Moment, RuntimeId, RuntimeName, TaskArn, TaskId, Wall};
use lighterman_status::{ContainerStatus, TaskStatus};

use crate::ContainerError;

/// The part of a task that moves, without its containers and its definition.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TaskState {
    /// Its id.
    pub id: TaskId,
    /// Its ARN.
    pub arn: TaskArn,
    /// Digest of what the user wrote.
    pub digest: DefinitionDigest,
    /// Names and jitter are drawn from it; grants no access.
    pub seed: u64,
    /// What is known.
    pub known: TaskStatus,
    /// Where it should go.
    pub desired: TaskStatus,
    /// Why it stopped or has to.
    pub reason: Option<String>,
    /// When it was accepted.
    pub accepted_at: Moment,
    /// When `known` was last set.
    pub known_at: Moment,
    /// When the first essential container stopped.
    pub execution_stopped_at: Option<Moment>,
}

/// The part of a container that moves.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ContainerState {
    /// Its name in the definition.
    pub name: ContainerName,
    /// What is known.
    pub known: ContainerStatus,
    /// Where it should go.
    pub desired: ContainerStatus,
    /// Its name in the runtime, chosen before the create call.
    pub runtime_name: Option<RuntimeName>,
    /// Its id in the runtime.
    pub runtime_id: Option<RuntimeId>,
    /// A create call left then, and its outcome is not known for sure.
    pub create_sent: Option<Moment>,
    /// An earlier create call left then, and may still be carried out.
    pub create_doubt: Option<Moment>,
    /// The name was chosen anew once.
    pub renamed: bool,
    /// How its process ended.
    pub exit_code: Option<ExitCode>,
    /// Its first error.
    pub error: Option<ContainerError>,
    /// Its first start.
    pub started_at: Option<Wall>,
    /// When it ended.
    pub finished_at: Option<Wall>,
    /// Start of its current run.
    pub run: Option<Wall>,
    /// It was stopped again after it had come back.
    pub restopped: bool,
    /// It was removed from the runtime.
    pub removed: bool,
}
