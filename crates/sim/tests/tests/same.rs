//! A seed is a run: twice the same to the byte, with and without crashes at every point.

use std::time::Duration;

use lighterman_sim::{Crashes, Damage, Deed, Keep, Program, Scenario, Workload, run};

const LOG: Keep = Keep { log: true, stats: false };

#[test]
fn the_same_seed_gives_the_same_log() {
    for seed in 1..40 {
        assert_eq!(run(Scenario::draw(seed), LOG).lines, run(Scenario::draw(seed), LOG).lines, "seed {seed}");
    }
}

#[test]
fn a_log_changes_nothing() {
    for seed in 1..40 {
        let (with, without) = (run(Scenario::draw(seed), LOG), run(Scenario::draw(seed), Keep::default()));
        assert_eq!((with.end, with.counts), (without.end, without.counts), "seed {seed}");
    }
}

#[test]
fn a_crash_at_every_point_of_a_life_is_survived() {
    let programs = [
        Program::Ends { after: Duration::from_secs(1), code: 3 },
        Program::EndsOnTerm { after: Duration::from_secs(1), code: 4 },
        Program::IsMissing,
    ];
    for (nth, program) in (0..).zip(programs) {
        let task = Workload::new(9, nth, program, "sim/pulled:1", |_| {});
        let scenario = Scenario::quiet(9, vec![task], Duration::from_secs(30));
        let points = run(scenario.clone(), Keep::default()).counts.points;
        assert!(points > 20, "{points}");
        for at in 1..=points {
            let crashed = Scenario { crashes: Crashes::At(at), ..scenario.clone() };
            let report = run(crashed, LOG);
            assert_eq!(report.failed, None, "{program:?}, crash at {at}: {:#?}", report.lines);
            assert_eq!(report.counts.deaths, 1);
        }
    }
}

#[test]
fn a_damaged_store_is_refused_and_what_it_knew_is_found_by_its_labels() {
    for damage in Damage::ALL {
        let task = Workload::new(4, 0, Program::IgnoresTerm, "sim/local:1", |_| {});
        let scenario = Scenario::quiet(4, vec![task], Duration::from_secs(30));
        let broken = Deed::DamageStore(damage, Duration::from_secs(2));
        let report = run(scenario.with(Duration::from_secs(5), broken), LOG);
        assert_eq!(report.failed, None, "{damage:?}: {:#?}", report.lines);
        assert!(report.lines.iter().any(|line| line.contains("is refused")), "{damage:?}: {:#?}", report.lines);
        assert!(report.lines.iter().any(|line| line.contains("STOPPED and gone")));
    }
}
