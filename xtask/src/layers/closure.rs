//! What the pure crates pull in at any depth: no runtime, no clock, no source of randomness.

use std::collections::BTreeSet;

use super::table::{IMPURE, Layer};
use crate::finding::Finding;
use crate::workspace::{Package, Workspace};

const CLOSURE: &str = "impure-closure";

pub(super) fn check(workspace: &Workspace) -> Vec<Finding> {
    let pure = workspace.members.iter().filter(|package| is_pure(package));
    pure.flat_map(|package| check_package(workspace, package)).collect()
}

fn is_pure(package: &Package) -> bool {
    package.layer().and_then(Layer::parse).is_some_and(Layer::is_pure)
}

fn check_package(workspace: &Workspace, package: &Package) -> Vec<Finding> {
    let reached = reached(workspace, &package.id);
    let names = workspace.foreign.iter().filter(|foreign| reached.contains(foreign.id.as_str()));
    let impure = names.map(|foreign| foreign.name.as_str()).filter(|name| IMPURE.contains(name));
    impure
        .map(|name| {
            let text = format!("{} reaches {name}: see `cargo tree -p {} -i {name}`", package.folder(), package.name);
            Finding::on(workspace.relative(&package.manifest_path), CLOSURE, text)
        })
        .collect()
}

/// Ids of all packages on a path of normal dependencies.
fn reached<'a>(workspace: &'a Workspace, id: &'a str) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut open = vec![id];
    while let Some(id) = open.pop() {
        if reached.insert(id) {
            let edges = workspace.resolved.get(id).into_iter().flatten();
            open.extend(edges.filter(|edge| edge.is_normal()).map(|edge| edge.pkg.as_str()));
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::workspace::Resolved;

    fn edge(to: &str, kind: &str) -> Resolved {
        serde_json::from_str(&format!(r#"{{"pkg": "{to}", "dep_kinds": [{{"kind": {kind}}}]}}"#)).unwrap()
    }

    fn workspace(kind: &str) -> Workspace {
        Workspace {
            root: "/ws".into(),
            target_dir: "/ws/target".into(),
            members: vec![Package::planted("lighterman-graph", "decisions")],
            foreign: vec![Package::planted("helper", ""), Package::planted("tokio", "")],
            resolved: BTreeMap::from([
                ("lighterman-graph".into(), vec![edge("helper", kind)]),
                ("helper".into(), vec![edge("tokio", "null")]),
            ]),
        }
    }

    #[test]
    fn a_runtime_behind_an_innocent_crate_is_found() {
        let findings = check(&workspace("null"));
        assert_eq!(findings.len(), 1);
        assert!(findings[0].text.contains("graph reaches tokio"), "{}", findings[0]);
    }

    #[test]
    fn what_only_tests_pull_in_is_not_found() {
        assert_eq!(check(&workspace("\"dev\"")), []);
    }
}
