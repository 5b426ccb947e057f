//! Resident memory of the command while its one task just runs.

use std::time::Duration;

use lighterman_docker::DockerHost;

use crate::{
    findings::{Findings, Row},
    goals::{self, Unit},
    product::Run,
    samples::Samples,
    stage::{ENDS_WHEN_TOLD, Stage, Trouble},
    store::wait,
};

/// Until what the start needed has been given back.
const SETTLES: Duration = Duration::from_millis(500);

pub(super) async fn run(stage: &Stage) -> Result<Findings, Trouble> {
    let definition = stage.definition_file(ENDS_WHEN_TOLD)?;
    let host: &DockerHost = stage.docker()?.host();
    let (mut resident, mut anonymous) = (Samples::default(), Samples::default());
    for _ in 0..stage.repetitions() {
        let mut run = Run::start(stage, &definition, &host.to_string())?;
        run.until_task("RUNNING").await?;
        wait(SETTLES).await;
        resident.push(f64::from(run.memory("VmRSS")?) / f64::from(1 << 20));
        anonymous.push(f64::from(run.memory("RssAnon")?) / f64::from(1 << 20));
        run.stop().await?;
    }
    let mut findings = Findings::default();
    findings.judge(goals::IDLE_MEMORY, resident.median());
    findings.row(Row::new("resident", Unit::Mebibytes, resident));
    findings.row(Row::new("of which anonymous", Unit::Mebibytes, anonymous));
    Ok(findings)
}
