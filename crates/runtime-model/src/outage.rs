//! The engine goes away, and comes back.
//!
//! What holds for 20.10.24, each seen on an engine of its own:
//! - Killed, it leaves every process running. Calls and streams break; its socket refuses connections.
//! - When it comes back it takes connections at once, and serves none of them until it is done with what it
//!   found: without `live-restore` it stops every container that still runs (SIGTERM, 10 s, SIGKILL). Its memory of
//!   events is gone; a process that ended while it was away left its exit code and its time, and no event.
//! - Shut down politely, it takes no new connections, stops every container in the same way, tells of it, and goes.
//! - After a power cut containers that ran have exit code 255 and ended when the engine came back; a start or a
//!   create that was cut off never happened.

use alloc::{collections::BTreeSet, string::ToString, vec::Vec};
use core::time::Duration;

use lighterman_calls::{EventAction, ExitCode, Lost, LostCause, Request, Signal, Watched};
use lighterman_ids::{Moment, RuntimeId};

use crate::{
    container::{End, Lock, Removal, State},
    flight::{Ask, Stage, words},
    model::{Model, Output, RunKey, Timer},
    ports::Holder,
};

/// What the engine grants a container when it stops it of its own accord.
const PATIENCE: Duration = Duration::from_secs(10);
/// Exit code of a container that went down with the host.
const POWER_CUT: ExitCode = 255;

/// How the engine goes away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Failure {
    /// It is killed or crashes.
    Crash,
    /// It is told to end.
    Shutdown,
    /// The host loses its power and starts again: every process is gone.
    PowerCut,
}

/// How the engine is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Power {
    Up,
    /// Shuts down, for a start after that.
    Leaving,
    Down,
    /// Came back and puts things in order.
    Restoring,
}

impl Model {
    /// The engine goes away in this manner, and is started again `away` after it is gone.
    ///
    /// Nothing happens when it is away already.
    pub fn restart_engine(&mut self, now: Moment, failure: Failure, away: Duration) {
        self.advance(now);
        match (failure, &self.power) {
            (_, Power::Down | Power::Leaving) => return,
            (Failure::Crash, Power::Up | Power::Restoring) => self.engine_ends(away),
            (Failure::PowerCut, Power::Up | Power::Restoring) => {
                self.engine_ends(away);
                self.processes_vanish();
            }
            (Failure::Shutdown, Power::Up | Power::Restoring) => self.engine_leaves(away),
        }
        self.advance(self.clock);
    }

    /// The host starts again: another boot, whose monotonic clock `now` counts on. The engine is there after `away`.
    pub fn reboot(&mut self, now: Moment, away: Duration) {
        self.engine_ends(away);
        self.processes_vanish();
        self.timers.clear();
        self.clock = now;
        self.timer(away, Timer::Return);
    }

    fn engine_ends(&mut self, away: Duration) {
        self.power = Power::Down;
        self.sweep.clear();
        self.timers.retain(|_, timer| timer.outlives_engine());
        let cause = LostCause::ConnectionLost;
        for (token, flight) in core::mem::take(&mut self.flights) {
            match flight.stage {
                Stage::Creating(_) => self.create_undone(&flight.ask),
                Stage::Travelling
                | Stage::AtDoor
                | Stage::Queued
                | Stage::Working
                | Stage::Starting(..)
                | Stage::Removing(_)
                | Stage::AwaitingEnd(_)
                | Stage::Pulling { .. }
                | Stage::Answering(_) => {}
            }
            if flight.listening {
                self.tell_lost(token, &flight.ask, Lost::new(cause, words(cause)));
            }
        }
        for token in self.journal.forget() {
            let lost = Lost::new(cause, "the event stream ended".to_string());
            self.outputs.push_back(Output::Watched { token, item: Watched::Lost(lost) });
        }
        for container in self.containers.values_mut() {
            container.lock = Lock::default();
            container.removal = Removal::None;
            if !container.is_running() {
                // A start that was cut off.
                container.ports.clear();
                self.ports.release(&Holder::Container(container.id.clone()));
            }
        }
        self.timer(away, Timer::Return);
    }

    fn create_undone(&mut self, ask: &Ask) {
        if let Ask::Call(Request::Create(request)) = ask {
            self.names.remove(&request.name);
        }
    }

    fn processes_vanish(&mut self) {
        self.timers.retain(|_, timer| timer.run().is_none());
        for container in self.containers.values_mut() {
            if let State::Running(run) = &mut container.state {
                run.end = Some(End { at: None, code: POWER_CUT });
            }
        }
    }

    fn engine_leaves(&mut self, away: Duration) {
        self.power = Power::Leaving;
        self.away = away;
        if !self.settings.live_restore {
            self.stop_all();
        }
        self.swept();
    }

    /// SIGTERM to whatever runs; `sweep` is what is still to end.
    fn stop_all(&mut self) {
        let running: BTreeSet<RuntimeId> =
            self.containers.values().filter(|container| container.is_running()).map(|c| c.id.clone()).collect();
        self.sweep.clone_from(&running);
        for id in running {
            let key = self.run_key(&id);
            self.signal(&id, Signal::Term);
            self.timer(PATIENCE, Timer::Patience(key));
        }
    }

    pub(crate) fn patience_over(&mut self, key: &RunKey) {
        if self.sweep.contains(&key.container) {
            self.signal(&key.container, Signal::Kill);
        }
    }

    /// A container has ended; the engine may have waited for it.
    pub(crate) fn sweep_goes_on(&mut self, id: &RuntimeId) {
        if self.sweep.remove(id) {
            self.event(id, EventAction::Stop);
            self.swept();
        }
    }

    fn swept(&mut self) {
        if !self.sweep.is_empty() {
            return;
        }
        match self.power {
            Power::Leaving => self.engine_ends(self.away),
            Power::Restoring => self.engine_serves(),
            Power::Up | Power::Down => {}
        }
    }

    pub(crate) fn engine_returns(&mut self) {
        self.power = Power::Restoring;
        let running: Vec<RuntimeId> =
            self.containers.values().filter(|container| container.is_running()).map(|c| c.id.clone()).collect();
        for id in running {
            self.find_running(&id);
        }
        if !self.settings.live_restore {
            self.stop_all();
        }
        self.swept();
    }

    /// What the engine finds of a container that it had down as running.
    fn find_running(&mut self, id: &RuntimeId) {
        let key = self.run_key(id);
        if self.of_run(&key).is_some_and(|container| container.is_alive()) {
            self.watch_health(&key);
        } else {
            self.run_over(&key);
        }
    }

    fn engine_serves(&mut self) {
        self.power = Power::Up;
        let waiting = self.flights.iter().filter(|(_, flight)| flight.stage == Stage::AtDoor);
        let waiting: Vec<u64> = waiting.map(|(token, _)| *token).collect();
        for token in waiting {
            self.arrive(token);
        }
    }
}
