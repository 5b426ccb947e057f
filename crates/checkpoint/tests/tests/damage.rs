//! Files that changed behind the back of the store.

use std::{
    fs::{self, File},
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
    time::Duration,
};

use lighterman_checkpoint::{DirectoryLock, OpenError, OpenOptions, Store, move_aside, read};

use crate::{
    child::Running,
    host,
    model::{Model, Random, verify},
};

const OPTIONS: OpenOptions = OpenOptions { open_limit: Duration::from_secs(5), commit_limit: Duration::from_secs(5) };

/// What became of a damaged store.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    /// Not opened.
    refused: u64,
    /// Opened, and found wanting by head or witness.
    found_out: u64,
    /// Opened with everything in it: the damage lies where nothing is read.
    unharmed: u64,
}

#[test]
fn every_flipped_bit_is_detected_or_does_no_harm() {
    let flips = host::count("LIGHTERMAN_BIT_FLIPS", 150);
    let bases = bases();
    let mut random = Random::new(8);
    let mut tally = Tally::default();
    for flip in 0..flips {
        let base = &bases[usize::try_from(flip).unwrap() % bases.len()];
        tally.add(&base.damaged(|directory| flip_a_bit(directory, &mut random)));
    }
    println!("{flips} flipped bits: {tally:?}");
    assert!(tally.refused > 0 && tally.found_out > 0, "{tally:?}");
}

#[test]
fn b015_every_cut_tail_is_detected_or_does_no_harm() {
    let cuts = host::count("LIGHTERMAN_CUT_TAILS", 60);
    let bases = bases();
    let mut random = Random::new(15);
    let mut tally = Tally::default();
    for cut in 0..cuts {
        let base = &bases[usize::try_from(cut).unwrap() % bases.len()];
        tally.add(&base.damaged(|directory| cut_a_tail(directory, &mut random)));
    }
    println!("{cuts} cut tails: {tally:?}");
    assert!(tally.found_out > 0, "{tally:?}");
}

#[test]
fn every_file_that_is_gone_or_empty_is_detected_or_does_no_harm() {
    for base in bases() {
        for path in host::files(&base.directory()) {
            let name = path.strip_prefix(base.directory()).unwrap().to_owned();
            base.damaged(|directory| {
                fs::remove_file(directory.join(&name)).unwrap();
                format!("{} removed", name.display())
            });
            base.damaged(|directory| {
                File::create(directory.join(&name)).unwrap();
                format!("{} emptied", name.display())
            });
        }
    }
}

#[test]
fn a_store_that_is_gone_is_not_taken_for_a_new_one() {
    let base = Base::closed();
    for (name, what) in [("store-1", "the store"), ("witness", "the witness")] {
        let scratch = base.copy();
        remove(&scratch.path().join("state").join(name));
        let outcome = Store::open(&scratch.path().join("state"), OPTIONS);
        assert!(matches!(outcome, Err(OpenError::Damaged { .. })), "{what}: {outcome:?}");
    }
}

#[test]
fn a_store_that_was_never_finished_is_made_anew() {
    let scratch = host::scratch();
    Store::open(scratch.path(), OPTIONS).unwrap().0.close().unwrap();
    // Killed after the witness was there, while the store was built beside another unfinished file.
    fs::rename(scratch.path().join("store-1"), scratch.path().join("building")).unwrap();
    fs::write(scratch.path().join("witness.new"), b"half").unwrap();
    let (store, loaded) = Store::open(scratch.path(), OPTIONS).unwrap();
    assert_eq!(loaded.entries, []);
    Model::new(1).commit(&store, 3);
    assert!(!scratch.path().join("building").exists() && !scratch.path().join("witness.new").exists());
}

/// With sled alone such a file makes the store unreadable for ever.
#[test]
fn b019_a_half_written_snapshot_does_no_harm() {
    let base = Base::closed();
    let plant = |store: &Path| fs::write(store.join("snap.7FFFFFFFFFFFFFFF.generating"), b"half").unwrap();
    let verdict = base.judge(|directory| {
        plant(&directory.join("store-1"));
        "half a snapshot".to_owned()
    });
    assert_eq!(verdict, Verdict::Unharmed);

    let alone = base.copy();
    plant(&alone.path().join("state/store-1"));
    assert!(sled::open(alone.path().join("state/store-1")).is_err(), "sled has learnt it: remove the workaround");
}

