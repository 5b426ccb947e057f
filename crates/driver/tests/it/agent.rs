//! An agent of runtime, store and driver, with paused time.

use std::{
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use lighterman_contracts::Clock;
use lighterman_driver::{Driver, Ending, Handle, Options};
use lighterman_engine::{Engine, HostSettings};
use lighterman_ids::*;
use lighterman_records::Ledger;
use lighterman_status::TaskStatus;
use lighterman_task_manager::TaskSpec;
use lighterman_taskdef::{ContainerDefinition, TaskDefinition};
use lighterman_turn::Turns;
use lighterman_view::{RuntimeLink, TaskView};
use tokio::{task::JoinHandle, time::Instant};

use crate::{runtime::Fake, store::Store};

/// No wait of a test is longer than this, in simulated time.
const BOUND: Duration = Duration::from_secs(24 * 3_600);

/// Follows tokio's time; the wall clock can be set.
#[derive(Clone, Debug)]
pub(crate) struct TokioClock {
    start: Instant,
    wall: Arc<AtomicI64>,
}

impl TokioClock {
    fn new() -> Self {
        Self { start: Instant::now(), wall: Arc::new(AtomicI64::new(1_700_000_000_000_000_000)) }
    }

    /// Sets the wall clock, as a person or NTP does.
    pub(crate) fn step_wall(&self, nanos: i64) {
        self.wall.fetch_add(nanos, Ordering::Relaxed);
    }
}

impl Clock for TokioClock {
    fn now(&self) -> Moment {
        let since = u64::try_from(self.start.elapsed().as_nanos()).unwrap();
        let wall = self.wall.load(Ordering::Relaxed) + i64::try_from(since).unwrap();
        Moment { boot: BootId(1), mono: Mono(since + 1_000_000_000), wall: Wall(wall) }
    }
}

pub(crate) struct Agent {
    pub(crate) runtime: Arc<Fake>,
    pub(crate) store: Arc<Store>,
    pub(crate) clock: TokioClock,
    pub(crate) handle: Handle,
    pub(crate) running: JoinHandle<Ending>,
}

impl Agent {
    /// Connected, with nothing to do.
    pub(crate) async fn connected() -> Self {
        Self::with(Arc::default(), Arc::default()).await
    }

    pub(crate) async fn with(runtime: Arc<Fake>, store: Arc<Store>) -> Self {
        let agent = Self::begun(runtime, store);
        let mut host = agent.handle.host();
        let is_up = |link: &RuntimeLink| matches!(link, RuntimeLink::Up { .. });
        bounded(host.wait_for(|host| is_up(&host.runtime))).await.expect("the driver runs");
        idle().await;
        agent
    }

    /// Just begun.
    pub(crate) fn begun(runtime: Arc<Fake>, store: Arc<Store>) -> Self {
        let (driver, handle, clock) = driver(&runtime, &store);
        Self { runtime, store, clock, handle, running: driver.spawn() }
    }

    /// Runs a task of one container until it is known to run.
    pub(crate) async fn run(&self, n: u128) -> Arc<TaskView> {
        self.handle.submit(spec(n)).await.expect("the task is accepted");
        self.reaches(n, TaskStatus::Running).await
    }

    /// Waits until the task is shown to have come so far.
    pub(crate) async fn reaches(&self, n: u128, status: TaskStatus) -> Arc<TaskView> {
        let id = TaskId::from_bits(n);
        let mut tasks = self.handle.tasks();
        let is_there = |view: &Arc<TaskView>| view.known == status;
        let map = bounded(tasks.wait_for(|tasks| tasks.get(&id).is_some_and(is_there))).await;
        map.expect("the driver runs")[&id].clone()
    }

    /// Waits until the task is gone.
    pub(crate) async fn forgets(&self, n: u128) {
        let id = TaskId::from_bits(n);
        let mut tasks = self.handle.tasks();
        bounded(tasks.wait_for(|tasks| !tasks.contains_key(&id))).await.expect("the driver runs");
    }

    /// Stops the task and has its containers removed.
    pub(crate) async fn stop_and_forget(&self, n: u128) {
        let id = TaskId::from_bits(n);
        self.handle.stop(id.clone(), Some("enough".into()), false).unwrap();
        self.reaches(n, TaskStatus::Stopped).await;
        self.handle.clean_up(id).unwrap();
        self.forgets(n).await;
    }

    /// Ends in order; how long that took.
    pub(crate) async fn end(self) -> (Ending, Duration) {
        let asked = Instant::now();
        self.handle.shutdown();
        let ending = bounded(self.running).await.unwrap();
        (ending, asked.elapsed())
    }
}

/// A driver that does not run yet, over what the store holds.
pub(crate) fn driver(runtime: &Arc<Fake>, store: &Arc<Store>) -> (Driver<Fake, Store, TokioClock>, Handle, TokioClock) {
    let clock = TokioClock::new();
    let loaded = store.load();
    let (ledger, saved) = Ledger::open(loaded.entries, loaded.witness).unwrap();
    let instance = InstanceId::from_bits(7);
    let engine = Engine::take_up(HostSettings::REFERENCE, instance, saved, 1, clock.now()).unwrap();
    let turns = Turns::new(engine, ledger);
    let (driver, handle) =
        Driver::new(turns, Arc::clone(runtime), Arc::clone(store), clock.clone(), Options::default());
    (driver, handle, clock)
}

pub(crate) fn spec(n: u128) -> TaskSpec {
    let web = ContainerDefinition::new(ContainerName::parse("web").unwrap(), ImageRef::parse("web:1").unwrap());
    let id = TaskId::from_bits(n);
    TaskSpec {
        arn: id.local_arn(None),
        id,
        definition: Arc::new(TaskDefinition::new(Family::parse("site").unwrap(), vec![web])),
        digest: DefinitionDigest::parse(&format!("sha256:{}", "0".repeat(64))).unwrap(),
        seed: u64::try_from(n).unwrap(),
    }
}

/// Returns when everything has happened that can happen without waiting: paused time moves only when no
/// task of the runtime has anything to do.
pub(crate) async fn idle() {
    pass(Duration::from_millis(1)).await;
}

/// Lets time pass.
pub(crate) async fn pass(time: Duration) {
    tokio::time::sleep(time).await;
}

pub(crate) async fn bounded<F: Future>(future: F) -> F::Output {
    tokio::time::timeout(BOUND, future).await.expect("it takes longer than any wait of the agent")
}
