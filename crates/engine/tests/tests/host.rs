//! A scripted partner of the host: it answers calls, reports events and lets time pass.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use lighterman_calls::{
    Answer, ContainerFacts, ContainerSummary, ContainerTarget, Created, EventAction, ImageFacts, Lost, LostCause,
    Outcome, Phase, Request, RequestKind, RuntimeEvent, RuntimeVersion, labels,
};
use lighterman_engine::{Action, Engine, Event, HostSettings, SavedState};
use lighterman_ids::{
    ActionId, ContainerName, DefinitionDigest, Family, ImageId, ImageRef, InstanceId, Moment, Mono, RuntimeId,
    RuntimeName, TaskId, Wall,
};
use lighterman_task_manager::TaskSpec;
use lighterman_taskdef::{ContainerDefinition, TaskDefinition};
use lighterman_view::{ContainerView, HostView, TaskView};

pub(crate) struct Host {
    pub(crate) engine: Engine,
    pub(crate) now: Moment,
    /// Calls that are out, oldest first.
    pub(crate) out: Vec<(ActionId, Request)>,
    /// The last stream that was asked for, and from when on.
    pub(crate) watch: Option<(ActionId, Option<Wall>)>,
    /// What the host did since the script last looked.
    did: Vec<String>,
}

pub(crate) fn instance() -> InstanceId {
    InstanceId::from_bits(7)
}

pub(crate) fn task_id(n: u32) -> TaskId {
    TaskId::from_bits(u128::from(n))
}

/// The id that the container of the nth task gets.
pub(crate) fn container_id(n: u32) -> RuntimeId {
    RuntimeId::parse(&format!("{:064x}", 0xc000_0000_0000_u64 + u64::from(n))).unwrap()
}

/// A name such as it is given to the container of the nth task.
pub(crate) fn runtime_name(n: u32) -> RuntimeName {
    let name = ContainerName::parse("web").unwrap();
    lighterman_container_spec::runtime_name(&definition(n), &name, u128::from(n))
}

pub(crate) fn digest() -> DefinitionDigest {
    DefinitionDigest::parse(&format!("sha256:{}", "0".repeat(64))).unwrap()
}

pub(crate) fn definition(n: u32) -> TaskDefinition {
    let image = ImageRef::parse(&format!("image{n}:1")).unwrap();
    let web = ContainerDefinition::new(ContainerName::parse("web").unwrap(), image);
    TaskDefinition::new(Family::parse(&format!("t{n}")).unwrap(), vec![web])
}

pub(crate) fn spec(n: u32) -> TaskSpec {
    let id = task_id(n);
    TaskSpec { arn: id.local_arn(None), id, definition: Arc::new(definition(n)), digest: digest(), seed: u64::from(n) }
}

pub(crate) fn garbled() -> Lost {
    Lost::new(LostCause::Garbled, "that is no Docker")
}

pub(crate) fn refused() -> Lost {
    Lost::new(LostCause::Unreachable, "connection refused")
}

pub(crate) fn cut_off() -> Lost {
    Lost::new(LostCause::ConnectionLost, "EOF")
}

impl Host {
    /// A host that was started on nothing.
    pub(crate) fn new() -> Self {
        Self::with(HostSettings::REFERENCE)
    }

    pub(crate) fn with(settings: HostSettings) -> Self {
        Self::on(settings, SavedState::default())
    }

    /// A host that was started on this state.
    pub(crate) fn on(settings: HostSettings, saved: SavedState) -> Self {
        let now = Moment { mono: Mono(1_000_000_000_000), wall: Wall(1_700_000_000_000_000_000), ..Moment::default() };
        let engine = Engine::take_up(settings, instance(), saved, 1, now).unwrap();
        let mut host = Self { engine, now, out: vec![], watch: None, did: vec![] };
        host.wake();
        host
    }

    /// A host whose stream stands and whose first list was answered.
    pub(crate) fn connected() -> Self {
        Self::connected_with(HostSettings::REFERENCE)
    }

    pub(crate) fn connected_with(settings: HostSettings) -> Self {
        let mut host = Self::with(settings);
        host.connect();
        host.list(&[]);
        host.forget_deeds();
        host
    }

