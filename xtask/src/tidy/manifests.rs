//! Manifests: lints and package fields inherited, dependencies from the workspace's list, caret versions.

use anyhow::{Context as _, Result};
use toml::{Table, Value};

use super::{TextFile, order};
use crate::finding::Finding;

/// Fields that every package takes from the workspace.
const INHERITED: &[&str] = &["version", "edition", "rust-version", "license", "repository", "publish"];

/// Pinned, not caret: the newest release of sled is an alpha (ADR 0003).
const PINNED: &[&str] = &["sled"];

pub(super) fn check(file: &TextFile) -> Result<Vec<Finding>> {
    if !file.path.ends_with("Cargo.toml") {
        return Ok(Vec::new());
    }
    let manifest: Table = file.text.parse().with_context(|| format!("cannot read {}", file.path.display()))?;
    let mut texts = Vec::new();
    if let Some(package) = manifest.get("package").and_then(Value::as_table) {
        texts.extend(check_package(&manifest, package));
    }
    if let Some(dependencies) = manifest.get("workspace").and_then(|workspace| workspace.get("dependencies")) {
        texts.extend(check_versions(dependencies));
    }
    let on_whole = texts.into_iter().map(|text| Finding::on(&file.path, "manifest", text));
    Ok(on_whole.chain(order::check(&file.path, &file.text)).collect())
}

fn check_package(manifest: &Table, package: &Table) -> Vec<String> {
    let mut texts = Vec::new();
    if !manifest.get("lints").is_some_and(is_inherited) {
        texts.push("`[lints] workspace = true` is missing".to_owned());
    }
    for field in INHERITED {
        if !package.get(*field).is_some_and(is_inherited) {
            texts.push(format!("`{field}.workspace = true` is missing"));
        }
    }
    texts.extend(check_description(package.get("description").and_then(Value::as_str)));
    for table in ["dependencies", "dev-dependencies", "build-dependencies"] {
        for (name, dependency) in manifest.get(table).and_then(Value::as_table).into_iter().flatten() {
            if !is_inherited(dependency) {
                texts.push(format!("{table}: `{name}` has to come from `[workspace.dependencies]`"));
            }
        }
    }
    texts
}

fn is_inherited(value: &Value) -> bool {
    value.get("workspace").and_then(Value::as_bool) == Some(true)
}

fn check_description(description: Option<&str>) -> Option<String> {
    let text = description.unwrap_or_default();
    if text.is_empty() {
        return Some("the description is missing".to_owned());
    }
    if text.ends_with('.') || !text.starts_with(char::is_uppercase) {
        return Some("the description begins with a capital and has no full stop".to_owned());
    }
    None
}

/// Caret requirements only; our own crates by path.
fn check_versions(dependencies: &Value) -> Vec<String> {
    let mut texts = Vec::new();
    for (name, dependency) in dependencies.as_table().into_iter().flatten() {
        if dependency.get("path").is_some() {
            continue;
        }
        let version = dependency.as_str().or_else(|| dependency.get("version").and_then(Value::as_str));
        let is_caret = version.is_some_and(|version| version.starts_with(|c: char| c.is_ascii_digit()));
        let is_pinned = PINNED.contains(&name.as_str()) && version.is_some_and(|version| version.starts_with('='));
        if !(is_caret || is_pinned) {
            texts.push(format!("`{name}` needs a caret version, not {version:?}"));
        }
    }
    texts
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"
[package]
name = "lighterman-x"
description = "Planted manifest"
version.workspace = true
edition.workspace = true
rust-version.workspace = true
license.workspace = true
repository.workspace = true
publish.workspace = true

[lints]
workspace = true

[dependencies]
lighterman-ids.workspace = true
lighterman-view.workspace = true
bytes.workspace = true
tokio = { workspace = true, features = [
    "rt",
    "time",
] }

[dev-dependencies]
insta.workspace = true
"#;

    fn found(text: &str) -> Vec<String> {
        let findings = check(&TextFile::planted("crates/x/Cargo.toml", text)).unwrap();
        findings.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_good_manifest_passes() {
        assert_eq!(found(GOOD), [""; 0]);
        assert_eq!(check(&TextFile::planted("crates/x/other.toml", "")).unwrap(), []);
    }

    #[test]
    fn planted_faults_are_found_one_by_one() {
        let faults = [
            ("[lints]\nworkspace = true", "[lints]\nclippy = {}", "`[lints] workspace = true`"),
            ("[lints]\nworkspace = true", "", "`[lints] workspace = true`"),
            ("edition.workspace = true", "edition = \"2024\"", "`edition.workspace = true`"),
            ("license.workspace = true\n", "", "`license.workspace = true`"),
            ("description = \"Planted manifest\"\n", "", "description"),
            ("Planted manifest", "Planted manifest.", "full stop"),
            ("Planted manifest", "planted manifest", "capital"),
            ("bytes.workspace = true", "bytes = \"1\"", "`bytes` has to come from"),
            ("bytes.workspace = true", "zip.workspace = true", "`tokio` stands after `zip`"),
            ("lighterman-ids.workspace = true\n", "", ""),
            ("lighterman-view", "lighterman-a", "`lighterman-a` stands after `lighterman-ids`"),
            (
                "insta.workspace = true",
                "insta.workspace = true\nlighterman-ids.workspace = true",
                "stands after `insta`",
            ),
        ];
        for (good, bad, expected) in faults {
            assert!(GOOD.contains(good), "{good}");
            let found = found(&GOOD.replace(good, bad));
            let count = usize::from(!expected.is_empty());
            assert_eq!(found.len(), count, "{bad}: {found:?}");
            assert!(found.iter().all(|text| text.contains(expected)), "{bad}: {found:?}");
        }
    }

    #[test]
    fn versions_of_the_workspace_are_caret_but_for_the_pinned() {
        let root = |line: &str| found(&format!("[workspace.dependencies]\n{line}\n"));
        for good in ["a = \"1\"", "a = { version = \"0.2\" }", "sled = \"=0.34.7\"", "lighterman-x = { path = \"x\" }"]
        {
            assert_eq!(root(good), [""; 0], "{good}");
        }
        for bad in ["a = \"*\"", "a = \">=1\"", "a = \"=1.0\"", "a = { git = \"x\" }"] {
            assert_eq!(root(bad).len(), 1, "{bad}");
        }
    }
}
