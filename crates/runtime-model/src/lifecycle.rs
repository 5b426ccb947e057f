//! A container's way: start, signals, the end of its process, removal.

use alloc::{boxed::Box, format, string::String, vec::Vec};
use core::time::Duration;

use lighterman_calls::{
    Answer, EventAction, ExitCode, HealthWord, Outcome, PortBinding, PortKey, PublishedPort, Refusal, Request, Signal,
};
use lighterman_ids::{Moment, Mono, RuntimeId};

use crate::{
    container::{Container, End, Removal, Run, State},
    flight::{Ask, Force, Stage},
    model::{Model, Output, RunKey, Timer, wall_at},
    outage::Power,
    ports::{ANY, Holder},
    process::{Happening, OutputStream, Process},
    text,
};

/// A process begins this long before the engine puts down its start: a very short one ends before it.
const HEAD_START: Duration = Duration::from_millis(1);
/// Longest `NAME=value` that the kernel hands to a program, its final zero included (128 KiB).
const LONGEST_VARIABLE: usize = 131_072;
/// State.ExitCode of a start that failed before anything ran, where no other code stands already.
const NOT_STARTED: ExitCode = 128;
/// State.ExitCode of a start whose program is missing.
const NOT_FOUND: ExitCode = 127;

impl Model {
    pub(crate) fn start_arrives(&mut self, token: u64, id: &RuntimeId) {
        let latencies = self.settings.latencies;
        let Some(container) = self.containers.get_mut(id) else { return };
        if container.removal == Removal::InProgress || container.state == State::Dead {
            let refusal = text::marked_for_removal();
            return self.reply_after_look(token, Answer::Start(Outcome::Refused(refusal)));
        }
        if container.is_running() {
            return self.reply_after_look(token, Answer::Start(Outcome::Done(())));
        }
        container.lock.held = true;
        let refused = self.prepare(id).err().map(Box::new);
        let time = if refused.is_none() { latencies.start } else { latencies.start_refused };
        self.work_as(token, time, Stage::Starting(id.clone(), refused));
    }

    /// What a start does before it makes a process: takes the ports, or says why not.
    fn prepare(&mut self, id: &RuntimeId) -> Result<(), Refusal> {
        let Some(container) = self.containers.get(id) else { return Ok(()) };
        self.networks_ready(container)?;
        let published = self.take_ports(id)?;
        if let Some(container) = self.containers.get_mut(id) {
            container.ports = published;
        }
        let Some(container) = self.containers.get(id) else { return Ok(()) };
        known_user(container)?;
        self.namespaces_and_volumes_ready(container)
    }

    fn take_ports(&mut self, id: &RuntimeId) -> Result<Vec<PublishedPort>, Refusal> {
        let Some(container) = self.containers.get(id) else { return Ok(Vec::new()) };
        let holder = Holder::Container(id.clone());
        let mut all = Vec::new();
        for (key, binding) in bindings(container) {
            let ip = binding.host_ip.as_deref().unwrap_or(ANY);
            let port = binding.host_port.unwrap_or_else(|| self.ports.pick(key.protocol));
            let refusal = match self.ports.in_the_way(key.protocol, port, ip) {
                None => {
                    self.ports.take(key.protocol, port, ip, holder.clone());
                    all.extend(published(*key, binding, port));
                    continue;
                }
                Some(Holder::Container(_)) => text::port_allocated(container.name(), id, ip, port),
                Some(Holder::Host) => text::port_taken(container.name(), id, *key, ip, port),
            };
            self.ports.release(&holder);
            return Err(refusal);
        }
        Ok(all)
    }

    pub(crate) fn started(&mut self, token: u64, id: &RuntimeId, refused: Option<Refusal>) {
        let result = match refused {
            Some(refusal) => Err((refusal, None)),
            None => self.begin_run(id),
        };
        let outcome = match result {
            Ok(first) => {
                self.run_begins(id, first);
                if self.flights.get(&token).is_some_and(|flight| matches!(flight.ask, Ask::Force(..))) {
                    self.event(id, EventAction::Restart);
                }
                Outcome::Done(())
            }
            Err((refusal, code)) => {
                self.start_failed(id, &refusal, code);
                Outcome::Refused(refusal)
            }
        };
        self.unlock(id);
        self.reply(token, Answer::Start(outcome));
    }

    /// Nothing but the state tells of a failed start: there is no event (seen on 20.10).
    fn start_failed(&mut self, id: &RuntimeId, refusal: &Refusal, code: Option<ExitCode>) {
        self.ports.release(&Holder::Container(id.clone()));
        let Some(container) = self.containers.get_mut(id) else { return };
        container.ports.clear();
        container.error.clone_from(&refusal.text);
        match code {
            Some(code) => container.exit_code = code,
            None if container.exit_code == 0 => container.exit_code = NOT_STARTED,
            None => {}
        }
    }

