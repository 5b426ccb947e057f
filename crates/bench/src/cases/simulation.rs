//! P14: task lifetimes that the simulation plays in a second of one core.

use lighterman_sim::{Keep, Scenario, run as play};
use rustix::time::{ClockId, clock_gettime};

use crate::{
    findings::{Findings, Row},
    goals::{self, Unit},
    samples::Samples,
    stage::{Stage, Trouble},
};

/// Seeds of one repetition.
const SEEDS: u64 = 300;
const SEEDS_IN_SMOKE: u64 = 50;

pub(super) fn run(stage: &Stage) -> Result<Findings, Trouble> {
    let seeds = stage.full_or_smoke(SEEDS, SEEDS_IN_SMOKE);
    let (mut lifetimes, mut steps, mut failed) = (Samples::default(), Samples::default(), 0);
    for repetition in 0..stage.repetitions() as u64 {
        let counted = play_seeds(repetition * seeds + 1, seeds);
        lifetimes.push(counted.lifetimes / counted.seconds);
        steps.push(counted.steps / counted.seconds);
        failed += counted.failed;
    }
    let mut findings = Findings::default();
    if failed > 0 {
        findings.note(format!("{failed} runs failed and ended early: `cargo xtask sim` says which."));
    }
    findings.judge(goals::SIMULATION, lifetimes.median());
    findings.row(Row::new("task lifetimes", Unit::PerSecond, lifetimes));
    findings.row(Row::new("steps of the world", Unit::PerSecond, steps));
    Ok(findings)
}

#[derive(Debug)]
struct Counted {
    lifetimes: f64,
    steps: f64,
    failed: u32,
    seconds: f64,
}

fn play_seeds(first: u64, count: u64) -> Counted {
    let (mut lifetimes, mut steps) = (Samples::default(), Samples::default());
    let begun = thread_seconds();
    let mut failed = 0;
    for seed in first..first + count {
        let report = play(Scenario::draw(seed), Keep::default());
        lifetimes.push_count(report.counts.lifetimes);
        steps.push_count(report.counts.steps);
        failed += u32::from(report.failed.is_some());
    }
    let seconds = thread_seconds() - begun;
    Counted { lifetimes: lifetimes.values().iter().sum(), steps: steps.values().iter().sum(), failed, seconds }
}

/// Processor time of this thread: what else runs on the machine does not count.
fn thread_seconds() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    std::time::Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
        .as_secs_f64()
}
