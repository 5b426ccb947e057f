//! All records of all tasks in one commit, over and over: more than the driver ever has at once.

use std::time::Duration;

use lighterman_app::Definition;
use lighterman_contracts::{Clock, Write};
use lighterman_driver::HostClock;
use lighterman_engine::{Engine, Event, HostSettings, SavedState};
use lighterman_ids::{InstanceId, Moment};
use lighterman_records::Ledger;
use lighterman_task_manager::TaskSpec;
use lighterman_turn::Turns;

use super::{Pair, bytes_of};
use crate::{
    findings::{Findings, Row},
    goals::{self, Unit},
    samples::Samples,
    stage::{ENDS_WHEN_TOLD, Stage, Trouble},
};

/// Commits of one repetition.
const ROUNDS: usize = 50;
const ROUNDS_IN_SMOKE: usize = 5;

pub(super) async fn measure(stage: &Stage, tasks: usize, findings: &mut Findings) -> Result<(), Trouble> {
    let rounds = stage.full_or_smoke(ROUNDS, ROUNDS_IN_SMOKE);
    let definition = stage.definition_of("lighterman/testbox:fake", ENDS_WHEN_TOLD)?;
    let changes = changes_of_all(stage, &definition, tasks)?;
    let mut pair = Pair::new(stage)?;
    let mut rate = Samples::new();
    for _ in 0..stage.repetitions() {
        let (mut records, mut took) = (0_u32, Duration::ZERO);
        for round in 0..rounds {
            let writes = changes[round % changes.len()].clone();
            records += u32::try_from(writes.len())?;
            took += pair.write(writes).await?;
        }
        rate.push(f64::from(records) / took.as_secs_f64());
    }
    findings.judge(goals::RECORD_WRITES, rate.median());
    findings.row(Row::new("record writes, all records", Unit::PerSecond, rate));
    pair.tell("commit of all records", findings);
    findings.note(format!("All records: in turns {}.", changes.map(|writes| size_of(&writes)).join(" and ")));
    Ok(())
}

fn size_of(writes: &[Write]) -> String {
    let bytes: usize = writes.iter().map(|write| bytes_of(write).len()).sum();
    format!("{} with {bytes} bytes", writes.len())
}

/// What has to be written when all tasks are accepted in one turn, and when all are told to stop in one turn.
fn changes_of_all(stage: &Stage, definition: &Definition, tasks: usize) -> Result<[Vec<Write>; 2], Trouble> {
    let now = HostClock::new()?.now();
    let instance = InstanceId::from_bits(1);
    let engine = Engine::take_up(HostSettings::REFERENCE, instance, SavedState::default(), 1, now)?;
    let mut turns = Turns::new(engine, Ledger::new());
    let specs: Vec<TaskSpec> = (0..tasks).map(|_| definition.new_task(stage.entropy())).collect();
    let stop = |spec: &TaskSpec| Event::Stop { task: spec.id.clone(), reason: None, force: false };
    let stops: Vec<Event> = specs.iter().map(stop).collect();
    let accepted = turn(&mut turns, now, specs.into_iter().map(|spec| Event::Submit(Box::new(spec))))?;
    Ok([accepted, turn(&mut turns, now, stops)?])
}

fn turn(turns: &mut Turns, now: Moment, events: impl IntoIterator<Item = Event>) -> Result<Vec<Write>, Trouble> {
    for event in events {
        turns.handle_event(now, event);
    }
    turns.end_turn(now);
    let commit = turns.poll_commit(now).ok_or("nothing changed")?;
    turns.committed(now, Ok(()));
    Ok(commit.writes.into_iter().map(|(key, value)| Write { key, value }).collect())
}
