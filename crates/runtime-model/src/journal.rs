//! Events: what happened, kept for a while, and who is told.

use alloc::{
    collections::{BTreeMap, VecDeque},
    string::{String, ToString},
    vec::Vec,
};

use lighterman_calls::RuntimeEvent;
use lighterman_ids::{InstanceId, Wall};

/// How many events of all kinds the engine keeps for a replay (seen on 20.10.24: exactly this many).
pub const REPLAY_LIMIT: usize = 256;

/// Stamps that lie closer together than this belong to one instant: they are told apart by a nanosecond each.
const ONE_INSTANT_NANOS: i64 = 1_000_000;

/// One event of the engine, of whatever kind.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Entry {
    at: Wall,
    /// Label of the container, if it has one.
    instance: Option<String>,
    /// `None` for the kinds that nobody is told of here (network, exec, kill, image): they only take room.
    event: Option<RuntimeEvent>,
}

/// The engine's ring of events and those who watch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Journal {
    entries: VecDeque<Entry>,
    last: Option<Wall>,
    /// Open watches, by token.
    watches: BTreeMap<u64, InstanceId>,
}

impl Journal {
    /// A stamp no other event has, `now` or as little after it as needed; the clock may have stepped back.
    fn stamp(&mut self, now: Wall) -> Wall {
        let at = match self.last {
            Some(last) if last >= now && last.0.saturating_sub(now.0) < ONE_INSTANT_NANOS => {
                Wall(last.0.saturating_add(1))
            }
            Some(_) | None => now,
        };
        self.last = Some(at);
        at
    }

    /// Takes an event down; its stamp is put in. Returns whom to tell what.
    pub(crate) fn record(
        &mut self,
        now: Wall,
        instance: Option<&str>,
        make: impl FnOnce(Wall) -> RuntimeEvent,
    ) -> (RuntimeEvent, Vec<u64>) {
        let event = make(self.stamp(now));
        let instance = instance.map(ToString::to_string);
        let told = self.watches.iter().filter(|(_, watched)| instance.as_deref() == Some(watched.as_str()));
        let told = told.map(|(token, _)| *token).collect();
        self.push(Entry { at: event.at, instance, event: Some(event.clone()) });
        (event, told)
    }

    /// Takes down an event of a kind that nobody is told of.
    pub(crate) fn record_other(&mut self, now: Wall) {
        let at = self.stamp(now);
        self.push(Entry { at, instance: None, event: None });
    }

    fn push(&mut self, entry: Entry) {
        if self.entries.len() == REPLAY_LIMIT {
            self.entries.pop_front();
        }
        self.entries.push_back(entry);
    }

    /// Opens a watch; returns what it missed since then, that instant included.
    pub(crate) fn open(&mut self, token: u64, instance: InstanceId, since: Option<Wall>) -> Vec<RuntimeEvent> {
        let wanted = |entry: &&Entry| {
            since.is_some_and(|since| entry.at >= since) && entry.instance.as_deref() == Some(instance.as_str())
        };
        let missed = self.entries.iter().filter(wanted).filter_map(|entry| entry.event.clone()).collect();
        self.watches.insert(token, instance);
        missed
    }

    pub(crate) fn close(&mut self, token: u64) -> bool {
        self.watches.remove(&token).is_some()
    }

    /// The engine ends: its memory is gone, the watches break. Returns their tokens.
    pub(crate) fn forget(&mut self) -> Vec<u64> {
        self.entries.clear();
        core::mem::take(&mut self.watches).into_keys().collect()
    }
}
