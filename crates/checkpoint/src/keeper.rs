//! The thread that owns sled.

use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use lighterman_contracts::{Batch, CommitError};
use tokio::sync::{mpsc, oneshot};

use crate::{
    database::Database, encoding::Entries, fault::Fault, layout, lock::DirectoryLock, options::OpenOptions, rebuild,
    witness::Witness,
};

/// Batches that wait are made durable together up to this many bytes, so that none waits long.
const GROUP_BYTES: usize = 8 << 20;

/// Where the outcome of a commit goes; closed when nobody waits for it any more.
type Done = oneshot::Sender<Result<(), CommitError>>;

/// A batch and who waits for it.
#[derive(Debug)]
pub(crate) struct Request {
    /// Every write of it has been checked.
    pub(crate) batch: Batch,
    /// Who waits.
    pub(crate) done: Done,
}

/// Everything that the thread owns.
#[derive(Debug)]
pub(crate) struct Keeper {
    pub(crate) lock: DirectoryLock,
    pub(crate) options: OpenOptions,
    /// Number of the store in use.
    pub(crate) number: u64,
    /// `None` after a failure, until the next commit.
    pub(crate) database: Option<Database>,
    pub(crate) witness: Witness,
    /// How often the map was made durable.
    pub(crate) syncs: Arc<AtomicU64>,
}

impl Keeper {
    /// Serves until nobody can ask any more; then closes and hands back the lock.
    pub(crate) fn run(mut self, mut requests: mpsc::Receiver<Request>) -> DirectoryLock {
        while let Some(first) = requests.blocking_recv() {
            let Some((batch, waiting)) = gather(first, &mut requests) else { continue };
            let outcome = self.commit(&batch);
            for done in waiting {
                // Whoever stopped waiting meanwhile takes the outcome for unknown.
                let _ = done.send(outcome.clone());
            }
        }
        self.close();
        self.lock
    }

    fn commit(&mut self, batch: &Batch) -> Result<(), CommitError> {
        self.ensure_open().map_err(|fault| fault.to_commit_error())?;
        let Some(database) = self.database.as_ref() else {
            return Err(CommitError::Failed("the store is closed".to_owned()));
        };
        if let Err(fault) = database.write(&batch.writes, self.options.commit_limit) {
            self.close();
            return Err(fault.to_commit_error());
        }
        self.syncs.fetch_add(1, Ordering::Relaxed);
        if let Err(error) = self.witness.record(batch.generation) {
            tracing::warn!(%error, "the witness could not be written");
        }
        Ok(())
    }

    /// One attempt to heal after a failure: what can be read is written anew, all of it, because after a
    /// failed write nobody knows which of the old pages have reached the device.
    fn ensure_open(&mut self) -> Result<(), Fault> {
        if self.database.is_some() {
            return Ok(());
        }
        if self.lock.is_shared() {
            // A second thread would only wait for the first.
            return Err(Fault::Held);
        }
        let (suspect, entries) = Database::open(&self.path(), self.lock.share(), self.options.open_limit)?;
        suspect.close(self.options.open_limit)?;
        self.database = Some(self.rebuild(&entries)?);
        tracing::info!(path = %self.path().display(), "the state store is open again");
        Ok(())
    }

    /// Writes the entries into a store of the next number, opens that, and removes the old one. After an
    /// error the old one counts.
    pub(crate) fn rebuild(&mut self, entries: &Entries) -> Result<Database, Fault> {
        let limit = self.options.open_limit;
        let (old, number) = (self.path(), self.number + 1);
        let new = layout::store(self.lock.directory(), number);
        rebuild::build(&self.lock, number, entries, limit)?;
        let database = Database::open(&new, self.lock.share(), limit).and_then(|(database, written)| {
            let same = || Fault::Damaged("a store just written reads differently".to_owned());
            (written == *entries).then_some(database).ok_or_else(same)
        });
        let replaced = if database.is_ok() { old } else { new };
        if database.is_ok() {
            self.number = number;
        }
        if let Err(error) = layout::remove(&replaced) {
            tracing::warn!(%error, path = %replaced.display(), "a needless store could not be removed");
        }
        database
    }

    fn path(&self) -> PathBuf {
        layout::store(self.lock.directory(), self.number)
    }

    fn close(&mut self) {
        let Some(database) = self.database.take() else { return };
        if let Err(abandoned) = database.close(self.options.open_limit) {
            tracing::warn!(?abandoned, path = %self.path().display(), "the state store did not close cleanly");
        }
    }
}

/// Takes what waits already, as one batch; `None` when nobody waits for any of it.
fn gather(first: Request, requests: &mut mpsc::Receiver<Request>) -> Option<(Batch, Vec<Done>)> {
    let mut batch = Batch::new(first.batch.generation);
    let mut waiting = Vec::new();
    let mut next = Some(first);
    while let Some(request) = next {
        // Its caller gave up; whatever is committed next carries the same changes.
        if !request.done.is_closed() {
            batch.generation = request.batch.generation;
            batch.writes.extend(request.batch.writes);
            waiting.push(request.done);
        }
        next = if batch.bytes() < GROUP_BYTES { requests.try_recv().ok() } else { None };
    }
    (!waiting.is_empty()).then_some((batch, waiting))
}
