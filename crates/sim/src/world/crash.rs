//! Deaths and starts of the agent.

use std::time::Duration;

use lighterman_backoff::derive;
use lighterman_calls::{ContainerTarget, Request};
use lighterman_engine::{Engine, Event, HostState, SavedState};
use lighterman_ids::{InstanceId, TaskId};
use lighterman_records::Ledger;
use lighterman_turn::Turns;

use super::{
    Checked, World,
    agent::{Agent, Delivery, Sent},
};
use crate::{
    Plant,
    note::Note,
    run::{Failed, FailureKind},
    scenario::{Crashes, Deed, NextStart},
};

impl World {
    /// A point at which the agent may die. `true`: it did.
    pub(super) fn crash_point(&mut self, whereabouts: &'static str) -> Result<bool, Box<Failed>> {
        self.counts.points += 1;
        let dies = match self.scenario.crashes {
            Crashes::Never => false,
            Crashes::At(nth) => nth == self.counts.points,
            Crashes::Sometimes { permille, most } => {
                !self.calm && self.counts.deaths < u64::from(most) && self.dice.chance("crash", permille)
            }
        };
        if dies {
            let down = self.dice.span("down", Duration::from_millis(1), Duration::from_secs(300));
            self.count("crash", || whereabouts.into());
            self.die(down, whereabouts)?;
        }
        Ok(dies)
    }

    /// The agent is gone. What it asked the runtime for takes its course.
    pub(super) fn die(&mut self, down: Duration, whereabouts: &str) -> Checked {
        let Some(agent) = self.agent.take() else { return Ok(()) };
        self.log.line(self.clock.at(), "agent", || format!("dies ({whereabouts})"));
        self.counts.deaths += 1;
        self.has_looked = false;
        let now = self.moment();
        let waiting: Vec<_> = agent.calls.into_iter().collect();
        for (token, sent) in waiting {
            self.note_if_adrift(&sent)?;
            self.model.abandon(now, token);
        }
        if let Some(watch) = agent.watch {
            self.model.unwatch(now, watch.token);
        }
        let lands = self.dice.chance("crash lands", 500);
        self.store.crash(lands);
        self.note_landed()?;
        if self.scenario.plant == Some(Plant::ForgetsCommit) {
            self.store.forget_commit();
        }
        self.start_at = Some(self.clock.at().after(down));
        self.note(&Note::Died)
    }

    /// The agent is started, if that is due.
    pub(super) fn start_if_due(&mut self) -> Checked {
        if self.agent.is_some() || self.start_at.is_none_or(|at| at > self.clock.at()) {
            return Ok(());
        }
        self.start_at = None;
        let (ledger, saved) = self.open_store()?;
        self.count_restored(&saved);
        self.start_on(ledger, saved)?;
        self.tell_what_is_wanted();
        Ok(())
    }

    fn open_store(&mut self) -> Result<(Ledger, SavedState), Box<Failed>> {
        let (entries, witness) = self.store.load();
        let damaged = core::mem::take(&mut self.damaged);
        match Ledger::open(entries, witness) {
            Ok(_) if damaged => {
                let text = "a damaged store was opened as if nothing was wrong".to_string();
                Err(self.failed(FailureKind::Correctness, "damage-shows", text))
            }
            Ok(opened) => Ok(opened),
            Err(error) if damaged => {
                self.log.line(self.clock.at(), "store", || format!("is refused: {error}"));
                self.store.begin_anew();
                self.lost_records = true;
                self.note(&Note::LostRecords)?;
                Ok((Ledger::new(), SavedState::default()))
            }
            Err(error) => Err(self.failed(FailureKind::Correctness, "store-opens", error.to_string())),
        }
    }

    fn start_on(&mut self, ledger: Ledger, mut saved: SavedState) -> Checked {
        match self.scenario.plant {
            Some(Plant::ReusesIds) => saved.host = None,
            Some(Plant::SwapsOwner) => {
                saved.host = saved.host.map(|host| HostState { instance: InstanceId::from_bits(13), ..host });
            }
            _ => {}
        }
        let count = saved.tasks.len();
        let seed = derive(self.scenario.seed, "engine");
        let engine =
            Engine::take_up(self.scenario.host.clone(), self.instance.clone(), saved, seed, self.clock.moment());
        let mut engine = engine.map_err(|error| self.failed(FailureKind::Correctness, "take-up", error.to_string()))?;
        if self.lost_records && self.dice.chance("define", 300) {
            for workload in &self.scenario.tasks {
                engine.define(workload.spec.digest.clone(), workload.spec.definition.clone());
            }
        }
        self.log.line(self.clock.at(), "agent", || format!("starts, with {count} tasks of before"));
        self.agent = Some(Agent::new(Turns::new(engine, ledger)));
        self.note(&Note::Started)
    }

    /// What whoever started the agent wants of it.
    fn tell_what_is_wanted(&mut self) {
        let cleans_up = match self.scenario.next_start {
            NextStart::Resumes => false,
            NextStart::CleansUp => true,
            NextStart::Either => self.dice.chance("next start", 500),
        };
        if self.stopping.is_some() {
            self.stop_all("the run ends");
        } else if cleans_up {
            self.stop_all("its owner is gone");
        } else {
            // What was submitted and got lost on the way is submitted again, unless it was to stop.
            let lost = self.submitted.iter().filter(|task| !self.done_with.contains(task));
            let lost: Vec<_> = lost.copied().collect();
            self.wishes.extend(lost.into_iter().map(Deed::Submit));
        }
        for deed in core::mem::take(&mut self.wishes) {
            self.wish(&deed);
        }
    }

    /// Every task the agent knows is to stop and to be cleaned up.
    pub(super) fn stop_all(&mut self, reason: &str) {
        let Some(agent) = &self.agent else { return };
        let tasks: Vec<_> = agent.turns.engine().tasks().map(|task| task.id().clone()).collect();
        tasks.iter().for_each(|task| self.stop_one(task, reason));
    }

    pub(super) fn stop_one(&mut self, task: &TaskId, reason: &str) {
        self.tell(Event::Stop { task: task.clone(), reason: Some(reason.into()), force: false });
        self.tell(Event::CleanUp(task.clone()));
    }

    pub(super) fn tell(&mut self, event: Event) {
        let at = self.clock.at();
        if let Some(agent) = &mut self.agent {
            agent.deliver(at, Delivery::Wish(event));
        }
    }

    /// Nobody waits for the call any more. If it is a start that the runtime may not have seen yet, it may still
    /// take effect.
    pub(super) fn note_if_adrift(&mut self, sent: &Sent) -> Checked {
        let may_come = sent.arrives.is_some_and(|at| at >= self.clock.at() || !self.model.is_up());
        match &sent.call.request {
            Request::Start(ContainerTarget::Id(id)) if may_come => self.note(&Note::StartAdrift(Some(id))),
            Request::Start(ContainerTarget::Name(name)) if may_come => {
                let id = self.truth.named(name).map(|(id, _)| id.clone());
                self.note(&Note::StartAdrift(id.as_ref()))
            }
            _ => Ok(()),
        }
    }
}
