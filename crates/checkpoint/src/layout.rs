//! What lies where in a state directory, and how it is made durable and private.
//!
//! | name | what it is |
//! | --- | --- |
//! | `owner` | the lock, with the name of its holder |
//! | `witness` | the last durable generation |
//! | `store-N` | sled's files; the highest number counts, lower ones are left-overs of a rebuild |
//! | `building`, `reading`, `witness.new` | unfinished work of a process that died; removed |
//! | `damaged-N` | moved aside, never touched again |
//! | `leaving` | the directory is being removed; whoever finds this goes on with that |

use std::{
    fs::{self, DirBuilder, File, OpenOptions, Permissions},
    io,
    os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
};

use crate::error::{OpenError, is_no_space};

const PRIVATE_DIRECTORY: u32 = 0o700;
const PRIVATE_FILE: u32 = 0o600;
const STORE: &str = "store-";
const DAMAGED: &str = "damaged-";

/// The lock file.
pub(crate) fn owner_file(directory: &Path) -> PathBuf {
    directory.join("owner")
}

/// Says that the directory is being removed: what still lies in it has been given up.
pub(crate) fn leaving(directory: &Path) -> PathBuf {
    directory.join("leaving")
}

/// The witness.
pub(crate) fn witness_file(directory: &Path) -> PathBuf {
    directory.join("witness")
}

/// The witness while it is made.
pub(crate) fn new_witness_file(directory: &Path) -> PathBuf {
    directory.join("witness.new")
}

/// A store that is being built.
pub(crate) fn building(directory: &Path) -> PathBuf {
    directory.join("building")
}

/// A copy that is being read.
pub(crate) fn reading(directory: &Path) -> PathBuf {
    directory.join("reading")
}

/// The store of this number.
pub(crate) fn store(directory: &Path, number: u64) -> PathBuf {
    directory.join(format!("{STORE}{number}"))
}

/// What was moved aside under this number.
pub(crate) fn damaged(directory: &Path, number: u64) -> PathBuf {
    directory.join(format!("{DAMAGED}{number}"))
}

/// Whether this is, or was, a state directory: an owner, a witness or a store lies in it.
pub(crate) fn is_state(directory: &Path) -> io::Result<bool> {
    let has_store = !stores(directory)?.is_empty();
    Ok(has_store || owner_file(directory).try_exists()? || witness_file(directory).try_exists()?)
}

/// The numbers of all stores, rising.
pub(crate) fn stores(directory: &Path) -> io::Result<Vec<u64>> {
    numbers(directory, STORE)
}

/// The next free number for something damaged.
pub(crate) fn next_damaged(directory: &Path) -> io::Result<u64> {
    Ok(numbers(directory, DAMAGED)?.last().map_or(1, |last| last + 1))
}

/// Makes the state directory itself, not its parents, for this user alone. Fine when it is there.
pub(crate) fn create_directory(directory: &Path) -> Result<(), OpenError> {
    match create_private_directory(directory) {
        Ok(()) => sync_parent(directory).map_err(|error| OpenError::from_io(directory, error)),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(OpenError::from_io(directory, error)),
    }
}

/// Removes what an earlier owner left half-done.
pub(crate) fn clean(directory: &Path) -> io::Result<()> {
    if leaving(directory).try_exists()? {
        clear(directory)?;
    }
    for path in [building(directory), reading(directory), new_witness_file(directory)] {
        remove(&path)?;
    }
    Ok(())
}

/// Removes everything but the lock. A crash on the way leaves half a store, which must not look like damage: first of all
/// comes a sign, and it goes last.
pub(crate) fn clear(directory: &Path) -> io::Result<()> {
    let (owner, sign) = (owner_file(directory), leaving(directory));
    match private_file().open(&sign).and_then(|_| sync_directory(directory)) {
        // What is removed makes room.
        Err(error) if !is_no_space(error.kind()) => return Err(error),
        Ok(()) | Err(_) => {}
    }
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path != owner && path != sign {
            remove(&path)?;
        }
    }
    remove(&sign)
}

/// Removes stores that a rebuild has replaced; not before the one that replaces them has been read.
pub(crate) fn remove_stores_below(directory: &Path, number: u64) -> io::Result<()> {
    stores(directory)?
        .into_iter()
        .filter(|older| *older < number)
        .try_for_each(|older| remove(&store(directory, older)))
}

/// Removes a file or a tree; fine when there is none.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    let outcome = match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match outcome {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        outcome => outcome,
    }
}

/// A directory for this user alone, whatever the umask.
pub(crate) fn create_private_directory(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(PRIVATE_DIRECTORY).create(path)?;
    fs::set_permissions(path, Permissions::from_mode(PRIVATE_DIRECTORY))
}

/// Options for a file that is read and written by this user alone; follow with [`make_private`].
pub(crate) fn private_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(PRIVATE_FILE);
    options
}

/// Takes a file from everybody else, whatever the umask was when it was made.
pub(crate) fn make_private(path: &Path, file: &File) -> io::Result<()> {
    if file.metadata()?.permissions().mode() & 0o7777 == PRIVATE_FILE {
        return Ok(());
    }
    fs::set_permissions(path, Permissions::from_mode(PRIVATE_FILE))
}

/// Makes a tree private and durable: all files, then the directories above them.
pub(crate) fn settle(path: &Path) -> io::Result<()> {
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            settle(&entry.path())?;
        } else {
            let file = File::open(entry.path())?;
            make_private(&entry.path(), &file)?;
            file.sync_all()?;
        }
    }
    fs::set_permissions(path, Permissions::from_mode(PRIVATE_DIRECTORY))?;
    sync_directory(path)
}

/// Makes the names in a directory durable.
pub(crate) fn sync_directory(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// Copies a tree of files and directories, privately; nothing is synced.
pub(crate) fn copy(from: &Path, to: &Path) -> io::Result<()> {
    create_private_directory(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), &target)?;
        }
    }
    Ok(())
}

fn sync_parent(path: &Path) -> io::Result<()> {
    // The parent of `state` is the empty path, which cannot be opened.
    match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => sync_directory(Path::new(".")),
        Some(parent) => sync_directory(parent),
        None => Ok(()),
    }
}

fn numbers(directory: &Path, prefix: &str) -> io::Result<Vec<u64>> {
    let mut numbers = Vec::new();
    for entry in fs::read_dir(directory)? {
        let name = entry?.file_name();
        numbers.extend(name.to_str().and_then(|name| name.strip_prefix(prefix)?.parse::<u64>().ok()));
    }
    numbers.sort_unstable();
    Ok(numbers)
}
