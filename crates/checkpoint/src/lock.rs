//! One owner per state directory.
//!
//! The lock is `flock` on a file of the directory: the kernel frees it when its holder dies, however it
//! dies. The holder's name in the file is for people; it never decides anything.

use std::{
    fmt,
    fs::{self, File, TryLockError},
    io,
    os::unix::fs::{FileExt, MetadataExt},
    path::{Path, PathBuf},
    sync::Arc,
};

use crate::{
    error::{OpenError, is_no_space},
    layout,
};

/// Size of the file, so that its text can be replaced in place on a full disk.
const OWNER_BYTES: usize = 128;

/// The process that holds a directory, by its own account.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Owner {
    /// Its process id, as it sees itself: another one in another process namespace.
    pub pid: u32,
    /// Its short name, at most 15 bytes of it (`/proc/self/comm`); empty when unknown.
    pub command: String,
    /// What it does there, as it [declared](DirectoryLock::declare); empty when it did not.
    pub purpose: String,
}

impl fmt::Display for Owner {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let command = if self.command.is_empty() { "process" } else { &self.command };
        write!(formatter, "{command} (pid {})", self.pid)?;
        if self.purpose.is_empty() { Ok(()) } else { write!(formatter, ", which {}", self.purpose) }
    }
}

/// Sole ownership of a state directory, until dropped or until this process dies.
///
/// ```
/// use lighterman_checkpoint::{DirectoryLock, OpenError};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let directory = tempfile::tempdir()?;
/// let lock = DirectoryLock::try_acquire(directory.path())?;
/// let second = DirectoryLock::try_acquire(directory.path());
/// assert!(matches!(second, Err(OpenError::Locked { owner: Some(owner), .. }) if owner.pid == std::process::id()));
///
/// drop(lock);
/// DirectoryLock::try_acquire(directory.path())?.remove_directory()?;
/// assert!(!directory.path().exists());
/// # std::fs::create_dir(directory.path())?; // For its own removal.
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct DirectoryLock {
    directory: PathBuf,
    share: Share,
}

/// A part in the lock, for threads that may outlive whoever waits for them: while one is left, the
/// directory is nobody else's. The lock is held as long as the file is open.
#[derive(Clone, Debug)]
pub(crate) struct Share(Arc<File>);

impl DirectoryLock {
    /// Takes the lock of an existing directory if nobody alive holds it. Never waits for its owner.
    ///
    /// # Errors
    /// [`OpenError::Locked`] with its owner, or what is wrong with the directory.
    pub fn try_acquire(directory: &Path) -> Result<Self, OpenError> {
        check_directory(directory)?;
        let path = layout::owner_file(directory);
        let file = layout::private_file().open(&path).map_err(|error| OpenError::from_io(&path, error))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(OpenError::Locked { path: directory.to_owned(), owner: read_owner(&file) });
            }
            Err(TryLockError::Error(error)) => return Err(OpenError::from_io(&path, error)),
        }
        // Between opening and locking the last owner may have removed the directory.
        if !is_at(&file, &path) {
            return Err(OpenError::Missing { path: directory.to_owned() });
        }
        layout::make_private(&path, &file).map_err(|error| OpenError::from_io(&path, error))?;
        sign(&file, "").map_err(|error| OpenError::from_io(&path, error))?;
        Ok(Self { directory: directory.to_owned(), share: Share(Arc::new(file)) })
    }

    /// Looks whether somebody alive holds a directory, and leaves no trace. For an instant it is held in common with
    /// whoever else only looks.
    ///
    /// # Errors
    /// [`OpenError::Locked`] with its owner, [`OpenError::Missing`] where nobody ever held one, or what is wrong with it.
    pub fn check_free(directory: &Path) -> Result<(), OpenError> {
        let path = layout::owner_file(directory);
        let file = File::open(&path).map_err(|error| OpenError::from_io(&path, error))?;
        match file.try_lock_shared() {
            Ok(()) if is_at(&file, &path) => Ok(()),
            Ok(()) => Err(OpenError::Missing { path: directory.to_owned() }),
            Err(TryLockError::WouldBlock) => {
                Err(OpenError::Locked { path: directory.to_owned(), owner: read_owner(&file) })
            }
            Err(TryLockError::Error(error)) => Err(OpenError::from_io(&path, error)),
        }
    }

    /// Tells whoever meets this lock what its holder does there, such as `cleans up`: at most 80 bytes, one line.
    ///
    /// # Errors
    /// The file cannot be written; a full disk is none.
    pub fn declare(&self, purpose: &str) -> Result<(), OpenError> {
        let failed = |error| OpenError::from_io(&layout::owner_file(&self.directory), error);
        sign(&self.share.0, purpose).map_err(failed)
    }

    /// The directory that is held.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// A part in this lock.
    pub(crate) fn share(&self) -> Share {
        self.share.clone()
    }

    /// Whether some thread still has a part in it.
    pub(crate) fn is_shared(&self) -> bool {
        Arc::strong_count(&self.share.0) > 1
    }

    /// Removes the directory with everything in it, then gives up the lock.
    ///
    /// # Errors
    /// What the system says. What is left has no lock file any more only if it is empty.
    pub fn remove_directory(self) -> Result<(), OpenError> {
        let owner = layout::owner_file(&self.directory);
        let failed = |error| OpenError::from_io(&self.directory, error);
        layout::clear(&self.directory).map_err(failed)?;
        // Last, so that a crash on the way leaves a directory that can be locked and cleaned again.
        fs::remove_file(&owner).and_then(|()| fs::remove_dir(&self.directory)).map_err(failed)
    }
}

fn check_directory(directory: &Path) -> Result<(), OpenError> {
    let metadata = fs::metadata(directory).map_err(|error| OpenError::from_io(directory, error))?;
    if !metadata.is_dir() {
        return Err(OpenError::NotADirectory { path: directory.to_owned() });
    }
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        return Err(OpenError::WrongOwner { path: directory.to_owned(), uid: metadata.uid() });
    }
    Ok(())
}

fn is_at(file: &File, path: &Path) -> bool {
    match (file.metadata(), fs::metadata(path)) {
        (Ok(held), Ok(named)) => (held.dev(), held.ino()) == (named.dev(), named.ino()),
        (Err(_), _) | (_, Err(_)) => false,
    }
}

/// Leaves our name. On a full disk a new file stays empty: the lock holds all the same.
fn sign(file: &File, purpose: &str) -> io::Result<()> {
    let command = fs::read_to_string("/proc/self/comm").unwrap_or_default();
    let mut text = format!("{}\n{}\n{purpose}\n", std::process::id(), command.trim_end()).into_bytes();
    text.resize(OWNER_BYTES, b'\n');
    match file.write_all_at(&text, 0) {
        Err(error) if is_no_space(error.kind()) => Ok(()),
        outcome => outcome,
    }
}

fn read_owner(file: &File) -> Option<Owner> {
    let mut text = [0; OWNER_BYTES];
    let length = file.read_at(&mut text, 0).ok()?;
    let text = String::from_utf8_lossy(text.get(..length)?);
    let mut lines = text.lines();
    let pid = lines.next()?.parse().ok()?;
    let mut next = || lines.next().unwrap_or_default().to_owned();
    Some(Owner { pid, command: next(), purpose: next() })
}
