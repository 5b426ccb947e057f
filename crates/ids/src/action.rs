//! Ids of actions.

use core::fmt;

/// Names one action: an answer carries the id of the action it answers (design.md R2, R9).
///
/// The incarnation is persisted and rises with every start, so an answer to an action of a dead
/// incarnation can never be taken for one of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ActionId {
    /// Which start of the agent on this state directory asked; counts from 1.
    pub incarnation: u64,
    /// Counts up within the incarnation, from 1.
    pub counter: u64,
}

impl fmt::Display for ActionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.incarnation, self.counter)
    }
}

/// Gives out [`ActionId`]s of one incarnation, each once.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ActionIds {
    last: ActionId,
}

impl ActionIds {
    /// Ids of this incarnation, from counter 1.
    #[must_use]
    pub const fn new(incarnation: u64) -> Self {
        Self { last: ActionId { incarnation, counter: 0 } }
    }

    /// An id that was not given out before.
    pub const fn next_id(&mut self) -> ActionId {
        self.last.counter += 1;
        self.last
    }

    /// The incarnation these ids belong to.
    #[must_use]
    pub const fn incarnation(&self) -> u64 {
        self.last.incarnation
    }
}
