//! Opening, committing, closing.

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
        mpsc::{Receiver, sync_channel},
    },
};

use lighterman_contracts::{Batch, Checkpoint, CommitError, Loaded};
use tokio::{
    sync::{mpsc, oneshot},
    time::timeout,
};

use crate::{
    database::Database,
    encoding::{self, Entries},
    error::OpenError,
    fault::Fault,
    guarded,
    keeper::{Keeper, Request},
    layout,
    lock::DirectoryLock,
    options::OpenOptions,
    rebuild,
    witness::Witness,
};

/// Commits that may wait; the gate of the agent has one in flight (`design.md R1`).
const QUEUE: usize = 16;

/// An open store, the only one of its directory.
///
/// [`commit`](Checkpoint::commit) has to be awaited inside a tokio runtime with time. Dropping the store
/// gives up the directory soon, when its thread has ended; [`close`](Self::close) waits for that. Neither
/// is needed for durability.
pub struct Store {
    directory: PathBuf,
    options: OpenOptions,
    requests: mpsc::Sender<Request>,
    syncs: Arc<AtomicU64>,
    /// Gets the lock when the thread has closed everything.
    closed: Mutex<Receiver<DirectoryLock>>,
}

impl Store {
    /// Makes the directory if its parent is there, takes its lock, and opens the store in it, a new one
    /// if there was none. Blocks, within twice the limit for opening.
    ///
    /// # Errors
    /// See [`OpenError`]. A store with damage is never emptied or replaced: see
    /// [`move_aside`](crate::move_aside). That the entries are *complete* is for the reader of
    /// [`Loaded`] to find out.
    pub fn open(directory: &Path, options: OpenOptions) -> Result<(Self, Loaded), OpenError> {
        let own = directory.to_owned();
        within_limit(directory, options, move || {
            layout::create_directory(&own)?;
            Self::open_here(DirectoryLock::try_acquire(&own)?, options)
        })
    }

    /// [`open`](Self::open) for whoever holds the lock already.
    ///
    /// # Errors
    /// As [`open`](Self::open); the lock is given up.
    pub fn open_locked(lock: DirectoryLock, options: OpenOptions) -> Result<(Self, Loaded), OpenError> {
        let directory = lock.directory().to_owned();
        within_limit(&directory, options, move || Self::open_here(lock, options))
    }

    fn open_here(lock: DirectoryLock, options: OpenOptions) -> Result<(Self, Loaded), OpenError> {
        let directory = lock.directory().to_owned();
        let (keeper, entries) = open_keeper(lock, options)?;
        let witness = keeper.witness.generation();
        let store = Self::start(keeper).map_err(|source| OpenError::Failed { path: directory, source })?;
        Ok((store, Loaded { entries, witness }))
    }

    /// The state directory.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// How often commits were made durable since the store was opened: once for each batch, or once for
    /// several that waited together. For metrics and measurements.
    #[must_use]
    pub fn syncs(&self) -> u64 {
        self.syncs.load(Ordering::Relaxed)
    }

    /// Waits until the store is closed, within the limits, and answers the lock of its directory, which
    /// is still held. `None` if it did not close in time; it then gives up the directory later.
    #[must_use = "dropping the lock gives up the directory"]
    pub fn close(self) -> Option<DirectoryLock> {
        let Self { options, requests, closed, .. } = self;
        drop(requests);
        let closed = closed.into_inner().expect("nobody locks it");
        closed.recv_timeout(options.commit_limit.saturating_add(options.open_limit)).ok()
    }

    fn start(keeper: Keeper) -> std::io::Result<Self> {
        let (requests, receiver) = mpsc::channel(QUEUE);
        let (sender, closed) = sync_channel(1);
        let (directory, options, syncs) =
            (keeper.lock.directory().to_owned(), keeper.options, Arc::clone(&keeper.syncs));
        let body = move || {
            // The lock is dropped when nobody waits for the end.
            let _ = sender.send(keeper.run(receiver));
        };
        guarded::spawn("checkpoint", body)?;
        Ok(Self { directory, options, requests, syncs, closed: Mutex::new(closed) })
    }
}

impl Checkpoint for Store {
    async fn commit(&self, batch: Batch) -> Result<(), CommitError> {
        batch.writes.iter().try_for_each(encoding::check)?;
        let (done, outcome) = oneshot::channel();
        let answer = async {
            self.requests.send(Request { batch, done }).await.map_err(|_| ended())?;
            outcome.await.map_err(|_| ended())?
        };
        timeout(self.options.commit_limit, answer).await.unwrap_or_else(|_| {
            let limit = self.options.commit_limit;
            Err(Fault::TimedOut(limit).to_commit_error())
        })
    }
}

fn ended() -> CommitError {
    CommitError::Failed("the thread of the store has ended".to_owned())
}

impl fmt::Debug for Store {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Store").field("directory", &self.directory).finish_non_exhaustive()
    }
}

/// Reads a store without taking it into use: from a copy, because sled's recovery overwrites what it
/// cannot read, and would destroy what is to be studied.
///
/// # Errors
/// As [`Store::open`]; a directory without a store is [`OpenError::NoStore`], and nothing is left in it.
pub fn read(directory: &Path, options: OpenOptions) -> Result<Loaded, OpenError> {
    let own = directory.to_owned();
    within_limit(directory, options, move || read_here(&own, options))
}

