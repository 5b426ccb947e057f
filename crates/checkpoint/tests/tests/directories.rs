//! State directories: whose they are, and what may be wrong with them.

use std::{
    fs::{self, File, Permissions},
    os::unix::{
        fs::{PermissionsExt, chown},
        process::CommandExt,
    },
    path::Path,
    process::Command,
};

use lighterman_checkpoint::{DirectoryLock, OpenError, OpenOptions, Owner, Store, read};
use lighterman_contracts::{Batch, Checkpoint as _, Write};
use rustix::{
    fs::Mode,
    process::{geteuid, umask},
};

use crate::{
    child::{self, Running},
    host,
    model::{Model, run},
};

/// A user with nothing of its own.
const NOBODY: u32 = 65_534;

#[test]
fn a_second_process_is_told_who_holds_the_directory() {
    let scratch = host::scratch();
    let holder = Running::start("holder", &[scratch.path().to_str().unwrap()]);
    holder.wait_for("open");
    for outcome in [
        DirectoryLock::try_acquire(scratch.path()).map(drop),
        DirectoryLock::check_free(scratch.path()),
        Store::open(scratch.path(), OpenOptions::default()).map(drop),
        read(scratch.path(), OpenOptions::default()).map(drop),
    ] {
        let Err(OpenError::Locked { owner: Some(Owner { pid, command, purpose }), path }) = outcome else {
            panic!("{outcome:?}");
        };
        assert_eq!((pid, path.as_path()), (holder.id(), scratch.path()));
        assert!(!command.is_empty() && purpose.is_empty(), "{command} {purpose}");
    }
    holder.kill();
    DirectoryLock::check_free(scratch.path()).unwrap();
    Store::open(scratch.path(), OpenOptions::default()).unwrap();
}

/// The lock of a file is not that of its copy: whoever took the copy for a dead run's would end a living one.
#[test]
fn a_copy_of_what_a_living_process_owns_is_not_free() {
    let (scratch, copy) = (host::scratch(), host::scratch());
    let holder = Running::start("holder", &[scratch.path().to_str().unwrap()]);
    holder.wait_for("open");
    fs::copy(scratch.path().join("owner"), copy.path().join("owner")).unwrap();
    for outcome in [DirectoryLock::check_free(copy.path()), DirectoryLock::try_acquire(copy.path()).map(drop)] {
        let Err(OpenError::Locked { owner: Some(owner), .. }) = outcome else { panic!("{outcome:?}") };
        assert_eq!(owner.pid, holder.id());
        assert!(owner.purpose.contains("copy"), "{owner}");
    }
    holder.kill();
    DirectoryLock::check_free(copy.path()).unwrap();
    DirectoryLock::try_acquire(copy.path()).unwrap();
}

/// Nobody writes to it, and opening it would wait.
#[test]
fn a_pipe_in_the_place_of_the_lock_is_refused() {
    let scratch = host::scratch();
    let made = Command::new("mkfifo").arg(scratch.path().join("owner")).status().unwrap();
    assert!(made.success());
    for outcome in [DirectoryLock::check_free(scratch.path()), DirectoryLock::try_acquire(scratch.path()).map(drop)] {
        assert!(matches!(outcome, Err(OpenError::Failed { .. })), "{outcome:?}");
    }
}

#[test]
fn a_second_store_in_this_process_is_refused_until_the_first_is_closed() {
    let scratch = host::scratch();
    let (store, _) = Store::open(scratch.path(), OpenOptions::default()).unwrap();
    let second = Store::open(scratch.path(), OpenOptions::default());
    let said = second.unwrap_err().to_string();
    assert!(said.contains(&std::process::id().to_string()), "{said}");
    let lock = store.close().unwrap();
    assert!(DirectoryLock::try_acquire(scratch.path()).is_err());
    Store::open_locked(lock, OpenOptions::default()).unwrap();
}

