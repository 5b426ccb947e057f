//! kill -9 at random moments, many times over one store.

use std::time::Duration;

use lighterman_checkpoint::{OpenError, OpenOptions, Store, read};

use crate::{
    child::Running,
    host,
    model::{Model, Random},
};

/// Looked at after each kill without recovering it, so that the next writer recovers it itself.
#[test]
fn b019_every_kill_leaves_a_store_that_opens_with_all_that_was_acknowledged() {
    let kills = host::count("LIGHTERMAN_KILLS", 50);
    let scratch = host::scratch();
    let directory = scratch.path().join("state");
    let mut random = Random::new(19);
    let mut model = Model::new(19);
    let mut last = 0;
    let mut during_opening = 0;
    for _ in 0..kills {
        let writer = Running::start("writer", &[directory.to_str().unwrap(), "19"]);
        // Every other kill falls into the start of the process and the opening of the store.
        let longest = if random.below(2) == 0 { 50 } else { 300 };
        let early = writer.let_run(Duration::from_millis(random.below(longest)));
        let acknowledged = writer.kill().or(early);
        during_opening += u64::from(acknowledged.is_none());
        last = acknowledged.unwrap_or(last);
        match read(&directory, OpenOptions::default()) {
            Ok(loaded) => {
                let generation = model.check(&loaded);
                assert!(generation >= last, "acknowledged {last}, found {generation}");
                last = generation;
            }
            Err(error) => assert!(last == 0 && is_unmade(&error), "after {last}: {error}"),
        }
    }
    let (_store, loaded) = Store::open(&directory, OpenOptions::default()).unwrap();
    let generation = model.check(&loaded);
    assert!(generation >= last, "acknowledged {last}, found {generation}");
    println!("{kills} kills, {during_opening} before the first acknowledgement, {generation} generations");
}

/// Killed before there was anything.
fn is_unmade(error: &OpenError) -> bool {
    matches!(error, OpenError::Missing { .. })
}
