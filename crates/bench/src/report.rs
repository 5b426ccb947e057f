//! Everything that was measured, as JSON: `target/bench/report.json`.

use std::{fs, io, path::Path};

use serde_json::{Value, json};

use crate::{
    findings::{Findings, Row, Verdict},
    goals::{self, Bound, Goal},
    samples::Samples,
};

/// Where it goes, seen from the root of the workspace.
pub const REPORT: &str = "target/bench/report.json";

/// A case and how it went; an `Err` holds why it could not run.
pub type Entry = (&'static str, &'static str, Result<Findings, String>);

/// The report.
#[must_use]
pub fn to_json(smoke: bool, machine: Value, entries: &[Entry]) -> Value {
    let cases: Vec<Value> = entries.iter().map(case).collect();
    let goals: Vec<Value> = goals::ALL.iter().map(goal).collect();
    json!({ "schema": 1, "smoke": smoke, "machine": machine, "goals": goals, "cases": cases })
}

/// Writes it, and what it lies in.
///
/// # Errors
/// It cannot be written.
pub fn write(path: &Path, report: &Value) -> io::Result<()> {
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory)?;
    }
    fs::write(path, format!("{report:#}\n"))
}

fn case((name, title, outcome): &Entry) -> Value {
    match outcome {
        Ok(findings) => json!({
            "name": name,
            "title": title,
            "rows": findings.rows.iter().map(row).collect::<Vec<_>>(),
            "verdicts": findings.verdicts.iter().map(verdict).collect::<Vec<_>>(),
            "notes": findings.notes,
        }),
        Err(why) => json!({ "name": name, "title": title, "did_not_run": why }),
    }
}

fn row(row: &Row) -> Value {
    let against = row.against_floor().map(|(value, unit)| json!({ "value": value, "unit": unit.sign() }));
    json!({
        "what": row.what,
        "unit": row.unit.sign(),
        "measured": samples(&row.samples),
        "floor": row.floor.as_ref().map(|floor| samples(&floor.samples)),
        "against_floor": against,
    })
}

fn samples(samples: &Samples) -> Value {
    json!({
        "count": samples.values().len(),
        "min": samples.min(),
        "median": samples.median(),
        "p99": samples.percentile(99),
        "max": samples.max(),
    })
}

fn verdict(verdict: &Verdict) -> Value {
    json!({ "goal": goal(&verdict.goal), "value": verdict.value, "met": verdict.is_met() })
}

fn goal(goal: &Goal) -> Value {
    let bound = match goal.bound {
        Bound::AtMost(most) => json!({ "at_most": most }),
        Bound::AtLeast(least) => json!({ "at_least": least }),
    };
    json!({ "number": goal.number, "what": goal.what, "how": goal.how, "bound": bound, "unit": goal.unit.sign() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::goals::Unit;

    #[test]
    fn a_report_holds_what_was_measured_and_what_did_not_run() {
        let mut findings = Findings::default();
        findings.row(Row::new("size", Unit::Megabytes, Samples::from_iter([9.0, 11.0])));
        findings.judge(goals::BINARY_SIZE, Some(10.0));
        let entries = [("P1", "size", Ok(findings)), ("P4", "one task", Err("no engine".to_owned()))];
        let report = to_json(true, json!({ "cores": 2 }), &entries);
        assert_eq!(report["cases"][0]["rows"][0]["measured"]["median"], 10.0);
        assert_eq!(report["cases"][0]["verdicts"][0]["met"], true);
        assert_eq!(report["cases"][1]["did_not_run"], "no engine");
        assert_eq!(report["goals"].as_array().unwrap().len(), goals::ALL.len());
    }

    #[test]
    fn a_report_is_written_into_a_directory_that_was_not_there() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("bench/report.json");
        write(&path, &json!({ "schema": 1 })).unwrap();
        assert_eq!(serde_json::from_slice::<Value>(&fs::read(path).unwrap()).unwrap()["schema"], 1);
    }
}
