//! One state directory: who owns it, and what stands in it.

use std::{
    fs, io,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
};

use lighterman_checkpoint::{DirectoryLock, OpenError as StoreError, OpenOptions, Store, move_aside};
use lighterman_config::StateRoot;
use lighterman_contracts::Entropy;
use lighterman_engine::SavedState;
use lighterman_ids::InstanceId;
use lighterman_records::{Ledger, OpenError as RecordsError};

use crate::notes;

/// A state directory that is ours until this process ends.
#[derive(Debug)]
pub(crate) struct Instance {
    /// Label of everything that is created from it.
    pub(crate) id: InstanceId,
    /// Where it is.
    pub(crate) directory: PathBuf,
    /// The open store.
    pub(crate) store: Store,
    /// What the store must hold.
    pub(crate) ledger: Ledger,
    /// What it held.
    pub(crate) saved: SavedState,
    /// Where the damaged store was put, if there was one and it was to be recovered from.
    pub(crate) damaged: Option<PathBuf>,
}

/// So many are not taken away by chance, one after the other.
const DIRECTORIES_TRIED: u32 = 20;

/// How a state directory is to be taken into use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Opening<'a> {
    /// Address of the Docker that is talked to: what is unfinished in another one is refused.
    pub(crate) docker: &'a str,
    /// What becomes of a damaged store.
    pub(crate) on_damage: OnDamage,
    /// What others are told; empty for a run of its own.
    pub(crate) purpose: &'static str,
    /// Whether the directory lies among those of all runs, where its name is the id. Elsewhere a name may be anybody's.
    pub(crate) is_named_by_id: bool,
}

/// What to do with a damaged store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnDamage {
    /// Refuse, and say how to go on.
    Refuse,
    /// Move it aside and begin with an empty one; containers are then found by their labels.
    MoveAside,
}

/// Who is told what to do.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Told<'a> {
    /// Whoever wants to run something in this very directory.
    Run {
        /// A task definition was given.
        with_file: bool,
        /// Another directory could have been named.
        is_free: bool,
    },
    /// Whoever only meets it on its way.
    Passerby(&'a InstanceId),
}

/// Why a state directory cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum InstanceError {
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
    /// The store is damaged, and nothing else says under which label its containers would be found.
    #[error("{} is damaged, and {} does not say whose containers to look for", .directory.display(), .note.display())]
    Nameless {
        /// The directory.
        directory: PathBuf,
        /// Where the id should stand.
        note: PathBuf,
        /// The damage.
        source: Box<Self>,
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
    /// The directory could not be made, or a note in it not be read or written.
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
    pub(crate) const fn is_damage(&self) -> bool {
        matches!(self, Self::Store(StoreError::Damaged { .. }) | Self::Records { source: RecordsError::Damaged(_), .. })
    }

    /// What a person can do about it.
    pub(crate) fn advice(&self, told: Told<'_>) -> String {
        let or_elsewhere = match told {
            Told::Run { is_free: true, .. } => ", or use another state directory",
            Told::Run { is_free: false, .. } | Told::Passerby(_) => "",
        };
        match self {
            error if error.is_damage() => damage_advice(told),
            Self::Nameless { note, .. } => format!(
                "write the label dev.lighterman.instance of its containers into {}; then add --recover{or_elsewhere}",
                note.display()
            ),
            Self::OtherDocker { theirs, .. } => format!("add --docker-host {theirs}{or_elsewhere}"),
            Self::Records { .. } => format!("use the version that wrote it{or_elsewhere}"),
            Self::Store(error) => error.advice().into(),
            Self::Prepare { .. } => {
                "see to it that this user can read and write there, or use another directory".into()
            }
        }
    }
}

/// A damaged store knows no definition any more: whoever is to go on with its container needs the file.
fn damage_advice(told: Told<'_>) -> String {
    const ASIDE: &str = "the damaged store is moved aside, and its container is found by its labels";
    match told {
        Told::Run { with_file: true, .. } => format!("add --recover: {ASIDE} and gone on with"),
        Told::Run { with_file: false, .. } => format!(
            "add --recover and FILE, the task definition it was started with: {ASIDE} and gone on with; without FILE, \
             it is stopped and removed"
        ),
        Told::Passerby(instance) => format!(
            "`lighterman run --resume {instance} --recover FILE` goes on with its container; any `lighterman run \
             --recover` of another file stops and removes it"
        ),
    }
}

