//! How often each kind of thing was exercised.

use std::collections::BTreeMap;

/// Counts by kind and case; of one run, or of many.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    counts: BTreeMap<(&'static str, String), u64>,
}

impl Stats {
    /// One more of this.
    pub fn count(&mut self, kind: &'static str, case: impl Into<String>) {
        *self.counts.entry((kind, case.into())).or_default() += 1;
    }

    /// Takes in those of another run.
    pub fn add(&mut self, other: Self) {
        for (key, count) in other.counts {
            *self.counts.entry(key).or_default() += count;
        }
    }

    /// How often this came up.
    #[must_use]
    pub fn of(&self, kind: &'static str, case: &str) -> u64 {
        self.counts.get(&(kind, case.to_owned())).copied().unwrap_or(0)
    }

    /// All of them: kind, case, count; by kind and case.
    pub fn rows(&self) -> impl Iterator<Item = (&'static str, &str, u64)> {
        self.counts.iter().map(|((kind, case), count)| (*kind, case.as_str(), *count))
    }
}
