//! May this container take its next step?

use lighterman_ids::ContainerName;
use lighterman_status::{ContainerStatus, SteadyState};

/// One container as it is now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Node<'a> {
    /// Its name in the task.
    pub name: &'a ContainerName,
    /// What is known of it.
    pub known: ContainerStatus,
    /// Where it should go.
    pub desired: ContainerStatus,
    /// When it counts as up.
    pub steady: SteadyState,
    /// The transition that was started and has not been answered; `None` where there is none (engine.md 1.9).
    pub applied: ContainerStatus,
}

/// What a container may do now (engine.md 3.7.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Readiness {
    /// It is where it should be, or beyond: nothing to do.
    PastDesired,
    /// It may take this step.
    Ready(Step),
    /// It has to wait.
    Blocked(Block),
}

/// What a container waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Block {
    /// The answer to a transition that is under way.
    InFlight {
        /// The status that transition leads to.
        toward: ContainerStatus,
    },
}

/// A step from one status to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// Resolve the digest of the image.
    ResolveDigest,
    /// Have the image on the host.
    Pull,
    /// Create the container.
    Create,
    /// Start it.
    Start,
    /// Finish its network.
    Provision,
    /// Stop what runs.
    Stop,
    /// Take it for stopped without a runtime call: nothing of it runs.
    MarkStopped,
}

impl Step {
    /// Every step.
    pub const ALL: &'static [Self] =
        &[Self::ResolveDigest, Self::Pull, Self::Create, Self::Start, Self::Provision, Self::Stop, Self::MarkStopped];

    /// The known status that success leads to.
    #[must_use]
    pub const fn toward(self) -> ContainerStatus {
        match self {
            Self::ResolveDigest => ContainerStatus::ManifestPulled,
            Self::Pull => ContainerStatus::Pulled,
            Self::Create => ContainerStatus::Created,
            Self::Start => ContainerStatus::Running,
            Self::Provision => ContainerStatus::ResourcesProvisioned,
            Self::Stop | Self::MarkStopped => ContainerStatus::Stopped,
        }
    }
}

impl Node<'_> {
    pub(crate) fn readiness(&self) -> Readiness {
        if self.known.at_least(self.desired) {
            return Readiness::PastDesired;
        }
        let step = match self.desired {
            ContainerStatus::Stopped => return self.way_down(),
            ContainerStatus::None
            | ContainerStatus::ManifestPulled
            | ContainerStatus::Pulled
            | ContainerStatus::Created
            | ContainerStatus::Running
            | ContainerStatus::ResourcesProvisioned => self.next_step(),
        };
        step.map_or(Readiness::PastDesired, |step| self.unless_in_flight(step))
    }

    /// A start in flight is waited for: what was taken for stopped meanwhile would come back. A pull or create
    /// in flight is not: its late result is redundant.
    fn way_down(&self) -> Readiness {
        match (self.known.is_running(), self.applied) {
            (true, _) => self.unless_in_flight(Step::Stop),
            (false, ContainerStatus::Running) => {
                Readiness::Blocked(Block::InFlight { toward: ContainerStatus::Running })
            }
            (
                false,
                ContainerStatus::None
                | ContainerStatus::ManifestPulled
                | ContainerStatus::Pulled
                | ContainerStatus::Created
                | ContainerStatus::ResourcesProvisioned
                | ContainerStatus::Stopped,
            ) => Readiness::Ready(Step::MarkStopped),
        }
    }

    fn unless_in_flight(&self, step: Step) -> Readiness {
        match self.applied {
            ContainerStatus::None => Readiness::Ready(step),
            toward @ (ContainerStatus::ManifestPulled
            | ContainerStatus::Pulled
            | ContainerStatus::Created
            | ContainerStatus::Running
            | ContainerStatus::ResourcesProvisioned
            | ContainerStatus::Stopped) => Readiness::Blocked(Block::InFlight { toward }),
        }
    }

    /// The step to the next known status, whatever is desired; `None` once there is no next.
    fn next_step(&self) -> Option<Step> {
        match self.known.next(self.steady)? {
            ContainerStatus::ManifestPulled => Some(Step::ResolveDigest),
            ContainerStatus::Pulled => Some(Step::Pull),
            ContainerStatus::Created => Some(Step::Create),
            ContainerStatus::Running => Some(Step::Start),
            ContainerStatus::ResourcesProvisioned => Some(Step::Provision),
            ContainerStatus::Stopped => Some(Step::Stop),
            ContainerStatus::None => None,
        }
    }
}
