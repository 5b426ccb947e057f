//! What this host offers: root, tools, an engine, and whether we run as CI.

use crate::command::in_path;
use crate::engine::Engine;

/// Facts found once at the start of a sub-command.
#[derive(Debug)]
pub(crate) struct Host {
    /// `CI=true`: what cannot be run counts as failed.
    pub(crate) is_ci: bool,
    /// Effective user id 0: loop devices, mounts, namespaces.
    pub(crate) is_root: bool,
    pub(crate) has_nextest: bool,
    pub(crate) has_deny: bool,
    /// The engine that answers, or why none does.
    pub(crate) engine: Result<Engine, String>,
}

impl Host {
    pub(crate) fn look() -> Self {
        Self {
            is_ci: is_ci(),
            is_root: is_root(),
            has_nextest: in_path("cargo-nextest"),
            has_deny: in_path("cargo-deny"),
            engine: Engine::find().map_err(|error| format!("{error:#}")),
        }
    }
}

pub(crate) fn is_ci() -> bool {
    std::env::var("CI").is_ok_and(|value| value == "true")
}

pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}
