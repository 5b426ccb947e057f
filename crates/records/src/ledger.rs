//! The ledger: what the store must hold, kept up to date commit by commit.

use alloc::{collections::BTreeMap, string::String, sync::Arc, vec::Vec};
use core::fmt::Display;

use lighterman_engine::{Record, RecordKey, SavedState, SavedTask};
use lighterman_ids::TaskId;
use lighterman_task_manager::{ContainerState, TaskState};
use lighterman_taskdef::TaskDefinition;

use crate::{
    envelope::{self, EnvelopeError, Kind},
    key, parts, v1,
};

/// One entry to set, or to delete with `None`.
pub type WriteOp = (Vec<u8>, Option<Vec<u8>>);

/// What the store must hold after the last commit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Ledger {
    generation: u64,
    /// By key: checksum and number of parts of each record.
    entries: BTreeMap<Vec<u8>, Entry>,
    /// Sum of all checksums: whatever is missing, stale or too many changes it.
    digest: u128,
    /// By key: how many parts a commit that failed may have left in the store.
    doubtful: BTreeMap<Vec<u8>, u16>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Entry {
    checksum: u128,
    parts: u16,
}

/// A commit to be made, and what it does to the ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prepared {
    /// Rises by one with every commit that succeeds.
    pub generation: u64,
    /// All of them or nothing.
    pub writes: Vec<WriteOp>,
    /// To be given to [`Ledger::committed`] once the writes are durable.
    pub change: LedgerChange,
}

/// What a commit does to the ledger.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LedgerChange {
    generation: u64,
    entries: Vec<(Vec<u8>, Option<Entry>)>,
    digest: u128,
}

/// Why a store cannot be taken up.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// It is damaged: it must be moved aside, never silently emptied.
    #[error("the state store is damaged: {0}")]
    Damaged(String),
    /// A newer version of the program wrote it: a schema, a kind of record, or in one a word or field that this one does not
    /// know.
    #[error("the state store was written by a newer version: {0}")]
    Newer(String),
}

impl Ledger {
    /// The ledger of an empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The generation of the last commit; 0 before the first.
    #[must_use]
    pub const fn generation(&self) -> u64 {
        self.generation
    }

    /// How many records there are, without the head.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are no records.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The writes that bring these records into the store, head included. A record of `None` is deleted.
    ///
    /// Nothing changes in the ledger until [`committed`](Self::committed). After a commit that failed it is told
    /// so with [`failed`](Self::failed), and the same keys must be among the next: then it does not matter whether
    /// the failed one is in the store.
    #[must_use]
    pub fn prepare(&self, records: impl IntoIterator<Item = (RecordKey, Option<Record>)>) -> Prepared {
        let generation = self.generation + 1;
        let mut change = LedgerChange { generation, entries: Vec::new(), digest: self.digest };
        let mut count = self.entries.len();
        let mut writes = Vec::new();
        for (key, record) in records {
            let key = key::encode(&key);
            let old = self.entries.get(&key).copied();
            let new = record.map(|record| put(&mut writes, &key, generation, &record));
            self.drop_old_parts(&mut writes, &key, old, new);
            change.digest = change
                .digest
                .wrapping_sub(old.map_or(0, |entry| entry.checksum))
                .wrapping_add(new.map_or(0, |entry| entry.checksum));
            count = count + usize::from(new.is_some()) - usize::from(old.is_some());
            change.entries.push((key, new));
        }
        let head = v1::Head::encode(generation, count, change.digest);
        writes.push((key::HEAD.to_vec(), Some(envelope::seal(key::HEAD, Kind::Head, generation, &head).0)));
        Prepared { generation, writes, change }
    }

    /// Entries of the old value, and of one that a failed commit may have left, which the new one does not
    /// overwrite. A deletion always names the key itself.
    fn drop_old_parts(&self, writes: &mut Vec<WriteOp>, key: &[u8], old: Option<Entry>, new: Option<Entry>) {
        let from = new.map_or(0, |entry| entry.parts);
        let doubtful = self.doubtful.get(key).copied().unwrap_or(0);
        let to = old.map_or(0, |entry| entry.parts).max(doubtful).max(u16::from(new.is_none()));
        writes.extend((from..to).map(|part| (parts::key_of(key, part), None)));
    }

    /// The writes of that change are durable.
    pub fn committed(&mut self, change: LedgerChange) {
        self.generation = change.generation;
        self.digest = change.digest;
        for (key, entry) in change.entries {
            self.doubtful.remove(&key);
            match entry {
                Some(entry) => self.entries.insert(key, entry),
                None => self.entries.remove(&key),
            };
        }
    }

    /// It is not known whether the writes of that change are durable.
    pub fn failed(&mut self, change: LedgerChange) {
        for (key, entry) in change.entries {
            let parts = entry.map_or(0, |entry| entry.parts);
            let doubtful = self.doubtful.entry(key).or_default();
            *doubtful = parts.max(*doubtful);
        }
    }

    /// Takes up what a store holds; `witness` is the highest generation that is known to have been durable.
    ///
    /// # Errors
    /// Something is missing, stale, too many or unreadable, or a newer program wrote it.
    pub fn open(entries: Vec<(Vec<u8>, Vec<u8>)>, witness: Option<u64>) -> Result<(Self, SavedState), OpenError> {
        if entries.is_empty() && witness.unwrap_or(0) == 0 {
            return Ok((Self::new(), SavedState::default()));
        }
        let mut joined = parts::join(entries);
        let head = joined.remove(key::HEAD).ok_or_else(|| damaged("its head record is missing"))?;
        let head = read_head(&head.0)?;
        let mut ledger = Self { generation: head.generation, ..Self::default() };
        let mut found = Found::default();
        for (key, (value, parts)) in joined {
            let opened = envelope::open(&key, &value).map_err(|error| unreadable(&key, error))?;
            ledger.digest = ledger.digest.wrapping_add(opened.checksum);
            found.take(&key, opened.kind, opened.payload)?;
            ledger.entries.insert(key, Entry { checksum: opened.checksum, parts });
        }
        ledger.compare(&head, witness)?;
        Ok((ledger, found.put_together()?))
    }

