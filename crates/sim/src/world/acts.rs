//! What leaves the gate, and what comes back.

use std::time::Duration;

use lighterman_calls::{
    Answer, Call, ContainerConfig, ContainerTarget, CreateRequest, EventAction, HostConfig, LostCause, Outcome, Phase,
    Request, RuntimeEvent, Signal, labels,
};
use lighterman_engine::{Action, Event, SavedState, SubmitError};
use lighterman_ids::{ActionId, ImageRef, RuntimeName, TaskId};
use lighterman_runtime_model::Disturbance;
use lighterman_turn::Output;
use lighterman_view::{HostView, TaskView};

use super::{
    Checked, World,
    agent::{Delivery, Sent},
};
use crate::{Plant, note::Note, scenario::Deed, truth::COPY, workload::LOCAL};

impl World {
    pub(super) fn let_out(&mut self, output: Output) -> Checked {
        match output {
            Output::Act(action) => {
                if self.crash_point("before an action")? {
                    return Ok(());
                }
                self.act(action)?;
                self.crash_point("after an action").map(|_| ())
            }
            Output::Show(view) => self.show(view),
            Output::ShowHost(view) => {
                self.has_looked = view.checked;
                self.log.line(self.clock.at(), "agent", || host_in_words(&view));
                Ok(())
            }
            Output::Refuse(task, error) => {
                self.refused(&task, &error);
                Ok(())
            }
        }
    }

    fn act(&mut self, mut action: Action) -> Checked {
        self.meddle_with_action(&mut action);
        self.log.line(self.clock.at(), "agent", || action_in_words(&action));
        self.note(&Note::Acts(&action))?;
        match action {
            Action::Call { id, call } => self.call(id, *call),
            Action::Cancel(id) => self.cancel(id),
            Action::Watch { id, since, limit, .. } => {
                self.open_watch(id, since, limit);
                Ok(())
            }
        }
    }

    fn call(&mut self, id: ActionId, call: Call) -> Checked {
        if let Request::Create(request) = &call.request
            && self.dice.chance("name taken", self.scenario.weather.name_taken)
        {
            self.take_name(&request.clone());
        }
        let (disturbance, word) = self.what_befalls(&call);
        self.count("call", || format!("{} {word}", call.request.kind().as_str()));
        if disturbance != Disturbance::NONE {
            self.log.line(self.clock.at(), "world", || format!("call {id} is to be {word}: {disturbance:?}"));
        }
        let (now, at, token) = (self.moment(), self.clock.at(), self.token());
        let arrives = disturbance.arrives_after.map(|wait| at.after(wait));
        if let Some(agent) = &mut self.agent {
            agent.calls.insert(token, Sent { id, call: call.clone(), arrives });
        }
        let answered = self.answered_by_plant(&call);
        if let Some(answer) = answered {
            return self.answer_arrives(token, answer);
        }
        self.meddle_beside_call(&call);
        self.model.begin_call(now, token, call, disturbance);
        Ok(())
    }

    fn what_befalls(&mut self, call: &Call) -> (Disturbance, &'static str) {
        let kind = call.request.kind();
        let nth = self.calls_made.entry(kind).or_default();
        *nth += 1;
        let scripted = self.scenario.befalls.iter().find(|(of, at, _)| (*of, *at) == (kind, *nth));
        match scripted {
            Some((_, _, disturbance)) => (disturbance.clone(), "scripted"),
            None => self.scenario.weather.befalls(call, &mut self.dice),
        }
    }

    /// Nobody waits for the call any more; its answer may be on its way already.
    fn cancel(&mut self, id: ActionId) -> Checked {
        let now = self.moment();
        if self.dice.chance("cancel", self.scenario.weather.cancel_late) {
            return Ok(());
        }
        let Some(agent) = &mut self.agent else { return Ok(()) };
        let Some(token) = agent.calls.iter().find(|(_, sent)| sent.id == id).map(|(token, _)| *token) else {
            return Ok(());
        };
        let sent = agent.calls.remove(&token);
        self.model.abandon(now, token);
        sent.map_or(Ok(()), |sent| self.note_if_adrift(&sent))
    }

