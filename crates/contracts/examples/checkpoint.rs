//! A store in memory: the smallest thing that is a [`Checkpoint`].
#![expect(clippy::print_stdout, reason = "an example shows its result")]

use std::{
    collections::BTreeMap,
    future::Future,
    pin::pin,
    sync::Mutex,
    task::{Context, Poll, Waker},
};

use lighterman_contracts::{Batch, Checkpoint, CommitError, Write};

#[derive(Debug, Default)]
struct InMemory(Mutex<BTreeMap<Vec<u8>, Vec<u8>>>);

impl Checkpoint for InMemory {
    async fn commit(&self, batch: Batch) -> Result<(), CommitError> {
        let mut map = self.0.lock().map_err(|error| CommitError::Failed(error.to_string()))?;
        for Write { key, value } in batch.writes {
            match value {
                Some(value) => map.insert(key, value),
                None => map.remove(&key),
            };
        }
        Ok(())
    }
}

fn main() {
    let store = InMemory::default();
    let mut batch = Batch::new(1);
    batch.writes.push(Write::put(b"task/1".to_vec(), b"RUNNING".to_vec()));
    let commit = pin!(store.commit(batch));
    // It waits for nothing, so one poll is all of it.
    assert_eq!(commit.poll(&mut Context::from_waker(Waker::noop())), Poll::Ready(Ok(())));
    println!("{:?}", store.0.lock().expect("nobody panicked with it"));
}
