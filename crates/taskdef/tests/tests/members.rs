//! The field table against the member names of the public API model.

use std::collections::BTreeSet;

use lighterman_taskdef::fields;

#[test]
fn every_member_of_the_api_has_a_row_and_no_other() {
    let listed: BTreeSet<&str> =
        include_str!("../data/api-members.txt").lines().filter(|line| !line.starts_with('#')).collect();
    let rows = fields::all();
    let ours: BTreeSet<&str> = rows.iter().map(|placed| placed.path.as_str()).collect();
    assert_eq!(ours.len(), rows.len(), "a path has two rows");
    assert_eq!(ours.difference(&listed).collect::<Vec<_>>(), Vec::<&&str>::new(), "not in the model");
    assert_eq!(listed.difference(&ours).collect::<Vec<_>>(), Vec::<&&str>::new(), "without a row");
    assert!(ours.len() > 170, "{}", ours.len());
}
