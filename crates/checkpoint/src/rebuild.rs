//! A store written anew from its entries: when it is first made, when its file has become too large for
//! what it holds, and when the device has failed under it.

use std::{fs, path::Path, time::Duration};

use lighterman_contracts::Write;

use crate::{
    database::Database,
    encoding::Entries,
    fault::Fault,
    layout,
    lock::{DirectoryLock, Share},
};

/// File sizes up to this are left alone: two segments of sled.
const FLOOR_BYTES: u64 = 1 << 20;
/// How often the live data may fit into the file.
const MAX_RATIO: u64 = 8;
/// Largest batch while building; nothing has to be atomic before the rename.
const BATCH_BYTES: usize = 256 << 10;

/// Whether the file has become too large for what it holds.
pub(crate) fn is_bloated(file_bytes: u64, entries: &Entries) -> bool {
    let live: usize = entries.iter().map(|(key, value)| key.len() + value.len()).sum();
    let live = u64::try_from(live).unwrap_or(u64::MAX);
    file_bytes > FLOOR_BYTES && file_bytes > live.saturating_mul(MAX_RATIO)
}

/// Makes `store-number` with these entries, durably and all at once: it is built aside and renamed.
pub(crate) fn build(lock: &DirectoryLock, number: u64, entries: &Entries, limit: Duration) -> Result<(), Fault> {
    let directory = lock.directory();
    let building = layout::building(directory);
    layout::remove(&building)?;
    layout::create_private_directory(&building)?;
    let outcome = fill(&building, lock.share(), entries, limit).and_then(|()| {
        layout::settle(&building)?;
        fs::rename(&building, layout::store(directory, number))?;
        Ok(layout::sync_directory(directory)?)
    });
    if outcome.is_err() {
        // The reason to fail may well be a lack of room. What stays is removed by the next opening.
        let _ = layout::remove(&building);
    }
    outcome
}

fn fill(building: &Path, share: Share, entries: &Entries, limit: Duration) -> Result<(), Fault> {
    let (database, _none) = Database::open(building, share, limit)?;
    for batch in batches(entries) {
        database.write(&batch, limit)?;
    }
    Ok(database.close(limit)?)
}

fn batches(entries: &Entries) -> Vec<Vec<Write>> {
    let mut batches: Vec<Vec<Write>> = Vec::new();
    let mut room = 0;
    for (key, value) in entries {
        let bytes = key.len() + value.len();
        match batches.last_mut() {
            Some(batch) if bytes <= room => batch.push(Write::put(key.clone(), value.clone())),
            Some(_) | None => {
                batches.push(vec![Write::put(key.clone(), value.clone())]);
                room = BATCH_BYTES;
            }
        }
        room = room.saturating_sub(bytes);
    }
    batches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_files_and_well_filled_ones_are_left_alone() {
        let entries = vec![(vec![1; 100], vec![2; 199_900])];
        let cases = [(0, false), (FLOOR_BYTES, false), (1_600_000, false), (1_600_001, true), (9_000_000, true)];
        for (file_bytes, expected) in cases {
            assert_eq!(is_bloated(file_bytes, &entries), expected, "{file_bytes}");
        }
        assert!(!is_bloated(FLOOR_BYTES, &Vec::new()));
        assert!(is_bloated(FLOOR_BYTES + 1, &Vec::new()));
    }

    #[test]
    fn batches_hold_every_entry_once_and_stay_small() {
        let entries: Entries = (0..1000_u32).map(|key| (key.to_be_bytes().to_vec(), vec![0; 3000])).collect();
        let batches = batches(&entries);
        assert!(batches.iter().all(|batch| batch.len() * 3004 <= BATCH_BYTES));
        let flat: Vec<_> = batches.concat().into_iter().map(|write| (write.key, write.value.unwrap())).collect();
        assert_eq!(flat, entries);
    }
}
