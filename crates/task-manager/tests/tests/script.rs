//! A scripted partner of one task: it answers calls, reports events and lets time pass, and after every
//! step it checks what must always hold.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use lighterman_calls::{
    Answer, ContainerFacts, ContainerTarget, EventAction, Phase, Request, RequestKind, RuntimeEvent, labels,
};
use lighterman_ids::{
    ActionId, ActionIds, ContainerName, DefinitionDigest, Family, ImageRef, InstanceId, Moment, Mono, RuntimeName,
    TaskId, Wall,
};
use lighterman_status::{ContainerStatus, TaskStatus};
use lighterman_task_manager::{
    Action, Awaited, ContainerState, Context, Settings, TaskEvent, TaskManager, TaskSpec, TaskState,
};
use lighterman_taskdef::{ContainerDefinition, TaskDefinition};
use lighterman_view::{ContainerView, TaskView, Wait};

use crate::answers::{created, image_is_there, runtime_id, shows, started};

pub(crate) struct Script {
    pub(crate) task: TaskManager,
    pub(crate) now: Moment,
    pub(crate) settings: Settings,
    ids: ActionIds,
    pub(crate) instance: InstanceId,
    store_failing: Option<String>,
    pub(crate) ready: bool,
    closing: bool,
    /// Calls that are out, oldest first.
    pub(crate) out: Vec<(ActionId, Request)>,
    /// Calls that were given up.
    pub(crate) given_up: Vec<(ActionId, Request)>,
    /// What the task did since the script last looked.
    did: Vec<String>,
    /// Known and desired before the last step: task, then containers.
    before: Option<TaskView>,
    /// Every known status of the first container so far.
    pub(crate) history: Vec<ContainerStatus>,
}

/// One essential container named `web`.
pub(crate) fn definition() -> TaskDefinition {
    let web = ContainerDefinition::new(ContainerName::parse("web").unwrap(), ImageRef::parse("web:1").unwrap());
    TaskDefinition::new(Family::parse("site").unwrap(), vec![web])
}

pub(crate) fn spec(definition: TaskDefinition) -> TaskSpec {
    let id = TaskId::from_bits(1);
    TaskSpec {
        arn: id.local_arn(None),
        id,
        definition: Arc::new(definition),
        digest: DefinitionDigest::parse(&format!("sha256:{}", "0".repeat(64))).unwrap(),
        seed: 1,
    }
}

impl Script {
    /// A task that was accepted and woken once.
    pub(crate) fn new() -> Self {
        Self::of(definition())
    }

    pub(crate) fn of(definition: TaskDefinition) -> Self {
        let mut script = Self::accepted(definition);
        script.wake();
        script
    }

    /// A task that was accepted and not driven yet.
    pub(crate) fn accepted(definition: TaskDefinition) -> Self {
        let now = Moment { mono: Mono(1_000_000_000_000), wall: Wall(1_700_000_000_000_000_000), ..Moment::default() };
        let task = TaskManager::accept(spec(definition), now).unwrap();
        Self {
            task,
            now,
            settings: Settings::REFERENCE,
            ids: ActionIds::new(1),
            instance: InstanceId::from_bits(7),
            store_failing: None,
            ready: true,
            closing: false,
            out: vec![],
            given_up: vec![],
            did: vec![],
            before: None,
            history: vec![],
        }
    }

    /// A task whose image is there.
    pub(crate) fn pulled() -> Self {
        let mut script = Self::new();
        script.does(&["inspect-image"]);
        script.answer(image_is_there());
        script
    }

    /// A task whose container exists.
    pub(crate) fn created() -> Self {
        let mut script = Self::pulled();
        script.does(&["create"]);
        script.answer(created());
        script
    }

    /// A task whose container runs.
    pub(crate) fn running() -> Self {
        Self::running_of(definition())
    }

