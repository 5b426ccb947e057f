//! P9: a container ends by itself; from the engine's `die` event to STOPPED known. The floor is a client that watches
//! too, and inspects when the event arrives: the engine answers that only when it is done with the end.

use std::{
    pin::{Pin, pin},
    time::{Duration, Instant},
};

use futures_core::Stream;
use futures_util::StreamExt as _;
use lighterman_calls::{ContainerTarget, EventAction, Phase, RequestKind, RuntimeEvent, Watched};
use lighterman_contracts::{Clock, ContainerRuntime};
use lighterman_docker::Docker;
use lighterman_docker_tests::AMPLE;
use lighterman_driver::HostClock;
use lighterman_view::TaskView;
use tokio::time::timeout;

use crate::{
    agent::Agent,
    findings::{Compare, Findings, Row},
    goals::{self, Unit},
    samples::Samples,
    stage::{Bare, Stage, Trouble, done},
    tap::Passed,
};

/// Long enough to be RUNNING before it ends.
const LIFE: &[&str] = &["sleep", "0.3", "+", "exit", "3"];

#[derive(Debug, Default)]
struct Measured {
    from_event: Samples,
    from_stamp: Samples,
    own: Samples,
    inspects: Samples,
    floor: Samples,
}

pub(super) async fn run(stage: &Stage) -> Result<Findings, Trouble> {
    let definition = stage.definition(LIFE)?;
    let mut agent = Agent::start(stage).await?;
    let bare = Bare::new(stage, stage.fixture()?.request("ended", LIFE))?;
    let mut watch = pin!(stage.docker()?.watch(bare.instance(), None, AMPLE));
    let mut measured = Measured::default();
    for repetition in 0..=stage.repetitions() {
        let floor = bare_end(stage.docker()?, &bare, watch.as_mut()).await?;
        let started = agent.run_task(definition.new_task(stage.entropy())).await?;
        let calls = agent.tap.count();
        let (view, known) = agent.until(&started.task, |view| view.known.is_terminal()).await?;
        // The first is a warm-up.
        if repetition > 0 {
            measured.floor.push_millis(floor);
            measured.take(&agent, &view, known, calls)?;
        }
        agent.remove_task(&started.task).await?;
    }
    agent.end().await?;
    Ok(measured.findings())
}

/// From the event to the answer that shows the container as ended.
async fn bare_end(
    docker: &Docker,
    bare: &Bare,
    mut watch: Pin<&mut (impl Stream<Item = Watched> + Send)>,
) -> Result<Duration, Trouble> {
    let (container, _) = bare.start().await?;
    let dying = async {
        loop {
            match watch.next().await {
                Some(Watched::Event(event)) if has_died(&event, container.as_str()) => return Ok(Instant::now()),
                Some(Watched::Opened | Watched::Event(_)) => {}
                Some(Watched::Lost(lost)) => return Err(Trouble::from(lost.text)),
                None => return Err("a watch ends by saying that it is lost".into()),
            }
        }
    };
    let died = timeout(AMPLE, dying).await??;
    let facts = done(docker.inspect(&container, AMPLE).await)?;
    let took = died.elapsed();
    if facts.phase != (Phase::Exited { code: Some(3) }) {
        return Err(format!("after its `die` event a container is shown as {:?}", facts.phase).into());
    }
    done(docker.remove(&container, AMPLE).await)?;
    Ok(took)
}

fn has_died(event: &RuntimeEvent, id: &str) -> bool {
    match event.action {
        EventAction::Die { .. } => event.container.as_str() == id,
        EventAction::Create
        | EventAction::Start
        | EventAction::Stop
        | EventAction::Restart
        | EventAction::Oom
        | EventAction::Destroy
        | EventAction::HealthStatus(_) => false,
    }
}

impl Measured {
    fn take(&mut self, agent: &Agent, view: &TaskView, known: Instant, calls: u64) -> Result<(), Trouble> {
        if view.exit_code() != Some(3) {
            return Err(format!("the exit code is {:?}", view.exit_code()).into());
        }
        let container = view.containers.iter().find_map(|container| container.runtime_id.clone());
        let container = ContainerTarget::Id(container.ok_or("a stopped container without an id")?);
        let died = |event: &RuntimeEvent| has_died(event, container.as_str());
        let (arrived, event) = agent.tap.last_event(died).ok_or("it was known without an event")?;
        let (now, clock) = (Instant::now(), HostClock::new()?.now());
        self.from_event.push_millis(known.saturating_duration_since(arrived));
        self.from_stamp.push_millis(clock.wall.since(event.at).saturating_sub(now - known));
        let calls = agent.tap.calls_from(calls);
        let inspects = || calls.iter().filter(|call| call.kind == RequestKind::Inspect);
        let waited: Duration = inspects().filter(|call| call.left >= arrived).map(Passed::took).sum();
        self.own.push_millis(known.saturating_duration_since(arrived).saturating_sub(waited));
        self.inspects.push_count(inspects().count() as u64);
        Ok(())
    }

    fn findings(self) -> Findings {
        let mut findings = Findings::default();
        let row = Row::new("event to STOPPED", Unit::Millis, self.from_event).over(self.floor, Compare::Difference);
        findings.judge(goals::STOPPED_ON_TOP, row.against_floor().map(|(value, _)| value));
        findings.judge(goals::STOPPED_OWN, self.own.median());
        findings.row(row);
        findings.row(Row::new("of which not in the inspect", Unit::Millis, self.own));
        findings.row(Row::new("engine's stamp to STOPPED", Unit::Millis, self.from_stamp));
        findings.row(Row::new("inspects since RUNNING", Unit::Count, self.inspects));
        findings.note("The floor watches too, and inspects on `die`.");
        findings
    }
}
