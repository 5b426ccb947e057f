//! Between driver and store: what passes, and faults on demand.

use std::{
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    time::Duration,
};

use lighterman_contracts::{Batch, Checkpoint, CommitError};

/// A store that counts what is committed, and can be made slow or broken.
#[derive(Debug)]
pub struct Faulty<S> {
    inner: S,
    batches: AtomicU64,
    writes: AtomicU64,
    delay_micros: AtomicU64,
    fails: AtomicBool,
}

impl<S> Faulty<S> {
    /// Nothing goes wrong yet.
    #[must_use]
    pub fn new(inner: S) -> Self {
        Self {
            inner,
            batches: AtomicU64::default(),
            writes: AtomicU64::default(),
            delay_micros: AtomicU64::default(),
            fails: AtomicBool::default(),
        }
    }

    /// The store behind it.
    #[must_use]
    pub const fn inner(&self) -> &S {
        &self.inner
    }

    /// Batches handed to the store.
    #[must_use]
    pub fn batches(&self) -> u64 {
        self.batches.load(Ordering::Relaxed)
    }

    /// Writes in them.
    #[must_use]
    pub fn writes(&self) -> u64 {
        self.writes.load(Ordering::Relaxed)
    }

    /// From now on every commit takes so much longer.
    pub fn delay(&self, by: Duration) {
        let micros = u64::try_from(by.as_micros()).unwrap_or(u64::MAX);
        self.delay_micros.store(micros, Ordering::Relaxed);
    }

    /// From now on every commit fails, or none does.
    pub fn fail(&self, fails: bool) {
        self.fails.store(fails, Ordering::Relaxed);
    }
}

impl<S: Checkpoint> Checkpoint for Faulty<S> {
    async fn commit(&self, batch: Batch) -> Result<(), CommitError> {
        let delay = Duration::from_micros(self.delay_micros.load(Ordering::Relaxed));
        if !delay.is_zero() {
            wait(delay).await;
        }
        if self.fails.load(Ordering::Relaxed) {
            return Err(CommitError::Failed("made to fail by the benchmark".into()));
        }
        self.batches.fetch_add(1, Ordering::Relaxed);
        self.writes.fetch_add(batch.writes.len() as u64, Ordering::Relaxed);
        self.inner.commit(batch).await
    }
}

/// A delay that is the thing to be measured, or a span over which is measured; never a wait for something.
#[expect(clippy::disallowed_methods, reason = "an injected delay is no wait for a level")]
pub(crate) async fn wait(span: Duration) {
    tokio::time::sleep(span).await;
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use lighterman_contracts::Write;
    use lighterman_testkit::MemoryStore;

    use super::*;

    fn batch(generation: u64) -> Batch {
        let mut batch = Batch::new(generation);
        batch.writes.push(Write::put(b"a".to_vec(), b"1".to_vec()));
        batch.writes.push(Write::put(b"b".to_vec(), b"2".to_vec()));
        batch
    }

    #[tokio::test]
    async fn a_delay_comes_on_top_and_a_failure_reaches_nobody_behind() {
        let store = Faulty::new(MemoryStore::default());
        assert_eq!(store.commit(batch(1)).await, Ok(()));
        store.delay(Duration::from_millis(30));
        let begun = Instant::now();
        assert_eq!(store.commit(batch(2)).await, Ok(()));
        assert!(begun.elapsed() >= Duration::from_millis(30));
        store.fail(true);
        assert!(matches!(store.commit(batch(3)).await, Err(CommitError::Failed(_))));
        store.fail(false);
        assert_eq!((store.batches(), store.writes()), (2, 4));
    }
}
