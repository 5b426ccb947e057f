//! What the simulation found, each with the seed or the script that showed it.

use lighterman_sim::{Keep, Scenario, run};

#[track_caller]
fn passes(seed: u64) {
    let report = run(Scenario::draw(seed), Keep { log: true, stats: false });
    assert_eq!(report.failed, None, "{:#?}", report.lines);
}

/// A container that had been created by somebody else under our name was removed in place of ours: removals went by name.
#[test]
fn what_others_made_under_our_name_is_not_removed() {
    passes(2);
}
