//! The event stream between runtime and agent: late, doubled, overtaken, lost.

use std::time::Duration;

use lighterman_calls::{EventAction, Lost, LostCause, RuntimeEvent, Watched};
use lighterman_engine::Event;
use lighterman_ids::{ActionId, RuntimeId, Wall};

use super::{
    World,
    agent::{Delivery, Watch},
};

impl World {
    /// The agent opens a stream.
    pub(super) fn open_watch(&mut self, id: ActionId, since: Option<Wall>, limit: Duration) {
        let (now, at, token) = (self.moment(), self.clock.at(), self.token());
        let fails = self.dice.chance("watch", self.scenario.weather.watch_fails);
        let Some(agent) = &mut self.agent else { return };
        agent.watch = Some(Watch { id, token, opened: false, gives_up_at: at.after(limit), last: at });
        if !fails {
            return self.model.watch(now, token, self.instance.clone(), since);
        }
        self.count("stream", || "does not open".into());
        if self.dice.chance("watch", 500) {
            self.lose_watch(Lost::new(LostCause::Garbled, "simulated: no stream of events"));
        }
    }

    /// A stream that does not open in time is given up.
    pub(super) fn give_up_on_watch(&mut self) {
        let (now, at) = (self.moment(), self.clock.at());
        let Some(watch) = self.agent.as_ref().and_then(|agent| agent.watch.as_ref()) else { return };
        if watch.opened || watch.gives_up_at > at {
            return;
        }
        let cause = LostCause::TimedOut(self.scenario.host.connect_limit);
        self.model.unwatch(now, watch.token);
        self.lose_watch(Lost::new(cause, "the event stream did not open in time"));
    }

    /// Something comes out of a watch of the model.
    pub(super) fn on_watched(&mut self, token: u64, item: Watched) {
        let at = self.clock.at();
        let Some(watch) = self.agent.as_mut().and_then(|agent| agent.watch.as_mut()) else { return };
        if watch.token != token {
            return;
        }
        match item {
            Watched::Opened => {
                watch.opened = true;
                let (id, last) = (watch.id, watch.last.max(at));
                self.deliver(last, Delivery::Opened(id));
            }
            Watched::Event(event) => self.on_streamed(*event),
            Watched::Lost(lost) => self.lose_watch(lost),
        }
    }

    fn deliver(&mut self, at: crate::At, delivery: Delivery) {
        if let Some(agent) = &mut self.agent {
            agent.deliver(at, delivery);
        }
    }

    fn on_streamed(&mut self, event: RuntimeEvent) {
        let weather = self.scenario.weather;
        let deaf = self.scenario.plant == Some(crate::Plant::IsDeaf);
        if deaf || weather.events_silent || self.dice.chance("event dropped", weather.event_dropped) {
            return self.count("event", || "dropped".into());
        }
        if self.dice.chance("stream breaks", weather.stream_breaks) {
            self.count("stream", || "breaks at an event".into());
            return self.break_stream(LostCause::ConnectionLost);
        }
        let at = self.clock.at();
        let late = self.dice.chance("event late", weather.event_late);
        let swapped = self.dice.chance("event swapped", weather.event_swapped);
        let doubled = self.dice.chance("event doubled", weather.event_doubled);
        let wait = if late || swapped {
            self.dice.span("event", Duration::from_millis(1), Duration::from_secs(10))
        } else {
            Duration::ZERO
        };
        self.count("event", || {
            match (late, swapped) {
                (_, true) => "overtaken",
                (true, false) => "late",
                (false, false) => "in time",
            }
            .into()
        });
        let Some(watch) = self.agent.as_mut().and_then(|agent| agent.watch.as_mut()) else { return };
        let (id, arrives) = (watch.id, watch.last.max(at).after(wait));
        if !swapped {
            watch.last = arrives;
        }
        if doubled {
            let again = self.dice.up_to("event", Duration::from_secs(2));
            self.count("event", || "doubled".into());
            self.deliver(arrives.after(again), Delivery::Event { id, event: event.clone() });
        }
        self.deliver(arrives, Delivery::Event { id, event });
    }

    /// The stream breaks under the agent.
    pub(super) fn break_stream(&mut self, cause: LostCause) {
        let now = self.moment();
        if let Some(watch) = self.agent.as_ref().and_then(|agent| agent.watch.as_ref()) {
            let token = watch.token;
            self.model.break_watch(now, token, Lost::new(cause, "simulated: the event stream broke"));
        }
    }

    /// The stream is over; what was under way on it arrives, or does not.
    fn lose_watch(&mut self, lost: Lost) {
        let arrives = self.dice.chance("stream", 500);
        let at = self.clock.at();
        let Some(agent) = &mut self.agent else { return };
        let Some(watch) = agent.watch.take() else { return };
        if !arrives {
            agent.inbox.retain(|_, delivery| !matches!(delivery, Delivery::Event { id, .. } if *id == watch.id));
        }
        let end = if arrives { watch.last.max(at) } else { at };
        agent.deliver(end, Delivery::WatchLost { id: watch.id, lost });
    }

    /// Too many events wait: all are dropped.
    pub(super) fn overflow_events(&mut self) {
        if let Some(agent) = &mut self.agent {
            agent.inbox.retain(|_, delivery| !matches!(delivery, Delivery::Event { .. }));
            self.tell(Event::EventsDropped);
        }
    }

    /// The truth has an ear of its own at the runtime: what is removed at once after its end is seen by nobody else.
    pub(super) fn begin_to_listen(&mut self) {
        let (now, token) = (self.moment(), self.token());
        self.ear = Some(token);
        self.model.watch(now, token, self.instance.clone(), Some(Wall(i64::MIN)));
    }

    /// The output of a container that has ended ends, for whoever reads it.
    fn end_its_output(&mut self, container: &RuntimeId) {
        let task = self.truth.get(container).and_then(|real| real.task().cloned());
        if let Some(task) = task
            && self.dice.chance("output ends", self.scenario.weather.output_ends)
        {
            self.output_ends(&task);
        }
    }

    pub(super) fn hear(&mut self, item: Watched) {
        match item {
            Watched::Opened => {}
            Watched::Event(event) => {
                if let EventAction::Die { exit_code } = event.action {
                    self.look();
                    self.truth.heard_end(&event.container, exit_code);
                    self.end_its_output(&event.container);
                }
            }
            Watched::Lost(_) => self.ear = None,
        }
    }
}
