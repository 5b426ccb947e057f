//! What a look at the runtime shows.

use alloc::{collections::BTreeMap, string::String, vec::Vec};

use lighterman_ids::{ImageId, RuntimeId, RuntimeName, Wall};

use crate::PortKey;

/// Exit code of a process, 0 to 255 from the engine.
pub type ExitCode = i32;

/// The answer to a create call.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Created {
    /// The id from now on.
    pub id: RuntimeId,
    /// What the engine did not take, in its own words.
    pub warnings: Vec<String>,
}

/// What an inspect of a container shows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ContainerFacts {
    /// Its id.
    pub id: RuntimeId,
    /// Its name, without the engine's leading `/`.
    pub name: RuntimeName,
    /// All labels, the image's included.
    pub labels: BTreeMap<String, String>,
    /// Where it stands.
    pub phase: Phase,
    /// `State.OOMKilled`: also set when only a child was killed (seen on 20.10).
    pub oom_killed: bool,
    /// `State.Error`, empty when there is none.
    pub error: String,
    /// `Created`.
    pub created_at: Option<Wall>,
    /// Last start, `None` if it never ran; the run key of engine.md 4.10.
    pub started_at: Option<Wall>,
    /// Last end, `None` if it never ended. Can lie before the start for very short runs (seen on 20.10).
    pub finished_at: Option<Wall>,
    /// Health, where the engine runs a check.
    pub health: Option<HealthFacts>,
    /// Published ports, one entry per bind address.
    pub ports: Vec<PublishedPort>,
    /// The image it was made from.
    pub image: Option<ImageId>,
}

/// Where a container stands in the runtime (engine.md 4.9).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// Made, never started, no error.
    Created,
    /// Running; a paused one and one between restarts count too.
    Running,
    /// Not running any more, or its start failed.
    Exited {
        /// `State.ExitCode`; `None` when it never ran to an end (no finish time).
        code: Option<ExitCode>,
    },
    /// Not running any more, and the engine could not remove it.
    Dead {
        /// As with [`Self::Exited`].
        code: Option<ExitCode>,
    },
}

/// `State.Health`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct HealthFacts {
    /// The engine's word.
    pub word: HealthWord,
    /// Output of the last probe, cut to 1,024 bytes.
    pub output: String,
    /// Exit code of the last probe.
    pub exit_code: Option<ExitCode>,
}

/// The engine's words for health.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HealthWord {
    /// `starting`, `none` or empty: no verdict yet.
    Starting,
    /// `healthy`.
    Healthy,
    /// `unhealthy`.
    Unhealthy,
    /// A word of a newer engine.
    Unrecognized(String),
}

/// A container port on the host.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PublishedPort {
    /// Inside.
    pub container: PortKey,
    /// Bind address as the engine writes it, such as `0.0.0.0` or `::`.
    pub host_ip: String,
    /// Outside, 1 to 65,535.
    pub host_port: u16,
}

/// What an inspect of an image shows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ImageFacts {
    /// Digest of its configuration.
    pub id: ImageId,
    /// `RepoDigests`, such as `registry.test/web@sha256:…`.
    pub repo_digests: Vec<String>,
    /// Names of the variables that the image's own environment sets.
    pub env_names: Vec<String>,
    /// `Config.Healthcheck.Test` as the image has it, absent if it has no check.
    pub health_test: Option<Vec<String>>,
}

/// One line of a list of containers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ContainerSummary {
    /// Its id.
    pub id: RuntimeId,
    /// Its name, without the engine's leading `/`.
    pub name: RuntimeName,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// The engine's word for its state.
    pub running: bool,
}

/// What the runtime says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RuntimeVersion {
    /// Such as `20.10.24`.
    pub version: String,
    /// Highest API version it speaks, such as `1.41`.
    pub api_version: String,
    /// Lowest API version it speaks.
    pub min_api_version: String,
}
