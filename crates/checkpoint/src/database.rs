//! sled, opened with care and made durable.

use std::{
    collections::BTreeMap,
    fmt,
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use lighterman_contracts::Write;

use crate::{
    encoding::{self, Entries},
    fault::Fault,
    guarded::{self, Abandoned},
    layout,
    lock::Share,
};

/// The default is 1 GB; the whole map is below 16 MiB for 1,000 tasks.
const CACHE_BYTES: u64 = 16 << 20;
/// How long sled may be silent before it is asked again, see [`Database::flush`].
const FLUSH_TICK: Duration = Duration::from_secs(1);

/// An open sled with what makes it durable.
pub(crate) struct Database {
    path: PathBuf,
    db: sled::Db,
    /// A second handle on sled's file, whose length sled itself never syncs.
    file: File,
    /// Last, so that the directory is ours until sled is closed.
    _share: Share,
}

impl Database {
    /// Opens what lies at `path`, or makes it, and reads all of it.
    ///
    /// After [`Fault::TimedOut`] and [`Fault::Held`] a thread is left behind with the share.
    pub(crate) fn open(path: &Path, share: Share, limit: Duration) -> Result<(Self, Entries), Fault> {
        let path = path.to_owned();
        let is_waiting = Arc::new(AtomicBool::new(false));
        let outcome = guarded::run("checkpoint-open", limit, {
            let is_waiting = Arc::clone(&is_waiting);
            move || Self::open_here(path, share, &is_waiting)
        });
        match outcome {
            Err(Abandoned::TimedOut(_)) if is_waiting.load(Ordering::Acquire) => Err(Fault::Held),
            outcome => outcome?,
        }
    }

    fn open_here(path: PathBuf, share: Share, is_waiting: &AtomicBool) -> Result<(Self, Entries), Fault> {
        remove_unfinished_snapshots(&path)?;
        // What a killed process left in the page cache is part of what sled recovers, and recovery
        // overwrites what that replaces: so it has to be durable first.
        layout::settle(&path)?;
        wait_for_lock(&db_file(&path), is_waiting)?;
        let db = sled::Config::new().path(&path).cache_capacity(CACHE_BYTES).flush_every_ms(None).open()?;
        let entries = encoding::decode(db.iter())?;
        let file = File::open(db_file(&path))?;
        // The snapshot that opening writes has a new name, and the modes that the umask left.
        layout::settle(&path)?;
        Ok((Self { path, db, file, _share: share }, entries))
    }

    /// Applies the writes as one, and returns when they would survive a power cut.
    ///
    /// After an error this value is of no more use, and its file is suspect: the kernel may have dropped
    /// pages that it could not write and calls them clean, so that what is read back need not be on the
    /// device. A lack of space is no exception, as it may show up in the write-back too.
    pub(crate) fn write(&self, writes: &[Write], limit: Duration) -> Result<(), Fault> {
        guarded::unwinding(|| self.apply(writes))??;
        guarded::unwinding(|| self.flush(limit))??;
        Ok(self.sync()?)
    }

    /// Bytes of sled's log.
    pub(crate) fn file_bytes(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    /// Closes sled; it may panic or hang in that.
    pub(crate) fn close(self, limit: Duration) -> Result<(), Abandoned> {
        guarded::run("checkpoint-close", limit, move || drop(self))
    }

    /// One batch of sled. Never more than one between two syncs: sled reuses the room of what earlier
    /// batches replaced as soon as it believes them stable, which is before they are.
    fn apply(&self, writes: &[Write]) -> Result<(), Fault> {
        let last: BTreeMap<&[u8], Option<&[u8]>> =
            writes.iter().map(|write| (write.key.as_slice(), write.value.as_deref())).collect();
        let mut batch = sled::Batch::default();
        for (key, value) in last {
            let stored = self.db.get(encoding::head_key(key))?;
            match value {
                Some(value) => encoding::put(&mut batch, key, value, stored.as_deref()),
                None => encoding::delete(&mut batch, key, stored.as_deref()),
            }
        }
        self.db.apply_batch(batch)?;
        Ok(())
    }

    /// Has sled write its buffers.
    ///
    /// A failed write of sled does not always wake those who wait for it, but whoever asks next does:
    /// so it is asked again every second.
    fn flush(&self, limit: Duration) -> Result<(), Fault> {
        let ticks = u32::try_from(limit.as_secs()).unwrap_or(u32::MAX).max(1);
        let ask_again = || drop(guarded::wait(self.db.flush_async(), Duration::ZERO, 1, || ()));
        match guarded::wait(self.db.flush_async(), FLUSH_TICK, ticks, ask_again) {
            Some(outcome) => Ok(outcome.map(|_bytes| ())?),
            None => Err(Fault::TimedOut(limit)),
        }
    }

    /// Commits data and length of sled's file, and what should never be there: files beside it.
    fn sync(&self) -> io::Result<()> {
        let overflow = self.path.join("blobs");
        if fs::read_dir(&overflow)?.next().is_some() {
            tracing::warn!(path = %overflow.display(), "sled has put a page into a file of its own");
            layout::settle(&overflow)?;
        }
        self.file.sync_data()
    }
}

impl fmt::Debug for Database {
    /// Without the contents, which sled would print.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Database").field("path", &self.path).finish_non_exhaustive()
    }
}

fn db_file(path: &Path) -> PathBuf {
    path.join("db")
}

/// sled takes the half-written snapshot of a process that died for the newest one, and then refuses the
/// whole store (B-019). Its place is taken by rename, so it is never needed.
fn remove_unfinished_snapshots(path: &Path) -> io::Result<()> {
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        if entry.file_name().as_encoded_bytes().ends_with(b".generating") {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// Waits until our own earlier handle is gone: threads of sled may hold it a little longer than we do.
/// Another process cannot, as it would need the lock of the directory.
fn wait_for_lock(path: &Path, is_waiting: &AtomicBool) -> io::Result<()> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => {
            is_waiting.store(true, Ordering::Release);
            file.lock()?;
            is_waiting.store(false, Ordering::Release);
            Ok(())
        }
        Err(TryLockError::Error(error)) => Err(error),
    }
}
