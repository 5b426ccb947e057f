//! Health checks: repaired where the meaning is plain, refused where the engine would crash (V55, V56).

use alloc::{
    format,
    string::{String, ToString},
    vec,
    vec::Vec,
};
use core::time::Duration;

use super::{Build, missing};
use crate::{
    field::Field,
    finding::{Place, allowed, hint},
    health::{HealthCheck, HealthTest, HealthTestError},
};

const ALLOWED: &str = r#""CMD", program, arguments … or "CMD-SHELL", script"#;

impl Build<'_> {
    pub(super) fn health_check(&mut self, check: &Field) -> Option<HealthCheck> {
        let test = self.health_test(check);
        let interval = self.health_number(check, "interval", 5, 300, 30);
        let timeout = self.health_number(check, "timeout", 2, 60, 5);
        let retries = self.health_number(check, "retries", 1, 10, 3);
        let start_period = self.health_number(check, "startPeriod", 0, 300, 0);
        if timeout > interval {
            let message = format!("timeout {timeout} is above interval {interval}");
            self.findings.warning(56, &check.place, message, None);
        }
        let seconds = |number: u32| Duration::from_secs(number.into());
        Some(HealthCheck {
            test: test?,
            interval: seconds(interval),
            timeout: seconds(timeout),
            retries,
            start_period: seconds(start_period),
        })
    }

    fn health_number(&mut self, check: &Field, key: &str, lowest: u32, highest: u32, default: u32) -> u32 {
        self.number_of(check, key, lowest..=highest, 56).unwrap_or(default)
    }

    fn health_test(&mut self, check: &Field) -> Option<HealthTest> {
        if check.get("command").is_none() {
            missing(self.findings, 55, check, "command", ALLOWED);
            return None;
        }
        if check.is_broken("command") {
            return None;
        }
        let place = check.place_of("command");
        let words = self.repaired(check.texts("command"), &place);
        match HealthTest::parse(&words) {
            Ok(test) => {
                if words.len() > 2 && words[0] == "CMD-SHELL" {
                    let message = "healthCheck command has words behind its script";
                    self.findings.warning(55, &place, message, hint("they become $0, $1 …; write one script"));
                }
                Some(test)
            }
            Err(error) => {
                let what = match error {
                    HealthTestError::Empty => "healthCheck command is empty".to_string(),
                    HealthTestError::NothingToRun => format!("healthCheck command is only \"{}\"", words[0]),
                    HealthTestError::UnknownKind => "healthCheck command names nothing to run".to_string(),
                    HealthTestError::WordsAfterNone => "healthCheck command has words behind \"NONE\"".to_string(),
                };
                self.findings.error(55, &place, what, allowed(ALLOWED));
                None
            }
        }
    }

    /// Forms that the engine would accept and never probe (taskdef.md 2.5).
    fn repaired(&mut self, words: &[String], place: &Place) -> Vec<String> {
        const KINDS: [&str; 3] = ["CMD", "CMD-SHELL", "NONE"];
        let Some((first, rest)) = words.split_first() else { return Vec::new() };
        if first.trim().is_empty() || KINDS.contains(&first.as_str()) {
            return words.to_vec();
        }
        let console = first.split_once(',').map(|(kind, script)| (kind.trim(), script.trim()));
        let (repaired, normal) = if let Some(kind) = KINDS.iter().find(|kind| kind.eq_ignore_ascii_case(first.trim())) {
            let words = [(*kind).to_string()].into_iter().chain(rest.iter().cloned()).collect();
            (words, "in upper case")
        } else if let (Some((kind, script)), []) = (console.filter(|(kind, _)| KINDS.contains(kind)), rest) {
            (vec![kind.to_string(), script.to_string()], "as two texts")
        } else {
            let kind = if rest.is_empty() { "CMD-SHELL" } else { "CMD" };
            ([kind.to_string()].into_iter().chain(words.iter().cloned()).collect(), "in front")
        };
        let kind = &repaired[0];
        let message = "healthCheck command does not begin with CMD or CMD-SHELL";
        let advice = hint(format!("it is read with \"{kind}\"; write \"{kind}\" {normal}"));
        self.findings.warning(55, place, message, advice);
        repaired
    }
}
