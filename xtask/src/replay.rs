//! `cargo xtask replay FILE`: steps through a recorded run of the simulation.

use std::path::PathBuf;

use anyhow::Result;

use crate::sheet::Sheet;
use crate::sim::simulator;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The recording, as a failed seed names it.
    #[arg(value_parser = absolute)]
    file: PathBuf,
    /// Further arguments of the replayer.
    #[arg(last = true)]
    rest: Vec<String>,
}

fn absolute(file: &str) -> std::io::Result<PathBuf> {
    std::path::absolute(file)
}

pub(crate) fn run(args: &Args, sheet: &mut Sheet) -> Result<()> {
    sheet.attempt("replay", || simulator("replay").arg(&args.file).args(&args.rest).run());
    Ok(())
}
