//! A task and its containers, as they are shown.

use alloc::{string::String, vec::Vec};
use core::time::Duration;

use lighterman_calls::{ExitCode, PublishedPort};
use lighterman_ids::{ContainerName, DefinitionDigest, Family, ImageRef, Moment, RuntimeId, RuntimeName, TaskId, Wall};
use lighterman_status::{ContainerStatus, Health, TaskStatus};

use crate::{Wait, WaitReason};

/// One task at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TaskView {
    /// Its id.
    pub id: TaskId,
    /// Family of its definition.
    pub family: Family,
    /// Revision of its definition, from 1.
    pub revision: u32,
    /// Digest of what the user wrote.
    pub definition: DefinitionDigest,
    /// What is known of it.
    pub known: TaskStatus,
    /// Where it should go.
    pub desired: TaskStatus,
    /// Why it stopped or has to; `None` while it need not.
    pub reason: Option<String>,
    /// When it was accepted.
    pub accepted_at: Moment,
    /// When its first essential container stopped.
    pub execution_stopped_at: Option<Moment>,
    /// Its containers, in task order.
    pub containers: Vec<ContainerView>,
    /// Nothing of it is left in the runtime as far as is known, but a create call that was cut off may still
    /// be carried out: it is watched for.
    pub lingering: bool,
    /// All containers have been removed from the runtime; the last view of a task.
    pub removed: bool,
}

impl TaskView {
    /// Health of the whole: unhealthy if any essential container is, healthy if all that have a check
    /// are, unknown if none has one (B-029).
    #[must_use]
    pub fn health(&self) -> Health {
        let mut all = Health::Unknown;
        for container in self.containers.iter().filter(|container| container.essential && container.has_health_check) {
            match (container.health, all) {
                (Health::Unhealthy, _) => return Health::Unhealthy,
                (Health::Unknown, _) => return Health::Unknown,
                (Health::Healthy, _) => all = Health::Healthy,
            }
        }
        all
    }

    /// Whether all that is left of it are containers that Docker did not remove for long: nobody need wait for them.
    #[must_use]
    pub fn is_kept(&self) -> bool {
        let is_settled = |container: &ContainerView| {
            let is_watched = |wait: &Wait| matches!(wait.reason, WaitReason::LateCreate);
            container.kept.is_some() || container.wait.as_ref().is_none_or(is_watched)
        };
        let any = self.containers.iter().any(|container| container.kept.is_some());
        self.known.is_terminal() && any && self.containers.iter().all(is_settled)
    }

    /// Exit code of the first essential container that has one, in the order in which they ended.
    #[must_use]
    pub fn exit_code(&self) -> Option<ExitCode> {
        let ended = self.containers.iter().filter(|container| container.essential && container.exit_code.is_some());
        ended.min_by_key(|container| container.finished_at).and_then(|container| container.exit_code)
    }
}

/// One container at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ContainerView {
    /// Its name in the definition.
    pub name: ContainerName,
    /// Its image, as written.
    pub image: ImageRef,
    /// Whether the task ends with it.
    pub essential: bool,
    /// Whether it has a terminal, so that its output is one raw stream.
    pub tty: bool,
    /// What is known of it.
    pub known: ContainerStatus,
    /// Where it should go.
    pub desired: ContainerStatus,
    /// Whether the definition has a health check; without one health stays unknown.
    pub has_health_check: bool,
    /// Last verdict of its health check.
    pub health: Health,
    /// Its name in the runtime, once chosen.
    pub runtime_name: Option<RuntimeName>,
    /// Its id in the runtime, once known.
    pub runtime_id: Option<RuntimeId>,
    /// How its process ended; `None` when it never ran to an end.
    pub exit_code: Option<ExitCode>,
    /// Why it stopped or could not start; `None` for an ordinary end.
    pub reason: Option<StopReason>,
    /// First start, in the runtime's time.
    pub started_at: Option<Wall>,
    /// When it ended, in the runtime's time; what others make of it later does not count.
    pub finished_at: Option<Wall>,
    /// Its published ports, one entry per bind address.
    pub ports: Vec<PublishedPort>,
    /// Between the stop signal and the kill.
    pub stop_timeout: Duration,
    /// Why Docker does not remove it, once that was tried for long; it is tried on.
    pub kept: Option<String>,
    /// It was restarted while it was known to run, and not by us.
    pub restarted: Option<Restarted>,
    /// What it waits for; `None` when nothing is to be done for it.
    pub wait: Option<Wait>,
}

/// A container that was restarted by somebody, or by a restart policy that somebody gave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Restarted {
    /// How often that was noticed since this agent began.
    pub times: u32,
    /// How the run before ended; `None` when no event told it.
    pub exit_code: Option<ExitCode>,
}

/// A recorded error of a container, printed `Name: text` (engine.md 8).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StopReason {
    /// The stable name, such as `CannotStartContainerError`.
    pub name: &'static str,
    /// The runtime's words, or ours.
    pub text: String,
    /// What a person can do about it; `None` where the text says all.
    pub advice: Option<&'static str>,
}

impl core::fmt::Display for StopReason {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}: {}", self.name, self.text)
    }
}
