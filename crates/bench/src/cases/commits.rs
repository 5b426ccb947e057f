//! P12: 1,000 tasks change at once. First through the driver, whose batches are counted; then the records of all of
//! them committed one time after the other, beside a bare write and `fdatasync` of the same bytes.

use std::{
    fs::File,
    io::Write as _,
    sync::Arc,
    time::{Duration, Instant},
};

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use lighterman_app::Definition;
use lighterman_checkpoint::{OpenOptions, Store};
use lighterman_contracts::{Batch, Checkpoint, Clock, Write};
use lighterman_docker_tests::AMPLE;
use lighterman_driver::{Handle, HostClock, REQUESTS, RequestError, TaskMap};
use lighterman_engine::{Engine, Event, HostSettings, SavedState};
use lighterman_ids::{InstanceId, Moment, TaskId};
use lighterman_records::Ledger;
use lighterman_runtime_model::{Latencies, Settings as ModelSettings};
use lighterman_status::TaskStatus;
use lighterman_task_manager::TaskSpec;
use lighterman_testkit::FakeRuntime;
use lighterman_turn::Turns;
use lighterman_view::TaskView;
use tokio::time::timeout;

use crate::{
    agent::Agent,
    findings::{Compare, Findings, Row},
    goals::{self, Unit},
    samples::Samples,
    stage::{ENDS_WHEN_TOLD, Stage, Trouble},
};

const TASKS: usize = 1_000;
const TASKS_IN_SMOKE: usize = 200;
/// Commits of one repetition: of ten repetitions together a p99 means something.
const ROUNDS: u32 = 50;
const ROUNDS_IN_SMOKE: u32 = 5;

pub(super) async fn run(stage: &Stage) -> Result<Findings, Trouble> {
    let tasks = stage.full_or_smoke(TASKS, TASKS_IN_SMOKE);
    let mut findings = Findings::default();
    through_the_driver(stage, tasks, &mut findings).await?;
    sustained(stage, tasks, &mut findings).await?;
    Ok(findings)
}

/// All tasks are submitted at once, run on a modelled engine that takes no time, and are stopped at once.
async fn through_the_driver(stage: &Stage, tasks: usize, findings: &mut Findings) -> Result<(), Trouble> {
    let runtime = FakeRuntime::new(ModelSettings { latencies: Latencies::ZERO, ..ModelSettings::default() });
    let image = runtime.add_testbox();
    let definition = stage.definition_of(image.as_str(), ENDS_WHEN_TOLD)?;
    let agent = Agent::start_on(stage, runtime, HostSettings::REFERENCE).await?;
    let specs: Vec<TaskSpec> = (0..tasks).map(|_| definition.new_task(stage.entropy())).collect();
    let ids: Vec<TaskId> = specs.iter().map(|spec| spec.id.clone()).collect();
    let (batches, writes) = (agent.store.batches(), agent.store.writes());
    let syncs = agent.store.inner().syncs();
    let begun = Instant::now();

    stream::iter(specs).map(|spec| agent.handle.submit(spec)).buffer_unordered(REQUESTS).try_for_each(ignore).await?;
    until_all(&agent.handle, tasks, |view| view.known == TaskStatus::Running).await?;
    for id in &ids {
        ask_to_stop(&agent.handle, id).await?;
    }
    until_all(&agent.handle, tasks, |view| view.known.is_terminal()).await?;

    let took = begun.elapsed();
    let (batches, writes) = (agent.store.batches() - batches, agent.store.writes() - writes);
    let syncs = agent.store.inner().syncs() - syncs;
    agent.end().await?;
    let [batches, writes, syncs] =
        [batches, writes, syncs].map(|count| f64::from(u32::try_from(count).unwrap_or(u32::MAX)));
    findings.row(Row::of_one(format!("{tasks} tasks through the driver"), Unit::Millis, crate::samples::millis(took)));
    findings.row(Row::of_one("record writes of it", Unit::Count, writes));
    findings.row(Row::of_one("batches of it", Unit::Count, batches));
    findings.row(Row::of_one("syncs of it", Unit::Count, syncs));
    findings.judge(goals::FLUSHES, Some(syncs / batches));
    Ok(())
}

async fn ignore<T>(_: T) -> Result<(), RequestError> {
    Ok(())
}

async fn until_all(handle: &Handle, tasks: usize, is_so: impl Fn(&TaskView) -> bool) -> Result<(), Trouble> {
    let all = |map: &TaskMap| map.len() == tasks && map.values().all(|view| is_so(view));
    timeout(AMPLE, handle.tasks().wait_for(all)).await?.ok_or("the driver ended")?;
    Ok(())
}

/// The lane holds only so many requests: whoever sends more waits until a turn has taken some.
async fn ask_to_stop(handle: &Handle, task: &TaskId) -> Result<(), Trouble> {
    loop {
        match handle.stop(task.clone(), None, false) {
            Err(RequestError::Busy) => tokio::task::yield_now().await,
            outcome => return Ok(outcome?),
        }
    }
}