    /// Makes the process; returns what it did at once. The code is the one that a missing program leaves.
    fn begin_run(&mut self, id: &RuntimeId) -> Result<Vec<Happening>, (Refusal, Option<ExitCode>)> {
        let Moment { mono, wall, .. } = self.clock;
        let head_start = HEAD_START.min(self.settings.latencies.start);
        let Some(container) = self.containers.get_mut(id) else { return Ok(Vec::new()) };
        // The engine takes 0 for its default.
        let shares = container.request.host.cpu_shares;
        if shares != 0 && !(2..=262_144).contains(&shares) {
            return Err((text::cpu_shares(shares), None));
        }
        let program = container.command.first().cloned().unwrap_or_default();
        let Some(kind) = container.programs.get(&program).copied() else {
            return Err((text::missing_program(&program), Some(NOT_FOUND)));
        };
        let began = Mono(mono.0.saturating_sub(u64::try_from(head_start.as_nanos()).unwrap_or(0)));
        let (process, first) = if container.world.env.iter().any(|line| line.len() >= LONGEST_VARIABLE) {
            let line = format!("exec {program}: argument list too long\n");
            (Process::stillborn(1, began), Some(Happening::Wrote(OutputStream::Stderr, line)))
        } else {
            Process::new(kind, container.command.get(1..).unwrap_or_default(), began)
        };
        container.needs.mounted();
        container.state = State::Running(Run { process, end: None, out_of_memory: false });
        container.runs += 1;
        container.started_at = Some(wall);
        container.exit_code = 0;
        container.error = String::new();
        Ok(first.into_iter().collect())
    }

    fn run_begins(&mut self, id: &RuntimeId, first: Vec<Happening>) {
        let key = self.run_key(id);
        self.other_events(1); // network connect
        self.event(id, EventAction::Start);
        self.watch_health(&key);
        self.happened(&key, first);
        self.schedule_wake(&key);
    }

    pub(crate) fn run_key(&self, id: &RuntimeId) -> RunKey {
        let run = self.containers.get(id).map_or(0, |container| container.runs);
        RunKey { container: id.clone(), run }
    }

    fn schedule_wake(&mut self, key: &RunKey) {
        let Some(Container { state: State::Running(run), world, .. }) = self.of_run(key) else { return };
        if let Some(at) = run.process.wakes_at(world) {
            self.timer_at(at, Timer::Wake(key.clone()));
        }
    }

    /// The process does what is due.
    pub(crate) fn wake(&mut self, key: &RunKey) {
        let now = self.clock.mono;
        let Some(Container { state: State::Running(run), world, .. }) = self.of_run(key) else { return };
        let happenings = run.process.run(now, world);
        self.happened(key, happenings);
        self.schedule_wake(key);
    }

    fn happened(&mut self, key: &RunKey, happenings: Vec<Happening>) {
        for happening in happenings {
            match happening {
                Happening::Wrote(stream, text) => {
                    let (container, at) = (key.container.clone(), self.clock.wall);
                    self.outputs.push_back(Output::Written { container, at, stream, text });
                }
                Happening::OutOfMemory => self.out_of_memory(key),
                Happening::Ended(at, code) => self.process_ended(key, at, code),
            }
        }
    }

    /// The kernel killed a process inside; an engine that is away learns nothing of it.
    pub(crate) fn out_of_memory(&mut self, key: &RunKey) {
        if self.power == Power::Down || self.misses_oom {
            return;
        }
        if let Some(Container { state: State::Running(run), .. }) = self.of_run(key) {
            run.out_of_memory = true;
            self.event(&key.container, EventAction::Oom);
        }
    }

    fn process_ended(&mut self, key: &RunKey, at: Mono, code: ExitCode) {
        let end = End { at: Some(wall_at(self.clock, at)), code };
        let Some(Container { state: State::Running(run), .. }) = self.of_run(key) else { return };
        run.end = Some(end);
        if self.power != Power::Down {
            self.timer(self.settings.latencies.notice, Timer::Notice(key.clone()));
        }
        self.namespace_ends(&key.container);
    }

    /// With the first process of a namespace the kernel ends all others in it.
    fn namespace_ends(&mut self, owner: &RuntimeId) {
        let joined = |container: &&Container| container.needs.pid() == Some(owner) && container.is_alive();
        let joined: Vec<RuntimeId> = self.containers.values().filter(joined).map(|c| c.id.clone()).collect();
        for id in joined {
            let (key, now) = (self.run_key(&id), self.clock.mono);
            let Some(Container { state: State::Running(run), .. }) = self.of_run(&key) else { continue };
            let end = run.process.kill(now);
            self.happened(&key, end.into_iter().collect());
        }
    }

    /// A signal reaches the process, if there still is one.
    pub(crate) fn signal(&mut self, id: &RuntimeId, signal: Signal) {
        let key = self.run_key(id);
        let now = self.clock.mono;
        let Some(Container { state: State::Running(run), world, .. }) = self.of_run(&key) else { return };
        if run.end.is_some() {
            return;
        }
        let end = match signal {
            Signal::Term => {
                run.process.terminate(now, world);
                None
            }
            Signal::Kill => run.process.kill(now),
        };
        self.other_events(1); // kill
        self.happened(&key, end.into_iter().collect());
        self.wake(&key);
    }

