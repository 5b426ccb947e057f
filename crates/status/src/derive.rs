//! A task's statuses from those of its containers (engine.md 1.10, 1.11).

use crate::{ContainerStatus, SteadyState, TaskStatus};

/// One container, as far as its task's statuses depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Member {
    /// What is known of it.
    pub known: ContainerStatus,
    /// Where it should go.
    pub desired: ContainerStatus,
    /// When it counts as up.
    pub steady: SteadyState,
    /// Whether the task ends with it.
    pub essential: bool,
}

/// What the containers say of their task's known status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TaskKnown {
    /// There is no container to tell; a task like this should not exist.
    NoContainers,
    /// The status stays.
    Unchanged,
    /// The status rises to this.
    Risen(TaskStatus),
}

/// The known status of a task that was `known` and has these containers (1.10).
///
/// It never falls. While an essential container has stopped and the others are still up, it stays:
/// a task on its way down is not announced as running.
pub fn task_known_from(known: TaskStatus, members: impl IntoIterator<Item = Member>) -> TaskKnown {
    let mut least: Option<Member> = None;
    let mut mapped: Option<TaskStatus> = None;
    let mut essential_stopped = false;
    for member in members {
        // On ties the first one counts.
        if least.is_none_or(|least| member.known.is_before(least.known)) {
            least = Some(member);
        }
        let status = member.known.task_status(member.steady);
        mapped = Some(mapped.map_or(status, |so_far| so_far.earlier_of(status)));
        essential_stopped |= member.essential && member.known.is_terminal();
    }
    let (Some(least), Some(mapped)) = (least, mapped) else { return TaskKnown::NoContainers };
    if essential_stopped && least.known.is_steady(least.steady) {
        return TaskKnown::Unchanged;
    }
    if mapped.is_after(known) { TaskKnown::Risen(mapped) } else { TaskKnown::Unchanged }
}

/// Why a task has to stop by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StopCause {
    /// An essential container has stopped.
    EssentialStopped,
    /// An essential container is to stop; it has not yet.
    EssentialStopping,
}

impl StopCause {
    /// The terminal reason of the task, for one that has none yet; `None` leaves it open.
    #[must_use]
    pub const fn reason(self) -> Option<&'static str> {
        match self {
            Self::EssentialStopped => Some("Essential container in task exited"),
            Self::EssentialStopping => None,
        }
    }
}

/// Whether a task that desires `desired` has to stop because of an essential container (1.11 rule 1).
///
/// A container that has stopped is named before one that is only to stop.
pub fn task_must_stop(desired: TaskStatus, members: impl IntoIterator<Item = Member>) -> Option<StopCause> {
    if desired.is_terminal() {
        return None;
    }
    let mut cause = None;
    for member in members.into_iter().filter(|member| member.essential) {
        if member.known.is_terminal() {
            return Some(StopCause::EssentialStopped);
        }
        if member.desired.is_terminal() {
            cause = Some(StopCause::EssentialStopping);
        }
    }
    cause
}

/// The desired status of a container that desired `current`, once its task desires `task`: it only rises
/// (1.11 rule 2).
#[must_use]
pub const fn container_desired_from(
    current: ContainerStatus,
    task: TaskStatus,
    steady: SteadyState,
) -> ContainerStatus {
    current.later_of(task.container_desired(steady))
}
