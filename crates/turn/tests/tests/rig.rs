//! A gate with a store that is a map and a runtime that does what it is asked.
//!
//! Whatever leaves is held against what the store holds at that moment, by its meaning: a create call whose
//! name is not durable, a view of a status that is not durable, and so on. That check knows nothing of how the
//! gate works.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use lighterman_calls::{
    Answer, ContainerFacts, ContainerSummary, ContainerTarget, Created, EventAction, ImageFacts, Outcome, Phase,
    Refusal, RefusalClass, Request, RequestKind, RuntimeEvent, RuntimeVersion,
};
use lighterman_engine::{Action, Engine, Event, HostSettings, SavedState, SavedTask, TaskSpec};
use lighterman_ids::{
    ActionId, ContainerName, DefinitionDigest, Family, ImageId, ImageRef, InstanceId, Moment, Mono, RuntimeId,
    RuntimeName, TaskId, Wall,
};
use lighterman_records::Ledger;
use lighterman_taskdef::{ContainerDefinition, TaskDefinition};
use lighterman_turn::{Commit, Output, Turns};
use lighterman_view::{HostView, TaskView};

pub(crate) struct Rig {
    pub(crate) turns: Turns,
    pub(crate) now: Moment,
    store: BTreeMap<Vec<u8>, Vec<u8>>,
    witness: u64,
    commit: Option<Commit>,
    /// Calls that have left and are not answered.
    pub(crate) out: Vec<(ActionId, Request)>,
    /// A stream that is being opened, and one that stands.
    pub(crate) opening: Option<ActionId>,
    watch: Option<ActionId>,
    /// What left since the last look, in words.
    left: Vec<String>,
    pub(crate) views: Vec<TaskView>,
    pub(crate) host: Option<HostView>,
    pub(crate) world: World,
    incarnation: u64,
    pub(crate) was_submitted: bool,
    /// Calls that were answered.
    over: BTreeSet<ActionId>,
}

/// What is in the runtime.
#[derive(Default)]
pub(crate) struct World {
    image: bool,
    pub(crate) container: Option<Body>,
    events: Vec<RuntimeEvent>,
    made: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Body {
    id: RuntimeId,
    name: RuntimeName,
    labels: BTreeMap<String, String>,
    pub(crate) phase: Phase,
}

pub(crate) fn task_id() -> TaskId {
    TaskId::from_bits(1)
}

fn spec() -> TaskSpec {
    let web = ContainerDefinition::new(ContainerName::parse("web").unwrap(), ImageRef::parse("web:1").unwrap());
    TaskSpec {
        id: task_id(),
        arn: task_id().local_arn(None),
        definition: Arc::new(TaskDefinition::new(Family::parse("site").unwrap(), vec![web])),
        digest: DefinitionDigest::parse(&format!("sha256:{}", "0".repeat(64))).unwrap(),
        seed: 1,
    }
}

fn settings() -> HostSettings {
    let mut settings = HostSettings::REFERENCE;
    settings.task.cleanup_wait = Duration::ZERO;
    settings
}

impl Rig {
    /// A host that was started on an empty store; its first turn has ended.
    pub(crate) fn new() -> Self {
        let now = Moment { mono: Mono(1_000_000_000_000), wall: Wall(1_700_000_000_000_000_000), ..Moment::default() };
        let turns = turns(SavedState::default(), Ledger::new(), now);
        let mut rig = Self {
            turns,
            now,
            store: BTreeMap::new(),
            witness: 0,
            commit: None,
            out: vec![],
            opening: None,
            watch: None,
            left: vec![],
            views: vec![],
            host: None,
            world: World::default(),
            incarnation: 1,
            was_submitted: false,
            over: BTreeSet::new(),
        };
        rig.wake();
        rig
    }

    /// Connected, with an event stream and the first list answered.
    pub(crate) fn connected() -> Self {
        let mut rig = Self::new();
        rig.flow();
        rig.left.clear();
        rig
    }