#[test]
fn whoever_meets_a_lock_is_told_what_its_holder_declared() {
    let scratch = host::scratch();
    let lock = DirectoryLock::try_acquire(scratch.path()).unwrap();
    lock.declare("cleans up").unwrap();
    let said = DirectoryLock::try_acquire(scratch.path()).unwrap_err().to_string();
    assert!(said.ends_with(&format!("(pid {}), which cleans up", std::process::id())), "{said}");
    drop(lock);
    // The next holder has not declared anything.
    let lock = DirectoryLock::try_acquire(scratch.path()).unwrap();
    let said = DirectoryLock::check_free(scratch.path()).unwrap_err().to_string();
    assert!(said.ends_with(')'), "{said}");
    drop(lock);
}

/// A directory that nobody ever held, or a store is looked for in, is left as it was.
#[test]
fn a_directory_without_a_store_is_named_as_that_and_nothing_is_left_in_it() {
    let scratch = host::scratch();
    let outcome = read(scratch.path(), OpenOptions::default());
    let Err(error @ OpenError::NoStore { .. }) = outcome else { panic!("{outcome:?}") };
    assert_eq!(error.to_string(), format!("{} holds no state", scratch.path().display()));
    let free = DirectoryLock::check_free(scratch.path());
    assert!(matches!(free, Err(OpenError::Missing { .. })), "{free:?}");
    assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 0);
    let missing = read(&scratch.path().join("missing"), OpenOptions::default());
    assert!(matches!(missing, Err(OpenError::Missing { .. })), "{missing:?}");
    // One that was held and never got so far.
    drop(DirectoryLock::try_acquire(scratch.path()).unwrap());
    let outcome = read(scratch.path(), OpenOptions::default());
    assert!(matches!(outcome, Err(OpenError::NoStore { .. })), "{outcome:?}");
}

#[test]
fn the_directory_of_a_dead_owner_can_be_taken_and_removed() {
    let scratch = host::scratch();
    let directory = scratch.path().join("instance");
    let holder = Running::start("holder", &[directory.to_str().unwrap()]);
    holder.wait_for("open");
    assert!(DirectoryLock::try_acquire(&directory).is_err());
    holder.kill();
    let lock = DirectoryLock::try_acquire(&directory).unwrap();
    let (store, _) = Store::open_locked(lock, OpenOptions::default()).unwrap();
    store.close().unwrap().remove_directory().unwrap();
    assert!(!directory.exists());
    assert!(matches!(DirectoryLock::try_acquire(&directory), Err(OpenError::Missing { .. })));
}

/// Whoever is killed while it removes the directory leaves half a store: that is no damage.
#[test]
fn a_removal_that_was_cut_off_is_gone_on_with() {
    for gone in ["store-1/db", "store-1/conf", "store-1", "witness", "instance"] {
        let scratch = host::scratch();
        let directory = scratch.path().join("instance-1");
        let (store, _) = Store::open(&directory, OpenOptions::default()).unwrap();
        let mut batch = Batch::new(1);
        batch.writes.push(Write::put(b"key".to_vec(), b"value".to_vec()));
        run(store.commit(batch)).unwrap();
        drop(store.close().unwrap());
        File::create(directory.join("instance")).unwrap();

        File::create(directory.join("leaving")).unwrap();
        let gone = directory.join(gone);
        if gone.is_dir() { fs::remove_dir_all(&gone) } else { fs::remove_file(&gone) }.unwrap();
        let (store, loaded) = Store::open(&directory, OpenOptions::default()).unwrap();
        assert_eq!((loaded.entries.len(), loaded.witness), (0, None), "{}", gone.display());
        store.close().unwrap().remove_directory().unwrap();
        assert!(!directory.exists());
    }
}

