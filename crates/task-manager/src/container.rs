//! One container of a task: what is known of it, and the work in progress for it.

use alloc::{boxed::Box, string::String, vec::Vec};

use lighterman_calls::{ContainerTarget, ExitCode, ImageFacts, PublishedPort, RequestKind};
use lighterman_ids::{ActionId, ContainerName, Moment, Mono, RuntimeId, RuntimeName, Wall};
use lighterman_status::{ContainerStatus, Health, Member, SteadyState};
use lighterman_view::Restarted;

use crate::ContainerError;

/// Everything about one container. Fields up to `removed` are persisted, the rest is decided again.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Container {
    pub(crate) name: ContainerName,
    pub(crate) essential: bool,
    pub(crate) known: ContainerStatus,
    pub(crate) desired: ContainerStatus,
    /// Chosen once, before the create call (engine.md 4.3).
    pub(crate) runtime_name: Option<RuntimeName>,
    pub(crate) runtime_id: Option<RuntimeId>,
    /// A create call left at this moment and its outcome is not known for sure.
    pub(crate) create_sent: Option<Moment>,
    /// An earlier create call left at this moment, and may still be carried out.
    pub(crate) create_doubt: Option<Moment>,
    /// The name was found taken by somebody else, and chosen anew; that is done once.
    pub(crate) renamed: bool,
    pub(crate) exit_code: Option<ExitCode>,
    /// The first error wins (engine.md 3.6.1).
    pub(crate) error: Option<ContainerError>,
    /// First start, never changed.
    pub(crate) started_at: Option<Wall>,
    pub(crate) finished_at: Option<Wall>,
    /// Start of the current run: facts about an older one are dropped.
    pub(crate) run: Option<Wall>,
    /// It was found running after it had stopped, and stopped again; that is done once.
    pub(crate) restopped: bool,
    /// It is gone from the runtime, and so may its record be.
    pub(crate) removed: bool,

    pub(crate) health: Health,
    pub(crate) ports: Vec<PublishedPort>,
    /// What is in its image; the create call depends on it.
    pub(crate) image: Option<Box<ImageFacts>>,
    /// We asked it to end: an out-of-memory mark or a failing check says nothing new from here on.
    pub(crate) stopping: bool,
    /// A forced stop has sent its kill.
    pub(crate) killed: bool,
    /// A stop call was out by then: from then on the grace counts, should nothing but a kill be left.
    pub(crate) grace_from: Option<Mono>,
    pub(crate) work: Work,
    pub(crate) look: Look,
    /// A start call that is still to return although the container is known to run.
    pub(crate) late_start: Option<ActionId>,
    /// Our start call has returned before the `start` event that it causes: that one will tell nothing new.
    pub(crate) own_start: bool,
    /// A create call that is still to return although the container is taken for stopped.
    pub(crate) late_create: Option<ActionId>,
    /// Since when its removal is tried in vain, while the runtime is there.
    pub(crate) removing_since: Option<Mono>,
    /// Why the runtime does not remove it, once it was tried for long.
    pub(crate) kept: Option<String>,
    /// The last end that an event told of, with its code.
    pub(crate) last_end: Option<ExitCode>,
    /// It was restarted while it was known to run, and not by us: what was noticed of the run before.
    pub(crate) restarted: Option<Restarted>,
    /// Since when `work` stands as it does.
    pub(crate) since: Moment,
}

