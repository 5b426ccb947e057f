//! The link to the runtime: connecting, the event stream, re-checks (engine.md 4.1, 4.10, 4.12).

use alloc::{
    collections::{BTreeMap, BTreeSet},
    string::String,
    sync::Arc,
    vec::Vec,
};

use lighterman_backoff::{derive_nth, up_to};
use lighterman_calls::{
    Answer, Call, ContainerSummary, Lost, LostCause, Outcome, Refusal, RefusalClass, Request, RuntimeEvent,
    RuntimeVersion,
};
use lighterman_ids::{ActionId, Moment, Mono, TaskId, Wall};
use lighterman_task_manager::{Awaited, TaskEvent};
use lighterman_view::{HostView, LeftAlone, RuntimeLink};

use super::{Engine, calls::AskedBy};
use crate::{Action, HostSettings};

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Link {
    /// When this agent began.
    begun: Moment,
    state: LinkState,
    version: Option<String>,
    /// Failures in a row of what is being tried.
    failures: u32,
    /// Stamp of the last event, where the next stream begins.
    seen: Option<Wall>,
    /// Since when no proper answer came; `None` while they come.
    silent_since: Option<Moment>,
    trouble: Option<String>,
    gave_up: bool,
    listing: Option<Listing>,
    recheck_at: Option<Mono>,
    rechecks: u64,
    /// A list was answered.
    checked: bool,
    /// A list was asked for and not answered yet: also without a task it may show what nobody knows of.
    owes_list: bool,
    /// Tasks may work: the stream stood at least once.
    ready: bool,
    /// What the last list showed, with our labels, that is not surely ours.
    pub(super) left_alone: Vec<LeftAlone>,
}

/// The list of containers that is out.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Listing {
    id: ActionId,
    /// Something happened since it left: another has to follow it.
    again: bool,
    /// Tasks that were removed since it left: their containers may still stand in it.
    forgotten: BTreeSet<TaskId>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum LinkState {
    /// Nothing is out; the next try waits for its time.
    Pausing(Mono),
    AskingVersion(ActionId),
    Opening(ActionId),
    /// The stream stands.
    Watching {
        id: ActionId,
        since: Mono,
    },
    /// It cannot be used; nothing is tried any more.
    Unusable(String),
}

impl Link {
    pub(super) const fn new(begun: Moment) -> Self {
        Self {
            begun,
            state: LinkState::Pausing(Mono(0)),
            version: None,
            failures: 0,
            seen: None,
            silent_since: None,
            trouble: None,
            gave_up: false,
            listing: None,
            recheck_at: None,
            rechecks: 0,
            checked: false,
            owes_list: false,
            ready: false,
            left_alone: Vec::new(),
        }
    }

    /// Whether tasks may be driven: nothing they cause will be missed.
    pub(super) const fn is_ready(&self) -> bool {
        self.ready
    }

    /// How tasks wait for it; `None` once they may be driven.
    pub(super) fn awaited(&self, settings: &HostSettings) -> Option<Awaited<'_>> {
        let wait =
            || Awaited { since: self.begun, trouble: self.trouble.as_deref(), until: self.gives_up_at(settings) };
        (!self.ready).then(wait)
    }

    fn gives_up_at(&self, settings: &HostSettings) -> Option<Mono> {
        let silent = self.silent_since.filter(|_| !self.gave_up)?;
        Some(silent.mono.after(settings.patience?))
    }

    fn is_watching(&self, by: ActionId) -> bool {
        match self.state {
            LinkState::Watching { id, .. } => id == by,
            LinkState::Pausing(_) | LinkState::AskingVersion(_) | LinkState::Opening(_) | LinkState::Unusable(_) => {
                false
            }
        }
    }

    /// All of the task is gone, so a list that is out may only tell of the past.
    pub(super) fn note_forgotten(&mut self, task: &TaskId) {
        if let Some(listing) = &mut self.listing {
            listing.forgotten.insert(task.clone());
        }
    }

    pub(super) fn deadline(&self, settings: &HostSettings) -> Option<Mono> {
        let pause = match self.state {
            LinkState::Pausing(until) => Some(until),
            LinkState::AskingVersion(_)
            | LinkState::Opening(_)
            | LinkState::Watching { .. }
            | LinkState::Unusable(_) => None,
        };
        [pause, self.gives_up_at(settings), self.recheck_at].into_iter().flatten().min()
    }
}

impl Engine {
    /// Goes on with what is due.
    pub(super) fn drive_link(&mut self, now: Moment) {
        if let LinkState::Pausing(until) = self.link.state
            && until <= now.mono
        {
            self.try_link(now);
        }
        if self.link.recheck_at.is_some_and(|at| at <= now.mono) {
            self.arm_recheck(now);
            if !self.tasks.is_empty() || self.link.owes_list {
                self.ask_list();
            }
        }
        if let (Some(since), Some(patience)) = (self.link.silent_since, self.settings.patience)
            && now.since(since) >= patience
            && !self.link.gave_up
        {
            self.link.gave_up = true;
            self.host_changed = true;
        }
    }

