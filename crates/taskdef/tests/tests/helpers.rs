//! Short ways to write a definition and to see what was found in it.

use lighterman_taskdef::{Advice, ContainerDefinition, Finding, Findings, Level, Reading, read};

/// A definition whose one container has this besides its name, image and memory.
pub(crate) fn container_json(members: &str) -> String {
    let separator = if members.is_empty() { "" } else { ", " };
    task_json("", &format!(r#"{{"name": "web", "image": "busybox:test", "memory": 64{separator}{members}}}"#))
}

/// A definition with these members besides its family, and these containers.
pub(crate) fn task_json(members: &str, containers: &str) -> String {
    let separator = if members.is_empty() { "" } else { ", " };
    format!(r#"{{"family": "f"{separator}{members}, "containerDefinitions": [{containers}]}}"#)
}

pub(crate) fn read_json(text: &str) -> Result<Reading, Findings> {
    read("task.json", text.as_bytes())
}

#[track_caller]
pub(crate) fn accepted(text: &str) -> Reading {
    read_json(text).unwrap_or_else(|findings| panic!("must be accepted: {text}\n{findings}"))
}

/// The container of a definition with these members.
#[track_caller]
pub(crate) fn container(members: &str) -> ContainerDefinition {
    accepted(&container_json(members)).definition.containers.remove(0)
}

/// Every finding as `E V3 message at path; allowed: …`, without line and column.
pub(crate) fn findings_of(text: &str) -> Vec<String> {
    let findings = read_json(text).map_or_else(|findings| findings, |reading| reading.warnings);
    findings.iter().map(line).collect()
}

/// A finding as `E V3 message at path; allowed: …`.
pub(crate) fn line(finding: &Finding) -> String {
    let level = match finding.level {
        Level::Error => 'E',
        Level::Warning => 'W',
    };
    let path = finding.path.as_deref().unwrap_or("-");
    let advice = match &finding.advice {
        Some(Advice::Allowed(what)) => format!("; allowed: {what}"),
        Some(Advice::Hint(what)) => format!("; {what}"),
        None => String::new(),
    };
    format!("{level} {} {} at {path}{advice}", finding.rule, finding.message)
}