impl Instance {
    /// Takes the directory, makes it where it is missing, and opens its store.
    ///
    /// # Errors
    /// Somebody alive owns it, it cannot be written, its store is damaged and that is refused, or what is unfinished in
    /// it is in another Docker.
    pub(crate) fn open(directory: &Path, opening: Opening<'_>, entropy: &impl Entropy) -> Result<Self, InstanceError> {
        make_private(directory)?;
        Self::open_existing(directory, opening, entropy)
    }

    /// One that is new, in the directory that was given or in one of its own.
    ///
    /// Until a new directory is held, somebody who cleans up may take it for that of a dead run, and removes it: then
    /// another one is made.
    ///
    /// # Errors
    /// As [`Instance::open`].
    pub(crate) fn open_new(
        state: &StateRoot,
        opening: Opening<'_>,
        entropy: &impl Entropy,
    ) -> Result<Self, InstanceError> {
        let mut tries = if state.of_all().is_some() { DIRECTORIES_TRIED } else { 1 };
        loop {
            tries -= 1;
            let directory = state.of_instance(&InstanceId::from_bits(entropy.bits()));
            match Self::open(&directory, opening, entropy) {
                Err(InstanceError::Store(StoreError::Locked { .. } | StoreError::Missing { .. })) if tries > 0 => {}
                outcome => return outcome,
            }
        }
    }

    /// The same, but makes no directory.
    ///
    /// # Errors
    /// As [`Instance::open`], or there is no such directory.
    pub(crate) fn open_existing(
        directory: &Path,
        opening: Opening<'_>,
        entropy: &impl Entropy,
    ) -> Result<Self, InstanceError> {
        let docker = opening.docker;
        let theirs = read_note(directory, notes::DOCKER)?;
        let other = theirs.clone().filter(|theirs| theirs != docker).map(|theirs| InstanceError::OtherDocker {
            directory: directory.into(),
            theirs,
            ours: docker.into(),
        });
        let on_damage = if other.is_some() { OnDamage::Refuse } else { opening.on_damage };
        let instance = match (Self::take(directory, Opening { on_damage, ..opening }, entropy), other) {
            (Err(error), Some(other)) if error.is_damage() => return Err(other),
            (Ok(instance), Some(other)) if !instance.saved.tasks.is_empty() => {
                drop(instance.store.close());
                return Err(other);
            }
            (outcome, _) => outcome?,
        };
        if theirs.as_deref() != Some(docker) {
            write_note(directory, notes::DOCKER, docker)?;
        }
        Ok(instance)
    }

    fn take(directory: &Path, opening: Opening<'_>, entropy: &impl Entropy) -> Result<Self, InstanceError> {
        let lock = acquire(directory, opening.purpose)?;
        let noted = noted_id(directory, opening.is_named_by_id)?;
        let opened = match open_store(lock) {
            Err(error) if error.is_damage() => {
                let Some(id) = &noted else {
                    let (directory, note) = (directory.to_owned(), directory.join(notes::INSTANCE));
                    return Err(InstanceError::Nameless { directory, note, source: Box::new(error) });
                };
                if opening.on_damage == OnDamage::Refuse {
                    return Err(error);
                }
                // It has to be found again by whoever follows after a kill right here.
                write_note(directory, notes::INSTANCE, id.as_str())?;
                let lock = acquire(directory, opening.purpose)?;
                let aside = move_aside(&lock)?;
                Opened { damaged: Some(aside), ..open_store(lock)? }
            }
            outcome => outcome?,
        };
        let recorded = opened.saved.host.as_ref().map(|host| host.instance.clone());
        let is_recorded = recorded.is_some();
        let id = recorded.or(noted).unwrap_or_else(|| InstanceId::from_bits(entropy.bits()));
        let Opened { store, ledger, saved, damaged } = opened;
        let instance = Self { id, directory: directory.into(), store, ledger, saved, damaged };
        instance.settle_note(is_recorded)
    }

    /// The note says what the store says. It is needed only once the store is damaged.
    fn settle_note(self, is_recorded: bool) -> Result<Self, InstanceError> {
        let written = read_note(&self.directory, notes::INSTANCE).and_then(|noted| {
            let is_right = noted.as_deref() == Some(self.id.as_str());
            if is_right { Ok(()) } else { write_note(&self.directory, notes::INSTANCE, self.id.as_str()) }
        });
        match written {
            Ok(()) => Ok(self),
            Err(error) if is_recorded => {
                tracing::warn!(error = %error, "the note of the instance id could not be written anew");
                Ok(self)
            }
            Err(error) => {
                drop(self.store.close());
                Err(error)
            }
        }
    }
}

