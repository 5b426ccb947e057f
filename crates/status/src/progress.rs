//! Known, desired and applied status of one thing (engine.md 1.9).

use crate::{ContainerStatus, ResourceStatus};

/// What [`Progress`] needs of a status; [`ContainerStatus`] and [`ResourceStatus`] have it.
pub trait Stage: Copy + Eq {
    /// The status of what nothing was done with.
    const NOTHING: Self;

    /// Whether this is `other` or comes after it.
    #[must_use]
    fn at_least(self, other: Self) -> bool;
}

impl Stage for ContainerStatus {
    const NOTHING: Self = Self::None;

    fn at_least(self, other: Self) -> bool {
        self.at_least(other)
    }
}

impl Stage for ResourceStatus {
    const NOTHING: Self = Self::None;

    fn at_least(self, other: Self) -> bool {
        self.at_least(other)
    }
}

/// How far a container or resource is known to have come, where it should go, and the transition under way.
///
/// | who calls | known | desired | applied |
/// | --- | --- | --- | --- |
/// | [`Self::begin`]: a transition starts | | | set, if nothing is under way |
/// | [`Self::learn`]: a fact arrives | rises | | cleared once reached |
/// | [`Self::give_up`]: a transition failed | | | cleared |
/// | [`Self::desire`]: a wish arrives | | rises | |
///
/// Applied is never persisted: after a restart nothing is under way ([`Self::restored`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Progress<S> {
    known: S,
    desired: S,
    applied: S,
}

/// A transition was to start while another is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the transition to {applied} is under way")]
pub struct InFlight<S> {
    /// Where the other one leads.
    pub applied: S,
}

impl<S: Stage> Progress<S> {
    /// Nothing known, nothing desired, nothing under way.
    #[must_use]
    pub const fn new() -> Self {
        Self::restored(S::NOTHING, S::NOTHING)
    }

    /// As read back from the store.
    #[must_use]
    pub const fn restored(known: S, desired: S) -> Self {
        Self { known, desired, applied: S::NOTHING }
    }

    /// What is believed true now.
    #[must_use]
    pub const fn known(&self) -> S {
        self.known
    }

    /// Where it should go.
    #[must_use]
    pub const fn desired(&self) -> S {
        self.desired
    }

    /// Where the transition under way leads; `NONE` where there is none.
    #[must_use]
    pub const fn applied(&self) -> S {
        self.applied
    }

    /// Wishes for `status`; says whether that is new. The desired status only rises.
    pub fn desire(&mut self, status: S) -> bool {
        let rises = !self.desired.at_least(status);
        if rises {
            self.desired = status;
        }
        rises
    }

    /// Starts a transition (AP-2).
    ///
    /// # Errors
    /// Another one is under way; nothing changes.
    pub fn begin(&mut self, target: S) -> Result<(), InFlight<S>> {
        if self.applied != S::NOTHING {
            return Err(InFlight { applied: self.applied });
        }
        self.applied = target;
        Ok(())
    }

    /// Takes `status` for a fact; says whether that is new. The known status only rises, in jumps too.
    ///
    /// A transition that leads to `status` or below has then ended, whoever reports it (AP-3, AP-5). A status
    /// that is not after the known one is redundant and changes nothing (CC-4).
    #[must_use]
    pub fn learn(&mut self, status: S) -> bool {
        let rises = !self.known.at_least(status);
        if rises {
            self.known = status;
            self.clear_up_to(status);
        }
        rises
    }

    /// Learns that the transition to `target` has ended without getting there (AP-4): known stays.
    pub fn give_up(&mut self, target: S) {
        self.clear_up_to(target);
    }

    fn clear_up_to(&mut self, status: S) {
        if status.at_least(self.applied) {
            self.applied = S::NOTHING;
        }
    }
}

impl<S: Stage> Default for Progress<S> {
    fn default() -> Self {
        Self::new()
    }
}
