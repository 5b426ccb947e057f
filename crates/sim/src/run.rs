//! One run, from its scenario to its verdict.

use std::{
    any::Any,
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
};

use crate::{
    clock::At,
    log::Log,
    scenario::Scenario,
    stats::Stats,
    world::{Counts, World},
};

/// What is to be kept of a run besides its verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Keep {
    /// The log.
    pub log: bool,
    /// Counts of what was exercised.
    pub stats: bool,
}

/// How a run went.
#[derive(Clone, Debug)]
pub struct Report {
    /// What was wrong; `None`: nothing.
    pub failed: Option<Failed>,
    /// When it ended.
    pub end: At,
    /// What is always counted.
    pub counts: Counts,
    /// The log, if it was kept.
    pub lines: Vec<String>,
    /// What was exercised, if that was counted.
    pub stats: Option<Stats>,
}

/// Something was wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    /// Which kind.
    pub kind: FailureKind,
    /// Who noticed.
    pub checker: &'static str,
    /// What.
    pub text: String,
    /// When.
    pub at: At,
}

/// Kinds of failures, told apart by exit codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FailureKind {
    /// The code under test panicked.
    Crash,
    /// A run did not come to its end, or spun.
    Liveness,
    /// A checker saw something that must not be.
    Correctness,
}

impl fmt::Display for FailureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Crash => "crash",
            Self::Liveness => "liveness",
            Self::Correctness => "correctness",
        })
    }
}

/// Plays the scenario. The same scenario gives the same report, byte for byte.
#[must_use]
pub fn run(scenario: Scenario, keep: Keep) -> Report {
    let log = if keep.log { Log::on() } else { Log::off() };
    let mut world = World::new(scenario, log, keep.stats);
    let played = catch_unwind(AssertUnwindSafe(|| world.play()));
    let (end, counts, lines, stats) = world.into_parts();
    let failed = match played {
        Ok(checked) => checked.err().map(|failed| *failed),
        Err(panic) => Some(Failed { kind: FailureKind::Crash, checker: "no-panic", text: words_of(&*panic), at: end }),
    };
    Report { failed, end, counts, lines, stats }
}

fn words_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "panic without words".into())
}
