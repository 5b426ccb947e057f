//! Each checker is seen to fail: a fault is planted in the world around the core, and its checker, no other,
//! has to name it.

use std::time::Duration;

use lighterman_sim::{At, Crashes, Damage, Deed, FailureKind, Keep, Plant, Program, Scenario, Workload, run};

/// Plays seeds with this fault until one fails; the first failure has to be of this checker.
#[track_caller]
fn check(plant: Plant, checker: &str) {
    for seed in 1..400 {
        let scenario = Scenario { plant: Some(plant), ..Scenario::draw(seed) };
        if let Some(failed) = run(scenario, Keep::default()).failed {
            assert_eq!(failed.checker, checker, "seed {seed}: {}", failed.text);
            return;
        }
    }
    panic!("{plant:?} was not noticed");
}

/// The same in a run of one task in which nothing else goes wrong.
#[track_caller]
fn check_quiet(plant: Plant, program: Program, checker: &str, change: impl FnOnce(&mut Scenario)) {
    let task = Workload::new(1, 0, program, "sim/local:1", |_| {});
    let mut scenario = Scenario::quiet(1, vec![task], Duration::from_secs(20));
    change(&mut scenario);
    assert_eq!(run(scenario.clone(), Keep::default()).failed, None, "without the fault nothing is wrong");
    scenario.plant = Some(plant);
    let report = run(scenario, Keep { log: true, stats: false });
    let failed = report.failed.unwrap_or_else(|| panic!("{plant:?} was not noticed: {:#?}", report.lines));
    assert_eq!(failed.checker, checker, "{}", failed.text);
}

const RUNS_ON: Program = Program::EndsOnTerm { after: Duration::from_secs(2), code: 4 };
const ENDS: Program = Program::Ends { after: Duration::from_secs(1), code: 3 };

#[test]
fn a_store_that_acknowledges_too_early_is_noticed() {
    check_quiet(Plant::AcknowledgesEarly, ENDS, "persist-first", |_| {});
}

/// The agent dies while its only task runs.
fn dies(scenario: &mut Scenario, deed: Deed) {
    scenario.deeds.push((At(2_000_000_000), deed));
    scenario.deeds.sort_by_key(|(at, _)| *at);
}

const KILLED: Deed = Deed::KillAgent(Duration::from_secs(1));
const DAMAGED: Deed = Deed::DamageStore(Damage::LostCommit, Duration::from_secs(1));

#[test]
fn a_crash_that_takes_back_what_was_shown_is_noticed() {
    check_quiet(Plant::ForgetsCommit, ENDS, "taken-back", |scenario| dies(scenario, KILLED));
}

#[test]
fn a_store_that_hides_its_damage_is_noticed() {
    check_quiet(Plant::OverlooksDamage, RUNS_ON, "damage-shows", |scenario| dies(scenario, DAMAGED));
}

#[test]
fn a_store_that_breaks_by_itself_is_noticed() {
    check_quiet(Plant::HidesDamage, RUNS_ON, "store-opens", |scenario| dies(scenario, DAMAGED));
}

#[test]
fn records_of_somebody_else_are_noticed() {
    check_quiet(Plant::SwapsOwner, RUNS_ON, "take-up", |scenario| dies(scenario, KILLED));
}

#[test]
fn a_twin_is_noticed() {
    check_quiet(Plant::CreatesTwin, ENDS, "no-twins", |_| {});
}

#[test]
fn an_orphan_is_noticed() {
    check_quiet(Plant::LeavesOrphan, ENDS, "no-orphans", |_| {});
}

#[test]
fn a_task_that_is_forgotten_too_early_is_noticed() {
    check_quiet(Plant::KeepsRemoved, ENDS, "forget-last", |_| {});
}

#[test]
fn a_hand_on_what_is_not_ours_is_noticed() {
    check(Plant::HitsForeigner, "hands-off");
}

#[test]
fn running_without_a_run_is_noticed() {
    check_quiet(Plant::RunsTooSoon, ENDS, "ran-before", |scenario| {
        // The agent looks while the container stands as it was created.
        scenario.crashes = Crashes::At(17);
    });
}

#[test]
fn a_wrong_exit_code_is_noticed() {
    check_quiet(Plant::WrongExitCode, ENDS, "exit-codes", |_| {});
}

#[test]
fn a_resurrection_is_noticed() {
    check_quiet(Plant::Resurrects, ENDS, "stopped-stays", |_| {});
}

#[test]
fn a_desired_status_that_falls_is_noticed() {
    check_quiet(Plant::DesiresLess, ENDS, "desired-rises", |_| {});
}

#[test]
fn a_reason_that_changes_is_noticed() {
    check_quiet(Plant::ChangesReason, ENDS, "first-word-stays", |_| {});
}

#[test]
fn a_grace_that_is_cut_short_is_noticed() {
    check_quiet(Plant::ShortensGrace, RUNS_ON, "sent-grace", |_| {});
}

#[test]
fn a_kill_before_the_grace_is_over_is_noticed() {
    check_quiet(Plant::KillsAtOnce, RUNS_ON, "killed-for-a-reason", |_| {});
}

#[test]
fn a_second_run_is_noticed() {
    check_quiet(Plant::StartsTwice, ENDS, "once", |_| {});
}

#[test]
fn a_wait_without_a_reason_is_noticed() {
    check_quiet(Plant::HidesWaits, ENDS, "waits-explained", |_| {});
}

#[test]
fn an_answer_that_is_lost_inside_is_noticed() {
    check_quiet(Plant::LosesAnswer, ENDS, "answered", |_| {});
}

#[test]
fn a_busy_spin_is_noticed() {
    check_quiet(Plant::Spins, RUNS_ON, "liveness", |_| {});
}

#[test]
fn an_id_that_is_used_again_is_noticed() {
    check_quiet(Plant::ReusesIds, RUNS_ON, "fresh-ids", |scenario| dies(scenario, KILLED));
}

#[test]
fn what_is_known_and_never_comes_to_agree_with_what_is_true_is_noticed() {
    check_quiet(Plant::IsDeaf, ENDS, "settled", |scenario| scenario.settle());
}

#[test]
fn a_panic_is_a_failure_of_its_own_kind() {
    let mut scenario = Scenario::quiet(1, Vec::new(), Duration::from_secs(1));
    // There is no such task: whoever wrote the scenario made a mistake, and that is a panic.
    scenario.deeds.insert(0, (At(0), Deed::Submit(7)));
    let failed = run(scenario, Keep::default()).failed.unwrap();
    assert_eq!((failed.kind, failed.checker), (FailureKind::Crash, "no-panic"));
}

#[test]
fn every_checker_has_a_planted_fault() {
    let planted = include_str!("planted.rs");
    for checker in lighterman_sim::checkers() {
        assert!(planted.contains(&format!("\"{checker}\"")), "no fault is planted for {checker}");
    }
    for plant in Plant::ALL {
        assert!(planted.contains(&format!("Plant::{plant:?}")), "{plant:?} is not used");
    }
}
