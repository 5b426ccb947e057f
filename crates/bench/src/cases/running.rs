//! P4: one task, from its acceptance to RUNNING known, on top of the floor; the agent in this process, and the command.

use std::time::Duration;

use lighterman_ids::TaskId;

use crate::{
    agent::{Agent, Started},
    findings::{Compare, Findings, Row},
    goals::{self, Unit},
    product::Run,
    samples::Samples,
    stage::{Bare, ENDS_WHEN_TOLD, Stage, Trouble},
};

#[derive(Debug, Default)]
struct Measured {
    floor: Samples,
    floor_stop: Samples,
    accepted: Samples,
    running: Samples,
    own: Samples,
    from_request: Samples,
    stopped: Samples,
    command: Samples,
    commits: Samples,
}

pub(super) async fn run(stage: &Stage) -> Result<Findings, Trouble> {
    let definition = stage.definition(ENDS_WHEN_TOLD)?;
    let mut agent = Agent::start(stage).await?;
    let warm_up = agent.run_task(definition.new_task(stage.entropy())).await?;
    end_task(&mut agent, &warm_up.task).await?;
    let request = agent.tap.last_create().ok_or("nothing was created")?;
    let bare = Bare::new(stage, request)?;
    let mut measured = Measured::default();
    // The difference is a few hundredths of what is subtracted: it takes many.
    for _ in 0..stage.repetitions() * 3 {
        let (container, floor) = bare.start().await?;
        measured.floor.push_millis(floor);
        measured.floor_stop.push_millis(bare.stop(&container).await?);
        let started = agent.run_task(definition.new_task(stage.entropy())).await?;
        measured.take(&started);
        measured.stopped.push_millis(end_task(&mut agent, &started.task).await?);
        measured.command.push_millis(whole_command(stage).await?);
    }
    agent.end().await?;
    Ok(measured.findings())
}

/// From the request to the removed container.
async fn end_task(agent: &mut Agent, task: &TaskId) -> Result<Duration, Trouble> {
    let stopped = agent.stop_task(task).await?;
    agent.remove_task(task).await?;
    Ok(stopped)
}

/// From the start of the process to RUNNING on its output.
async fn whole_command(stage: &Stage) -> Result<Duration, Trouble> {
    let definition = stage.definition_file(ENDS_WHEN_TOLD)?;
    let mut run = Run::start(stage, &definition, &stage.docker()?.host().to_string())?;
    let running = run.until_task("RUNNING").await? - run.begun();
    run.stop().await?;
    Ok(running)
}

impl Measured {
    fn take(&mut self, started: &Started) {
        self.accepted.push_millis(started.accepted);
        self.running.push_millis(started.since_accepted());
        self.own.push_millis(started.own());
        self.from_request.push_millis(started.running);
        self.commits.push_count(started.commits);
    }

    fn findings(self) -> Findings {
        let mut findings = Findings::default();
        let over =
            |what: &str, own: Samples| Row::new(what, Unit::Millis, own).over(self.floor.clone(), Compare::Difference);
        let running = over("accepted to RUNNING", self.running);
        findings.judge(goals::RUNNING_ON_TOP, running.against_floor().map(|(value, _)| value));
        findings.row(running);
        findings.judge(goals::RUNNING_OWN, self.own.median());
        findings.row(Row::new("of which not in create, start", Unit::Millis, self.own));
        findings.row(over("request to RUNNING", self.from_request));
        findings.row(Row::new("request to accepted, durably", Unit::Millis, self.accepted));
        findings.row(Row::new("commits of a start", Unit::Count, self.commits));
        findings.row(over("whole command to RUNNING", self.command));
        findings.row(Row::new("request to STOPPED", Unit::Millis, self.stopped));
        findings.row(Row::new("floor: stop, remove", Unit::Millis, self.floor_stop));
        findings
    }
}
