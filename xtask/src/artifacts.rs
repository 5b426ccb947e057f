//! What a build has made, as cargo tells it: nobody guesses paths below the target directory.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde::Deserialize;

use crate::command::Cmd;
use crate::workspace::{Target, Workspace};

/// The programs of one build.
#[derive(Debug, Default)]
pub(crate) struct Artifacts {
    programs: Vec<Program>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Program {
    pub(crate) package: String,
    /// `bin`, `example` …
    pub(crate) kind: String,
    pub(crate) name: String,
    pub(crate) path: PathBuf,
}

/// A line of `--message-format=json`, of the kinds that we read.
#[derive(Deserialize)]
#[serde(tag = "reason", rename_all = "kebab-case")]
enum Message {
    CompilerArtifact {
        package_id: String,
        target: Target,
        profile: Profile,
        executable: Option<PathBuf>,
    },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct Profile {
    test: bool,
}

impl Artifacts {
    /// Runs a `cargo build` and reads what it made. Warnings and errors go to the terminal as always.
    pub(crate) fn build(workspace: &Workspace, command: Cmd) -> Result<Self> {
        let out = command.arg("--message-format=json-render-diagnostics").output()?;
        Self::parse(workspace, &String::from_utf8(out).context("cargo's messages are not UTF-8")?)
    }

    fn parse(workspace: &Workspace, messages: &str) -> Result<Self> {
        let mut programs = Vec::new();
        for line in messages.lines() {
            let message =
                serde_json::from_str(line).with_context(|| format!("cannot read cargo's message `{line}`"))?;
            if let Message::CompilerArtifact { package_id, target, profile, executable: Some(path) } = message
                && !profile.test
                && let Some(package) = workspace.members.iter().find(|member| member.id == package_id)
            {
                let kind = target.kind.first().cloned().unwrap_or_default();
                programs.push(Program { package: package.name.clone(), kind, name: target.name, path });
            }
        }
        Ok(Self { programs })
    }

    /// The binary of this package and name.
    pub(crate) fn bin(&self, package: &str, name: &str) -> Result<&Path> {
        let is_it = |program: &&Program| program.package == package && program.kind == "bin" && program.name == name;
        let program = self.programs.iter().find(is_it);
        program.map(|program| program.path.as_path()).with_context(|| format!("{package} has no binary `{name}`"))
    }

    pub(crate) fn examples(&self) -> impl Iterator<Item = &Program> {
        self.programs.iter().filter(|program| program.kind == "example")
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::workspace::Package;

    #[test]
    fn programs_are_read_and_test_binaries_and_foreign_ones_are_not() {
        let workspace = Workspace {
            root: "/ws".into(),
            target_dir: "/ws/target".into(),
            members: vec![Package::planted("lighterman-sim", "proof")],
            foreign: Vec::new(),
            resolved: BTreeMap::new(),
        };
        let artifact = |package: &str, kind: &str, name: &str, test: bool| {
            format!(
                r#"{{"reason":"compiler-artifact","package_id":"{package}","target":{{"name":"{name}","kind":["{kind}"]}},"profile":{{"test":{test}}},"executable":"/t/{name}"}}"#
            )
        };
        let messages = [
            artifact("lighterman-sim", "bin", "sim", false),
            artifact("lighterman-sim", "bin", "sim", true),
            artifact("lighterman-sim", "example", "show", false),
            artifact("elsewhere", "bin", "sim", false),
            r#"{"reason":"build-script-executed","package_id":"x"}"#.to_owned(),
            r#"{"reason":"build-finished","success":true}"#.to_owned(),
        ];
        let artifacts = Artifacts::parse(&workspace, &messages.join("\n")).unwrap();
        assert_eq!(artifacts.programs.len(), 2);
        assert_eq!(artifacts.bin("lighterman-sim", "sim").unwrap(), Path::new("/t/sim"));
        assert_eq!(artifacts.examples().map(|program| program.name.as_str()).collect::<Vec<_>>(), ["show"]);
        let error = artifacts.bin("lighterman-sim", "replay").unwrap_err().to_string();
        assert_eq!(error, "lighterman-sim has no binary `replay`");
        assert!(Artifacts::parse(&workspace, "not json").is_err());
    }
}
