//! The gate itself.

use alloc::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    string::String,
    vec::Vec,
};

use lighterman_engine::{Action, Engine, Event, RecordKey, SubmitError};
use lighterman_ids::{ActionId, Moment, Mono, TaskId};
use lighterman_records::{Ledger, LedgerChange, WriteOp};
use lighterman_view::{ContainerView, HostView, TaskView, WaitReason};

/// Something that may leave.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Output {
    /// Do this.
    Act(Action),
    /// Show this task so.
    Show(TaskView),
    /// Show the host so.
    ShowHost(HostView),
    /// Tell whoever submitted the task that it was not accepted.
    Refuse(TaskId, SubmitError),
}

/// A commit to be made durable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// Rises by one with every commit that succeeds.
    pub generation: u64,
    /// All of them or nothing.
    pub writes: Vec<WriteOp>,
}

/// Engine and gate. See the crate's page for the rules.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Turns {
    engine: Engine,
    ledger: Ledger,
    /// Output that waits for the commit in flight.
    held: VecDeque<Output>,
    /// Output that waits for the commit after it.
    next: VecDeque<Output>,
    in_flight: Option<InFlight>,
    ready: VecDeque<Output>,
    /// Each task as readers were last shown it.
    shown: BTreeMap<TaskId, TaskView>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct InFlight {
    keys: BTreeSet<RecordKey>,
    change: LedgerChange,
}

impl Turns {
    /// The gate in front of this engine, whose records the ledger knows.
    #[must_use]
    pub const fn new(engine: Engine, ledger: Ledger) -> Self {
        Self {
            engine,
            ledger,
            held: VecDeque::new(),
            next: VecDeque::new(),
            in_flight: None,
            ready: VecDeque::new(),
            shown: BTreeMap::new(),
        }
    }

    /// The engine, for looking.
    #[must_use]
    pub const fn engine(&self) -> &Engine {
        &self.engine
    }

    /// The engine, for giving it a definition before its first turn.
    pub const fn engine_mut(&mut self) -> &mut Engine {
        &mut self.engine
    }

    /// What the store must hold.
    #[must_use]
    pub const fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Hands an event to the engine, within a turn. From [`Event::Shutdown`] on nothing that creates leaves.
    pub fn handle_event(&mut self, now: Moment, event: Event) {
        let ends = event == Event::Shutdown;
        self.engine.handle_event(now, event);
        if ends {
            self.end_turn(now);
            self.take_back_what_creates(now);
        }
    }

    /// Tells the engine that time has passed, within a turn.
    pub fn handle_timeout(&mut self, now: Moment) {
        self.engine.handle_timeout(now);
    }

