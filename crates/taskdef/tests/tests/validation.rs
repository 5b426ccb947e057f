//! Every rule of taskdef.md 3.2 by its number: what breaks it, and what does not.
//!
//! All fields count as built here; what this version refuses is in `rules` and `examples`. Lines are as a
//! person sees them, with `C` for `containerDefinitions` as in the specification.

mod amounts;
mod identity;
mod network;
mod order;
mod service;
mod volumes;

use lighterman_taskdef::{Finding, Level, fields::Levels, read_with};

use crate::helpers::{line, task_json};

/// A container that breaks no rule.
const PLAIN: &str = r#"{"name": "web", "image": "busybox:test", "memory": 64}"#;

/// The findings of one rule in a text, each of which must hold the wanted piece, in order.
#[track_caller]
fn check_as(name: &str, levels: Levels, rule: u8, text: &str, wanted: &[&str]) {
    let findings =
        read_with(name, text.as_bytes(), levels).map_or_else(|findings| findings, |reading| reading.warnings);
    let of_rule = |finding: &&Finding| finding.rule.0 == rule;
    let short = |line: String| line.replace("containerDefinitions[", "C[").replace(" at containerDefinitions", " at C");
    let lines: Vec<String> = findings.iter().filter(of_rule).map(|finding| short(line(finding))).collect();
    let fits = lines.len() == wanted.len() && lines.iter().zip(wanted).all(|(line, wanted)| line.contains(wanted));
    assert!(fits, "{text}\nwanted {wanted:#?}\nfound {lines:#?}\nall {findings}");
    // A finding of a file always has a place; one of a text that does not parse has line and column only.
    assert!(findings.iter().all(|finding| finding.line >= 1 && finding.column >= 1));
}

#[track_caller]
fn check(rule: u8, text: &str, wanted: &[&str]) {
    check_as("task.json", Levels::Planned, rule, text, wanted);
}

/// The same for a container with these members besides name, image and memory.
#[track_caller]
fn check_container(rule: u8, members: &str, wanted: &[&str]) {
    check(rule, &task_json("", &with(members)), wanted);
}

/// The plain container with more members; one that is given again replaces its own.
fn with(members: &str) -> String {
    named("web", members)
}

fn named(name: &str, members: &str) -> String {
    let memory = if members.contains("\"memory\":") { "" } else { r#", "memory": 64"# };
    let image = if members.contains("\"image\":") { "" } else { r#", "image": "busybox:test""# };
    let separator = if members.is_empty() { "" } else { ", " };
    format!(r#"{{"name": "{name}"{image}{memory}{separator}{members}}}"#)
}

/// A task on the machines of the service with a fitting size.
fn fargate(members: &str, containers: &str) -> String {
    let separator = if members.is_empty() { "" } else { ", " };
    task_json(
        &format!(
            r#""networkMode": "awsvpc", "requiresCompatibilities": ["FARGATE"], "cpu": "256", "memory": "512"{separator}{members}"#
        ),
        containers,
    )
}

/// No finding at all of that level.
#[track_caller]
fn check_silent(level: Level, text: &str) {
    let findings = read_with("task.json", text.as_bytes(), Levels::Planned)
        .map_or_else(|findings| findings, |reading| reading.warnings);
    assert!(findings.iter().all(|finding| finding.level != level), "{text}\n{findings}");
}
