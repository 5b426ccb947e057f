//! Clean-up: removing the containers of a stopped task (engine.md 3.11).

use alloc::boxed::Box;

use lighterman_calls::{
    Answer, ContainerFacts, ContainerTarget, Lost, Outcome, Refusal, RefusalClass, Request, Signal,
};
use lighterman_ids::{Moment, Mono};

use super::{TaskManager, ask::is_away, expect_answer};
use crate::{
    Context,
    container::{RemoveStage, Search, Work},
};

impl TaskManager {
    /// Begins to remove what may be removed. A container is removed first and forgotten then (B-018).
    pub(super) fn clean_up(&mut self, cx: &mut Context<'_>) {
        if self.known.is_terminal() {
            // Fixed once: on another boot than the end of the task, a wall clock that stands before it would
            // otherwise move the clean-up away for ever.
            let wait = cx.settings.cleanup_wait;
            self.cleanup_at.get_or_insert_with(|| cx.now.deadline(self.known_at, wait));
        }
        if self.cleanup_due(cx).is_none_or(|due| due > cx.now.mono) {
            return;
        }
        for c in 0..self.containers.len() {
            if self.can_remove(c) && (cx.awaited.is_none() || self.is_known_to_be_gone(cx, c)) {
                self.touch(c, cx.now);
                self.drop_look(c);
                self.begin_remove(cx, c);
            }
        }
    }

    /// When clean-up of a stopped task begins; `None` while it has not stopped, nothing is left to begin, or
    /// the store fails.
    pub(super) fn cleanup_due(&self, cx: &Context<'_>) -> Option<Mono> {
        let begins = self.known.is_terminal() && (0..self.containers.len()).any(|c| self.can_remove(c));
        let waits_for_store = cx.store_failing.is_some();
        let at = || cx.now.deadline(self.known_at, cx.settings.cleanup_wait);
        let asked_for = self.cleanup_now.then_some(cx.now.mono);
        (begins && !waits_for_store).then(|| asked_for.or(self.cleanup_at).unwrap_or_else(at))
    }

    /// Not while a create call is out that nobody waits for: what it brings would outlive the removal.
    fn can_remove(&self, c: usize) -> bool {
        let container = &self.containers[c];
        !container.removed && container.late_create.is_none() && matches!(container.work, Work::Idle)
    }

    /// Whether its removal needs no call.
    fn is_known_to_be_gone(&self, cx: &Context<'_>, c: usize) -> bool {
        self.containers[c].runtime_id.is_none() && self.create_over(cx, c).is_none()
    }

    /// By id, else by the recorded name, behind which somebody else may be: what is found there is looked at
    /// first (engine.md 3.11, design.md R10).
    fn begin_remove(&mut self, cx: &mut Context<'_>, c: usize) {
        match (self.containers[c].runtime_id.is_some(), self.create_over(cx, c)) {
            (true, _) => self.ask_remove(cx, c, RemoveStage::Removing { killed: false }, 1),
            (false, Some(over)) => self.ask_find(cx, c, Search { over, looked: false }, 1),
            (false, None) => self.is_gone(cx.now, c),
        }
    }

    pub(super) fn resume_remove(&mut self, cx: &mut Context<'_>, c: usize, stage: RemoveStage, attempt: u32) {
        match stage {
            RemoveStage::Removing { .. } => self.ask_remove(cx, c, stage, attempt),
            RemoveStage::Killing => self.ask_kill_to_remove(cx, c, attempt),
            RemoveStage::Finding(search) => self.ask_find(cx, c, search, attempt),
        }
    }

    fn ask_remove(&mut self, cx: &mut Context<'_>, c: usize, stage: RemoveStage, attempt: u32) {
        if cx.closing {
            return;
        }
        let Some(id) = self.containers[c].runtime_id.clone() else { return self.is_gone(cx.now, c) };
        self.containers[c].removing_since.get_or_insert(cx.now.mono);
        let request = Request::Remove(ContainerTarget::Id(id));
        let job = self.ask_job(cx, request, cx.settings.limits.remove, attempt);
        self.containers[c].work = Work::Remove { stage, job };
    }

    fn ask_find(&mut self, cx: &mut Context<'_>, c: usize, search: Search, attempt: u32) {
        if cx.closing {
            return;
        }
        let Some(name) = self.containers[c].runtime_name.clone() else { return self.is_gone(cx.now, c) };
        self.containers[c].removing_since.get_or_insert(cx.now.mono);
        let request = Request::Inspect(ContainerTarget::Name(name));
        let job = self.ask_job(cx, request, cx.settings.limits.inspect, attempt);
        self.containers[c].work = Work::Remove { stage: RemoveStage::Finding(search), job };
    }

    pub(super) fn on_remove_answer(
        &mut self,
        cx: &mut Context<'_>,
        c: usize,
        stage: RemoveStage,
        n: u32,
        answer: Answer,
    ) {
        match stage {
            RemoveStage::Killing => {
                // Whatever the kill answered, the next try of the removal is the judge.
                let Answer::Kill(_) = answer else { panic!("an answer of kind {:?} to a kill", answer.kind()) };
                self.ask_remove(cx, c, RemoveStage::Removing { killed: true }, n);
            }
            RemoveStage::Removing { killed } => self.on_removed(cx, c, killed, n, expect_answer!(answer, Remove)),
            RemoveStage::Finding(search) => self.on_found(cx, c, search, n, expect_answer!(answer, Inspect)),
        }
    }

