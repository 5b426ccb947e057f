//! Why a plan is not a graph.

use alloc::vec::Vec;
use core::fmt;

use lighterman_ids::ContainerName;
use lighterman_status::ContainerStatus;

use crate::{Condition, ResourceName, Source, Tie};

/// Everything that is wrong with a plan at once.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct GraphError {
    problems: Vec<Problem>,
}

/// One thing that is wrong with a plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// There is no container. A task like this is refused, or has stopped before it began (engine.md 4.2, A2).
    #[error("task has no containers")]
    NoContainers,
    /// Containers share a name, so that nothing could refer to any of them.
    #[error("two containers are named {name}")]
    DuplicateName {
        /// The name they share.
        name: ContainerName,
    },
    /// A resource is in the plan twice.
    #[error("two resources are named {name}")]
    DuplicateResource {
        /// The name they share.
        name: ResourceName,
    },
    /// An ordering edge leads to a container that is not in the task.
    #[error("{dependent} waits for {name}, which is not in the task ({line})")]
    Missing {
        /// Who waits.
        dependent: ContainerName,
        /// For whom.
        name: ContainerName,
        /// Which line says so.
        line: Source,
    },
    /// A container depends on itself.
    #[error("{name} waits for itself: {name} -[{}]-> {name}", Tie::Edge { condition: *condition, source: *line })]
    OnItself {
        /// The container.
        name: ContainerName,
        /// What it waits for.
        condition: Condition,
        /// Which line says so.
        line: Source,
    },
    /// HEALTHY on a container without a health check.
    #[error("{dependent} waits for {on} to be healthy, but {on} has no health check ({line})")]
    NoHealthCheck {
        /// Who waits.
        dependent: ContainerName,
        /// For whom.
        on: ContainerName,
        /// Which line says so.
        line: Source,
    },
    /// SUCCESS or COMPLETE on an essential container: the task ends with it, so that the dependent never runs
    /// (taskdef.md V43).
    #[error("{dependent} waits for {on} {}, but the task ends with {on}, which is essential ({line})", condition.in_words())]
    WaitsForEssential {
        /// Who waits.
        dependent: ContainerName,
        /// For whom.
        on: ContainerName,
        /// For what.
        condition: Condition,
        /// Which line says so.
        line: Source,
    },
    /// Containers wait for each other.
    #[error("containers wait for each other: {0}")]
    Ring(Ring),
    /// A transition dependency leads to something that is not in the plan: whoever made the plan forgot it.
    #[error("{waiting} waits for {on}, which is not in the task")]
    MissingGate {
        /// Who waits.
        waiting: Member,
        /// For whom.
        on: Member,
    },
    /// A transition dependency leads to a status that its target has only once the task is over.
    #[error("{waiting} waits for {on} to be {reached}, which it is not while the task runs")]
    TooLate {
        /// Who waits.
        waiting: Member,
        /// For whom.
        on: Member,
        /// For which status.
        reached: &'static str,
    },
    /// What the dependency is to become does not fulfil the condition (engine.md 2.3).
    #[error("{dependent} waits for {on} {}, but {on} is to become {desired} ({line})", condition.in_words())]
    CannotResolve {
        /// Who waits.
        dependent: ContainerName,
        /// For whom.
        on: ContainerName,
        /// For what.
        condition: Condition,
        /// Which line says so.
        line: Source,
        /// What the dependency is to become.
        desired: ContainerStatus,
    },
}

/// A container or a resource of a task.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Member {
    /// A container.
    Container(ContainerName),
    /// A resource.
    Resource(ResourceName),
}

/// Who waits for whom, round to where it began: `a -[dependsOn HEALTHY]-> b -[links]-> a`.
///
/// `Display` leaves out the middle of a ring of more than [`Ring::SHOWN`] steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ring {
    steps: Vec<(Member, Tie)>,
}

impl GraphError {
    /// `Err` with the problems, if there is any.
    pub(crate) fn check(problems: Vec<Problem>) -> Result<(), Self> {
        if problems.is_empty() { Ok(()) } else { Err(Self { problems }) }
    }

    /// What is wrong; at least one thing. Names come first, then edges in task order, then rings.
    #[must_use]
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }
}

impl fmt::Display for GraphError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, problem) in self.problems.iter().enumerate() {
            if n > 0 {
                f.write_str("; ")?;
            }
            write!(f, "{problem}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Member {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Container(name) => write!(f, "{name}"),
            Self::Resource(name) => write!(f, "{name}"),
        }
    }
}

impl Ring {
    /// Steps that `Display` shows.
    pub const SHOWN: usize = 12;

    pub(crate) const fn new(steps: Vec<(Member, Tie)>) -> Self {
        Self { steps }
    }

    /// Each member and why it waits for the next; the last waits for the first.
    #[must_use]
    pub fn steps(&self) -> &[(Member, Tie)] {
        &self.steps
    }
}

impl fmt::Display for Ring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let left_out = self.steps.len().saturating_sub(Self::SHOWN);
        let first = if left_out > 0 { Self::SHOWN / 2 } else { self.steps.len() };
        for (member, tie) in &self.steps[..first] {
            write!(f, "{member} -[{tie}]-> ")?;
        }
        if left_out > 0 {
            write!(f, "… ({left_out} more) … -> ")?;
        }
        for (member, tie) in &self.steps[first + left_out..] {
            write!(f, "{member} -[{tie}]-> ")?;
        }
        match self.steps.first() {
            Some((member, _)) => write!(f, "{member}"),
            None => Ok(()),
        }
    }
}
