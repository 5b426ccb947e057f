//! Handing events to tasks, and taking up what comes out of them.

use alloc::{string::String, vec::Vec};

use lighterman_calls::{Answer, Outcome};
use lighterman_ids::{ActionId, Moment, Mono, TaskId};
use lighterman_task_manager::{Action as TaskAction, TaskEvent, TaskManager, TaskSpec};

use super::{
    Engine,
    calls::{AskedBy, Owner},
};
use crate::{ImageState, RecordKey, SubmitError, engine::Store};

impl Engine {
    pub(super) fn on_submit(&mut self, now: Moment, spec: TaskSpec) {
        let id = spec.id.clone();
        if self.tasks.contains_key(&id) {
            // The first payload stays authoritative (engine.md 4.2, A1).
            self.changed.insert(id);
            return;
        }
        let refusal = if self.closing {
            SubmitError::Closing
        } else if let Some(text) = self.store.failing() {
            SubmitError::StoreFailing(text.into())
        } else {
            match TaskManager::accept(spec, now) {
                Ok(task) => {
                    self.dirty.insert(RecordKey::Definition(id.clone()));
                    self.tasks.insert(id.clone(), task);
                    self.after(now, &id);
                    return self.wake(now, &id);
                }
                Err(error) => SubmitError::Invalid(alloc::format!("{error}")),
            }
        };
        self.refusals.push_back((id, refusal));
    }

    pub(super) fn on_stop(&mut self, now: Moment, id: &TaskId, reason: Option<String>, force: bool) {
        self.tell(now, id, TaskEvent::Stop { reason, force });
    }

    pub(super) fn on_answer(&mut self, now: Moment, id: ActionId, answer: Answer) {
        self.note_link(now, &answer);
        // A call that nobody waits for any more has no owner: its answer is dropped (design.md R2).
        let Some(owner) = self.calls.end(id) else { return };
        match owner.by {
            AskedBy::Host => self.on_host_answer(now, id, answer),
            AskedBy::Task(task) => {
                self.note_pull(now, owner.image, &answer);
                self.tell(now, &task, TaskEvent::Answer { id, answer: answer.into() });
            }
        }
    }

    pub(super) fn on_never_sent(&mut self, now: Moment, id: ActionId) {
        match self.calls.end(id) {
            Some(Owner { by: AskedBy::Task(task), .. }) => self.tell(now, &task, TaskEvent::NeverSent(id)),
            Some(Owner { by: AskedBy::Host, .. }) | None => self.host_never_sent(now, id),
        }
    }

    /// Every outcome but "unknown" proves that the runtime answers. A pull that stalls says more of the
    /// registry than of the runtime.
    fn note_link(&mut self, now: Moment, answer: &Answer) {
        fn lost<T>(outcome: &Outcome<T>) -> Option<&str> {
            match outcome {
                Outcome::Unknown(lost) => Some(&lost.text),
                Outcome::Done(_) | Outcome::Refused(_) | Outcome::Gone => None,
            }
        }
        let text = match answer {
            Answer::Pull(outcome) if lost(outcome).is_some() => return,
            // Whoever does not even tell its version gives no proper answer; the link sees to it.
            Answer::Version(outcome) if !outcome.is_done() => return,
            Answer::Ping(o)
            | Answer::Start(o)
            | Answer::Stop(o)
            | Answer::Kill(o)
            | Answer::Remove(o)
            | Answer::Pull(o)
            | Answer::TagImage(o)
            | Answer::RemoveImage(o)
            | Answer::RemoveVolume(o) => lost(o),
            Answer::Version(o) => lost(o),
            Answer::InspectImage(o) => lost(o),
            Answer::ResolveDigest(o) => lost(o),
            Answer::ListImages(o) => lost(o),
            Answer::CreateVolume(o) | Answer::InspectVolume(o) => lost(o),
            Answer::ListVolumes(o) => lost(o),
            Answer::Create(o) => lost(o),
            Answer::Inspect(o) => lost(o),
            Answer::List(o) => lost(o),
        };
        match text {
            Some(text) => self.runtime_is_silent(now, text),
            None => self.runtime_answers(),
        }
    }

    /// The one thing remembered of an image: that a pull of it succeeded (engine.md 5.1).
    fn note_pull(&mut self, now: Moment, image: Option<lighterman_ids::ImageRef>, answer: &Answer) {
        let (Some(image), Answer::Pull(Outcome::Done(()))) = (image, answer) else { return };
        let state = ImageState { image: image.clone(), pull_succeeded: true, pulled_at: now };
        self.images.entry(image.clone()).or_insert(state).pull_succeeded = true;
        self.dirty.insert(RecordKey::Image(image));
    }

    pub(super) fn tell(&mut self, now: Moment, id: &TaskId, event: TaskEvent) {
        self.with_task(now, id, |task, cx| task.handle_event(cx, event));
    }

    pub(super) fn tell_all(&mut self, now: Moment, event: &TaskEvent) {
        for id in self.tasks.keys().cloned().collect::<Vec<_>>() {
            self.tell(now, &id, event.clone());
        }
    }

    pub(super) fn wake(&mut self, now: Moment, id: &TaskId) {
        if self.link.is_ready() {
            self.with_task(now, id, TaskManager::handle_timeout);
        }
    }

