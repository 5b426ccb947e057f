//! P17: engine requests of a one-container task whose image is tracked as pulled.

use std::time::Duration;

use crate::{
    agent::Agent,
    findings::{Findings, Row},
    goals::{self, Unit},
    samples::Samples,
    stage::{ENDS_WHEN_TOLD, Stage, Trouble},
    store::wait,
};

/// How long a task is watched while it just runs.
const STEADY: Duration = Duration::from_secs(5);
const STEADY_IN_SMOKE: Duration = Duration::from_secs(1);

pub(super) async fn run(stage: &Stage) -> Result<Findings, Trouble> {
    let definition = stage.definition(ENDS_WHEN_TOLD)?;
    let mut agent = Agent::start(stage).await?;
    // From here on the image is tracked.
    let first = agent.run_task(definition.new_task(stage.entropy())).await?;
    let mut phases = [const { Samples::new() }; 4];
    let mut kinds = Vec::new();
    for repetition in 0..stage.repetitions() {
        let mut counted = [0; 4];
        let before = agent.tap.count();
        let started = agent.run_task(definition.new_task(stage.entropy())).await?;
        counted[0] = agent.tap.count() - before;
        // Long enough once; the others only show that nothing comes right behind a start.
        let span = if repetition == 0 { stage.full_or_smoke(STEADY, STEADY_IN_SMOKE) } else { STEADY_IN_SMOKE / 4 };
        wait(span).await;
        counted[1] = agent.tap.count() - before - counted[0];
        agent.stop_task(&started.task).await?;
        counted[2] = agent.tap.count() - before - counted[0] - counted[1];
        agent.remove_task(&started.task).await?;
        counted[3] = agent.tap.count() - before - counted.iter().sum::<u64>();
        phases.iter_mut().zip(counted).for_each(|(samples, count)| samples.push_count(count));
        kinds = agent.tap.calls_from(before).into_iter().map(|call| call.kind.as_str()).collect();
    }
    agent.stop_task(&first.task).await?;
    agent.remove_task(&first.task).await?;
    agent.end().await?;
    Ok(findings(phases, &kinds))
}

fn findings([start, steady, stop, clean_up]: [Samples; 4], kinds: &[&str]) -> Findings {
    let mut findings = Findings::default();
    // A bound on a count holds for every one of them.
    findings.judge(goals::START_REQUESTS, start.max());
    findings.judge(goals::STOP_REQUESTS, stop.max());
    findings.judge(goals::STEADY_REQUESTS, steady.max());
    for (what, samples) in [("start", start), ("while it just runs", steady), ("stop", stop), ("clean-up", clean_up)] {
        findings.row(Row::new(what, Unit::Count, samples));
    }
    findings.note(format!("In order: {}.", kinds.join(", ")));
    findings
}