    /// Version and stream; the list is out.
    pub(crate) fn connect(&mut self) {
        self.answer(version());
        self.open();
    }

    // Steps.

    pub(crate) fn tell(&mut self, event: Event) {
        self.engine.handle_event(self.now, event);
        self.take();
    }

    pub(crate) fn wake(&mut self) {
        self.engine.handle_timeout(self.now);
        self.take();
    }

    pub(crate) fn open(&mut self) {
        let (id, _) = self.watch.expect("a stream was asked for");
        self.tell(Event::WatchOpened(id));
    }

    pub(crate) fn lose_stream(&mut self, lost: Lost) {
        let (id, _) = self.watch.expect("a stream was asked for");
        self.tell(Event::WatchLost { id, lost });
    }

    /// The stream reports something about the container of the nth task.
    pub(crate) fn event(&mut self, n: u32, action: EventAction) {
        let (id, _) = self.watch.expect("a stream was asked for");
        let event = RuntimeEvent { at: self.now.wall, container: container_id(n), action };
        self.tell(Event::Runtime { id, event });
    }

    pub(crate) fn submit(&mut self, n: u32) {
        self.tell(Event::Submit(Box::new(spec(n))));
    }

    pub(crate) fn stop(&mut self, n: u32) {
        self.tell(Event::Stop { task: task_id(n), reason: None, force: false });
    }

    /// Answers the oldest call of this kind.
    #[track_caller]
    pub(crate) fn answer(&mut self, answer: Answer) {
        let kind = answer.kind();
        let at = self.out.iter().position(|(_, request)| request.kind() == kind);
        let (id, _) = self.out.remove(at.unwrap_or_else(|| panic!("no {} is out: {:?}", kind.as_str(), self.out)));
        self.tell(Event::Answer { id, answer: Box::new(answer) });
    }

    /// Answers the list with the containers of these tasks, running.
    pub(crate) fn list(&mut self, tasks: &[u32]) {
        let list = tasks.iter().map(|n| summary(*n)).collect();
        self.answer(Answer::List(Outcome::Done(list)));
    }

    /// Carries the task from its acceptance to a running container.
    pub(crate) fn run(&mut self, n: u32) {
        self.submit(n);
        self.answer(image_is_there());
        self.answer(created(n));
        self.answer(Answer::Start(Outcome::Done(())));
        self.answer(shows(facts(n, Phase::Running)));
        assert!(self.container(n).known.is_running());
    }

    pub(crate) fn pass(&mut self, time: Duration) {
        self.now.mono = self.now.mono.after(time);
        self.now.wall = self.now.wall.after(time);
    }

    /// Time passes until something is due, and it is done. Returns how long that took.
    #[track_caller]
    pub(crate) fn until_due(&mut self) -> Duration {
        let waited = self.engine.poll_timeout().expect("something is due").since(self.now.mono);
        self.pass(waited);
        self.wake();
        self.wake();
        let again = self.engine.poll_timeout();
        assert!(again.is_none_or(|again| again > self.now.mono), "a deadline that is over stays: it spins");
        waited
    }

    // Looking.

    /// Exactly this was done since the last look.
    #[track_caller]
    pub(crate) fn does(&mut self, expected: &[&str]) {
        assert_eq!(std::mem::take(&mut self.did), expected);
    }

    pub(crate) fn deeds(&mut self) -> Vec<String> {
        std::mem::take(&mut self.did)
    }

    pub(crate) fn forget_deeds(&mut self) {
        self.did.clear();
    }

    pub(crate) fn view(&self, n: u32) -> TaskView {
        self.engine.view(self.now, &task_id(n)).expect("the task is there")
    }

    pub(crate) fn container(&self, n: u32) -> ContainerView {
        self.view(n).containers[0].clone()
    }

    /// The host's view, changed or not.
    pub(crate) fn host_view(&mut self) -> HostView {
        self.tell(Event::StoreFailed("to make it change".into()));
        let view = self.engine.take_host_view().expect("it changed");
        self.engine.handle_event(self.now, Event::StoreWorks);
        self.take();
        HostView { store_failing: None, ..view }
    }