/// The one transition in progress for a container (engine.md 1.9).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Work {
    Idle,
    Pull { stage: PullStage, job: Job },
    Create { stage: CreateStage, job: Job },
    Start { stage: StartStage, job: Job },
    Stop { stage: StopStage, job: Job },
    Remove { stage: RemoveStage, job: Job },
    Restore { job: Job },
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum PullStage {
    /// Is the image there already?
    Present,
    /// The pull itself.
    Pulling,
    /// Is it there now? `failed` holds why the pull may not have worked.
    Arrived { failed: Option<ContainerError>, retry: bool, looks: u32 },
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum CreateStage {
    /// The call itself.
    Creating,
    /// The name is in use, or the answer was lost: is it ours?
    LookingUp(AfterCall),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum StartStage {
    Starting,
    /// The call returned, or was lost: does it run?
    Looking(AfterCall),
}

/// What is known of a call while a look tells what became of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct AfterCall {
    /// The error that it is, should it have had no effect; `None` where the call was answered.
    pub(crate) lost: Option<ContainerError>,
    /// It ran into its limit, so it may still be carried out.
    pub(crate) timed_out: bool,
    /// Counts the looks, from 1.
    pub(crate) looks: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum StopStage {
    Stopping,
    /// All tries failed: does the runtime answer at all?
    Pinging {
        failed: ContainerError,
    },
    /// The stop worked: how did it end? `stops` counts the calls.
    Confirming {
        stops: u32,
    },
    /// The stop did not work: does the container still run?
    Verifying {
        failed: ContainerError,
        killed: bool,
    },
    /// It does: the last resort.
    Killing {
        failed: ContainerError,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum RemoveStage {
    /// The removal itself, by id. `killed`: in this try it was found running, which is met once.
    Removing { killed: bool },
    /// It was found running.
    Killing,
    /// Is there one by our name, and is it ours? A create call may still bring it.
    Finding(Search),
}

/// The search for what a create call in doubt may bring.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Search {
    /// When it ends.
    pub(crate) over: Mono,
    /// Since this agent began, its name was looked for at least once and not found.
    pub(crate) looked: bool,
}

/// How far a piece of work is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Job {
    pub(crate) step: Step,
    /// Counts the tries of the current stage, from 1.
    pub(crate) attempt: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Step {
    /// A call is out.
    Asking { id: ActionId, kind: RequestKind },
    /// The next try waits for its time.
    Pausing { until: Mono, after: String, away: bool },
}

/// A look at a container that is not part of a transition.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Look {
    None,
    /// The transition in progress has an inspect out; this one follows it, so that they are never
    /// answered in the wrong order.
    Behind {
        cause: Cause,
    },
    /// An inspect is out. One begun after an event answers all earlier ones, so at most one more follows.
    Asking {
        id: ActionId,
        again: Option<Cause>,
        cause: Cause,
        attempt: u32,
    },
    /// The inspect failed; the next try waits.
    Pausing {
        until: Mono,
        cause: Cause,
        attempt: u32,
        away: bool,
    },
}

/// What made us look; an inspect shows at least what its cause told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Cause {
    /// A list or another event differs from what is known.
    Differs,
    /// It started.
    Started,
    /// Its output ended, which it does when the container does; the inspect may come a moment too early.
    OutputEnded,
    /// It ended, with this code should no inspect succeed.
    Died { exit_code: Option<ExitCode> },
}

impl Cause {
    /// The cause of one look that answers both. That the container died is only outdated by a start.
    pub(crate) const fn then(self, later: Self) -> Self {
        match (self, later) {
            (Self::Died { .. }, Self::Differs | Self::OutputEnded) | (Self::OutputEnded, Self::Differs) => self,
            (
                Self::Died { .. } | Self::Started | Self::Differs | Self::OutputEnded,
                Self::Died { .. } | Self::Started,
            )
            | (Self::Started | Self::Differs, Self::Differs | Self::OutputEnded)
            | (Self::OutputEnded, Self::OutputEnded) => later,
        }
    }
}

impl Look {
    /// What made us look, all in all.
    pub(crate) fn cause(&self) -> Option<Cause> {
        match self {
            Self::None => None,
            Self::Asking { cause, again, .. } => Some(again.map_or(*cause, |again| cause.then(again))),
            Self::Behind { cause } | Self::Pausing { cause, .. } => Some(*cause),
        }
    }
}

impl Work {
    /// The status that the work leads to; `NONE` without work (engine.md 1.9).
    pub(crate) const fn applied(&self) -> ContainerStatus {
        match self {
            Self::Idle | Self::Restore { .. } | Self::Remove { .. } => ContainerStatus::None,
            Self::Pull { .. } => ContainerStatus::Pulled,
            Self::Create { .. } => ContainerStatus::Created,
            Self::Start { .. } => ContainerStatus::Running,
            Self::Stop { .. } => ContainerStatus::Stopped,
        }
    }

    pub(crate) const fn job(&self) -> Option<&Job> {
        match self {
            Self::Idle => None,
            Self::Pull { job, .. }
            | Self::Create { job, .. }
            | Self::Start { job, .. }
            | Self::Stop { job, .. }
            | Self::Remove { job, .. }
            | Self::Restore { job } => Some(job),
        }
    }

    pub(crate) const fn job_mut(&mut self) -> Option<&mut Job> {
        match self {
            Self::Idle => None,
            Self::Pull { job, .. }
            | Self::Create { job, .. }
            | Self::Start { job, .. }
            | Self::Stop { job, .. }
            | Self::Remove { job, .. }
            | Self::Restore { job } => Some(job),
        }
    }

    /// Which look it is, where a stage looks again and again for what became of its call.
    pub(crate) const fn looks(&self) -> Option<u32> {
        match self {
            Self::Pull { stage: PullStage::Arrived { looks, .. }, .. }
            | Self::Create { stage: CreateStage::LookingUp(AfterCall { looks, .. }), .. }
            | Self::Start { stage: StartStage::Looking(AfterCall { looks, .. }), .. } => Some(*looks),
            Self::Idle
            | Self::Pull { stage: PullStage::Present | PullStage::Pulling, .. }
            | Self::Create { stage: CreateStage::Creating, .. }
            | Self::Start { stage: StartStage::Starting, .. }
            | Self::Stop { .. }
            | Self::Remove { .. }
            | Self::Restore { .. } => None,
        }
    }

    /// Whether an inspect of the container is out.
    pub(crate) fn inspects(&self) -> bool {
        self.job().is_some_and(|job| match job.step {
            Step::Asking { kind, .. } => kind == RequestKind::Inspect,
            Step::Pausing { .. } => false,
        })
    }

    /// The call that is out.
    pub(crate) fn asked(&self) -> Option<ActionId> {
        match self.job()?.step {
            Step::Asking { id, .. } => Some(id),
            Step::Pausing { .. } => None,
        }
    }
}

impl Job {
    pub(crate) const fn asking(id: ActionId, kind: RequestKind, attempt: u32) -> Self {
        Self { step: Step::Asking { id, kind }, attempt }
    }
}

impl Container {
    pub(crate) fn new(name: ContainerName, essential: bool, now: Moment) -> Self {
        Self {
            name,
            essential,
            known: ContainerStatus::None,
            desired: ContainerStatus::None,
            runtime_name: None,
            runtime_id: None,
            create_sent: None,
            create_doubt: None,
            renamed: false,
            exit_code: None,
            error: None,
            started_at: None,
            finished_at: None,
            run: None,
            restopped: false,
            removed: false,
            health: Health::Unknown,
            ports: Vec::new(),
            image: None,
            stopping: false,
            killed: false,
            grace_from: None,
            work: Work::Idle,
            look: Look::None,
            late_start: None,
            own_start: false,
            late_create: None,
            removing_since: None,
            kept: None,
            last_end: None,
            restarted: None,
            since: now,
        }
    }

    pub(crate) const fn member(&self) -> Member {
        Member { known: self.known, desired: self.desired, steady: SteadyState::Running, essential: self.essential }
    }

    /// Where to address it: by id, else by the name it was or will be created under.
    pub(crate) fn target(&self) -> Option<ContainerTarget> {
        let by_name = || self.runtime_name.clone().map(ContainerTarget::Name);
        self.runtime_id.clone().map(ContainerTarget::Id).or_else(by_name)
    }

    /// Whether an answer to this action is waited for here.
    pub(crate) fn waits_for(&self, id: ActionId) -> bool {
        let looking = match self.look {
            Look::Asking { id: asked, .. } => asked == id,
            Look::None | Look::Behind { .. } | Look::Pausing { .. } => false,
        };
        looking || self.work.asked() == Some(id) || self.late_start == Some(id) || self.late_create == Some(id)
    }
}
