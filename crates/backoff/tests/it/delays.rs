//! The sequences of engine.md and what holds of every sequence.

use std::time::Duration;

use lighterman_backoff::{Backoff, derive};
use proptest::prelude::*;

/// engine.md 4.1: a runtime that answers wrongly at start.
const CONNECT: Backoff = Backoff::new(Duration::from_secs(2), Duration::from_secs(200), 1500, 200);
/// engine.md 4.1: a refused or missing local socket.
const SOCKET: Backoff = Backoff::new(Duration::from_millis(100), Duration::from_secs(1), 2000, 0);
/// engine.md 4.7.5: image pulls.
const PULL: Backoff = Backoff::new(Duration::from_millis(1100), Duration::from_secs(5), 2000, 200);

fn plain_ms(policy: &Backoff, attempts: u32) -> Vec<u128> {
    (1..=attempts).map(|attempt| policy.plain_delay(attempt).as_millis()).collect()
}

#[test]
fn e150_a_runtime_that_answers_wrongly_is_asked_after_2_3_4_5_and_up_to_200_seconds() {
    let first = [2000, 3000, 4500, 6750, 10_125, 15_187, 22_781, 34_171, 51_257, 76_886, 115_330, 172_995];
    assert_eq!(plain_ms(&CONNECT, 12), first);
    for attempt in [13, 14, 100, 1_000_000, u32::MAX] {
        assert_eq!(CONNECT.plain_delay(attempt), Duration::from_secs(200), "attempt {attempt}");
    }
}

#[test]
fn e150_a_refused_socket_is_tried_every_100_ms_to_1_s() {
    assert_eq!(plain_ms(&SOCKET, 6), [100, 200, 400, 800, 1000, 1000]);
    assert_eq!(SOCKET.delay(3, 7), SOCKET.plain_delay(3), "no jitter was asked for");
}

#[test]
fn e116_each_operation_starts_at_the_first_delay() {
    // One task's pull has come to the longest delay.
    assert_eq!(PULL.plain_delay(5), Duration::from_secs(5));
    // Another's first retry knows nothing of that.
    let other = PULL.delay(1, derive(1, "pull:other"));
    assert!((1100..=1320).contains(&other.as_millis()), "{other:?}");
}

#[test]
fn attempts_count_from_one() {
    assert_eq!(PULL.plain_delay(0), PULL.plain_delay(1));
    assert!(PULL.delay(0, 9) >= PULL.plain_delay(1));
}

#[test]
fn a_constant_delay_needs_no_steps() {
    let policy = Backoff::new(Duration::from_secs(3), Duration::from_secs(9), 1000, 0);
    assert_eq!(policy.plain_delay(u32::MAX), Duration::from_secs(3));
    let tiny = Backoff::new(Duration::from_nanos(1), Duration::from_secs(1), 1500, 0);
    assert_eq!(tiny.plain_delay(u32::MAX), Duration::from_nanos(1), "half a nanosecond more is none");
    let zero = Backoff::new(Duration::ZERO, Duration::from_secs(1), 2000, 1000);
    assert_eq!(zero.delay(u32::MAX, 5), Duration::ZERO);
}

#[test]
fn the_longest_policy_does_not_overflow() {
    let max = Duration::from_nanos(u64::MAX / 2);
    let policy = Backoff::new(max, max, u32::MAX, 1000);
    for seed in 0..1000 {
        let delay = policy.delay(u32::MAX, seed);
        assert!(max <= delay && delay <= policy.longest());
    }
}

#[test]
fn jitter_uses_its_whole_range() {
    let extra = |seed| PULL.delay(4, seed).checked_sub(PULL.plain_delay(4)).unwrap().as_millis();
    let extras: Vec<_> = (0..2000).map(|n| extra(derive(n, "op"))).collect();
    assert!(*extras.iter().min().unwrap() < 10, "close to none");
    assert!(*extras.iter().max().unwrap() > 990, "close to 20 % of 5 s");
    let mean = extras.iter().sum::<u128>() / 2000;
    assert!((450..=550).contains(&mean), "{mean}");
}