    fn take(&mut self) {
        while let Some(action) = self.engine.poll_action() {
            let words = match action {
                Action::Call { id, call } => {
                    let words = words(&call.request);
                    self.out.push((id, call.request));
                    words
                }
                Action::Cancel(id) => {
                    let at = self.out.iter().position(|(out, _)| *out == id).expect("only what is out is cancelled");
                    format!("cancel {}", words(&self.out.remove(at).1))
                }
                Action::Watch { id, since, .. } => {
                    self.watch = Some((id, since));
                    "watch".into()
                }
            };
            self.did.push(words);
        }
    }
}

/// The kind of the call, and which task it is for.
fn words(request: &Request) -> String {
    let kind = request.kind().as_str();
    let of = |target: &ContainerTarget| match target {
        ContainerTarget::Id(id) => (u64::from_str_radix(&id.as_str()[48..], 16).unwrap() & 0xffff_ffff).to_string(),
        ContainerTarget::Name(name) => name.to_string(),
    };
    match request {
        Request::Inspect(target) | Request::Start(target) | Request::Remove(target) => format!("{kind} {}", of(target)),
        Request::Stop { container, .. } | Request::Kill { container, .. } => format!("{kind} {}", of(container)),
        Request::InspectImage(image) | Request::Pull { image, .. } => format!("{kind} {image}"),
        Request::Create(create) => format!("{kind} {}", create.config.image),
        Request::Ping
        | Request::Version
        | Request::ResolveDigest(_)
        | Request::TagImage { .. }
        | Request::RemoveImage(_)
        | Request::ListImages
        | Request::CreateVolume(_)
        | Request::InspectVolume(_)
        | Request::RemoveVolume(_)
        | Request::ListVolumes(_)
        | Request::List(_) => kind.into(),
    }
}

// Words for what the runtime answers.

pub(crate) fn version() -> Answer {
    Answer::Version(Outcome::Done(RuntimeVersion {
        version: "20.10.24".into(),
        api_version: "1.41".into(),
        min_api_version: "1.12".into(),
    }))
}

pub(crate) fn image_is_there() -> Answer {
    Answer::InspectImage(Outcome::Done(Box::new(ImageFacts {
        id: ImageId::parse(&format!("sha256:{}", "1".repeat(64))).unwrap(),
        repo_digests: vec![],
        env_names: vec![],
        health_test: None,
    })))
}

pub(crate) const fn no_image() -> Answer {
    Answer::InspectImage(Outcome::Gone)
}

pub(crate) fn created(n: u32) -> Answer {
    Answer::Create(Outcome::Done(Created { id: container_id(n), warnings: vec![] }))
}

pub(crate) const fn shows(facts: Box<ContainerFacts>) -> Answer {
    Answer::Inspect(Outcome::Done(facts))
}

pub(crate) fn facts(n: u32, phase: Phase) -> Box<ContainerFacts> {
    let started = match phase {
        Phase::Running | Phase::Exited { code: Some(_) } => Some(Wall(5)),
        Phase::Created | Phase::Exited { code: None } | Phase::Dead { .. } => None,
    };
    Box::new(ContainerFacts {
        id: container_id(n),
        name: runtime_name(n),
        labels: own_labels(n),
        phase,
        oom_killed: false,
        error: String::new(),
        created_at: None,
        started_at: started,
        finished_at: None,
        health: None,
        ports: vec![],
        image: None,
    })
}

pub(crate) fn own_labels(n: u32) -> BTreeMap<String, String> {
    let name = ContainerName::parse("web").unwrap();
    BTreeMap::from([
        (labels::INSTANCE.into(), instance().to_string()),
        (labels::TASK.into(), task_id(n).to_string()),
        (labels::CONTAINER.into(), name.to_string()),
        (labels::DEFINITION.into(), digest().to_string()),
        (labels::RECOVER.into(), lighterman_container_spec::recover::label(&definition(n), &name).text),
    ])
}

pub(crate) fn summary(n: u32) -> ContainerSummary {
    ContainerSummary { id: container_id(n), name: runtime_name(n), labels: own_labels(n), running: true }
}

pub(crate) fn kinds(host: &Host) -> Vec<RequestKind> {
    host.out.iter().map(|(_, request)| request.kind()).collect()
}
