//! From the settings of the command to those of the core.

use std::time::Duration;

use lighterman_backoff::Backoff;
use lighterman_config::RunSettings;
use lighterman_engine::HostSettings;
use lighterman_task_manager::{Limits, Settings};

/// How long the containers of a stopped task are kept at most. The command lets go of them as soon as their output has
/// been read.
const KEPT_AT_MOST: Duration = Duration::from_secs(24 * 3_600);

/// A stop that ran into its limit this often is looked into: somebody waits in front of the screen.
const STOP_TRIES: u32 = 2;

/// What the core takes as given in `run`.
#[must_use]
pub fn host_settings(run: &RunSettings) -> HostSettings {
    let reference = HostSettings::REFERENCE;
    HostSettings {
        task: task_settings(run),
        max_calls: places(run.max_calls),
        max_pulls: places(run.max_pulls),
        connect_limit: run.version,
        connect_retry: Backoff::new(Duration::from_millis(500), Duration::from_secs(5), 1_500, 200),
        patience: Some(run.patience),
        ..reference
    }
}

fn task_settings(run: &RunSettings) -> Settings {
    Settings {
        limits: Limits {
            ping: run.ping,
            inspect: run.inspect,
            list: run.list,
            create: run.create,
            start: run.start,
            stop_margin: run.stop_margin,
            kill: run.kill,
            remove: run.remove,
            pull: run.pull,
            pull_first_progress: run.pull_first_progress,
            pull_inactivity: run.pull_inactivity,
        },
        stop_timeout: run.stop_timeout,
        stop_tries: STOP_TRIES,
        cleanup_patience: run.cleanup_patience,
        cleanup_wait: run.cleanup_wait.max(KEPT_AT_MOST),
        cleanup_retry: Backoff::new(Duration::from_millis(200), Duration::from_secs(5), 2_000, 200),
        ..Settings::REFERENCE
    }
}

fn places(count: u32) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX).max(1)
}
