//! A small honest runtime: it does what it is asked and shows what is. Calls that were lost may be carried
//! out later, within their limit.

use std::{
    collections::{BTreeMap, VecDeque},
    time::Duration,
};

use lighterman_calls::{
    Answer, ContainerFacts, ContainerTarget, CreateRequest, Created, EventAction, Outcome, Phase, RefusalClass,
    Request, RuntimeEvent,
};
use lighterman_ids::{ActionId, Mono, RuntimeId, RuntimeName, Wall};
use lighterman_status::ContainerStatus;
use lighterman_task_manager::TaskEvent;

use crate::{
    answers::{image_facts, refusal, runtime_id},
    script::Script,
};

#[derive(Default)]
pub(crate) struct World {
    image: bool,
    pub(crate) container: Option<Body>,
    /// Lost calls that are still to be carried out, and until when at the latest.
    pub(crate) late: Vec<(Request, Mono)>,
    pub(crate) events: VecDeque<RuntimeEvent>,
    /// Answers of calls that were carried out and are still on their way.
    under_way: BTreeMap<ActionId, Answer>,
    made: u64,
    clock: i64,
}

/// A container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Body {
    id: RuntimeId,
    name: RuntimeName,
    labels: BTreeMap<String, String>,
    phase: Phase,
    started_at: Option<Wall>,
    finished_at: Option<Wall>,
}

impl World {
    /// The world of a script that has brought its container up.
    pub(crate) fn beside_a_running(s: &Script) -> Self {
        let facts = s.facts(Phase::Running);
        let body = Body {
            id: runtime_id(),
            name: facts.name,
            labels: facts.labels,
            phase: Phase::Running,
            started_at: facts.started_at,
            finished_at: None,
        };
        Self { image: true, container: Some(body), ..Self::default() }
    }

    /// Carries out the nth call that is out and answers it.
    pub(crate) fn serve(&mut self, s: &mut Script, nth: usize) {
        let (id, request) = s.out.remove(nth);
        let answer = self.answer(id, &request);
        s.tell(TaskEvent::Answer { id, answer: Box::new(answer) });
    }

    /// Carries out the nth call that is out; the answer stays under way, and grows old.
    pub(crate) fn begin(&mut self, s: &Script, nth: usize) {
        if let Some((id, request)) = s.out.get(nth).filter(|(id, _)| !self.under_way.contains_key(id)) {
            let answer = self.carry_out(request);
            self.under_way.insert(*id, answer);
        }
    }

    /// The answer to a call, which is carried out unless it was.
    pub(crate) fn answer(&mut self, id: ActionId, request: &Request) -> Answer {
        self.under_way.remove(&id).unwrap_or_else(|| self.carry_out(request))
    }

    pub(crate) fn has_begun(&self, id: ActionId) -> bool {
        self.under_way.contains_key(&id)
    }

    pub(crate) fn deliver(&mut self, s: &mut Script) {
        while let Some(event) = self.events.pop_front() {
            s.tell(TaskEvent::Runtime(event));
        }
    }

    /// A list as it is now.
    pub(crate) fn list(&self, s: &mut Script) {
        let list = self.container.iter().map(|body| (body.id.clone(), body.phase == Phase::Running)).collect();
        s.tell(TaskEvent::Listed(std::sync::Arc::new(list)));
    }

    /// Before so much time passes, what was lost and has its limit within it is carried out.
    pub(crate) fn before(&mut self, until: Mono) {
        let (due, rest) = std::mem::take(&mut self.late).into_iter().partition(|(_, limit)| *limit <= until);
        self.late = rest;
        let due: Vec<(Request, Mono)> = due;
        for (request, _) in due {
            self.carry_out(&request);
        }
    }

    /// Everything that was lost is carried out now.
    pub(crate) fn before_all(&mut self) {
        self.before(Mono(u64::MAX));
    }

    /// Goes on without faults until the task is removed, or waits for its container to end.
    #[track_caller]
    pub(crate) fn settle(&mut self, s: &mut Script) {
        for _ in 0..2_000 {
            self.deliver(s);
            if !s.out.is_empty() {
                self.serve(s, 0);
            } else if let Some(due) = s.due() {
                self.before(due);
                self.deliver(s);
                s.until_due();
            } else {
                return;
            }
        }
        panic!("no end is in sight: {:?}", s.view());
    }

    pub(crate) fn runs(&self) -> bool {
        self.container.as_ref().is_some_and(|body| body.phase == Phase::Running)
    }

