//! P18: every commit takes 50 ms longer; then every commit fails, and a stop and a kill are to leave all the same.

use std::time::{Duration, Instant};

use lighterman_calls::RequestKind;
use lighterman_docker_tests::AMPLE;
use lighterman_ids::TaskId;
use tokio::time::timeout;

use crate::{
    agent::Agent,
    findings::{Compare, Findings, Row},
    goals::{self, Unit},
    samples::{Samples, millis},
    stage::{ENDS_WHEN_TOLD, Stage, Trouble},
};

const DELAY: Duration = Duration::from_millis(50);
/// Is told to end and does not, so that it is known which call ended it.
const STUBBORN: &[&str] = &["ignore-term"];

pub(super) async fn run(stage: &Stage) -> Result<Findings, Trouble> {
    let mut findings = Findings::default();
    slow(stage, &mut findings).await?;
    let stop = failing(stage, false).await?;
    let kill = failing(stage, true).await?;
    for (goal, what, [works, fails]) in [
        (goals::STOP_WHILE_STORE_FAILS, "stop call, store fails", stop),
        (goals::KILL_WHILE_STORE_FAILS, "kill call, store fails", kill),
    ] {
        findings.judge(goal, fails.max());
        findings.row(Row::new(what, Unit::Millis, fails).over(works, Compare::Difference));
    }
    findings
        .note("RUNNING: from acceptance on, outside create and start. The floor is the same with a store that works.");
    Ok(findings)
}

/// Starts with and without the delay, in turns. The engine's part of a start varies by more than a commit, so it is
/// left out; and timers wake up late, so the delay is measured as well.
async fn slow(stage: &Stage, findings: &mut Findings) -> Result<(), Trouble> {
    let definition = stage.definition(ENDS_WHEN_TOLD)?;
    let mut agent = Agent::start(stage).await?;
    let (mut plain, mut slow, mut delay) = (Samples::new(), Samples::new(), Samples::new());
    for repetition in 0..=stage.repetitions() {
        for (by, samples) in [(Duration::ZERO, &mut plain), (DELAY, &mut slow)] {
            let delayed = agent.store.delayed();
            agent.store.delay(by);
            let started = agent.run_task(definition.new_task(stage.entropy())).await?;
            agent.store.delay(Duration::ZERO);
            // The first is a warm-up.
            if repetition > 0 {
                samples.push_millis(started.own());
                if !by.is_zero() {
                    delay.push(millis(agent.store.delayed() - delayed) / count(started.commits));
                }
            }
            agent.stop_task(&started.task).await?;
            agent.remove_task(&started.task).await?;
        }
    }
    agent.end().await?;
    let row = Row::new("RUNNING, slow commits", Unit::Millis, slow).over(plain, Compare::Difference);
    let rise = row.against_floor().map(|(rise, _)| rise);
    findings.judge(goals::SLOW_STORE, rise.zip(delay.median()).map(|(rise, delay)| (rise / delay).round()));
    findings.row(row);
    findings.row(Row::new("delay of a commit", Unit::Millis, delay));
    Ok(())
}

fn count(commits: u64) -> f64 {
    f64::from(u32::try_from(commits).unwrap_or(u32::MAX))
}

/// From the request to the call that leaves: with a store that works, and with one that fails.
async fn failing(stage: &Stage, force: bool) -> Result<[Samples; 2], Trouble> {
    let definition = stage.definition(STUBBORN)?;
    let mut agent = Agent::start(stage).await?;
    let mut measured = [Samples::new(), Samples::new()];
    for _ in 0..stage.repetitions() {
        for (fails, samples) in [false, true].into_iter().zip(&mut measured) {
            let started = agent.run_task(definition.new_task(stage.entropy())).await?;
            agent.store.fail(fails);
            samples.push_millis(ask_and_see(&mut agent, &started.task, force).await?);
            agent.store.fail(false);
            // What was shown while the store failed was held back, and is shown as soon as it works.
            agent.handle.stop(started.task.clone(), None, true)?;
            agent.until(&started.task, |view| view.known.is_terminal()).await?;
            agent.remove_task(&started.task).await?;
        }
    }
    agent.end().await?;
    Ok(measured)
}

async fn ask_and_see(agent: &mut Agent, task: &TaskId, force: bool) -> Result<Duration, Trouble> {
    let before = agent.tap.count();
    let begun = Instant::now();
    agent.handle.stop(task.clone(), None, force)?;
    let ends = |kind: RequestKind| matches!(kind, RequestKind::Stop | RequestKind::Kill);
    let left = timeout(AMPLE, agent.tap.wait_for_call(before, ends)).await?;
    Ok(left.saturating_duration_since(begun))
}
