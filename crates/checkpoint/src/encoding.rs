//! How an entry of the map lies in sled: a head, and parts when it is large.
//!
//! sled splits a page by its number of entries (at most 17, 20 after a merge), never by their size, and
//! writes a page over 128 KiB to a file beside the log. Such a file is never synced, and is deleted as
//! soon as the page changes, before the change is durable. So no stored value may be larger than
//! [`PART_BYTES`]: 20 × (4 KiB + 520 bytes) is 92 KiB.
//!
//! | key | value |
//! | --- | --- |
//! | `0`, key | length of the whole value (4 bytes, big endian), its first 4 KiB |
//! | `1`, key, index (1 byte, from 1) | the next 4 KiB |

use std::collections::BTreeMap;

use lighterman_contracts::{CommitError, Write};

use crate::fault::Fault;

/// Longest key that the store takes, in bytes.
pub const MAX_KEY_BYTES: usize = 512;
/// Largest value that the store takes, in bytes.
pub const MAX_VALUE_BYTES: usize = 64 * 1024;

/// Largest piece that is given to sled, without the length before it.
pub(crate) const PART_BYTES: usize = 4096;

const HEAD: u8 = 0;
const PART: u8 = 1;
const LENGTH_BYTES: usize = 4;

/// The entries of the map, by key.
pub(crate) type Entries = Vec<(Vec<u8>, Vec<u8>)>;

/// Refuses what sled would keep badly.
///
/// # Errors
/// [`CommitError::TooLarge`], naming the size; a key of no bytes too.
pub(crate) fn check(write: &Write) -> Result<(), CommitError> {
    let key = write.key.len();
    if key == 0 || key > MAX_KEY_BYTES {
        return Err(CommitError::TooLarge(format!("a key of {key} bytes, not 1 to {MAX_KEY_BYTES}")));
    }
    let value = write.value.as_ref().map_or(0, Vec::len);
    if value > MAX_VALUE_BYTES {
        return Err(CommitError::TooLarge(format!("a value of {value} bytes, over {MAX_VALUE_BYTES}")));
    }
    Ok(())
}

/// Adds to `batch` what makes `key` hold `value`. `stored` is the head that lies there now.
pub(crate) fn put(batch: &mut sled::Batch, key: &[u8], value: &[u8], stored: Option<&[u8]>) {
    let length = u32::try_from(value.len()).expect("values are at most 64 KiB");
    let (first, mut rest) = value.split_at(value.len().min(PART_BYTES));
    batch.insert(head_key(key), [&length.to_be_bytes(), first].concat());
    let mut parts = 0;
    while !rest.is_empty() {
        let (part, remaining) = rest.split_at(rest.len().min(PART_BYTES));
        parts += 1;
        batch.insert(part_key(key, parts), part);
        rest = remaining;
    }
    remove_parts(batch, key, parts, stored);
}

/// Adds to `batch` what removes `key`. `stored` is the head that lies there now.
pub(crate) fn delete(batch: &mut sled::Batch, key: &[u8], stored: Option<&[u8]>) {
    if stored.is_some() {
        batch.remove(head_key(key));
        remove_parts(batch, key, 0, stored);
    }
}

/// Where the head of `key` lies.
pub(crate) fn head_key(key: &[u8]) -> Vec<u8> {
    [&[HEAD], key].concat()
}

/// Puts the entries together again from everything that lies in sled.
///
/// # Errors
/// [`Fault::Damaged`] when heads and parts do not fit together.
pub(crate) fn decode(stored: impl Iterator<Item = sled::Result<(sled::IVec, sled::IVec)>>) -> Result<Entries, Fault> {
    let mut heads = Vec::new();
    let mut tails: BTreeMap<Vec<u8>, Tail> = BTreeMap::new();
    for item in stored {
        let (key, value) = item?;
        match key.split_first() {
            Some((&HEAD, key)) => heads.push((key.to_vec(), value)),
            Some((&PART, rest)) => {
                let (index, key) = rest.split_last().ok_or_else(|| damaged("a part has no key"))?;
                tails.entry(key.to_vec()).or_default().append(*index, &value)?;
            }
            Some(_) | None => return Err(damaged("a key is of no known kind")),
        }
    }
    let entries = heads.into_iter().map(|(key, head)| join(key, &head, &mut tails)).collect::<Result<_, _>>()?;
    if tails.is_empty() { Ok(entries) } else { Err(damaged("parts have lost their head")) }
}

/// Bytes behind the head of one entry.
#[derive(Default)]
struct Tail {
    parts: u8,
    bytes: Vec<u8>,
}

impl Tail {
    fn append(&mut self, index: u8, part: &[u8]) -> Result<(), Fault> {
        // The parts of one key come in the order of their index.
        if index.checked_sub(self.parts) != Some(1) {
            return Err(damaged("a part is missing"));
        }
        self.parts = index;
        self.bytes.extend_from_slice(part);
        Ok(())
    }
}

