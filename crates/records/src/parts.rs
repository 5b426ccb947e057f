//! Values that are too long for one entry (crates.md §3).
//!
//! A long value stands in parts: the first under the key itself, the others under the key, a zero byte
//! and their number. Each begins with a magic, its number and the number of all. Whether they belong
//! together is told by the envelope, which spans them all.

use alloc::{collections::BTreeMap, vec::Vec};

/// Above this a value is cut.
pub(crate) const LONGEST: usize = 48 * 1024;

const MAGIC: [u8; 4] = *b"LMP1";
const HEADER: usize = 8;

/// Key of a part; part 0 has the key itself.
pub(crate) fn key_of(key: &[u8], part: u16) -> Vec<u8> {
    let mut key = key.to_vec();
    if part > 0 {
        key.push(0);
        key.extend_from_slice(&part.to_be_bytes());
    }
    key
}

/// The value as one or more entries.
///
/// # Panics
/// The value would have more than 65,535 parts (3 GiB).
pub(crate) fn cut(key: &[u8], value: Vec<u8>) -> Vec<(Vec<u8>, Vec<u8>)> {
    if value.len() <= LONGEST {
        return alloc::vec![(key.to_vec(), value)];
    }
    let count = u16::try_from(value.len().div_ceil(LONGEST)).expect("a record is far below 3 GiB");
    let parts = (0..count).zip(value.chunks(LONGEST));
    parts
        .map(|(part, chunk)| {
            let mut bytes = Vec::with_capacity(HEADER + chunk.len());
            bytes.extend_from_slice(&MAGIC);
            bytes.extend_from_slice(&part.to_le_bytes());
            bytes.extend_from_slice(&count.to_le_bytes());
            bytes.extend_from_slice(chunk);
            (key_of(key, part), bytes)
        })
        .collect()
}

/// Puts cut values together again. A part that nobody claims stays as an entry of its own, and is then
/// found to be no record.
pub(crate) fn join(entries: Vec<(Vec<u8>, Vec<u8>)>) -> BTreeMap<Vec<u8>, (Vec<u8>, u16)> {
    let mut left: BTreeMap<Vec<u8>, Vec<u8>> = entries.into_iter().collect();
    let first: Vec<(Vec<u8>, u16)> = left
        .iter()
        .filter_map(|(key, value)| match header(value) {
            Some((0, count)) => Some((key.clone(), count)),
            _ => None,
        })
        .collect();
    let mut joined = BTreeMap::new();
    for (key, count) in first {
        let mut whole = Vec::new();
        for part in 0..count {
            let there = left.remove(&key_of(&key, part));
            if let Some(bytes) = there.filter(|bytes| header(bytes) == Some((part, count))) {
                whole.extend_from_slice(&bytes[HEADER..]);
            }
        }
        joined.insert(key, (whole, count));
    }
    joined.extend(left.into_iter().map(|(key, value)| (key, (value, 1))));
    joined
}

fn header(value: &[u8]) -> Option<(u16, u16)> {
    let (header, _) = value.split_at_checked(HEADER)?;
    let at = |from: usize| u16::from_le_bytes([header[from], header[from + 1]]);
    (header[..4] == MAGIC).then(|| (at(4), at(6)))
}
