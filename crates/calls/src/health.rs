//! The health check of a create call.

use alloc::{string::String, vec::Vec};
use core::time::Duration;

/// `Healthcheck`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct HealthcheckConfig {
    /// `Test`.
    pub test: HealthTest,
    /// `Interval`.
    pub interval: Duration,
    /// `Timeout`.
    pub timeout: Duration,
    /// `StartPeriod`; at least 1 ms, since a sent 0 keeps the image's.
    pub start_period: Duration,
    /// `Retries`.
    pub retries: u32,
}

/// `Healthcheck.Test` in the forms that are safe to send.
///
/// There is no way to write `["CMD"]` alone: it crashes engine 20.10 at its first probe
/// (taskdef.md 2.5).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum HealthTest {
    /// `["NONE"]`: switches the image's check off.
    Disabled,
    /// `["CMD", program, arguments…]`; `program` is not empty.
    Exec {
        /// The program.
        program: String,
        /// Its arguments.
        arguments: Vec<String>,
    },
    /// `["CMD-SHELL", script, arguments…]`; `script` is not empty.
    Shell {
        /// Run by the image's shell.
        script: String,
        /// `$0`, `$1` … of the script.
        arguments: Vec<String>,
    },
}

impl HealthTest {
    /// Reads a definition's or an image's test; `None` for a form that the engine must not be given.
    #[must_use]
    pub fn parse(words: &[String]) -> Option<Self> {
        let (first, rest) = words.split_first()?;
        let program = rest.first().filter(|word| !word.is_empty());
        let arguments = || rest.iter().skip(1).cloned().collect();
        match (first.as_str(), program) {
            ("NONE", _) => Some(Self::Disabled),
            ("CMD", Some(program)) => Some(Self::Exec { program: program.clone(), arguments: arguments() }),
            ("CMD-SHELL", Some(script)) => Some(Self::Shell { script: script.clone(), arguments: arguments() }),
            _ => None,
        }
    }

    /// The words as they are sent.
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        let (kind, first, rest) = match self {
            Self::Disabled => return alloc::vec!["NONE".into()],
            Self::Exec { program, arguments } => ("CMD", program, arguments),
            Self::Shell { script, arguments } => ("CMD-SHELL", script, arguments),
        };
        [String::from(kind), first.clone()].into_iter().chain(rest.iter().cloned()).collect()
    }
}

#[cfg(test)]
mod tests {
    use alloc::{string::ToString, vec};

    use super::*;

    #[test]
    fn t30_a_health_test_of_only_cmd_cannot_be_written() {
        let words = |list: &[&str]| list.iter().map(ToString::to_string).collect::<Vec<_>>();
        for broken in [&["CMD"][..], &["CMD", ""], &["CMD-SHELL"], &["CMD-SHELL", ""], &[], &["true"], &["cmd", "true"]]
        {
            assert_eq!(HealthTest::parse(&words(broken)), None, "{broken:?}");
        }
        for good in [&["NONE"][..], &["CMD", "true"], &["CMD", "a", "b"], &["CMD-SHELL", "exit 1"]] {
            let test = HealthTest::parse(&words(good)).unwrap();
            assert_eq!(test.words(), words(good));
        }
        assert_eq!(HealthTest::Disabled.words(), vec!["NONE".to_string()]);
    }
}
