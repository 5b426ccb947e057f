//! The static test program: built here, loaded as an image by those who are told its path.

use std::path::PathBuf;

use anyhow::Result;

use crate::artifacts::Artifacts;
use crate::command::Cmd;
use crate::elf::must_be_static;
use crate::workspace::{TARGET, Workspace};

/// Tells tests, examples, demo and benchmarks where the test program is.
pub(crate) const TESTBOX_ENV: &str = "LIGHTERMAN_TESTBOX";

const PACKAGE: &str = "lighterman-testbox";

/// Builds it and returns its path.
pub(crate) fn build(workspace: &Workspace) -> Result<PathBuf> {
    let command = linked_statically(Cmd::cargo("build").args(["--package", PACKAGE, "--profile", "testbox"]));
    let artifacts = Artifacts::build(workspace, command)?;
    let path = artifacts.bin(PACKAGE, "testbox")?.to_owned();
    must_be_static(&path)?;
    Ok(path)
}

/// For the explicit target: without it the flag would reach procedural macros, which cannot be static.
pub(crate) fn linked_statically(command: Cmd) -> Cmd {
    let given = std::env::var("RUSTFLAGS").unwrap_or_default();
    let flags = format!("{given} -C target-feature=+crt-static");
    command
        .args(["--target", TARGET])
        .env("RUSTFLAGS", flags.trim())
        // Would win over RUSTFLAGS.
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_static_build_names_target_and_flag() {
        let line = linked_statically(Cmd::new("cargo").arg("build")).line();
        assert!(line.contains("target-feature=+crt-static"), "{line}");
        assert!(line.ends_with("cargo build --target x86_64-unknown-linux-gnu"), "{line}");
    }
}
