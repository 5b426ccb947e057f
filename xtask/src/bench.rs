//! `cargo xtask bench`: measurements against the bare engine floor, in release; `--smoke` in the dev profile, once.

use anyhow::Result;

use crate::artifacts::Artifacts;
use crate::ci::BIN_ENV;
use crate::command::Cmd;
use crate::sheet::Sheet;
use crate::testbox::{self, TESTBOX_ENV};
use crate::workspace::Workspace;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only these cases (`P4`, `P12` …).
    cases: Vec<String>,
    /// See that it still works: dev profile, one repetition.
    #[arg(long)]
    smoke: bool,
    /// Further arguments of the benchmark program.
    #[arg(last = true)]
    rest: Vec<String>,
}

pub(crate) fn run(args: &Args, sheet: &mut Sheet) -> Result<()> {
    let workspace = Workspace::load()?;
    let testbox = sheet.must("build testbox", || testbox::build(&workspace))?;
    let artifacts = sheet.must("build", || Artifacts::build(&workspace, build(args.smoke)))?;
    let bench = artifacts.bin("lighterman-bench", "bench")?;
    let product = artifacts.bin("lighterman", "lighterman")?;
    let mut command = Cmd::new(bench).args(&args.cases).env(TESTBOX_ENV, testbox).env(BIN_ENV, product);
    if args.smoke {
        command = command.arg("--smoke");
    }
    sheet.attempt("bench", || command.args(&args.rest).run());
    Ok(())
}

fn build(smoke: bool) -> Cmd {
    let command = Cmd::cargo("build").args(["--package", "lighterman", "--package", "lighterman-bench", "--bins"]);
    if smoke { command } else { command.arg("--release") }
}