#[test]
fn b076_a_directory_that_cannot_serve_is_refused_with_its_path() {
    let scratch = host::scratch();
    let file = scratch.path().join("file");
    File::create(&file).unwrap();
    let missing = scratch.path().join("missing/state");
    let below = file.join("state");

    let refuse = |path: &Path| Store::open(path, OpenOptions::default()).unwrap_err();
    let outcomes = [(refuse(&file), &file), (refuse(&missing), &missing), (refuse(&below), &below)];
    for (error, path) in &outcomes {
        assert_eq!(error.path(), *path);
        assert!(error.to_string().contains(path.to_str().unwrap()) && !error.advice().is_empty(), "{error}");
    }
    assert!(matches!(&outcomes[0].0, OpenError::NotADirectory { .. }), "{:?}", outcomes[0].0);
    assert!(matches!(&outcomes[1].0, OpenError::Missing { .. }), "{:?}", outcomes[1].0);
    assert!(matches!(&outcomes[2].0, OpenError::NotADirectory { .. }), "{:?}", outcomes[2].0);
    assert!(!missing.parent().unwrap().exists());
}

#[test]
fn b076_a_read_only_directory_is_refused() {
    let scratch = host::scratch();
    fs::set_permissions(scratch.path(), Permissions::from_mode(0o755)).unwrap();
    let directory = scratch.path().join("state");
    fs::create_dir(&directory).unwrap();
    if geteuid().is_root() {
        chown(&directory, Some(NOBODY), Some(NOBODY)).unwrap();
    }
    fs::set_permissions(&directory, Permissions::from_mode(0o555)).unwrap();
    let said = open_as(&directory, "022", NOBODY);
    assert!(said.contains("NotWritable") && said.contains(directory.to_str().unwrap()), "{said}");
}

#[test]
fn b076_a_directory_of_somebody_else_is_refused() {
    if !geteuid().is_root() {
        host::not_run("giving a directory away");
        return;
    }
    let scratch = host::scratch();
    let directory = scratch.path().join("state");
    fs::create_dir(&directory).unwrap();
    chown(&directory, Some(NOBODY), None).unwrap();
    let outcome = Store::open(&directory, OpenOptions::default());
    assert!(matches!(outcome, Err(OpenError::WrongOwner { uid: NOBODY, .. })), "{outcome:?}");
    assert_eq!(fs::read_dir(&directory).unwrap().count(), 0);
}

#[test]
fn everything_is_private_whatever_the_umask() {
    for umask in ["000", "022", "077", "777"] {
        let scratch = host::scratch();
        let directory = scratch.path().join("state");
        let said = open_as(&directory, umask, geteuid().as_raw());
        assert!(said.contains("opened"), "{said}");
        assert_private(&directory);
    }
}

/// The role of a child: opens and says how that went.
pub(crate) fn open_as_somebody(directory: &Path, mask: &str) {
    umask(Mode::from_raw_mode(u32::from_str_radix(mask, 8).unwrap()));
    match Store::open(directory, OpenOptions::default()) {
        Ok((store, _)) => {
            Model::new(1).commit(&store, 5);
            println!("opened");
        }
        Err(error) => println!("{error:?}"),
    }
}

fn open_as(directory: &Path, umask: &str, user: u32) -> String {
    // A copy, as the binary itself may lie where only root can read.
    let public = tempfile::tempdir().unwrap();
    fs::set_permissions(public.path(), Permissions::from_mode(0o755)).unwrap();
    let program = public.path().join("program");
    fs::copy(child::executable(), &program).unwrap();
    let mut command = Command::new(program);
    command.args(child::ARGUMENTS);
    child::set_role(&mut command, "somebody", &[directory.to_str().unwrap(), umask]);
    if geteuid().is_root() {
        command.uid(user).gid(user);
    }
    let output = command.output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn assert_private(path: &Path) {
    let metadata = fs::metadata(path).unwrap();
    let expected = if metadata.is_dir() { 0o700 } else { 0o600 };
    assert_eq!(metadata.permissions().mode() & 0o7777, expected, "{}", path.display());
    if metadata.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            assert_private(&entry.unwrap().path());
        }
    }
}
