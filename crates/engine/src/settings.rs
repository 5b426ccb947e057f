//! What the state machine of the host takes as given.

use core::time::Duration;

use lighterman_backoff::Backoff;
use lighterman_task_manager::Settings;

/// Limits, pauses and counts of the host. Defaults and clamps live in `config`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct HostSettings {
    /// Those of every task.
    pub task: Settings,
    /// Calls in flight at once (create, start, remove, inspect); a stop or kill needs no place.
    pub max_calls: usize,
    /// Pulls in flight at once.
    pub max_pulls: usize,
    /// Longest wait for the answer to a version call or the opening of the event stream.
    pub connect_limit: Duration,
    /// Pauses while the runtime answers wrongly (engine.md 4.1).
    pub connect_retry: Backoff,
    /// Pauses before the event stream is opened again (engine.md 4.10).
    pub watch_retry: Backoff,
    /// Pauses while the local socket is missing or refuses; below a second with their jitter, so that whatever ended
    /// meanwhile is known within a second of Docker's return (performance.md P16).
    pub away_retry: Backoff,
    /// Pauses before a failed commit is tried again.
    pub store_retry: Backoff,
    /// Between two re-checks of all containers (engine.md 3.8) …
    pub recheck_every: Duration,
    /// … plus a random part up to this.
    pub recheck_jitter: Duration,
    /// How long the runtime may give no proper answer before the host gives up; `None`: for ever.
    pub patience: Option<Duration>,
}

impl HostSettings {
    /// What the reference agent does out of the box (engine.md 3.8, 4.1, 4.10), without giving up.
    pub const REFERENCE: Self = Self {
        task: Settings::REFERENCE,
        max_calls: 16,
        max_pulls: 4,
        connect_limit: Duration::from_secs(10),
        connect_retry: Backoff::new(Duration::from_secs(2), Duration::from_secs(200), 1_500, 200),
        watch_retry: Backoff::new(Duration::from_secs(1), Duration::from_secs(30), 2_000, 200),
        away_retry: Backoff::new(Duration::from_millis(100), Duration::from_millis(700), 2_000, 200),
        store_retry: Backoff::new(Duration::from_millis(100), Duration::from_secs(5), 2_000, 200),
        recheck_every: Duration::from_secs(300),
        recheck_jitter: Duration::from_secs(30),
        patience: None,
    };
}
