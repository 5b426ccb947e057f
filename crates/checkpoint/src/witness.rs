//! The last durable generation, told by a file that sled does not touch.
//!
//! A flipped bit in sled's log makes a *shorter* log, that is an older map, sound in itself: only a
//! memory outside of it can tell. The file has two slots, each in a sector of its own; they are written
//! in turn, in place, after the batch has become durable, and not synced for it:
//!
//! - The page cache survives a kill, so after one the witness is exact.
//! - After a power cut it may be older than the map, never newer. It then detects less; it never
//!   accuses a sound store.
//! - The first one of each opening is synced, so that a store with commits never looks like a new one.
//! - A write that the power cut tears leaves the other slot.

use std::{
    fs::{self, File},
    io,
    os::unix::fs::FileExt,
    path::Path,
};

use crate::{error::OpenError, layout};

/// Distance of the slots: the largest sector in use.
const SLOT_BYTES: u64 = 4096;
const FILE_BYTES: usize = 2 * 4096;
const MAGIC: [u8; 8] = *b"LMwitns1";
const WORDS: usize = 4;
const RECORD_BYTES: usize = 8 * (WORDS + 1);

/// An open witness; the only writer of its file.
#[derive(Debug)]
pub(crate) struct Witness {
    file: File,
    last: Testimony,
    /// Whether a commit of this opening has been synced.
    is_synced: bool,
}

/// What one slot says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Testimony {
    /// Rises with every write; the higher slot counts.
    sequence: u64,
    /// `None` before the first commit.
    generation: Option<u64>,
}

impl Witness {
    /// Makes a witness of nothing, durably.
    pub(crate) fn create(directory: &Path) -> Result<Self, OpenError> {
        let path = layout::witness_file(directory);
        create_file(directory, &path).map_err(|error| OpenError::from_io(&path, error))?;
        Self::open(directory)
    }

    /// Opens the witness, which has to be there.
    pub(crate) fn open(directory: &Path) -> Result<Self, OpenError> {
        let path = layout::witness_file(directory);
        let damaged = |what: &str| OpenError::Damaged { path: path.clone(), what: what.to_owned() };
        let file = match File::options().read(true).write(true).open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(damaged("the witness is missing")),
            Err(error) => return Err(OpenError::from_io(&path, error)),
        };
        let slots = read_slots(&file).map_err(|error| OpenError::from_io(&path, error))?;
        let last = slots.into_iter().flatten().max_by_key(|testimony| testimony.sequence);
        last.map(|last| Self { file, last, is_synced: false }).ok_or_else(|| damaged("the witness is unreadable"))
    }

    /// The highest generation that is known to have been durable.
    pub(crate) const fn generation(&self) -> Option<u64> {
        self.last.generation
    }

    /// Notes a generation that is durable now.
    pub(crate) fn record(&mut self, generation: u64) -> io::Result<()> {
        let next = Testimony { sequence: self.last.sequence + 1, generation: Some(generation) };
        self.file.write_all_at(&next.encode(), next.offset())?;
        self.last = next;
        if !self.is_synced {
            self.file.sync_data()?;
            self.is_synced = true;
        }
        Ok(())
    }
}

impl Testimony {
    const fn offset(self) -> u64 {
        (self.sequence % 2) * SLOT_BYTES
    }

    fn encode(self) -> [u8; RECORD_BYTES] {
        let words: [[u8; 8]; WORDS] = [
            MAGIC,
            self.sequence.to_be_bytes(),
            u64::from(self.generation.is_some()).to_be_bytes(),
            self.generation.unwrap_or(0).to_be_bytes(),
        ];
        let mut record = [0; RECORD_BYTES];
        let (body, sum) = record.split_at_mut(8 * WORDS);
        body.copy_from_slice(words.as_flattened());
        sum.copy_from_slice(&checksum(body).to_be_bytes());
        record
    }

    /// `None` when a single bit differs from what was encoded.
    fn decode(record: &[u8; RECORD_BYTES]) -> Option<Self> {
        let (words, _) = record.as_chunks::<8>();
        let &[magic, sequence, present, generation, sum] = words else { return None };
        if magic != MAGIC || checksum(record.get(..8 * WORDS)?) != u64::from_be_bytes(sum) {
            return None;
        }
        let generation = u64::from_be_bytes(generation);
        let generation = (u64::from_be_bytes(present) == 1).then_some(generation);
        Some(Self { sequence: u64::from_be_bytes(sequence), generation })
    }
}

fn create_file(directory: &Path, path: &Path) -> io::Result<()> {
    let new = layout::new_witness_file(directory);
    layout::remove(&new)?;
    let file = layout::private_file().open(&new)?;
    layout::make_private(&new, &file)?;
    // All blocks are written now, so that no later write needs space.
    file.write_all_at(&[0; FILE_BYTES], 0)?;
    for sequence in [0, 1] {
        let testimony = Testimony { sequence, generation: None };
        file.write_all_at(&testimony.encode(), testimony.offset())?;
    }
    file.sync_all()?;
    fs::rename(&new, path)?;
    layout::sync_directory(directory)
}

fn read_slots(file: &File) -> io::Result<[Option<Testimony>; 2]> {
    let mut slots = [None; 2];
    for (slot, offset) in slots.iter_mut().zip([0, SLOT_BYTES]) {
        let mut record = [0; RECORD_BYTES];
        match file.read_exact_at(&mut record, offset) {
            Ok(()) => *slot = Testimony::decode(&record),
            // Cut short: as good as unreadable.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {}
            Err(error) => return Err(error),
        }
    }
    Ok(slots)
}

/// FNV-1a of 64 bits. Each step is a bijection of the state, so that one changed byte, and with it one
/// flipped bit, always changes the sum.
fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_the_last_generation_after_reopening() {
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(Witness::create(directory.path()).unwrap().generation(), None);
        for generation in [1, 2, 3, 70] {
            Witness::open(directory.path()).unwrap().record(generation).unwrap();
            assert_eq!(Witness::open(directory.path()).unwrap().generation(), Some(generation));
        }
        let size = fs::metadata(layout::witness_file(directory.path())).unwrap().len();
        assert_eq!(size, 2 * SLOT_BYTES);
    }

    #[test]
    fn every_flipped_bit_of_a_record_voids_it() {
        let record = Testimony { sequence: 6, generation: Some(5) }.encode();
        assert!(Testimony::decode(&record).is_some());
        for bit in 0..8 * RECORD_BYTES {
            let mut flipped = record;
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Testimony::decode(&flipped), None, "bit {bit}");
        }
    }

    #[test]
    fn a_torn_slot_leaves_the_one_before_and_two_are_damage() {
        let directory = tempfile::tempdir().unwrap();
        let mut witness = Witness::create(directory.path()).unwrap();
        witness.record(8).unwrap();
        witness.record(9).unwrap();
        let torn = witness.last.offset();
        witness.file.write_all_at(&[0; 20], torn).unwrap();
        assert_eq!(Witness::open(directory.path()).unwrap().generation(), Some(8));
        witness.file.write_all_at(&[0; 20], SLOT_BYTES - torn).unwrap();
        assert!(matches!(Witness::open(directory.path()), Err(OpenError::Damaged { .. })));
    }
}
