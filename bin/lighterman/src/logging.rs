//! The program's own log.

use std::io;

use lighterman_contracts::Clock as _;
use lighterman_driver::HostClock;
use lighterman_telemetry::{Filter, Format, Guard};

use crate::cli::LogLevel;

/// Begins to log to `writer`, until the guard is dropped.
pub(crate) fn start(
    level: LogLevel,
    as_json: bool,
    clock: HostClock,
    writer: Box<dyn io::Write + Send>,
) -> anyhow::Result<Guard> {
    let level = match level {
        LogLevel::Error => "error",
        LogLevel::Warn => "warn",
        LogLevel::Info => "info",
        LogLevel::Debug => "debug",
        LogLevel::Trace => "trace",
    };
    let format = if as_json { Format::Json } else { Format::Logfmt };
    Ok(lighterman_telemetry::init(Filter::parse(level)?, format, move || clock.now().wall, writer)?)
}
