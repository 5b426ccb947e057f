//! What the command exits with.

use std::fmt;

/// Exit code of `lighterman run` and its siblings.
///
/// | code | meaning |
/// | --- | --- |
/// | 0 to 255 | exit code of the task: of the essential container that ended first |
/// | 1 | `validate`, `plan`, `graph`: the task definition is refused |
/// | 125 | our own error: command line, task definition, Docker, state store; or the container never ran |
/// | 129 | stopped after SIGHUP: the terminal is gone |
/// | 130 | stopped after Ctrl-C (SIGINT) |
/// | 131 | left at once after Ctrl-\ (SIGQUIT) |
/// | 143 | stopped after SIGTERM |
///
/// As with `docker run`, a container that exits with 125, 129, 130, 131 or 143 by itself cannot be told apart by the
/// code alone; the last line, or the last event of `--json`, says which it was. A wrong command line is 125 and not 2,
/// since 2 is what many programs in containers exit with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ExitCode {
    /// The task ended with this exit code.
    Task(u8),
    /// The definition is refused, or cannot be read.
    Refused,
    /// Our own error.
    OwnError,
    /// Stopped after SIGHUP.
    HungUp,
    /// Stopped after Ctrl-C.
    Interrupted,
    /// Stopped after SIGTERM.
    Terminated,
    /// Left at once after SIGQUIT.
    Quit,
}

/// One row of the table of exit codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meaning {
    /// The code or codes.
    pub code: &'static str,
    /// When the command exits with it.
    pub when: &'static str,
}

impl ExitCode {
    /// The table, for help texts.
    pub const TABLE: [Meaning; 7] = [
        Meaning { code: "0 to 255", when: "exit code of the task: of the essential container that ended first" },
        Meaning { code: "1", when: "`validate`, `plan`, `graph`: the task definition is refused" },
        Meaning {
            code: "125",
            when: "our own error: command line, task definition, Docker, state store; or the container never ran",
        },
        Meaning { code: "129", when: "stopped after SIGHUP: the terminal is gone" },
        Meaning { code: "130", when: "stopped after Ctrl-C (SIGINT)" },
        Meaning { code: "131", when: "left at once after Ctrl-\\ (SIGQUIT)" },
        Meaning { code: "143", when: "stopped after SIGTERM" },
    ];

    /// The command did what it was asked.
    pub const SUCCESS: Self = Self::Task(0);

    /// Of a task: its exit code, or [`ExitCode::OwnError`] when it has none since it never ran to an end. A code
    /// that a process cannot exit with counts as 255.
    #[must_use]
    pub fn of_task(code: Option<i32>) -> Self {
        code.map_or(Self::OwnError, |code| Self::Task(u8::try_from(code).unwrap_or(u8::MAX)))
    }

    /// Whether a task ended with a code that may as well be one of ours.
    #[must_use]
    pub fn is_ambiguous(self) -> bool {
        let ours = [Self::OwnError, Self::HungUp, Self::Interrupted, Self::Terminated, Self::Quit];
        matches!(self, Self::Task(_)) && ours.iter().any(|own| own.code() == self.code())
    }

    /// The number.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Task(code) => code,
            Self::Refused => 1,
            Self::OwnError => 125,
            Self::HungUp => 129,
            Self::Interrupted => 130,
            Self::Quit => 131,
            Self::Terminated => 143,
        }
    }

    /// Which it is, in a few words that do not change: `task`, `refused`, `own-error`, `hung-up`, `interrupted`,
    /// `terminated`, `quit`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Task(_) => "task",
            Self::Refused => "refused",
            Self::OwnError => "own-error",
            Self::HungUp => "hung-up",
            Self::Interrupted => "interrupted",
            Self::Terminated => "terminated",
            Self::Quit => "quit",
        }
    }
}

impl From<ExitCode> for std::process::ExitCode {
    fn from(code: ExitCode) -> Self {
        Self::from(code.code())
    }
}

impl fmt::Display for ExitCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.code())
    }
}
