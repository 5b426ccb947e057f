//! Where state goes.

use std::path::{Path, PathBuf};

use lighterman_ids::InstanceId;

use crate::{Environment, Source};

/// For root without a home, such as a unit of systemd.
const SYSTEM_ROOT: &str = "/var/lib/lighterman/run";

/// Under the state home of a user.
const UNDER_STATE_HOME: &str = "lighterman/run";

/// Where the state of a run goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StateRoot {
    /// `--state-dir`: this very directory, for one run after the other.
    Given(PathBuf),
    /// One directory per instance below this one.
    Shared {
        /// The directory that holds those of all instances.
        path: PathBuf,
        /// What decided on it.
        source: Source,
    },
}

/// Why there is no place for state.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StateRootError {
    /// Neither of the places is known.
    #[error("there is no place for state: neither XDG_STATE_HOME nor HOME is an absolute path; give --state-dir")]
    NoHome,
    /// `--state-dir` without a value.
    #[error("--state-dir is empty; give a directory")]
    Empty,
}

impl StateRoot {
    /// `--state-dir`, else `$XDG_STATE_HOME/lighterman/run`, else `$HOME/.local/state/lighterman/run`, else for root
    /// `/var/lib/lighterman/run`. Relative paths in the variables do not count, as XDG asks.
    ///
    /// # Errors
    /// No rule gives a place.
    pub fn resolve(flag: Option<&Path>, env: &Environment, is_root: bool) -> Result<Self, StateRootError> {
        if let Some(path) = flag {
            let empty = path.as_os_str().is_empty();
            return if empty { Err(StateRootError::Empty) } else { Ok(Self::Given(path.into())) };
        }
        if let Some(state_home) = env.absolute_path("XDG_STATE_HOME") {
            return Ok(Self::shared(state_home.join(UNDER_STATE_HOME), Source::Environment("XDG_STATE_HOME".into())));
        }
        if let Some(home) = env.absolute_path("HOME") {
            let path = home.join(".local/state").join(UNDER_STATE_HOME);
            return Ok(Self::shared(path, Source::Environment("HOME".into())));
        }
        if is_root { Ok(Self::shared(SYSTEM_ROOT.into(), Source::Default)) } else { Err(StateRootError::NoHome) }
    }

    const fn shared(path: PathBuf, source: Source) -> Self {
        Self::Shared { path, source }
    }

    /// The directory of one instance.
    #[must_use]
    pub fn of_instance(&self, instance: &InstanceId) -> PathBuf {
        match self {
            Self::Given(path) => path.clone(),
            Self::Shared { path, .. } => path.join(instance.as_str()),
        }
    }

    /// The directory in which those of other instances are looked for; `None` with `--state-dir`, which stands alone.
    #[must_use]
    pub fn of_all(&self) -> Option<&Path> {
        match self {
            Self::Given(_) => None,
            Self::Shared { path, .. } => Some(path),
        }
    }
}
