//! What the state machine of a task takes as given.

use alloc::borrow::Cow;
use core::time::Duration;

use lighterman_backoff::Backoff;

/// Limits, pauses and counts. The core takes what it is given; defaults and clamps live in `config`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Settings {
    /// Name of the cluster in labels; `local` without one.
    pub cluster: Cow<'static, str>,
    /// Region for injected variables; `None` injects none.
    pub region: Option<Cow<'static, str>>,
    /// Limits in time, one per kind of call.
    pub limits: Limits,
    /// Between the stop signal and the kill, for a container that sets none.
    pub stop_timeout: Duration,
    /// A stop that failed this many times is looked into (engine.md 4.8.4).
    pub stop_tries: u32,
    /// Pauses between tries of a stop.
    pub stop_retry: Backoff,
    /// A pull that failed this many times has failed (engine.md 4.7.5).
    pub pull_tries: u32,
    /// Pauses between tries of a pull.
    pub pull_retry: Backoff,
    /// A create or start whose effect stayed unknown is tried this many times.
    pub call_tries: u32,
    /// An inspect that failed this many times in a row has failed (engine.md 4.11, R4b).
    pub look_tries: u32,
    /// Pauses between tries of inspects, creates and starts.
    pub call_retry: Backoff,
    /// Pauses while the runtime cannot be reached; they end at once when it is back.
    pub away_retry: Backoff,
    /// How long containers of a stopped task are kept.
    pub cleanup_wait: Duration,
    /// Pauses between tries of a removal.
    pub cleanup_retry: Backoff,
    /// A container that could not be removed for this long counts as kept. It is still tried.
    pub cleanup_patience: Duration,
    /// Pauses between looks for a create that may still be carried out.
    pub late_create_retry: Backoff,
}

/// After this a call counts as lost, whatever the runtime does (engine.md 4.9).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Limits {
    /// Ping.
    pub ping: Duration,
    /// Inspect of a container or image.
    pub inspect: Duration,
    /// List of containers.
    pub list: Duration,
    /// Create.
    pub create: Duration,
    /// Start.
    pub start: Duration,
    /// Stop, on top of the grace.
    pub stop_margin: Duration,
    /// Kill.
    pub kill: Duration,
    /// Remove.
    pub remove: Duration,
    /// A whole pull.
    pub pull: Duration,
    /// The first progress line of a pull.
    pub pull_first_progress: Duration,
    /// Silence within a pull.
    pub pull_inactivity: Duration,
}

impl Settings {
    /// What the reference agent does out of the box (engine.md 9).
    pub const REFERENCE: Self = Self {
        cluster: Cow::Borrowed("local"),
        region: None,
        limits: Limits {
            ping: Duration::from_secs(5),
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
        },
        stop_timeout: Duration::from_secs(30),
        stop_tries: 5,
        stop_retry: Backoff::new(Duration::from_secs(1), Duration::from_secs(5), 1_300, 200),
        pull_tries: 5,
        pull_retry: Backoff::new(Duration::from_millis(1_100), Duration::from_secs(5), 2_000, 200),
        call_tries: 3,
        look_tries: 3,
        call_retry: Backoff::new(Duration::from_secs(1), Duration::from_secs(1), 1_000, 200),
        away_retry: Backoff::new(Duration::from_millis(100), Duration::from_millis(700), 2_000, 200),
        cleanup_wait: Duration::from_secs(10_800),
        cleanup_retry: Backoff::new(Duration::from_secs(60), Duration::from_secs(3_600), 2_000, 200),
        cleanup_patience: Duration::from_secs(60),
        late_create_retry: Backoff::new(Duration::from_millis(500), Duration::from_secs(20), 2_000, 200),
    };
}
