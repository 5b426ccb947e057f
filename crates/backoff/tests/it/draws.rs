//! Numbers drawn from a seed and a key.

use std::{collections::BTreeSet, time::Duration};

use lighterman_backoff::{derive, derive_nth, hex20, up_to};
use proptest::prelude::*;

#[test]
fn draws_are_the_same_for_ever() {
    // Recorded runs and regression seeds depend on these; a second implementation gave the values.
    assert_eq!(derive(0, ""), GOLDEN_EMPTY);
    assert_eq!(derive(42, "pull:web"), GOLDEN_PULL);
    assert_eq!(derive_nth(42, "poll", 3), GOLDEN_NTH);
    assert_eq!(hex20(42, "name:web"), GOLDEN_NAME);
}

const GOLDEN_EMPTY: u64 = 0xa706_dd2f_4d19_7e6f;
const GOLDEN_PULL: u64 = 0xb250_c49c_a2ed_c0ce;
const GOLDEN_NTH: u64 = 0xe03e_feaa_084d_b147;
const GOLDEN_NAME: &str = "f23bb602320c1e25e6cf";

#[test]
fn text_and_its_bytes_are_one_key() {
    assert_eq!(derive(1, "web"), derive(1, b"web"));
    assert_eq!(derive(1, String::from("web")), derive(1, "web"));
}

#[test]
fn similar_keys_and_seeds_give_numbers_of_their_own() {
    let mut seen = BTreeSet::new();
    let mut count = 0;
    for seed in [0, 1, 2, u64::MAX] {
        for key in ["", "\0", "\0\0", "a", "a\0", "b", "12345678", "123456780", "12345678\0", "1234567", "87654321"] {
            seen.insert(derive(seed, key));
            seen.extend((0..4).map(|nth| derive_nth(seed, key, nth)));
            count += 5;
        }
    }
    assert_eq!(seen.len(), count);
}

#[test]
fn every_bit_depends_on_the_key() {
    // Each of 64 bits is set in about half of 1,000 draws.
    for bit in 0..64 {
        let set = (0..1000_u32).filter(|n| derive(7, n.to_le_bytes()) >> bit & 1 == 1).count();
        assert!((400..=600).contains(&set), "bit {bit}: {set}");
    }
}

#[test]
fn up_to_reaches_both_ends() {
    let longest = Duration::from_secs(30);
    assert_eq!(up_to(longest, 0), Duration::ZERO);
    assert_eq!(up_to(longest, u64::MAX), longest);
    assert_eq!(up_to(longest, u64::MAX / 2), Duration::from_secs(15));
    assert_eq!(up_to(Duration::ZERO, u64::MAX), Duration::ZERO);
    let most = Duration::from_nanos(u64::MAX);
    assert_eq!(up_to(most, u64::MAX), most);
}

proptest! {
    #[test]
    fn names_are_twenty_lower_case_hex_digits(seed: u64, key: Vec<u8>) {
        let name = hex20(seed, &key);
        prop_assert_eq!(name.len(), 20);
        prop_assert!(name.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')));
        prop_assert_eq!(name, hex20(seed, &key));
    }

    #[test]
    fn other_keys_and_seeds_give_other_names(seed: u64, a: Vec<u8>, b: Vec<u8>) {
        prop_assume!(a != b);
        prop_assert_ne!(hex20(seed, &a), hex20(seed, &b));
        prop_assert_ne!(hex20(seed, &a), hex20(seed ^ 1, &a));
    }

    #[test]
    fn up_to_stays_within(longest: u64, bits: u64) {
        prop_assert!(up_to(Duration::from_nanos(longest), bits) <= Duration::from_nanos(longest));
    }
}
