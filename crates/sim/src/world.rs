//! The world around the engine under test: runtime, store, clock, users, and whatever goes wrong.

mod acts;
mod agent;
mod crash;
mod deeds;
mod stream;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use lighterman_backoff::{derive, derive_nth};
use lighterman_calls::RequestKind;
use lighterman_ids::{InstanceId, Moment};
use lighterman_runtime_model::{Model, Output};

use crate::{
    checks::Checks,
    clock::{At, Clock},
    dice::Dice,
    log::Log,
    note::{Note, Sight},
    run::{Failed, FailureKind},
    scenario::{Deed, Scenario},
    stats::Stats,
    store::SimStore,
    truth::Truth,
    workload,
    world::agent::Agent,
};

/// A run never takes more steps than this: the longest take a few thousand.
const MOST_STEPS: u64 = 300_000;
/// Nor this many within one instant: a busy spin.
const MOST_STEPS_IN_ONE_INSTANT: u64 = 1_000;
/// Nor longer than this after everything was told to stop: clean-up waits, and pauses of an hour between removals.
const LONGEST_END: core::time::Duration = core::time::Duration::from_secs(48 * 3_600);

/// Something is wrong, or not.
pub(crate) type Checked = Result<(), Box<Failed>>;

/// Everything there is in a run.
#[derive(Debug)]
pub(crate) struct World {
    scenario: Scenario,
    dice: Dice,
    clock: Clock,
    model: Model,
    store: SimStore,
    instance: InstanceId,
    truth: Truth,
    /// The truth has changed since checkers were told.
    moved: bool,
    checks: Checks,
    log: Log,
    stats: Option<Stats>,
    agent: Option<Agent>,
    /// When the agent is started next, while there is none.
    start_at: Option<At>,
    deeds: VecDeque<(At, Deed)>,
    /// What users want of an agent that is not there.
    wishes: Vec<Deed>,
    /// Tasks that were submitted.
    submitted: BTreeSet<usize>,
    /// Tasks that are not submitted again: they were taken up, or are to stop.
    done_with: BTreeSet<usize>,
    /// Commits fail until then; whether they land all the same.
    store_fails: Option<(At, bool)>,
    /// The store was damaged, and opening it must show that.
    damaged: bool,
    /// Records were lost: a create that was under way then is known to nobody.
    lost_records: bool,
    calm: bool,
    /// Everything was told to stop then.
    stopping: Option<At>,
    /// This life of the agent has seen a list of what there is.
    has_looked: bool,
    /// A last start looked for what others left.
    swept_up: bool,
    /// The watch through which the truth is told of ends.
    ear: Option<u64>,
    tokens: u64,
    /// How many calls of each kind have left.
    calls_made: BTreeMap<RequestKind, u64>,
    counts: Counts,
}

/// What is counted of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Steps taken.
    pub steps: u64,
    /// Crash points passed.
    pub points: u64,
    /// Deaths of the agent.
    pub deaths: u64,
    /// Tasks that were taken up and forgotten again.
    pub lifetimes: u64,
    /// Steps taken in the current instant.
    in_one_instant: u64,
}

impl World {
    pub(crate) fn new(scenario: Scenario, log: Log, with_stats: bool) -> Self {
        let clock = Clock::new();
        let mut model = Model::new(clock.moment(), scenario.model.clone());
        workload::stock(&mut model);
        let seed = scenario.seed;
        let instance = u128::from(derive(seed, "instance")) << 64 | u128::from(derive_nth(seed, "instance", 1));
        Self {
            dice: Dice::new(derive(seed, "world")),
            deeds: scenario.deeds.clone().into(),
            scenario,
            clock,
            model,
            store: SimStore::default(),
            instance: InstanceId::from_bits(instance),
            truth: Truth::default(),
            moved: false,
            checks: Checks::new(),
            log,
            stats: with_stats.then(Stats::default),
            agent: None,
            start_at: Some(At(0)),
            wishes: Vec::new(),
            submitted: BTreeSet::new(),
            done_with: BTreeSet::new(),
            store_fails: None,
            damaged: false,
            lost_records: false,
            calm: false,
            stopping: None,
            has_looked: false,
            swept_up: false,
            ear: None,
            tokens: 0,
            calls_made: BTreeMap::new(),
            counts: Counts::default(),
        }
    }

    /// Runs to the end, or to the first thing that is wrong.
    pub(crate) fn play(&mut self) -> Checked {
        while !self.is_over()? {
            let next = self.next_at().ok_or_else(|| self.stuck("nothing is due any more"))?;
            self.count_step(next)?;
            self.clock.pass_to(next);
            self.step()?;
        }
        self.check_end()
    }

    /// Everything that is due now.
    fn step(&mut self) -> Checked {
        self.model.advance(self.clock.moment());
        self.take_from_model()?;
        self.do_deeds()?;
        self.finish_commit()?;
        self.take_turn()?;
        self.take_from_model()?;
        self.note(&Note::Rests)
    }

    fn next_at(&self) -> Option<At> {
        let model = self.model.poll_timeout().map(|mono| self.clock.line_up(mono));
        let deed = self.deeds.front().map(|(at, _)| *at);
        let agent = self.agent.as_ref().and_then(|agent| agent.next_at(&self.clock));
        let next = [model, deed, agent, self.store.done_at(), self.start_at].into_iter().flatten().min()?;
        let spins = self.scenario.plant == Some(crate::Plant::Spins) && self.counts.steps > 10;
        Some(if spins { self.clock.at() } else { next.max(self.clock.at()) })
    }

