//! Ordering edges, one at a time (engine.md 2.4, step B).

use core::time::Duration;

use lighterman_ids::Mono;
use lighterman_status::{ContainerStatus, Health};

use crate::{Condition, Edge, Graph, Node, Snapshot};

/// An ordering edge that can never be satisfied, so that its dependent has to be given up.
///
/// [`Graph::fatal_text`] says it in words. Row B1 has no case: a dependency that is not there is refused by
/// [`Graph::build`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fatal {
    /// The edge.
    pub edge: Edge,
    /// Why.
    pub cause: FatalCause,
}

/// Why an ordering edge can never be satisfied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FatalCause {
    /// B2: the dependency was started longer ago than its start timeout.
    TimedOut {
        /// The start timeout, above zero.
        limit: Duration,
    },
    /// B3: it should have ended with exit code 0 and has not.
    NotSuccessful {
        /// Its exit code; `None` if it is not known.
        exit_code: Option<i32>,
    },
    /// B4: it is to stop before it was started.
    WillNeverStart,
    /// B4a: it has stopped and never started; for CREATE, was never even created.
    NeverStarted,
    /// B4b: it has stopped and was not healthy.
    NotHealthy {
        /// What its health check said last.
        health: Health,
    },
}

impl Graph {
    /// Rows B2 to B4b in their order.
    pub(crate) fn fatal_cause(&self, edge: &Edge, snapshot: &Snapshot<'_>) -> Option<FatalCause> {
        let on = &snapshot.containers[edge.on];
        if let Some((_, limit)) = self.start_limit(edge, snapshot).filter(|(since, limit)| since > limit) {
            return Some(FatalCause::TimedOut { limit });
        }
        if on.known.is_terminal() {
            return ended_in_vain(edge.condition, on);
        }
        let will_never_start = on.known.is_before(ContainerStatus::Running)
            && on.desired.is_terminal()
            && on.applied == ContainerStatus::None;
        will_never_start.then_some(FatalCause::WillNeverStart)
    }

    /// Time since the start of the dependency, and how long that may be, where it matters (2.5).
    ///
    /// It matters until the dependent is created, even while the condition is true: the rows are read in order.
    fn start_limit(&self, edge: &Edge, snapshot: &Snapshot<'_>) -> Option<(Duration, Duration)> {
        let (dependent, on) = (&snapshot.containers[edge.dependent], &snapshot.containers[edge.on]);
        let counts = edge.condition.can_time_out()
            && dependent.known.is_before(ContainerStatus::Created)
            && !on.known.is_terminal();
        if !counts {
            return None;
        }
        Some((snapshot.now.since(on.started_at?), self.members[edge.on].start_timeout?))
    }

    /// The first instant at which the edge has timed out; `None` if it has, or if that never happens by itself.
    pub(crate) fn time_out_at(&self, edge: &Edge, snapshot: &Snapshot<'_>) -> Option<Mono> {
        let dependent = &snapshot.containers[edge.dependent];
        if !self.is_wanted_up(edge.dependent, dependent.desired) || dependent.known.at_least(dependent.desired) {
            return None;
        }
        let (since, limit) = self.start_limit(edge, snapshot)?;
        // The limit itself is still in time.
        let left = limit.checked_sub(since)?.saturating_add(Duration::from_nanos(1));
        Some(snapshot.now.mono.after(left))
    }

    /// The table of step B.
    pub(crate) fn is_resolved(&self, edge: &Edge, snapshot: &Snapshot<'_>) -> bool {
        let (dependent, on) = (&snapshot.containers[edge.dependent], &snapshot.containers[edge.on]);
        if dependent.known.is_before(ContainerStatus::ManifestPulled)
            || snapshot.pulls_upfront && dependent.known.is_before(ContainerStatus::Pulled)
        {
            return true;
        }
        match edge.condition {
            Condition::Create => on.known.at_least(ContainerStatus::Created),
            Condition::Start => on.known.is_terminal() || self.is_up_for(edge, dependent, on),
            Condition::Complete => on.known.is_terminal(),
            Condition::Success => on.has_succeeded(),
            Condition::Healthy => on.health == Health::Healthy,
        }
    }

    /// Whether the dependency is as far as the dependent is to go.
    fn is_up_for(&self, edge: &Edge, dependent: &Node<'_>, on: &Node<'_>) -> bool {
        let is_up = on.known.is_steady(self.members[edge.on].steady);
        let is_to_exist = dependent.desired == ContainerStatus::Created;
        let is_to_be_up = dependent.desired.is_steady(self.members[edge.dependent].steady);
        is_to_exist && on.known == ContainerStatus::Created || (is_to_exist || is_to_be_up) && is_up
    }
}

/// Rows B3, B4a and B4b for a dependency that has stopped.
fn ended_in_vain(condition: Condition, on: &Node<'_>) -> Option<FatalCause> {
    if condition == Condition::Success && !on.has_succeeded() {
        return Some(FatalCause::NotSuccessful { exit_code: on.exit_code });
    }
    let never_started = match condition {
        Condition::Create => on.started_at.is_none() && !on.was_created,
        Condition::Start | Condition::Complete | Condition::Success | Condition::Healthy => on.started_at.is_none(),
    };
    if never_started {
        return Some(FatalCause::NeverStarted);
    }
    let is_unhealthy = condition == Condition::Healthy && on.health != Health::Healthy;
    is_unhealthy.then_some(FatalCause::NotHealthy { health: on.health })
}