    // What others do.

    pub(crate) fn process_ends(&mut self, code: i32) {
        if let Some(body) = self.container.as_mut().filter(|body| body.phase == Phase::Running) {
            self.clock += 1;
            body.phase = Phase::Exited { code: Some(code) };
            body.finished_at = Some(Wall(self.clock));
            self.event(EventAction::Die { exit_code: Some(code) });
        }
    }

    pub(crate) fn somebody_starts_it(&mut self) {
        if self.container.is_some() {
            self.start();
        }
    }

    pub(crate) fn somebody_removes_it(&mut self) {
        self.process_ends(137);
        if self.container.is_some() {
            self.event(EventAction::Destroy);
            self.container = None;
        }
    }

    /// Does what the call asks for and says how it ended.
    pub(crate) fn carry_out(&mut self, request: &Request) -> Answer {
        match request {
            Request::Ping => Answer::Ping(Outcome::Done(())),
            Request::InspectImage(_) if self.image => Answer::InspectImage(Outcome::Done(image_facts())),
            Request::InspectImage(_) => Answer::InspectImage(Outcome::Gone),
            Request::Pull { .. } => {
                self.image = true;
                Answer::Pull(Outcome::Done(()))
            }
            Request::Create(create) => Answer::Create(self.create(create)),
            Request::Start(target) if self.is_there(target) => {
                self.start();
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
            Request::Version
            | Request::ResolveDigest(_)
            | Request::TagImage { .. }
            | Request::RemoveImage(_)
            | Request::ListImages
            | Request::CreateVolume(_)
            | Request::InspectVolume(_)
            | Request::RemoveVolume(_)
            | Request::ListVolumes(_)
            | Request::List(_) => panic!("a task does not ask the host's questions"),
        }
    }

    fn is_there(&self, target: &ContainerTarget) -> bool {
        self.container.as_ref().is_some_and(|body| match target {
            ContainerTarget::Id(id) => body.id == *id,
            ContainerTarget::Name(name) => body.name == *name,
        })
    }

    fn create(&mut self, request: &CreateRequest) -> Outcome<Created> {
        if self.container.is_some() {
            return Outcome::Refused(refusal(RefusalClass::NameInUse, "the name is in use"));
        }
        self.made += 1;
        let id = RuntimeId::parse(&format!("{:064x}", self.made)).unwrap();
        self.container = Some(Body {
            id: id.clone(),
            name: request.name.clone(),
            labels: request.config.labels.clone(),
            phase: Phase::Created,
            started_at: None,
            finished_at: None,
        });
        Outcome::Done(Created { id, warnings: vec![] })
    }

    fn start(&mut self) {
        let body = self.container.as_mut().unwrap();
        if body.phase != Phase::Running {
            self.clock += 1;
            body.phase = Phase::Running;
            body.started_at = Some(Wall(self.clock));
            self.event(EventAction::Start);
        }
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
                Outcome::Refused(refusal(RefusalClass::Conflict, "it is running"))
            }
            Some(_) => {
                self.event(EventAction::Destroy);
                self.container = None;
                Outcome::Done(())
            }
        }
    }

    fn event(&mut self, action: EventAction) {
        let body = self.container.as_ref().unwrap();
        self.events.push_back(RuntimeEvent { at: Wall(self.clock), container: body.id.clone(), action });
    }
}

impl Body {
    fn facts(&self) -> Box<ContainerFacts> {
        Box::new(ContainerFacts {
            id: self.id.clone(),
            name: self.name.clone(),
            labels: self.labels.clone(),
            phase: self.phase,
            oom_killed: false,
            error: String::new(),
            created_at: None,
            started_at: self.started_at,
            finished_at: self.finished_at,
            health: None,
            ports: vec![],
            image: None,
        })
    }
}

#[test]
fn a_task_goes_all_the_way_in_an_honest_world() {
    let mut s = Script::new();
    let mut world = World::default();
    world.settle(&mut s);
    assert_eq!(s.known(), ContainerStatus::Running);
    world.process_ends(3);
    let before = s.now.mono;
    world.settle(&mut s);
    assert_eq!((s.known(), s.container().exit_code), (ContainerStatus::Stopped, Some(3)));
    assert!(s.task.is_removed());
    assert_eq!(world.container, None);
    assert_eq!(s.now.mono.since(before), Duration::from_secs(10_800), "kept for the clean-up wait");
}
