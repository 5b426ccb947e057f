//! One state directory: who owns it, and what stands in it.

use std::{
    fs,
    io::{self, Write as _},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use lighterman_checkpoint::{DirectoryLock, OpenError as StoreError, OpenOptions, Store, move_aside};
use lighterman_contracts::Entropy;
use lighterman_engine::SavedState;
use lighterman_ids::InstanceId;
use lighterman_records::{Ledger, OpenError as RecordsError};

/// Holds the instance id, for directories that are not named by it.
const ID_FILE: &str = "instance";

/// Holds the address of the Docker that its containers are in.
const DOCKER_FILE: &str = "docker";

/// A state directory that is ours until this process ends.
#[derive(Debug)]
pub struct Instance {
    /// Label of everything that is created from it.
    pub id: InstanceId,
    /// Where it is.
    pub directory: PathBuf,
    /// The open store.
    pub store: Store,
    /// What the store must hold.
    pub ledger: Ledger,
    /// What it held.
    pub saved: SavedState,
    /// Where the damaged store was put, if there was one and it was to be recovered from.
    pub damaged: Option<PathBuf>,
}

/// What to do with a damaged store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnDamage {
    /// Refuse, and say how to go on.
    Refuse,
    /// Move it aside and begin with an empty one; containers are then found by their labels.
    MoveAside,
}

/// Why a state directory cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum InstanceError {
    /// The directory or its store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// What stands in the store.
    #[error("{} cannot be used: {source}", .directory.display())]
    Records {
        /// The directory.
        directory: PathBuf,
        /// Why.
        source: RecordsError,
    },
    /// Its containers are in another Docker than the one that is talked to: there, nothing would be found of them.
    #[error("{} belongs to Docker at {theirs}, and this is Docker at {ours}", .directory.display())]
    OtherDocker {
        /// The directory.
        directory: PathBuf,
        /// Address of the Docker that its containers are in.
        theirs: String,
        /// Address of the Docker that is talked to.
        ours: String,
    },
    /// The directory could not be made, or its id not be written.
    #[error("{} cannot be prepared", .path.display())]
    Prepare {
        /// The file or directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl InstanceError {
    /// Whether `--recover` helps.
    #[must_use]
    pub const fn is_damage(&self) -> bool {
        matches!(self, Self::Store(StoreError::Damaged { .. }) | Self::Records { source: RecordsError::Damaged(_), .. })
    }

    /// What a person can do about it.
    #[must_use]
    pub fn advice(&self) -> String {
        match self {
            error if error.is_damage() => {
                "add --recover: the store is moved aside, and containers are found by their labels".into()
            }
            Self::OtherDocker { theirs, .. } => format!("add --docker-host {theirs}, or use another state directory"),
            Self::Records { .. } => "use the version that wrote it, or another state directory".into(),
            Self::Store(error) => error.advice().into(),
            Self::Prepare { .. } => "name another directory with --state-dir".into(),
        }
    }
}

impl Instance {
    /// Takes the directory, makes it where it is missing, and opens its store.
    ///
    /// # Errors
    /// Somebody alive owns it, it cannot be written, or its store is damaged and that is refused.
    pub fn open(directory: &Path, entropy: &impl Entropy, on_damage: OnDamage) -> Result<Self, InstanceError> {
        make_private(directory)?;
        Self::open_existing(directory, entropy, on_damage)
    }

    /// The same for the Docker at this address: what is unfinished in another one is refused.
    ///
    /// # Errors
    /// As [`Instance::open`], or [`InstanceError::OtherDocker`].
    pub fn open_for(
        directory: &Path,
        docker: &str,
        entropy: &impl Entropy,
        on_damage: OnDamage,
    ) -> Result<Self, InstanceError> {
        make_private(directory)?;
        Self::open_existing_for(directory, docker, entropy, on_damage)
    }

