//! `cargo xtask testbox`: the static test program, built here and loaded into Docker as the image of the example task.

use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::artifacts::Artifacts;
use crate::command::Cmd;
use crate::elf::must_be_static;
use crate::engine::Engine;
use crate::sheet::Sheet;
use crate::workspace::{TARGET, Workspace};

/// Tells tests, examples, demo and benchmarks where the test program is.
pub(crate) const TESTBOX_ENV: &str = "LIGHTERMAN_TESTBOX";

/// The image, under the name that the loader gives it.
pub(crate) const IMAGE: &str = "lighterman/testbox:latest";

const PACKAGE: &str = "lighterman-testbox";

/// The package and the program that loads the image through the engine's API.
const LOADER: [&str; 2] = ["lighterman-docker-tests", "load-testbox"];

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Remove the image instead.
    #[arg(long)]
    remove: bool,
}

pub(crate) fn run(args: &Args, sheet: &mut Sheet) -> Result<()> {
    let engine = Engine::find()?;
    if args.remove {
        sheet.attempt("remove", || remove(&engine));
        return Ok(());
    }
    let workspace = Workspace::load()?;
    let loader = sheet.must("build the loader", || {
        let command = Cmd::cargo("build").args(["--package", LOADER[0], "--bins"]);
        Ok(loader(&Artifacts::build(&workspace, command)?)?.to_owned())
    })?;
    let testbox = sheet.must("build testbox", || build(&workspace))?;
    if sheet.attempt("load", || load(&loader, &testbox)).is_some() {
        println!("{IMAGE} is in Docker; `cargo xtask testbox --remove` removes it.");
    }
    Ok(())
}

/// The program that loads the image.
pub(crate) fn loader(artifacts: &Artifacts) -> Result<&Path> {
    artifacts.bin(LOADER[0], LOADER[1])
}

pub(crate) fn load(loader: &Path, testbox: &Path) -> Result<()> {
    Cmd::new(loader).env(TESTBOX_ENV, testbox).run()
}

/// Says so where a container still uses it.
pub(crate) fn remove(engine: &Engine) -> Result<()> {
    if !engine.remove_image(IMAGE)? {
        println!("{IMAGE} stays: somebody else uses it.");
    }
    Ok(())
}

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
