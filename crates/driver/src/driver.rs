//! The loop.

use std::{sync::Arc, time::Duration};

use lighterman_calls::Answer;
use lighterman_contracts::{Batch, Checkpoint, Clock, CommitError, ContainerRuntime, Write};
use lighterman_engine::{Action, Event};
use lighterman_ids::{ActionId, Moment, Mono};
use lighterman_turn::{Commit, Output, Turns};
use tokio::{
    sync::{Notify, mpsc},
    task::{JoinError, JoinHandle, JoinSet},
};
use tracing::Instrument;

use crate::{
    Handle, REQUESTS, Update,
    calls::{Calls, panic_text},
    events::{self, EventLane, Watch},
    handle::Request,
    publish::Publisher,
    stats::Counters,
    timer,
};

/// How long an orderly end may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Longest wait for calls that are out when the driver is to end (engine.md 3.12).
    pub answers_wait: Duration,
    /// Longest wait for the last commit after that.
    pub commit_wait: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self { answers_wait: Duration::from_secs(5), commit_wait: Duration::from_secs(5) }
    }
}

/// How a driver ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct Ending {
    /// Calls that had no answer when the wait for them was over. What became of them is looked up at the
    /// next start.
    pub unanswered: usize,
    /// Why the last changes are not durable; `None` when everything is.
    pub unsaved: Option<String>,
}

/// The loop around [`Turns`], not yet running. See the crate's page.
#[derive(Debug)]
pub struct Driver<R, S, C> {
    turns: Turns,
    runtime: Arc<R>,
    store: Arc<S>,
    clock: C,
    options: Options,
    calls: Calls,
    /// The stream that is open, if any.
    watch: JoinSet<()>,
    /// The commit that is in flight, if any.
    commit: JoinSet<Result<(), CommitError>>,
    events: Arc<EventLane>,
    requests: mpsc::Receiver<Request>,
    close: Arc<Notify>,
    publisher: Publisher,
    counters: Arc<Counters>,
    /// When to end at the latest; `None` until that was asked for.
    ends_at: Option<Mono>,
}

/// What ended a wait.
enum Arrival {
    Committed(Result<(), String>),
    Answer(ActionId, Box<Answer>),
    /// The lane of events holds something.
    Events,
    Request(Request),
    Close,
    /// A deadline has come.
    Time,
}

impl<R: ContainerRuntime, S: Checkpoint, C: Clock> Driver<R, S, C> {
    /// A driver that does nothing yet, and the way to talk to it. Whoever wants to see everything asks the
    /// handle for [`updates`](Handle::updates) now.
    pub fn new(turns: Turns, runtime: Arc<R>, store: Arc<S>, clock: C, options: Options) -> (Self, Handle) {
        let counters = Arc::new(Counters::default());
        let publisher = Publisher::new();
        let (sender, requests) = mpsc::channel(REQUESTS);
        let close = Arc::new(Notify::new());
        let handle = Handle {
            requests: sender,
            close: Arc::clone(&close),
            readers: publisher.readers(),
            counters: Arc::clone(&counters),
        };
        let driver = Self {
            turns,
            runtime,
            store,
            clock,
            options,
            calls: Calls::new(publisher.progress()),
            watch: JoinSet::new(),
            commit: JoinSet::new(),
            events: Arc::new(EventLane::new(Arc::clone(&counters))),
            requests,
            close,
            publisher,
            counters,
            ends_at: None,
        };
        (driver, handle)
    }

    /// Runs in a task of its own, in the span `driver`. Aborting that task is as good as a crash.
    pub fn spawn(self) -> JoinHandle<Ending> {
        tokio::spawn(self.run().instrument(tracing::info_span!("driver").or_current()))
    }

    /// Runs until [`Handle::shutdown`] was called and what was out has ended. Needs a tokio runtime with
    /// time; dropping the future is as good as a crash.
    pub async fn run(mut self) -> Ending {
        self.turn(None);
        while !self.is_over() {
            let arrival = self.wait().await;
            self.turn(Some(arrival));
        }
        self.end().await
    }

