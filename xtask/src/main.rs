//! `cargo xtask`: one entry for builds, checks, tests, measurements and releases.
//!
//! Nothing but Rust is needed to begin; `cargo xtask setup` installs what some steps want more. Each sub-command is
//! a module with a `run`; it prints the commands that it starts and sums up at the end in a table with times.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a tool for the terminal")]

mod artifacts;
mod bench;
mod ci;
mod command;
mod demo;
mod deps;
mod dist;
mod docker_tests;
mod elf;
mod engine;
mod finding;
mod host;
mod interrupt;
mod layers;
mod replay;
mod settings;
mod setup;
mod sheet;
mod sim;
mod source;
mod testbox;
mod tidy;
mod workspace;

use std::path::Path;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::{Parser, Subcommand};

use crate::sheet::Sheet;

/// Builds, checks, tests, measurements and releases of Lighterman.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Everything that CI runs, in that order.
    Ci(ci::Args),
    /// Run the example task to its end on the real engine, or on the modelled one where there is none.
    Demo(demo::Args),
    /// Print the crate graph; fail on a forbidden edge, clock, or decision outside the core.
    Layers,
    /// House rules that no compiler checks: module docs, manifests, changelog, words, generated pages.
    Tidy(tidy::Args),
    /// Bans, licences, sources, duplicates and unused dependencies.
    Deps(deps::Args),
    /// Seeded simulation.
    Sim(sim::Args),
    /// Step through a recorded run of the simulation.
    Replay(replay::Args),
    /// Tests on a real Docker engine.
    DockerTests(docker_tests::Args),
    /// Load the image of the example task into Docker, or remove it.
    Testbox(testbox::Args),
    /// Measurements against the bare engine floor.
    Bench(bench::Args),
    /// Static, stripped release binary with its sizes and checksum.
    Dist,
    /// Install what some steps need.
    Setup(setup::Args),
}

fn main() -> ExitCode {
    let mut sheet = Sheet::default();
    let cli = Cli::parse();
    let result = at_root().and_then(|()| run(cli.task, &mut sheet));
    sheet.print();
    match result {
        Ok(()) if !sheet.has_failed() => ExitCode::SUCCESS,
        Ok(()) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Works from the root of the workspace, wherever it was started. Paths among the arguments are made absolute while
/// they are read, which is before.
fn at_root() -> anyhow::Result<()> {
    let own = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
    let root = Path::new(&own).parent().context("xtask lies at the top of the workspace")?;
    std::env::set_current_dir(root).with_context(|| format!("cannot work in {}", root.display()))
}

fn run(task: Task, sheet: &mut Sheet) -> anyhow::Result<()> {
    match task {
        Task::Ci(args) => ci::run(&args, sheet),
        Task::Demo(args) => demo::run(&args, sheet),
        Task::Layers => layers::run(sheet),
        Task::Tidy(args) => tidy::run(&args, sheet),
        Task::Deps(args) => deps::run(&args, sheet),
        Task::Sim(args) => sim::run(&args, sheet),
        Task::Replay(args) => replay::run(&args, sheet),
        Task::DockerTests(args) => docker_tests::run(&args, sheet),
        Task::Testbox(args) => testbox::run(&args, sheet),
        Task::Bench(args) => bench::run(&args, sheet),
        Task::Dist => dist::run(sheet),
        Task::Setup(args) => setup::run(&args, sheet),
    }
}
