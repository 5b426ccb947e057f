//! Persist, then act: what a turn decided leaves only after its commit, and not at all when that fails.
#![expect(clippy::print_stdout, reason = "an example shows its result")]
#![expect(clippy::unwrap_used, reason = "an example that cannot go on stops")]

use std::{sync::Arc, time::Duration};

use lighterman_calls::{Answer, Outcome, RuntimeVersion};
use lighterman_engine::{Action, Engine, Event, HostSettings, SavedState, TaskSpec};
use lighterman_ids::{ActionId, ContainerName, DefinitionDigest, Family, ImageRef, InstanceId, Moment, TaskId};
use lighterman_records::Ledger;
use lighterman_taskdef::{ContainerDefinition, TaskDefinition};
use lighterman_turn::{Output, Turns};

fn main() {
    let mut now = Moment::default();
    let instance = InstanceId::from_bits(1);
    let engine = Engine::take_up(HostSettings::REFERENCE, instance, SavedState::default(), 1, now).unwrap();
    let mut turns = Turns::new(engine, Ledger::new());

    turns.handle_timeout(now);
    turns.end_turn(now);
    println!("started: nothing may leave before the new incarnation is durable");
    let version = commit(&mut turns, now, Ok(())).unwrap();
    let answer = RuntimeVersion { version: "20.10".into(), api_version: "1.41".into(), min_api_version: "1.12".into() };
    turn(&mut turns, now, Event::Answer { id: version, answer: Answer::Version(Outcome::Done(answer)).into() });
    let stream = outputs(&mut turns).unwrap();
    turn(&mut turns, now, Event::WatchOpened(stream));
    outputs(&mut turns);

    println!("a task is submitted:");
    turn(&mut turns, now, Event::Submit(Box::new(task())));
    let look = commit(&mut turns, now, Ok(())).unwrap();

    println!("its image is not there, so a pull is decided, and the commit fails:");
    turn(&mut turns, now, Event::Answer { id: look, answer: Answer::InspectImage(Outcome::Gone).into() });
    commit(&mut turns, now, Err("disk full".into()));
    println!("  the pull has not left: {:?}", turns.engine().view(now, &task().id).unwrap().containers[0].wait);

    println!("the store works again:");
    now.mono = turns.poll_timeout().unwrap().max(now.mono.after(Duration::from_secs(1)));
    commit(&mut turns, now, Ok(()));
    outputs(&mut turns);
}

fn turn(turns: &mut Turns, now: Moment, event: Event) {
    turns.handle_event(now, event);
    turns.end_turn(now);
}

/// Makes the commit and prints what leaves with it.
fn commit(turns: &mut Turns, now: Moment, outcome: Result<(), String>) -> Option<ActionId> {
    println!("  leaves before the commit: {}", turns.outputs().count());
    let commit = turns.poll_commit(now).unwrap();
    println!(
        "  commit {} with {} writes: {}",
        commit.generation,
        commit.writes.len(),
        if outcome.is_ok() { "works" } else { "fails" }
    );
    turns.committed(now, outcome);
    outputs(turns)
}

/// Prints what leaves; returns the id of the last action.
fn outputs(turns: &mut Turns) -> Option<ActionId> {
    let mut last = None;
    for output in turns.outputs() {
        match output {
            Output::Act(action) => {
                last = action.id();
                match action {
                    Action::Call { call, .. } => println!("  leaves: {}", call.request.kind().as_str()),
                    Action::Cancel(id) => println!("  leaves: cancel {id}"),
                    Action::Watch { .. } => println!("  leaves: watch"),
                }
            }
            Output::Show(view) => println!("  shown: {} {}", view.family, view.containers[0].known),
            Output::ShowHost(view) => println!("  shown: host, store {:?}", view.store_failing),
            Output::Refuse(_, error) => println!("  refused: {error}"),
        }
    }
    last
}

fn task() -> TaskSpec {
    let web = ContainerDefinition::new(ContainerName::parse("web").unwrap(), ImageRef::parse("web:1").unwrap());
    let id = TaskId::from_bits(1);
    TaskSpec {
        arn: id.local_arn(None),
        id,
        definition: Arc::new(TaskDefinition::new(Family::parse("site").unwrap(), vec![web])),
        digest: DefinitionDigest::parse(&format!("sha256:{}", "0".repeat(64))).unwrap(),
        seed: 1,
    }
}
