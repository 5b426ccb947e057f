//! Calls on their way: from the caller to the engine, through it, and back.

use alloc::{
    boxed::Box,
    string::{String, ToString},
    vec::Vec,
};
use core::{cmp::Reverse, time::Duration};

use lighterman_calls::{
    Answer, ContainerTarget, CreateRequest, Created, EventAction, Lost, LostCause, Outcome, Refusal, Request, Signal,
    Watched,
};
use lighterman_ids::{InstanceId, Mono, RuntimeId, Wall};

use crate::{
    container::{Container, Removal},
    image::Fetch,
    latency::Disturbance,
    model::{Model, Output, Timer},
    outage::Power,
    text, validate, volume,
};

/// What is asked of the engine.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Ask {
    Call(Request),
    Watch {
        instance: InstanceId,
        since: Option<Wall>,
    },
    /// Somebody else removes or restarts a container by force.
    Force(Force, RuntimeId),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Force {
    Remove,
    Restart { grace: Duration },
}

/// One call on its way.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Flight {
    pub(crate) ask: Ask,
    pub(crate) stage: Stage,
    /// Whether anybody hears the answer.
    pub(crate) listening: bool,
    slower_by: Duration,
    answers_after: Duration,
    refused: Option<Refusal>,
    /// The call will never reach the engine.
    never_arrives: bool,
    /// Timers that end with the call.
    alarms: Vec<(Mono, u64)>,
}

/// Where a call is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Stage {
    /// On its way to the engine.
    Travelling,
    /// The engine has the connection and does not serve yet.
    AtDoor,
    /// Waits for the lock of a container.
    Queued,
    /// The engine works on it.
    Working,
    /// A start: holds the lock of the container, and knows already if it will fail.
    Starting(RuntimeId, Option<Box<Refusal>>),
    /// A create: the id is drawn, the name taken.
    Creating(RuntimeId),
    /// A removal.
    Removing(RuntimeId),
    /// Waits for the end of a container's run.
    AwaitingEnd(RuntimeId),
    /// A pull that moves, or not.
    Pulling { fetch: Box<Fetch>, lines: u32 },
    /// On its way back.
    Answering(Box<Answer>),
}

impl Model {
    pub(crate) fn launch(&mut self, token: u64, ask: Ask, limit: Option<Duration>, disturbance: Disturbance) {
        debug_assert!(!self.flights.contains_key(&token), "a token is used once");
        if matches!(self.power, Power::Down | Power::Leaving) {
            let lost = Lost::new(LostCause::Unreachable, "the engine's socket refuses connections");
            return self.tell_lost(token, &ask, lost);
        }
        let Disturbance { arrives_after, slower_by, answers_after, lost_after, refused } = disturbance;
        let never_arrives = arrives_after.is_none();
        let listening = !matches!(ask, Ask::Force(..));
        let stage = Stage::Travelling;
        let flight =
            Flight { ask, stage, listening, slower_by, answers_after, refused, never_arrives, alarms: Vec::new() };
        self.flights.insert(token, flight);
        if let Some((after, cause)) = lost_after {
            self.alarm(token, after, Timer::Lost(token, cause));
        }
        if let Some(limit) = limit {
            self.alarm(token, limit, Timer::Lost(token, LostCause::TimedOut(limit)));
        }
        match arrives_after {
            Some(Duration::ZERO) => self.arrive(token),
            Some(after) => drop(self.timer(after, Timer::Arrive(token))),
            None => {}
        }
        self.advance(self.clock);
    }

    /// A call of nobody's: the model's own doing.
    pub(crate) fn launch_own(&mut self, ask: Ask) {
        let token = u64::MAX - self.next_serial();
        self.launch(token, ask, None, Disturbance::NONE);
    }

    /// A timer that ends with the call.
    pub(crate) fn alarm(&mut self, token: u64, after: Duration, timer: Timer) {
        let key = self.timer(after, timer);
        if let Some(flight) = self.flights.get_mut(&token) {
            flight.alarms.push(key);
        }
    }

    /// What the call is still to be slowed down by; once.
    pub(crate) fn slower_by(&mut self, token: u64) -> Duration {
        self.flights.get_mut(&token).map(|flight| core::mem::take(&mut flight.slower_by)).unwrap_or_default()
    }