    /// When to call [`handle_timeout`](Self::handle_timeout) at the latest.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Mono> {
        let commit = self.engine.poll_commit_time().filter(|_| self.in_flight.is_none());
        [self.engine.poll_timeout(), commit].into_iter().flatten().min()
    }

    /// Ends a turn: what came out of it is held, or may leave.
    pub fn end_turn(&mut self, now: Moment) {
        loop {
            let never_sent = self.collect(now);
            if never_sent.is_empty() {
                return;
            }
            for id in never_sent {
                self.engine.handle_event(now, Event::NeverSent(id));
            }
        }
    }

    /// The next commit to make, if one may be made now. Exactly one is in flight at a time.
    pub fn poll_commit(&mut self, now: Moment) -> Option<Commit> {
        let wanted = self.engine.is_dirty() || !self.next.is_empty() || self.engine.store_fails();
        if self.in_flight.is_some() || !wanted || !self.engine.may_commit(now) {
            return None;
        }
        let keys = self.engine.take_dirty();
        let prepared = self.ledger.prepare(keys.iter().map(|key| (key.clone(), self.engine.record(key))));
        self.held.append(&mut self.next);
        self.in_flight = Some(InFlight { keys, change: prepared.change });
        Some(Commit { generation: prepared.generation, writes: prepared.writes })
    }

    /// The commit in flight ended: it is durable, or it is not known whether it is.
    ///
    /// # Panics
    /// No commit is in flight.
    pub fn committed(&mut self, now: Moment, outcome: Result<(), String>) {
        let commit = self.in_flight.take().expect("the store answers only commits that were handed to it");
        match outcome {
            Ok(()) => {
                self.ledger.committed(commit.change);
                for output in core::mem::take(&mut self.held) {
                    self.release(output);
                }
                if self.engine.store_fails() {
                    self.engine.handle_event(now, Event::StoreWorks);
                }
            }
            Err(text) => {
                self.ledger.failed(commit.change);
                self.engine.give_back_dirty(commit.keys);
                self.engine.handle_event(now, Event::StoreFailed(text));
                self.withdraw(now);
            }
        }
        self.end_turn(now);
    }

    /// Whether a commit is in flight.
    #[must_use]
    pub const fn is_committing(&self) -> bool {
        self.in_flight.is_some()
    }

    /// What may leave now, in order.
    pub fn outputs(&mut self) -> impl Iterator<Item = Output> {
        self.ready.drain(..)
    }

    /// Takes what the engine gave out. Returns the actions that will never leave.
    fn collect(&mut self, now: Moment) -> Vec<ActionId> {
        let mut never_sent = Vec::new();
        while let Some(action) = self.engine.poll_action() {
            match action {
                Action::Cancel(id) if self.take_back(id) => never_sent.push(id),
                action @ (Action::Call { .. } | Action::Cancel(_) | Action::Watch { .. }) => {
                    self.let_out(Output::Act(action));
                }
            }
        }
        for view in self.engine.take_views(now) {
            if self.engine.store_fails() {
                self.show_what_waits_for_the_store(&view);
            }
            self.let_out(Output::Show(view));
        }
        if let Some(view) = self.engine.take_host_view() {
            self.let_out(Output::ShowHost(view));
        }
        while let Some((task, error)) = self.engine.poll_refusal() {
            self.ready.push_back(Output::Refuse(task, error));
        }
        never_sent
    }

    /// Where output goes: behind the records it follows from. What changed no record still keeps its
    /// place behind what is held already: the host's view counts tasks, and must not overtake theirs.
    fn let_out(&mut self, output: Output) {
        let leaves_without_store = match &output {
            Output::Act(action) => action.is_protective(),
            // That the store fails has to be seen while it does.
            Output::ShowHost(_) => true,
            Output::Show(_) | Output::Refuse(..) => false,
        };
        if self.engine.store_fails() && leaves_without_store {
            self.release(output);
        } else if self.engine.is_dirty() || !self.next.is_empty() || self.engine.store_fails() {
            self.next.push_back(output);
        } else if self.in_flight.is_some() {
            self.held.push_back(output);
        } else {
            self.release(output);
        }
    }

    fn release(&mut self, output: Output) {
        match &output {
            Output::Show(view) if view.removed => drop(self.shown.remove(&view.id)),
            Output::Show(view) => drop(self.shown.insert(view.id.clone(), view.clone())),
            Output::Act(_) | Output::ShowHost(_) | Output::Refuse(..) => {}
        }
        self.ready.push_back(output);
    }

    /// That a container waits for the store follows from no record, and has to be seen while it does. Everything else
    /// is shown as it last was.
    fn show_what_waits_for_the_store(&mut self, view: &TaskView) {
        let Some(mut shown) = self.shown.get(&view.id).cloned() else { return };
        let mut differs = false;
        for (shown, now) in shown.containers.iter_mut().zip(&view.containers) {
            if waits_for_the_store(now) && shown.wait != now.wait {
                shown.wait.clone_from(&now.wait);
                differs = true;
            }
        }
        if differs {
            self.release(Output::Show(shown));
        }
    }

    /// Takes a held action back. `false`: it has left.
    fn take_back(&mut self, id: ActionId) -> bool {
        for queue in [&mut self.held, &mut self.next] {
            let place = queue.iter().position(|output| match output {
                Output::Act(action @ (Action::Call { .. } | Action::Watch { .. })) => action.id() == Some(id),
                Output::Act(Action::Cancel(_)) | Output::Show(_) | Output::ShowHost(_) | Output::Refuse(..) => false,
            });
            if let Some(place) = place {
                queue.remove(place);
                return true;
            }
        }
        false
    }

    /// Nothing is begun any more (engine.md 3.12): what was decided before and has not left stays here.
    fn take_back_what_creates(&mut self, now: Moment) {
        let mut never_sent = Vec::new();
        for queue in [&mut self.ready, &mut self.held, &mut self.next] {
            queue.retain(|output| match output {
                Output::Act(action) if !action.is_protective() => {
                    never_sent.extend(action.id());
                    false
                }
                Output::Act(_) | Output::Show(_) | Output::ShowHost(_) | Output::Refuse(..) => true,
            });
        }
        for id in never_sent {
            self.engine.handle_event(now, Event::NeverSent(id));
        }
    }

    /// The commit failed: nothing that creates may leave on the strength of records that may be lost, and
    /// nothing is shown. What only looks or ends things leaves all the same.
    fn withdraw(&mut self, now: Moment) {
        let mut never_sent = Vec::new();
        let mut unshown = Vec::new();
        for output in self.held.drain(..).chain(self.next.drain(..)) {
            match output {
                Output::Act(action) if action.is_protective() => self.ready.push_back(Output::Act(action)),
                Output::Act(action) => never_sent.extend(action.id()),
                Output::Show(view) => unshown.push(view),
                Output::ShowHost(_) | Output::Refuse(..) => self.ready.push_back(output),
            }
        }
        self.engine.give_back_views(unshown);
        for id in never_sent {
            self.engine.handle_event(now, Event::NeverSent(id));
        }
    }
}

fn waits_for_the_store(container: &ContainerView) -> bool {
    container.wait.as_ref().is_some_and(|wait| match wait.reason {
        WaitReason::Store { .. } => true,
        WaitReason::Call { .. }
        | WaitReason::Pause { .. }
        | WaitReason::RuntimeAway { .. }
        | WaitReason::Running
        | WaitReason::Cleanup
        | WaitReason::LateCreate
        | WaitReason::Closing
        | WaitReason::Connecting => false,
    })
}
