//! Between driver and store: what passes, and faults on demand.

use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use lighterman_contracts::{Batch, Checkpoint, CommitError};

/// A store that counts what is committed, and can be made slow or broken.
#[derive(Debug)]
pub struct Faulty<S> {
    inner: S,
    batches: AtomicU64,
    /// Every batch, when that was asked for.
    recorded: Mutex<Option<Vec<Batch>>>,
    delay_micros: AtomicU64,
    delayed_micros: AtomicU64,
    fails: AtomicBool,
}

impl<S> Faulty<S> {
    /// Nothing goes wrong yet.
    #[must_use]
    pub fn new(inner: S) -> Self {
        Self {
            inner,
            batches: AtomicU64::default(),
            recorded: Mutex::default(),
            delay_micros: AtomicU64::default(),
            delayed_micros: AtomicU64::default(),
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

    /// From now on every batch is kept.
    pub fn record(&self) {
        *self.recorded.lock().unwrap_or_else(PoisonError::into_inner) = Some(Vec::new());
    }

    /// The batches since [`record`](Self::record); none are kept any more.
    #[must_use]
    pub fn recorded(&self) -> Vec<Batch> {
        self.recorded.lock().unwrap_or_else(PoisonError::into_inner).take().unwrap_or_default()
    }

    /// From now on every commit takes so much longer.
    pub fn delay(&self, by: Duration) {
        let micros = u64::try_from(by.as_micros()).unwrap_or(u64::MAX);
        self.delay_micros.store(micros, Ordering::Relaxed);
    }

    /// By how much all commits together were delayed so far: timers wake up late rather than early.
    pub fn delayed(&self) -> Duration {
        Duration::from_micros(self.delayed_micros.load(Ordering::Relaxed))
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
            let begun = Instant::now();
            wait(delay).await;
            let took = u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX);
            self.delayed_micros.fetch_add(took, Ordering::Relaxed);
        }
        if self.fails.load(Ordering::Relaxed) {
            return Err(CommitError::Failed("made to fail by the benchmark".into()));
        }
        self.batches.fetch_add(1, Ordering::Relaxed);
        if let Some(recorded) = self.recorded.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            recorded.push(batch.clone());
        }
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
        store.record();
        assert_eq!(store.commit(batch(1)).await, Ok(()));
        store.delay(Duration::from_millis(30));
        let begun = Instant::now();
        assert_eq!(store.commit(batch(2)).await, Ok(()));
        assert!(begun.elapsed() >= store.delayed() && store.delayed() >= Duration::from_millis(30));
        store.fail(true);
        assert!(matches!(store.commit(batch(3)).await, Err(CommitError::Failed(_))));
        store.fail(false);
        assert_eq!((store.batches(), store.recorded()), (2, vec![batch(1), batch(2)]));
        assert_eq!(store.recorded(), []);
    }
}
