//! The health check that an image brings along.

use std::time::Duration;

use serde::{Serialize, Serializer};

/// A health check written into an image; a container inherits it unless it is given its own.
///
/// The engine takes a zero duration or count for its own default (30 s, 30 s, 0 s, 3).
///
/// A check always names something to run: the bare `["CMD"]`, on which engine 20.10 crashes, cannot
/// be expressed.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "PascalCase")]
pub struct HealthCheck {
    test: Vec<String>,
    #[serde(serialize_with = "nanoseconds")]
    interval: Duration,
    #[serde(serialize_with = "nanoseconds")]
    timeout: Duration,
    #[serde(serialize_with = "nanoseconds")]
    start_period: Duration,
    retries: u32,
}

impl HealthCheck {
    /// Runs `program` with its arguments, without a shell.
    #[must_use]
    pub fn exec<'a>(program: &'a str, arguments: impl IntoIterator<Item = &'a str>) -> Self {
        let command = ["CMD", program].into_iter().chain(arguments);
        Self::of(command.map(str::to_owned).collect())
    }

    /// Runs `command` with the shell of the image, which must have one.
    #[must_use]
    pub fn shell(command: &str) -> Self {
        Self::of(vec!["CMD-SHELL".to_owned(), command.to_owned()])
    }

    fn of(test: Vec<String>) -> Self {
        let default = Duration::ZERO;
        Self { test, interval: default, timeout: default, start_period: default, retries: 0 }
    }

    /// Time between the end of one check and the start of the next; the engine refuses less than 1 ms.
    #[must_use]
    pub fn interval(mut self, interval: Duration) -> Self {
        self.interval = interval;
        self
    }

    /// How long one check may take; the engine refuses less than 1 ms.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// How long after the start of the container failures do not count.
    #[must_use]
    pub fn start_period(mut self, start_period: Duration) -> Self {
        self.start_period = start_period;
        self
    }

    /// Failures in a row that make the container unhealthy.
    #[must_use]
    pub fn retries(mut self, retries: u32) -> Self {
        self.retries = retries;
        self
    }
}

/// The engine's unit; a signed number of 64 bits there, so a longer time is cut to 292 years.
fn nanoseconds<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_i64(i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX))
}