#[test]
fn the_same_seed_gives_the_same_delay_and_others_differ() {
    let delays = |seed| (1..=8).map(|attempt| CONNECT.delay(attempt, seed)).collect::<Vec<_>>();
    assert_eq!(delays(1), delays(1));
    assert_ne!(delays(1), delays(2), "two hosts do not retry in step");
    let late: Vec<_> = (20..28).map(|attempt| CONNECT.delay(attempt, 1)).collect();
    assert!(late.windows(2).any(|pair| pair[0] != pair[1]), "each attempt draws anew");
}

#[test]
#[should_panic(expected = "the first delay is not above the longest")]
fn a_first_delay_above_the_longest_is_refused() {
    let _ = Backoff::new(Duration::from_secs(2), Duration::from_secs(1), 2000, 0);
}

#[test]
#[should_panic(expected = "delays do not shrink")]
fn a_factor_below_one_is_refused() {
    let _ = Backoff::new(Duration::from_secs(1), Duration::from_secs(2), 999, 0);
}

#[test]
#[should_panic(expected = "jitter at most doubles a delay")]
fn more_jitter_than_delay_is_refused() {
    let _ = Backoff::new(Duration::from_secs(1), Duration::from_secs(2), 2000, 1001);
}

#[test]
#[should_panic(expected = "the longest delay is below 292 years")]
fn an_endless_delay_is_refused() {
    let _ = Backoff::new(Duration::from_secs(1), Duration::MAX, 2000, 0);
}

/// Any policy; delays of a nanosecond to some hours.
fn policies() -> impl Strategy<Value = (Backoff, Duration, Duration, u32)> {
    let times = (0..20_000_000_000_000_u64, 0..20_000_000_000_000_u64);
    (times, 1000..5000_u32, 0..=1000_u32).prop_map(|((a, b), factor, jitter)| {
        let (first, max) = (Duration::from_nanos(a.min(b)), Duration::from_nanos(a.max(b)));
        (Backoff::new(first, max, factor, jitter), first, max, jitter)
    })
}

proptest! {
    #[test]
    fn jitter_is_only_ever_added(
        (policy, first, max, jitter) in policies(),
        attempt in 0..200_u32,
        seed: u64,
    ) {
        let (plain, delay) = (policy.plain_delay(attempt), policy.delay(attempt, seed));
        prop_assert!(first <= plain && plain <= max);
        prop_assert!(plain <= delay);
        prop_assert!((delay - plain).as_nanos() <= plain.as_nanos() * u128::from(jitter) / 1000);
        prop_assert!(delay <= policy.longest());
    }

    #[test]
    fn plain_delays_never_shrink((policy, first, _, _) in policies(), attempt in 1..200_u32) {
        prop_assert_eq!(policy.plain_delay(1), first);
        prop_assert!(policy.plain_delay(attempt) <= policy.plain_delay(attempt + 1));
    }

    /// The formula of engine.md 4.1 with exact fractions: rounding down each step costs at most a nanosecond,
    /// which later steps multiply.
    #[test]
    fn the_nth_delay_is_first_times_factor_to_the_n_minus_1(
        first in 1_000_000..10_000_000_000_u64,
        factor in 1000..3000_u32,
        attempt in 1..9_u32,
    ) {
        let policy = Backoff::new(Duration::from_nanos(first), Duration::from_secs(1_000_000), factor, 0);
        let power = |base: u128| base.pow(attempt - 1);
        let exact = u128::from(first) * power(u128::from(factor)) / power(1000);
        let delay = policy.plain_delay(attempt).as_nanos();
        let slack = power(3) * u128::from(attempt);
        prop_assert!(delay <= exact && exact - delay <= slack, "{} is not {}", delay, exact);
    }
}
