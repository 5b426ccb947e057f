//! Requests and the answers to them.

use alloc::{boxed::Box, string::String, vec::Vec};
use core::{fmt, time::Duration};

use lighterman_ids::{ImageRef, InstanceId, RuntimeId, RuntimeName};

use crate::{ContainerFacts, ContainerSummary, CreateRequest, Created, ImageFacts, Outcome, RuntimeVersion};

/// One call to make: the request and the limit in time around the whole of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Call {
    /// What to ask.
    pub request: Request,
    /// After this the adapter answers `Unknown(TimedOut)`; the engine may still go on.
    pub limit: Duration,
}

/// A container, by the id the runtime gave it or by the name we did.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ContainerTarget {
    /// By id: always the same incarnation.
    Id(RuntimeId),
    /// By name: for when a create was lost before its id was known.
    Name(RuntimeName),
}

impl ContainerTarget {
    /// The id or name as text; safe as one segment of a URL path.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Id(id) => id.as_str(),
            Self::Name(name) => name.as_str(),
        }
    }
}

impl fmt::Debug for ContainerTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for ContainerTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Signals that we send.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Signal {
    /// Ask to end.
    Term,
    /// End at once.
    Kill,
}

impl Signal {
    /// The name the engine takes.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Term => "SIGTERM",
            Self::Kill => "SIGKILL",
        }
    }
}

/// Limits inside a pull (engine.md 4.7.5); the limit of the whole is the call's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PullLimits {
    /// Longest wait for the first progress line.
    pub first_progress: Duration,
    /// Longest silence after that.
    pub inactivity: Duration,
}

/// One call of the runtime's API.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Request {
    /// Does it answer at all?
    Ping,
    /// Which version is it, and which API versions does it speak?
    Version,
    /// Is the image there, and what is in its configuration?
    InspectImage(ImageRef),
    /// Fetch the image from its registry.
    Pull {
        /// What to fetch.
        image: ImageRef,
        /// When to give up on silence.
        limits: PullLimits,
    },
    /// Make a container. Idempotent by name: a second one is `Refused(NameInUse)`.
    Create(Box<CreateRequest>),
    /// Start a created or stopped container. Idempotent by state.
    Start(ContainerTarget),
    /// Look at a container.
    Inspect(ContainerTarget),
    /// Send the stop signal, wait for the grace, then kill; answers when it has ended. Idempotent by state.
    Stop {
        /// Which container.
        container: ContainerTarget,
        /// Between the stop signal and the kill; sent in whole seconds, rounded up. With zero the stop signal is sent
        /// all the same, and the kill about 10 ms later (measured on Docker 20.10).
        grace: Duration,
    },
    /// Send a signal.
    Kill {
        /// Which container.
        container: ContainerTarget,
        /// Which signal.
        signal: Signal,
    },
    /// Remove a container that is not running, with its anonymous volumes, never by force.
    Remove(ContainerTarget),
    /// All containers, running or not, that carry the instance's label.
    List(InstanceId),
}

/// The kinds of [`Request`], for metrics, limits and tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RequestKind {
    /// [`Request::Ping`].
    Ping,
    /// [`Request::Version`].
    Version,
    /// [`Request::InspectImage`].
    InspectImage,
    /// [`Request::Pull`].
    Pull,
    /// [`Request::Create`].
    Create,
    /// [`Request::Start`].
    Start,
    /// [`Request::Inspect`].
    Inspect,
    /// [`Request::Stop`].
    Stop,
    /// [`Request::Kill`].
    Kill,
    /// [`Request::Remove`].
    Remove,
    /// [`Request::List`].
    List,
}

impl RequestKind {
    /// The kind in one word, for logs, metrics and scripts.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ping => "ping",
            Self::Version => "version",
            Self::InspectImage => "inspect-image",
            Self::Pull => "pull",
            Self::Create => "create",
            Self::Start => "start",
            Self::Inspect => "inspect",
            Self::Stop => "stop",
            Self::Kill => "kill",
            Self::Remove => "remove",
            Self::List => "list",
        }
    }
}

impl Request {
    /// Which kind of request this is.
    #[must_use]
    pub const fn kind(&self) -> RequestKind {
        match self {
            Self::Ping => RequestKind::Ping,
            Self::Version => RequestKind::Version,
            Self::InspectImage(_) => RequestKind::InspectImage,
            Self::Pull { .. } => RequestKind::Pull,
            Self::Create(_) => RequestKind::Create,
            Self::Start(_) => RequestKind::Start,
            Self::Inspect(_) => RequestKind::Inspect,
            Self::Stop { .. } => RequestKind::Stop,
            Self::Kill { .. } => RequestKind::Kill,
            Self::Remove(_) => RequestKind::Remove,
            Self::List(_) => RequestKind::List,
        }
    }

