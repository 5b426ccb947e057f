//! Why something has not happened yet.

use alloc::string::String;
use core::fmt;

use lighterman_calls::RequestKind;
use lighterman_ids::{Moment, Mono};

/// What a container waits for, since when, and until when at the latest.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Wait {
    /// What it waits for.
    pub reason: WaitReason,
    /// Since when.
    pub since: Moment,
    /// When it ends by itself; `None` when only an event ends it.
    pub until: Option<Mono>,
}

impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "waits for {}; ends when {}", self.reason, self.reason.ends_when())
    }
}

/// What something waits for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum WaitReason {
    /// Docker is working on a call.
    Call {
        /// Which.
        kind: RequestKind,
        /// Which try it is, from 1.
        attempt: u32,
    },
    /// A pause between two tries.
    Pause {
        /// The try that comes next, from 2.
        attempt: u32,
        /// What went wrong before.
        after: String,
    },
    /// The state store cannot take changes, so nothing new may be started.
    Store {
        /// What the store said.
        text: String,
    },
    /// Docker cannot be reached.
    RuntimeAway {
        /// How it fails.
        text: String,
    },
    /// The container runs, and the task goes on until it ends.
    Running,
    /// It has stopped; its container is kept until the clean-up wait is over.
    Cleanup,
    /// A create call of ours was cut off and may still be carried out; its name is watched until it cannot.
    LateCreate,
    /// The agent is shutting down and begins nothing more.
    Closing,
    /// The runtime has been asked for the first time and has not answered yet.
    Connecting,
}

impl fmt::Display for WaitReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Call { kind, attempt: 1 } => write!(f, "Docker to answer a call ({})", kind.as_str()),
            Self::Call { kind, attempt } => write!(f, "Docker to answer a call ({}, try {attempt})", kind.as_str()),
            Self::Pause { attempt, after } => write!(f, "a pause before try {attempt}, after: {after}"),
            Self::Store { text } => write!(f, "the state store, which cannot take changes: {text}"),
            Self::RuntimeAway { text } => write!(f, "Docker, which does not answer: {text}"),
            Self::Running => f.write_str("its container to end"),
            Self::Cleanup => f.write_str("the clean-up wait to be over"),
            Self::LateCreate => f.write_str("a create call that was cut off and may still be carried out"),
            Self::Closing => f.write_str("the next start of the agent, which is shutting down"),
            Self::Connecting => f.write_str("the connection to Docker"),
        }
    }
}

impl WaitReason {
    /// What ends the wait, in words.
    #[must_use]
    pub const fn ends_when(&self) -> &'static str {
        match self {
            Self::Call { .. } => "Docker answers, or the limit of the call is over",
            Self::Pause { .. } => "the pause is over",
            Self::Store { .. } => "the store takes a commit again",
            Self::RuntimeAway { .. } => "Docker answers again",
            Self::Running => "the container ends or is stopped",
            Self::Cleanup => "its time is over",
            Self::LateCreate => "the container appears, or the limit of the call is over",
            Self::Closing => "the agent is started again",
            Self::Connecting => "Docker answers",
        }
    }
}
