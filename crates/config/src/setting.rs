//! The table of settings: key, variable, limits and meaning.

use std::{fmt, time::Duration};

use crate::{RunSettings, format_duration};

/// One setting: its key, what it may be set to, and which field of [`RunSettings`] it is.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Key in a settings file, `section.name`. [`Setting::variable`] is derived from it.
    pub key: &'static str,
    /// What it is, in a few words.
    pub about: &'static str,
    /// The field, its type and its range.
    pub field: Field,
    /// The variable of the reference with the same meaning.
    pub reference: Option<Reference>,
}

/// A field of [`RunSettings`] and what it may hold, both ends included.
#[derive(Clone, Copy)]
pub enum Field {
    /// A duration.
    Time {
        /// The field.
        of: fn(&mut RunSettings) -> &mut Duration,
        /// Least value.
        least: Duration,
        /// Greatest value.
        most: Duration,
    },
    /// A number.
    Count {
        /// The field.
        of: fn(&mut RunSettings) -> &mut u32,
        /// Least value.
        least: u32,
        /// Greatest value.
        most: u32,
    },
}

/// A variable of the reference, read for compatibility (engine.md 9).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reference {
    /// Its name.
    pub variable: &'static str,
    /// The least value that the reference takes.
    pub least: Duration,
    /// What it makes of less.
    pub below: Below,
}

/// What becomes of a value below the minimum of a [`Reference`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Below {
    /// The minimum counts.
    Raised,
    /// The default counts.
    Default,
}

impl Setting {
    /// Our variable for it: `LIGHTERMAN_RUNTIME_STOP_TIMEOUT` for the key `runtime.stop_timeout`.
    #[must_use]
    pub fn variable(&self) -> String {
        format!("{PREFIX}{}", self.key.replace('.', "_").to_uppercase())
    }
}

impl Field {
    /// What the field holds, as it would be written.
    #[must_use]
    pub fn print(&self, settings: &RunSettings) -> String {
        let mut copy = *settings;
        match self {
            Self::Time { of, .. } => format_duration(*of(&mut copy)),
            Self::Count { of, .. } => of(&mut copy).to_string(),
        }
    }

    /// What is allowed, such as `100ms to 720h0m0s`.
    #[must_use]
    pub fn range(&self) -> String {
        match self {
            Self::Time { least, most, .. } => format!("{} to {}", format_duration(*least), format_duration(*most)),
            Self::Count { least, most, .. } => format!("{least} to {most}"),
        }
    }
}

impl fmt::Debug for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.range())
    }
}

/// Of all our variables.
pub(crate) const PREFIX: &str = "LIGHTERMAN_";

/// A limit below this is missed by a healthy engine on a busy host.
const LEAST_LIMIT: Duration = Duration::from_millis(100);

/// 30 days: more is a slip of the pen.
const MOST: Duration = Duration::from_secs(30 * 24 * 3_600);

const fn time(
    key: &'static str,
    of: fn(&mut RunSettings) -> &mut Duration,
    least: Duration,
    reference: Option<Reference>,
    about: &'static str,
) -> Setting {
    Setting { key, about, field: Field::Time { of, least, most: MOST }, reference }
}

const fn count(key: &'static str, of: fn(&mut RunSettings) -> &mut u32, most: u32, about: &'static str) -> Setting {
    Setting { key, about, field: Field::Count { of, least: 1, most }, reference: None }
}

const fn raised(variable: &'static str, least: Duration) -> Option<Reference> {
    Some(Reference { variable, least, below: Below::Raised })
}

/// Every setting, in the order in which they are shown.
///
/// The variable of the reference for the clean-up wait is not read: `run` ends when its task does, and a value meant
/// for an agent would make it stay for hours.
pub const SETTINGS: &[Setting] = &[
    time(
        "runtime.patience",
        |s| &mut s.patience,
        Duration::ZERO,
        None,
        "how long Docker may be away before run gives up",
    ),
    time("runtime.ping_timeout", |s| &mut s.ping, LEAST_LIMIT, None, "limit of a ping"),
    time("runtime.version_timeout", |s| &mut s.version, LEAST_LIMIT, None, "limit of asking for the version"),
    time("runtime.inspect_timeout", |s| &mut s.inspect, LEAST_LIMIT, None, "limit of an inspect"),
    time("runtime.list_timeout", |s| &mut s.list, LEAST_LIMIT, None, "limit of a list of containers"),
    time(
        "runtime.create_timeout",
        |s| &mut s.create,
        LEAST_LIMIT,
        raised("ECS_CONTAINER_CREATE_TIMEOUT", Duration::from_secs(60)),
        "limit of a create",
    ),
    time(
        "runtime.start_timeout",
        |s| &mut s.start,
        LEAST_LIMIT,
        raised("ECS_CONTAINER_START_TIMEOUT", Duration::from_secs(45)),
        "limit of a start",
    ),
    time(
        "runtime.stop_timeout",
        |s| &mut s.stop_timeout,
        Duration::ZERO,
        raised("ECS_CONTAINER_STOP_TIMEOUT", Duration::from_secs(1)),
        "between stop signal and kill, for a container that sets none",
    ),
    time("runtime.stop_margin", |s| &mut s.stop_margin, LEAST_LIMIT, None, "limit of a stop, on top of its timeout"),
    time("runtime.kill_timeout", |s| &mut s.kill, LEAST_LIMIT, None, "limit of a kill"),
    time("runtime.remove_timeout", |s| &mut s.remove, LEAST_LIMIT, None, "limit of a removal"),
    count("runtime.max_calls", |s| &mut s.max_calls, 256, "create, start, remove and inspect calls in flight"),
    time(
        "images.pull_timeout",
        |s| &mut s.pull,
        LEAST_LIMIT,
        raised("ECS_IMAGE_PULL_TIMEOUT", Duration::ZERO),
        "limit of a pull",
    ),
    time(
        "images.pull_first_progress",
        |s| &mut s.pull_first_progress,
        LEAST_LIMIT,
        None,
        "limit of the wait for a pull's first progress",
    ),
    time(
        "images.pull_inactivity_timeout",
        |s| &mut s.pull_inactivity,
        LEAST_LIMIT,
        raised("ECS_IMAGE_PULL_INACTIVITY_TIMEOUT", Duration::from_secs(60)),
        "longest silence within a pull",
    ),
    count("images.max_pulls", |s| &mut s.max_pulls, 64, "pulls in flight"),
    time(
        "tasks.cleanup_wait",
        |s| &mut s.cleanup_wait,
        Duration::ZERO,
        None,
        "how long a stopped container is kept at most for its output to be read; less than 24h counts as 24h",
    ),
    time(
        "tasks.cleanup_patience",
        |s| &mut s.cleanup_patience,
        Duration::ZERO,
        None,
        "how long Docker may fail to remove a container before it is left to the next run",
    ),
];
