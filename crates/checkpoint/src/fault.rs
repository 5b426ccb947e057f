//! What may go wrong inside sled and around it, sorted by what has to follow.

use std::{io, path::Path, time::Duration};

use lighterman_contracts::CommitError;

use crate::{
    error::{OpenError, is_no_space},
    guarded::Abandoned,
};

/// A failure of the store; becomes an [`OpenError`] or a [`CommitError`].
#[derive(Debug)]
pub(crate) enum Fault {
    /// More room would help.
    NoSpace(String),
    /// What was read is not what was written.
    Damaged(String),
    /// An earlier handle is still in use, by a thread of this process that was left behind.
    Held,
    /// Not done in time.
    TimedOut(Duration),
    /// Everything else that the system says.
    Io(io::Error),
}

impl Fault {
    /// The form for those who open.
    pub(crate) fn into_open_error(self, path: &Path) -> OpenError {
        let path = path.to_owned();
        match self {
            Self::NoSpace(what) => OpenError::NoSpace { path, what },
            Self::Damaged(what) => OpenError::Damaged { path, what },
            Self::Held => OpenError::Locked { path, owner: None },
            Self::TimedOut(limit) => OpenError::TimedOut { path, limit },
            Self::Io(source) => OpenError::from_io(&path, source),
        }
    }

    /// Of something that was just made: what sled could not cope with is the surroundings, such as memory or the clock.
    pub(crate) fn of_something_new(self) -> Self {
        match self {
            Self::Damaged(what) => Self::Io(io::Error::other(what)),
            other => other,
        }
    }

    /// The form for those who commit.
    pub(crate) fn to_commit_error(&self) -> CommitError {
        match self {
            Self::NoSpace(what) => CommitError::NoSpace(what.clone()),
            Self::Damaged(what) => CommitError::Failed(format!("damaged: {what}")),
            Self::Held => CommitError::Failed("an earlier handle of the store has not ended".to_owned()),
            Self::TimedOut(limit) => CommitError::Failed(format!("not done within {} s", limit.as_secs_f32())),
            Self::Io(error) => CommitError::Failed(error.to_string()),
        }
    }
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        if is_no_space(error.kind()) {
            // In the same words every time, whoever wrote: sled spells its own errors out as they look in a debugger.
            Self::NoSpace(io::Error::from(error.kind()).to_string())
        } else {
            Self::Io(error)
        }
    }
}

impl From<sled::Error> for Fault {
    fn from(error: sled::Error) -> Self {
        match error {
            sled::Error::Io(error) => match error.kind() {
                // A file of the store is shorter than another one says, or gone.
                io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData | io::ErrorKind::NotFound => {
                    Self::Damaged(error.to_string())
                }
                _ => Self::from(error),
            },
            // sled's threads serve all stores of a process; seven panics, over seven damaged stores, end
            // them. That says nothing of this one.
            sled::Error::ReportableBug(what) if what.contains("thread") => Self::Io(io::Error::other(what)),
            sled::Error::ReportableBug(what) => Self::Damaged(what),
            // Only the configuration file can lead here: we ask for nothing that is not supported.
            sled::Error::Unsupported(what) => Self::Damaged(what),
            sled::Error::CollectionNotFound(_) => Self::Damaged("the map itself is missing".to_owned()),
            sled::Error::Corruption { at, .. } => Self::Damaged(match at {
                Some(place) => format!("unreadable at {place}"),
                None => "unreadable".to_owned(),
            }),
        }
    }
}

impl From<Abandoned> for Fault {
    fn from(abandoned: Abandoned) -> Self {
        match abandoned {
            Abandoned::Panicked(message) => Self::Damaged(format!("sled gave up: {message}")),
            Abandoned::TimedOut(limit) => Self::TimedOut(limit),
            Abandoned::NoThread(error) => Self::Io(error),
        }
    }
}