/// A store whose records fit together.
struct Opened {
    store: Store,
    ledger: Ledger,
    saved: SavedState,
    damaged: Option<PathBuf>,
}

fn acquire(directory: &Path, purpose: &str) -> Result<DirectoryLock, InstanceError> {
    let lock = DirectoryLock::try_acquire(directory)?;
    if !purpose.is_empty() {
        lock.declare(purpose)?;
    }
    Ok(lock)
}

fn open_store(lock: DirectoryLock) -> Result<Opened, InstanceError> {
    let directory = lock.directory().to_owned();
    let (store, loaded) = Store::open_locked(lock, OpenOptions::default())?;
    match Ledger::open(loaded.entries, loaded.witness) {
        Ok((ledger, saved)) => Ok(Opened { store, ledger, saved, damaged: None }),
        Err(source) => {
            // Closed before anybody else may want it.
            drop(store.close());
            Err(InstanceError::Records { directory, source })
        }
    }
}

fn make_private(directory: &Path) -> Result<(), InstanceError> {
    let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(directory);
    made.map_err(|source| InstanceError::Prepare { path: directory.into(), source })
}

/// The id that the directory has without its store: in its note, else its name where that counts.
fn noted_id(directory: &Path, is_named_by_id: bool) -> Result<Option<InstanceId>, InstanceError> {
    let noted = read_note(directory, notes::INSTANCE)?.and_then(|text| InstanceId::parse(&text).ok());
    let name = || InstanceId::parse(directory.file_name()?.to_str()?).ok();
    Ok(noted.or_else(|| if is_named_by_id { name() } else { None }))
}

fn read_note(directory: &Path, name: &str) -> Result<Option<String>, InstanceError> {
    notes::read(directory, name).map_err(|source| InstanceError::Prepare { path: directory.join(name), source })
}

fn write_note(directory: &Path, name: &str, text: &str) -> Result<(), InstanceError> {
    notes::write(directory, name, text).map_err(|source| InstanceError::Prepare { path: directory.join(name), source })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use lighterman_config::Environment;

    use super::*;

    /// 1, 2, 3 …
    #[derive(Default)]
    struct Counting(AtomicU64);

    impl Entropy for Counting {
        fn bits(&self) -> u128 {
            u128::from(self.0.fetch_add(1, Ordering::Relaxed)) + 1
        }
    }

    const OPENING: Opening<'_> =
        Opening { docker: "unix:///a", on_damage: OnDamage::Refuse, purpose: "", is_named_by_id: true };

    #[test]
    fn a_name_is_an_id_only_among_the_directories_of_all_runs() {
        let scratch = tempfile::tempdir().unwrap();
        let open = |name: u128, is_named_by_id| {
            let directory = scratch.path().join(InstanceId::from_bits(name).as_str());
            let opening = Opening { is_named_by_id, ..OPENING };
            Instance::open(&directory, opening, &Counting::default()).unwrap().id
        };
        assert_eq!(open(7, true), InstanceId::from_bits(7));
        assert_eq!(open(8, false), InstanceId::from_bits(1), "it may be the id of a run elsewhere");
    }

    #[test]
    fn a_new_directory_that_somebody_cleans_up_already_is_left_to_it() {
        let home = tempfile::tempdir().unwrap();
        let env =
            Environment::new([("XDG_STATE_HOME", home.path().to_str().unwrap())].map(|(k, v)| (k.into(), v.into())));
        let state = StateRoot::resolve(None, &env, false).unwrap();
        let taken = state.of_instance(&InstanceId::from_bits(1));
        make_private(&taken).unwrap();
        let lock = DirectoryLock::try_acquire(&taken).unwrap();
        let instance = Instance::open_new(&state, OPENING, &Counting::default()).unwrap();
        assert_eq!(instance.id, InstanceId::from_bits(2));
        drop(lock);

        // The one that was given is not given up for another.
        let given = StateRoot::Given(taken.clone());
        let lock = DirectoryLock::try_acquire(&taken).unwrap();
        let refused = Instance::open_new(&given, OPENING, &Counting::default());
        assert!(matches!(refused, Err(InstanceError::Store(StoreError::Locked { .. }))), "{refused:?}");
        drop(lock);
    }
}