    /// A task was submitted, and its acceptance is durable; the image is asked for.
    pub(crate) fn submitted() -> Self {
        let mut rig = Self::connected();
        rig.turn([Event::Submit(Box::new(spec()))]);
        rig.commit_works();
        rig.left.clear();
        rig
    }

    /// The task's container runs.
    pub(crate) fn running() -> Self {
        let mut rig = Self::submitted();
        rig.flow();
        assert!(rig.world.container.as_ref().is_some_and(|body| body.phase == Phase::Running));
        rig.left.clear();
        rig
    }

    // Steps.

    pub(crate) fn submit(&mut self) {
        self.was_submitted = true;
        self.turn([Event::Submit(Box::new(spec()))]);
    }

    pub(crate) fn turn(&mut self, events: impl IntoIterator<Item = Event>) {
        for event in events {
            self.turns.handle_event(self.now, event);
        }
        self.end_turn();
    }

    /// An event of a turn that has not ended.
    pub(crate) fn handle(&mut self, event: Event) {
        self.turns.handle_event(self.now, event);
    }

    pub(crate) fn end_turn(&mut self) {
        self.turns.end_turn(self.now);
        self.take();
    }

    pub(crate) fn wake(&mut self) {
        self.turns.handle_timeout(self.now);
        self.end_turn();
    }

    /// Time passes until something is due, and it is done.
    pub(crate) fn until_due(&mut self) -> bool {
        let Some(due) = self.turns.poll_timeout() else { return false };
        self.pass(due.since(self.now.mono));
        self.wake();
        true
    }

    pub(crate) fn pass(&mut self, time: Duration) {
        self.now.mono = self.now.mono.after(time);
        self.now.wall = self.now.wall.after(time);
    }

    /// Begins a commit, if one may be made now.
    pub(crate) fn commit_begins(&mut self) -> bool {
        assert!(self.commit.is_none(), "one commit at a time");
        self.commit = self.turns.poll_commit(self.now);
        self.take();
        self.commit.is_some()
    }

    /// Ends it; one that fails may be in the store all the same.
    pub(crate) fn commit_ends(&mut self, works: bool, there: bool) {
        let commit = self.commit.take().expect("a commit is in flight");
        if works || there {
            for (key, value) in commit.writes {
                match value {
                    Some(value) => self.store.insert(key, value),
                    None => self.store.remove(&key),
                };
            }
        }
        if works {
            self.witness = commit.generation;
        }
        self.turns.committed(self.now, if works { Ok(()) } else { Err("disk full".into()) });
        self.take();
    }

    pub(crate) fn commit_works(&mut self) {
        assert!(self.commit_begins(), "there is something to commit");
        self.commit_ends(true, true);
    }

    pub(crate) fn commit_fails(&mut self) {
        assert!(self.commit_begins(), "there is something to commit");
        self.commit_ends(false, false);
    }

    pub(crate) const fn is_committing(&self) -> bool {
        self.commit.is_some()
    }

    /// The answer to the oldest call of this kind that has left, in a turn of its own.
    #[track_caller]
    pub(crate) fn serve(&mut self, kind: RequestKind) {
        let event = self.served(kind);
        self.turn([event]);
    }

    /// Carries out the oldest call of this kind.
    #[track_caller]
    pub(crate) fn served(&mut self, kind: RequestKind) -> Event {
        let at = self.out.iter().position(|(_, request)| request.kind() == kind);
        self.served_at(at.unwrap_or_else(|| panic!("no {} is out: {:?}", kind.as_str(), self.out)))
    }

    pub(crate) fn served_at(&mut self, at: usize) -> Event {
        let (id, request) = self.out.remove(at);
        self.over.insert(id);
        let answer = self.world.carry_out(&request);
        Event::Answer { id, answer: Box::new(answer) }
    }