    /// The call is over.
    pub(crate) fn land(&mut self, token: u64) -> Option<Flight> {
        let flight = self.flights.remove(&token)?;
        for alarm in &flight.alarms {
            self.timers.remove(alarm);
        }
        Some(flight)
    }

    pub(crate) fn arrive(&mut self, token: u64) {
        let Some(flight) = self.flights.get_mut(&token) else { return };
        match self.power {
            Power::Up => {}
            Power::Restoring => {
                flight.stage = Stage::AtDoor;
                return;
            }
            Power::Down | Power::Leaving => return self.contact_lost(token, LostCause::ConnectionLost),
        }
        if let (Some(refusal), Ask::Call(request)) = (flight.refused.take(), &flight.ask) {
            let answer = request.not_done(Outcome::Refused(refusal));
            return self.reply_after_look(token, answer);
        }
        match &flight.ask {
            Ask::Watch { .. } => self.work(token, self.settings.latencies.look),
            Ask::Force(_, id) => {
                let target = ContainerTarget::Id(id.clone());
                self.container_arrives(token, &target);
            }
            Ask::Call(request) => match request {
                Request::Ping
                | Request::Version
                | Request::InspectImage(_)
                | Request::ResolveDigest(_)
                | Request::TagImage { .. }
                | Request::RemoveImage(_)
                | Request::ListImages
                | Request::InspectVolume(_)
                | Request::RemoveVolume(_)
                | Request::ListVolumes(_)
                | Request::List(_) => self.work(token, self.settings.latencies.look),
                Request::CreateVolume(request) => {
                    let search = volume::search(request);
                    self.work(token, self.settings.latencies.look.saturating_add(search));
                }
                Request::Create(request) => {
                    let request = request.clone();
                    self.create_arrives(token, &request);
                }
                Request::Pull { .. } => self.pull_arrives(token),
                Request::Start(target)
                | Request::Inspect(target)
                | Request::Remove(target)
                | Request::Stop { container: target, .. }
                | Request::Kill { container: target, .. } => {
                    let target = target.clone();
                    self.container_arrives(token, &target);
                }
            },
        }
    }

    fn work(&mut self, token: u64, time: Duration) {
        self.work_as(token, time, Stage::Working);
    }

    pub(crate) fn work_as(&mut self, token: u64, time: Duration, stage: Stage) {
        let Some(flight) = self.flights.get_mut(&token) else { return };
        flight.stage = stage;
        let extra = core::mem::take(&mut flight.slower_by);
        self.timer(time.saturating_add(extra), Timer::Work(token));
    }

    /// A call about a container: it waits for the lock, and begins once it has it.
    pub(crate) fn container_arrives(&mut self, token: u64, target: &ContainerTarget) {
        match self.resolve(target) {
            Some(id) => self.container_next(token, &id),
            None => self.reply_gone(token),
        }
    }

    /// The call has found its container; its words still say what it was called by.
    pub(crate) fn container_next(&mut self, token: u64, id: &RuntimeId) {
        let Some(flight) = self.flights.get_mut(&token) else { return };
        let Some(container) = self.containers.get_mut(id) else { return self.reply_gone(token) };
        if container.lock.held {
            container.lock.waiting.push_back(token);
            flight.stage = Stage::Queued;
            return;
        }
        match &flight.ask {
            Ask::Force(force, _) => {
                let force = *force;
                self.force_arrives(token, id, force);
            }
            Ask::Call(request) => match request {
                Request::Start(_) => self.start_arrives(token, id),
                Request::Inspect(_) => self.work(token, self.settings.latencies.look),
                Request::Remove(target) => {
                    let target = target.clone();
                    self.remove_arrives(token, &target, id);
                }
                Request::Stop { .. } if !container.is_running() => {
                    self.reply_after_look(token, Answer::Stop(Outcome::Done(())));
                }
                Request::Kill { container: target, .. } if !container.is_running() => {
                    let refusal = text::not_running(target, id);
                    self.reply_after_look(token, Answer::Kill(Outcome::Refused(refusal)));
                }
                Request::Stop { .. } | Request::Kill { .. } => self.work(token, self.settings.latencies.signal),
                Request::Ping
                | Request::Version
                | Request::InspectImage(_)
                | Request::Pull { .. }
                | Request::ResolveDigest(_)
                | Request::TagImage { .. }
                | Request::RemoveImage(_)
                | Request::ListImages
                | Request::CreateVolume(_)
                | Request::InspectVolume(_)
                | Request::RemoveVolume(_)
                | Request::ListVolumes(_)
                | Request::Create(_)
                | Request::List(_) => {}
            },
            Ask::Watch { .. } => {}
        }
    }