    /// Whether the request only looks or only ends things, so that it may leave while the store
    /// fails (design.md R1).
    #[must_use]
    pub const fn is_protective(&self) -> bool {
        match self {
            Self::Ping
            | Self::Version
            | Self::InspectImage(_)
            | Self::Inspect(_)
            | Self::Stop { .. }
            | Self::Kill { .. }
            | Self::List(_) => true,
            Self::Pull { .. } | Self::Create(_) | Self::Start(_) | Self::Remove(_) => false,
        }
    }

    /// The answer of this kind of request when contact was lost.
    #[must_use]
    pub fn lost(&self, lost: crate::Lost) -> Answer {
        match self {
            Self::Ping => Answer::Ping(Outcome::Unknown(lost)),
            Self::Version => Answer::Version(Outcome::Unknown(lost)),
            Self::InspectImage(_) => Answer::InspectImage(Outcome::Unknown(lost)),
            Self::Pull { .. } => Answer::Pull(Outcome::Unknown(lost)),
            Self::Create(_) => Answer::Create(Outcome::Unknown(lost)),
            Self::Start(_) => Answer::Start(Outcome::Unknown(lost)),
            Self::Inspect(_) => Answer::Inspect(Outcome::Unknown(lost)),
            Self::Stop { .. } => Answer::Stop(Outcome::Unknown(lost)),
            Self::Kill { .. } => Answer::Kill(Outcome::Unknown(lost)),
            Self::Remove(_) => Answer::Remove(Outcome::Unknown(lost)),
            Self::List(_) => Answer::List(Outcome::Unknown(lost)),
        }
    }
}

/// What came back, one variant per [`Request`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Answer {
    /// To [`Request::Ping`].
    Ping(Outcome<()>),
    /// To [`Request::Version`].
    Version(Outcome<RuntimeVersion>),
    /// To [`Request::InspectImage`]; `Gone` when the image is not there.
    InspectImage(Outcome<Box<ImageFacts>>),
    /// To [`Request::Pull`].
    Pull(Outcome<()>),
    /// To [`Request::Create`].
    Create(Outcome<Created>),
    /// To [`Request::Start`].
    Start(Outcome<()>),
    /// To [`Request::Inspect`].
    Inspect(Outcome<Box<ContainerFacts>>),
    /// To [`Request::Stop`].
    Stop(Outcome<()>),
    /// To [`Request::Kill`].
    Kill(Outcome<()>),
    /// To [`Request::Remove`].
    Remove(Outcome<()>),
    /// To [`Request::List`].
    List(Outcome<Vec<ContainerSummary>>),
}

impl Answer {
    /// Which kind of request this answers.
    #[must_use]
    pub const fn kind(&self) -> RequestKind {
        match self {
            Self::Ping(_) => RequestKind::Ping,
            Self::Version(_) => RequestKind::Version,
            Self::InspectImage(_) => RequestKind::InspectImage,
            Self::Pull(_) => RequestKind::Pull,
            Self::Create(_) => RequestKind::Create,
            Self::Start(_) => RequestKind::Start,
            Self::Inspect(_) => RequestKind::Inspect,
            Self::Stop(_) => RequestKind::Stop,
            Self::Kill(_) => RequestKind::Kill,
            Self::Remove(_) => RequestKind::Remove,
            Self::List(_) => RequestKind::List,
        }
    }

    /// `done`, or why not, in words: for logs.
    #[must_use]
    pub fn summary(&self) -> String {
        fn of<T>(outcome: &Outcome<T>) -> String {
            match outcome {
                Outcome::Done(_) => "done".into(),
                Outcome::Refused(refusal) => alloc::format!("refused ({}): {}", refusal.class, refusal.text),
                Outcome::Gone => "gone".into(),
                Outcome::Unknown(lost) => alloc::format!("unknown: {}", lost.text),
            }
        }
        match self {
            Self::Ping(o) | Self::Pull(o) | Self::Start(o) | Self::Stop(o) | Self::Kill(o) | Self::Remove(o) => of(o),
            Self::Version(o) => of(o),
            Self::InspectImage(o) => of(o),
            Self::Create(o) => of(o),
            Self::Inspect(o) => of(o),
            Self::List(o) => of(o),
        }
    }
}
