//! A device without room, then with room again.

use std::{fs, path::Path};

use lighterman_checkpoint::{OpenError, OpenOptions, Store};
use lighterman_contracts::{Batch, Checkpoint, CommitError, Write};

use crate::{
    host::{self, Mounted},
    model::run,
};

#[test]
fn b075_a_full_disk_refuses_commits_and_heals_without_a_restart() {
    host::run_as_root("full disk", &[]);
}

pub(crate) fn fill_and_free() {
    let scratch = host::scratch();
    let image = scratch.path().join("image");
    host::make_image(&image, 16);
    for device in [
        Mounted::tmpfs(&scratch.path().join("small"), 2048),
        Mounted::tmpfs(&scratch.path().join("larger"), 6000),
        Mounted::image(&scratch.path().join("ext4"), &image),
    ] {
        fill_and_free_one(device.path());
    }
}

fn fill_and_free_one(device: &Path) {
    let directory = device.join("state");
    let (store, _) = Store::open(&directory, OpenOptions::default()).unwrap();
    let mut model = SmallModel::default();
    for _ in 0..30 {
        run(store.commit(model.next())).unwrap();
    }
    for _ in 0..3 {
        let durable = model.clone();
        let filler = host::fill(device);
        let failures = commit_until_it_fails(&store, &mut model);
        // Every further one fails alike, and in no time: none waits for room.
        for _ in 0..5 {
            assert!(matches!(run(store.commit(model.everything())), Err(CommitError::NoSpace(_))));
        }
        assert!(failures > 0 && durable.generation <= model.generation);
        fs::remove_file(filler).unwrap();
        // The same handle; as the core does it, with everything since the last success.
        run(store.commit(model.everything())).unwrap();
    }
    store.close().unwrap();
    let (store, loaded) = Store::open(&directory, OpenOptions::default()).unwrap();
    assert_eq!((loaded.entries, loaded.witness), (model.entries(), Some(model.generation)));

    // Opening needs room, too; what was durable is there afterwards.
    store.close().unwrap();
    let filler = host::fill(device);
    match Store::open(&directory, OpenOptions::default()) {
        Ok((store, loaded)) => {
            assert_eq!(loaded.entries, model.entries());
            drop(store.close());
        }
        Err(error) => assert!(matches!(error, OpenError::NoSpace { .. }), "{error:?}"),
    }
    fs::remove_file(filler).unwrap();
    let (store, loaded) = Store::open(&directory, OpenOptions::default()).unwrap();
    assert_eq!(loaded.entries, model.entries());
    store.close().unwrap();
    println!("{}: full three times, healed by the same handle", device.display());
}

fn commit_until_it_fails(store: &Store, model: &mut SmallModel) -> u64 {
    for _ in 0..20_000 {
        match run(store.commit(model.next())) {
            Ok(()) => {}
            Err(CommitError::NoSpace(_)) => return 1,
            Err(other) => panic!("{other:?}"),
        }
    }
    0
}

/// Ten records that fit on the smallest device.
#[derive(Clone, Debug, Default)]
struct SmallModel {
    generation: u64,
}

impl SmallModel {
    fn next(&mut self) -> Batch {
        self.generation += 1;
        self.everything()
    }

    fn everything(&self) -> Batch {
        let mut batch = Batch::new(self.generation);
        batch.writes = self.entries().into_iter().map(|(key, value)| Write::put(key, value)).collect();
        batch
    }

    fn entries(&self) -> Vec<(Vec<u8>, Vec<u8>)> {
        (0..10_u8).map(|key| (vec![key], self.generation.to_be_bytes().repeat(20))).collect()
    }
}
