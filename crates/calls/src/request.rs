//! Requests and the answers to them.

use alloc::{boxed::Box, string::String, vec::Vec};
use core::{convert::Infallible, fmt, time::Duration};

use lighterman_ids::{ImageRef, InstanceId, RuntimeId, RuntimeName};

use crate::{
    ContainerFacts, ContainerSummary, CreateRequest, Created, ImageFacts, ImageSummary, ImageTarget, Lost, Outcome,
    Platform, RemoteImage, RuntimeVersion, VolumeFacts, VolumeRequest,
};

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
        /// For which kind of machine; `None` is the runtime's own.
        platform: Option<Platform>,
        /// When to give up on silence.
        limits: PullLimits,
    },
    /// Ask the image's registry, through the runtime, for its digest.
    ResolveDigest(ImageRef),
    /// Give an image one more name; another image that has the name loses it.
    TagImage {
        /// Which image.
        image: ImageTarget,
        /// The name, never with a digest.
        tag: ImageRef,
    },
    /// Take a name away, and with the last one the image; by id, an image with at most one name. Never by force.
    RemoveImage(ImageTarget),
    /// All images that have a name or are no part of another one.
    ListImages,
    /// Make a volume. Idempotent by name: one that has it is left as it is, whatever else is asked for, and shown.
    CreateVolume(VolumeRequest),
    /// Look at a volume.
    InspectVolume(RuntimeName),
    /// Remove a volume that no container has, running or not.
    RemoveVolume(RuntimeName),
    /// All volumes that carry the instance's label.
    ListVolumes(InstanceId),
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
    /// [`Request::ResolveDigest`].
    ResolveDigest,
    /// [`Request::TagImage`].
    TagImage,
    /// [`Request::RemoveImage`].
    RemoveImage,
    /// [`Request::ListImages`].
    ListImages,
    /// [`Request::CreateVolume`].
    CreateVolume,
    /// [`Request::InspectVolume`].
    InspectVolume,
    /// [`Request::RemoveVolume`].
    RemoveVolume,
    /// [`Request::ListVolumes`].
    ListVolumes,
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
            Self::ResolveDigest => "resolve-digest",
            Self::TagImage => "tag-image",
            Self::RemoveImage => "remove-image",
            Self::ListImages => "list-images",
            Self::CreateVolume => "create-volume",
            Self::InspectVolume => "inspect-volume",
            Self::RemoveVolume => "remove-volume",
            Self::ListVolumes => "list-volumes",
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
            Self::ResolveDigest(_) => RequestKind::ResolveDigest,
            Self::TagImage { .. } => RequestKind::TagImage,
            Self::RemoveImage(_) => RequestKind::RemoveImage,
            Self::ListImages => RequestKind::ListImages,
            Self::CreateVolume(_) => RequestKind::CreateVolume,
            Self::InspectVolume(_) => RequestKind::InspectVolume,
            Self::RemoveVolume(_) => RequestKind::RemoveVolume,
            Self::ListVolumes(_) => RequestKind::ListVolumes,
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
            | Self::ResolveDigest(_)
            | Self::ListImages
            | Self::InspectVolume(_)
            | Self::ListVolumes(_)
            | Self::Inspect(_)
            | Self::Stop { .. }
            | Self::Kill { .. }
            | Self::List(_) => true,
            Self::Pull { .. }
            | Self::TagImage { .. }
            | Self::RemoveImage(_)
            | Self::CreateVolume(_)
            | Self::RemoveVolume(_)
            | Self::Create(_)
            | Self::Start(_)
            | Self::Remove(_) => false,
        }
    }

    /// The answer of this kind of request when contact was lost.
    #[must_use]
    pub fn lost(&self, lost: Lost) -> Answer {
        self.not_done(Outcome::Unknown(lost))
    }

    /// The answer of this kind of request when it ended in another way than `Done`.
    #[must_use]
    pub fn not_done(&self, how: Outcome<Infallible>) -> Answer {
        fn of<T>(how: Outcome<Infallible>) -> Outcome<T> {
            how.map(|never| match never {})
        }
        match self {
            Self::Ping => Answer::Ping(of(how)),
            Self::Version => Answer::Version(of(how)),
            Self::InspectImage(_) => Answer::InspectImage(of(how)),
            Self::Pull { .. } => Answer::Pull(of(how)),
            Self::ResolveDigest(_) => Answer::ResolveDigest(of(how)),
            Self::TagImage { .. } => Answer::TagImage(of(how)),
            Self::RemoveImage(_) => Answer::RemoveImage(of(how)),
            Self::ListImages => Answer::ListImages(of(how)),
            Self::CreateVolume(_) => Answer::CreateVolume(of(how)),
            Self::InspectVolume(_) => Answer::InspectVolume(of(how)),
            Self::RemoveVolume(_) => Answer::RemoveVolume(of(how)),
            Self::ListVolumes(_) => Answer::ListVolumes(of(how)),
            Self::Create(_) => Answer::Create(of(how)),
            Self::Start(_) => Answer::Start(of(how)),
            Self::Inspect(_) => Answer::Inspect(of(how)),
            Self::Stop { .. } => Answer::Stop(of(how)),
            Self::Kill { .. } => Answer::Kill(of(how)),
            Self::Remove(_) => Answer::Remove(of(how)),
            Self::List(_) => Answer::List(of(how)),
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
    /// To [`Request::ResolveDigest`].
    ResolveDigest(Outcome<RemoteImage>),
    /// To [`Request::TagImage`]; `Gone` when the image is not there.
    TagImage(Outcome<()>),
    /// To [`Request::RemoveImage`]; `Gone` when the image is not there.
    RemoveImage(Outcome<()>),
    /// To [`Request::ListImages`].
    ListImages(Outcome<Vec<ImageSummary>>),
    /// To [`Request::CreateVolume`]: what has the name now.
    CreateVolume(Outcome<Box<VolumeFacts>>),
    /// To [`Request::InspectVolume`].
    InspectVolume(Outcome<Box<VolumeFacts>>),
    /// To [`Request::RemoveVolume`].
    RemoveVolume(Outcome<()>),
    /// To [`Request::ListVolumes`].
    ListVolumes(Outcome<Vec<VolumeFacts>>),
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
            Self::ResolveDigest(_) => RequestKind::ResolveDigest,
            Self::TagImage(_) => RequestKind::TagImage,
            Self::RemoveImage(_) => RequestKind::RemoveImage,
            Self::ListImages(_) => RequestKind::ListImages,
            Self::CreateVolume(_) => RequestKind::CreateVolume,
            Self::InspectVolume(_) => RequestKind::InspectVolume,
            Self::RemoveVolume(_) => RequestKind::RemoveVolume,
            Self::ListVolumes(_) => RequestKind::ListVolumes,
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
            Self::Ping(o)
            | Self::Pull(o)
            | Self::TagImage(o)
            | Self::RemoveImage(o)
            | Self::RemoveVolume(o)
            | Self::Start(o)
            | Self::Stop(o)
            | Self::Kill(o)
            | Self::Remove(o) => of(o),
            Self::Version(o) => of(o),
            Self::InspectImage(o) => of(o),
            Self::ResolveDigest(o) => of(o),
            Self::ListImages(o) => of(o),
            Self::CreateVolume(o) | Self::InspectVolume(o) => of(o),
            Self::ListVolumes(o) => of(o),
            Self::Create(o) => of(o),
            Self::Inspect(o) => of(o),
            Self::List(o) => of(o),
        }
    }
}
