//! The agent as `lighterman run` puts it together, in this process, with a tap before the engine and one before the
//! store.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use lighterman_app::host_settings;
use lighterman_calls::RequestKind;
use lighterman_checkpoint::{OpenOptions, Store};
use lighterman_config::RunSettings;
use lighterman_contracts::{Clock, ContainerRuntime, Entropy};
use lighterman_docker::Docker;
use lighterman_docker_tests::AMPLE;
use lighterman_driver::{Driver, Ending, Handle, HostClock, Options, Update, Updates};
use lighterman_engine::{Engine, HostSettings};
use lighterman_ids::{InstanceId, TaskId};
use lighterman_records::Ledger;
use lighterman_status::TaskStatus;
use lighterman_task_manager::TaskSpec;
use lighterman_turn::Turns;
use lighterman_view::TaskView;
use tokio::{task::JoinHandle, time::timeout};

use crate::{
    stage::{Stage, Trouble},
    store::Faulty,
    tap::{Passed, Tap},
};

/// A running agent over a new state directory.
#[derive(Debug)]
pub struct Agent<R = Docker> {
    /// Talks to the driver.
    pub handle: Handle,
    /// What left for the engine, and came from it.
    pub tap: Tap<R>,
    /// What was committed.
    pub store: Arc<Faulty<Store>>,
    updates: Updates,
    driver: JoinHandle<Ending>,
}

impl Agent<Docker> {
    /// An agent on the real engine, connected.
    ///
    /// # Errors
    /// There is no engine, or no room for its state.
    pub async fn start(stage: &Stage) -> Result<Self, Trouble> {
        Self::start_on(stage, stage.docker()?.clone(), host_settings(&RunSettings::default())).await
    }
}

impl<R: ContainerRuntime + Clone> Agent<R> {
    /// An agent on this runtime, connected.
    ///
    /// # Errors
    /// There is no room for its state, or the runtime does not answer.
    pub async fn start_on(stage: &Stage, runtime: R, settings: HostSettings) -> Result<Self, Trouble> {
        let (store, loaded) = Store::open(&stage.state_directory(), OpenOptions::default())?;
        let (ledger, saved) = Ledger::open(loaded.entries, loaded.witness)?;
        let clock = HostClock::new()?;
        let seed = u64::try_from(stage.entropy().bits() & u128::from(u64::MAX))?;
        let instance = InstanceId::from_bits(stage.entropy().bits());
        let engine = Engine::take_up(settings, instance, saved, seed, clock.now())?;
        let turns = Turns::new(engine, ledger);
        let tap = Tap::new(runtime);
        let store = Arc::new(Faulty::new(store));
        let (driver, handle) = Driver::new(turns, Arc::new(tap.clone()), Arc::clone(&store), clock, Options::default());
        let updates = handle.updates();
        let agent = Self { driver: driver.spawn(), handle, tap, store, updates };
        let mut host = agent.handle.host();
        let connected = timeout(AMPLE, host.wait_for(|view| view.checked)).await?;
        connected.ok_or("the driver ended before it was connected")?;
        Ok(agent)
    }

    /// Submits a task and waits until it runs; how long each took from the request on.
    ///
    /// # Errors
    /// It is refused, or does not come to run.
    pub async fn run_task(&mut self, spec: TaskSpec) -> Result<Started, Trouble> {
        let task = spec.id.clone();
        let (calls, batches) = (self.tap.count(), self.store.batches());
        let begun = Instant::now();
        self.handle.submit(spec).await?;
        let accepted = begun.elapsed();
        let (_, at) = self.until(&task, |view| view.known == TaskStatus::Running).await?;
        let calls = self.tap.calls_from(calls);
        let engine = calls.iter().filter(|call| is_of_the_floor(call.kind)).map(Passed::took).sum();
        Ok(Started { task, accepted, running: at - begun, engine, commits: self.store.batches() - batches })
    }

    /// Waits until the task is so, and says when that was shown.
    ///
    /// # Errors
    /// It is not so within a minute, or the driver ended.
    pub async fn until(
        &mut self,
        task: &TaskId,
        is_so: impl Fn(&TaskView) -> bool,
    ) -> Result<(Arc<TaskView>, Instant), Trouble> {
        let waiting = async {
            loop {
                match self.updates.next().await {
                    Some(Update::Task(view)) if view.id == *task && is_so(&view) => return Ok((view, Instant::now())),
                    Some(Update::Task(_) | Update::Host(_)) => {}
                    Some(Update::Refused { error, .. }) => return Err(Trouble::from(error)),
                    Some(Update::Missed(count)) => return Err(format!("{count} updates were missed").into()),
                    None => return Err("the driver ended".into()),
                }
            }
        };
        timeout(AMPLE, waiting).await?
    }

    /// Stops a task; how long that took until STOPPED was known.
    ///
    /// # Errors
    /// It does not stop.
    pub async fn stop_task(&mut self, task: &TaskId) -> Result<Duration, Trouble> {
        let begun = Instant::now();
        self.handle.stop(task.clone(), None, false)?;
        let (_, at) = self.until(task, |view| view.known.is_terminal()).await?;
        Ok(at - begun)
    }

    /// Removes the containers of a stopped task.
    ///
    /// # Errors
    /// They are not removed.
    pub async fn remove_task(&mut self, task: &TaskId) -> Result<(), Trouble> {
        self.handle.clean_up(task.clone())?;
        self.until(task, |view| view.removed).await.map(drop)
    }

    /// Ends it in order. Containers are left as they are.
    ///
    /// # Errors
    /// Its last changes could not be saved.
    pub async fn end(self) -> Result<(), Trouble> {
        self.handle.shutdown();
        match self.driver.await?.unsaved {
            None => Ok(()),
            Some(why) => Err(why.into()),
        }
    }
}

/// How long a start took.
#[derive(Clone, Debug)]
pub struct Started {
    /// Which task.
    pub task: TaskId,
    /// Until it was accepted, which is durable.
    pub accepted: Duration,
    /// Until RUNNING was known.
    pub running: Duration,
    /// What its create and start calls took.
    pub engine: Duration,
    /// Commits from the request on.
    pub commits: u64,
}

impl Started {
    /// From its acceptance to RUNNING.
    #[must_use]
    pub fn since_accepted(&self) -> Duration {
        self.running.saturating_sub(self.accepted)
    }

    /// The same outside create and start, which also the floor makes.
    #[must_use]
    pub fn own(&self) -> Duration {
        self.since_accepted().saturating_sub(self.engine)
    }
}

fn is_of_the_floor(kind: RequestKind) -> bool {
    match kind {
        RequestKind::Create | RequestKind::Start => true,
        RequestKind::Ping
        | RequestKind::Version
        | RequestKind::InspectImage
        | RequestKind::Pull
        | RequestKind::ResolveDigest
        | RequestKind::TagImage
        | RequestKind::RemoveImage
        | RequestKind::ListImages
        | RequestKind::CreateVolume
        | RequestKind::InspectVolume
        | RequestKind::RemoveVolume
        | RequestKind::ListVolumes
        | RequestKind::Inspect
        | RequestKind::Stop
        | RequestKind::Kill
        | RequestKind::Remove
        | RequestKind::List => false,
    }
}
