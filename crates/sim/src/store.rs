//! The simulated state store: commits take time, may fail, and may be lost, or worse, at a crash.

use std::collections::BTreeMap;

use lighterman_records::WriteOp;
use lighterman_turn::Commit;

use crate::At;

/// Entries by key.
type Entries = Vec<(Vec<u8>, Vec<u8>)>;

/// A store on a disk that can fail and a host that can crash.
///
/// True to its contract: an acknowledged commit is durable; one that is not acknowledged, because it failed
/// or because the agent died, is wholly there or wholly not. Only [`damage`](Self::damage) breaks that.
#[derive(Clone, Debug, Default)]
pub(crate) struct SimStore {
    durable: BTreeMap<Vec<u8>, Vec<u8>>,
    /// Highest generation that was acknowledged.
    witness: u64,
    pending: Option<Pending>,
    /// Generation of the last commit that landed, and of the one before.
    landed: u64,
    landed_before: u64,
    /// What the last commit that landed replaced, to undo it.
    undo: Vec<WriteOp>,
}

#[derive(Clone, Debug)]
struct Pending {
    commit: Commit,
    done_at: At,
    fate: Fate,
}

/// How a commit will end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It becomes durable.
    Done,
    /// It fails with these words; whether it is there all the same is another matter.
    Fails {
        /// What the store says.
        text: String,
        /// It is there.
        lands: bool,
    },
}

/// Ways in which a store can be broken against its contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Damage {
    /// Of the commit that was under way only a part is there; of the last one if none was.
    Torn,
    /// The last acknowledged commit is not there.
    LostCommit,
    /// A bit has changed.
    FlippedBit,
    /// An entry is missing.
    MissingEntry,
}

impl Damage {
    /// Every way.
    pub const ALL: [Self; 4] = [Self::Torn, Self::LostCommit, Self::FlippedBit, Self::MissingEntry];
}

impl SimStore {
    /// Begins a commit, whose end is due at `done_at`.
    ///
    /// # Panics
    /// Another commit is under way.
    pub(crate) fn begin(&mut self, commit: Commit, done_at: At, fate: Fate) {
        assert!(self.pending.is_none(), "one commit is in flight at a time");
        self.pending = Some(Pending { commit, done_at, fate });
    }

    /// When the commit under way ends.
    pub(crate) fn done_at(&self) -> Option<At> {
        self.pending.as_ref().map(|pending| pending.done_at)
    }

    /// Ends the commit under way; `None` when there is none.
    pub(crate) fn finish(&mut self) -> Option<Result<(), String>> {
        let Pending { commit, fate, .. } = self.pending.take()?;
        Some(match fate {
            Fate::Done => {
                self.witness = commit.generation;
                self.land(commit);
                Ok(())
            }
            Fate::Fails { text, lands } => {
                if lands {
                    self.land(commit);
                }
                Err(text)
            }
        })
    }

    /// The agent dies: the commit under way is there, or not.
    pub(crate) fn crash(&mut self, lands: bool) {
        if let Some(pending) = self.pending.take()
            && lands
        {
            self.land(pending.commit);
        }
    }

    fn land(&mut self, commit: Commit) {
        self.landed_before = self.landed;
        self.landed = commit.generation;
        self.undo.clear();
        for (key, value) in commit.writes {
            let old = match value {
                Some(value) => self.durable.insert(key.clone(), value),
                None => self.durable.remove(&key),
            };
            self.undo.push((key, old));
        }
    }

    /// Breaks the store in this way; `bits` choose where. `false` when there is nothing to break.
    pub(crate) fn damage(&mut self, damage: Damage, bits: u64) -> bool {
        let Some(nth) = usize::try_from(bits).ok().and_then(|bits| bits.checked_rem(self.durable.len())) else {
            return false;
        };
        match damage {
            Damage::Torn => {
                // Of the writes that changed something, the first stays and the others come undone.
                let mut undo = core::mem::take(&mut self.undo);
                undo.retain(|(key, old)| self.durable.get(key) != old.as_ref());
                let torn = undo.len() > 1;
                undo.into_iter().skip(1).for_each(|(key, old)| self.put_back(key, old));
                torn
            }
            Damage::LostCommit => {
                let undo = core::mem::take(&mut self.undo);
                // A commit that failed and landed all the same has the number of the next, which repeats it.
                let lost = self.landed == self.witness && self.landed_before < self.landed && !undo.is_empty();
                if lost {
                    undo.into_iter().rev().for_each(|(key, old)| self.put_back(key, old));
                }
                lost
            }
            Damage::FlippedBit => {
                let value = self.durable.values_mut().nth(nth).expect("below the number of entries");
                let at = nth % value.len().max(1);
                value.get_mut(at).is_some_and(|byte| {
                    *byte ^= 1 << (bits % 8);
                    true
                })
            }
            Damage::MissingEntry => {
                let key = self.durable.keys().nth(nth).expect("below the number of entries").clone();
                self.durable.remove(&key).is_some()
            }
        }
    }

    fn put_back(&mut self, key: Vec<u8>, old: Option<Vec<u8>>) {
        match old {
            Some(value) => self.durable.insert(key, value),
            None => self.durable.remove(&key),
        };
    }

    /// The last acknowledged commit is taken back, and nothing says so: a disk that lies.
    pub(crate) fn forget_commit(&mut self) {
        let undo = core::mem::take(&mut self.undo);
        undo.into_iter().rev().for_each(|(key, old)| self.put_back(key, old));
        self.witness = 0;
    }

    /// Whether it looks like one that was never used: there is nothing to be seen damaged.
    pub(crate) fn looks_new(&self) -> bool {
        self.durable.is_empty() && self.witness == 0
    }

    /// The damaged store is moved aside, and a new one begun.
    pub(crate) fn begin_anew(&mut self) {
        *self = Self::default();
    }

    /// What an opening store hands out: all entries, and the witness.
    pub(crate) fn load(&self) -> (Entries, Option<u64>) {
        let entries = self.durable.iter().map(|(key, value)| (key.clone(), value.clone()));
        (entries.collect(), (self.witness > 0).then_some(self.witness))
    }

    /// Whether there is an entry of this key.
    pub(crate) fn holds(&self, key: &str) -> bool {
        self.durable.contains_key(key.as_bytes())
    }

    /// The entries whose keys begin so.
    pub(crate) fn under<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = (&'a [u8], &'a [u8])> {
        let from = self.durable.range(prefix.as_bytes().to_vec()..);
        from.map(|(key, value)| (&key[..], &value[..])).take_while(move |(key, _)| key.starts_with(prefix.as_bytes()))
    }
}