    fn on_removed(&mut self, cx: &mut Context<'_>, c: usize, killed: bool, n: u32, outcome: Outcome<()>) {
        // Whoever starts it again between two tries is met again: it must go in the end.
        let stage = RemoveStage::Removing { killed: false };
        match outcome {
            Outcome::Done(()) | Outcome::Gone => match self.create_over(cx, c) {
                // However long ago: what a create in doubt has brought meanwhile has our name and another id.
                Some(over) => self.ask_find(cx, c, Search { over, looked: false }, 1),
                None => self.is_gone(cx.now, c),
            },
            // It runs, though it was taken for stopped.
            Outcome::Refused(Refusal { class: RefusalClass::Conflict, .. }) if !killed => {
                self.ask_kill_to_remove(cx, c, n);
            }
            Outcome::Unknown(lost) if is_away(&lost) => {
                // Nothing was tried: how long it may take is the link's to say.
                self.containers[c].removing_since = None;
                let job = self.pause_away(cx, c, n, &lost);
                self.containers[c].work = Work::Remove { stage, job };
            }
            Outcome::Unknown(Lost { text, .. }) | Outcome::Refused(Refusal { text, .. }) => {
                self.count_as_kept(cx, c, &text);
                tracing::warn!(task.id = %self.spec.id, container.name = %self.containers[c].name, attempt = n, error = text, "removal failed");
                let job = self.pause(cx, c, &cx.settings.cleanup_retry, n, text);
                self.containers[c].work = Work::Remove { stage, job };
            }
        }
    }

    /// Once it was tried for long, nobody need wait for it. It is tried on: what holds it may let go.
    fn count_as_kept(&mut self, cx: &Context<'_>, c: usize, why: &str) {
        let container = &mut self.containers[c];
        let is_due =
            container.removing_since.is_some_and(|since| cx.now.mono.since(since) >= cx.settings.cleanup_patience);
        if is_due && container.kept.as_deref() != Some(why) {
            container.kept = Some(why.into());
            self.changed = true;
        }
    }

    fn on_found(
        &mut self,
        cx: &mut Context<'_>,
        c: usize,
        search: Search,
        n: u32,
        outcome: Outcome<Box<ContainerFacts>>,
    ) {
        match outcome {
            Outcome::Done(facts) if self.is_ours(cx, c, &facts) => {
                self.adopt_found(c, facts.id.clone());
                self.ask_remove(cx, c, RemoveStage::Removing { killed: false }, 1);
            }
            // Somebody else's is none of ours.
            Outcome::Done(_) | Outcome::Gone => self.is_not_there(cx, c, search.over, n),
            Outcome::Unknown(lost) if is_away(&lost) => {
                self.containers[c].removing_since = None;
                let job = self.pause_away(cx, c, n, &lost);
                self.containers[c].work = Work::Remove { stage: RemoveStage::Finding(search), job };
            }
            Outcome::Unknown(Lost { text, .. }) | Outcome::Refused(Refusal { text, .. }) => {
                self.count_as_kept(cx, c, &text);
                let job = self.pause(cx, c, &cx.settings.late_create_retry, n, text);
                self.containers[c].work = Work::Remove { stage: RemoveStage::Finding(search), job };
            }
        }
    }

    fn ask_kill_to_remove(&mut self, cx: &mut Context<'_>, c: usize, attempt: u32) {
        let target = self.containers[c].target().expect("what is being removed has a name");
        let request = Request::Kill { container: target, signal: Signal::Kill };
        let job = self.ask_job(cx, request, cx.settings.limits.kill, attempt);
        self.containers[c].work = Work::Remove { stage: RemoveStage::Killing, job };
    }

    /// Not there. If a create call was cut off it may still come: its name is watched until it cannot.
    fn is_not_there(&mut self, cx: &Context<'_>, c: usize, over: Mono, n: u32) {
        if over <= cx.now.mono {
            return self.is_gone(cx.now, c);
        }
        self.is_answered_for(c);
        let job = self.pause(cx, c, &cx.settings.late_create_retry, n, "a create call that was cut off");
        let search = Search { over, looked: true };
        self.containers[c].work = Work::Remove { stage: RemoveStage::Finding(search), job };
    }

    /// The runtime has said how it stands: nothing is tried in vain.
    fn is_answered_for(&mut self, c: usize) {
        self.containers[c].removing_since = None;
        self.containers[c].kept = None;
    }

    /// When no create that was cut off is carried out any more, as far as anybody can tell; `None` without one. An
    /// engine that let a call run into its limit may get to it afterwards, so it has the same time again.
    fn create_over(&self, cx: &Context<'_>, c: usize) -> Option<Mono> {
        let container = &self.containers[c];
        let sent = [container.create_sent, container.create_doubt];
        let limit = cx.settings.limits.create.saturating_mul(2);
        sent.into_iter().flatten().map(|sent| cx.now.deadline(sent, limit)).max()
    }

    fn is_gone(&mut self, now: Moment, c: usize) {
        let container = &mut self.containers[c];
        container.removed = true;
        container.kept = None;
        container.create_sent = None;
        container.create_doubt = None;
        container.work = Work::Idle;
        self.mark(c);
        self.touch(c, now);
    }
}
