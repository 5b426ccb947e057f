//! The bare engine: create and start, stop and remove, 1, 4, 8, 16 or 50 containers at once, without an agent.

use std::time::Instant;

use futures_util::future::try_join_all;

use crate::{
    findings::{Findings, Row},
    goals::Unit,
    samples::{Samples, millis},
    stage::{Bare, ENDS_WHEN_TOLD, Stage, Trouble},
};

pub(super) async fn run(stage: &Stage) -> Result<Findings, Trouble> {
    let bare = Bare::new(stage, stage.fixture()?.request("floor", ENDS_WHEN_TOLD))?;
    let widths: &[u32] = stage.full_or_smoke(&[1, 4, 8, 16, 50], &[1, 4, 8, 16]);
    let mut measured = vec![[Samples::default(), Samples::default()]; widths.len()];
    once(&bare, 1).await?;
    for _ in 0..stage.repetitions() {
        for (width, [starts, stops]) in widths.iter().zip(&mut measured) {
            let [start, stop] = once(&bare, *width).await?;
            starts.push(start);
            stops.push(stop);
        }
    }
    Ok(findings(widths, &measured))
}

/// Milliseconds per container of starting and of stopping so many at once.
async fn once(bare: &Bare, width: u32) -> Result<[f64; 2], Trouble> {
    let begun = Instant::now();
    let started = try_join_all((0..width).map(|_| bare.start())).await?;
    let start = millis(begun.elapsed() / width);
    let begun = Instant::now();
    try_join_all(started.iter().map(|(container, _)| bare.stop(container))).await?;
    Ok([start, millis(begun.elapsed() / width)])
}

fn findings(widths: &[u32], measured: &[[Samples; 2]]) -> Findings {
    let mut findings = Findings::default();
    for (index, what) in ["create, start", "stop, remove"].into_iter().enumerate() {
        for (width, samples) in widths.iter().zip(measured) {
            findings.row(Row::new(format!("{what}: {width} at once"), Unit::Millis, samples[index].clone()));
        }
        let best = widths.iter().zip(measured).filter_map(|(width, samples)| Some((width, samples[index].median()?)));
        if let Some((width, median)) = best.min_by(|(_, one), (_, other)| one.total_cmp(other)) {
            findings.note(format!("Best of {what}: {} each, {width} at once.", Unit::Millis.show(median)));
        }
    }
    findings
}
