//! Log driver and options (taskdef.md 2.7).

use alloc::{collections::BTreeMap, string::ToString};

use lighterman_calls::LogConfig;
use lighterman_taskdef::LogConfiguration;

use crate::request::SpecWarning;

/// What is sent as `LogConfig`, always: without it the engine's default keeps files without bound.
pub(crate) fn log_config(log: Option<&LogConfiguration>) -> (LogConfig, Option<SpecWarning>) {
    match log {
        None => (bounded_files(), None),
        Some(log) if log.driver.leaves_the_machine() => {
            (bounded_files(), Some(SpecWarning::LogsShownHere { driver: log.driver }))
        }
        Some(log) => (as_written(log), None),
    }
}

/// Readable through the engine, 30 MB at most (B-077).
fn bounded_files() -> LogConfig {
    let options = [("max-size", "10m"), ("max-file", "3")];
    LogConfig {
        driver: "json-file".to_string(),
        options: options.map(|(key, value)| (key.to_string(), value.to_string())).into(),
    }
}

/// Only the size of the buffer is filled in: without one the engine drops lines at 1 MB (T47).
fn as_written(log: &LogConfiguration) -> LogConfig {
    let mut options: BTreeMap<_, _> = log.options.clone();
    if options.get("mode").is_some_and(|mode| mode == "non-blocking") {
        options.entry("max-buffer-size".to_string()).or_insert_with(|| "10m".to_string());
    }
    LogConfig { driver: log.driver.as_str().to_string(), options }
}
