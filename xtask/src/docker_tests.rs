//! `cargo xtask docker-tests`: the tests on a real Docker engine, those for root too where we are root.

use anyhow::{Result, anyhow};

use crate::artifacts::Artifacts;
use crate::ci::{BIN_ENV, Counts, Suite, WHOLE};
use crate::command::Cmd;
use crate::host::Host;
use crate::sheet::Sheet;
use crate::testbox::{self, TESTBOX_ENV};
use crate::workspace::Workspace;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The counts of `ci --full`.
    #[arg(long)]
    full: bool,
    /// Arguments of the runner: names of tests, for example.
    #[arg(last = true)]
    rest: Vec<String>,
}

pub(crate) fn run(args: &Args, sheet: &mut Sheet) -> Result<()> {
    let host = Host::look();
    let engine = host.engine.as_ref().map_err(|why| anyhow!("{why}"))?;
    println!("Docker {} (API {})", engine.version, engine.api_version);
    let workspace = Workspace::load()?;
    let testbox = sheet.must("build testbox", || testbox::build(&workspace))?;
    let product = sheet.must("build lighterman", || {
        let artifacts = Artifacts::build(&workspace, Cmd::cargo("build").args(WHOLE).arg("--bins"))?;
        Ok(artifacts.bin("lighterman", "lighterman")?.to_owned())
    })?;
    let mut run_suite = |name: &str, suite: Suite| {
        for command in suite.commands(Counts::of(args.full), host.has_nextest, &args.rest) {
            sheet.attempt(name, || command.env(TESTBOX_ENV, &testbox).env(BIN_ENV, &product).run());
        }
    };
    run_suite("engine", Suite::Engine);
    if host.is_root {
        run_suite("engine as root", Suite::EngineAsRoot);
    } else {
        sheet.not_run("engine as root", "needs root", host.is_ci);
    }
    Ok(())
}
