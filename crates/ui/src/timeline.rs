//! What changed from one view to the next.

use std::{collections::BTreeMap, time::Duration};

use lighterman_ids::{ContainerName, Moment};
use lighterman_status::{ContainerStatus, Health};
use lighterman_view::{ContainerView, StopReason, TaskView, Wait, WaitReason};

use crate::{
    event::{Changed, ContainerEvent, Kind, Reason, TaskEvent, WaitDetails, WaitEvent, What},
    ports,
    zone::rfc3339,
};

/// Compares each view of a task with the one before it.
///
/// Of several changes between two views each is told; what was passed through between them is not, as nobody saw it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Timeline {
    last: Option<TaskView>,
    /// When this process was first heard of; waits of an earlier one are counted from here.
    began: Option<Moment>,
    /// When `known` of a container changed last.
    known_since: BTreeMap<ContainerName, Moment>,
    /// Since when a container waits for the same kind of thing: an absence of Docker whose words change is one absence.
    waiting_since: BTreeMap<ContainerName, (Kind, Moment)>,
}

impl Timeline {
    /// The last view.
    #[must_use]
    pub(crate) const fn last(&self) -> Option<&TaskView> {
        self.last.as_ref()
    }

    /// Since when a container waits for what it waits for now.
    pub(crate) fn waiting_since(&self, container: &ContainerName) -> Option<Moment> {
        self.waiting_since.get(container).map(|(_, since)| *since)
    }

    /// The command begins its work, or shows its first view.
    pub(crate) fn begin(&mut self, now: Moment) {
        self.began.get_or_insert(now);
    }

    /// What changed since the last view, in the order in which it is told.
    pub(crate) fn observe(&mut self, now: Moment, view: &TaskView) -> Vec<What> {
        self.begin(now);
        let last = self.last.take().filter(|last| last.id == view.id);
        let mut events = Vec::new();
        let task = task_changes(last.as_ref(), view);
        if last.is_none() {
            self.known_since.clear();
            self.waiting_since.clear();
            events.push(What::Task(task_event(now, view, task.clone())));
        }
        // A wish comes before what follows from it, a fact after what it follows from.
        let (wish, fact) = if is_wish(&task) { (task, vec![]) } else { (vec![], task) };
        if last.is_some() && !wish.is_empty() {
            events.push(What::Task(task_event(now, view, wish)));
        }
        for container in &view.containers {
            let before = last.iter().flat_map(|last| &last.containers).find(|before| before.name == container.name);
            self.observe_container(now, view, container, before, &mut events);
        }
        if last.is_some() && !fact.is_empty() {
            events.push(What::Task(task_event(now, view, fact)));
        }
        self.last = Some(view.clone());
        events
    }

    fn observe_container(
        &mut self,
        now: Moment,
        view: &TaskView,
        container: &ContainerView,
        before: Option<&ContainerView>,
        events: &mut Vec<What>,
    ) {
        let changed = container_changes(before, container);
        if !changed.is_empty() {
            let since = self.known_since.get(&container.name).copied().unwrap_or(view.accepted_at);
            if changed.contains(&Changed::Known) {
                self.known_since.insert(container.name.clone(), now);
            }
            events.push(What::Container(container_event(view, container, changed, now.since(since))));
        }
        let (old, new) = (before.and_then(|before| before.wait.as_ref()), container.wait.as_ref());
        if old.map(|wait| (&wait.reason, wait.since)) != new.map(|wait| (&wait.reason, wait.since)) {
            let began = self.waiting_since(&container.name);
            self.remember_wait(now, container);
            let since = self.waiting_since(&container.name);
            let wait = new.zip(since).map(|(wait, since)| wait_details(now, wait, since));
            events.push(What::Wait(WaitEvent {
                task: view.id.to_string(),
                container: container.name.to_string(),
                known: container.known.as_str(),
                wait,
                waited_ms: began.map(|began| millis(now.since(began))),
            }));
        }
    }

    fn remember_wait(&mut self, now: Moment, container: &ContainerView) {
        let Some(wait) = &container.wait else {
            self.waiting_since.remove(&container.name);
            return;
        };
        let kind = Kind::of(&wait.reason);
        let goes_on =
            self.waiting_since.get(&container.name).is_some_and(|(known, _)| *known == kind && kind.is_long());
        if !goes_on {
            self.waiting_since.insert(container.name.clone(), (kind, self.counted_from(now, kind, wait.since)));
        }
    }

    /// Nobody has waited before this process began. A container has run before, though.
    fn counted_from(&self, now: Moment, kind: Kind, since: Moment) -> Moment {
        match self.began {
            Some(began) if kind != Kind::Running && now.since(since) > now.since(began) => began,
            Some(_) | None => since,
        }
    }
}