fn join(key: Vec<u8>, head: &[u8], tails: &mut BTreeMap<Vec<u8>, Tail>) -> Result<(Vec<u8>, Vec<u8>), Fault> {
    let (length, first) = split_head(head).ok_or_else(|| damaged("a head is too short"))?;
    let mut value = first.to_vec();
    if let Some(tail) = tails.remove(&key) {
        value.extend(tail.bytes);
    }
    if value.len() == length { Ok((key, value)) } else { Err(damaged("a value has lost a part")) }
}

fn split_head(head: &[u8]) -> Option<(usize, &[u8])> {
    let (length, first) = head.split_first_chunk::<LENGTH_BYTES>()?;
    Some((usize::try_from(u32::from_be_bytes(*length)).ok()?, first))
}

fn remove_parts(batch: &mut sled::Batch, key: &[u8], kept: u8, stored: Option<&[u8]>) {
    for index in kept..stored.map_or(0, parts_behind) {
        batch.remove(part_key(key, index + 1));
    }
}

/// How many parts belong to this head.
fn parts_behind(head: &[u8]) -> u8 {
    let length = split_head(head).map_or(0, |(length, _)| length.min(MAX_VALUE_BYTES));
    u8::try_from(length.div_ceil(PART_BYTES).saturating_sub(1)).expect("64 KiB are 15 parts behind the head")
}

fn part_key(key: &[u8], index: u8) -> Vec<u8> {
    [&[PART], key, &[index]].concat()
}

fn damaged(what: &str) -> Fault {
    Fault::Damaged(what.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Applies writes to a sled in memory the way the store does, and reads the map back.
    struct Map(sled::Db);

    impl Map {
        fn new() -> Self {
            Self(sled::Config::new().temporary(true).open().unwrap())
        }

        fn put(&self, key: &[u8], value: &[u8]) {
            let mut batch = sled::Batch::default();
            put(&mut batch, key, value, self.0.get(head_key(key)).unwrap().as_deref());
            self.0.apply_batch(batch).unwrap();
        }

        fn delete(&self, key: &[u8]) {
            let mut batch = sled::Batch::default();
            delete(&mut batch, key, self.0.get(head_key(key)).unwrap().as_deref());
            self.0.apply_batch(batch).unwrap();
        }

        fn entries(&self) -> Result<Entries, Fault> {
            decode(self.0.iter())
        }
    }

    #[test]
    fn values_of_every_interesting_size_come_back_and_leave_nothing() {
        let map = Map::new();
        for size in [0, 1, PART_BYTES - 1, PART_BYTES, PART_BYTES + 1, 3 * PART_BYTES, MAX_VALUE_BYTES, 5, 20_000] {
            let value: Vec<u8> = (0..size).map(|index| u8::try_from(index % 251).unwrap()).collect();
            map.put(b"key", &value);
            assert_eq!(map.entries().unwrap(), [(b"key".to_vec(), value)], "{size} bytes");
            assert_eq!(map.0.len(), size.div_ceil(PART_BYTES).max(1), "{size} bytes");
        }
        map.delete(b"key");
        assert_eq!(map.0.len(), 0);
    }

    #[test]
    fn keys_that_begin_alike_keep_their_own_parts() {
        let map = Map::new();
        let keys: [&[u8]; 4] = [b"a", b"a\x00", b"a\x01", b"a\x01\x01"];
        for (key, fill) in keys.iter().zip(1..) {
            map.put(key, &vec![fill; 3 * PART_BYTES]);
        }
        map.put(keys[1], b"short");
        let expected: Entries = vec![
            (keys[0].to_vec(), vec![1; 3 * PART_BYTES]),
            (keys[1].to_vec(), b"short".to_vec()),
            (keys[2].to_vec(), vec![3; 3 * PART_BYTES]),
            (keys[3].to_vec(), vec![4; 3 * PART_BYTES]),
        ];
        assert_eq!(map.entries().unwrap(), expected);
    }

    #[test]
    fn a_lost_part_or_head_is_damage() {
        for lost in [head_key(b"key"), part_key(b"key", 1), part_key(b"key", 2)] {
            let map = Map::new();
            map.put(b"key", &[7; 3 * PART_BYTES]);
            map.0.remove(&lost).unwrap();
            assert!(matches!(map.entries(), Err(Fault::Damaged(_))), "{lost:?}");
        }
    }

    #[test]
    fn sizes_at_and_over_the_limits() {
        let cases = [(1, 0, true), (512, 65_536, true), (0, 1, false), (513, 1, false), (1, 65_537, false)];
        for (key, value, taken) in cases {
            assert_eq!(check(&Write::put(vec![1; key], vec![0; value])).is_ok(), taken, "{key} {value}");
        }
    }
}