    /// The lock is free: whoever waits goes on, until one takes it again.
    pub(crate) fn unlock(&mut self, id: &RuntimeId) {
        let Some(container) = self.containers.get_mut(id) else { return };
        container.lock.held = false;
        self.next_in_line(id);
    }

    pub(crate) fn next_in_line(&mut self, id: &RuntimeId) {
        loop {
            let Some(container) = self.containers.get_mut(id).filter(|container| !container.lock.held) else { return };
            let Some(token) = container.lock.waiting.pop_front() else { return };
            self.container_next(token, id);
        }
    }

    /// The engine's own time for a call is over: the effect.
    pub(crate) fn worked(&mut self, token: u64) {
        let Some(flight) = self.flights.get(&token) else { return };
        let (ask, stage) = (flight.ask.clone(), flight.stage.clone());
        match stage {
            Stage::Creating(id) => self.created(token, id),
            Stage::Starting(id, refused) => self.started(token, &id, refused.map(|refusal| *refusal)),
            Stage::Removing(id) => self.removed(token, &id),
            Stage::Working => match ask {
                Ask::Call(request) => self.looked(token, request),
                Ask::Watch { instance, since } => self.watch_opens(token, instance, since),
                Ask::Force(..) => {}
            },
            Stage::Travelling
            | Stage::AtDoor
            | Stage::Queued
            | Stage::AwaitingEnd(_)
            | Stage::Pulling { .. }
            | Stage::Answering(_) => {}
        }
    }

    fn looked(&mut self, token: u64, request: Request) {
        match request {
            Request::Ping => self.reply(token, Answer::Ping(Outcome::Done(()))),
            Request::Version => self.reply(token, Answer::Version(Outcome::Done(Self::version()))),
            Request::InspectImage(image) => {
                let facts = self.images.find(&image).map(|image| Box::new(image.facts()));
                self.reply(token, Answer::InspectImage(facts.map_or(Outcome::Gone, Outcome::Done)));
            }
            Request::ResolveDigest(image) => self.digest_resolved(token, &image),
            Request::TagImage { image, tag } => self.image_tagged(token, &image, &tag),
            Request::RemoveImage(image) => self.image_removed(token, &image),
            Request::ListImages => {
                let listed = self.images.listed();
                self.reply(token, Answer::ListImages(Outcome::Done(listed)));
            }
            Request::CreateVolume(request) => self.volume_created(token, &request),
            Request::InspectVolume(name) => self.volume_inspected(token, &name),
            Request::RemoveVolume(name) => self.volume_removed(token, &name),
            Request::ListVolumes(instance) => self.volumes_listed(token, &instance),
            Request::List(instance) => {
                let listed = self.listed(&instance);
                self.reply(token, Answer::List(Outcome::Done(listed)));
            }
            Request::Inspect(target) => self.inspected(token, &target),
            Request::Stop { container, grace } => self.stop_signals(token, &container, grace),
            Request::Kill { container, signal } => self.kill_signals(token, &container, signal),
            Request::Pull { .. } | Request::Create(_) | Request::Start(_) | Request::Remove(_) => {}
        }
    }

    fn listed(&self, instance: &InstanceId) -> Vec<lighterman_calls::ContainerSummary> {
        let ours = self.containers.values().filter(|container| container.instance() == Some(instance.as_str()));
        let mut ours: Vec<&Container> = ours.collect();
        ours.sort_by_key(|container| Reverse(container.ordinal));
        ours.into_iter().map(Container::summary).collect()
    }

