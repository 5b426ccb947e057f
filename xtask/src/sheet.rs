//! What was done, how it ended and how long it took: printed as a table at the end of every sub-command.

use std::time::{Duration, Instant};

use anyhow::Result;

/// So much of a reason fits beside the times; all of it is printed when it happens.
const MAX_NOTE_CHARS: usize = 100;

/// How a row ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Passed,
    /// With the first line of what went wrong.
    Failed(String),
    /// With what is missing. `fatal` where that counts as a failure (`CI=true`).
    NotRun {
        missing: String,
        fatal: bool,
    },
}

#[derive(Clone, Debug)]
struct Row {
    name: String,
    verdict: Verdict,
    took: Duration,
}

/// The table of one sub-command, in the order in which things were done.
#[derive(Debug, Default)]
pub(crate) struct Sheet {
    rows: Vec<Row>,
}

impl Sheet {
    /// Does `work`, times it and notes how it ended. The error is printed here and not handed on: what may still be
    /// done goes on.
    pub(crate) fn attempt<T>(&mut self, name: &str, work: impl FnOnce() -> Result<T>) -> Option<T> {
        let started = Instant::now();
        let outcome = work();
        let (verdict, value) = match outcome {
            Ok(value) => (Verdict::Passed, Some(value)),
            Err(error) => {
                println!("{name}: {error:#}");
                let text = format!("{error:#}");
                let first_line = text.lines().next().unwrap_or_default();
                (Verdict::Failed(first_line.chars().take(MAX_NOTE_CHARS).collect()), None)
            }
        };
        self.rows.push(Row { name: name.to_owned(), verdict, took: started.elapsed() });
        value
    }

    /// Does `work` as [`Sheet::attempt`] does; the error, once noted, ends the sub-command.
    pub(crate) fn must<T>(&mut self, name: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
        self.attempt(name, work).ok_or_else(|| anyhow::anyhow!("{name} failed"))
    }

    pub(crate) fn not_run(&mut self, name: &str, missing: &str, fatal: bool) {
        let verdict = Verdict::NotRun { missing: missing.to_owned(), fatal };
        self.rows.push(Row { name: name.to_owned(), verdict, took: Duration::ZERO });
    }

    /// How long the rows of these names took together.
    pub(crate) fn took(&self, names: &[&str]) -> Duration {
        self.rows.iter().filter(|row| names.contains(&row.name.as_str())).map(|row| row.took).sum()
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.rows.iter().any(|row| match row.verdict {
            Verdict::Passed | Verdict::NotRun { fatal: false, .. } => false,
            Verdict::Failed(_) | Verdict::NotRun { fatal: true, .. } => true,
        })
    }

    pub(crate) fn print(&self) {
        if !self.rows.is_empty() {
            println!("\n{}", self.render());
        }
    }

    /// The table, what could not be run, and a closing line of counts.
    fn render(&self) -> String {
        let width = self.rows.iter().map(|row| row.name.chars().count()).max().unwrap_or(0).max("total".len());
        let mut text = String::new();
        for row in &self.rows {
            let (mark, note) = match &row.verdict {
                Verdict::Passed => ("ok", ""),
                Verdict::Failed(why) => ("FAILED", why.as_str()),
                Verdict::NotRun { fatal: false, .. } => ("not run", ""),
                Verdict::NotRun { fatal: true, .. } => ("NOT RUN", ""),
            };
            let line = format!("{:width$}  {:>8}  {mark:<7}  {note}", row.name, seconds(row.took));
            text.push_str(line.trim_end());
            text.push('\n');
        }
        let total = self.rows.iter().map(|row| row.took).sum();
        text.push_str(&format!("{:width$}  {:>8}\n", "total", seconds(total)));
        text.push_str(&self.missing());
        text.push_str(&self.counts());
        text
    }

    fn missing(&self) -> String {
        let mut text = String::new();
        for row in &self.rows {
            if let Verdict::NotRun { missing, .. } = &row.verdict {
                text.push_str(&format!("could not run {}: {missing}\n", row.name));
            }
        }
        text
    }

    fn counts(&self) -> String {
        let passed = self.rows.iter().filter(|row| row.verdict == Verdict::Passed).count();
        let failed = self.rows.iter().filter(|row| matches!(row.verdict, Verdict::Failed(_))).count();
        let skipped = self.rows.len() - passed - failed;
        format!("steps: {passed} passed, {failed} failed, {skipped} skipped")
    }
}

fn seconds(took: Duration) -> String {
    format!("{:.1} s", took.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use anyhow::bail;

    use super::*;

    #[test]
    fn a_failed_row_is_named_with_its_reason_and_fails_the_sheet() {
        let mut sheet = Sheet::default();
        assert_eq!(sheet.attempt("good", || Ok(1)), Some(1));
        assert!(!sheet.has_failed());
        assert_eq!(sheet.attempt::<()>("bad", || bail!("first line\nsecond line")), None);
        assert!(sheet.has_failed());
        let text = sheet.render();
        assert!(text.contains("FAILED   first line"), "{text}");
        assert!(!text.contains("second line"), "{text}");
        assert!(text.ends_with("steps: 1 passed, 1 failed, 0 skipped"), "{text}");
    }

    #[test]
    fn what_was_not_run_is_listed_and_fails_only_when_fatal() {
        let mut sheet = Sheet::default();
        sheet.not_run("engine tests", "no Docker engine answers", false);
        assert!(!sheet.has_failed());
        assert!(sheet.render().contains("could not run engine tests: no Docker engine answers"));
        sheet.not_run("power cuts", "needs root", true);
        assert!(sheet.has_failed());
    }

    #[test]
    fn must_hands_the_failure_on() {
        let mut sheet = Sheet::default();
        let error = sheet.must::<()>("build", || bail!("no")).unwrap_err();
        assert_eq!(error.to_string(), "build failed");
    }
}
