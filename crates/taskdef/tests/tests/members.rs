//! The field table against the member names of the public API model.

use std::collections::BTreeSet;

use lighterman_taskdef::{
    fields::{self, Levels, Support},
    read_with,
};
use serde_json::Value;

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

/// What cannot stand in one definition with all the others: a network of its own each.
const ELSEWHERE: [&str; 5] = [
    "containerDefinitions[].links",
    "containerDefinitions[].hostname",
    "containerDefinitions[].extraHosts",
    "containerDefinitions[].extraHosts[].hostname",
    "containerDefinitions[].extraHosts[].ipAddress",
];

/// A definition with every field is read whole; what a record of it has says that nothing is dropped.
#[test]
fn every_field_goes_into_a_record() {
    let text = include_str!("../data/every-field.json");
    let reading = read_with("every-field.json", text.as_bytes(), Levels::Any).unwrap_or_else(|all| panic!("{all}"));
    assert!(reading.warnings.iter().all(|finding| finding.rule.0 != 5), "{}", reading.warnings);
    let stored: Value = serde_json::from_str(&reading.definition.to_register_json()).unwrap();
    let written: Value = serde_json::from_str(text).unwrap();
    let mut missing = Vec::new();
    for placed in fields::all() {
        if ELSEWHERE.contains(&placed.path.as_str()) {
            continue;
        }
        let default = ["status", "containerDefinitions[].disableNetworking"];
        assert!(has(&written, &placed.path), "{} is not in the file", placed.path);
        let is_kept = placed.row.support != Support::ReadOnly && !default.contains(&placed.path.as_str());
        if is_kept != has(&stored, &placed.path) {
            missing.push(placed.path);
        }
    }
    assert_eq!(missing, Vec::<String>::new());
}

fn has(value: &Value, path: &str) -> bool {
    let (key, rest) = path.split_once('.').map_or((path, None), |(key, rest)| (key, Some(rest)));
    let (key, is_list) = key.strip_suffix("[]").map_or((key, false), |key| (key, true));
    let Some(member) = value.get(key) else { return false };
    match (rest, is_list) {
        (None, _) => true,
        (Some(rest), false) => has(member, rest),
        (Some(rest), true) => member.as_array().unwrap().iter().any(|item| has(item, rest)),
    }
}
