//! What is said to a container runtime, and what comes back.
//!
//! The core decides in these words, the model of the engine answers in them, and an adapter turns
//! them into one call of a real API each. Nothing here performs anything.
//!
//! Begin with [`Call`] (a [`Request`] and its limit in time), [`Answer`] (one variant per request)
//! and [`Outcome`], the four ways a call can end. What a look at a container shows is
//! [`ContainerFacts`]; what the runtime reports by itself is a [`RuntimeEvent`].
//!
//! Not for: what a call means for a task (that is decided in `task-manager`), nor which action it
//! belongs to (`ActionId` travels beside it, in the driver).
//!
//! ```
//! use lighterman_calls::{Lost, LostCause, Outcome, Refusal, RefusalClass};
//!
//! // A create that was cut off may or may not have happened: the only honest answer is `Unknown`.
//! let cut: Outcome<()> = Outcome::Unknown(Lost::new(LostCause::ConnectionLost, "closed before the answer"));
//! assert!(!cut.is_done());
//! let taken: Outcome<()> = Outcome::Refused(Refusal::new(RefusalClass::NameInUse, "name is in use"));
//! assert_eq!(taken.map(|()| 1), Outcome::Refused(Refusal::new(RefusalClass::NameInUse, "name is in use")));
//! ```
#![no_std]
#![forbid(unsafe_code)]
#![warn(clippy::wildcard_enum_match_arm)]

extern crate alloc;

mod create;
mod environment;
mod event;
mod facts;
mod health;
mod host;
mod outcome;
mod progress;
mod request;
mod stored;

pub use create::{ContainerConfig, CreateRequest, Platform};
pub use environment::Environment;
pub use event::{EventAction, RuntimeEvent, Watched};
pub use facts::{
    ContainerFacts, ContainerSummary, Created, ExitCode, HealthFacts, HealthWord, ImageFacts, Phase, PublishedPort,
    RuntimeVersion,
};
pub use health::{HealthTest, HealthcheckConfig};
pub use host::{
    Device, DeviceAccess, ExtraHost, Gpus, HostConfig, IpcMode, Link, LogConfig, Mount, MountSource, NetworkMode,
    PidMode, PortBinding, PortKey, Propagation, Protocol, Ulimit, UtsMode, VolumesFrom,
};
pub use outcome::{Lost, LostCause, Outcome, Refusal, RefusalClass};
pub use progress::{PullProgress, PullStep};
pub use request::{Answer, Call, ContainerTarget, PullLimits, Request, RequestKind, Signal};
pub use stored::{ImageSummary, ImageTarget, RemoteImage, VolumeFacts, VolumeRequest};

/// Label keys of our own; without them nothing is ours (design.md R10).
pub mod labels {
    /// The instance id of the state directory that made the object.
    pub const INSTANCE: &str = "dev.lighterman.instance";
    /// The task id.
    pub const TASK: &str = "dev.lighterman.task";
    /// The container's name in its definition.
    pub const CONTAINER: &str = "dev.lighterman.container";
    /// Digest of what the user wrote.
    pub const DEFINITION: &str = "dev.lighterman.def";
    /// Compressed definition to stop in order and to re-adopt, without environment values.
    pub const RECOVER: &str = "dev.lighterman.recover";
    /// Prefix of all of them; a user label under it is refused.
    pub const PREFIX: &str = "dev.lighterman.";
}
