//! Power cuts: the device is copied while the writer stands still, and the copy is opened.
//!
//! The writer works on an ext4 in a file behind a loop device. The file shows what has reached the
//! device; what the writer or the file system has in memory only is not in it. The writer is stopped soon
//! after an acknowledgement, in whatever it is doing then; the copy is mounted, which replays its
//! journal, and the store in it is opened and compared record by record.

use std::{fs, path::Path, process::Command, time::Duration};

use lighterman_checkpoint::{OpenOptions, Store};
use lighterman_contracts::{Loaded, Write};

use crate::{
    child::{self, Running},
    host::{self, Mounted},
    model::{Model, Random, verify},
};

/// Cuts of one file system before a fresh one is made.
const CUTS_PER_ROUND: u64 = 8;
const IMAGE_MIB: u64 = 32;

#[test]
fn nothing_acknowledged_is_lost_by_a_power_cut() {
    host::run_as_root("power cuts", &[]);
}

/// The test can fail: sled's own `flush` does not pass it.
#[test]
fn sled_alone_loses_what_it_acknowledged() {
    host::run_as_root("power cuts of sled alone", &[]);
}

pub(crate) fn cut() {
    let cuts = host::count("LIGHTERMAN_POWER_CUTS", 40);
    let (mut done, mut opened, mut acknowledged_at_cuts, mut in_doubt) = (0, 0, 0, 0);
    let mut random = Random::new(3);
    while done < cuts {
        let count = CUTS_PER_ROUND.min(cuts - done);
        let seed = 100 + done;
        let mut model = Model::new(seed);
        round("writer", seed, count, &mut random, |directory, acknowledged| {
            let (store, loaded) = Store::open(directory, OpenOptions::default())
                .unwrap_or_else(|error| panic!("acknowledged {acknowledged}, refused: {error}"));
            store.close().unwrap();
            let generation = model.check(&loaded);
            assert!(generation >= acknowledged, "acknowledged {acknowledged}, found {generation}");
            assert!(acknowledged == 0 || loaded.witness.is_some(), "it would pass for a new one if it were gone");
            opened += 1;
            acknowledged_at_cuts += acknowledged;
            in_doubt += generation - acknowledged;
        });
        done += count;
    }
    println!(
        "{done} power cuts, {opened} stores opened with all {acknowledged_at_cuts} acknowledged generations, \
         and {in_doubt} durable ones that were not acknowledged yet"
    );
}

pub(crate) fn cut_sled_alone() {
    const CUTS: u64 = 8;
    let mut lost = 0;
    round("sled alone", 7, CUTS, &mut Random::new(4), |directory, acknowledged| {
        let mut check = Command::new("timeout");
        check.arg("20").arg(child::executable()).args(child::ARGUMENTS);
        child::set_role(&mut check, "check sled", &[directory.to_str().unwrap(), "7", &acknowledged.to_string()]);
        lost += u64::from(!check.output().unwrap().status.success());
    });
    println!("{CUTS} power cuts of sled's flush alone, {lost} lost what it had acknowledged");
    assert!(lost > 0, "sled's flush has become durable, or this test cannot see a loss");
}

/// Runs a writer on a fresh file system, cuts the power `count` times, and hands each copy to `check`
/// with the last acknowledged generation. Half-way the writer is killed and started again.
fn round(role: &str, seed: u64, count: u64, random: &mut Random, mut check: impl FnMut(&Path, u64)) {
    let scratch = host::scratch();
    let image = scratch.path().join("image");
    host::make_image(&image, IMAGE_MIB);
    let live = Mounted::image(&scratch.path().join("live"), &image);
    let directory = live.path().join("state");
    let start = || Running::start(role, &[directory.to_str().unwrap(), &seed.to_string()]);
    let mut writer = start();
    let mut acknowledged = 0;
    for cut in 0..count {
        // The first cut falls into the making of the store or soon after it.
        let time = if cut == 0 { random.below(15) } else { 5 + random.below(120) };
        acknowledged = writer.let_run(Duration::from_millis(time)).unwrap_or(acknowledged);
        writer.stop();
        acknowledged = writer.last_ack_within(Duration::from_millis(5)).unwrap_or(acknowledged);
        let copy = scratch.path().join(format!("copy-{cut}"));
        host::copy_image(&image, &copy);
        {
            let cut = Mounted::image(&scratch.path().join("cut"), &copy);
            check(&cut.path().join("state"), acknowledged);
        }
        fs::remove_file(copy).unwrap();
        if cut == count / 2 {
            acknowledged = writer.kill().unwrap_or(acknowledged);
            writer = start();
        } else {
            writer.resume();
        }
    }
}

/// As the writer of the store does it, on sled with its `flush` and nothing else.
pub(crate) fn write_with_sled_alone(directory: &Path, seed: &str) {
    let db = sled::Config::new().path(directory).flush_every_ms(None).open().unwrap();
    let mut model = Model::new(seed.parse().unwrap());
    let loaded = Loaded { entries: sled_entries(&db), witness: None };
    println!("open {}", model.check(&loaded));
    loop {
        let mut batch = sled::Batch::default();
        for Write { key, value } in model.next_batch().writes {
            match value {
                Some(value) => batch.insert(key, value),
                None => batch.remove(key),
            }
        }
        db.apply_batch(batch).unwrap();
        db.flush().unwrap();
        println!("ack {}", model.generation);
    }
}

/// Panics unless sled holds everything up to `last`.
pub(crate) fn check_sled(directory: &Path, seed: &str, last: &str) {
    let db = sled::Config::new().path(directory).flush_every_ms(None).open().unwrap();
    let loaded = Loaded { entries: sled_entries(&db), witness: None };
    assert!(verify(&loaded).unwrap() >= last.parse().unwrap());
    Model::new(seed.parse().unwrap()).check(&loaded);
}

fn sled_entries(db: &sled::Db) -> Vec<(Vec<u8>, Vec<u8>)> {
    db.iter().map(|item| item.unwrap()).map(|(key, value)| (key.to_vec(), value.to_vec())).collect()
}