#[derive(Debug, Default)]
struct Sustained {
    rate: Samples,
    commits: Samples,
    bare: Samples,
}

async fn sustained(stage: &Stage, tasks: usize, findings: &mut Findings) -> Result<(), Trouble> {
    let rounds = stage.full_or_smoke(ROUNDS, ROUNDS_IN_SMOKE);
    let definition = stage.definition_of("lighterman/testbox:fake", ENDS_WHEN_TOLD)?;
    let changes = changes_of_all(stage, &definition, tasks)?;
    let scratch = stage.scratch()?;
    let (store, _) = Store::open(&scratch.path().join("state"), OpenOptions::default())?;
    let store = Arc::new(store);
    let mut bare = File::create(scratch.path().join("bare"))?;
    let mut measured = Sustained::default();
    let mut generation = 0;
    // The first is a warm-up.
    for repetition in 0..=stage.repetitions() {
        let mut into = Sustained::default();
        let mut written = (0_u32, Duration::ZERO);
        for round in 0..rounds {
            generation += 1;
            let writes = changes[usize::try_from(round)? % changes.len()].clone();
            let count = u32::try_from(writes.len())?;
            let took = one_round(&store, &mut bare, Batch { generation, writes }, &mut into).await?;
            written = (written.0 + count, written.1 + took);
        }
        if repetition > 0 {
            into.rate.push(f64::from(written.0) / written.1.as_secs_f64());
            measured.add(&into);
        }
    }
    measured.tell(findings, &changes);
    Ok(())
}

/// One commit, and the same bytes bare.
async fn one_round(store: &Store, bare: &mut File, batch: Batch, into: &mut Sustained) -> Result<Duration, Trouble> {
    let content: Vec<u8> = batch.writes.iter().flat_map(bytes_of).collect();
    let begun = Instant::now();
    store.commit(batch).await?;
    let took = begun.elapsed();
    into.commits.push_millis(took);
    let begun = Instant::now();
    bare.write_all(&content)?;
    bare.sync_data()?;
    into.bare.push_millis(begun.elapsed());
    Ok(took)
}

fn bytes_of(write: &Write) -> Vec<u8> {
    [write.key.as_slice(), write.value.as_deref().unwrap_or_default()].concat()
}

/// What has to be written when all tasks are accepted in one turn, and when all are told to stop in one turn.
fn changes_of_all(stage: &Stage, definition: &Definition, tasks: usize) -> Result<[Vec<Write>; 2], Trouble> {
    let now = HostClock::new()?.now();
    let instance = InstanceId::from_bits(1);
    let engine = Engine::take_up(HostSettings::REFERENCE, instance, SavedState::default(), 1, now)?;
    let mut turns = Turns::new(engine, Ledger::new());
    let specs: Vec<TaskSpec> = (0..tasks).map(|_| definition.new_task(stage.entropy())).collect();
    let stop = |spec: &TaskSpec| Event::Stop { task: spec.id.clone(), reason: None, force: false };
    let stops: Vec<Event> = specs.iter().map(stop).collect();
    let accepted = turn(&mut turns, now, specs.into_iter().map(|spec| Event::Submit(Box::new(spec))))?;
    Ok([accepted, turn(&mut turns, now, stops)?])
}

fn turn(turns: &mut Turns, now: Moment, events: impl IntoIterator<Item = Event>) -> Result<Vec<Write>, Trouble> {
    for event in events {
        turns.handle_event(now, event);
    }
    turns.end_turn(now);
    let commit = turns.poll_commit(now).ok_or("nothing changed")?;
    turns.committed(now, Ok(()));
    Ok(commit.writes.into_iter().map(|(key, value)| Write { key, value }).collect())
}

impl Sustained {
    fn add(&mut self, other: &Self) {
        for (own, others) in
            [(&mut self.rate, &other.rate), (&mut self.commits, &other.commits), (&mut self.bare, &other.bare)]
        {
            others.values().iter().for_each(|value| own.push(*value));
        }
    }

    fn tell(self, findings: &mut Findings, changes: &[Vec<Write>]) {
        findings.judge(goals::RECORD_WRITES, self.rate.median());
        let ratio = self.commits.percentile(99).zip(self.bare.percentile(99)).map(|(own, bare)| own / bare);
        findings.judge(goals::COMMIT_P99, ratio);
        let show = |value: Option<f64>| value.map_or_else(String::new, |value| Unit::Millis.show(value));
        let (own, bare) = (show(self.commits.percentile(99)), show(self.bare.percentile(99)));
        findings.row(Row::new("record writes", Unit::PerSecond, self.rate));
        findings.row(Row::new("commit", Unit::Millis, self.commits).over(self.bare, Compare::Ratio));
        let sizes = changes.iter().map(|writes| {
            let bytes: usize = writes.iter().map(|write| bytes_of(write).len()).sum();
            format!("{} records, {bytes} bytes", writes.len())
        });
        findings.note(format!("Commits in turns: {}.", sizes.collect::<Vec<_>>().join("; ")));
        findings.note(format!("p99: {own} for a commit, {bare} for the bare write and fdatasync."));
    }
}