    /// The same, but makes no directory.
    ///
    /// # Errors
    /// As [`Instance::open_for`], or there is no such directory.
    pub(crate) fn open_existing_for(
        directory: &Path,
        docker: &str,
        entropy: &impl Entropy,
        on_damage: OnDamage,
    ) -> Result<Self, InstanceError> {
        let theirs = read_note(directory, DOCKER_FILE)?;
        let is_other = theirs.as_ref().is_some_and(|theirs| theirs != docker);
        let on_damage = if is_other { OnDamage::Refuse } else { on_damage };
        let other = |theirs: &Option<String>| InstanceError::OtherDocker {
            directory: directory.into(),
            theirs: theirs.clone().unwrap_or_default(),
            ours: docker.into(),
        };
        let instance = match Self::open_existing(directory, entropy, on_damage) {
            Err(error) if is_other && error.is_damage() => return Err(other(&theirs)),
            outcome => outcome?,
        };
        if is_other && !instance.saved.tasks.is_empty() {
            drop(instance.store.close());
            return Err(other(&theirs));
        }
        if theirs.as_deref() != Some(docker) {
            write_note(directory, DOCKER_FILE, docker)?;
        }
        Ok(instance)
    }

    fn open_existing(directory: &Path, entropy: &impl Entropy, on_damage: OnDamage) -> Result<Self, InstanceError> {
        let lock = DirectoryLock::try_acquire(directory)?;
        let id = read_or_choose_id(directory, entropy)?;
        match Self::open_store(lock, &id) {
            Err(error) if error.is_damage() && on_damage == OnDamage::MoveAside => {
                let lock = DirectoryLock::try_acquire(directory)?;
                let aside = move_aside(&lock)?;
                let mut instance = Self::open_store(lock, &id)?;
                instance.damaged = Some(aside);
                Ok(instance)
            }
            outcome => outcome,
        }
    }

    fn open_store(lock: DirectoryLock, id: &InstanceId) -> Result<Self, InstanceError> {
        let directory = lock.directory().to_owned();
        let (store, loaded) = Store::open_locked(lock, OpenOptions::default())?;
        match Ledger::open(loaded.entries, loaded.witness) {
            Ok((ledger, saved)) => Ok(Self { id: id.clone(), directory, store, ledger, saved, damaged: None }),
            Err(source) => {
                // Closed before anybody else may want it.
                drop(store.close());
                Err(InstanceError::Records { directory, source })
            }
        }
    }
}

fn make_private(directory: &Path) -> Result<(), InstanceError> {
    let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(directory);
    made.map_err(|source| InstanceError::Prepare { path: directory.into(), source })
}

/// The id that the directory has: in its file, else its name; else a new one.
fn read_or_choose_id(directory: &Path, entropy: &impl Entropy) -> Result<InstanceId, InstanceError> {
    if let Some(text) = read_note(directory, ID_FILE)? {
        let path = directory.join(ID_FILE);
        return InstanceId::parse(&text)
            .map_err(|error| InstanceError::Prepare { path, source: io::Error::other(error.to_string()) });
    }
    let name = directory.file_name().and_then(|name| name.to_str());
    let id = name.and_then(|name| InstanceId::parse(name).ok());
    let id = id.unwrap_or_else(|| InstanceId::from_bits(entropy.bits()));
    write_note(directory, ID_FILE, id.as_str())?;
    Ok(id)
}

/// A line that the directory holds beside the store; `None` where there is no such file.
fn read_note(directory: &Path, name: &str) -> Result<Option<String>, InstanceError> {
    let path = directory.join(name);
    match fs::read_to_string(&path) {
        Ok(text) => Ok(Some(text.trim().to_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(InstanceError::Prepare { path, source }),
    }
}

/// Durable before anything is created that needs it to be found again.
fn write_note(directory: &Path, name: &str, line: &str) -> Result<(), InstanceError> {
    let path = directory.join(name);
    let write = || -> io::Result<()> {
        let aside = directory.join(format!(".{name}.new"));
        let mut file = fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&aside)?;
        writeln!(file, "{line}")?;
        file.sync_all()?;
        fs::rename(&aside, &path)?;
        fs::File::open(directory)?.sync_all()
    };
    write().map_err(|source| InstanceError::Prepare { path: path.clone(), source })
}
