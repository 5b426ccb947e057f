//! The lane of runtime events (design.md R6), and the executor that fills it.

use std::{
    collections::VecDeque,
    mem,
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures_util::StreamExt;
use lighterman_calls::{Lost, LostCause, Watched};
use lighterman_contracts::ContainerRuntime;
use lighterman_engine::Event;
use lighterman_ids::{ActionId, InstanceId, Wall};
use tokio::sync::Notify;

use crate::stats::Counters;

/// Runtime events that may wait for a turn. A thousand containers that all end at once report some four
/// events each.
pub const EVENTS: usize = 4_096;

/// A ring: when it is full, all that waits is dropped in favour of one request to look at everything anew.
/// That a stream opened or was lost is kept, since nothing would tell of it again.
#[derive(Debug)]
pub(crate) struct EventLane {
    waiting: Mutex<VecDeque<Event>>,
    arrived: Notify,
    counters: Arc<Counters>,
}

impl EventLane {
    pub(crate) fn new(counters: Arc<Counters>) -> Self {
        Self { waiting: Mutex::default(), arrived: Notify::new(), counters }
    }

    /// Never waits.
    pub(crate) fn push(&self, event: Event) {
        let mut waiting = self.lock();
        if waiting.len() >= EVENTS && is_droppable(&event) {
            waiting.retain(|event| !is_droppable(event));
            waiting.push_back(Event::EventsDropped);
            self.counters.overflows.add_one();
        } else {
            waiting.push_back(event);
        }
        drop(waiting);
        self.arrived.notify_one();
    }

    /// Everything that waits, oldest first.
    pub(crate) fn take(&self) -> VecDeque<Event> {
        mem::take(&mut *self.lock())
    }

    /// Returns when something waits. Can be cancelled without loss.
    pub(crate) async fn arrived(&self) {
        while self.lock().is_empty() {
            self.arrived.notified().await;
        }
    }

    /// No code that can panic runs under the lock, and a deque is whole after every step.
    fn lock(&self) -> MutexGuard<'_, VecDeque<Event>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a look at everything makes up for; an earlier request to do so is one with the later.
const fn is_droppable(event: &Event) -> bool {
    matches!(event, Event::Runtime { .. } | Event::EventsDropped)
}

/// What to watch.
#[derive(Debug)]
pub(crate) struct Watch {
    pub(crate) id: ActionId,
    pub(crate) instance: InstanceId,
    pub(crate) since: Option<Wall>,
    pub(crate) limit: Duration,
}

/// Carries what the stream tells into the lane, to the end of the stream.
pub(crate) async fn forward<R: ContainerRuntime>(runtime: Arc<R>, watch: Watch, lane: Arc<EventLane>) {
    let id = watch.id;
    let mut farewell = Farewell { id, lane: &lane, lost: None };
    let mut stream = pin!(runtime.watch(&watch.instance, watch.since, watch.limit));
    while let Some(item) = stream.next().await {
        match item {
            Watched::Opened => lane.push(Event::WatchOpened(id)),
            Watched::Event(event) => lane.push(Event::Runtime { id, event: *event }),
            Watched::Lost(lost) => {
                farewell.lost = Some(lost);
                return;
            }
        }
    }
}

/// Tells that the stream is lost however it ends, a panic of the adapter included: the core waits for
/// nothing else. Of a stream that was replaced nobody takes notice any more.
struct Farewell<'a> {
    id: ActionId,
    lane: &'a EventLane,
    lost: Option<Lost>,
}

impl Drop for Farewell<'_> {
    fn drop(&mut self) {
        let silent = || Lost::new(LostCause::ConnectionLost, "the event stream ended without a word");
        let lost = self.lost.take().unwrap_or_else(silent);
        self.lane.push(Event::WatchLost { id: self.id, lost });
    }
}

#[cfg(test)]
mod tests {
    use lighterman_calls::{EventAction, RuntimeEvent};
    use lighterman_ids::{ActionIds, RuntimeId};

    use super::*;

    fn die(id: ActionId, at: i64) -> Event {
        let container = RuntimeId::parse(&"a".repeat(64)).unwrap();
        Event::Runtime { id, event: RuntimeEvent { at: Wall(at), container, action: EventAction::Stop } }
    }

    fn lane() -> (EventLane, Arc<Counters>) {
        let counters = Arc::new(Counters::default());
        (EventLane::new(Arc::clone(&counters)), counters)
    }

    #[test]
    fn a_full_ring_drops_all_and_asks_once_to_look_anew() {
        let (lane, counters) = lane();
        let id = ActionIds::new(1).next_id();
        lane.push(Event::WatchOpened(id));
        let mut at = 0;
        // It runs over three times before anybody looks.
        while counters.read().overflows < 3 {
            at += 1;
            lane.push(die(id, at));
            assert!(lane.lock().len() <= EVENTS);
        }
        lane.push(die(id, at + 1));
        let expected = [Event::WatchOpened(id), Event::EventsDropped, die(id, at + 1)];
        assert_eq!(lane.take(), expected);
        assert!(lane.take().is_empty());
    }

    #[test]
    fn a_full_ring_still_takes_the_end_of_the_stream() {
        let (lane, counters) = lane();
        let id = ActionIds::new(1).next_id();
        for at in 0..EVENTS {
            lane.push(die(id, i64::try_from(at).unwrap()));
        }
        let lost = Lost::new(LostCause::ConnectionLost, "closed");
        lane.push(Event::WatchLost { id, lost: lost.clone() });
        assert_eq!(counters.read().overflows, 0);
        let taken = lane.take();
        assert_eq!((taken.len(), taken.back()), (EVENTS + 1, Some(&Event::WatchLost { id, lost })));
    }
}
