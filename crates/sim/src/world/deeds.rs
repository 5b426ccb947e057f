//! What others do: users, the operator, the host.

use std::time::Duration;

use lighterman_calls::{ContainerTarget, Protocol, Request};
use lighterman_engine::Event;
use lighterman_ids::{ImageRef, RuntimeId};

use super::{Checked, World};
use crate::{
    Plant,
    note::Note,
    scenario::{Crashes, Deed},
    weather::Weather,
    workload::{CONTESTED_PORT, LOCAL},
};

/// How long an agent that was told to end waits for its calls (engine.md 3.12).
const LAST_WAIT: Duration = Duration::from_secs(5);

impl World {
    /// Everything whose time has come.
    pub(super) fn do_deeds(&mut self) -> Checked {
        self.start_if_due()?;
        while self.deeds.front().is_some_and(|(at, _)| *at <= self.clock.at()) {
            let Some((_, deed)) = self.deeds.pop_front() else { break };
            self.log.line(self.clock.at(), "world", || format!("{deed:?}"));
            self.count("deed", || format!("{deed:?}").split([' ', '(']).next().unwrap_or_default().to_string());
            self.happens(deed)?;
        }
        Ok(())
    }

    fn happens(&mut self, deed: Deed) -> Checked {
        let now = self.moment();
        match deed {
            Deed::Submit(_) | Deed::Stop { .. } | Deed::CleanUp(_) => self.wish(&deed),
            Deed::Kill(task) => {
                if let Some(target) = self.container_of(task) {
                    self.mark(&target, |marks| marks.killed = true);
                    self.model.external_kill(now, &target);
                }
            }
            Deed::Remove(task) => {
                if let Some(target) = self.container_of(task)
                    && self.model.external_remove(now, &target)
                {
                    self.mark(&target, |marks| marks.removed = true);
                }
            }
            Deed::Restart(task) => {
                if let Some(target) = self.container_of(task)
                    && self.model.external_restart(now, &target)
                {
                    self.mark(&target, |marks| marks.restarts += 1);
                }
            }
            Deed::KillChild(task) => {
                if let Some(target) = self.container_of(task) {
                    self.model.external_oom(now, &target);
                }
            }
            Deed::Health(task, code) => {
                if let Some(target) = self.container_of(task) {
                    self.model.force_health(&target, code);
                }
            }
            Deed::Copy(task) => {
                if let Some(target) = self.container_of(task) {
                    self.copy(&target);
                }
            }
            Deed::EndOutput(task) => {
                let task = self.scenario.tasks[task].spec.id.clone();
                self.output_ends(&task);
            }
            Deed::Wedge(task, wedged) => {
                if let Some(target) = self.container_of(task) {
                    self.model.wedge(&target, wedged);
                }
            }
            Deed::LoseImage => {
                self.model.remove_image(&ImageRef::parse(LOCAL).expect("the name of our image"));
            }
            Deed::HoldPort(true) => {
                self.model.occupy_port(Protocol::Tcp, CONTESTED_PORT);
            }
            Deed::HoldPort(false) => self.model.free_port(Protocol::Tcp, CONTESTED_PORT),
            Deed::EndRuntime(failure, away) => {
                self.truth.sweep();
                self.model.restart_engine(now, failure, away);
            }
            Deed::Reboot { runtime, agent } => self.reboot(runtime, agent)?,
            Deed::KillAgent(down) => self.die(down, "is killed")?,
            Deed::ShutDown(down) => self.shut_down(down),
            Deed::DamageStore(damage, down) => {
                self.die(down, "is killed")?;
                let bits = self.dice.bits("damage");
                let damaged = match self.scenario.plant {
                    // Twice the same would mend it.
                    _ if self.damaged => true,
                    Some(Plant::OverlooksDamage) => true,
                    _ => self.store.damage(damage, bits),
                };
                self.damaged |= damaged && self.scenario.plant != Some(Plant::HidesDamage);
                self.damaged &= !self.store.looks_new();
            }
            Deed::FailStore { lasts, lands } => self.store_fails = Some((self.clock.at().after(lasts), lands)),
            Deed::BreakStream(cause) => self.break_stream(cause),
            Deed::OverflowEvents => self.overflow_events(),
            Deed::StepWall(nanos) => self.clock.step_wall(nanos),
            Deed::StartForeigner(name) => {
                if self.truth.named(&name).is_some_and(|(_, real)| real.task().is_none() && real.starts == 0) {
                    let token = self.token();
                    self.model.begin(now, token, Request::Start(ContainerTarget::Name(name)));
                }
            }
            Deed::Calm => self.calm_down(),
            Deed::Settle => self.settle()?,
            Deed::StopAll => {
                self.stopping = Some(self.clock.at());
                self.stop_all("the run ends");
            }
        }
        Ok(())
    }

