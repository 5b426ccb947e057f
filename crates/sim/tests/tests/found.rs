//! What the simulation found in the code under test, each as a script that shows it again. The seeds that showed it first
//! are not kept: every change of what is drawn makes another run of a seed.

use std::time::Duration;

use lighterman_calls::{Refusal, RefusalClass, RequestKind};
use lighterman_runtime_model::Disturbance;
use lighterman_sim::{Deed, Keep, Program, Scenario, Weather, Workload, run};

const MS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);
const ENDS: Program = Program::Ends { after: SECOND, code: 3 };

fn script(program: Program) -> Scenario {
    let task = Workload::new(1, 0, program, "sim/local:1", |_| {});
    Scenario::quiet(1, vec![task], 300 * SECOND)
}

fn fault() -> Disturbance {
    Disturbance::refuses(Refusal::new(RefusalClass::PeerFault, "scripted fault"))
}

/// Plays the script, which must pass; returns its log.
#[track_caller]
fn play(scenario: Scenario) -> Vec<String> {
    let report = run(scenario, Keep { log: true, stats: false });
    assert_eq!(report.failed, None, "{:#?}", report.lines);
    report.lines
}

#[track_caller]
fn has(lines: &[String], text: &str) {
    assert!(lines.iter().any(|line| line.contains(text)), "nothing says {text:?}: {lines:#?}");
}

/// A removal went by the name that we had chosen, and took away what somebody else had made under it meanwhile.
#[test]
fn what_others_made_under_our_name_is_not_removed() {
    let stopped = script(ENDS).with(500 * MS, Deed::Stop { task: 0, force: false }).with(501 * MS, Deed::CleanUp(0));
    let in_doubt = stopped.clone().befalling(RequestKind::Create, [1], &Disturbance::lost(MS));
    for mut scenario in [stopped, in_doubt] {
        scenario.weather = Weather { name_taken: 1_000, ..Weather::CLEAR };
        has(&play(scenario), "somebody else takes the name");
    }
}

/// One wrong answer to the version call, and the runtime was given up for good (engine.md E150).
#[test]
fn e150_a_wrong_answer_to_the_version_call_may_pass() {
    let lines = play(script(ENDS).befalling(RequestKind::Version, 1..=3, &fault()));
    has(&lines, "exit 3");
}

/// Views of an agent that was shutting down told of no wait.
#[test]
fn a_task_says_that_it_waits_for_the_next_start() {
    let failing = Deed::FailStore { lasts: 2 * SECOND, lands: false };
    has(&play(script(ENDS).with(3 * MS, failing).with(5 * MS, Deed::ShutDown(SECOND))), "the next start of the agent");
}

/// The first create call was cut off, the second worked, its container was removed: then the first was carried
/// out, and nobody looked for what it brought.
#[test]
fn a_create_that_comes_after_its_successor_was_removed_leaves_no_orphan() {
    let late = Disturbance::late(20 * SECOND);
    let lines = play(script(ENDS).befalling(RequestKind::Create, [1], &late).with(5 * SECOND, Deed::CleanUp(0)));
    has(&lines, "waits for a create call that was cut off");
}

/// A container that somebody had started again was killed for its removal once; started again after that, it was
/// never removed.
#[test]
fn what_is_started_again_and_again_is_removed_all_the_same() {
    let running = Disturbance::refuses(Refusal::new(RefusalClass::Conflict, "scripted: it is running"));
    let scenario = script(Program::IgnoresTerm)
        .befalling(RequestKind::Remove, [1], &running)
        .befalling(RequestKind::Remove, [2], &fault())
        .with(3 * SECOND, Deed::Stop { task: 0, force: true })
        .with(5 * SECOND, Deed::CleanUp(0))
        .with(20 * SECOND, Deed::Restart(0));
    play(scenario);
}

/// Somebody started a container that had ended, it was stopped again, and its exit code became that of the second end.
#[test]
fn an_exit_code_stays_when_somebody_starts_the_container_again() {
    let program = Program::EndsOnTerm { after: Duration::ZERO, code: 4 };
    let lines = play(script(program).with(3 * SECOND, Deed::Kill(0)).with(6 * SECOND, Deed::Restart(0)));
    assert!(lines.iter().any(|line| line.contains("exit 137")));
    assert!(!lines.iter().any(|line| line.contains("shows") && line.contains("exit 4")), "{lines:#?}");
}

/// Five stop calls whose answers were lost within seconds counted as a stop that does not work, and the
/// container was killed in the middle of its grace (B-037).
#[test]
fn b037_lost_answers_to_stops_do_not_cost_the_grace() {
    let program = Program::EndsOnTerm { after: 20 * SECOND, code: 4 };
    let lost = Disturbance::lost(MS);
    has(&play(script(program).befalling(RequestKind::Stop, 1..=5, &lost)), "exit 4");
}

/// After a crash in the middle of a start no look succeeded, the container was taken for one that never ran, and how
/// it had ended was lost.
#[test]
fn b017_whether_a_created_container_ran_is_not_guessed_after_a_crash() {
    for stops in [false, true] {
        let killed = Deed::KillAgent(10 * SECOND);
        let mut scenario = script(ENDS).with(100 * MS, killed).befalling(RequestKind::Inspect, 1..=6, &fault());
        if stops {
            scenario = scenario.with(200 * MS, Deed::Stop { task: 0, force: false });
        }
        has(&play(scenario), "exit 3");
    }
}

/// A stop, or any other wish, set tasks going before the event stream stood, even towards a runtime that was refused.
#[test]
fn nothing_is_asked_before_the_stream_stands() {
    let slow = Disturbance { slower_by: 5 * SECOND, ..Disturbance::NONE };
    let scenario = script(ENDS).befalling(RequestKind::Version, [1], &slow);
    let lines = play(scenario.with(SECOND, Deed::Submit(0)).with(2 * SECOND, Deed::CleanUp(0)));
    let place = |text: &str| lines.iter().position(|line| line.contains(text));
    assert!(place("runtime  opens the stream") < place("inspect-image"), "{lines:#?}");
}
