//! What the steps of one run share: the host, the counts, and what the build has made.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, Result};

use super::counts::Counts;
use crate::artifacts::Artifacts;
use crate::command::Cmd;
use crate::deps::DENY_MISSING;
use crate::host::Host;
use crate::testbox::TESTBOX_ENV;
use crate::workspace::Workspace;

/// Tells tests and benchmarks where the product's binary is.
pub(crate) const BIN_ENV: &str = "LIGHTERMAN_BIN";

/// What a step wants of the host or of an earlier step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Need {
    /// A Docker engine answers.
    Engine,
    /// We are root: loop devices, mounts, network namespaces.
    Root,
    /// The step `build` has passed.
    Build,
    CargoDeny,
}

impl Need {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Engine => "a Docker engine",
            Self::Root => "root",
            Self::Build => "the build",
            Self::CargoDeny => "cargo-deny",
        }
    }
}

/// Why a step cannot be run.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Missing {
    pub(super) text: String,
    /// Whether that counts as a failure.
    pub(super) is_fatal: bool,
}

/// One run of `ci`.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) workspace: Workspace,
    pub(super) host: Host,
    pub(super) full: bool,
    pub(super) counts: Counts,
    pub(super) built: Option<Built>,
    /// Of the step that is running.
    limit: Duration,
}

/// What the step `build` leaves to the others.
#[derive(Debug)]
pub(super) struct Built {
    pub(super) artifacts: Artifacts,
    /// The static test program.
    pub(super) testbox: PathBuf,
}

impl Plan {
    pub(super) fn new(full: bool) -> Result<Self> {
        Ok(Self {
            workspace: Workspace::load()?,
            host: Host::look(),
            full,
            counts: Counts::of(full),
            built: None,
            limit: Duration::ZERO,
        })
    }

    /// The facts that decide what can be run.
    pub(super) fn describe(&self) -> String {
        let yes_no = |yes: bool| if yes { "yes" } else { "no" };
        let engine = match &self.host.engine {
            Ok(engine) => format!("Docker {} (API {})", engine.version, engine.api_version),
            Err(why) => format!("none ({why})"),
        };
        format!(
            "engine: {engine}\nroot: {}, nextest: {}, cargo-deny: {}, CI: {}, counts: {}",
            yes_no(self.host.is_root),
            yes_no(self.host.has_nextest),
            yes_no(self.host.has_deny),
            yes_no(self.host.is_ci),
            if self.full { "full" } else { "ci" },
        )
    }

    pub(super) fn missing(&self, need: Need) -> Option<Missing> {
        let is_ci = self.host.is_ci;
        let missing = |text: &str, is_fatal| Some(Missing { text: text.to_owned(), is_fatal });
        match need {
            Need::Engine => self.host.engine.as_ref().err().and_then(|why| missing(why, is_ci)),
            Need::Root if !self.host.is_root => missing("needs root", is_ci),
            Need::Build if self.built.is_none() => missing("the build failed", true),
            // Our own check of deny.toml has run: what cargo-deny adds is no reason to fail.
            Need::CargoDeny if !self.host.has_deny => missing(DENY_MISSING, false),
            Need::Root | Need::Build | Need::CargoDeny => None,
        }
    }

    /// Begins a step: all its commands share this limit.
    pub(super) fn begin(&mut self, limit: Duration) {
        self.limit = limit;
    }

    /// Runs a command within the limit of the step.
    pub(super) fn run(&self, command: Cmd) -> Result<()> {
        command.limit(self.limit).run()
    }

    /// Runs a command within the limit of the step and returns what it wrote.
    pub(super) fn output(&self, command: Cmd) -> Result<Vec<u8>> {
        command.limit(self.limit).output()
    }

    pub(super) fn built(&self) -> Result<&Built> {
        self.built.as_ref().context("the build failed")
    }

    /// Tells the program, or the tests that it starts, where the programs under test are.
    pub(super) fn told(&self, command: Cmd) -> Result<Cmd> {
        let built = self.built()?;
        let product = built.artifacts.bin("lighterman", "lighterman")?;
        Ok(command.env(TESTBOX_ENV, &built.testbox).env(BIN_ENV, product))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn plan(is_ci: bool) -> Plan {
        let workspace = Workspace {
            root: "/ws".into(),
            target_dir: "/ws/target".into(),
            members: Vec::new(),
            foreign: Vec::new(),
            resolved: BTreeMap::new(),
        };
        let host =
            Host { is_ci, is_root: false, has_nextest: false, has_deny: false, engine: Err("no engine".to_owned()) };
        Plan { workspace, host, full: false, counts: Counts::of(false), built: None, limit: Duration::ZERO }
    }

    #[test]
    fn without_engine_or_root_the_rest_passes_but_not_in_ci() {
        for is_ci in [false, true] {
            assert_eq!(plan(is_ci).missing(Need::Engine).unwrap().is_fatal, is_ci);
            assert_eq!(plan(is_ci).missing(Need::Root).unwrap().is_fatal, is_ci);
            assert!(plan(is_ci).missing(Need::Build).unwrap().is_fatal);
            assert!(!plan(is_ci).missing(Need::CargoDeny).unwrap().is_fatal);
        }
    }

    #[test]
    fn what_is_there_is_not_missing() {
        let mut plan = plan(true);
        plan.host.is_root = true;
        plan.host.has_deny = true;
        plan.built = Some(Built { artifacts: Artifacts::default(), testbox: "/t".into() });
        for need in [Need::Root, Need::Build, Need::CargoDeny] {
            assert_eq!(plan.missing(need), None);
        }
    }
}