    /// The engine takes note of the end: `die` is out, what is shown follows a little later (seen on 20.10).
    pub(crate) fn notice(&mut self, key: &RunKey) {
        let Some(container) = self.of_run(key) else { return };
        let Some(End { code, .. }) = container.run().and_then(|run| run.end) else { return };
        container.lock.held = true;
        self.event(&key.container, EventAction::Die { exit_code: Some(code) });
        self.other_events(1); // network disconnect
        self.timer(self.settings.latencies.settle, Timer::Settle(key.clone()));
    }

    pub(crate) fn settle(&mut self, key: &RunKey) {
        self.run_over(key);
        if let Some(container) = self.containers.get_mut(&key.container) {
            container.lock.held = false;
        }
        self.sweep_goes_on(&key.container);
        self.end_awaited(&key.container);
        self.next_in_line(&key.container);
    }

    /// The state after a run whose end is known.
    pub(crate) fn run_over(&mut self, key: &RunKey) {
        let now = self.clock.wall;
        let Some(container) = self.of_run(key) else { return };
        let Some(run) = container.run() else { return };
        let (Some(End { at, code }), oom) = (run.end, run.out_of_memory) else { return };
        container.state = State::Exited;
        container.exit_code = code;
        container.finished_at = Some(at.unwrap_or(now));
        container.oom_killed = oom;
        container.ports.clear();
        if let Some(health) = container.health.as_mut() {
            // Without an event, and whatever it was (seen on 20.10).
            health.word = HealthWord::Unhealthy;
        }
        self.ports.release(&Holder::Container(key.container.clone()));
        self.timers.retain(|_, timer| timer.run() != Some(key));
    }

    /// Calls that waited for the end.
    fn end_awaited(&mut self, id: &RuntimeId) {
        let awaits = |stage: &Stage| matches!(stage, Stage::AwaitingEnd(awaited) if awaited == id);
        let tokens = self.flights.iter().filter(|(_, flight)| awaits(&flight.stage)).map(|(token, _)| *token);
        for token in tokens.collect::<Vec<_>>() {
            let Some(flight) = self.flights.get(&token) else { continue };
            match &flight.ask {
                Ask::Call(Request::Stop { .. }) => {
                    self.event(id, EventAction::Stop);
                    self.reply(token, Answer::Stop(Outcome::Done(())));
                }
                Ask::Call(Request::Kill { .. }) => self.reply(token, Answer::Kill(Outcome::Done(()))),
                // Two restarts at once take turns.
                Ask::Force(force, _) => {
                    if matches!(force, Force::Restart { .. }) {
                        self.event(id, EventAction::Stop);
                    }
                    self.container_next(token, id);
                }
                Ask::Call(_) | Ask::Watch { .. } => {}
            }
        }
    }

    pub(crate) fn force_arrives(&mut self, token: u64, id: &RuntimeId, force: Force) {
        if self.containers.get(id).is_some_and(Container::is_running) {
            if let Some(flight) = self.flights.get_mut(&token) {
                flight.stage = Stage::AwaitingEnd(id.clone());
            }
            return match force {
                Force::Remove => self.signal(id, Signal::Kill),
                Force::Restart { grace } => self.terminate(token, id, grace),
            };
        }
        match force {
            Force::Remove => self.removed(token, id),
            Force::Restart { .. } => self.start_arrives(token, id),
        }
    }

    /// The removal's work is done: the container is gone, unless something holds on to it.
    pub(crate) fn removed(&mut self, token: u64, id: &RuntimeId) {
        let Some(container) = self.containers.get_mut(id) else { return self.reply_gone(token) };
        if container.wedged {
            container.state = State::Dead;
            container.removal = Removal::None;
            return self.reply(token, Answer::Remove(Outcome::Refused(text::cannot_remove(id))));
        }
        self.event(id, EventAction::Destroy);
        if let Some(mut container) = self.containers.remove(id) {
            self.names.remove(container.name());
            for waiting in core::mem::take(&mut container.lock.waiting) {
                self.container_next(waiting, id);
            }
        }
        self.reply(token, Answer::Remove(Outcome::Done(())));
    }
}

/// The images of the model know nobody by name.
fn known_user(container: &Container) -> Result<(), Refusal> {
    let user = container.request.config.user.as_deref().unwrap_or_default();
    let user = user.split(':').next().unwrap_or_default();
    let is_number = user.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { Ok(()) } else { Err(text::no_such_user(user)) }
}

/// Bindings that publish something: those whose port is exposed too, on a network of the container's own.
fn bindings(container: &Container) -> impl Iterator<Item = &(PortKey, PortBinding)> {
    let (request, own) = (&container.request, container.has_bridge());
    request.host.port_bindings.iter().filter(move |(key, _)| own && request.config.exposed_ports.contains(key))
}

/// One entry per bind address: all addresses are shown once per family.
fn published(container: PortKey, binding: &PortBinding, host_port: u16) -> Vec<PublishedPort> {
    let ips = match binding.host_ip.as_deref() {
        Some(ip) => Vec::from([ip]),
        None => Vec::from([ANY, "::"]),
    };
    ips.into_iter().map(|ip| PublishedPort { container, host_ip: ip.into(), host_port }).collect()
}