    pub(super) fn answer_arrives(&mut self, token: u64, mut answer: Answer) -> Checked {
        let at = self.clock.at();
        let Some(sent) = self.agent.as_mut().and_then(|agent| agent.calls.remove(&token)) else { return Ok(()) };
        if let Answer::Start(Outcome::Unknown(lost)) = &answer
            && lost.cause != LostCause::Unreachable
        {
            self.note_if_adrift(&sent)?;
        }
        if self.scenario.plant == Some(Plant::LosesAnswer) && matches!(answer, Answer::Inspect(_)) {
            return Ok(());
        }
        self.meddle_with_answer(&mut answer);
        if let Some(agent) = &mut self.agent {
            agent.deliver(at, Delivery::Answer { sent: Box::new(sent), answer: Box::new(answer) });
        }
        Ok(())
    }

    fn show(&mut self, mut view: TaskView) -> Checked {
        self.meddle_with_view(&mut view);
        self.log.line(self.clock.at(), "agent", || view_in_words(&view));
        self.counts.lifetimes += u64::from(view.removed);
        if self.stopping.is_some() && !view.desired.is_terminal() {
            // It was found only now.
            self.stop_one(&view.id, "the run ends");
        }
        self.note(&Note::Shows(&view))
    }

    fn refused(&mut self, task: &TaskId, error: &SubmitError) {
        self.log.line(self.clock.at(), "agent", || format!("refuses {task}: {error}"));
        self.count("refused", || match error {
            SubmitError::StoreFailing(_) => "store fails".into(),
            SubmitError::Closing => "closing".into(),
            SubmitError::Invalid(_) => "invalid".into(),
        });
        let Some(nth) = self.scenario.tasks.iter().position(|workload| workload.spec.id == *task) else { return };
        self.submitted.remove(&nth);
        match error {
            SubmitError::StoreFailing(_) => self.plan(Duration::from_secs(5), Deed::Submit(nth)),
            SubmitError::Closing => self.wishes.push(Deed::Submit(nth)),
            SubmitError::Invalid(_) => {}
        }
    }

    fn plan(&mut self, wait: Duration, deed: Deed) {
        let at = self.clock.at().after(wait);
        let place = self.deeds.partition_point(|(other, _)| *other <= at);
        self.deeds.insert(place, (at, deed));
    }

    /// As `docker commit` and `docker run` of the image: all labels, and a name of somebody's own.
    pub(super) fn copy(&mut self, target: &ContainerTarget) {
        let Some(facts) = self.model.facts(target) else { return };
        let (now, token) = (self.moment(), self.token());
        let name = RuntimeName::parse(&format!("{COPY}{token}")).expect("a word and a number");
        let image = ImageRef::parse(LOCAL).expect("the name of our image");
        let cmd = Some(vec!["on-term".into(), "7".into()]);
        let config = ContainerConfig { cmd, labels: facts.labels, ..ContainerConfig::new(image) };
        let host = HostConfig { cpu_shares: 2, ..HostConfig::default() };
        self.model.begin(
            now,
            token,
            Request::Create(Box::new(CreateRequest { name: name.clone(), platform: None, config, host })),
        );
        self.plan(Duration::from_secs(5), Deed::StartForeigner(name));
    }

    /// The agent reads the output of its task, and has come to its end.
    pub(super) fn output_ends(&mut self, task: &TaskId) {
        let named = |workload: &&crate::Workload| workload.spec.id == *task;
        let Some(workload) = self.scenario.tasks.iter().find(named) else { return };
        let container = workload.spec.definition.containers[0].name.clone();
        self.tell(Event::OutputEnded { task: task.clone(), container });
    }

    /// Somebody else makes a container of this name, and starts it a little later.
    fn take_name(&mut self, wanted: &CreateRequest) {
        self.count("deed", || "TakeName".into());
        self.log.line(self.clock.at(), "world", || format!("somebody else takes the name {}", wanted.name));
        let mut theirs = Box::new(wanted.clone());
        theirs.config.image = ImageRef::parse(LOCAL).expect("the name of our image");
        theirs.config.cmd = Some(vec!["on-term".into(), "7".into()]);
        theirs.config.labels.clear();
        theirs.host.port_bindings.clear();
        let (now, token) = (self.moment(), self.token());
        self.model.begin(now, token, Request::Create(theirs));
        self.plan(Duration::from_secs(5), Deed::StartForeigner(wanted.name.clone()));
    }
}

/// What a planted fault does.
impl World {
    fn meddle_with_action(&self, action: &mut Action) {
        if let (Some(Plant::ShortensGrace), Action::Call { call, .. }) = (self.scenario.plant, action)
            && let Request::Stop { grace, .. } = &mut call.request
        {
            *grace = Duration::ZERO;
        }
    }

