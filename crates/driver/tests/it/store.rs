//! A store in memory that can be slow, stuck, full or faulty.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard},
    time::Duration,
};

use lighterman_contracts::{Batch, Checkpoint, CommitError, Loaded};
use tokio::sync::Semaphore;

/// More commits than any test makes.
const MANY: usize = 1 << 20;

#[derive(Debug)]
pub(crate) struct Store {
    state: Mutex<State>,
    /// Commits that may go through.
    passes: Semaphore,
}

#[derive(Debug, Default)]
struct State {
    durable: BTreeMap<Vec<u8>, Vec<u8>>,
    generation: u64,
    delay: Duration,
    fault: Option<Fault>,
    in_flight: usize,
    most_in_flight: usize,
    begun: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    NoSpace,
    Panic,
}

impl Default for Store {
    fn default() -> Self {
        Self { state: Mutex::default(), passes: Semaphore::new(MANY) }
    }
}

impl Store {
    /// Every commit takes so long.
    pub(crate) fn take(&self, delay: Duration) {
        self.lock().delay = delay;
    }

    /// Commits hang from now on …
    pub(crate) fn hold(&self) {
        self.passes.forget_permits(MANY);
    }

    /// … but for one …
    pub(crate) fn let_one_through(&self) {
        self.passes.add_permits(1);
    }

    /// … until now.
    pub(crate) fn release(&self) {
        self.passes.add_permits(MANY);
    }

    pub(crate) fn fail(&self, fault: Option<Fault>) {
        self.lock().fault = fault;
    }

    /// Whether a durable record holds this text.
    pub(crate) fn holds(&self, text: &str) -> bool {
        let is_part = |value: &Vec<u8>| value.windows(text.len()).any(|window| window == text.as_bytes());
        self.lock().durable.values().any(is_part)
    }

    /// What the next start finds.
    pub(crate) fn load(&self) -> Loaded {
        let state = self.lock();
        let entries = state.durable.iter().map(|(key, value)| (key.clone(), value.clone())).collect();
        Loaded { entries, witness: (state.generation > 0).then_some(state.generation) }
    }

    pub(crate) fn generation(&self) -> u64 {
        self.lock().generation
    }

    /// Commits begun, whatever became of them.
    pub(crate) fn begun(&self) -> usize {
        self.lock().begun
    }

    pub(crate) fn most_in_flight(&self) -> usize {
        self.lock().most_in_flight
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    fn begin(&self) -> Duration {
        let mut state = self.lock();
        state.begun += 1;
        state.in_flight += 1;
        state.most_in_flight = state.most_in_flight.max(state.in_flight);
        state.delay
    }

    fn end(&self, batch: Batch) -> Result<(), CommitError> {
        let mut state = self.lock();
        state.in_flight -= 1;
        match state.fault {
            Some(Fault::NoSpace) => return Err(CommitError::NoSpace("disk full".into())),
            Some(Fault::Panic) => {
                drop(state);
                panic!("planted in commit");
            }
            None => {}
        }
        assert_eq!(batch.generation, state.generation + 1, "generations rise by one");
        state.generation = batch.generation;
        for write in batch.writes {
            match write.value {
                Some(value) => state.durable.insert(write.key, value),
                None => state.durable.remove(&write.key),
            };
        }
        Ok(())
    }
}

impl Checkpoint for Store {
    async fn commit(&self, batch: Batch) -> Result<(), CommitError> {
        let delay = self.begin();
        if !delay.is_zero() {
            tokio::time::sleep(delay).await;
        }
        self.passes.acquire().await.expect("it is never closed").forget();
        self.end(batch)
    }
}
