//! P16: the engine is away for a while, one task runs, and its container ends meanwhile.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use lighterman_calls::{ContainerTarget, Signal};
use lighterman_contracts::ContainerRuntime;
use lighterman_docker_tests::AMPLE;
use lighterman_ids::RuntimeId;
use lighterman_testkit::proxy::Proxy;

use crate::{
    findings::{Findings, Row},
    goals::{self, Unit},
    product::Run,
    samples::Samples,
    stage::{ENDS_WHEN_TOLD, Stage, Trouble, done},
    store::wait,
};

const AWAY: Duration = Duration::from_secs(10);
const AWAY_IN_SMOKE: Duration = Duration::from_secs(1);
/// Until the start has left nothing to do.
const SETTLES: Duration = Duration::from_millis(300);

#[derive(Debug, Default)]
struct Measured {
    cpu: Samples,
    lines: Samples,
    known: Samples,
    /// Of the last outage, to see what is said in it.
    said: Vec<String>,
}

pub(super) async fn run(stage: &Stage) -> Result<Findings, Trouble> {
    let mut measured = Measured::default();
    for _ in 0..stage.repetitions() {
        measured.outage(stage).await?;
    }
    Ok(measured.findings())
}

impl Measured {
    async fn outage(&mut self, stage: &Stage) -> Result<(), Trouble> {
        let definition = stage.definition_file(ENDS_WHEN_TOLD)?;
        // Not below the directory of the run: the path of a socket has to be short.
        let directory = tempfile::tempdir()?;
        let proxy = Proxy::start(&directory.path().join("engine.sock"), &engine_socket(stage)?)?;
        let mut run = Run::start(stage, &definition, &format!("unix://{}", proxy.socket().display()))?;
        let container = running_container(&mut run).await?;
        wait(SETTLES).await;

        let (cpu, lines) = (run.cpu_time()?, run.log_lines()?.len());
        proxy.go_away().await;
        let half = stage.full_or_smoke(AWAY, AWAY_IN_SMOKE) / 2;
        wait(half).await;
        done(stage.docker()?.kill(&container, Signal::Kill, AMPLE).await)?;
        wait(half).await;
        self.cpu.push((run.cpu_time()?.saturating_sub(cpu)).as_secs_f64());

        let back = Instant::now();
        proxy.come_back()?;
        let at = run.until_task("STOPPED").await?;
        self.known.push_millis(at.saturating_duration_since(back));
        let status = run.wait().await?;
        if status.code() != Some(137) {
            return Err(format!("the command ended with {status}, not with its container's 137").into());
        }
        self.said = run.log_lines()?.split_off(lines);
        self.lines.push_count(self.said.len() as u64);
        Ok(())
    }

    fn findings(self) -> Findings {
        let mut findings = Findings::default();
        findings.judge(goals::AWAY_CPU, self.cpu.max());
        findings.judge(goals::AWAY_LINES, self.lines.max());
        findings.judge(goals::AWAY_EXIT, self.known.max());
        findings.row(Row::new("processor time while away", Unit::CpuSeconds, self.cpu));
        findings.row(Row::new("log lines, to the end of the command", Unit::Count, self.lines));
        findings.row(Row::new("engine back to STOPPED known", Unit::Millis, self.known));
        findings
    }
}

/// Waits until the task runs; its container.
async fn running_container(run: &mut Run) -> Result<ContainerTarget, Trouble> {
    let (event, _) = run.until(|event| event["type"] == "container" && event["known"] == "RUNNING").await?;
    let id = event["runtime_id"].as_str().ok_or("a running container without an id")?;
    Ok(ContainerTarget::Id(RuntimeId::parse(id)?))
}

fn engine_socket(stage: &Stage) -> Result<PathBuf, Trouble> {
    let host = stage.docker()?.host().to_string();
    let path = host.strip_prefix("unix://").ok_or_else(|| format!("{host} is no unix socket"))?;
    Ok(Path::new(path).to_owned())
}
