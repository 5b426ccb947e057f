//! Random numbers drawn from a seed and a key.

use alloc::{format, string::String};
use core::time::Duration;

/// The number that `seed` gives to `key`.
///
/// The same two always give the same number, and no other draw shifts it. It is well mixed and can be
/// guessed: ids that grant access come in as entropy, never from here.
#[must_use]
pub fn derive(seed: u64, key: impl AsRef<[u8]>) -> u64 {
    let key = key.as_ref();
    let mut state = mix(seed);
    for chunk in key.chunks(8) {
        let mut word = [0; 8];
        word.iter_mut().zip(chunk).for_each(|(to, from)| *to = *from);
        state = mix(state ^ u64::from_le_bytes(word));
    }
    // The length tells a key from one that only ends in more zero bytes.
    mix(state ^ key.len() as u64)
}

/// The number that `seed` gives to `key` and `nth`, for draws that repeat.
#[must_use]
pub fn derive_nth(seed: u64, key: impl AsRef<[u8]>, nth: u64) -> u64 {
    mix(mix(derive(seed, key)) ^ nth)
}

/// Twenty lower-case hex digits that `seed` gives to `key`: the random part of a runtime name (engine.md 4.3).
#[must_use]
pub fn hex20(seed: u64, key: impl AsRef<[u8]>) -> String {
    let key = key.as_ref();
    let high = derive(seed, key);
    let low = derive(seed ^ LOW_DIGITS, key) & 0xffff;
    format!("{high:016x}{low:04x}")
}

/// A duration from zero to `longest`, both included, that `bits` choose evenly.
///
/// # Panics
/// `longest` is more than 584 years, what 64 bits hold in nanoseconds.
#[must_use]
pub fn up_to(longest: Duration, bits: u64) -> Duration {
    let longest = u64::try_from(longest.as_nanos()).expect("a span below 584 years");
    Duration::from_nanos(scale(longest, bits))
}

/// A number from zero to `most`, both included: `bits` as a fraction of their range.
pub(crate) const fn scale(most: u64, bits: u64) -> u64 {
    (((most as u128 + 1) * bits as u128) >> 64) as u64
}

/// Sets the last four digits of [`hex20`] apart from the first sixteen.
const LOW_DIGITS: u64 = 0x6c6f_7720_6861_6c66;

/// One step of splitmix64: adds the golden ratio, then Stafford's variant 13 of the mixer.
pub(crate) const fn mix(bits: u64) -> u64 {
    let bits = bits.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}
