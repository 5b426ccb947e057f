//! The log of a run: one line per step, in simulated time, that people can read and a replay can compare.

use std::fmt::Display;

use crate::clock::At;

/// Collects lines, or does not.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log {
    lines: Option<Vec<String>>,
}

impl Log {
    /// A log that keeps nothing and costs nothing.
    pub(crate) const fn off() -> Self {
        Self { lines: None }
    }

    /// A log that keeps every line.
    pub(crate) const fn on() -> Self {
        Self { lines: Some(Vec::new()) }
    }

    /// Notes what `who` does; the words are only made where they are kept.
    pub(crate) fn line<T: Display>(&mut self, at: At, who: &str, words: impl FnOnce() -> T) {
        if let Some(lines) = &mut self.lines {
            let words = words().to_string().replace('\n', " ");
            lines.push(format!("{at} s  {who:<8} {words}"));
        }
    }

    /// The lines.
    pub(crate) fn into_lines(self) -> Vec<String> {
        self.lines.unwrap_or_default()
    }
}
