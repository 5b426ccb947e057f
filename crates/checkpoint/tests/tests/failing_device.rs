//! A device that fails or hangs, then works again.

use std::{fs, io::Write as _, path::Path, process::Command, time::Duration};

use lighterman_checkpoint::{OpenError, OpenOptions, Store};
use lighterman_contracts::{Checkpoint, CommitError};

use crate::{
    host::{self, Mounted},
    model::{Model, run},
};

/// After a failed write-back the kernel calls the pages clean: what is read back then is not what is on
/// the device.
#[test]
fn a_device_that_failed_is_trusted_again_only_after_everything_was_written_anew() {
    host::run_as_root("failing device", &[]);
}

#[test]
fn a_device_that_hangs_is_a_failure_within_the_limit_and_heals() {
    host::run_as_root("hung device", &[]);
}

/// A device with less behind it than it says: writes fail only when they reach it.
pub(crate) fn fail_and_heal() {
    const IMAGE_BYTES: usize = 32 << 20;
    let scratch = host::scratch();
    let thin = Mounted::tmpfs(&scratch.path().join("thin"), 40 << 10);
    let image = thin.path().join("image");
    host::make_image(&image, 32);
    // Everything has its room, then what is free in the file system gives it back: so only new blocks
    // will fail, and neither journal nor tables, after which the file system would give up altogether.
    let content = fs::read(&image).unwrap();
    assert_eq!(content.len(), IMAGE_BYTES);
    fs::File::options().write(true).open(&image).and_then(|mut file| file.write_all(&content)).unwrap();
    let device = Mounted::image(&scratch.path().join("ext4"), &image);
    let directory = device.path().join("state");
    let (store, _) = Store::open(&directory, OpenOptions::default()).unwrap();
    let mut model = Model::new(5);
    model.commit(&store, 20);
    tool("fstrim", &[device.path()]);

    let filler = host::fill(thin.path());
    let failure = loop {
        if let Err(failure) = run(store.commit(model.next_batch())) {
            break failure;
        }
    };
    for _ in 0..3 {
        run(store.commit(model.everything())).unwrap_err();
    }
    fs::remove_file(filler).unwrap();
    run(store.commit(model.everything())).unwrap();
    store.close().unwrap();
    assert!(!directory.join("store-1").exists(), "the store was not written anew");
    let (store, loaded) = Store::open(&directory, OpenOptions::default()).unwrap();
    assert_eq!(model.check(&loaded), model.generation);
    store.close().unwrap();
    println!("{failure:?}, then everything written anew");
}

/// A frozen file system: whoever writes waits in the kernel.
pub(crate) fn hang_and_go_on() {
    let scratch = host::scratch();
    let image = scratch.path().join("image");
    host::make_image(&image, 16);
    let device = Mounted::image(&scratch.path().join("ext4"), &image);
    let options = OpenOptions { commit_limit: Duration::from_millis(100), ..OpenOptions::default() };
    let (store, _) = Store::open(&device.path().join("state"), options).unwrap();
    let mut model = Model::new(6);
    model.commit(&store, 5);
    let frozen = Frozen::new(device.path());
    for _ in 0..20 {
        // More of them than the queue holds.
        let outcome = run(store.commit(model.next_batch()));
        assert!(matches!(&outcome, Err(CommitError::Failed(text)) if text.contains("not done")), "{outcome:?}");
    }
    drop(frozen);
    run(store.commit(model.everything())).unwrap();
    store.close().unwrap();
    let (store, loaded) = Store::open(&device.path().join("state"), OpenOptions::default()).unwrap();
    assert_eq!(model.check(&loaded), 25);
    store.close().unwrap();

    let frozen = Frozen::new(device.path());
    let options = OpenOptions { open_limit: Duration::from_millis(100), ..options };
    let outcome = Store::open(&device.path().join("other"), options);
    assert!(matches!(outcome, Err(OpenError::TimedOut { .. })), "{outcome:?}");
    drop(frozen);
    println!("a device that hung: 20 commits refused in time, healed");
}

/// A file system that lets nobody write, until dropped.
struct Frozen<'a>(&'a Path);

impl<'a> Frozen<'a> {
    fn new(at: &'a Path) -> Self {
        tool("fsfreeze", &[Path::new("--freeze"), at]);
        Self(at)
    }
}

impl Drop for Frozen<'_> {
    fn drop(&mut self) {
        tool("fsfreeze", &[Path::new("--unfreeze"), self.0]);
    }
}

fn tool(program: &str, arguments: &[&Path]) {
    let output = Command::new(program).args(arguments).output().unwrap();
    assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
}