#[test]
fn of_two_stores_after_a_rebuild_the_newer_counts() {
    let base = Base::closed();
    let scratch = base.copy();
    let directory = scratch.path().join("state");
    host::copy_directory(&directory.join("store-1"), &directory.join("store-2"));
    fs::write(directory.join("store-1/db"), b"half removed").unwrap();
    read(&directory, OPTIONS).unwrap();
    assert!(directory.join("store-1").exists(), "reading changes nothing");
    let (_store, loaded) = Store::open(&directory, OPTIONS).unwrap();
    assert_eq!(base.model.clone().check(&loaded), base.model.generation);
    assert!(!directory.join("store-1").exists());
}

#[test]
fn what_is_moved_aside_stays_and_the_next_store_is_new() {
    let base = Base::closed();
    let scratch = base.copy();
    let directory = scratch.path().join("state");
    for number in 1..3 {
        let before = host::files(&directory).len();
        let lock = DirectoryLock::try_acquire(&directory).unwrap();
        let aside = move_aside(&lock).unwrap();
        assert_eq!(aside, directory.join(format!("damaged-{number}")));
        assert_eq!(host::files(&directory).len(), before);
        assert!(aside.join("store-1/db").exists() && aside.join("witness").exists());
        let (store, loaded) = Store::open_locked(lock, OPTIONS).unwrap();
        assert_eq!((loaded.entries.len(), loaded.witness), (0, None));
        Model::new(number).commit(&store, 5);
        store.close().unwrap();
    }
}

/// sled's recovery overwrites what it cannot read.
#[test]
fn reading_changes_nothing_even_of_a_damaged_store() {
    let base = Base::killed();
    let mut random = Random::new(5);
    for _ in 0..10 {
        let scratch = base.copy();
        let directory = scratch.path().join("state");
        flip_a_bit(&directory.join("store-1"), &mut random);
        let before = contents(&directory);
        if let Err(error) = read(&directory, OPTIONS) {
            assert!(error.path().exists(), "what is named as damaged is there to be looked at: {error}");
        }
        assert!(before == contents(&directory));
    }
    let loaded = read(&base.directory(), OPTIONS).unwrap();
    assert_eq!(base.model.clone().check(&loaded), base.model.generation);
}

#[test]
fn a_store_that_does_not_open_in_time_is_left_alone() {
    let base = Base::closed();
    let scratch = base.copy();
    let directory = scratch.path().join("state");
    let held = File::open(directory.join("store-1/db")).unwrap();
    held.lock().unwrap();
    let options = OpenOptions { open_limit: Duration::from_millis(100), ..OPTIONS };
    let outcome = Store::open(&directory, options);
    assert!(matches!(outcome, Err(OpenError::Locked { owner: None, .. })), "{outcome:?}");
    // The thread that was given up may still write there, so the directory is not free before it ends.
    assert!(matches!(DirectoryLock::try_acquire(&directory), Err(OpenError::Locked { owner: Some(_), .. })));
    drop(held);
    assert!(host::until(|| DirectoryLock::try_acquire(&directory).is_ok()));
    let (_store, loaded) = Store::open(&directory, OPTIONS).unwrap();
    assert_eq!(base.model.clone().check(&loaded), base.model.generation);
}

/// A store to be damaged, and what is in it.
struct Base {
    scratch: tempfile::TempDir,
    model: Model,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Verdict {
    Refused,
    FoundOut,
    Unharmed,
}

impl Base {
    /// Closed in order: sled's log ends where it says.
    fn closed() -> Self {
        let scratch = host::scratch();
        let mut model = Model::new(11);
        let (store, _) = Store::open(&scratch.path().join("state"), OPTIONS).unwrap();
        model.commit(&store, 60);
        store.close().unwrap();
        Self { scratch, model }
    }

