//! `cargo xtask dist`: the release binary, static and stripped, with its sizes and checksum.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::artifacts::Artifacts;
use crate::command::Cmd;
use crate::elf::must_be_static;
use crate::sheet::Sheet;
use crate::testbox::linked_statically;
use crate::workspace::{TARGET, Workspace};

/// P1 of the performance goals, in bytes.
const MAX_BYTES: u64 = 15_000_000;

pub(crate) fn run(sheet: &mut Sheet) -> Result<()> {
    let workspace = Workspace::load()?;
    let built = sheet.must("build release", || build(&workspace))?;
    let released = sheet.must("copy", || copy(&workspace, &built))?;
    sheet.attempt("static", || must_be_static(&released));
    sheet.attempt("starts", || Cmd::new(&released).arg("--version").run());
    sheet.attempt("checksum", || checksum(&released));
    sheet.attempt("size", || size(&released));
    Ok(())
}

/// Stripped by the release profile.
fn build(workspace: &Workspace) -> Result<PathBuf> {
    let command = linked_statically(Cmd::cargo("build").args(["--release", "--package", "lighterman"]));
    Ok(Artifacts::build(workspace, command)?.bin("lighterman", "lighterman")?.to_owned())
}

fn copy(workspace: &Workspace, built: &Path) -> Result<PathBuf> {
    let version = &workspace.member("lighterman").context("the workspace has no package `lighterman`")?.version;
    let dir = workspace.target_dir.join("dist");
    fs::create_dir_all(&dir)?;
    let released = dir.join(format!("lighterman-{version}-{TARGET}"));
    fs::copy(built, &released).with_context(|| format!("cannot write {}", released.display()))?;
    Ok(released)
}

/// `NAME.sha256` in the form that `sha256sum --check` reads.
fn checksum(released: &Path) -> Result<()> {
    let line = Cmd::new("sha256sum").arg(released).output()?;
    let line = String::from_utf8(line)?;
    let digest = line.split_whitespace().next().context("sha256sum printed nothing")?;
    let name = released.file_name().context("the binary has no name")?.to_string_lossy();
    let text = format!("{digest}  {name}\n");
    print!("{text}");
    let mut path = released.as_os_str().to_owned();
    path.push(".sha256");
    fs::write(path, text)?;
    Ok(())
}

fn size(released: &Path) -> Result<()> {
    let bytes = fs::metadata(released)?.len();
    println!(
        "{:<40} {:>12}\n{:<40} {bytes:>12}\n{:<40} {MAX_BYTES:>12}",
        "what", "bytes", "binary, stripped", "allowed at most"
    );
    anyhow::ensure!(bytes <= MAX_BYTES, "{bytes} bytes are more than {MAX_BYTES}");
    Ok(())
}
