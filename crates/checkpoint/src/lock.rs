//! One owner per state directory.
//!
//! The lock is `flock` on a file of the directory: the kernel frees it when its holder dies, however it
//! dies. The holder's name in the file is for people. It decides about copies only: a lock does not go with a copy of its
//! file, and the copy tells of whom it is one.

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
const OWNER_BYTES: usize = 256;

/// What the holder of the original does, told of a copy.
const OWNS_THE_ORIGINAL: &str = "owns the directory that this is a copy of";

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
        check_file(&path)?;
        let file = layout::private_file().open(&path).map_err(|error| OpenError::from_io(&path, error))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(OpenError::Locked { path: directory.to_owned(), owner: read_owner(&file) });
            }
            Err(TryLockError::Error(error)) => return Err(OpenError::from_io(&path, error)),
        }
        if let Some(owner) = living_owner_elsewhere(&file) {
            return Err(OpenError::Locked { path: directory.to_owned(), owner: Some(owner) });
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
        check_file(&path)?;
        let file = File::open(&path).map_err(|error| OpenError::from_io(&path, error))?;
        match file.try_lock_shared() {
            Ok(()) if is_at(&file, &path) => match living_owner_elsewhere(&file) {
                Some(owner) => Err(OpenError::Locked { path: directory.to_owned(), owner: Some(owner) }),
                None => Ok(()),
            },
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

/// Opening a pipe would wait for its other end.
fn check_file(path: &Path) -> Result<(), OpenError> {
    match fs::metadata(path) {
        Ok(metadata) if !metadata.is_file() => {
            let source = io::Error::new(io::ErrorKind::InvalidData, "it is not a regular file");
            Err(OpenError::Failed { path: path.to_owned(), source })
        }
        Ok(_) => Ok(()),
        // It is made when the directory is taken.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(OpenError::from_io(path, error)),
    }
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
    let pid = std::process::id();
    let origin = Origin::of(file, pid)?.map_or_else(String::new, |origin| origin.to_string());
    let mut text = format!("{pid}\n{}\n{purpose}\n{origin}\n", command.trim_end()).into_bytes();
    text.resize(OWNER_BYTES, b'\n');
    match file.write_all_at(&text, 0) {
        Err(error) if is_no_space(error.kind()) => Ok(()),
        outcome => outcome,
    }
}

/// Which process signed, and which file: another process may get the same id, and a copy has the same text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Origin {
    /// When the process began, in ticks since the host began.
    began: u64,
    device: u64,
    inode: u64,
}

impl Origin {
    /// `None` where `/proc` does not tell of the process: then a copy is not known as one.
    fn of(file: &File, pid: u32) -> io::Result<Option<Self>> {
        let metadata = file.metadata()?;
        Ok(began(pid).map(|began| Self { began, device: metadata.dev(), inode: metadata.ino() }))
    }

    fn parse(line: &str) -> Option<Self> {
        let mut numbers = line.split(' ').map(str::parse);
        let mut next = || numbers.next()?.ok();
        Some(Self { began: next()?, device: next()?, inode: next()? })
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { began, device, inode } = self;
        write!(formatter, "{began} {device} {inode}")
    }
}

/// The time at which a process began is the 22nd field; the second, its name, may hold anything.
fn began(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, after_name) = stat.rsplit_once(')')?;
    after_name.split_whitespace().nth(19)?.parse().ok()
}

/// Who signed another file, of which this is a copy, and still lives: what it owns is not to be touched.
fn living_owner_elsewhere(file: &File) -> Option<Owner> {
    let text = read_note(file)?;
    let owner = parse_owner(&text)?;
    let signed = Origin::parse(text.lines().nth(3)?)?;
    let here = Origin::of(file, owner.pid).ok()??;
    // What this process has copied is its own affair.
    let is_alive = signed.began == here.began && owner.pid != std::process::id();
    (is_alive && signed != here).then(|| Owner { purpose: OWNS_THE_ORIGINAL.to_owned(), ..owner })
}

fn read_owner(file: &File) -> Option<Owner> {
    parse_owner(&read_note(file)?)
}

fn read_note(file: &File) -> Option<String> {
    let mut text = [0; OWNER_BYTES];
    let length = file.read_at(&mut text, 0).ok()?;
    Some(String::from_utf8_lossy(text.get(..length)?).into_owned())
}

fn parse_owner(text: &str) -> Option<Owner> {
    let mut lines = text.lines();
    let pid = lines.next()?.parse().ok()?;
    let mut next = || lines.next().unwrap_or_default().to_owned();
    Some(Owner { pid, command: next(), purpose: next() })
}
