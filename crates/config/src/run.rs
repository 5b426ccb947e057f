//! What `lighterman run` works with.

use std::time::Duration;

/// Settings of `lighterman run`; [`crate::SETTINGS`] has a row for every field.
///
/// `Default` is what `run` uses when nobody sets anything. It differs from the reference agent's where a person
/// sits in front of it: see [`RunSettings::REFERENCE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RunSettings {
    /// Limit of a ping.
    pub ping: Duration,
    /// Limit of asking for the engine's version.
    pub version: Duration,
    /// Limit of an inspect of a container or image.
    pub inspect: Duration,
    /// Limit of a list of containers.
    pub list: Duration,
    /// Limit of a create.
    pub create: Duration,
    /// Limit of a start.
    pub start: Duration,
    /// Limit of a stop, on top of the container's stop timeout.
    pub stop_margin: Duration,
    /// Limit of a kill.
    pub kill: Duration,
    /// Limit of a removal.
    pub remove: Duration,
    /// Limit of a whole pull.
    pub pull: Duration,
    /// Limit of the wait for a pull's first progress line.
    pub pull_first_progress: Duration,
    /// Longest silence within a pull.
    pub pull_inactivity: Duration,
    /// Between the stop signal and the kill, for a container that sets none.
    pub stop_timeout: Duration,
    /// How long the containers of a stopped task are kept.
    pub cleanup_wait: Duration,
    /// How long the removal of a container is tried before nobody waits for it; it is then left to the next start.
    pub cleanup_patience: Duration,
    /// How long the engine may be away before `run` gives up; containers are then left to the next start.
    pub patience: Duration,
    /// Calls in flight: create, start, remove, inspect.
    pub max_calls: u32,
    /// Pulls in flight.
    pub max_pulls: u32,
}

impl RunSettings {
    /// What the reference agent does out of the box (engine.md 4.7.5, 4.9 and 9), and ours where it has no such
    /// setting.
    pub const REFERENCE: Self = Self {
        ping: Duration::from_secs(5),
        version: Duration::from_secs(10),
        inspect: Duration::from_secs(30),
        list: Duration::from_secs(600),
        create: Duration::from_secs(240),
        start: Duration::from_secs(180),
        stop_margin: Duration::from_secs(120),
        kill: Duration::from_secs(30),
        remove: Duration::from_secs(300),
        pull: Duration::from_secs(7_200),
        pull_first_progress: Duration::from_secs(300),
        pull_inactivity: Duration::from_secs(60),
        stop_timeout: Duration::from_secs(30),
        cleanup_wait: Duration::from_secs(10_800),
        cleanup_patience: Duration::from_secs(60),
        patience: Duration::from_secs(60),
        max_calls: 16,
        max_pulls: 4,
    };

    /// The reference's, but for what keeps a person waiting.
    ///
    /// | field | reference | `run` | because |
    /// | --- | --- | --- | --- |
    /// | `create` | 4 min | 1 min | the command shows nothing meanwhile; a create takes 5 to 8 ms (measured) |
    /// | `stop_margin` | 2 min | 10 s | after Ctrl-C the kill has long been sent |
    /// | `cleanup_wait` | 3 h | 0 | the command ends when its task does |
    pub const RUN: Self = Self {
        create: Duration::from_secs(60),
        stop_margin: Duration::from_secs(10),
        cleanup_wait: Duration::ZERO,
        ..Self::REFERENCE
    };
}

impl Default for RunSettings {
    fn default() -> Self {
        Self::RUN
    }
}
