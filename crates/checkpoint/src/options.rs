//! How a store is opened.

use std::time::Duration;

/// Limits in time of a [`Store`](crate::Store). The defaults suit every use but tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OpenOptions {
    /// Longest time that one opening of sled may take, each time: 10,000 records need 10 ms, a damaged
    /// file may take for ever. Opening the whole store takes at most twice as long.
    pub open_limit: Duration,
    /// Longest time that a commit may go unanswered: a device that hangs must not hold up the turns of
    /// the agent, which goes on without the store (`design.md R1`).
    pub commit_limit: Duration,
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self { open_limit: Duration::from_secs(10), commit_limit: Duration::from_secs(30) }
    }
}