    pub(crate) fn running_of(definition: TaskDefinition) -> Self {
        let mut script = Self::of(definition);
        script.does(&["inspect-image"]);
        script.answer(image_is_there());
        script.does(&["create"]);
        script.answer(created());
        script.does(&["start"]);
        script.answer(started());
        script.does(&["inspect"]);
        script.answer(shows(script.facts(Phase::Running)));
        script.does(&[]);
        assert_eq!(script.known(), ContainerStatus::Running);
        script
    }

    /// What an inspect of our container shows in this phase.
    pub(crate) fn facts(&self, phase: Phase) -> Box<ContainerFacts> {
        let ran = match phase {
            Phase::Running | Phase::Exited { code: Some(_) } => Some(Wall(1_700_000_000_500_000_000)),
            Phase::Created | Phase::Exited { code: None } | Phase::Dead { .. } => None,
        };
        let ended = match phase {
            Phase::Exited { code: Some(_) } => Some(Wall(1_700_000_009_000_000_000)),
            Phase::Created | Phase::Running | Phase::Exited { code: None } | Phase::Dead { .. } => None,
        };
        Box::new(ContainerFacts {
            id: runtime_id(),
            name: self.container().runtime_name.clone().unwrap_or_else(|| RuntimeName::parse("elsewhere").unwrap()),
            labels: BTreeMap::from([
                (labels::INSTANCE.to_string(), self.instance.to_string()),
                (labels::TASK.to_string(), self.task.id().to_string()),
                (labels::CONTAINER.to_string(), "web".to_string()),
            ]),
            phase,
            oom_killed: false,
            error: String::new(),
            created_at: None,
            started_at: ran,
            finished_at: ended,
            health: None,
            ports: vec![],
            image: None,
        })
    }

    pub(crate) fn exited(&self, code: i32) -> Box<ContainerFacts> {
        self.facts(Phase::Exited { code: Some(code) })
    }

    // Steps.

    /// Answers the oldest call of this kind that is out.
    #[track_caller]
    pub(crate) fn answer(&mut self, answer: Answer) {
        let kind = answer.kind();
        let at = self.out.iter().position(|(_, request)| request.kind() == kind);
        let (id, _) = self.out.remove(at.unwrap_or_else(|| panic!("no {} is out", kind.as_str())));
        self.tell(TaskEvent::Answer { id, answer: Box::new(answer) });
    }

    /// Says of the oldest call of this kind that it never left.
    #[track_caller]
    pub(crate) fn never_sent(&mut self, kind: RequestKind) {
        let at = self.out.iter().position(|(_, request)| request.kind() == kind);
        let (id, _) = self.out.remove(at.unwrap_or_else(|| panic!("no {} is out", kind.as_str())));
        self.tell(TaskEvent::NeverSent(id));
    }

    /// The runtime reports something about our container.
    pub(crate) fn event(&mut self, action: EventAction) {
        self.tell(TaskEvent::Runtime(RuntimeEvent { at: self.now.wall, container: runtime_id(), action }));
    }

    /// A list shows our container running or not, or does not show it.
    pub(crate) fn listed(&mut self, running: Option<bool>) {
        let list = running.into_iter().map(|running| (runtime_id(), running)).collect();
        self.tell(TaskEvent::Listed(Arc::new(list)));
    }

    pub(crate) fn stop(&mut self) {
        self.tell(TaskEvent::Stop { reason: None, force: false });
    }

    pub(crate) fn stop_by_force(&mut self) {
        self.tell(TaskEvent::Stop { reason: None, force: true });
    }

    pub(crate) fn store_fails(&mut self) {
        self.store_failing = Some("disk full".into());
    }

    pub(crate) fn store_works(&mut self) {
        self.store_failing = None;
        self.tell(TaskEvent::Resume);
    }

    pub(crate) const fn close(&mut self) {
        self.closing = true;
    }

    pub(crate) fn tell(&mut self, event: TaskEvent) {
        self.with(|task, cx| task.handle_event(cx, event));
    }

    pub(crate) fn wake(&mut self) {
        self.with(TaskManager::handle_timeout);
    }

