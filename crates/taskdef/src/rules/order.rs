//! Who waits for whom (V40 to V45, V64).

use alloc::{collections::BTreeSet, format, string::String, vec::Vec};

use lighterman_ids::ContainerName;

use super::{Names, Rules};
use crate::{
    definition::{Condition, ContainerDefinition, LogDriver},
    field::Field,
    finding::{Collector, Place, allowed, quoted},
    wording::listed,
};

pub(super) fn check(rules: &Rules<'_>, findings: &mut Collector) {
    let names = rules.names();
    for (container, definition) in rules.containers() {
        for dependency in container.list("dependsOn") {
            one_dependency(rules, &names, definition, dependency, findings);
        }
        let own = container.text("name").map(|(name, _)| name);
        for source in container.list("volumesFrom").iter().filter_map(|entry| entry.filled_text("sourceContainer")) {
            target(&names, source, own, (64, "volumesFrom"), findings);
        }
        twice(container, "dependsOn", "containerName", 45, findings);
        twice(container, "volumesFrom", "sourceContainer", 64, findings);
    }
    rings(rules, findings);
}

/// V40 and its like: a reference to another container of the task; its index.
pub(super) fn target(
    names: &Names<'_>,
    (name, place): (&str, &Place),
    own: Option<&str>,
    (rule, by): (u8, &str),
    findings: &mut Collector,
) -> Option<usize> {
    // What is no name was refused by itself.
    ContainerName::parse(name).ok()?;
    if own == Some(name) {
        findings.error(rule, place, format!("{by} names \"{name}\" itself"), allowed("another container"));
        return None;
    }
    let index = names.index.get(name).copied();
    if index.is_none() && names.is_complete {
        // A long list helps nobody.
        const SHOWN: usize = 20;
        let others = names.index.keys().copied().filter(|other| Some(*other) != own).take(SHOWN);
        let message = format!("{by} names {} which is not in the task", quoted(name));
        findings.error(rule, place, message, allowed(listed(others)));
    }
    index
}

/// V40, V42, V43.
fn one_dependency(
    rules: &Rules<'_>,
    names: &Names<'_>,
    definition: &ContainerDefinition,
    dependency: &Field,
    findings: &mut Collector,
) {
    let Some(name) = dependency.filled_text("containerName") else { return };
    let own = definition.name.as_str();
    let Some(index) = target(names, name, Some(own), (40, "dependsOn"), findings) else { return };
    let (target, field) = (&rules.task.containers[index], &rules.root.list("containerDefinitions")[index]);
    let Some(condition) = dependency.text("condition").and_then(|(word, _)| Condition::from_word(word)) else { return };
    let place = &dependency.place;
    match condition {
        Condition::Healthy => {
            let is_off = target.health_check.as_ref().is_some_and(|check| check.test.is_off());
            if field.get("healthCheck").is_none() || is_off {
                let at = field.place.path_text();
                let what = if is_off { "switches its healthCheck off" } else { "has no healthCheck" };
                let message = format!("\"{own}\" waits for \"{}\" to be HEALTHY but {at} {what}", target.name);
                findings.error(42, place, message, allowed("add one, or START"));
            }
        }
        Condition::Complete | Condition::Success => {
            if target.essential && !field.is_broken("essential") {
                let name = &target.name;
                let message = format!("\"{own}\" waits for \"{name}\" to end but \"{name}\" is essential");
                findings.error(43, place, message, allowed("\"essential\": false on it"));
            }
        }
        Condition::Create | Condition::Start => {}
    }
}

/// V45, and the same for `volumesFrom`.
fn twice(container: &Field, list: &str, key: &str, rule: u8, findings: &mut Collector) {
    let mut seen = BTreeSet::new();
    for (name, place) in container.list(list).iter().filter_map(|entry| entry.filled_text(key)) {
        if !seen.insert(name) {
            findings.warning(rule, place, format!("{} listed twice in {list}", quoted(name)), allowed("once"));
        }
    }
}

/// V44: no container may wait for itself, through whatever others.
fn rings(rules: &Rules<'_>, findings: &mut Collector) {
    for ring in find_rings(&edges(rules)) {
        let names: Vec<&str> =
            ring.iter().chain(ring.first()).map(|index| rules.task.containers[*index].name.as_str()).collect();
        let Some(first) = ring.first() else { continue };
        let place = &rules.root.list("containerDefinitions")[*first].place;
        findings.error(44, place, format!("containers wait for each other: {}", shortened(&names)), allowed("no ring"));
    }
}

/// A ring of hundreds is cut in the middle.
fn shortened(names: &[&str]) -> String {
    const ENDS: usize = 8;
    if names.len() <= 2 * ENDS {
        return names.join(" → ");
    }
    format!("{} → … → {}", names[..ENDS].join(" → "), names[names.len() - ENDS..].join(" → "))
}

/// For each container those it waits for; never itself.
fn edges(rules: &Rules<'_>) -> Vec<Vec<usize>> {
    let names = rules.names().index;
    let router = rules.task.containers.iter().position(|container| container.log_router.is_some());
    let targets = |(own, container): (usize, &ContainerDefinition)| {
        let sends = container.log_configuration.as_ref().is_some_and(|log| log.driver == LogDriver::Awsfirelens);
        let depends = container.depends_on.iter().map(|dependency| &dependency.container);
        let links = container.links.iter().map(|link| &link.container);
        let sources = container.volumes_from.iter().map(|source| &source.source_container);
        let named = depends.chain(links).chain(sources).filter_map(|name| names.get(name.as_str()).copied());
        let all: BTreeSet<usize> = named.chain(router.filter(|_| sends)).filter(|index| *index != own).collect();
        all.into_iter().collect()
    };
    rules.task.containers.iter().enumerate().map(targets).collect()
}

/// Rings that a walk in depth comes upon, no two with a container in common, each from its first container on.
/// The stack is ours: there may be a thousand containers in one row.
fn find_rings(edges: &[Vec<usize>]) -> Vec<Vec<usize>> {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
    }
    let mut marks = alloc::vec![Mark::New; edges.len()];
    let mut rings: Vec<Vec<usize>> = Vec::new();
    let mut in_ring = alloc::vec![false; edges.len()];
    for start in 0..edges.len() {
        let mut walk: Vec<(usize, usize)> = Vec::new();
        if marks[start] == Mark::New {
            marks[start] = Mark::Open;
            walk.push((start, 0));
        }
        while let Some((node, next)) = walk.last_mut() {
            let Some(target) = edges[*node].get(*next).copied() else {
                marks[*node] = Mark::Done;
                walk.pop();
                continue;
            };
            *next += 1;
            match marks[target] {
                Mark::New => {
                    marks[target] = Mark::Open;
                    walk.push((target, 0));
                }
                Mark::Open => {
                    let from = walk.iter().position(|(node, _)| *node == target).unwrap_or(0);
                    if walk[from..].iter().all(|(node, _)| !in_ring[*node]) {
                        let mut ring: Vec<usize> = walk[from..].iter().map(|(node, _)| *node).collect();
                        ring.iter().for_each(|node| in_ring[*node] = true);
                        let least = ring.iter().enumerate().min_by_key(|(_, node)| **node).map_or(0, |(at, _)| at);
                        ring.rotate_left(least);
                        rings.push(ring);
                    }
                }
                Mark::Done => {}
            }
        }
    }
    rings
}