    fn compare(&self, head: &v1::Head, witness: Option<u64>) -> Result<(), OpenError> {
        if self.entries.len() != head.records {
            let text = alloc::format!("it holds {} records and should hold {}", self.entries.len(), head.records);
            return Err(OpenError::Damaged(text));
        }
        if self.digest != head.digest {
            return Err(damaged("its records are not those of its last commit"));
        }
        match witness {
            Some(durable) if durable > self.generation => Err(OpenError::Damaged(alloc::format!(
                "it ends with commit {}, and commit {durable} was acknowledged",
                self.generation
            ))),
            Some(_) | None => Ok(()),
        }
    }
}

fn put(writes: &mut Vec<WriteOp>, key: &[u8], generation: u64, record: &Record) -> Entry {
    let (kind, payload) = v1::encode(record);
    let (value, checksum) = envelope::seal(key, kind, generation, &payload);
    let entries = parts::cut(key, value);
    let parts = u16::try_from(entries.len()).expect("as many as were counted when it was cut");
    writes.extend(entries.into_iter().map(|(key, value)| (key, Some(value))));
    Entry { checksum, parts }
}

fn read_head(bytes: &[u8]) -> Result<v1::Head, OpenError> {
    let opened = envelope::open(key::HEAD, bytes).map_err(|error| unreadable(key::HEAD, error))?;
    match opened.kind {
        Kind::Head => v1::Head::decode(opened.payload).map_err(|error| bad_payload(key::HEAD, &error)),
        Kind::Host | Kind::Definition | Kind::Task | Kind::Container | Kind::Image => {
            Err(damaged("its head record is of another kind"))
        }
    }
}

/// Records by what they belong to, until they are put together.
#[derive(Default)]
struct Found {
    saved: SavedState,
    definitions: BTreeMap<TaskId, Arc<TaskDefinition>>,
    tasks: BTreeMap<TaskId, TaskState>,
    /// With their places in task order.
    containers: BTreeMap<TaskId, Vec<(usize, ContainerState)>>,
}

impl Found {
    fn take(&mut self, key: &[u8], kind: Kind, payload: &[u8]) -> Result<(), OpenError> {
        let wrong = || damaged_at(key, "its key and its kind do not fit");
        let parsed = key::decode(key).ok_or_else(wrong)?;
        let record = v1::decode(kind, payload).map_err(|error| bad_payload(key, &error))?;
        match (parsed, record) {
            (RecordKey::Host, Some(Record::Host(host))) => self.saved.host = Some(host),
            (RecordKey::Definition(task), Some(Record::Definition(definition))) => {
                self.definitions.insert(task, definition);
            }
            (RecordKey::Task(task), Some(Record::Task(state))) if state.id == task => {
                self.tasks.insert(task, state);
            }
            (RecordKey::Container(task, place), Some(Record::Container(state))) => {
                self.containers.entry(task).or_default().push((place, state));
            }
            (RecordKey::Image(image), Some(Record::Image(state))) if state.image == image => {
                self.saved.images.insert(image, state);
            }
            _ => return Err(wrong()),
        }
        Ok(())
    }

    /// The digest says that nothing is missing, so what does not fit together is a fault of ours. A container or a
    /// definition without its task is named as a stray, and the others load (E144); a task without its
    /// definition cannot be driven.
    fn put_together(mut self) -> Result<SavedState, OpenError> {
        for (task, state) in self.tasks {
            let Some(definition) = self.definitions.remove(&task) else {
                return Err(OpenError::Damaged(alloc::format!("task {task} has no definition")));
            };
            let containers = self.containers.remove(&task).unwrap_or_default();
            let containers = containers.into_iter().map(|(_, state)| state).collect();
            self.saved.tasks.push(SavedTask { state, definition, containers });
        }
        let containers = self.containers.into_iter();
        let containers = containers.flat_map(|(task, places)| {
            places.into_iter().map(move |(place, _)| RecordKey::Container(task.clone(), place))
        });
        self.saved.strays = containers.chain(self.definitions.into_keys().map(RecordKey::Definition)).collect();
        Ok(self.saved)
    }
}

fn damaged(text: &str) -> OpenError {
    OpenError::Damaged(text.into())
}

fn damaged_at(key: &[u8], text: impl Display) -> OpenError {
    OpenError::Damaged(record(key, text))
}

fn record(key: &[u8], text: impl Display) -> String {
    alloc::format!("record {:?}: {text}", String::from_utf8_lossy(key))
}

/// What is new to us under a checksum that fits is no damage.
fn unreadable(key: &[u8], error: EnvelopeError) -> OpenError {
    match error {
        EnvelopeError::Newer(_) | EnvelopeError::Kind(_) => OpenError::Newer(record(key, error)),
        EnvelopeError::Shape | EnvelopeError::Checksum => damaged_at(key, error),
    }
}

fn bad_payload(key: &[u8], error: &v1::PayloadError) -> OpenError {
    match error {
        v1::PayloadError::Newer(_) => OpenError::Newer(record(key, error)),
        v1::PayloadError::Fault(_) => {
            damaged_at(key, format_args!("its checksum fits and its payload does not: {error}"))
        }
    }
}
