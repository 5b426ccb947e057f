//! How long to wait before the next try.

use core::time::Duration;

use crate::draw::{mix, scale};

/// How the waits between the tries of one operation grow (engine.md 4.1, "Back-off meaning everywhere").
///
/// The nth delay is `min(max, first * factor^(n-1))`, plus a random extra from zero to `jitter` of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Backoff {
    first_ns: u64,
    max_ns: u64,
    factor_permille: u32,
    jitter_permille: u32,
}

impl Backoff {
    /// A policy from its first and longest delay, the growth per try and the share of jitter, both in
    /// thousandths: 1500 and 200 are a factor of 1.5 and up to 20 %.
    ///
    /// # Panics
    /// At compile time where the policy is a constant: `first` is above `max`, `max` is above 292 years, the
    /// factor is below 1 or the jitter above 100 %.
    #[must_use]
    pub const fn new(first: Duration, max: Duration, factor_permille: u32, jitter_permille: u32) -> Self {
        // With at most twice `max` after jitter, every sum below fits 64 bits.
        assert!(max.as_nanos() <= (u64::MAX / 2) as u128, "the longest delay is below 292 years");
        assert!(first.as_nanos() <= max.as_nanos(), "the first delay is not above the longest");
        assert!(factor_permille >= 1000, "delays do not shrink");
        assert!(jitter_permille <= 1000, "jitter at most doubles a delay");
        Self { first_ns: nanos(first), max_ns: nanos(max), factor_permille, jitter_permille }
    }

    /// The wait after `attempt` failed tries, counted from 1 (0 counts as 1), without jitter.
    #[must_use]
    pub const fn plain_delay(&self, attempt: u32) -> Duration {
        Duration::from_nanos(self.plain_ns(attempt))
    }

    /// The wait after `attempt` failed tries, counted from 1 (0 counts as 1).
    ///
    /// `seed` is the operation's own: two operations with one seed wait in step. The same arguments always
    /// give the same delay.
    #[must_use]
    pub const fn delay(&self, attempt: u32, seed: u64) -> Duration {
        let plain = self.plain_ns(attempt);
        let bits = mix(mix(seed) ^ attempt as u64);
        Duration::from_nanos(plain + scale(permille(plain, self.jitter_permille), bits))
    }

    /// The longest wait the policy can give, jitter included.
    #[must_use]
    pub const fn longest(&self) -> Duration {
        Duration::from_nanos(self.max_ns + permille(self.max_ns, self.jitter_permille))
    }

    /// Ends early: at the longest delay, or where a nanosecond no longer grows.
    const fn plain_ns(&self, attempt: u32) -> u64 {
        let mut delay = self.first_ns;
        let mut nth = 1;
        while nth < attempt {
            let grown = delay as u128 * self.factor_permille as u128 / 1000;
            if grown >= self.max_ns as u128 {
                return self.max_ns;
            }
            #[expect(clippy::cast_possible_truncation, reason = "below `max_ns`, which is 64 bits")]
            let grown = grown as u64;
            if grown == delay {
                return delay;
            }
            delay = grown;
            nth += 1;
        }
        delay
    }
}

#[expect(clippy::cast_possible_truncation, reason = "checked against half of 64 bits by the only caller")]
const fn nanos(duration: Duration) -> u64 {
    duration.as_nanos() as u64
}

/// So many thousandths of `whole`; the share is at most the whole.
const fn permille(whole: u64, share: u32) -> u64 {
    #[expect(clippy::cast_possible_truncation, reason = "at most `whole`, which is 64 bits")]
    let part = (whole as u128 * share as u128 / 1000) as u64;
    part
}
