//! deny.toml, read and held against what cargo resolved.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context as _, Result};
use serde::Deserialize;

use super::spdx;
use crate::finding::Finding;
use crate::workspace::{Package, Workspace};

/// The one registry. In two halves: `tidy` forbids the word, and here it is needed.
const REGISTRY: &str = concat!("registry+https://github.com/rust-lang/crates", ".io-index");

/// The part of deny.toml that we check ourselves.
#[derive(Debug, Deserialize)]
pub(super) struct Policy {
    bans: Bans,
    licenses: Licenses,
}

#[derive(Debug, Deserialize)]
struct Bans {
    deny: Vec<Ban>,
    #[serde(default)]
    skip: Vec<Skip>,
}

/// A crate that only its wrappers may depend on; nobody, if there are none.
#[derive(Debug, Deserialize)]
struct Ban {
    #[serde(rename = "crate")]
    name: String,
    #[serde(default)]
    wrappers: Vec<String>,
}

/// A second version that we live with, `name@version`, and since when and why.
#[derive(Debug, Deserialize)]
struct Skip {
    #[serde(rename = "crate")]
    spec: String,
    #[serde(default)]
    reason: String,
}

#[derive(Debug, Deserialize)]
struct Licenses {
    allow: Vec<String>,
    #[serde(default)]
    exceptions: Vec<Exception>,
}

#[derive(Debug, Deserialize)]
struct Exception {
    #[serde(rename = "crate")]
    name: String,
    allow: Vec<String>,
}

impl Policy {
    pub(super) fn parse(text: &str) -> Result<Self> {
        toml::from_str(text).context("cannot read deny.toml")
    }

    pub(super) fn check(&self, workspace: &Workspace) -> Vec<Finding> {
        let mut texts = self.check_bans(workspace);
        texts.extend(self.check_duplicates(&workspace.foreign));
        for package in &workspace.foreign {
            texts.extend(self.check_license(package));
            texts.extend(check_source(package));
        }
        texts.extend(workspace.members.iter().flat_map(check_wildcards));
        texts.into_iter().map(|(rule, text)| Finding::on(Path::new("deny.toml"), rule, text)).collect()
    }

    /// Bans hold for tests too, as cargo-deny has it.
    fn check_bans(&self, workspace: &Workspace) -> Vec<(&'static str, String)> {
        let mut found = Vec::new();
        let name_of = |id: &str| all(workspace).find(|package| package.id == id).map(|package| package.name.as_str());
        for package in all(workspace) {
            for edge in workspace.resolved.get(&package.id).into_iter().flatten() {
                let Some(name) = name_of(&edge.pkg) else { continue };
                let ban = self.bans.deny.iter().find(|ban| ban.name == name);
                if ban.is_some_and(|ban| !ban.wrappers.contains(&package.name)) {
                    found.push(("banned", format!("{} depends on {name}, which is banned there", package.name)));
                }
            }
        }
        found
    }

    fn check_duplicates(&self, foreign: &[Package]) -> Vec<(&'static str, String)> {
        let mut versions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for package in foreign {
            versions.entry(&package.name).or_default().insert(&package.version);
        }
        let mut found = Vec::new();
        for (name, versions) in &versions {
            let counted: Vec<&str> = versions.iter().filter(|version| !self.skips(name, version)).copied().collect();
            if counted.len() > 1 {
                found.push(("duplicate", format!("{name} is there as {}", counted.join(" and "))));
            }
        }
        for skip in &self.bans.skip {
            found.extend(skip.fault(&versions).map(|fault| ("skip", format!("skip of {}: {fault}", skip.spec))));
        }
        found
    }

    fn skips(&self, name: &str, version: &str) -> bool {
        self.bans.skip.iter().any(|skip| skip.names() == Some((name, version)))
    }

    fn check_license(&self, package: &Package) -> Option<(&'static str, String)> {
        let exceptions = self.licenses.exceptions.iter().filter(|exception| exception.name == package.name);
        let allowed: Vec<&str> =
            exceptions.flat_map(|exception| &exception.allow).chain(&self.licenses.allow).map(String::as_str).collect();
        let text = match package.license.as_deref().map(|expression| spdx::is_allowed(expression, &allowed)) {
            Some(Ok(true)) => return None,
            Some(Ok(false)) => "is not allowed".to_owned(),
            Some(Err(fault)) => format!("cannot be read: {fault}"),
            None => "is not stated".to_owned(),
        };
        let license = package.license.as_deref().unwrap_or("none");
        Some(("licence", format!("the licence of {} {} ({license}) {text}", package.name, package.version)))
    }
}

impl Skip {
    fn names(&self) -> Option<(&str, &str)> {
        self.spec.split_once('@')
    }

    /// What is wrong with the entry itself.
    fn fault(&self, versions: &BTreeMap<&str, BTreeSet<&str>>) -> Option<&'static str> {
        let Some((name, version)) = self.names() else { return Some("write `name@version`") };
        if !versions.get(name).is_some_and(|versions| versions.len() > 1 && versions.contains(version)) {
            return Some("there is no such second version any more");
        }
        (!begins_with_date(&self.reason)).then_some("the reason begins with the date, `2030-12-31: …`")
    }
}

fn begins_with_date(reason: &str) -> bool {
    let Some((date, text)) = reason.split_once(": ") else { return false };
    let fits = |(index, byte): (usize, u8)| if index == 4 || index == 7 { byte == b'-' } else { byte.is_ascii_digit() };
    date.len() == 10 && date.bytes().enumerate().all(fits) && !text.is_empty()
}

