//! What is to happen in a run, drawn before it begins.

use std::time::Duration;

use lighterman_backoff::derive;
use lighterman_calls::{LostCause, RequestKind};
use lighterman_engine::HostSettings;
use lighterman_ids::RuntimeName;
use lighterman_runtime_model::{Disturbance, Failure, Latencies, Settings as ModelSettings};

use crate::{clock::At, dice::Dice, plant::Plant, store::Damage, weather::Weather, workload::Workload};

/// Everything a run is made from. The same scenario always gives the same run, to the byte.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// What else is random is drawn from it while the run goes on.
    pub seed: u64,
    /// The tasks there are to submit.
    pub tasks: Vec<Workload>,
    /// Settings of the engine under test.
    pub host: HostSettings,
    /// Settings of the modelled runtime.
    pub model: ModelSettings,
    /// How often calls, events and commits go wrong.
    pub weather: Weather,
    /// What befalls single calls: the nth of its kind, counted from 1, whatever the weather.
    pub befalls: Vec<(RequestKind, u64, Disturbance)>,
    /// What happens when; by time.
    pub deeds: Vec<(At, Deed)>,
    /// What the next start after a crash does.
    pub next_start: NextStart,
    /// Crashes at commits and actions.
    pub crashes: Crashes,
    /// When the weather clears up: from then on nothing goes wrong any more.
    pub calm_at: At,
    /// Once it is calm, what is known must come to agree with what is true before everything is told to stop.
    pub settles: bool,
    /// A fault of our own making, to prove that it is found.
    pub plant: Option<Plant>,
}

/// What the next start after a crash does with the tasks it finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NextStart {
    /// Goes on with them.
    Resumes,
    /// Stops and removes them.
    CleansUp,
    /// Now this, now that.
    Either,
}

/// Crashes of the agent before and after each commit and each action. The points are counted as they come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Crashes {
    /// Never.
    Never,
    /// At each point with this chance, as long as it is not calm.
    Sometimes {
        /// Chance in thousandths.
        permille: u32,
        /// How many at most.
        most: u32,
    },
    /// At this one, counted from 1, even when it is calm.
    At(u64),
}

/// Something that happens at a given time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Deed {
    /// The user submits a task.
    Submit(usize),
    /// The user stops a task.
    Stop {
        /// Which.
        task: usize,
        /// At once.
        force: bool,
    },
    /// The user needs the containers of a task no longer.
    CleanUp(usize),
    /// Somebody kills a task's container.
    Kill(usize),
    /// Somebody removes a task's container by force.
    Remove(usize),
    /// Somebody restarts a task's container.
    Restart(usize),
    /// The kernel kills a child in a task's container.
    KillChild(usize),
    /// The health probes of a task's container end so from now on.
    Health(usize, Option<i32>),
    /// Somebody makes an image of a task's container, labels and all, and runs it.
    Copy(usize),
    /// Whoever reads the output of a task's container comes to its end, though the container may run on.
    EndOutput(usize),
    /// Something holds on to the files of a task's container, or lets them go.
    Wedge(usize, bool),
    /// Somebody takes away the image that was always there; it has to be pulled.
    LoseImage,
    /// A process of the host takes the contested port, or gives it back.
    HoldPort(bool),
    /// The runtime goes away for a while.
    EndRuntime(Failure, Duration),
    /// The host starts again; agent and runtime are back after these times.
    Reboot {
        /// Until the runtime is there.
        runtime: Duration,
        /// Until the agent is there.
        agent: Duration,
    },
    /// The agent dies, and is started again after a while.
    KillAgent(Duration),
    /// The agent is told to end, and is started again a while after it has.
    ShutDown(Duration),
    /// The agent dies, its store is damaged, and it is started again after a while.
    DamageStore(Damage, Duration),
    /// Commits fail for a while; if so, they are in the store all the same.
    FailStore {
        /// How long.
        lasts: Duration,
        /// Whether what failed is there.
        lands: bool,
    },
    /// The event stream breaks.
    BreakStream(LostCause),
    /// Too many events wait: all are dropped, and the agent is told.
    OverflowEvents,
    /// Somebody sets the wall clock, by so many nanoseconds.
    StepWall(i64),
    /// Whoever made a container that is not ours starts it.
    StartForeigner(RuntimeName),
    /// The weather clears up.
    Calm,
    /// What is known must agree with what is true.
    Settle,
    /// Everything is told to stop and to be cleaned up.
    StopAll,
}

const MINUTE: Duration = Duration::from_secs(60);