    /// Waits for whatever comes first. Which one that is does not matter: a turn takes all that is there.
    /// Without any handle left the loop goes on with the tasks it has.
    async fn wait(&mut self) -> Arrival {
        let deadline = [self.turns.poll_timeout(), self.ends_at].into_iter().flatten().min();
        tokio::select! {
            biased;
            () = self.close.notified() => Arrival::Close,
            Some(joined) = self.commit.join_next() => Arrival::Committed(outcome_of(joined)),
            Some((id, answer)) = self.calls.answered() => Arrival::Answer(id, answer),
            () = self.events.arrived() => Arrival::Events,
            Some(request) = self.requests.recv() => Arrival::Request(request),
            () = timer::until(&self.clock, deadline) => Arrival::Time,
        }
    }

    /// One turn: take in what is there, let the core decide, make it durable, let out what may leave
    /// (design.md R1).
    fn turn(&mut self, arrival: Option<Arrival>) {
        let now = self.clock.now();
        let taken = arrival.map_or(0, |arrival| self.take_in(now, arrival)) + self.drain(now);
        if self.turns.poll_timeout().is_some_and(|at| at <= now.mono) {
            self.turns.handle_timeout(now);
        }
        self.turns.end_turn(now);
        self.begin_commit(now);
        let let_out = self.let_out();
        self.counters.turns.add_one();
        tracing::debug!(taken, let_out, calls_out = self.calls.len(), "turn");
    }

    /// Hands on what ended the wait; how many inputs that were.
    fn take_in(&mut self, now: Moment, arrival: Arrival) -> usize {
        match arrival {
            Arrival::Committed(outcome) => self.take_commit(now, outcome),
            Arrival::Answer(id, answer) => self.turns.handle_event(now, Event::Answer { id, answer }),
            Arrival::Request(request) => self.take_request(now, request),
            Arrival::Close => self.close(now),
            Arrival::Events | Arrival::Time => return 0,
        }
        1
    }

    /// Hands on what else is there by now, and not what comes meanwhile: a turn ends.
    fn drain(&mut self, now: Moment) -> usize {
        let mut taken = 0;
        if let Some(joined) = self.commit.try_join_next() {
            self.take_commit(now, outcome_of(joined));
            taken += 1;
        }
        for _ in 0..self.calls.len() {
            let Some((id, answer)) = self.calls.try_answered() else { break };
            self.turns.handle_event(now, Event::Answer { id, answer });
            taken += 1;
        }
        for event in self.events.take() {
            self.turns.handle_event(now, event);
            taken += 1;
        }
        for _ in 0..self.requests.len() {
            let Ok(request) = self.requests.try_recv() else { break };
            self.take_request(now, request);
            taken += 1;
        }
        taken
    }

    fn take_commit(&mut self, now: Moment, outcome: Result<(), String>) {
        match outcome {
            Ok(()) => self.counters.commits.add_one(),
            Err(_) => self.counters.failed_commits.add_one(),
        }
        self.turns.committed(now, outcome);
    }

    fn take_request(&mut self, now: Moment, request: Request) {
        let event = match request {
            Request::Submit { spec, reply } => {
                self.publisher.awaits(spec.id.clone(), reply);
                Event::Submit(spec)
            }
            Request::Stop { task, reason, force } => Event::Stop { task, reason, force },
            Request::CleanUp(task) => Event::CleanUp(task),
            Request::OutputEnded(task, container) => Event::OutputEnded { task, container },
        };
        self.turns.handle_event(now, event);
    }

    /// From here on nothing is begun; calls that are out may still be answered.
    fn close(&mut self, now: Moment) {
        if self.ends_at.is_none() {
            self.ends_at = Some(now.mono.after(self.options.answers_wait));
            self.turns.handle_event(now, Event::Shutdown);
        }
    }