    /// Version first, so that a runtime that cannot be used is named; then the stream, before anything is
    /// looked at, so that nothing is missed in between (engine.md 4.1).
    fn try_link(&mut self, now: Moment) {
        if self.closing {
            return;
        }
        let limit = self.settings.connect_limit;
        if self.link.version.is_none() {
            let id = self.ask_host(Request::Version, limit);
            self.link.state = LinkState::AskingVersion(id);
        } else {
            let id = self.ids.next_id();
            // What happens from now on is missed by nobody, even if the first try fails.
            let since = *self.link.seen.get_or_insert(now.wall);
            let instance = self.instance.clone();
            self.actions.push_back(Action::Watch { id, instance, since: Some(since), limit });
            self.link.state = LinkState::Opening(id);
        }
    }

    fn ask_host(&mut self, request: Request, limit: core::time::Duration) -> ActionId {
        let id = self.ids.next_id();
        self.enqueue(AskedBy::Host, id, super::calls::boxed(Call { request, limit }));
        id
    }

    pub(super) fn on_watch_opened(&mut self, now: Moment, id: ActionId) {
        if self.link.state != LinkState::Opening(id) {
            return;
        }
        self.link.state = LinkState::Watching { id, since: now.mono };
        self.runtime_answers();
        self.host_changed = true;
        self.arm_recheck(now);
        // Whatever happened while nobody watched shows in one list.
        self.ask_list();
        let first = !core::mem::replace(&mut self.link.ready, true);
        if first {
            self.wake_all(now);
        } else {
            self.tell_all(now, &TaskEvent::Resume);
        }
    }

    pub(super) fn on_watch_lost(&mut self, now: Moment, id: ActionId, lost: &Lost) {
        if self.link.state == LinkState::Opening(id) || self.link.is_watching(id) {
            self.link_failed(now, lost);
        }
    }

    fn link_failed(&mut self, now: Moment, lost: &Lost) {
        self.link.failures += 1;
        let wait = match (lost.cause, self.link.version.is_some()) {
            (LostCause::Unreachable, _) => &self.settings.away_retry,
            (LostCause::TimedOut(_) | LostCause::ConnectionLost | LostCause::Garbled, true) => {
                &self.settings.watch_retry
            }
            (LostCause::TimedOut(_) | LostCause::ConnectionLost | LostCause::Garbled, false) => {
                &self.settings.connect_retry
            }
        };
        let pause = wait.delay(self.link.failures, self.seed);
        // A stream that breaks after it stood is opened again at once: an engine that restarts closes it
        // before it is gone, and a short break should cost nothing. One that breaks as soon as it stands is
        // no better than one that does not open.
        let until = match self.link.state {
            LinkState::Watching { since, .. } if now.mono.since(since) >= pause => {
                self.link.failures = 0;
                now.mono
            }
            LinkState::Watching { .. }
            | LinkState::Pausing(_)
            | LinkState::AskingVersion(_)
            | LinkState::Opening(_)
            | LinkState::Unusable(_) => now.mono.after(pause),
        };
        self.link.state = LinkState::Pausing(until);
        self.runtime_is_silent(now, &lost.text);
    }

    /// What the host asked never left: it is asked again, after a moment.
    pub(super) fn host_never_sent(&mut self, now: Moment, id: ActionId) {
        let soon = now.mono.after(self.settings.away_retry.plain_delay(1));
        if self.link.state == LinkState::AskingVersion(id) || self.link.state == LinkState::Opening(id) {
            self.link.state = LinkState::Pausing(soon);
        }
        if self.link.listing.take_if(|listing| listing.id == id).is_some() {
            self.recheck_by(soon);
        }
    }

    /// Called for every outcome that proves that the runtime answers.
    pub(super) fn runtime_answers(&mut self) {
        if self.link.silent_since.take().is_some() {
            self.link.trouble = None;
            self.host_changed = true;
        }
    }

    /// Called for every outcome that is no answer.
    pub(super) fn runtime_is_silent(&mut self, now: Moment, text: &str) {
        self.link.silent_since.get_or_insert(now);
        if self.link.trouble.as_deref() != Some(text) {
            tracing::warn!(error = text, "Docker gives no proper answer");
            self.link.trouble = Some(text.into());
            self.host_changed = true;
            if !self.link.ready {
                // All that tasks wait for is the runtime.
                self.changed.extend(self.tasks.keys().cloned());
            }
        }
    }

    pub(super) fn on_host_answer(&mut self, now: Moment, id: ActionId, answer: Answer) {
        match answer {
            Answer::Version(outcome) if self.link.state == LinkState::AskingVersion(id) => {
                self.on_version(now, outcome)
            }
            Answer::List(outcome) => self.on_list(now, id, outcome),
            Answer::Version(_)
            | Answer::Ping(_)
            | Answer::InspectImage(_)
            | Answer::Pull(_)
            | Answer::ResolveDigest(_)
            | Answer::TagImage(_)
            | Answer::RemoveImage(_)
            | Answer::ListImages(_)
            | Answer::CreateVolume(_)
            | Answer::InspectVolume(_)
            | Answer::RemoveVolume(_)
            | Answer::ListVolumes(_)
            | Answer::Create(_)
            | Answer::Start(_)
            | Answer::Inspect(_)
            | Answer::Stop(_)
            | Answer::Kill(_)
            | Answer::Remove(_) => {}
        }
    }