    fn count_step(&mut self, next: At) -> Checked {
        self.counts.steps += 1;
        self.counts.in_one_instant = if next > self.clock.at() { 0 } else { self.counts.in_one_instant + 1 };
        if self.counts.in_one_instant > MOST_STEPS_IN_ONE_INSTANT {
            return Err(self.stuck("time stands still: somebody spins"));
        }
        let late = self.stopping.is_some_and(|at| next.since(at) > LONGEST_END);
        if late || self.counts.steps > MOST_STEPS {
            return Err(self.stuck("the run does not come to its end"));
        }
        Ok(())
    }

    /// A failure of liveness, with what is still awaited.
    fn stuck(&self, what: &str) -> Box<Failed> {
        let waits = self.agent.iter().flat_map(|agent| agent.describe(self.clock.moment()));
        let left: Vec<_> = self.truth.ours().map(|(_, real)| real.name.to_string()).collect();
        let waits: Vec<_> = waits.collect();
        let text =
            format!("{what}; waits: {waits:?}; containers: {left:?}; calls in the runtime: {}", self.model.in_flight());
        self.failed(FailureKind::Liveness, "liveness", text)
    }

    fn failed(&self, kind: FailureKind, checker: &'static str, text: String) -> Box<Failed> {
        Box::new(Failed { kind, checker, text, at: self.clock.at() })
    }

    /// Tells the checkers.
    fn note(&mut self, note: &Note<'_>) -> Checked {
        let sight = Sight {
            now: self.clock.at(),
            scenario: &self.scenario,
            truth: &self.truth,
            store: &self.store,
            turns: self.agent.as_ref().map(Agent::turns),
            calls_out: self.agent.as_ref().map_or(0, Agent::calls_out),
        };
        let seen = self.checks.see(&sight, note);
        seen.map_err(|(checker, text)| self.failed(FailureKind::Correctness, checker, text))
    }

    /// Takes what came out of the model, and looks at what is true now.
    fn take_from_model(&mut self) -> Checked {
        while let Some(output) = self.model.poll() {
            match output {
                Output::Answer { token, answer } => self.answer_arrives(token, answer)?,
                Output::Watched { token, item } if self.ear == Some(token) => self.hear(item),
                Output::Watched { token, item } => self.on_watched(token, item),
                Output::Progress { .. } => {}
                Output::Written { container, text, .. } => {
                    let text = text.trim_end();
                    self.log.line(self.clock.at(), "program", || format!("{} writes: {text}", container.short()));
                }
            }
        }
        if self.ear.is_none() && self.model.is_up() {
            self.begin_to_listen();
        }
        if !self.model.is_up() {
            self.truth.sweep();
        }
        self.look();
        if core::mem::take(&mut self.moved) { self.note(&Note::Moved) } else { Ok(()) }
    }

    /// Something may have become durable.
    fn note_landed(&mut self) -> Checked {
        let tasks = self.scenario.tasks.iter().enumerate();
        let durable = tasks.filter(|(_, task)| self.store.holds(&format!("task/{}", task.spec.id)));
        self.done_with.extend(durable.map(|(nth, _)| nth));
        self.note(&Note::Landed)
    }

    fn look(&mut self) {
        self.moved |= self.truth.look(self.clock.at(), &self.model, &self.instance);
    }

    /// Whether everything was stopped and nothing more can happen.
    fn is_over(&mut self) -> Result<bool, Box<Failed>> {
        let Some(agent) = self.agent.as_ref().filter(|_| self.stopping.is_some()) else { return Ok(false) };
        if !self.has_looked || !agent.is_idle() || self.model.in_flight() > 0 || self.store.done_at().is_some() {
            return Ok(false);
        }
        let left = self.truth.ours().next().is_some();
        if left && !self.swept_up && self.may_leave_something() {
            // What is carried out later than the core counts on or is known to nobody, is found by the list of the next start.
            self.swept_up = true;
            self.die(core::time::Duration::ZERO, "ends, for a last start")?;
            return Ok(false);
        }
        Ok(true)
    }

    const fn may_leave_something(&self) -> bool {
        self.scenario.weather.overlong || self.lost_records
    }

    fn check_end(&mut self) -> Checked {
        let (entries, witness) = self.store.load();
        match lighterman_records::Ledger::open(entries, witness) {
            Ok((_, saved)) if saved.tasks.is_empty() => self.note(&Note::Ended),
            Ok((_, saved)) => {
                let text = format!("{} tasks are left in the store", saved.tasks.len());
                Err(self.failed(FailureKind::Correctness, "no-orphans", text))
            }
            Err(error) => Err(self.failed(FailureKind::Correctness, "store-opens", error.to_string())),
        }
    }

    fn moment(&self) -> Moment {
        self.clock.moment()
    }

    fn token(&mut self) -> u64 {
        self.tokens += 1;
        self.tokens
    }

    fn count(&mut self, kind: &'static str, case: impl FnOnce() -> String) {
        if let Some(stats) = &mut self.stats {
            stats.count(kind, case());
        }
    }

    /// What is left of the world when its run is over.
    pub(crate) fn into_parts(self) -> (At, Counts, Vec<String>, Option<Stats>) {
        (self.clock.at(), self.counts, self.log.into_lines(), self.stats)
    }
}
