//! The dependencies that manifests state, held against the table.

use super::table::{IMPURE, Layer, OPTIONAL, SINGLE_EDGES, VOCABULARY, forbids_edge, forbids_foreign, forbids_wrapped};
use crate::finding::Finding;
use crate::workspace::{Dependency, Kind, Package, Workspace};

const LAYER: &str = "layer";
const EDGE: &str = "edge";
const FOREIGN: &str = "foreign-crate";

pub(super) fn check(workspace: &Workspace) -> Vec<Finding> {
    check_members(&workspace.members)
        .into_iter()
        .map(|(package, rule, text)| Finding::on(workspace.relative(&package.manifest_path), rule, text))
        .collect()
}

fn check_members(members: &[Package]) -> Vec<(&Package, &'static str, String)> {
    let mut findings = Vec::new();
    for package in members {
        match layer_of(package) {
            Err(text) => findings.push((package, LAYER, text)),
            Ok(layer) => {
                for dependency in &package.dependencies {
                    if let Some((rule, text)) = check_dependency(package, layer, dependency, members) {
                        findings.push((package, rule, text));
                    }
                }
            }
        }
    }
    findings
}

/// The stated layer, which for pure crates also has to name them.
fn layer_of(package: &Package) -> Result<Layer, String> {
    let text = package.layer().ok_or("no `[package.metadata.lighterman] layer`")?;
    let layer = Layer::parse(text).ok_or_else(|| format!("there is no layer `{text}`"))?;
    let name = package.folder();
    let is_named = match layer {
        Layer::Vocabulary => VOCABULARY.contains(&name),
        Layer::Decisions => SINGLE_EDGES.iter().any(|(known, _)| *known == name),
        Layer::Contracts
        | Layer::Adapter
        | Layer::Driver
        | Layer::Edge
        | Layer::Composition
        | Layer::Proof
        | Layer::Tools => true,
    };
    if is_named { Ok(layer) } else { Err(format!("`{name}` is not in the table of the {layer} layer")) }
}

fn check_dependency(
    package: &Package,
    layer: Layer,
    dependency: &Dependency,
    members: &[Package],
) -> Option<(&'static str, String)> {
    let from = (package.folder(), layer);
    let in_tests = dependency.kind == Some(Kind::Dev);
    if dependency.path.is_some() {
        let to = members.iter().find(|member| member.name == dependency.name)?;
        let to_layer = Layer::parse(to.layer()?)?;
        let proof_in_tests = in_tests && to_layer == Layer::Proof;
        return forbids_edge(from, (to.folder(), to_layer)).filter(|_| !proof_in_tests).map(|text| (EDGE, text));
    }
    let name = dependency.name.as_str();
    let text = if in_tests { forbids_in_tests(from, name) } else { forbids_foreign(from, name) };
    text.or_else(|| default_features(from, dependency))
        .or_else(|| always_there(from.0, dependency))
        .map(|text| (FOREIGN, text))
}

/// Tests may use any foreign crate that is not wrapped; those of pure crates none that does I/O.
fn forbids_in_tests((name, layer): (&str, Layer), library: &str) -> Option<String> {
    let impure = || {
        (layer.is_pure() && IMPURE.contains(&library))
            .then(|| format!("tests of {name} ({layer}) may not depend on {library}"))
    };
    forbids_wrapped(name, library).or_else(impure)
}

fn default_features((name, layer): (&str, Layer), dependency: &Dependency) -> Option<String> {
    let matters = layer.is_pure() && dependency.kind.is_none() && dependency.uses_default_features;
    matters.then(|| format!("{name} ({layer}) takes the default features of {}", dependency.name))
}

fn always_there(name: &str, dependency: &Dependency) -> Option<String> {
    let is_listed = OPTIONAL.iter().any(|(owner, crates)| *owner == name && crates.contains(&&*dependency.name));
    let matters = is_listed && dependency.kind.is_none() && !dependency.optional;
    matters.then(|| format!("{name} may have {} only as an optional dependency", dependency.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is found where `from` depends on `dependency`, next to a few other members.
    fn found(from: &str, layer: &str, dependency: Dependency) -> Vec<(&'static str, String)> {
        let mut package = Package::planted(from, layer);
        package.dependencies.push(dependency);
        let members = [
            package,
            Package::planted("lighterman-ids", "vocabulary"),
            Package::planted("lighterman-engine", "decisions"),
            Package::planted("lighterman-checkpoint", "adapter"),
            Package::planted("lighterman-testkit", "proof"),
        ];
        check_members(&members).into_iter().map(|(_, rule, text)| (rule, text)).collect()
    }

    fn dev(name: &str) -> Dependency {
        Dependency { kind: Some(Kind::Dev), ..Dependency::planted(name) }
    }

    #[test]
    fn what_the_table_allows_is_not_found() {
        let allowed = [
            ("lighterman-graph", "decisions", Dependency::planted("lighterman-ids")),
            ("lighterman-driver", "driver", Dependency::planted("lighterman-engine")),
            ("lighterman-docker", "adapter", Dependency::planted("bollard")),
            ("lighterman-docker", "adapter", dev("lighterman-testkit")),
            ("lighterman-graph", "decisions", dev("proptest")),
        ];
        for (from, layer, dependency) in allowed {
            assert_eq!(found(from, layer, dependency.clone()), [], "{from} -> {}", dependency.name);
        }
    }

    #[test]
    fn planted_edges_are_found() {
        let planted = [
            ("lighterman-docker", "adapter", Dependency::planted("lighterman-engine"), EDGE),
            ("lighterman-docker", "adapter", Dependency::planted("lighterman-checkpoint"), EDGE),
            ("lighterman-docker", "adapter", dev("lighterman-checkpoint"), EDGE),
            ("lighterman-app", "composition", Dependency::planted("lighterman-testkit"), EDGE),
            ("lighterman-graph", "decisions", Dependency::planted("tokio"), FOREIGN),
            ("lighterman-graph", "decisions", dev("tokio"), FOREIGN),
            ("lighterman-app", "composition", dev("sled"), FOREIGN),
            ("lighterman-contracts", "contracts", Dependency::planted("tokio"), FOREIGN),
        ];
        for (from, layer, dependency, rule) in planted {
            let found = found(from, layer, dependency.clone());
            assert!(matches!(&found[..], [(r, _)] if *r == rule), "{from} -> {}: {found:?}", dependency.name);
        }
    }

    #[test]
    fn default_features_in_a_pure_crate_are_found() {
        let dependency = Dependency { uses_default_features: true, ..Dependency::planted("serde") };
        assert_eq!(found("lighterman-graph", "decisions", dependency.clone()).len(), 1);
        assert_eq!(found("lighterman-docker", "adapter", dependency).len(), 0);
    }

    #[test]
    fn a_reader_that_is_always_there_is_found() {
        let always = Dependency::planted("toml");
        let optional = Dependency { optional: true, ..always.clone() };
        assert_eq!(found("lighterman-taskdef", "vocabulary", always).len(), 1);
        assert_eq!(found("lighterman-taskdef", "vocabulary", optional).len(), 0);
    }

    #[test]
    fn a_missing_or_unknown_layer_is_found() {
        let unknown = Package::planted("lighterman-x", "adapters");
        let missing = Package { name: "lighterman-x".into(), ..Package::default() };
        let unnamed = Package::planted("lighterman-x", "decisions");
        for package in [unknown, missing, unnamed] {
            assert!(layer_of(&package).is_err(), "{:?}", package.layer());
        }
    }
}
