//! Every crate has an example that one can run.

use std::collections::BTreeMap;

use crate::finding::Finding;
use crate::workspace::{Package, Workspace};

const RULE: &str = "example";

pub(super) fn check(workspace: &Workspace) -> Vec<Finding> {
    let findings = check_members(&workspace.members);
    findings.into_iter().map(|(package, text)| Finding::on(workspace.relative(package.dir()), RULE, text)).collect()
}

fn check_members(members: &[Package]) -> Vec<(&Package, String)> {
    let mut findings = Vec::new();
    let mut owners: BTreeMap<&str, &str> = BTreeMap::new();
    for package in members {
        if wants_example(package) && package.targets_of("example").next().is_none() {
            findings.push((package, "has no example in `examples/`".to_owned()));
        }
        for name in package.targets_of("example") {
            if let Some(owner) = owners.insert(name, &package.name) {
                // Cargo puts all of them into one folder, and one would overwrite the other.
                findings.push((package, format!("the example `{name}` has the name of one of {owner}")));
            }
        }
        for name in package.examples_that_need_an_engine() {
            if !package.targets_of("example").any(|example| example == name) {
                findings.push((package, format!("`needs-engine` names `{name}`, which is no example")));
            }
        }
    }
    findings
}

/// Crates that others use. A crate of the proof layer that is a program is its own example.
fn wants_example(package: &Package) -> bool {
    let is_program = package.targets_of("bin").next().is_some();
    package.targets_of("lib").next().is_some() && !(is_program && package.layer() == Some("proof"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Target;

    fn package(name: &str, layer: &str, targets: &[(&str, &str)]) -> Package {
        let target = |(name, kind): &(&str, &str)| Target { name: (*name).into(), kind: vec![(*kind).into()] };
        Package { targets: targets.iter().map(target).collect(), ..Package::planted(name, layer) }
    }

    fn count(members: &[Package]) -> usize {
        check_members(members).len()
    }

    #[test]
    fn a_library_without_an_example_is_found() {
        assert_eq!(count(&[package("lighterman-a", "edge", &[("a", "lib")])]), 1);
        assert_eq!(count(&[package("lighterman-a", "edge", &[("a", "lib"), ("show", "example")])]), 0);
        assert_eq!(count(&[package("lighterman-sim", "proof", &[("a", "lib"), ("sim", "bin")])]), 0);
        assert_eq!(count(&[package("xtask", "tools", &[("xtask", "bin")])]), 0);
    }

    #[test]
    fn two_examples_of_one_name_are_found() {
        let one = package("lighterman-a", "edge", &[("a", "lib"), ("show", "example")]);
        let two = package("lighterman-b", "edge", &[("b", "lib"), ("show", "example")]);
        assert_eq!(count(&[one, two]), 1);
    }
}