    fn inspected(&mut self, token: u64, target: &ContainerTarget) {
        match self.resolve(target).and_then(|id| self.containers.get(&id)) {
            None => self.reply_gone(token),
            // Somebody took the lock meanwhile.
            Some(container) if container.lock.held => self.container_arrives(token, target),
            Some(container) => {
                let facts = Box::new(container.facts());
                self.reply(token, Answer::Inspect(Outcome::Done(facts)));
            }
        }
    }

    fn stop_signals(&mut self, token: u64, target: &ContainerTarget, grace: Duration) {
        let Some(id) = self.resolve(target) else { return self.reply_gone(token) };
        if !self.containers.get(&id).is_some_and(Container::is_running) {
            self.event(&id, EventAction::Stop);
            return self.reply(token, Answer::Stop(Outcome::Done(())));
        }
        if let Some(flight) = self.flights.get_mut(&token) {
            flight.stage = Stage::AwaitingEnd(id.clone());
        }
        self.terminate(token, &id, grace);
    }

    /// SIGTERM now, SIGKILL once the grace is over, if the call still waits then.
    pub(crate) fn terminate(&mut self, token: u64, id: &RuntimeId, grace: Duration) {
        self.signal(id, Signal::Term);
        // The engine counts whole seconds, and the kill takes a moment even without any grace.
        let whole = Duration::from_secs(grace.as_secs() + u64::from(grace.subsec_nanos() > 0));
        self.alarm(token, whole.saturating_add(self.settings.latencies.signal), Timer::Grace(token));
    }

    pub(crate) fn grace_over(&mut self, token: u64) {
        if let Some(Stage::AwaitingEnd(id)) = self.flights.get(&token).map(|flight| flight.stage.clone()) {
            self.signal(&id, Signal::Kill);
        }
    }

    fn kill_signals(&mut self, token: u64, target: &ContainerTarget, signal: Signal) {
        let Some(id) = self.resolve(target) else { return self.reply_gone(token) };
        let running = self.containers.get(&id).is_some_and(Container::is_running);
        if running && signal == Signal::Kill {
            if let Some(flight) = self.flights.get_mut(&token) {
                flight.stage = Stage::AwaitingEnd(id.clone());
            }
            return self.signal(&id, signal);
        }
        if running {
            self.signal(&id, signal);
        }
        self.reply(token, Answer::Kill(Outcome::Done(())));
    }

    fn remove_arrives(&mut self, token: u64, target: &ContainerTarget, id: &RuntimeId) {
        let Some(container) = self.containers.get_mut(id) else { return };
        let refusal = match container.removal {
            Removal::InProgress => text::removal_in_progress(target),
            Removal::None if container.is_running() => text::running(id),
            Removal::None => {
                container.removal = Removal::InProgress;
                return self.work_as(token, self.settings.latencies.remove, Stage::Removing(id.clone()));
            }
        };
        self.reply_after_look(token, Answer::Remove(Outcome::Refused(refusal)));
    }

    fn create_arrives(&mut self, token: u64, request: &CreateRequest) {
        if let Some(refusal) = self.create_refused(request) {
            return self.reply_after_look(token, Answer::Create(Outcome::Refused(refusal)));
        }
        let id = self.draw_id();
        self.names.insert(request.name.clone(), id.clone());
        self.work_as(token, self.settings.latencies.create, Stage::Creating(id));
    }

    /// What is looked at before the name is taken, in this order (seen on 20.10).
    fn create_refused(&self, request: &CreateRequest) -> Option<Refusal> {
        if let Some(refusal) = validate::refusal(request).or_else(|| self.missing_namespace(&request.host)) {
            return Some(refusal);
        }
        let Some(image) = self.images.find(&request.config.image) else {
            return Some(text::no_such_image(&request.config.image));
        };
        validate::no_command(request, image)
            .or_else(|| self.names.get(&request.name).map(|holder| text::name_in_use(&request.name, holder)))
    }

