//! What a store must hold after so many generations, and a small stand-in for the verification of the
//! crate `records`: a checksum per value, and a head with generation, count and digest of the set.

use std::collections::BTreeMap;

use lighterman_checkpoint::Store;
use lighterman_contracts::{Batch, Checkpoint, Loaded, Write};
use sha2::{Digest, Sha256};

const HEAD: &[u8] = b"head";
const SUM_BYTES: usize = 8;
const KEYS: u64 = 200;

/// A generator of numbers from a seed: splitmix64.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Below `bound`, which is not 0.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn bytes(&mut self, length: u64) -> Vec<u8> {
        let length = usize::try_from(length).unwrap();
        let mut bytes = Vec::with_capacity(length + 8);
        while bytes.len() < length {
            bytes.extend_from_slice(&self.next().to_le_bytes());
        }
        bytes.truncate(length);
        bytes
    }
}

/// The whole map after a generation; the same for the same seed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Model {
    seed: u64,
    pub(crate) generation: u64,
    records: BTreeMap<Vec<u8>, Vec<u8>>,
    /// Of all records, kept up with each change.
    digest: u64,
}

impl Model {
    pub(crate) const fn new(seed: u64) -> Self {
        Self { seed, generation: 0, records: BTreeMap::new(), digest: 0 }
    }

    /// As the store tells it, which is verified, but not compared with what was committed.
    pub(crate) fn resume(seed: u64, loaded: &Loaded) -> Self {
        let mut model = Self { generation: verify(loaded).unwrap(), ..Self::new(seed) };
        for (key, value) in loaded.entries.iter().filter(|(key, _)| key != HEAD) {
            model.set(key, Some(value.clone()));
        }
        model
    }

    /// Goes on to the next generation; answers its batch.
    pub(crate) fn next_batch(&mut self) -> Batch {
        self.generation += 1;
        let mut random = Random::new(self.seed.wrapping_mul(0x1_0001).wrapping_add(self.generation));
        let mut batch = Batch::new(self.generation);
        for _ in 0..=random.below(8) {
            let key = record_key(random.below(KEYS));
            if random.below(7) == 0 {
                self.set(&key, None);
                batch.writes.push(Write::delete(key));
            } else {
                let value = value(&mut random);
                self.set(&key, Some(value.clone()));
                batch.writes.push(Write::put(key, value));
            }
        }
        batch.writes.push(Write::put(HEAD.to_vec(), self.head()));
        batch
    }

    /// Goes on to this generation, which must not be an earlier one.
    pub(crate) fn advance_to(&mut self, generation: u64) {
        assert!(self.generation <= generation, "{} came back as {generation}", self.generation);
        while self.generation < generation {
            self.next_batch();
        }
    }

    /// The whole of this generation as one batch, as the core commits it after a failure.
    pub(crate) fn everything(&self) -> Batch {
        let mut batch = Batch::new(self.generation);
        batch.writes.extend((0..KEYS).map(record_key).map(Write::delete));
        batch.writes.extend(self.entries().into_iter().map(|(key, value)| Write::put(key, value)));
        batch
    }

    /// What the store has to hold.
    pub(crate) fn entries(&self) -> Vec<(Vec<u8>, Vec<u8>)> {
        let mut entries = self.records.clone();
        if self.generation > 0 {
            entries.insert(HEAD.to_vec(), self.head());
        }
        entries.into_iter().collect()
    }

    fn set(&mut self, key: &[u8], value: Option<Vec<u8>>) {
        let new = value.as_ref().map_or(0, |value| digest_of(key, value));
        let old = match value {
            Some(value) => self.records.insert(key.to_vec(), value),
            None => self.records.remove(key),
        };
        let old = old.map_or(0, |value| digest_of(key, &value));
        self.digest = self.digest.wrapping_sub(old).wrapping_add(new);
    }

    fn head(&self) -> Vec<u8> {
        head(self.generation, self.records.len(), self.digest)
    }

    /// Panics unless the store holds exactly what it has to at the generation that it tells.
    pub(crate) fn check(&mut self, loaded: &Loaded) -> u64 {
        let generation = verify(loaded).unwrap();
        self.advance_to(generation);
        assert_eq!(self.entries(), loaded.entries, "generation {generation} is not what was committed");
        generation
    }

    /// Commits `count` further generations.
    pub(crate) fn commit(&mut self, store: &Store, count: u64) {
        for _ in 0..count {
            let batch = self.next_batch();
            run(store.commit(batch)).unwrap();
        }
    }
}

/// What `records` would say to these entries: their generation, 0 for none, or what is wrong.
pub(crate) fn verify(loaded: &Loaded) -> Result<u64, String> {
    let mut records: BTreeMap<_, _> = loaded.entries.iter().cloned().collect();
    let generation = match records.remove(HEAD) {
        Some(head) => verify_records(&head, &records)?,
        None if records.is_empty() => 0,
        None => return Err("the head is missing".to_owned()),
    };
    match loaded.witness {
        Some(witness) if witness > generation => Err(format!("commit {witness} was durable, {generation} is there")),
        Some(_) | None => Ok(generation),
    }
}

/// Awaits on a small runtime of its own.
pub(crate) fn run<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(future)
}

fn verify_records(head: &[u8], records: &BTreeMap<Vec<u8>, Vec<u8>>) -> Result<u64, String> {
    for (key, value) in records {
        let (sum, content) = value.split_first_chunk::<SUM_BYTES>().ok_or("a value is too short")?;
        if *sum != checksum(content) {
            return Err(format!("{} is damaged", String::from_utf8_lossy(key)));
        }
    }
    let generation = head.first_chunk().map(|bytes| u64::from_be_bytes(*bytes)).ok_or("the head is too short")?;
    let digest = records.iter().fold(0_u64, |sum, (key, value)| sum.wrapping_add(digest_of(key, value)));
    if head == self::head(generation, records.len(), digest) {
        Ok(generation)
    } else {
        Err("the head is of another set".to_owned())
    }
}

fn record_key(number: u64) -> Vec<u8> {
    format!("record/{number}").into_bytes()
}

fn head(generation: u64, count: usize, digest: u64) -> Vec<u8> {
    let words = [generation, u64::try_from(count).unwrap(), digest].map(u64::to_be_bytes);
    let mut bytes = words.as_flattened().to_vec();
    bytes.extend(checksum(&bytes));
    bytes
}

/// What one record adds to the digest of the set, in whatever order.
fn digest_of(key: &[u8], value: &[u8]) -> u64 {
    let digest = Sha256::new().chain_update(key).chain_update([0]).chain_update(value).finalize();
    u64::from_be_bytes(*digest.first_chunk().unwrap())
}

fn value(random: &mut Random) -> Vec<u8> {
    let length = match random.below(20) {
        0 => 10_000 + random.below(50_000),
        1..4 => 3_000 + random.below(7_000),
        _ => 50 + random.below(2_000),
    };
    let content = random.bytes(length);
    [&checksum(&content)[..], &content[..]].concat()
}

fn checksum(bytes: &[u8]) -> [u8; SUM_BYTES] {
    *Sha256::digest(bytes).first_chunk().unwrap()
}