fn check_source(package: &Package) -> Option<(&'static str, String)> {
    let source = package.source.as_deref().unwrap_or("a path outside the workspace");
    (source != REGISTRY).then(|| ("source", format!("{} comes from {source}", package.name)))
}

fn check_wildcards(package: &Package) -> Vec<(&'static str, String)> {
    let loose = package.dependencies.iter().filter(|dependency| dependency.req == "*" && dependency.path.is_none());
    loose.map(|dependency| ("wildcard", format!("{} takes any {}", package.name, dependency.name))).collect()
}

fn all(workspace: &Workspace) -> impl Iterator<Item = &Package> {
    workspace.members.iter().chain(&workspace.foreign)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layers::WRAPPED;
    use crate::workspace::{Dependency, PREFIX, Resolved};

    const TEXT: &str = r#"
[bans]
deny = [{ crate = "sled", wrappers = ["lighterman-checkpoint"] }, { crate = "openssl-sys" }]
skip = [{ crate = "a@1.0.0", reason = "2030-12-31: two users" }]
[licenses]
allow = ["MIT"]
exceptions = [{ crate = "roots", allow = ["CDLA-Permissive-2.0"] }]
"#;

    fn foreign(name: &str, version: &str) -> Package {
        Package {
            id: format!("{name}@{version}"),
            version: version.into(),
            license: Some("MIT".into()),
            source: Some(REGISTRY.into()),
            ..Package::planted(name, "")
        }
    }

    /// Rules broken where `user` depends on the foreign packages, and these are there.
    fn broken(policy: &str, user: &str, foreign: Vec<Package>) -> Vec<String> {
        let edge = |package: &Package| -> Resolved {
            serde_json::from_str(&format!(r#"{{"pkg": "{}", "dep_kinds": [{{"kind": null}}]}}"#, package.id)).unwrap()
        };
        let workspace = Workspace {
            root: "/ws".into(),
            target_dir: "/ws/target".into(),
            members: vec![Package::planted(user, "adapter")],
            resolved: BTreeMap::from([(user.to_owned(), foreign.iter().map(edge).collect())]),
            foreign,
        };
        let findings = Policy::parse(policy).unwrap().check(&workspace);
        findings.into_iter().map(|finding| finding.rule.to_owned()).collect()
    }

    fn twice() -> Vec<Package> {
        vec![foreign("a", "1.0.0"), foreign("a", "2.0.0")]
    }

    #[test]
    fn what_the_policy_allows_is_not_found() {
        let mut packages = twice();
        packages.push(foreign("sled", "0.34.7"));
        assert_eq!(broken(TEXT, "lighterman-checkpoint", packages), [""; 0]);
    }

    #[test]
    fn planted_violations_are_found() {
        let with = |package: Package| {
            let mut packages = twice();
            packages.push(package);
            packages
        };
        let gpl = Package { license: Some("GPL-3.0".into()), ..foreign("b", "1.0.0") };
        let bare = Package { license: None, ..foreign("b", "1.0.0") };
        let git = Package { source: Some("git+https://example.org/b".into()), ..foreign("b", "1.0.0") };
        let local = Package { source: None, ..foreign("b", "1.0.0") };
        let planted = [
            (with(foreign("sled", "0.34.7")), "banned"),
            (with(foreign("openssl-sys", "0.9.0")), "banned"),
            (with(foreign("a", "3.0.0")), "duplicate"),
            (with(gpl), "licence"),
            (with(bare), "licence"),
            (with(git), "source"),
            (with(local), "source"),
            (vec![foreign("a", "2.0.0")], "skip"),
        ];
        for (packages, rule) in planted {
            assert_eq!(broken(TEXT, "lighterman-docker", packages), [rule]);
        }
    }

    #[test]
    fn an_exception_is_for_its_crate_only() {
        let roots = |name: &str| {
            let package = Package { license: Some("CDLA-Permissive-2.0".into()), ..foreign(name, "1.0.0") };
            let mut packages = twice();
            packages.push(package);
            broken(TEXT, "lighterman-docker", packages)
        };
        assert_eq!(roots("roots"), [""; 0]);
        assert_eq!(roots("other"), ["licence"]);
    }

    #[test]
    fn an_undated_skip_is_found() {
        let undated = TEXT.replace("2030-12-31: two users", "two users");
        assert_eq!(broken(&undated, "lighterman-docker", twice()), ["skip"]);
    }

    #[test]
    fn a_wildcard_is_found() {
        let any = Dependency { req: "*".into(), ..Dependency::planted("a") };
        let package = Package { dependencies: vec![any], ..Package::planted("lighterman-x", "edge") };
        assert_eq!(check_wildcards(&package).len(), 1);
    }

    /// The table of layers and deny.toml must not drift apart.
    #[test]
    fn deny_toml_names_the_wrappers_of_the_table_of_layers() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../deny.toml");
        let policy = Policy::parse(&std::fs::read_to_string(path).unwrap()).unwrap();
        for (library, owner) in WRAPPED {
            let ban = policy.bans.deny.iter().find(|ban| ban.name == *library);
            let wrappers = ban.map(|ban| ban.wrappers.clone());
            assert_eq!(wrappers, Some(vec![format!("{PREFIX}{owner}")]), "{library}");
        }
    }
}
