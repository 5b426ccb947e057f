//! A store that keeps everything in memory, and fails on demand.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, Mutex},
    time::Duration,
};

use lighterman_contracts::{Batch, Checkpoint, CommitError, Loaded, Write};
use tokio::sync::watch;

use crate::host::lock;

/// Most bytes of a key.
const LONGEST_KEY: usize = 512;
/// Most bytes of a value.
const LONGEST_VALUE: usize = 64 << 10;

/// A [`Checkpoint`] in memory. Clones share one store.
///
/// ```
/// use lighterman_contracts::{Batch, Checkpoint, CommitError, Write};
/// use lighterman_testkit::MemoryStore;
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
/// # runtime.block_on(async {
/// let store = MemoryStore::new();
/// store.fail_times(1, CommitError::NoSpace("the disk is full".into()));
/// let batch = Batch { generation: 1, writes: vec![Write::put(b"task/1".to_vec(), b"{}".to_vec())] };
/// assert!(store.commit(batch.clone()).await.is_err());
/// assert!(store.commit(batch).await.is_ok());
/// assert_eq!(store.snapshot().witness, Some(1));
/// # });
/// ```
#[derive(Clone, Debug)]
pub struct MemoryStore {
    state: Arc<Mutex<State>>,
    held: watch::Sender<bool>,
}

#[derive(Debug, Default)]
struct State {
    entries: BTreeMap<Vec<u8>, Vec<u8>>,
    witness: Option<u64>,
    /// What befalls the next commits, one each.
    failures: VecDeque<Failure>,
    /// What befalls all others.
    always: Option<CommitError>,
    commits: Vec<Batch>,
}

#[derive(Debug)]
struct Failure {
    error: CommitError,
    /// Whether the batch is in the store all the same.
    written: bool,
}

impl MemoryStore {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::with(Loaded::default())
    }

    /// A store that holds this: what a process that starts again finds.
    #[must_use]
    pub fn with(loaded: Loaded) -> Self {
        let entries = loaded.entries.into_iter().collect();
        let state = State { entries, witness: loaded.witness, ..State::default() };
        Self { state: Arc::new(Mutex::new(state)), held: watch::Sender::new(false) }
    }

    /// What a start would read now.
    #[must_use]
    pub fn snapshot(&self) -> Loaded {
        let state = lock(&self.state);
        Loaded { entries: state.entries.clone().into_iter().collect(), witness: state.witness }
    }

    /// Every batch that became durable, in order.
    #[must_use]
    pub fn commits(&self) -> Vec<Batch> {
        lock(&self.state).commits.clone()
    }

    /// The next `times` commits fail, and nothing of them is written.
    pub fn fail_times(&self, times: usize, error: CommitError) {
        self.plan(times, error, false);
    }

    /// The next commit fails, and its batch is in the store all the same.
    pub fn fail_though_written(&self, error: CommitError) {
        self.plan(1, error, true);
    }

    /// Commits fail until this is called with `None`.
    pub fn fail_always(&self, error: Option<CommitError>) {
        lock(&self.state).always = error;
    }

    fn plan(&self, times: usize, error: CommitError, written: bool) {
        let failures = std::iter::repeat_with(|| Failure { error: error.clone(), written });
        lock(&self.state).failures.extend(failures.take(times));
    }

    /// Commits wait until [`release`](Self::release).
    pub fn hold(&self) {
        self.held.send_replace(true);
    }

    /// Commits that wait go on.
    pub fn release(&self) {
        self.held.send_replace(false);
    }

    /// Commits wait this long from now on: holds them, and releases them once the time is over.
    pub async fn hold_for(&self, time: Duration) {
        self.hold();
        let never = std::future::pending::<()>();
        // The bound is what is waited for.
        let _elapsed = tokio::time::timeout(time, never).await;
        self.release();
    }
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new()
    }
}

impl Checkpoint for MemoryStore {
    async fn commit(&self, batch: Batch) -> Result<(), CommitError> {
        let mut held = self.held.subscribe();
        held.wait_for(|held| !held).await.expect("the sender lives in `self`");
        lock(&self.state).commit(batch)
    }
}

