//! Why a store could not be opened, in words for people.

use std::{
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use crate::lock::Owner;

/// Why a state directory or its store could not be taken into use.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Somebody alive holds the directory.
    #[error("the state directory {} is in use by {}", .path.display(), owner_words(.owner.as_ref()))]
    Locked {
        /// The state directory.
        path: PathBuf,
        /// Who holds it, as far as it left its name.
        owner: Option<Owner>,
    },
    /// There is no such directory, and it cannot be made because its parent is missing too.
    #[error("the state directory {} does not exist", .path.display())]
    Missing {
        /// The state directory.
        path: PathBuf,
    },
    /// The directory is there, and no store was ever in it. Nothing was changed.
    #[error("{} holds no state", .path.display())]
    NoStore {
        /// What was given as state directory.
        path: PathBuf,
    },
    /// Something else lies in its place.
    #[error("{} is not a directory", .path.display())]
    NotADirectory {
        /// What was given as state directory.
        path: PathBuf,
    },
    /// The directory or a file in it cannot be written.
    #[error("{} is not writable", .path.display())]
    NotWritable {
        /// The directory or the file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The directory belongs to another user, who could replace the files in it.
    #[error("the state directory {} belongs to user id {uid}", .path.display())]
    WrongOwner {
        /// The state directory.
        path: PathBuf,
        /// Its owner.
        uid: u32,
    },
    /// What is there cannot be read back. Nothing was removed.
    #[error("the state store {} is damaged: {what}", .path.display())]
    Damaged {
        /// The directory or file that is damaged.
        path: PathBuf,
        /// What does not fit, for the log.
        what: String,
    },
    /// No room on the device; opening has to write.
    #[error("no space left to open the state store {}: {what}", .path.display())]
    NoSpace {
        /// The store.
        path: PathBuf,
        /// What the system said.
        what: String,
    },
    /// The device or sled did not answer. A thread may be left behind, which holds the directory until it
    /// ends: nobody else can open it before.
    #[error("the state store {} did not open within {} s", .path.display(), .limit.as_secs_f32())]
    TimedOut {
        /// The store.
        path: PathBuf,
        /// The limit that passed, [`OpenOptions::open_limit`](crate::OpenOptions::open_limit).
        limit: Duration,
    },
    /// The device failed in another way.
    #[error("the state store {} cannot be opened", .path.display())]
    Failed {
        /// The directory or the file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl OpenError {
    /// The directory or file at fault.
    #[must_use]
    pub fn path(&self) -> &Path {
        match self {
            Self::Locked { path, .. }
            | Self::Missing { path }
            | Self::NoStore { path }
            | Self::NotADirectory { path }
            | Self::NotWritable { path, .. }
            | Self::WrongOwner { path, .. }
            | Self::Damaged { path, .. }
            | Self::NoSpace { path, .. }
            | Self::TimedOut { path, .. }
            | Self::Failed { path, .. } => path,
        }
    }

    /// What a person can do about it; no part of [`Display`](std::fmt::Display).
    #[must_use]
    pub const fn advice(&self) -> &'static str {
        match self {
            Self::Locked { .. } => "stop that process first, or use another state directory",
            Self::Missing { .. } => "create the parent directory, or name another one",
            Self::NoStore { .. } => "name the state directory of one run",
            Self::NotADirectory { .. } => "move the file away, or name another directory",
            Self::NotWritable { .. } => "make it writable for this user, or name another directory",
            Self::WrongOwner { .. } => "run as its owner, change the owner, or name another directory",
            Self::Damaged { .. } => "keep it for study and start again from what the engine knows",
            Self::NoSpace { .. } => "free space on this file system; what was saved is still there",
            Self::TimedOut { .. } => "look at the device; then start again",
            Self::Failed { .. } => "look at the device and the kernel's log",
        }
    }

    /// Sorts an error of the system on `path`.
    pub(crate) fn from_io(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::NotFound => Self::Missing { path },
            io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => Self::NotADirectory { path },
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => Self::NotWritable { path, source },
            kind if is_no_space(kind) => Self::NoSpace { path, what: source.to_string() },
            _ => Self::Failed { path, source },
        }
    }
}

/// Whether more room would help.
pub(crate) fn is_no_space(kind: io::ErrorKind) -> bool {
    matches!(kind, io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

fn owner_words(owner: Option<&Owner>) -> String {
    owner.map_or_else(|| "an unknown process".to_owned(), ToString::to_string)
}