    /// What the stream reports.
    pub(crate) fn reports(&mut self) -> Vec<Event> {
        let events = std::mem::take(&mut self.world.events);
        let Some(id) = self.watch else { return vec![] };
        events.into_iter().map(|event| Event::Runtime { id, event }).collect()
    }

    /// Everything goes on, commits work and calls are answered, until nothing is left to do now.
    pub(crate) fn flow(&mut self) {
        for _ in 0..500 {
            if !self.is_committing() && self.commit_begins() || self.is_committing() {
                self.commit_ends(true, true);
            } else if !self.step() {
                return;
            }
        }
        panic!("it does not come to rest: {:?}", self.out);
    }

    /// The stream that stands, one answer, one report or one deadline that is over.
    fn step(&mut self) -> bool {
        let reports = self.reports();
        if let Some(id) = self.opening.take() {
            self.open(id);
        } else if !reports.is_empty() {
            self.turn(reports);
        } else if !self.out.is_empty() {
            let event = self.served_at(0);
            self.turn([event]);
        } else if self.turns.poll_timeout().is_some_and(|due| due <= self.now.mono) {
            self.wake();
        } else {
            self.end_turn();
            return self.turns.engine().is_dirty() && !self.turns.engine().store_fails();
        }
        true
    }

    /// Dies and starts again on what the store holds.
    pub(crate) fn crash(&mut self) {
        let (ledger, saved) = Ledger::open(self.entries(), Some(self.witness)).unwrap();
        self.witness = ledger.generation();
        self.incarnation = saved.host.as_ref().map_or(1, |host| host.incarnation + 1);
        self.turns = turns(saved, ledger, self.now);
        self.was_submitted = self.durable_task().is_some() || self.views.iter().any(|view| view.removed);
        self.commit = None;
        self.out.clear();
        self.opening = None;
        self.watch = None;
        self.wake();
    }

    // Looking.

    /// Exactly this left since the last look.
    #[track_caller]
    pub(crate) fn leaves(&mut self, expected: &[&str]) {
        assert_eq!(std::mem::take(&mut self.left), expected);
    }

    pub(crate) fn take_left(&mut self) -> Vec<String> {
        std::mem::take(&mut self.left)
    }

    /// The stream that stands.
    pub(crate) fn stream(&self) -> ActionId {
        self.watch.expect("a stream stands")
    }

    pub(crate) fn open(&mut self, id: ActionId) {
        self.watch = Some(id);
        self.turn([Event::WatchOpened(id)]);
    }

    pub(crate) fn durable(&self) -> SavedState {
        Ledger::open(self.entries(), Some(self.witness)).unwrap().1
    }

    pub(crate) fn durable_task(&self) -> Option<SavedTask> {
        self.durable().tasks.into_iter().find(|task| task.state.id == task_id())
    }

    fn entries(&self) -> Vec<(Vec<u8>, Vec<u8>)> {
        self.store.iter().map(|(key, value)| (key.clone(), value.clone())).collect()
    }

    /// Takes what may leave now.
    fn take(&mut self) {
        for output in self.turns.outputs().collect::<Vec<_>>() {
            let words = match output {
                Output::Act(action) => self.act(action),
                Output::Show(view) => {
                    self.check_view(&view);
                    let known = view.containers[0].known;
                    self.views.push(view);
                    format!("show {known}")
                }
                Output::ShowHost(view) => {
                    let words = if view.store_failing.is_some() { "show host: store fails" } else { "show host" };
                    self.host = Some(view);
                    words.into()
                }
                Output::Refuse(_, error) => format!("refuse: {error}"),
            };
            self.left.push(words);
        }
    }

    fn act(&mut self, action: Action) -> String {
        match action {
            Action::Call { id, call } => {
                assert_eq!(id.incarnation, self.incarnation);
                self.check_call(&call.request);
                let words = call.request.kind().as_str().to_string();
                self.out.push((id, call.request));
                words
            }
            Action::Cancel(id) => {
                let Some(at) = self.out.iter().position(|(out, _)| *out == id) else {
                    assert!(self.over.contains(&id), "only what has left is cancelled");
                    return "cancel what is over".into();
                };
                let (_, request) = self.out.remove(at);
                format!("cancel {}", request.kind().as_str())
            }
            Action::Watch { id, .. } => {
                self.opening = Some(id);
                "watch".into()
            }
        }
    }