    fn answered_by_plant(&self, call: &Call) -> Option<Answer> {
        match (self.scenario.plant, &call.request) {
            (Some(Plant::KeepsRemoved), Request::Remove(_)) => Some(Answer::Remove(Outcome::Done(()))),
            _ => None,
        }
    }

    fn meddle_beside_call(&mut self, call: &Call) {
        let more = match (self.scenario.plant, &call.request) {
            (Some(Plant::CreatesTwin), Request::Create(request)) => {
                let mut twin = request.clone();
                twin.name = RuntimeName::parse(&format!("{}-twin", request.name)).expect("a name with a suffix");
                Request::Create(twin)
            }
            (Some(Plant::LeavesOrphan), Request::Create(request)) => {
                let mut orphan = request.clone();
                orphan.name = RuntimeName::parse(&format!("{}-orphan", request.name)).expect("a name with a suffix");
                let labels = &mut orphan.config.labels;
                labels.insert(labels::TASK.into(), "f".repeat(32));
                Request::Create(orphan)
            }
            (Some(Plant::HitsForeigner), Request::Stop { .. }) => {
                let foreigners = self.truth.all().filter(|(_, real)| !real.gone && real.task().is_none());
                let Some((id, _)) = foreigners.last() else { return };
                Request::Kill { container: ContainerTarget::Id(id.clone()), signal: Signal::Kill }
            }
            (Some(Plant::KillsAtOnce), Request::Stop { container, .. }) => {
                Request::Kill { container: container.clone(), signal: Signal::Kill }
            }
            (Some(Plant::StartsTwice), Request::Remove(container)) => Request::Start(container.clone()),
            _ => return,
        };
        let (now, token) = (self.moment(), self.token());
        self.model.begin(now, token, more);
    }

    fn meddle_with_answer(&self, answer: &mut Answer) {
        match (self.scenario.plant, answer) {
            (Some(Plant::RunsTooSoon), Answer::Inspect(Outcome::Done(facts))) if facts.phase == Phase::Created => {
                facts.phase = Phase::Running;
            }
            (Some(Plant::WrongExitCode), Answer::Inspect(Outcome::Done(facts))) => {
                if let Phase::Exited { code: Some(code) } = &mut facts.phase {
                    *code += 1;
                }
            }
            (Some(Plant::LeavesOrphan), Answer::List(Outcome::Done(listed))) => {
                listed.retain(|container| !container.name.as_str().ends_with("-orphan"));
            }
            (Some(Plant::IsDeaf), Answer::List(Outcome::Done(listed))) => {
                listed.iter_mut().for_each(|container| container.running = true);
            }
            _ => {}
        }
    }

    fn meddle_with_view(&self, view: &mut TaskView) {
        use lighterman_status::{ContainerStatus, TaskStatus};
        let Some(container) = view.containers.first_mut() else { return };
        let stopped = container.known.is_terminal();
        match self.scenario.plant {
            Some(Plant::Resurrects) if view.removed => container.known = ContainerStatus::Created,
            Some(Plant::DesiresLess) if view.removed => view.desired = TaskStatus::Running,
            Some(Plant::ChangesReason) if view.removed => view.reason = Some("made up".into()),
            Some(Plant::HidesWaits) if stopped => container.wait = None,
            _ => {}
        }
    }
}

/// Counting for `--stats`.
impl World {
    pub(super) fn count_event(&mut self, request: &Request, answer: &Answer) {
        if self.stats.is_none() {
            return;
        }
        let ended = match answer.summary().split([' ', ':']).next().unwrap_or_default() {
            "refused" => "refused",
            "gone" => "gone",
            "unknown" => "unknown",
            _ => "done",
        };
        let event = format!("{} {ended}", request.kind().as_str());
        let target = match request {
            Request::Start(target)
            | Request::Inspect(target)
            | Request::Remove(target)
            | Request::Stop { container: target, .. }
            | Request::Kill { container: target, .. } => target.as_str().to_string(),
            Request::Create(request) => request.name.to_string(),
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
            | Request::List(_) => return self.count("host event", || event),
        };
        self.count_pair(&target, &event);
    }

    pub(super) fn count_runtime_event(&mut self, event: &RuntimeEvent) {
        if self.stats.is_none() {
            return;
        }
        let word = match &event.action {
            EventAction::Create => "event create",
            EventAction::Start => "event start",
            EventAction::Die { .. } => "event die",
            EventAction::Stop => "event stop",
            EventAction::Restart => "event restart",
            EventAction::Oom => "event oom",
            EventAction::Destroy => "event destroy",
            EventAction::HealthStatus(_) => "event health",
        };
        self.count_pair(event.container.as_str(), word);
    }

