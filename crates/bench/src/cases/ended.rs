//! P9: a container ends by itself; from the engine's `die` event to STOPPED known.

use std::time::{Duration, Instant};

use lighterman_calls::{EventAction, RequestKind};
use lighterman_contracts::Clock;
use lighterman_driver::HostClock;
use lighterman_view::TaskView;

use crate::{
    agent::Agent,
    findings::{Findings, Row},
    goals::{self, Unit},
    samples::Samples,
    stage::{Stage, Trouble},
};

/// Long enough to be RUNNING before it ends.
const LIFE: &[&str] = &["sleep", "0.3", "+", "exit", "3"];

#[derive(Debug, Default)]
struct Measured {
    from_event: Samples,
    from_stamp: Samples,
    looks: Samples,
}

pub(super) async fn run(stage: &Stage) -> Result<Findings, Trouble> {
    let definition = stage.definition(LIFE)?;
    let mut agent = Agent::start(stage).await?;
    let mut measured = Measured::default();
    for repetition in 0..=stage.repetitions() {
        let spec = definition.new_task(stage.entropy());
        let started = agent.run_task(spec).await?;
        let calls = agent.tap.count();
        let (view, known) = agent.until(&started.task, |view| view.known.is_terminal()).await?;
        // The first is a warm-up.
        if repetition > 0 {
            measured.take(&agent, &view, known, calls)?;
        }
        agent.remove_task(&started.task).await?;
    }
    agent.end().await?;
    Ok(measured.findings())
}

impl Measured {
    fn take(&mut self, agent: &Agent, view: &TaskView, known: Instant, calls: u64) -> Result<(), Trouble> {
        if view.exit_code() != Some(3) {
            return Err(format!("the exit code is {:?}", view.exit_code()).into());
        }
        let died = |event: &lighterman_calls::RuntimeEvent| match event.action {
            EventAction::Die { .. } => {
                view.containers.iter().any(|one| one.runtime_id.as_ref() == Some(&event.container))
            }
            EventAction::Create
            | EventAction::Start
            | EventAction::Stop
            | EventAction::Restart
            | EventAction::Oom
            | EventAction::Destroy
            | EventAction::HealthStatus(_) => false,
        };
        let (arrived, event) = agent.tap.last_event(died).ok_or("it was known without an event")?;
        let (now, clock) = (Instant::now(), HostClock::new()?.now());
        let since_stamp = clock.wall.since(event.at).saturating_sub(now - known);
        let looks = agent.tap.calls_from(calls);
        let is_look = |(_, kind): &&(Instant, RequestKind)| *kind == RequestKind::Inspect;
        self.from_event.push_millis(known.checked_duration_since(arrived).unwrap_or(Duration::ZERO));
        self.from_stamp.push_millis(since_stamp);
        self.looks.push_count(looks.iter().filter(is_look).count() as u64);
        Ok(())
    }

    fn findings(self) -> Findings {
        let mut findings = Findings::default();
        findings.judge(goals::STOPPED_AFTER_EVENT, self.from_event.median());
        findings.row(Row::new("event arrived to STOPPED", Unit::Millis, self.from_event));
        findings.row(Row::new("event's stamp to STOPPED", Unit::Millis, self.from_stamp));
        findings.row(Row::new("inspects for it", Unit::Count, self.looks));
        findings
    }
}
