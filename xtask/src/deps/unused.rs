//! Dependencies that nothing uses: the crate's name stands nowhere in the sources.

use anyhow::Result;

use crate::finding::Finding;
use crate::source::SourceFile;
use crate::workspace::{Dependency, Kind, Package, Workspace};

/// Folders that tests and examples live in; everything else of a package is what ships.
const TEST_FOLDERS: &[&str] = &["tests", "examples", "benches"];

pub(super) fn check(workspace: &Workspace) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for package in &workspace.members {
        let files = SourceFile::all(package.dir(), package.dir())?;
        let path = workspace.relative(&package.manifest_path);
        let texts = check_package(package, &files);
        findings.extend(texts.into_iter().map(|text| Finding::on(path, "unused-dependency", text)));
    }
    Ok(findings)
}

fn check_package(package: &Package, files: &[SourceFile]) -> Vec<String> {
    let unused = package.dependencies.iter().filter(|dependency| !is_used(dependency, files));
    unused
        .map(|dependency| match dependency.kind {
            None => format!("nothing outside tests uses {}", dependency.name),
            Some(Kind::Dev | Kind::Build) => format!("nothing uses {}", dependency.name),
        })
        .collect()
}

/// In a file where the dependency can be used. Documentation counts: its examples are tests.
fn is_used(dependency: &Dependency, files: &[SourceFile]) -> bool {
    let name = dependency.name.replace('-', "_");
    let may_use = |file: &&SourceFile| match dependency.kind {
        None => !TEST_FOLDERS.iter().any(|folder| file.path.starts_with(folder)),
        Some(Kind::Dev) => true,
        Some(Kind::Build) => file.path.ends_with("build.rs"),
    };
    files.iter().filter(may_use).any(|file| names(&file.text, &name))
}

fn names(text: &str, name: &str) -> bool {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|word| word == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(kind: Option<Kind>, path: &str, text: &str) -> usize {
        let dependency = Dependency { kind, ..Dependency::planted("futures-core") };
        let package = Package { dependencies: vec![dependency], ..Package::planted("lighterman-x", "edge") };
        check_package(&package, &[SourceFile { path: path.into(), text: text.into() }]).len()
    }

    #[test]
    fn a_dependency_counts_as_used_where_it_can_be_used() {
        let used = "use futures_core::Stream;";
        assert_eq!(found(None, "src/lib.rs", used), 0);
        assert_eq!(found(None, "src/lib.rs", "use futures_core_x::Stream;"), 1);
        assert_eq!(found(None, "tests/it.rs", used), 1, "ought to be a dev-dependency");
        assert_eq!(found(Some(Kind::Dev), "tests/it.rs", used), 0);
        assert_eq!(found(Some(Kind::Dev), "tests/it.rs", ""), 1);
        assert_eq!(found(Some(Kind::Build), "src/lib.rs", used), 1);
        assert_eq!(found(Some(Kind::Build), "build.rs", used), 0);
    }
}
