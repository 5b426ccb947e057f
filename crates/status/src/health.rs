//! Health of a container (engine.md 1.7).

use alloc::{borrow::ToOwned as _, string::String};

use lighterman_ids::Wall;

use crate::{StatusTextError, TextFault};

/// What the health check of a container says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Health {
    /// No result yet, the check is in its start period, or there is no check.
    #[default]
    Unknown,
    /// The last checks passed.
    Healthy,
    /// As many checks in a row failed as the check allows.
    Unhealthy,
}

impl Health {
    /// Every value.
    pub const ALL: &'static [Self] = &[Self::Unknown, Self::Healthy, Self::Unhealthy];

    /// The name, which is also the text on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unknown => "UNKNOWN",
            Self::Healthy => "HEALTHY",
            Self::Unhealthy => "UNHEALTHY",
        }
    }

    /// Reads what [`Self::as_str`] writes, and nothing else.
    ///
    /// # Errors
    /// `text` is not one of the names; case counts.
    pub fn parse(text: &str) -> Result<Self, StatusTextError> {
        match text {
            "UNKNOWN" => Ok(Self::Unknown),
            "HEALTHY" => Ok(Self::Healthy),
            "UNHEALTHY" => Ok(Self::Unhealthy),
            _ => Err(StatusTextError::new("health status", text, TextFault::UnknownName)),
        }
    }
}

impl core::fmt::Display for Health {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.pad(self.as_str())
    }
}

/// The health of one container over time.
///
/// It is not persisted: after a restart the runtime tells it again. It never moves another status.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum HealthRecord {
    /// The runtime runs no check for this container; no event changes that.
    Unchecked,
    /// The runtime runs a check.
    Checked {
        /// What it said last.
        status: Health,
        /// When it first said so; `None` before the first result.
        since: Option<Wall>,
        /// What the last run of the check wrote before that, at most [`HealthRecord::OUTPUT_LIMIT`] bytes.
        output: String,
        /// Exit code of the check when the container last became unhealthy.
        exit_code: Option<i32>,
    },
}

impl HealthRecord {
    /// Bytes of output that are kept.
    pub const OUTPUT_LIMIT: usize = 1024;

    /// The record of a container with a check that has not said anything.
    #[must_use]
    pub const fn checked() -> Self {
        Self::Checked { status: Health::Unknown, since: None, output: String::new(), exit_code: None }
    }

    /// The health now; [`Health::Unknown`] without a check.
    #[must_use]
    pub const fn status(&self) -> Health {
        match self {
            Self::Unchecked => Health::Unknown,
            Self::Checked { status, .. } => *status,
        }
    }

    /// Takes a result of the check; says whether the health changed. The same health again changes nothing.
    pub fn learn(&mut self, now: Wall, new: Health, new_output: &str, new_exit_code: Option<i32>) -> bool {
        let Self::Checked { status, since, output, exit_code } = self else { return false };
        if *status == new {
            return false;
        }
        *status = new;
        *since = Some(now);
        cut(new_output, Self::OUTPUT_LIMIT).clone_into(output);
        match new {
            Health::Unhealthy => *exit_code = new_exit_code,
            Health::Unknown | Health::Healthy => {}
        }
        true
    }
}

/// The longest part of `text` from its beginning that has at most `limit` bytes.
fn cut(text: &str, limit: usize) -> &str {
    &text[..text.floor_char_boundary(limit)]
}