    fn created(&mut self, token: u64, id: RuntimeId) {
        let Some(Ask::Call(Request::Create(request))) = self.flights.get(&token).map(|flight| flight.ask.clone())
        else {
            return;
        };
        // The image may have been removed meanwhile.
        let found = self.images.find(&request.config.image).cloned();
        let found = found.ok_or_else(|| text::no_such_image(&request.config.image));
        let outcome = match found.and_then(|image| Ok((image, self.needs_of(&request)?))) {
            Ok((image, needs)) => {
                let warnings = validate::warnings(&request);
                let when = (self.clock.wall, self.next_serial());
                let container = Container::new(id.clone(), *request, &image, needs, when);
                self.containers.insert(id.clone(), container);
                self.event(&id, EventAction::Create);
                Outcome::Done(Created { id, warnings })
            }
            Err(refusal) => {
                self.names.remove(&request.name);
                Outcome::Refused(refusal)
            }
        };
        self.reply(token, Answer::Create(outcome));
    }

    fn watch_opens(&mut self, token: u64, instance: InstanceId, since: Option<Wall>) {
        self.land(token);
        self.outputs.push_back(Output::Watched { token, item: Watched::Opened });
        for event in self.journal.open(token, instance, since) {
            self.outputs.push_back(Output::Watched { token, item: Watched::Event(Box::new(event)) });
        }
    }

    /// The call's object does not exist.
    pub(crate) fn reply_gone(&mut self, token: u64) {
        let Some(flight) = self.flights.get(&token) else { return };
        match &flight.ask {
            Ask::Call(request) => {
                let answer = request.not_done(Outcome::Gone);
                self.reply_after_look(token, answer);
            }
            Ask::Watch { .. } | Ask::Force(..) => drop(self.land(token)),
        }
    }

    /// An answer that needed no work.
    pub(crate) fn reply_after_look(&mut self, token: u64, answer: Answer) {
        self.send(token, answer, self.settings.latencies.look);
    }

    /// An answer right after the effect.
    pub(crate) fn reply(&mut self, token: u64, answer: Answer) {
        self.send(token, answer, Duration::ZERO);
    }

    fn send(&mut self, token: u64, answer: Answer, after: Duration) {
        let Some(flight) = self.flights.get_mut(&token) else { return };
        flight.stage = Stage::Answering(Box::new(answer));
        let late = core::mem::take(&mut flight.slower_by).saturating_add(flight.answers_after);
        let after = after.saturating_add(late);
        if after.is_zero() {
            self.answer_arrives(token);
        } else {
            self.timer(after, Timer::Answer(token));
        }
    }

    pub(crate) fn answer_arrives(&mut self, token: u64) {
        let Some(flight) = self.land(token) else { return };
        if let (true, Stage::Answering(answer)) = (flight.listening, flight.stage) {
            self.outputs.push_back(Output::Answer { token, answer: *answer });
        }
    }

    /// The caller hears that contact was lost, if it still listens.
    pub(crate) fn contact_lost(&mut self, token: u64, cause: LostCause) {
        let Some(flight) = self.flights.get(&token).filter(|flight| flight.listening) else { return };
        let ask = flight.ask.clone();
        self.stop_listening(token);
        self.tell_lost(token, &ask, Lost::new(cause, words(cause)));
    }

    pub(crate) fn stop_listening(&mut self, token: u64) {
        let Some(flight) = self.flights.get_mut(&token) else { return };
        flight.listening = false;
        // The engine gives a pull up when its caller goes away, and what never arrives has no course to take.
        if flight.never_arrives || matches!(flight.ask, Ask::Call(Request::Pull { .. }) | Ask::Watch { .. }) {
            self.land(token);
        }
    }

    pub(crate) fn tell_lost(&mut self, token: u64, ask: &Ask, lost: Lost) {
        match ask {
            Ask::Call(request) => self.outputs.push_back(Output::Answer { token, answer: request.lost(lost) }),
            Ask::Watch { .. } => self.outputs.push_back(Output::Watched { token, item: Watched::Lost(lost) }),
            Ask::Force(..) => {}
        }
    }
}

/// Contact was lost, in words.
pub(crate) fn words(cause: LostCause) -> String {
    match cause {
        LostCause::TimedOut(limit) => alloc::format!("no answer within {limit:?}"),
        LostCause::Unreachable => "the engine's socket refuses connections".to_string(),
        LostCause::ConnectionLost => "the connection ended before the answer was complete".to_string(),
        LostCause::Garbled => "the answer is not of the protocol".to_string(),
    }
}