    /// One commit is in flight at a time; turns go on meanwhile.
    fn begin_commit(&mut self, now: Moment) {
        if let Some(commit) = self.turns.poll_commit(now) {
            let store = Arc::clone(&self.store);
            let batch = batch_of(commit);
            self.commit.spawn(async move { store.commit(batch).await }.in_current_span());
        }
    }

    /// Does what may leave now; how much that was.
    fn let_out(&mut self) -> usize {
        let (actions, updates) = self.ready();
        let count = actions.len() + updates.len();
        for action in actions {
            self.act(action);
        }
        self.publisher.publish(updates);
        count
    }

    /// What may leave now: things to do, and things to show.
    fn ready(&mut self) -> (Vec<Action>, Vec<Update>) {
        let (mut actions, mut updates) = (Vec::new(), Vec::new());
        for output in self.turns.outputs() {
            match output {
                Output::Act(action) => actions.push(action),
                Output::Show(view) => updates.push(Update::Task(Arc::new(view))),
                Output::ShowHost(view) => updates.push(Update::Host(Arc::new(view))),
                Output::Refuse(task, error) => updates.push(Update::Refused { task, error }),
            }
        }
        (actions, updates)
    }

    fn act(&mut self, action: Action) {
        match action {
            Action::Call { id, call } => {
                self.counters.calls.add_one();
                self.calls.begin(Arc::clone(&self.runtime), id, *call);
            }
            Action::Cancel(id) => self.calls.cancel(id),
            Action::Watch { id, instance, since, limit } => {
                let watch = Watch { id, instance, since, limit };
                let forward = events::forward(Arc::clone(&self.runtime), watch, Arc::clone(&self.events));
                // Dropping the old set ends the old stream.
                self.watch = JoinSet::new();
                self.watch.spawn(forward.in_current_span());
            }
        }
    }

    fn is_over(&self) -> bool {
        let Some(ends_at) = self.ends_at else { return false };
        let is_settled = self.calls.is_empty() && self.is_saved();
        is_settled || ends_at <= self.clock.now().mono
    }

    fn is_saved(&self) -> bool {
        self.commit.is_empty() && !self.turns.engine().is_dirty()
    }

    /// Waits for nothing more but the last commit. Calls and the stream end with the driver.
    async fn end(mut self) -> Ending {
        let unanswered = self.calls.len();
        let in_time = timer::within(self.options.commit_wait, self.save_the_rest()).await;
        let unsaved = match in_time {
            Err(_) => Some("the last commit did not end in time".into()),
            Ok(()) if self.is_saved() => None,
            Ok(()) => Some("the state store takes no changes".into()),
        };
        tracing::debug!(unanswered, unsaved = unsaved.as_deref(), "the driver ended");
        Ending { unanswered, unsaved }
    }

    async fn save_the_rest(&mut self) {
        loop {
            let now = self.clock.now();
            self.turns.end_turn(now);
            self.begin_commit(now);
            // Nothing is begun any more, so what is left to do stays undone; a restart decides it again.
            let (_undone, updates) = self.ready();
            self.publisher.publish(updates);
            let Some(joined) = self.commit.join_next().await else { return };
            self.take_commit(self.clock.now(), outcome_of(joined));
        }
    }
}

/// A store that panicked may have done anything: for the gate that is a commit that failed.
fn outcome_of(joined: Result<Result<(), CommitError>, JoinError>) -> Result<(), String> {
    match joined {
        Ok(outcome) => outcome.map_err(|error| error.to_string()),
        Err(error) => match error.try_into_panic() {
            Ok(panic) => Err(format!("the state store broke off: {}", panic_text(panic.as_ref()))),
            Err(_) => Err("the commit was cut off".into()),
        },
    }
}

fn batch_of(commit: Commit) -> Batch {
    let writes = commit.writes.into_iter().map(|(key, value)| Write { key, value }).collect();
    Batch { generation: commit.generation, writes }
}