    /// What creates, or removes, leaves only on the strength of records that are durable.
    pub(crate) fn check_call(&self, request: &Request) {
        if request.is_protective() {
            return;
        }
        let durable = self.durable();
        assert_eq!(durable.host.map(|host| host.incarnation), Some(self.incarnation), "{request:?}");
        let task = durable.tasks.first().expect("no task is durable");
        let container = task.containers.first();
        match request {
            Request::Create(create) => {
                let container = container.expect("the container is durable");
                assert_eq!(container.runtime_name.as_ref(), Some(&create.name), "the name is not durable");
                assert!(container.create_sent.is_some(), "that it is sent is not durable");
            }
            Request::Start(target) => {
                let id = container.and_then(|container| container.runtime_id.clone()).map(ContainerTarget::Id);
                assert_eq!(id.as_ref(), Some(target), "the id is not durable");
            }
            Request::Remove(_) => assert!(task.state.known.is_terminal(), "that the task has stopped is not durable"),
            Request::Pull { .. } => {}
            Request::Ping
            | Request::Version
            | Request::InspectImage(_)
            | Request::Inspect(_)
            | Request::Stop { .. }
            | Request::Kill { .. }
            | Request::ResolveDigest(_)
            | Request::ListImages
            | Request::InspectVolume(_)
            | Request::ListVolumes(_)
            | Request::List(_) => panic!("{request:?} is protective"),
            Request::TagImage { .. }
            | Request::RemoveImage(_)
            | Request::CreateVolume(_)
            | Request::RemoveVolume(_) => panic!("{request:?} is asked by nobody"),
        }
    }

    /// Readers never see what a crash could take back.
    pub(crate) fn check_view(&self, view: &TaskView) {
        let Some(task) = self.durable_task() else {
            let is_gone = self.turns.engine().view(self.now, &view.id).is_none();
            return assert!(is_gone, "shown and not durable: {view:?}");
        };
        assert!(!view.removed, "shown as removed while it is durable");
        assert!(task.state.known.at_least(view.known) && task.state.desired.at_least(view.desired));
        for (shown, durable) in view.containers.iter().zip(&task.containers) {
            assert!(durable.known.at_least(shown.known), "{} shown, {} durable", shown.known, durable.known);
            assert!(durable.desired.at_least(shown.desired));
            assert!(shown.exit_code.is_none() || shown.exit_code == durable.exit_code);
            assert!(shown.runtime_id.is_none() || shown.runtime_id == durable.runtime_id);
        }
    }
}

fn turns(saved: SavedState, ledger: Ledger, now: Moment) -> Turns {
    let engine = Engine::take_up(settings(), InstanceId::from_bits(7), saved, 1, now).unwrap();
    Turns::new(engine, ledger)
}

impl World {
    pub(crate) fn process_ends(&mut self, code: i32) {
        if let Some(body) = self.container.as_mut().filter(|body| body.phase == Phase::Running) {
            body.phase = Phase::Exited { code: Some(code) };
            self.report(EventAction::Die { exit_code: Some(code) });
        }
    }

    fn report(&mut self, action: EventAction) {
        let container = self.container.as_ref().unwrap().id.clone();
        self.events.push(RuntimeEvent { at: Wall(1), container, action });
    }

    fn is_there(&self, target: &ContainerTarget) -> bool {
        self.container.as_ref().is_some_and(|body| match target {
            ContainerTarget::Id(id) => body.id == *id,
            ContainerTarget::Name(name) => body.name == *name,
        })
    }