impl Scenario {
    /// The scenario of this seed.
    #[must_use]
    pub fn draw(seed: u64) -> Self {
        let mut dice = Dice::new(derive(seed, "scenario"));
        let count = 1 + dice.below("tasks", 4);
        let tasks: Vec<_> = (0..count).map(|nth| Workload::draw(seed, nth, &mut dice)).collect();
        let weather = Weather::draw(&mut dice);
        let calm_at = At(0).after(dice.span("calm", Duration::from_secs(5), 8 * MINUTE));
        let settles = dice.chance("settles", 300);
        let mut scenario = Self {
            seed,
            host: host_settings(&mut dice),
            model: model_settings(seed, &mut dice),
            next_start: *dice.pick("start", &[NextStart::Resumes, NextStart::CleansUp, NextStart::Either]),
            crashes: crashes(&mut dice),
            tasks,
            weather,
            befalls: Vec::new(),
            deeds: Vec::new(),
            calm_at,
            settles,
            plant: None,
        };
        scenario.plan_users(&mut dice);
        scenario.plan_mishaps(&mut dice);
        scenario.plan_end();
        if !settles && dice.chance("stop all", 500) {
            // In the middle of it all; what is left of the weather then meets the end.
            let early = At(0).after(dice.span("stop all", Duration::from_millis(50), calm_at.since(At(0))));
            scenario.deeds.push((early, Deed::StopAll));
            scenario.deeds.sort_by_key(|(at, _)| *at);
        }
        scenario
    }

    /// A run in which these tasks are submitted at once and nothing goes wrong before everything is told to
    /// stop: a base for scripts.
    #[must_use]
    pub fn quiet(seed: u64, tasks: Vec<Workload>, calm_at: Duration) -> Self {
        let deeds = (0..tasks.len()).map(|task| (At(0), Deed::Submit(task))).collect();
        let mut scenario = Self {
            seed,
            tasks,
            host: HostSettings::REFERENCE,
            model: ModelSettings { seed, ..ModelSettings::default() },
            weather: Weather::CLEAR,
            befalls: Vec::new(),
            deeds,
            next_start: NextStart::Resumes,
            crashes: Crashes::Never,
            calm_at: At(0).after(calm_at),
            settles: false,
            plant: None,
        };
        scenario.plan_end();
        scenario
    }

    /// Once it is calm, what is known has to come to agree with what is true.
    pub fn settle(&mut self) {
        self.settles = true;
        self.plan_end();
    }

    /// The same, with this befalling calls of this kind: the nth, counted from 1.
    #[must_use]
    pub fn befalling(
        mut self,
        kind: RequestKind,
        nth: impl IntoIterator<Item = u64>,
        disturbance: &Disturbance,
    ) -> Self {
        self.befalls.extend(nth.into_iter().map(|nth| (kind, nth, disturbance.clone())));
        self
    }

    /// The same, with something more happening.
    #[must_use]
    pub fn with(mut self, after: Duration, deed: Deed) -> Self {
        self.deeds.push((At(0).after(after), deed));
        self.deeds.sort_by_key(|(at, _)| *at);
        self
    }

    fn plan_users(&mut self, dice: &mut Dice) {
        let longest = self.calm_at.since(At(0));
        for task in 0..self.tasks.len() {
            let submit = if dice.chance("submit", 500) { Duration::ZERO } else { dice.up_to("submit", longest / 3) };
            self.deeds.push((At(0).after(submit), Deed::Submit(task)));
            if dice.chance("stop", 600) {
                let stop = submit + dice.span("stop", Duration::from_millis(1), longest);
                self.deeds.push((At(0).after(stop), Deed::Stop { task, force: dice.chance("stop", 150) }));
                if dice.chance("force", 300) {
                    let force = stop + dice.span("force", Duration::from_millis(1), Duration::from_secs(20));
                    self.deeds.push((At(0).after(force), Deed::Stop { task, force: true }));
                }
            }
            if dice.chance("clean-up", 600) {
                let when = submit + dice.span("clean-up", Duration::from_millis(1), longest);
                self.deeds.push((At(0).after(when), Deed::CleanUp(task)));
            }
        }
    }

    fn plan_mishaps(&mut self, dice: &mut Dice) {
        let longest = self.calm_at.since(At(0));
        for _ in 0..self.weather.mishaps {
            let at = At(0).after(dice.span("mishap", Duration::from_millis(1), longest));
            let deed = mishap(dice, self.tasks.len(), self.weather.damages_store);
            self.deeds.push((at, deed));
        }
    }

