//! `cargo xtask sim`: seeded simulation of engine, store, clock and runtime.

use anyhow::Result;

use crate::command::Cmd;
use crate::sheet::Sheet;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// How many seeds.
    #[arg(long, default_value_t = 1_000)]
    seeds: u64,
    /// The first seed.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Further arguments of the simulator.
    #[arg(last = true)]
    rest: Vec<String>,
}

pub(crate) fn run(args: &Args, sheet: &mut Sheet) -> Result<()> {
    let command = simulator("sim").args(["--seeds", &args.seeds.to_string(), "--seed", &args.seed.to_string()]);
    sheet.attempt("simulation", || command.args(&args.rest).run());
    Ok(())
}

/// One of the programs of the simulation, in the dev profile: the core is optimised there too.
pub(crate) fn simulator(bin: &str) -> Cmd {
    Cmd::cargo("run").args(["--quiet", "--package", "lighterman-sim", "--bin", bin, "--"])
}
