//! Health checks. A test that crashes the engine cannot be expressed (taskdef.md 2.5).

use alloc::{
    string::{String, ToString},
    vec,
    vec::Vec,
};
use core::time::Duration;

/// How the engine finds out whether a container is well; every member is always sent, since the
/// engine fills what is absent from the image.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct HealthCheck {
    /// What is run.
    pub test: HealthTest,
    /// From the end of one probe to the next: 5 to 300 s.
    pub interval: Duration,
    /// Limit of one probe: 2 to 60 s.
    pub timeout: Duration,
    /// Failures in a row that make it unhealthy: 1 to 10.
    pub retries: u32,
    /// Failures that do not count at the start: 0 to 300 s.
    pub start_period: Duration,
}

impl HealthCheck {
    /// 30 s between probes of at most 5 s, three failures, no start period (taskdef.md 4).
    #[must_use]
    pub const fn new(test: HealthTest) -> Self {
        Self {
            test,
            interval: Duration::from_secs(30),
            timeout: Duration::from_secs(5),
            retries: 3,
            start_period: Duration::ZERO,
        }
    }
}

/// What a health check runs.
///
/// There is no way to make one whose program is missing: engine 20.10 dies, for all its users, at
/// the first probe of a test that is only `["CMD"]` (observed, taskdef.md 2.5).
///
/// ```
/// use lighterman_taskdef::{HealthTest, HealthTestError};
///
/// let words = |list: &[&str]| list.iter().map(ToString::to_string).collect::<Vec<_>>();
/// let test = HealthTest::parse(&words(&["CMD", "true"])).unwrap();
/// assert_eq!(test.words(), ["CMD", "true"]);
/// assert_eq!(HealthTest::parse(&words(&["CMD"])), Err(HealthTestError::NothingToRun));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct HealthTest(Kind);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Kind {
    /// Switches the image's check off.
    Off,
    /// The first is not empty.
    Exec(Vec<String>),
    /// The first is a script and not empty; the others become `$0`, `$1` ….
    Shell(Vec<String>),
}

/// Why a list of words is not a health test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum HealthTestError {
    /// An empty list leaves the image's test in force.
    #[error("the health command is empty")]
    Empty,
    /// `CMD` or `CMD-SHELL` with nothing behind it: crashes the engine.
    #[error("the health command names nothing to run")]
    NothingToRun,
    /// The first word is none of `CMD`, `CMD-SHELL`, `NONE`: never probed by the engine.
    #[error("the health command does not begin with CMD, CMD-SHELL or NONE")]
    UnknownKind,
    /// `NONE` followed by words.
    #[error("the health command NONE takes no further words")]
    WordsAfterNone,
}

impl HealthTest {
    /// Switches off the check of the image.
    #[must_use]
    pub const fn off() -> Self {
        Self(Kind::Off)
    }

    /// The list of the API: `["NONE"]`, `["CMD", program, …]` or `["CMD-SHELL", script, …]`.
    ///
    /// # Errors
    /// Everything else, which the engine would crash on, ignore, or take from the image.
    pub fn parse(words: &[String]) -> Result<Self, HealthTestError> {
        let Some((kind, rest)) = words.split_first() else { return Err(HealthTestError::Empty) };
        let runs_something = rest.first().is_some_and(|word| !word.trim().is_empty());
        match kind.as_str() {
            "NONE" if rest.is_empty() => Ok(Self::off()),
            "NONE" => Err(HealthTestError::WordsAfterNone),
            "CMD" if runs_something => Ok(Self(Kind::Exec(rest.to_vec()))),
            "CMD-SHELL" if runs_something => Ok(Self(Kind::Shell(rest.to_vec()))),
            "CMD" | "CMD-SHELL" => Err(HealthTestError::NothingToRun),
            _ => Err(HealthTestError::UnknownKind),
        }
    }

    /// Whether there is no probing at all: health stays unknown.
    #[must_use]
    pub fn is_off(&self) -> bool {
        self.0 == Kind::Off
    }

    /// The list as the engine takes it.
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        let (kind, rest): (&str, &[String]) = match &self.0 {
            Kind::Off => ("NONE", &[]),
            Kind::Exec(words) => ("CMD", words),
            Kind::Shell(words) => ("CMD-SHELL", words),
        };
        let mut words = vec![kind.to_string()];
        words.extend_from_slice(rest);
        words
    }
}