    pub(super) fn wake_all(&mut self, now: Moment) {
        for id in self.tasks.keys().cloned().collect::<Vec<_>>() {
            self.wake(now, &id);
        }
    }

    pub(super) fn wake_tasks(&mut self, now: Moment) {
        while let Some((at, id)) = self.wakes.first().cloned()
            && at <= now.mono
        {
            self.wake(now, &id);
            if self.wake_at.get(&id) == Some(&at) {
                // Nothing came of it that moved its deadline: it must not be asked again for the same.
                self.set_wake(&id, None);
            }
        }
    }

    fn with_task(
        &mut self,
        now: Moment,
        id: &TaskId,
        handle: impl FnOnce(&mut TaskManager, &mut lighterman_task_manager::Context<'_>),
    ) {
        let Some(mut task) = self.tasks.remove(id) else { return };
        let mut ids = self.ids.clone();
        let mut cx = self.context(now, &mut ids);
        handle(&mut task, &mut cx);
        self.ids = ids;
        self.tasks.insert(id.clone(), task);
        self.after(now, id);
    }

    /// Takes up what came out of a task: calls, changed records, a changed view, its next deadline.
    fn after(&mut self, now: Moment, id: &TaskId) {
        let Some(mut task) = self.tasks.remove(id) else { return };
        while let Some(action) = task.poll_action() {
            match action {
                TaskAction::Call { id: action, call } => self.enqueue(AskedBy::Task(id.clone()), action, call),
                TaskAction::Cancel(action) => self.cancel(action),
            }
        }
        self.take_up_dirty(id, &mut task);
        if task.take_changed() {
            self.changed.insert(id.clone());
        }
        self.count_unfinished(id, !task.is_lingering() && !task.is_kept());
        if task.is_removed() {
            self.forget(now, id, &task);
            return;
        }
        let mut ids = self.ids.clone();
        let wake = task.poll_timeout(&self.context(now, &mut ids));
        self.set_wake(id, wake);
        self.tasks.insert(id.clone(), task);
    }

    pub(super) fn count_unfinished(&mut self, id: &TaskId, is_unfinished: bool) {
        let moved = if is_unfinished { self.unfinished.insert(id.clone()) } else { self.unfinished.remove(id) };
        self.host_changed |= moved;
    }

    fn take_up_dirty(&mut self, id: &TaskId, task: &mut TaskManager) {
        let dirty = task.take_dirty();
        if dirty.task {
            self.dirty.insert(RecordKey::Task(id.clone()));
        }
        for c in dirty.containers {
            self.dirty.insert(RecordKey::Container(id.clone(), c));
            if let Some(runtime_id) = task.container_state(c).and_then(|state| state.runtime_id) {
                self.routes.insert(runtime_id, id.clone());
            }
        }
    }

    /// Everything of the task is gone from the runtime, so its records go too (engine.md 3.11, B-018).
    fn forget(&mut self, now: Moment, id: &TaskId, task: &TaskManager) {
        let mut ids = self.ids.clone();
        self.removed.push_back(task.view(&self.context(now, &mut ids)));
        self.changed.remove(id);
        for c in 0..task.container_count() {
            if let Some(runtime_id) = task.container_state(c).and_then(|state| state.runtime_id) {
                self.routes.remove(&runtime_id);
            }
        }
        self.link.note_forgotten(id);
        self.set_wake(id, None);
        self.dirty.insert(RecordKey::Definition(id.clone()));
        self.dirty.insert(RecordKey::Task(id.clone()));
        self.dirty.extend((0..task.container_count()).map(|c| RecordKey::Container(id.clone(), c)));
    }

    fn set_wake(&mut self, id: &TaskId, at: Option<Mono>) {
        if let Some(old) = self.wake_at.remove(id) {
            self.wakes.remove(&(old, id.clone()));
        }
        if let Some(at) = at {
            self.wake_at.insert(id.clone(), at);
            self.wakes.insert((at, id.clone()));
        }
    }

    pub(super) fn on_store_failed(&mut self, now: Moment, text: String) {
        let failures = match &self.store {
            Store::Works => 1,
            Store::Fails { failures, .. } => failures + 1,
        };
        if failures == 1 {
            tracing::error!(error = text, "the state store takes no changes; nothing new is started");
        }
        if self.store.failing() != Some(&text) {
            // What waits for the store shows what it said.
            self.host_changed = true;
            self.changed.extend(self.tasks.keys().cloned());
        }
        let retry_at = now.mono.after(self.settings.store_retry.delay(failures, self.seed));
        self.store = Store::Fails { text, failures, retry_at };
    }

    pub(super) fn on_store_works(&mut self, now: Moment) {
        if self.store == Store::Works {
            return;
        }
        tracing::info!("the state store takes changes again");
        self.store = Store::Works;
        self.host_changed = true;
        self.changed.extend(self.tasks.keys().cloned());
        if self.link.is_ready() {
            self.tell_all(now, &TaskEvent::Resume);
        }
    }

    /// Whether a commit may be tried: always while the store works, after a pause while it fails.
    #[must_use]
    pub fn may_commit(&self, now: Moment) -> bool {
        match &self.store {
            Store::Works => true,
            Store::Fails { retry_at, .. } => *retry_at <= now.mono,
        }
    }

    /// Whether the store fails.
    #[must_use]
    pub fn store_fails(&self) -> bool {
        self.store != Store::Works
    }
}