    /// Opened several times: sled has a snapshot, and old segments.
    fn reopened() -> Self {
        let Self { scratch, mut model } = Self::closed();
        for _ in 0..3 {
            let (store, _) = Store::open(&scratch.path().join("state"), OPTIONS).unwrap();
            model.commit(&store, 30);
            store.close().unwrap();
        }
        Self { scratch, model }
    }

    /// Killed while it wrote: everything is in the log, something half.
    fn killed() -> Self {
        let scratch = host::scratch();
        let directory = scratch.path().join("state");
        let writer = Running::start("writer", &[directory.to_str().unwrap(), "12"]);
        while writer.wait_for("ack").parse::<u64>().unwrap() < 80 {}
        writer.kill();
        let loaded = read(&directory, OPTIONS).unwrap();
        let mut model = Model::new(12);
        model.check(&loaded);
        Self { scratch, model }
    }

    fn directory(&self) -> PathBuf {
        self.scratch.path().join("state")
    }

    fn copy(&self) -> tempfile::TempDir {
        let scratch = host::scratch();
        host::copy_directory(&self.directory(), &scratch.path().join("state"));
        scratch
    }

    /// Damages a copy and fails unless that is noticed or does no harm, now and later.
    fn damaged(&self, damage: impl FnOnce(&Path) -> String) -> Verdict {
        self.judge(damage)
    }

    fn judge(&self, damage: impl FnOnce(&Path) -> String) -> Verdict {
        let scratch = self.copy();
        let directory = scratch.path().join("state");
        let what = damage(&directory);
        let (store, loaded) = match Store::open(&directory, OPTIONS) {
            Ok(opened) => opened,
            Err(OpenError::Damaged { .. }) => return Verdict::Refused,
            Err(other) => panic!("{what}: refused, but for {other:?}"),
        };
        if verify(&loaded).is_err() {
            return Verdict::FoundOut;
        }
        assert!(loaded.entries == self.model.entries(), "{what}: not noticed");
        let mut model = self.model.clone();
        model.commit(&store, 2);
        store.close().unwrap();
        let (_store, loaded) = Store::open(&directory, OPTIONS).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert!(loaded.entries == model.entries(), "{what}: harmed later");
        Verdict::Unharmed
    }
}

impl Tally {
    fn add(&mut self, verdict: &Verdict) {
        match verdict {
            Verdict::Refused => self.refused += 1,
            Verdict::FoundOut => self.found_out += 1,
            Verdict::Unharmed => self.unharmed += 1,
        }
    }
}

fn bases() -> [Base; 3] {
    [Base::closed(), Base::reopened(), Base::killed()]
}

/// In any file with anything in it, or, every other time, in sled's log.
fn flip_a_bit(directory: &Path, random: &mut Random) -> String {
    let mut files = host::files(directory);
    files.retain(|path| fs::metadata(path).unwrap().len() > 0);
    if random.below(2) == 0 {
        files.retain(|path| path.ends_with("db"));
    }
    let path = &files[usize::try_from(random.below(files.len().try_into().unwrap())).unwrap()];
    let file = File::options().read(true).write(true).open(path).unwrap();
    let place = random.below(file.metadata().unwrap().len());
    let bit = random.below(8);
    let mut byte = [0];
    file.read_exact_at(&mut byte, place).unwrap();
    byte[0] ^= 1 << bit;
    file.write_all_at(&byte, place).unwrap();
    format!("bit {bit} of byte {place} of {}", path.display())
}

fn cut_a_tail(directory: &Path, random: &mut Random) -> String {
    let path = host::files(directory).into_iter().find(|path| path.ends_with("db")).unwrap();
    let file = File::options().write(true).open(&path).unwrap();
    let whole = file.metadata().unwrap().len();
    // Every other time only a little.
    let most = if random.below(2) == 0 { whole } else { 8192 };
    let length = whole - 1 - random.below(most);
    file.set_len(length).unwrap();
    format!("{} cut to {length}", path.display())
}

fn contents(directory: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let files = host::files(directory).into_iter().filter(|path| !path.ends_with("owner"));
    files.map(|path| (path.clone(), fs::read(path).unwrap())).collect()
}

fn remove(path: &Path) {
    if path.is_dir() { fs::remove_dir_all(path).unwrap() } else { fs::remove_file(path).unwrap() }
}