    fn plan_end(&mut self) {
        self.deeds.retain(|(at, _)| *at < self.calm_at);
        let mut stop_at = self.calm_at.after(Duration::from_millis(1));
        self.deeds.push((self.calm_at, Deed::Calm));
        if self.settles {
            stop_at = self.calm_at.after(settling_time(&self.host));
            self.deeds.push((stop_at, Deed::Settle));
        }
        self.deeds.push((stop_at, Deed::StopAll));
        self.deeds.sort_by_key(|(at, _)| *at);
    }
}

/// Two re-checks, and the calls that still hang.
fn settling_time(host: &HostSettings) -> Duration {
    2 * (host.recheck_every + host.recheck_jitter) + host.task.limits.inspect + MINUTE
}

fn host_settings(dice: &mut Dice) -> HostSettings {
    let mut host = HostSettings::REFERENCE;
    host.max_calls = *dice.pick("host", &[1, 2, 16]);
    host.max_pulls = *dice.pick("host", &[1, 4]);
    host.patience = *dice.pick("host", &[None, Some(MINUTE)]);
    host.task.stop_timeout = Duration::from_secs(1 + dice.below("host", 30));
    host.task.cleanup_wait =
        *dice.pick("host", &[Duration::ZERO, Duration::from_secs(10), 10 * MINUTE, host.task.cleanup_wait]);
    if dice.chance("host", 300) {
        host.task.limits.create = MINUTE;
        host.task.limits.start = Duration::from_secs(45);
        host.task.limits.stop_margin = Duration::from_secs(10);
    }
    host
}

fn model_settings(seed: u64, dice: &mut Dice) -> ModelSettings {
    let mut latencies = Latencies::default();
    if dice.chance("model", 100) {
        latencies = Latencies::ZERO;
    } else if dice.chance("model", 200) {
        latencies.create = Duration::from_secs(2);
        latencies.start = Duration::from_secs(3);
        latencies.remove = Duration::from_secs(1);
    }
    ModelSettings { seed: derive(seed, "model"), latencies, live_restore: dice.chance("model", 300) }
}

fn crashes(dice: &mut Dice) -> Crashes {
    let most = 1 + u32::try_from(dice.below("crashes", 5)).expect("below 5");
    match dice.below("crashes", 4) {
        0 => Crashes::Never,
        1 => Crashes::Sometimes { permille: 10, most },
        2 => Crashes::Sometimes { permille: 40, most },
        _ => Crashes::Sometimes { permille: 150, most },
    }
}

fn mishap(dice: &mut Dice, tasks: usize, damages_store: bool) -> Deed {
    let task = usize::try_from(dice.below("mishap", tasks as u64)).expect("below the number of tasks");
    let away = dice.span("mishap", Duration::from_millis(10), 2 * MINUTE);
    match dice.below("mishap", 26) {
        0 | 1 => Deed::Kill(task),
        2 | 3 => Deed::Remove(task),
        4 | 5 => Deed::Restart(task),
        6 => Deed::KillChild(task),
        7 => Deed::Health(task, *dice.pick("mishap", &[Some(1), Some(0), None])),
        8 => Deed::Wedge(task, dice.chance("mishap", 700)),
        9 => Deed::LoseImage,
        10 => Deed::HoldPort(dice.chance("mishap", 700)),
        11 => Deed::EndRuntime(*dice.pick("mishap", &[Failure::Crash, Failure::Shutdown, Failure::PowerCut]), away),
        12 => Deed::EndRuntime(Failure::Crash, away / 20),
        13 => Deed::Reboot { runtime: away / 3, agent: away / 2 },
        14..=16 => Deed::KillAgent(away),
        17 => Deed::ShutDown(away),
        18 if damages_store => Deed::DamageStore(*dice.pick("mishap", &Damage::ALL), away),
        18 | 19 => Deed::FailStore { lasts: away, lands: dice.chance("mishap", 500) },
        20 => Deed::BreakStream(*dice.pick("mishap", &[LostCause::ConnectionLost, LostCause::Garbled])),
        21 => Deed::OverflowEvents,
        22 => Deed::Copy(task),
        23 => Deed::EndOutput(task),
        _ => Deed::StepWall(step(dice)),
    }
}

/// Hours ahead or back.
fn step(dice: &mut Dice) -> i64 {
    let span = dice.span("step", Duration::from_secs(1), 600 * MINUTE);
    let nanos = i64::try_from(span.as_nanos()).expect("hours fit");
    if dice.chance("step", 500) { nanos } else { -nanos }
}
