//! How large the store becomes.

use std::{fs, path::Path};

use lighterman_checkpoint::{OpenOptions, Store};
use lighterman_contracts::{Batch, Checkpoint, Write};

use crate::{
    host,
    model::{Random, run},
};

const RECORDS: u64 = 1000;
const PER_COMMIT: u64 = 100;
const RECORD_BYTES: usize = 200;

/// P13 of `performance.md`.
#[test]
fn p13_after_many_overwrites_the_file_is_at_most_ten_times_the_live_data() {
    let overwrites = host::count("LIGHTERMAN_OVERWRITES", 100_000);
    let scratch = host::scratch();
    let mut random = Random::new(13);
    commit_batches(scratch.path(), overwrites / PER_COMMIT, |batch| {
        for _ in 0..PER_COMMIT {
            batch.writes.push(record(random.below(RECORDS), batch.generation));
        }
    });
    let live = 1000 * (RECORD_BYTES + 8);
    check_size("overwrites", scratch.path(), live);
}

/// Tasks come and go; the file must not remember them all.
#[test]
fn records_that_come_and_go_do_not_make_the_file_grow() {
    let scratch = host::scratch();
    commit_batches(scratch.path(), 500, |batch| {
        for index in 0..PER_COMMIT {
            let key = batch.generation * PER_COMMIT + index;
            batch.writes.push(record(key, batch.generation));
            if let Some(old) = key.checked_sub(RECORDS) {
                batch.writes.push(Write::delete(old.to_be_bytes().to_vec()));
            }
        }
    });
    let live = 1000 * (RECORD_BYTES + 8);
    check_size("coming and going", scratch.path(), live);
}

fn commit_batches(directory: &Path, count: u64, mut fill: impl FnMut(&mut Batch)) {
    let (store, _) = Store::open(directory, OpenOptions::default()).unwrap();
    for generation in 1..=count {
        let mut batch = Batch::new(generation);
        fill(&mut batch);
        run(store.commit(batch)).unwrap();
    }
    store.close().unwrap();
}

fn check_size(what: &str, directory: &Path, live: usize) {
    let before = size(directory);
    let (store, loaded) = Store::open(directory, OpenOptions::default()).unwrap();
    assert!(loaded.entries.len() >= 900, "{}", loaded.entries.len());
    store.close().unwrap();
    let after = size(directory);
    println!("{what}: {live} bytes live, {before} before reopening, {after} after");
    let live = u64::try_from(live).unwrap();
    // While it runs the file is bounded too, though by sled alone.
    assert!(before <= 40 * live && after <= 10 * live, "{live} live, {before} before, {after} after");
}

fn record(key: u64, generation: u64) -> Write {
    Write::put(key.to_be_bytes().to_vec(), generation.to_be_bytes().repeat(RECORD_BYTES / 8))
}

fn size(directory: &Path) -> u64 {
    host::files(directory).iter().map(|path| fs::metadata(path).unwrap().len()).sum()
}