    pub(crate) fn carry_out(&mut self, request: &Request) -> Answer {
        match request {
            Request::Version => Answer::Version(Outcome::Done(RuntimeVersion {
                version: "20.10.24".into(),
                api_version: "1.41".into(),
                min_api_version: "1.12".into(),
            })),
            Request::Ping => Answer::Ping(Outcome::Done(())),
            Request::List(_) => Answer::List(Outcome::Done(self.list())),
            Request::ResolveDigest(_)
            | Request::TagImage { .. }
            | Request::RemoveImage(_)
            | Request::ListImages
            | Request::CreateVolume(_)
            | Request::InspectVolume(_)
            | Request::RemoveVolume(_)
            | Request::ListVolumes(_) => panic!("{request:?} is asked by nobody"),
            Request::InspectImage(_) if self.image => Answer::InspectImage(Outcome::Done(image_facts())),
            Request::InspectImage(_) => Answer::InspectImage(Outcome::Gone),
            Request::Pull { .. } => {
                self.image = true;
                Answer::Pull(Outcome::Done(()))
            }
            Request::Create(create) if self.container.is_none() => {
                self.made += 1;
                let id = RuntimeId::parse(&format!("{:064x}", self.made)).unwrap();
                let (name, labels) = (create.name.clone(), create.config.labels.clone());
                self.container = Some(Body { id: id.clone(), name, labels, phase: Phase::Created });
                Answer::Create(Outcome::Done(Created { id, warnings: vec![] }))
            }
            Request::Create(_) => {
                Answer::Create(Outcome::Refused(Refusal::new(RefusalClass::NameInUse, "the name is in use")))
            }
            Request::Start(target) if self.is_there(target) => {
                self.container.as_mut().unwrap().phase = Phase::Running;
                self.report(EventAction::Start);
                Answer::Start(Outcome::Done(()))
            }
            Request::Start(_) => Answer::Start(Outcome::Gone),
            Request::Inspect(target) => {
                let found = self.container.as_ref().filter(|_| self.is_there(target));
                Answer::Inspect(found.map_or(Outcome::Gone, |body| Outcome::Done(body.facts())))
            }
            Request::Stop { container, .. } => Answer::Stop(self.end(container, 143)),
            Request::Kill { container, .. } => Answer::Kill(self.end(container, 137)),
            Request::Remove(target) => Answer::Remove(self.remove(target)),
        }
    }

    fn list(&self) -> Vec<ContainerSummary> {
        let one = |body: &Body| ContainerSummary {
            id: body.id.clone(),
            name: body.name.clone(),
            labels: body.labels.clone(),
            running: body.phase == Phase::Running,
        };
        self.container.iter().map(one).collect()
    }

    fn end(&mut self, target: &ContainerTarget, code: i32) -> Outcome<()> {
        if !self.is_there(target) {
            return Outcome::Gone;
        }
        self.process_ends(code);
        Outcome::Done(())
    }

    fn remove(&mut self, target: &ContainerTarget) -> Outcome<()> {
        match self.container.as_ref().filter(|_| self.is_there(target)) {
            None => Outcome::Gone,
            Some(body) if body.phase == Phase::Running => {
                Outcome::Refused(Refusal::new(RefusalClass::Conflict, "it is running"))
            }
            Some(_) => {
                self.container = None;
                Outcome::Done(())
            }
        }
    }
}

impl Body {
    fn facts(&self) -> Box<ContainerFacts> {
        let started = match self.phase {
            Phase::Running | Phase::Exited { .. } => Some(Wall(2)),
            Phase::Created | Phase::Dead { .. } => None,
        };
        Box::new(ContainerFacts {
            id: self.id.clone(),
            name: self.name.clone(),
            labels: self.labels.clone(),
            phase: self.phase,
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
}

fn image_facts() -> Box<ImageFacts> {
    Box::new(ImageFacts {
        id: ImageId::parse(&format!("sha256:{}", "1".repeat(64))).unwrap(),
        repo_digests: vec![],
        env_names: vec![],
        health_test: None,
    })
}