    /// A user wants something of the agent; if it is not there, of the next.
    pub(super) fn wish(&mut self, deed: &Deed) {
        if self.agent.is_none() {
            return self.wishes.push(deed.clone());
        }
        let (task, event) = match *deed {
            Deed::Submit(task) if self.stopping.is_some() || self.done_with.contains(&task) => return,
            Deed::Submit(task) => {
                self.submitted.insert(task);
                return self.tell(Event::Submit(Box::new(self.scenario.tasks[task].spec.clone())));
            }
            Deed::Stop { task, force } => {
                if self.submitted.contains(&task) {
                    self.done_with.insert(task);
                }
                let reason = Some("stopped by the user".into());
                (task, Event::Stop { task: self.scenario.tasks[task].spec.id.clone(), reason, force })
            }
            Deed::CleanUp(task) => (task, Event::CleanUp(self.scenario.tasks[task].spec.id.clone())),
            _ => return,
        };
        if self.submitted.contains(&task) {
            self.tell(event);
        }
    }

    fn container_of(&self, task: usize) -> Option<ContainerTarget> {
        let task = &self.scenario.tasks.get(task)?.spec.id;
        let there = self.truth.of_task(task).find(|(_, real)| !real.gone);
        there.map(|(id, _)| ContainerTarget::Id(id.clone()))
    }

    fn mark(&mut self, target: &ContainerTarget, mark: impl FnOnce(&mut crate::truth::Marks)) {
        if let ContainerTarget::Id(id) = target {
            self.truth.mark(id, mark);
        }
    }

    fn reboot(&mut self, runtime: Duration, agent: Duration) -> Checked {
        self.die(agent, "goes down with the host")?;
        self.truth.sweep();
        self.clock.reboot();
        self.model.reboot(self.clock.moment(), runtime);
        self.start_at = Some(self.clock.at().after(agent));
        Ok(())
    }

    fn shut_down(&mut self, down: Duration) {
        let latest = self.clock.at().after(LAST_WAIT);
        if let Some(agent) = self.agent.as_mut().filter(|agent| agent.closing.is_none()) {
            agent.closing = Some((latest, down));
            self.tell(Event::Shutdown);
        }
    }

    fn calm_down(&mut self) {
        self.calm = true;
        self.scenario.weather = Weather { overlong: self.scenario.weather.overlong, ..Weather::CLEAR };
        if matches!(self.scenario.crashes, Crashes::Sometimes { .. }) {
            self.scenario.crashes = Crashes::Never;
        }
        self.store_fails = None;
        self.model.free_port(Protocol::Tcp, CONTESTED_PORT);
        let there: Vec<RuntimeId> = self.truth.ours().map(|(id, _)| id.clone()).collect();
        for id in there {
            let target = ContainerTarget::Id(id);
            self.model.wedge(&target, false);
            self.model.force_health(&target, None);
        }
    }

    fn settle(&mut self) -> Checked {
        if self.agent.as_ref().is_some_and(|agent| agent.closing.is_none()) {
            self.note(&Note::Settled)?;
        }
        Ok(())
    }
}
