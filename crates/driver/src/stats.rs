//! What the loop counts.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counts since the driver began. They are for metrics and tests; nothing is decided by them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Turns that were handled.
    pub turns: u64,
    /// Commits that became durable.
    pub commits: u64,
    /// Commits that failed.
    pub failed_commits: u64,
    /// Calls handed to the runtime.
    pub calls: u64,
    /// Requests turned away because too many waited.
    pub busy: u64,
    /// How often the ring of runtime events ran over.
    pub overflows: u64,
}

/// The counters behind [`Stats`].
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) turns: Counter,
    pub(crate) commits: Counter,
    pub(crate) failed_commits: Counter,
    pub(crate) calls: Counter,
    pub(crate) busy: Counter,
    pub(crate) overflows: Counter,
}

impl Counters {
    pub(crate) fn read(&self) -> Stats {
        Stats {
            turns: self.turns.read(),
            commits: self.commits.read(),
            failed_commits: self.failed_commits.read(),
            calls: self.calls.read(),
            busy: self.busy.read(),
            overflows: self.overflows.read(),
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    pub(crate) fn add_one(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn read(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
