//! What a commit means.

use std::{
    future::{Future, poll_fn},
    pin::pin,
    task::Poll,
};

use lighterman_checkpoint::{MAX_KEY_BYTES, MAX_VALUE_BYTES, OpenOptions, Store};
use lighterman_contracts::{Batch, Checkpoint, CommitError, Loaded, Write};

use crate::{
    host,
    model::{Model, run},
};

#[test]
fn many_generations_come_back_exactly_also_over_many_openings() {
    let scratch = host::scratch();
    let mut model = Model::new(1);
    for _ in 0..8 {
        let (store, loaded) = Store::open(scratch.path(), OpenOptions::default()).unwrap();
        let generation = model.check(&loaded);
        assert_eq!(loaded.witness.unwrap_or(0), generation);
        model.commit(&store, 40);
        store.close().unwrap();
    }
    let (_store, loaded) = Store::open(scratch.path(), OpenOptions::default()).unwrap();
    assert_eq!(model.check(&loaded), 320);
}

#[test]
fn of_two_writes_to_one_key_the_later_counts() {
    let long = vec![1; 20_000];
    let key = b"key".to_vec();
    let put = |value: &[u8]| Write::put(b"key".to_vec(), value.to_vec());
    let cases = [
        (vec![put(b"old"), put(b"new")], Some(b"new".to_vec())),
        (vec![put(&long), put(b"new")], Some(b"new".to_vec())),
        (vec![put(b"new"), put(&long)], Some(long.clone())),
        (vec![put(&long), Write::delete(key.clone())], None),
        (vec![Write::delete(key.clone()), put(&long)], Some(long.clone())),
    ];
    for before in [None, Some(b"before".to_vec()), Some(vec![9; 50_000])] {
        for (writes, expected) in cases.clone() {
            let initial = Write { key: key.clone(), value: before.clone() };
            let after = commit_and_reopen(&[vec![initial], writes.clone()]);
            let expected: Vec<_> = expected.map(|value| (key.clone(), value)).into_iter().collect();
            assert_eq!(after.entries, expected, "{writes:?}");
        }
    }
}

#[test]
fn entries_are_in_the_order_of_their_keys() {
    let keys: [&[u8]; 6] = [b"a", b"a\x00", b"a\x01", b"b", b"\x00", b"\xff"];
    let writes = keys.iter().map(|key| Write::put(key.to_vec(), vec![3; 9000])).collect();
    let loaded = commit_and_reopen(&[writes]);
    let found: Vec<_> = loaded.entries.iter().map(|(key, _)| key.as_slice()).collect();
    let mut sorted = keys.to_vec();
    sorted.sort_unstable();
    assert_eq!(found, sorted);
}

#[test]
fn sizes_over_the_limit_are_refused_and_nothing_of_the_batch_is_written() {
    let scratch = host::scratch();
    let (store, _) = Store::open(scratch.path(), OpenOptions::default()).unwrap();
    let refused = [
        Write::put(vec![1; MAX_KEY_BYTES + 1], Vec::new()),
        Write::put(Vec::new(), vec![1]),
        Write::put(vec![1], vec![0; MAX_VALUE_BYTES + 1]),
        Write::delete(Vec::new()),
    ];
    for write in refused {
        let mut batch = Batch::new(1);
        batch.writes = vec![Write::put(b"innocent".to_vec(), vec![1]), write];
        assert!(matches!(run(store.commit(batch)), Err(CommitError::TooLarge(_))));
    }
    let mut batch = Batch::new(1);
    batch.writes = vec![Write::put(vec![1; MAX_KEY_BYTES], vec![2; MAX_VALUE_BYTES])];
    run(store.commit(batch)).unwrap();
    store.close().unwrap();
    let (_store, loaded) = Store::open(scratch.path(), OpenOptions::default()).unwrap();
    assert_eq!(loaded.entries, [(vec![1; MAX_KEY_BYTES], vec![2; MAX_VALUE_BYTES])]);
}

#[test]
fn commits_that_wait_together_all_become_durable_in_their_order() {
    let scratch = host::scratch();
    let (store, _) = Store::open(scratch.path(), OpenOptions::default()).unwrap();
    let mut model = Model::new(2);
    let batches: Vec<Batch> = (0..100).map(|_| model.next_batch()).collect();
    run(async {
        let mut commits: Vec<_> = batches.into_iter().map(|batch| Box::pin(store.commit(batch))).collect();
        // All are sent before the first is awaited to its end.
        poll_fn(|context| {
            commits.retain_mut(|commit| match commit.as_mut().poll(context) {
                Poll::Ready(outcome) => {
                    outcome.unwrap();
                    false
                }
                Poll::Pending => true,
            });
            if commits.is_empty() { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    });
    assert!((1..100).contains(&store.syncs()), "{} syncs for 100 commits that waited together", store.syncs());
    store.close().unwrap();
    let (_store, loaded) = Store::open(scratch.path(), OpenOptions::default()).unwrap();
    assert_eq!((model.check(&loaded), loaded.witness), (100, Some(100)));
}

#[test]
fn a_commit_that_is_no_longer_awaited_does_not_stop_the_next() {
    let scratch = host::scratch();
    let (store, _) = Store::open(scratch.path(), OpenOptions::default()).unwrap();
    let mut model = Model::new(3);
    run(async {
        for _ in 0..20 {
            let mut commit = pin!(store.commit(model.next_batch()));
            // Asked for, and in all likelihood not done yet.
            let _ = poll_fn(|context| Poll::Ready(commit.as_mut().poll(context))).await;
        }
    });
    // As the core does it, the next commit carries everything.
    model.next_batch();
    run(store.commit(model.everything())).unwrap();
    store.close().unwrap();
    let (_store, loaded) = Store::open(scratch.path(), OpenOptions::default()).unwrap();
    assert_eq!((model.check(&loaded), loaded.witness), (21, Some(21)));
}

/// More than one megabyte in one batch: over several segments of sled.
#[test]
fn a_batch_of_a_thousand_large_records_is_one() {
    let writes = |fill: u8| {
        (0..1000_u32).map(|key| Write::put(key.to_be_bytes().to_vec(), vec![fill; 4000])).collect::<Vec<_>>()
    };
    let loaded = commit_and_reopen(&[writes(1), writes(2), writes(3)]);
    assert_eq!(loaded.entries.len(), 1000);
    assert!(loaded.entries.iter().all(|(_, value)| value == &vec![3; 4000]));
}

/// Commits each list of writes as one batch, and answers what is there after opening again.
fn commit_and_reopen(batches: &[Vec<Write>]) -> Loaded {
    let scratch = host::scratch();
    let (store, _) = Store::open(scratch.path(), OpenOptions::default()).unwrap();
    for (writes, generation) in batches.iter().zip(1..) {
        let mut batch = Batch::new(generation);
        batch.writes.clone_from(writes);
        run(store.commit(batch)).unwrap();
    }
    store.close().unwrap();
    Store::open(scratch.path(), OpenOptions::default()).unwrap().1
}
