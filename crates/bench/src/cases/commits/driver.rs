//! All tasks are submitted at once, run on a modelled engine that takes no time, and are stopped at once.

use std::time::{Duration, Instant};

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use lighterman_contracts::Batch;
use lighterman_docker_tests::AMPLE;
use lighterman_driver::{Handle, REQUESTS, RequestError, TaskMap};
use lighterman_engine::HostSettings;
use lighterman_ids::TaskId;
use lighterman_runtime_model::{Latencies, Settings as ModelSettings};
use lighterman_status::TaskStatus;
use lighterman_task_manager::TaskSpec;
use lighterman_testkit::FakeRuntime;
use lighterman_view::TaskView;
use tokio::time::timeout;

use super::Pair;
use crate::{
    agent::Agent,
    findings::{Findings, Row},
    goals::{self, Unit},
    samples::Samples,
    stage::{ENDS_WHEN_TOLD, Stage, Trouble},
};

pub(super) async fn measure(stage: &Stage, tasks: usize, findings: &mut Findings) -> Result<(), Trouble> {
    let (mut took, mut sizes, mut syncs) = (Samples::new(), Samples::new(), Samples::new());
    let mut batches = Vec::new();
    for _ in 0..stage.repetitions() {
        let lived = live(stage, tasks).await?;
        took.push_millis(lived.took);
        syncs.push(ratio(lived.syncs, lived.batches.len())?);
        lived.batches.iter().for_each(|batch| sizes.push_count(batch.writes.len() as u64));
        batches = lived.batches;
    }
    findings.row(Row::new(format!("{tasks} tasks, start to end"), Unit::Millis, took));
    findings.row(Row::of_one("batches of it", Unit::Count, ratio(batches.len() as u64, 1)?));
    findings.row(Row::new("records of a batch", Unit::Count, sizes));
    findings.judge(goals::FLUSHES, syncs.max());

    let mut pair = Pair::new(stage)?;
    for batch in batches {
        pair.write(batch.writes).await?;
    }
    let p99 = pair.tell("commit of these", findings);
    findings.judge(goals::COMMIT_P99, p99);
    Ok(())
}

/// What one life of all tasks did to the store.
struct Lived {
    took: Duration,
    batches: Vec<Batch>,
    syncs: u64,
}

async fn live(stage: &Stage, tasks: usize) -> Result<Lived, Trouble> {
    let runtime = FakeRuntime::new(ModelSettings { latencies: Latencies::ZERO, ..ModelSettings::default() });
    let image = runtime.add_testbox();
    let definition = stage.definition_of(image.as_str(), ENDS_WHEN_TOLD)?;
    let agent = Agent::start_on(stage, runtime, HostSettings::REFERENCE).await?;
    let specs: Vec<TaskSpec> = (0..tasks).map(|_| definition.new_task(stage.entropy())).collect();
    let ids: Vec<TaskId> = specs.iter().map(|spec| spec.id.clone()).collect();
    let syncs = agent.store.inner().syncs();
    agent.store.record();
    let begun = Instant::now();

    stream::iter(specs).map(|spec| agent.handle.submit(spec)).buffer_unordered(REQUESTS).try_for_each(ignore).await?;
    until_all(&agent.handle, tasks, |view| view.known == TaskStatus::Running).await?;
    for id in &ids {
        ask_to_stop(&agent.handle, id).await?;
    }
    until_all(&agent.handle, tasks, |view| view.known.is_terminal()).await?;

    let took = begun.elapsed();
    let batches = agent.store.recorded();
    let syncs = agent.store.inner().syncs() - syncs;
    agent.end().await?;
    Ok(Lived { took, batches, syncs })
}

fn ratio(count: u64, of: usize) -> Result<f64, Trouble> {
    Ok(f64::from(u32::try_from(count)?) / f64::from(u32::try_from(of)?))
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