    /// One event that met a container: by what was known of it, and by where it was to go.
    fn count_pair(&mut self, target: &str, event: &str) {
        let Some(agent) = &self.agent else { return };
        let states = agent.turns.engine().tasks().filter_map(|task| task.container_state(0));
        let mut meant = states.filter(|state| {
            state.runtime_id.as_ref().is_some_and(|id| id.as_str() == target)
                || state.runtime_name.as_ref().is_some_and(|name| name.as_str() == target)
        });
        let Some(state) = meant.next() else { return };
        drop(meant);
        self.count("known × event", || format!("{} × {event}", state.known.as_str()));
        self.count("desired × event", || format!("{} × {event}", state.desired.as_str()));
    }

    /// In which state each container was taken up, and what was true of it.
    pub(super) fn count_restored(&mut self, saved: &SavedState) {
        if self.stats.is_none() {
            return;
        }
        for state in saved.tasks.iter().flat_map(|task| &task.containers) {
            let addressed = match (&state.runtime_id, &state.runtime_name, state.create_sent) {
                (Some(_), _, _) => "id known",
                (None, Some(_), Some(_)) => "create sent",
                (None, Some(_), None) => "name known",
                (None, None, _) => "no name",
            };
            let named = state.runtime_name.as_ref().and_then(|name| self.truth.named(name));
            let real =
                state.runtime_id.as_ref().and_then(|id| self.truth.get(id)).or_else(|| named.map(|(_, real)| real));
            let truth = match real {
                Some(real) if real.task().is_none() => "foreign",
                Some(real) if real.gone => "gone",
                Some(real) if real.alive => "runs",
                Some(real) if real.starts > 0 => "ended",
                Some(_) => "created",
                None => "not there",
            };
            let case = format!("{} ({addressed}), {truth}", state.known.as_str());
            self.count("restored", || case);
        }
    }
}

fn action_in_words(action: &Action) -> String {
    match action {
        Action::Call { id, call } => {
            let what = match &call.request {
                Request::Ping | Request::Version => String::new(),
                Request::InspectImage(image) | Request::Pull { image, .. } | Request::ResolveDigest(image) => {
                    image.to_string()
                }
                Request::TagImage { image, tag } => format!("{image} as {tag}"),
                Request::RemoveImage(image) => image.to_string(),
                Request::CreateVolume(request) => request.name.to_string(),
                Request::InspectVolume(name) | Request::RemoveVolume(name) => name.to_string(),
                Request::Create(request) => request.name.to_string(),
                Request::Start(target) | Request::Inspect(target) | Request::Remove(target) => short(target),
                Request::Stop { container, grace } => format!("{} with {grace:?}", short(container)),
                Request::Kill { container, signal } => format!("{} with {}", short(container), signal.as_str()),
                Request::ListImages => String::new(),
                Request::List(_) | Request::ListVolumes(_) => "of ours".into(),
            };
            format!("calls {id}: {} {what}", call.request.kind().as_str())
        }
        Action::Cancel(id) => format!("cancels {id}"),
        Action::Watch { id, since, .. } => format!("opens the stream {id}, from {:?} on", since.map(|wall| wall.0)),
    }
}

fn short(target: &ContainerTarget) -> String {
    match target {
        ContainerTarget::Id(id) => id.short().to_string(),
        ContainerTarget::Name(name) => name.to_string(),
    }
}

fn view_in_words(view: &TaskView) -> String {
    let containers = view.containers.iter().map(|container| {
        let code = container.exit_code.map_or_else(String::new, |code| format!(", exit {code}"));
        let reason = container.reason.as_ref().map_or_else(String::new, |reason| format!(", {reason}"));
        let wait = container.wait.as_ref().map_or_else(String::new, |wait| format!(", waits for {}", wait.reason));
        format!("{} {}→{}{code}{reason}{wait}", container.name, container.known.as_str(), container.desired.as_str())
    });
    let words = if view.removed { " and gone" } else { "" };
    let containers: Vec<_> = containers.collect();
    format!("shows {} {}→{}{words} [{}]", view.id, view.known.as_str(), view.desired.as_str(), containers.join("; "))
}

fn host_in_words(view: &HostView) -> String {
    format!("shows the host: {:?}, store {:?}, gave up: {}", view.runtime, view.store_failing, view.gave_up)
}