    /// Both clocks move on, without anything that is due being done.
    pub(crate) fn passes(&mut self, time: Duration) {
        self.now.mono = self.now.mono.after(time);
        self.now.wall = self.now.wall.after(time);
    }

    /// Time passes until something is due, and it is done. Returns how long that took.
    #[track_caller]
    pub(crate) fn until_due(&mut self) -> Duration {
        let due = self.due().expect("something is due");
        let waited = due.since(self.now.mono);
        self.passes(waited);
        self.wake();
        self.wake();
        let again = self.due();
        assert!(again.is_none_or(|again| again > self.now.mono), "a deadline that is over stays: it spins");
        waited
    }

    /// Dies and is taken up from its records; calls of the dead are forgotten.
    pub(crate) fn restart(&mut self) {
        let containers = (0..self.task.container_count()).filter_map(|c| self.task.container_state(c)).collect();
        self.restart_from(self.task.state(), containers);
    }

    /// The same, from these records.
    pub(crate) fn restart_from(&mut self, state: TaskState, containers: Vec<ContainerState>) {
        let spec = self.task.spec().clone();
        self.task = TaskManager::restore(spec, state, containers, self.now).unwrap();
        self.ids = ActionIds::new(self.ids.incarnation() + 1);
        self.given_up.append(&mut self.out);
        self.did.clear();
        self.before = None;
    }

    /// The same, on another boot of the host.
    pub(crate) fn reboot(&mut self, wall: Wall) {
        self.now = Moment { boot: lighterman_ids::BootId(9), mono: Mono(5_000_000_000), wall };
        self.restart();
    }

    // Looking.

    /// Exactly this was done since the last look.
    #[track_caller]
    pub(crate) fn does(&mut self, expected: &[&str]) {
        assert_eq!(core::mem::take(&mut self.did), expected);
    }

    /// What was done since the last look.
    pub(crate) fn deeds(&mut self) -> Vec<String> {
        core::mem::take(&mut self.did)
    }

    pub(crate) fn forget_deeds(&mut self) {
        self.did.clear();
    }

    pub(crate) fn due(&mut self) -> Option<Mono> {
        let mut due = None;
        self.with(|task, cx| due = task.poll_timeout(cx));
        due
    }

    pub(crate) fn view(&self) -> TaskView {
        let mut ids = self.ids.clone();
        let cx = Context {
            now: self.now,
            ids: &mut ids,
            settings: &self.settings,
            instance: &self.instance,
            store_failing: self.store_failing.as_deref(),
            awaited: self.awaited(),
            closing: self.closing,
        };
        self.task.view(&cx)
    }