fn task_changes(last: Option<&TaskView>, view: &TaskView) -> Vec<Changed> {
    let Some(last) = last else { return vec![Changed::Known, Changed::Desired] };
    let pairs = [
        (last.known != view.known, Changed::Known),
        (last.desired != view.desired, Changed::Desired),
        (last.health() != view.health(), Changed::Health),
        (last.reason != view.reason, Changed::Reason),
        (last.exit_code() != view.exit_code(), Changed::ExitCode),
        (last.lingering != view.lingering, Changed::Lingering),
        (last.removed != view.removed, Changed::Removed),
    ];
    pairs.into_iter().filter(|(changed, _)| *changed).map(|(_, what)| what).collect()
}

/// A container of a new task that has not moved yet is no news.
fn container_changes(before: Option<&ContainerView>, container: &ContainerView) -> Vec<Changed> {
    let fresh = ContainerView {
        known: ContainerStatus::None,
        desired: container.desired,
        health: Health::Unknown,
        runtime_name: None,
        runtime_id: None,
        exit_code: None,
        reason: None,
        started_at: None,
        finished_at: None,
        ports: Vec::new(),
        ..container.clone()
    };
    let before = before.unwrap_or(&fresh);
    let runtime = |view: &ContainerView| (view.runtime_name.clone(), view.runtime_id.clone());
    let pairs = [
        (before.known != container.known, Changed::Known),
        (before.desired != container.desired, Changed::Desired),
        (before.health != container.health, Changed::Health),
        (runtime(before) != runtime(container), Changed::Runtime),
        (before.ports != container.ports, Changed::Ports),
        (before.exit_code != container.exit_code, Changed::ExitCode),
        (before.reason != container.reason, Changed::Reason),
        ((before.started_at, before.finished_at) != (container.started_at, container.finished_at), Changed::Times),
    ];
    pairs.into_iter().filter(|(changed, _)| *changed).map(|(_, what)| what).collect()
}

fn task_event(now: Moment, view: &TaskView, changed: Vec<Changed>) -> TaskEvent {
    TaskEvent {
        task: view.id.to_string(),
        family: view.family.to_string(),
        revision: view.revision,
        definition: view.definition.to_string(),
        changed,
        known: view.known.as_str(),
        desired: view.desired.as_str(),
        health: view.health().as_str(),
        reason: view.reason.clone(),
        exit_code: view.exit_code(),
        lingering: view.lingering,
        removed: view.removed,
        elapsed_ms: millis(lasted(view, now)),
    }
}

/// From its acceptance to the end of its execution, or to now while that goes on.
pub(crate) fn lasted(view: &TaskView, now: Moment) -> Duration {
    view.execution_stopped_at.unwrap_or(now).since(view.accepted_at)
}

fn container_event(
    view: &TaskView,
    container: &ContainerView,
    changed: Vec<Changed>,
    elapsed: Duration,
) -> ContainerEvent {
    ContainerEvent {
        task: view.id.to_string(),
        container: container.name.to_string(),
        image: container.image.to_string(),
        essential: container.essential,
        changed,
        known: container.known.as_str(),
        desired: container.desired.as_str(),
        health: container.has_health_check.then(|| container.health.as_str()),
        runtime_name: container.runtime_name.as_ref().map(ToString::to_string),
        runtime_id: container.runtime_id.as_ref().map(ToString::to_string),
        exit_code: container.exit_code,
        reason: container.reason.as_ref().map(reason),
        ports: container.ports.iter().map(ports::port).collect(),
        started_at: container.started_at.map(rfc3339),
        finished_at: container.finished_at.map(rfc3339),
        stop_timeout_ms: millis(container.stop_timeout),
        elapsed_ms: millis(elapsed),
    }
}

fn reason(reason: &StopReason) -> Reason {
    Reason { name: reason.name.into(), text: reason.text.clone(), advice: reason.advice.map(Into::into) }
}

fn wait_details(now: Moment, wait: &Wait, since: Moment) -> WaitDetails {
    let (call, attempt) = match &wait.reason {
        WaitReason::Call { kind, attempt } => (Some(kind.as_str()), Some(*attempt)),
        WaitReason::Pause { attempt, .. } => (None, Some(*attempt)),
        WaitReason::Store { .. }
        | WaitReason::RuntimeAway { .. }
        | WaitReason::Running
        | WaitReason::Cleanup
        | WaitReason::LateCreate
        | WaitReason::Closing
        | WaitReason::Connecting => (None, None),
    };
    let left = wait.until.map(|until| until.since(now.mono));
    let cause = if let WaitReason::Pause { after, .. } = &wait.reason { Some(after.clone()) } else { None };
    WaitDetails {
        kind: Kind::of(&wait.reason),
        text: wait.reason.to_string(),
        ends_when: wait.reason.ends_when(),
        call,
        attempt,
        since: rfc3339(since.wall),
        until: left.map(|left| rfc3339(now.wall.after(left))),
        left_ms: left.map(millis),
        cause,
    }
}

/// Whether a task was told where to go, rather than found to be somewhere.
fn is_wish(changed: &[Changed]) -> bool {
    changed.contains(&Changed::Desired) && !changed.contains(&Changed::Known)
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
