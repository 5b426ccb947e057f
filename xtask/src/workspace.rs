//! The workspace as `cargo metadata` tells it: our packages with their layers, and all that they depend on.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde::Deserialize;

use crate::command::Cmd;
use crate::host::is_ci;

/// The prefix of our packages: the folder's name follows.
pub(crate) const PREFIX: &str = "lighterman-";

/// The only target: released, tested, and looked at by the checks of dependencies.
pub(crate) const TARGET: &str = "x86_64-unknown-linux-gnu";

/// Our packages and the foreign ones.
#[derive(Debug)]
pub(crate) struct Workspace {
    pub(crate) root: PathBuf,
    pub(crate) target_dir: PathBuf,
    /// In the order of their names.
    pub(crate) members: Vec<Package>,
    pub(crate) foreign: Vec<Package>,
    /// Package id → what it is built against, as cargo resolved it for [`TARGET`].
    pub(crate) resolved: BTreeMap<String, Vec<Resolved>>,
}

/// A package, ours or foreign.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct Package {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) manifest_path: PathBuf,
    pub(crate) description: Option<String>,
    pub(crate) license: Option<String>,
    /// Where it comes from; `None` for a path.
    pub(crate) source: Option<String>,
    pub(crate) dependencies: Vec<Dependency>,
    #[serde(default)]
    pub(crate) targets: Vec<Target>,
    #[serde(default)]
    pub(crate) metadata: Option<Metadata>,
}

/// A dependency as the manifest states it.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    pub(crate) req: String,
    pub(crate) kind: Option<Kind>,
    pub(crate) optional: bool,
    pub(crate) uses_default_features: bool,
    /// Set for a path dependency, which is one of ours.
    pub(crate) path: Option<PathBuf>,
}

/// A dependency that is not a normal one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    Dev,
    Build,
}

/// Library, binary, example, test or build script.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct Target {
    pub(crate) name: String,
    pub(crate) kind: Vec<String>,
}

/// An edge of cargo's resolution.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Resolved {
    pub(crate) pkg: String,
    dep_kinds: Vec<DepKind>,
}

#[derive(Clone, Debug, Deserialize)]
struct DepKind {
    kind: Option<Kind>,
}

/// `[package.metadata]`.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct Metadata {
    lighterman: Option<Ours>,
}

/// `[package.metadata.lighterman]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Ours {
    layer: Option<String>,
    /// Names of examples that need a Docker engine.
    #[serde(default)]
    needs_engine: Vec<String>,
}

#[derive(Deserialize)]
struct CargoMetadata {
    packages: Vec<Package>,
    workspace_members: Vec<String>,
    workspace_root: PathBuf,
    target_directory: PathBuf,
    resolve: Resolve,
}

#[derive(Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    id: String,
    deps: Vec<Resolved>,
}

impl Workspace {
    /// Asks cargo. In CI the lock file must be up to date.
    pub(crate) fn load() -> Result<Self> {
        let mut command = Cmd::cargo("metadata").args(["--format-version", "1", "--all-features"]);
        command = command.args(["--filter-platform", TARGET]);
        if is_ci() {
            command = command.arg("--locked");
        }
        let json = command.output_quietly()?;
        let metadata: CargoMetadata = serde_json::from_slice(&json).context("cannot read what cargo metadata says")?;
        Ok(Self::sort(metadata))
    }

    fn sort(metadata: CargoMetadata) -> Self {
        let is_member = |package: &Package| metadata.workspace_members.contains(&package.id);
        let (mut members, foreign): (Vec<_>, Vec<_>) = metadata.packages.into_iter().partition(is_member);
        members.sort_by(|a, b| a.name.cmp(&b.name));
        Self {
            root: metadata.workspace_root,
            target_dir: metadata.target_directory,
            members,
            foreign,
            resolved: metadata.resolve.nodes.into_iter().map(|node| (node.id, node.deps)).collect(),
        }
    }

    pub(crate) fn member(&self, name: &str) -> Option<&Package> {
        self.members.iter().find(|package| package.name == name)
    }

    /// The path as seen from the root, for messages.
    pub(crate) fn relative<'a>(&self, path: &'a Path) -> &'a Path {
        path.strip_prefix(&self.root).unwrap_or(path)
    }

    /// Reads a file of the workspace.
    pub(crate) fn read(&self, relative: &str) -> Result<String> {
        read(&self.root.join(relative))
    }
}

impl Package {
    /// The folder's name: the package's without our prefix.
    pub(crate) fn folder(&self) -> &str {
        self.name.strip_prefix(PREFIX).unwrap_or(&self.name)
    }

    pub(crate) fn dir(&self) -> &Path {
        self.manifest_path.parent().expect("a manifest has a folder")
    }

    /// The layer that the manifest states.
    pub(crate) fn layer(&self) -> Option<&str> {
        self.metadata.as_ref()?.lighterman.as_ref()?.layer.as_deref()
    }

    /// Whether this example needs a Docker engine, as the manifest says.
    pub(crate) fn needs_engine(&self, example: &str) -> bool {
        let ours = self.metadata.as_ref().and_then(|metadata| metadata.lighterman.as_ref());
        ours.is_some_and(|ours| ours.needs_engine.iter().any(|name| name == example))
    }

    pub(crate) fn examples_that_need_an_engine(&self) -> &[String] {
        let ours = self.metadata.as_ref().and_then(|metadata| metadata.lighterman.as_ref());
        ours.map_or(&[], |ours| &ours.needs_engine)
    }

    /// Names of the targets of this kind (`bin`, `example` …).
    pub(crate) fn targets_of(&self, kind: &str) -> impl Iterator<Item = &str> {
        self.targets.iter().filter(move |target| target.kind.iter().any(|k| k == kind)).map(|target| &*target.name)
    }

    /// A package for tests of the checks.
    #[cfg(test)]
    pub(crate) fn planted(name: &str, layer: &str) -> Self {
        let ours = Ours { layer: Some(layer.into()), needs_engine: Vec::new() };
        Self {
            id: name.into(),
            name: name.into(),
            version: "0.1.0".into(),
            manifest_path: format!("/ws/crates/{}/Cargo.toml", name.trim_start_matches(PREFIX)).into(),
            description: Some("Planted".into()),
            metadata: Some(Metadata { lighterman: Some(ours) }),
            ..Self::default()
        }
    }
}

impl Dependency {
    /// A dependency for tests of the checks: normal, without default features.
    #[cfg(test)]
    pub(crate) fn planted(name: &str) -> Self {
        let path = name.starts_with(PREFIX).then(|| PathBuf::from("/ws"));
        Self { name: name.into(), req: "^1".into(), path, ..Self::default() }
    }
}

impl Resolved {
    /// Whether it is there outside tests and build scripts.
    pub(crate) fn is_normal(&self) -> bool {
        self.dep_kinds.iter().any(|kind| kind.kind.is_none())
    }
}

pub(crate) fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

/// All files under `dir` with this extension, sorted; none where the folder does not exist.
pub(crate) fn files_under(dir: &Path, extension: &str) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut open = if dir.is_dir() { vec![dir.to_owned()] } else { Vec::new() };
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(&dir).with_context(|| format!("cannot list {}", dir.display()))? {
            let path = entry?.path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|found| found == extension) {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}