    fn on_version(&mut self, now: Moment, outcome: Outcome<RuntimeVersion>) {
        match outcome {
            Outcome::Done(version) => {
                tracing::info!(version = version.version, api = version.api_version, "Docker answers");
                self.link.version = Some(version.version);
                self.link.failures = 0;
                self.try_link(now);
            }
            Outcome::Refused(Refusal { class: RefusalClass::Unsupported, text }) => {
                self.runtime_is_silent(now, &text);
                self.link.state = LinkState::Unusable(text);
                self.link.gave_up = true;
            }
            // It answers wrongly, which may pass (E150).
            Outcome::Refused(refusal) => self.link_failed(now, &Lost::new(LostCause::Garbled, refusal.text)),
            Outcome::Gone => {
                self.link_failed(now, &Lost::new(LostCause::Garbled, "there is no Docker API at this address"))
            }
            Outcome::Unknown(lost) => self.link_failed(now, &lost),
        }
    }

    pub(super) fn on_runtime_event(&mut self, now: Moment, id: ActionId, event: RuntimeEvent) {
        if !self.link.is_watching(id) {
            return;
        }
        self.link.seen = self.link.seen.max(Some(event.at));
        self.runtime_answers();
        if let Some(task) = self.routes.get(&event.container).cloned() {
            self.tell(now, &task, TaskEvent::Runtime(event));
        }
    }

    fn arm_recheck(&mut self, now: Moment) {
        self.link.rechecks += 1;
        let bits = derive_nth(self.seed, "recheck", self.link.rechecks);
        let wait = self.settings.recheck_every + up_to(self.settings.recheck_jitter, bits);
        self.link.recheck_at = Some(now.mono.after(wait));
    }

    pub(super) fn on_events_dropped(&mut self, now: Moment) {
        if self.link.is_ready() {
            self.tell_all(now, &TaskEvent::Resume);
        }
        self.ask_list();
    }

    /// One list shows for all containers whether they differ from what is known.
    pub(super) fn ask_list(&mut self) {
        self.link.owes_list = true;
        if let Some(listing) = &mut self.link.listing {
            listing.again = true;
            return;
        }
        let id = self.ask_host(Request::List(self.instance.clone()), self.settings.task.limits.list);
        self.link.listing = Some(Listing { id, again: false, forgotten: BTreeSet::new() });
    }

    fn recheck_by(&mut self, soon: Mono) {
        self.link.recheck_at = Some(self.link.recheck_at.map_or(soon, |at| at.min(soon)));
    }

    fn on_list(&mut self, now: Moment, id: ActionId, outcome: Outcome<Vec<ContainerSummary>>) {
        let Some(listing) = self.link.listing.take_if(|listing| listing.id == id) else { return };
        match outcome {
            Outcome::Done(containers) => {
                self.link.owes_list = false;
                let running: BTreeMap<_, _> = containers.iter().map(|c| (c.id.clone(), c.running)).collect();
                self.tell_all(now, &TaskEvent::Listed(Arc::new(running)));
                self.find_orphans(now, &containers, &listing.forgotten);
                if !core::mem::replace(&mut self.link.checked, true) {
                    self.host_changed = true;
                }
                if listing.again {
                    self.ask_list();
                }
            }
            // The stream breaks too when the runtime is gone, and its opening asks again; what is left
            // is tried again before the next ordinary re-check.
            Outcome::Refused(_) | Outcome::Gone | Outcome::Unknown(_) => {
                self.recheck_by(now.mono.after(self.settings.watch_retry.delay(LIST_PACE, self.seed)));
            }
        }
    }

    pub(super) fn host_view(&self) -> HostView {
        let trouble = self.link.trouble.clone();
        let runtime = match (&self.link.state, &self.link.version, trouble) {
            (LinkState::Unusable(text), _, _) => RuntimeLink::Unusable { text: text.clone() },
            (LinkState::Watching { .. }, Some(version), None) => RuntimeLink::Up { version: version.clone() },
            (_, _, Some(trouble)) if self.link.ready => RuntimeLink::Away { trouble },
            (_, _, trouble) => RuntimeLink::Connecting { trouble },
        };
        HostView {
            runtime,
            store_failing: self.store.failing().map(Into::into),
            checked: self.link.checked,
            unfinished: self.unfinished.len(),
            gave_up: self.link.gave_up,
            left_alone: self.link.left_alone.clone(),
        }
    }
}

/// A failed list is repeated at the pace of the second re-opening of a stream.
const LIST_PACE: u32 = 2;
