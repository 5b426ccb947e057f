//! What was measured, several times.

use std::time::Duration;

/// Measured values of one thing, in one unit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Samples(Vec<f64>);

impl Samples {
    /// None yet.
    #[must_use]
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// One more.
    pub fn push(&mut self, value: f64) {
        self.0.push(value);
    }

    /// One more, in milliseconds.
    pub fn push_millis(&mut self, took: Duration) {
        self.push(millis(took));
    }

    /// One more, just counted.
    ///
    /// # Panics
    /// It is more than four milliards, which nothing here comes near to.
    pub fn push_count(&mut self, count: u64) {
        self.push(f64::from(u32::try_from(count).expect("counts of a benchmark are small")));
    }

    /// In the order in which they were measured.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.0
    }

    /// The smallest; `None` when nothing was measured.
    #[must_use]
    pub fn min(&self) -> Option<f64> {
        self.0.iter().copied().min_by(f64::total_cmp)
    }

    /// The largest; `None` when nothing was measured.
    #[must_use]
    pub fn max(&self) -> Option<f64> {
        self.0.iter().copied().max_by(f64::total_cmp)
    }

    /// The one in the middle, or the mean of the two; `None` when nothing was measured.
    #[must_use]
    pub fn median(&self) -> Option<f64> {
        let sorted = self.sorted();
        let middle = sorted.len() / 2;
        let upper = sorted.get(middle)?;
        let lower = if sorted.len().is_multiple_of(2) { sorted.get(middle - 1)? } else { upper };
        Some(f64::midpoint(*lower, *upper))
    }

    /// The value that `percent` in a hundred do not exceed (nearest rank); `None` when nothing was measured.
    #[must_use]
    pub fn percentile(&self, percent: usize) -> Option<f64> {
        let sorted = self.sorted();
        let rank = (sorted.len() * percent).div_ceil(100).max(1);
        sorted.get(rank - 1).copied()
    }

    fn sorted(&self) -> Vec<f64> {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        sorted
    }
}

impl FromIterator<f64> for Samples {
    fn from_iter<I: IntoIterator<Item = f64>>(values: I) -> Self {
        Self(values.into_iter().collect())
    }
}

/// A time in milliseconds.
#[must_use]
pub fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_of_few_and_of_many() {
        let check = |values: &[f64], expected: [Option<f64>; 4]| {
            let samples: Samples = values.iter().copied().collect();
            assert_eq!(
                [samples.min(), samples.median(), samples.percentile(99), samples.max()],
                expected,
                "{values:?}"
            );
        };
        check(&[], [None; 4]);
        check(&[3.0], [Some(3.0); 4]);
        check(&[4.0, 1.0], [Some(1.0), Some(2.5), Some(4.0), Some(4.0)]);
        check(&[9.0, 1.0, 5.0], [Some(1.0), Some(5.0), Some(9.0), Some(9.0)]);
        let hundred: Vec<f64> = (1..=100_u8).rev().map(f64::from).collect();
        check(&hundred, [Some(1.0), Some(50.5), Some(99.0), Some(100.0)]);
    }

    #[test]
    fn times_are_kept_in_milliseconds_and_in_order() {
        let mut samples = Samples::default();
        samples.push_millis(Duration::from_micros(2_500));
        samples.push_millis(Duration::from_secs(1));
        assert_eq!(samples.values(), [2.5, 1_000.0]);
    }
}
