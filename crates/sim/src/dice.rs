//! Random numbers of one run: all from its seed, one sequence per key.

use std::{collections::BTreeMap, time::Duration};

use lighterman_backoff::derive_nth;

/// Draws from a seed. Each key has a sequence of its own, so that one draw more under one key does not shift
/// what is drawn under another: two runs that differ in one fault stay alike for as long as they can.
#[derive(Clone, Debug)]
pub(crate) struct Dice {
    seed: u64,
    drawn: BTreeMap<&'static str, u64>,
}

impl Dice {
    /// The dice of this seed.
    pub(crate) const fn new(seed: u64) -> Self {
        Self { seed, drawn: BTreeMap::new() }
    }

    /// 64 random bits.
    pub(crate) fn bits(&mut self, key: &'static str) -> u64 {
        let nth = self.drawn.entry(key).or_default();
        *nth += 1;
        derive_nth(self.seed, key, *nth)
    }

    /// A number from 0 to `count - 1`; 0 when `count` is 0.
    pub(crate) fn below(&mut self, key: &'static str, count: u64) -> u64 {
        let wide = u128::from(self.bits(key)) * u128::from(count);
        u64::try_from(wide >> 64).expect("the upper half of 128 bits")
    }

    /// `true` in so many cases of a thousand. Nothing is drawn where it never is.
    pub(crate) fn chance(&mut self, key: &'static str, permille: u32) -> bool {
        permille > 0 && self.below(key, 1_000) < u64::from(permille)
    }

    /// One of these.
    ///
    /// # Panics
    /// There is none.
    pub(crate) fn pick<'a, T>(&mut self, key: &'static str, among: &'a [T]) -> &'a T {
        let index = self.below(key, u64::try_from(among.len()).expect("a list in memory"));
        &among[usize::try_from(index).expect("below the length of a list")]
    }

    /// A time between the two, both above zero: every doubling is as likely as every other, so that very short and
    /// very long times both come up.
    pub(crate) fn span(&mut self, key: &'static str, shortest: Duration, longest: Duration) -> Duration {
        let (from, to) = (nanos(shortest).max(1), nanos(longest).max(1));
        let doublings = u64::from((to / from).max(1).ilog2());
        let low = from << self.below(key, doublings + 1);
        let high = low.saturating_mul(2).min(to.max(low));
        Duration::from_nanos(low + self.below(key, high - low + 1))
    }

    /// A time from zero on, evenly.
    pub(crate) fn up_to(&mut self, key: &'static str, longest: Duration) -> Duration {
        Duration::from_nanos(self.below(key, nanos(longest).saturating_add(1)))
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draw_does_not_shift_those_of_other_keys() {
        let (mut one, mut other) = (Dice::new(7), Dice::new(7));
        one.bits("a");
        one.bits("a");
        other.bits("a");
        assert_eq!(one.bits("b"), other.bits("b"));
        assert_ne!(one.bits("a"), other.bits("a"));
    }

    #[test]
    fn spans_stay_between_their_ends_and_reach_both_halves() {
        let mut dice = Dice::new(1);
        let (shortest, longest) = (Duration::from_millis(1), Duration::from_secs(10));
        let spans: Vec<_> = (0..500).map(|_| dice.span("span", shortest, longest)).collect();
        assert!(spans.iter().all(|span| (shortest..=longest).contains(span)));
        assert!(spans.iter().any(|span| *span < Duration::from_millis(10)));
        assert!(spans.iter().any(|span| *span > Duration::from_secs(5)));
    }
}