fn read_here(directory: &Path, options: OpenOptions) -> Result<Loaded, OpenError> {
    let failed = |error| OpenError::from_io(directory, error);
    if !layout::is_state(directory).map_err(failed)? {
        return Err(OpenError::NoStore { path: directory.to_owned() });
    }
    let lock = DirectoryLock::try_acquire(directory)?;
    layout::clean(directory).map_err(failed)?;
    let (witness, number) = find(directory)?;
    let (Some(witness), Some(number)) = (witness, number) else {
        return Err(OpenError::NoStore { path: directory.to_owned() });
    };
    let (store, copy) = (layout::store(directory, number), layout::reading(directory));
    let outcome = layout::copy(&store, &copy).map_err(failed).and_then(|()| {
        // What is wrong with the copy is wrong with the store, and the copy does not stay.
        let opened = Database::open(&copy, lock.share(), options.open_limit);
        let (database, entries) = opened.map_err(|fault| fault.into_open_error(&store))?;
        // A copy that does not close is of no concern to anybody.
        let _ = database.close(options.open_limit);
        Ok(Loaded { entries, witness: witness.generation() })
    });
    layout::remove(&copy).map_err(failed)?;
    drop(lock);
    outcome
}

/// Steps around sled may hang as well, each on its own only on a device that does not answer.
fn within_limit<T: Send + 'static>(
    directory: &Path,
    options: OpenOptions,
    work: impl FnOnce() -> Result<T, OpenError> + Send + 'static,
) -> Result<T, OpenError> {
    let outcome = guarded::run("checkpoint-start", options.open_limit.saturating_mul(2), work);
    outcome.map_err(|abandoned| Fault::from(abandoned).into_open_error(directory)).flatten()
}

fn open_keeper(lock: DirectoryLock, options: OpenOptions) -> Result<(Keeper, Entries), OpenError> {
    let directory = lock.directory();
    layout::clean(directory).map_err(|error| OpenError::from_io(directory, error))?;
    let (witness, number, is_new) = find_or_create(&lock, options)?;
    let path = layout::store(directory, number);
    let opened = Database::open(&path, lock.share(), options.open_limit);
    let opened = opened.map_err(|fault| if is_new { fault.of_something_new() } else { fault });
    let (database, entries) = opened.map_err(|fault| fault.into_open_error(&path))?;
    layout::remove_stores_below(directory, number).map_err(|error| OpenError::from_io(directory, error))?;
    let mut keeper = Keeper { lock, options, number, database: None, witness, syncs: Arc::default() };
    let database = compact(&mut keeper, database, &entries)?;
    keeper.database = Some(database);
    Ok((keeper, entries))
}

/// The newest store and its witness, both new in a new directory; whether they are.
fn find_or_create(lock: &DirectoryLock, options: OpenOptions) -> Result<(Witness, u64, bool), OpenError> {
    const FIRST: u64 = 1;
    let directory = lock.directory();
    let (witness, number) = find(directory)?;
    // First of all, so that a store can never be there without it.
    let witness = witness.map_or_else(|| Witness::create(directory), Ok)?;
    match number {
        Some(number) => Ok((witness, number, false)),
        None => {
            rebuild::build(lock, FIRST, &Entries::new(), options.open_limit)
                .map_err(|fault| fault.of_something_new().into_open_error(directory))?;
            Ok((witness, FIRST, true))
        }
    }
}

/// The newest store and its witness; one without the other only if nothing was ever committed.
fn find(directory: &Path) -> Result<(Option<Witness>, Option<u64>), OpenError> {
    let failed = |error| OpenError::from_io(directory, error);
    let damaged = |what: String| OpenError::Damaged { path: directory.to_owned(), what };
    let mut numbers = layout::stores(directory).map_err(failed)?;
    let newest = numbers.pop();
    let witness = layout::witness_file(directory).try_exists().map_err(failed)?.then(|| Witness::open(directory));
    match (witness.transpose()?, newest) {
        (None, Some(_)) => Err(damaged("its witness is missing".to_owned())),
        (Some(witness), None) => match witness.generation() {
            Some(generation) => Err(damaged(format!("it is missing, though commit {generation} was made"))),
            None => Ok((Some(witness), None)),
        },
        found @ ((Some(_), Some(_)) | (None, None)) => Ok(found),
    }
}

fn open_database(lock: &DirectoryLock, path: &Path, options: OpenOptions) -> Result<(Database, Entries), OpenError> {
    Database::open(path, lock.share(), options.open_limit).map_err(|fault| fault.into_open_error(path))
}

/// Rebuilds a bloated store. Where that fails, the old one serves on.
fn compact(keeper: &mut Keeper, database: Database, entries: &Entries) -> Result<Database, OpenError> {
    let path = layout::store(keeper.lock.directory(), keeper.number);
    let file_bytes = database.file_bytes().map_err(|error| OpenError::from_io(&path, error))?;
    if !rebuild::is_bloated(file_bytes, entries) {
        return Ok(database);
    }
    let limit = keeper.options.open_limit;
    database.close(limit).map_err(|abandoned| Fault::from(abandoned).into_open_error(&path))?;
    match keeper.rebuild(entries) {
        Ok(database) => {
            tracing::info!(bytes.before = file_bytes, "the state store has been rebuilt");
            Ok(database)
        }
        Err(fault) => {
            tracing::warn!(?fault, "the state store could not be rebuilt");
            let path = layout::store(keeper.lock.directory(), keeper.number);
            Ok(open_database(&keeper.lock, &path, keeper.options)?.0)
        }
    }
}
