//! The story of one task whose agent dies in the middle of it, as the simulation tells it.
#![expect(clippy::print_stdout, reason = "an example shows its result")]

use std::time::Duration;

use lighterman_sim::{Deed, Keep, Program, Scenario, Workload, run};

fn main() {
    let program = Program::EndsOnTerm { after: Duration::from_secs(2), code: 4 };
    let task = Workload::new(1, 0, program, "sim/pulled:1", |_| {});
    let scenario = Scenario::quiet(1, vec![task], Duration::from_secs(20))
        .with(Duration::from_secs(9), Deed::KillAgent(Duration::from_secs(3)));
    let report = run(scenario, Keep { log: true, stats: false });
    report.lines.iter().for_each(|line| println!("{line}"));
    match report.failed {
        None => println!("nothing was wrong"),
        Some(failed) => println!("{}: {}", failed.checker, failed.text),
    }
}