    fn awaited(&self) -> Option<Awaited<'static>> {
        (!self.ready).then_some(Awaited { since: self.now, trouble: None, until: None })
    }

    pub(crate) fn container(&self) -> ContainerView {
        self.view().containers[0].clone()
    }

    pub(crate) fn known(&self) -> ContainerStatus {
        self.container().known
    }

    pub(crate) fn desired(&self) -> ContainerStatus {
        self.container().desired
    }

    /// `Name: text` of the container's error, empty without one.
    pub(crate) fn error(&self) -> String {
        self.container().reason.map(|reason| reason.to_string()).unwrap_or_default()
    }

    pub(crate) fn wait(&self) -> Option<Wait> {
        self.container().wait
    }

    pub(crate) fn request(&self, kind: RequestKind) -> &Request {
        let found = self.out.iter().find(|(_, request)| request.kind() == kind);
        found.map(|(_, request)| request).expect("a call of this kind is out")
    }

    // Inside.

    #[track_caller]
    fn with(&mut self, step: impl FnOnce(&mut TaskManager, &mut Context<'_>)) {
        let awaited = self.awaited();
        let mut cx = Context {
            now: self.now,
            ids: &mut self.ids,
            settings: &self.settings,
            instance: &self.instance,
            store_failing: self.store_failing.as_deref(),
            awaited,
            closing: self.closing,
        };
        step(&mut self.task, &mut cx);
        while let Some(action) = self.task.poll_action() {
            let words = self.taken(action);
            self.did.push(words);
        }
        self.check();
    }

    /// Notes the action; returns it in words.
    fn taken(&mut self, action: Action) -> String {
        match action {
            Action::Call { id, call } => {
                let words = words(&call.request);
                self.out.push((id, call.request));
                words
            }
            Action::Cancel(id) => {
                let at = self.out.iter().position(|(out, _)| *out == id).expect("only what is out is cancelled");
                let call = self.out.remove(at);
                let words = format!("cancel {}", words(&call.1));
                self.given_up.push(call);
                words
            }
        }
    }

    /// What holds after every step.
    #[track_caller]
    fn check(&mut self) {
        let view = self.view();
        if let Some(before) = &self.before {
            assert_rises(before, &view);
        }
        self.check_calls();
        for container in view.containers.iter().filter(|_| !view.removed && !self.closing) {
            let state = self.task.container_state(0);
            assert!(
                container.wait.is_some() || self.is_container_removed(&container.name),
                "{} waits for nothing: {state:?}",
                container.name
            );
        }
        let known = view.containers[0].known;
        if self.history.last() != Some(&known) {
            self.history.push(known);
        }
        self.before = Some(view);
    }

    fn is_container_removed(&self, name: &ContainerName) -> bool {
        (0..self.task.container_count())
            .filter_map(|c| self.task.container_state(c))
            .any(|state| state.name == *name && state.removed)
    }

    /// Per container at most one transition is in progress, and one inspect out.
    #[track_caller]
    fn check_calls(&self) {
        let waited_for: Vec<&Request> =
            self.out.iter().filter(|(id, _)| self.task.awaits(*id)).map(|(_, request)| request).collect();
        let of = |kinds: &[RequestKind]| waited_for.iter().filter(|request| kinds.contains(&request.kind())).count();
        let containers = self.task.container_count();
        assert!(of(&[RequestKind::Inspect]) <= containers, "inspects side by side: {waited_for:?}");
        // A create or a start may be late, while what follows from its effect goes on.
        for kind in [RequestKind::Create, RequestKind::Start, RequestKind::Pull, RequestKind::Remove] {
            assert!(of(&[kind]) <= containers, "twice the same call: {waited_for:?}");
        }
        assert!(of(&[RequestKind::Stop, RequestKind::Pull, RequestKind::Remove]) <= containers, "{waited_for:?}");
    }
}

#[track_caller]
fn assert_rises(before: &TaskView, after: &TaskView) {
    assert!(after.known.at_least(before.known), "task {} to {}", before.known, after.known);
    assert!(after.desired.at_least(before.desired), "task desired {} to {}", before.desired, after.desired);
    if before.known == TaskStatus::Stopped {
        assert_eq!(after.reason, before.reason, "a task that has stopped changes its reason");
    }
    for (before, after) in before.containers.iter().zip(&after.containers) {
        assert!(after.known.at_least(before.known), "{} {} to {}", after.name, before.known, after.known);
        assert!(after.desired.at_least(before.desired), "{} {} to {}", after.name, before.desired, after.desired);
        assert!(before.reason.is_none() || after.reason.is_some(), "{} lost its error", after.name);
        assert!(before.exit_code.is_none() || after.exit_code.is_some(), "{} lost its exit code", after.name);
    }
}

pub(crate) fn words(request: &Request) -> String {
    let kind = request.kind().as_str();
    match request {
        Request::Inspect(target) | Request::Start(target) | Request::Remove(target) => {
            let by = match target {
                ContainerTarget::Id(_) => "",
                ContainerTarget::Name(_) => " by name",
            };
            format!("{kind}{by}")
        }
        Request::Stop { grace, .. } => format!("{kind} {}s", grace.as_secs()),
        Request::Kill { signal, .. } => format!("{kind} {}", signal.as_str()),
        Request::Ping
        | Request::Version
        | Request::InspectImage(_)
        | Request::Pull { .. }
        | Request::Create(_)
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
