//! The configuration of an image, as the engine reads it.
//!
//! These are typed structures and not a JSON value because the image id is the digest of this text:
//! fields stand in the order written here, maps in the order of their keys, whatever features
//! another crate switches on in `serde_json`.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::health::HealthCheck;

/// The processor an image is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Architecture {
    /// `amd64`: `x86_64` in Rust's words.
    Amd64,
    /// `arm64`: `aarch64` in Rust's words.
    Arm64,
}

impl Architecture {
    /// The processor this crate was compiled for; `None` if images cannot name it.
    #[must_use]
    pub const fn host() -> Option<Self> {
        if cfg!(target_arch = "x86_64") {
            Some(Self::Amd64)
        } else if cfg!(target_arch = "aarch64") {
            Some(Self::Arm64)
        } else {
            None
        }
    }
}

/// Every time in an image. Not now, or the id would change with each build.
pub(crate) const CREATED: &str = "1970-01-01T00:00:00Z";

/// What the engine hashes to name the image.
#[derive(Serialize)]
pub(crate) struct ImageConfig<'a> {
    pub(crate) architecture: Architecture,
    pub(crate) os: &'static str,
    pub(crate) created: &'static str,
    pub(crate) config: &'a Settings,
    pub(crate) rootfs: RootFs,
    pub(crate) history: [History; 1],
}

#[derive(Serialize)]
pub(crate) struct RootFs {
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    /// Digests of the layers as plain tars.
    pub(crate) diff_ids: [String; 1],
}

/// One entry per layer, or `docker history` shows nothing.
#[derive(Serialize)]
pub(crate) struct History {
    pub(crate) created: &'static str,
    pub(crate) created_by: &'static str,
}

/// What a container takes over from its image unless it says otherwise.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct Settings {
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) user: String,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) exposed_ports: BTreeMap<String, Present>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) env: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) entrypoint: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) cmd: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) healthcheck: Option<HealthCheck>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) volumes: BTreeMap<String, Present>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) working_dir: String,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) labels: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) stop_signal: String,
}

/// The empty object by which the engine writes a set as a map.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
pub(crate) struct Present {}