impl State {
    fn commit(&mut self, batch: Batch) -> Result<(), CommitError> {
        if let Some(write) = batch.writes.iter().find(|write| is_too_large(write)) {
            let key = String::from_utf8_lossy(&write.key);
            return Err(CommitError::TooLarge(format!("the entry {key:?}")));
        }
        if let Some(failure) = self.failures.pop_front() {
            if failure.written {
                self.apply(batch);
            }
            return Err(failure.error);
        }
        if let Some(error) = &self.always {
            return Err(error.clone());
        }
        self.apply(batch);
        Ok(())
    }

    fn apply(&mut self, batch: Batch) {
        for write in &batch.writes {
            match &write.value {
                Some(value) => drop(self.entries.insert(write.key.clone(), value.clone())),
                None => drop(self.entries.remove(&write.key)),
            }
        }
        self.witness = Some(batch.generation);
        self.commits.push(batch);
    }
}

fn is_too_large(write: &Write) -> bool {
    !(1..=LONGEST_KEY).contains(&write.key.len())
        || write.value.as_ref().is_some_and(|value| value.len() > LONGEST_VALUE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(generation: u64, key: &str, value: Option<&str>) -> Batch {
        let write = Write { key: key.into(), value: value.map(Into::into) };
        Batch { generation, writes: vec![write] }
    }

    fn full() -> CommitError {
        CommitError::NoSpace("full".into())
    }

    #[tokio::test]
    async fn what_was_committed_is_found_again() {
        let store = MemoryStore::new();
        store.commit(batch(1, "a", Some("1"))).await.unwrap();
        store.commit(batch(2, "b", Some("2"))).await.unwrap();
        store.commit(batch(3, "a", None)).await.unwrap();
        let again = MemoryStore::with(store.snapshot());
        assert_eq!(again.snapshot(), Loaded { entries: vec![(b"b".to_vec(), b"2".to_vec())], witness: Some(3) });
        assert_eq!((store.commits().len(), again.commits().len()), (3, 0));
    }

    #[tokio::test]
    async fn failures_come_as_planned() {
        let store = MemoryStore::new();
        store.fail_times(2, full());
        assert_eq!(store.commit(batch(1, "a", Some("1"))).await, Err(full()));
        assert_eq!(store.commit(batch(1, "a", Some("1"))).await, Err(full()));
        assert_eq!(store.snapshot(), Loaded::default());
        store.fail_though_written(full());
        assert_eq!(store.commit(batch(1, "a", Some("1"))).await, Err(full()));
        assert_eq!(store.snapshot().witness, Some(1));
        store.fail_always(Some(full()));
        assert_eq!(store.commit(batch(2, "a", Some("2"))).await, Err(full()));
        store.fail_always(None);
        assert_eq!(store.commit(batch(2, "a", Some("2"))).await, Ok(()));
    }

    #[tokio::test]
    async fn entries_that_are_too_large_are_refused_and_nothing_is_written() {
        let store = MemoryStore::new();
        for bad in [batch(1, "", Some("1")), batch(1, &"k".repeat(513), None), batch(1, "a", Some(&"v".repeat(65_537)))]
        {
            assert!(matches!(store.commit(bad).await, Err(CommitError::TooLarge(_))));
        }
        store.commit(batch(1, &"k".repeat(512), Some(&"v".repeat(65_536)))).await.unwrap();
        assert_eq!(store.commits().len(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_held_store_lets_nothing_through() {
        let store = MemoryStore::new();
        store.hold();
        let mut commit = Box::pin(store.commit(batch(1, "a", Some("1"))));
        let bound = Duration::from_secs(600);
        assert!(tokio::time::timeout(bound, &mut commit).await.is_err());
        store.release();
        assert_eq!(commit.await, Ok(()));
        let begin = tokio::time::Instant::now();
        let (result, ()) = tokio::join!(store.commit(batch(2, "a", Some("1"))), store.hold_for(Duration::from_secs(3)));
        assert_eq!(result, Ok(()));
        assert!(begin.elapsed() <= Duration::from_secs(3));
    }
}
