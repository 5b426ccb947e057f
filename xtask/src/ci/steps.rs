//! The steps of CI as a table, in the order in which they run.

use std::time::Duration;

use anyhow::{Result, bail, ensure};

use super::plan::{Built, Need, Plan};
use super::tests_of::{Suite, WHOLE};
use crate::artifacts::{Artifacts, Program};
use crate::command::Cmd;
use crate::layers;
use crate::workspace::Package;
use crate::{demo, deps, testbox, tidy};

/// Steps that share a budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Group {
    BuildAndLint,
    UnitAndSimulation,
    Store,
    Engine,
    Bench,
}

impl Group {
    pub(super) const ALL: [Self; 5] =
        [Self::BuildAndLint, Self::UnitAndSimulation, Self::Store, Self::Engine, Self::Bench];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::BuildAndLint => "build and lint",
            Self::UnitAndSimulation => "unit and simulation",
            Self::Store => "store",
            Self::Engine => "real engine",
            Self::Bench => "bench smoke",
        }
    }

    /// On two cores, from an empty target directory.
    pub(super) fn budget(self) -> Duration {
        let minutes = match self {
            Self::BuildAndLint => 13,
            Self::UnitAndSimulation => 6,
            Self::Store => 4,
            Self::Engine => 10,
            Self::Bench => 3,
        };
        Duration::from_secs(minutes * 60)
    }
}

/// One step of CI.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) name: &'static str,
    pub(super) what: &'static str,
    pub(super) needs: &'static [Need],
    /// After this long the step is ended and has failed: some three times what it takes on two cores.
    minutes: u64,
    pub(super) group: Group,
    /// Only with `--full`.
    only_full: bool,
    pub(super) run: fn(&mut Plan) -> Result<()>,
}

impl Step {
    const fn new(name: &'static str, what: &'static str, minutes: u64, run: fn(&mut Plan) -> Result<()>) -> Self {
        Self { name, what, needs: &[], minutes, group: Group::BuildAndLint, only_full: false, run }
    }

    const fn in_group(self, group: Group) -> Self {
        Self { group, ..self }
    }

    const fn needs(self, needs: &'static [Need]) -> Self {
        Self { needs, ..self }
    }

    const fn only_full(self) -> Self {
        Self { only_full: true, ..self }
    }

    /// The counts of `--full` are up to ten times those of `ci`.
    pub(super) fn limit(&self, full: bool) -> Duration {
        Duration::from_secs(self.minutes * 60 * if full { 10 } else { 1 })
    }

    pub(super) fn is_for(&self, full: bool) -> bool {
        full || !self.only_full
    }

    pub(super) fn is_build(&self) -> bool {
        self.name == BUILD
    }

    pub(super) fn needs_build(&self) -> bool {
        self.needs.contains(&Need::Build)
    }
}

const BUILD: &str = "build";

/// Where the simulation begins to count its seeds.
const FIRST_SEED: u64 = 1;

pub(super) const STEPS: &[Step] = &[
    Step::new("format", "rustfmt changes nothing", 2, format),
    Step::new("lint", "clippy with warnings denied", 30, lint),
    Step::new("layers", "crate graph, clocks and decisions where they belong", 2, |plan| {
        layers::check(&plan.workspace)
    }),
    Step::new("tidy", "house rules", 2, |plan| tidy::check(&plan.workspace)),
    Step::new("deps", "our own reading of deny.toml, and unused dependencies", 2, |plan| deps::check(&plan.workspace)),
    Step::new("deny", "cargo-deny: bans, licences, sources", 5, |plan| plan.run(deps::deny(false)))
        .needs(&[Need::CargoDeny]),
    Step::new("alone", "each pure crate compiles without the features others switch on", 15, alone).only_full(),
    Step::new("docs", "rustdoc with warnings denied", 20, docs),
    Step::new(BUILD, "everything, and the static test program", 40, build),
    Step::new("unit", "unit, property and snapshot tests", 20, |plan| suite(plan, Suite::Unit))
        .in_group(Group::UnitAndSimulation)
        .needs(&[Need::Build]),
    Step::new("doctest", "examples in the documentation", 20, doctest).in_group(Group::UnitAndSimulation),
    Step::new("examples", "each crate's examples", 5, |plan| examples(plan, false))
        .in_group(Group::UnitAndSimulation)
        .needs(&[Need::Build]),
    Step::new("simulation", "seeds of the simulation", 20, simulation)
        .in_group(Group::UnitAndSimulation)
        .needs(&[Need::Build]),
    Step::new("determinism", "the same seeds twice, compared byte for byte", 5, determinism)
        .in_group(Group::UnitAndSimulation)
        .needs(&[Need::Build]),
    Step::new("store", "kills, bit flips, cut tails, growth", 12, |plan| suite(plan, Suite::Store))
        .in_group(Group::Store)
        .needs(&[Need::Build]),
    Step::new("store-root", "power cuts, full and failing disks, on file systems of their own", 12, |plan| {
        suite(plan, Suite::StoreAsRoot)
    })
    .in_group(Group::Store)
    .needs(&[Need::Build, Need::Root]),
    Step::new("engine", "tests on the real engine", 30, |plan| suite(plan, Suite::Engine))
        .in_group(Group::Engine)
        .needs(&[Need::Build, Need::Engine]),
    Step::new("engine-root", "tests with a second engine in its own namespace", 15, |plan| {
        suite(plan, Suite::EngineAsRoot)
    })
    .in_group(Group::Engine)
    .needs(&[Need::Build, Need::Engine, Need::Root]),
    Step::new("engine-examples", "examples that need an engine", 5, |plan| examples(plan, true))
        .in_group(Group::Engine)
        .needs(&[Need::Build, Need::Engine]),
    Step::new("demo", "the example task, to its end", 5, demonstrate)
        .in_group(Group::Engine)
        .needs(&[Need::Build, Need::Engine]),
    Step::new("bench", "the benchmarks still work (--smoke)", 15, bench)
        .in_group(Group::Bench)
        .needs(&[Need::Build, Need::Engine]),
];

fn format(plan: &mut Plan) -> Result<()> {
    plan.run(Cmd::cargo("fmt").args(["--all", "--check"]))?;
    // Freestanding, outside the workspace.
    plan.run(Cmd::new("rustfmt").args(["--check", "--edition", "2024", "bin/pause/pause.rs"]))
}

fn lint(plan: &mut Plan) -> Result<()> {
    plan.run(Cmd::cargo("clippy").args(WHOLE).args(["--all-targets", "--", "-D", "warnings"]))
}

fn alone(plan: &mut Plan) -> Result<()> {
    let is_pure = |package: &&Package| matches!(package.layer(), Some("vocabulary" | "decisions"));
    for package in plan.workspace.members.iter().filter(is_pure) {
        plan.run(Cmd::cargo("check").args(["--package", &package.name, "--lib"]))?;
    }
    Ok(())
}

fn docs(plan: &mut Plan) -> Result<()> {
    plan.run(Cmd::cargo("doc").args(WHOLE).arg("--no-deps").env("RUSTDOCFLAGS", "-D warnings"))
}

fn build(plan: &mut Plan) -> Result<()> {
    let artifacts = Artifacts::build(&plan.workspace, Cmd::cargo("build").args(WHOLE).arg("--all-targets"))?;
    let testbox = testbox::build(&plan.workspace)?;
    plan.built = Some(Built { artifacts, testbox });
    Ok(())
}

/// Runs all commands of the suite, and fails if one of them did.
fn suite(plan: &mut Plan, suite: Suite) -> Result<()> {
    let mut failed = Vec::new();
    for command in suite.commands(plan.counts, plan.host.has_nextest, &[]) {
        if let Err(error) = plan.run(plan.told(command)?) {
            failed.push(format!("{error:#}"));
        }
    }
    ensure!(failed.is_empty(), "{}", failed.join("; "));
    Ok(())
}

fn doctest(plan: &mut Plan) -> Result<()> {
    plan.run(Cmd::cargo("test").args(WHOLE).arg("--doc"))
}

fn examples(plan: &mut Plan, with_engine: bool) -> Result<()> {
    let needs_engine = |program: &Program| {
        let package = plan.workspace.member(&program.package);
        package.is_some_and(|package| package.needs_engine(&program.name))
    };
    let mut failed = Vec::new();
    for example in plan.built()?.artifacts.examples().filter(|program| needs_engine(program) == with_engine) {
        if let Err(error) = plan.run(plan.told(Cmd::new(&example.path))?) {
            failed.push(format!("{error:#}"));
        }
    }
    ensure!(failed.is_empty(), "{}", failed.join("; "));
    Ok(())
}

fn simulation(plan: &mut Plan) -> Result<()> {
    plan.run(simulator(plan, plan.counts.seeds)?)
}

/// Two processes each: what differs from process to process, like the seed of a hash map, would show.
fn determinism(plan: &mut Plan) -> Result<()> {
    let mut compared = 0;
    for seed in FIRST_SEED..FIRST_SEED + u64::from(plan.counts.seeds_twice) {
        let (first, second) = (event_log(plan, seed, "first")?, event_log(plan, seed, "second")?);
        ensure!(!first.is_empty(), "the event log of seed {seed} is empty: there was nothing to compare");
        if let Some(line) = first_difference(&first, &second) {
            bail!("two runs of seed {seed} differ from line {line} on");
        }
        compared += first.len();
    }
    println!("{compared} bytes of event log, twice the same");
    Ok(())
}

/// The event log of one seed, run in a process of its own.
fn event_log(plan: &Plan, seed: u64, which: &str) -> Result<Vec<u8>> {
    let sim = plan.built()?.artifacts.bin("lighterman-sim", "sim")?;
    let file = plan.workspace.target_dir.join(format!("determinism-{which}.log"));
    let arguments = ["--seeds".into(), "1".into(), "--seed".into(), seed.to_string(), "--log".into()];
    plan.output(Cmd::new(sim).args(arguments).arg(&file))?;
    let log = std::fs::read(&file)?;
    std::fs::remove_file(&file)?;
    Ok(log)
}

fn simulator(plan: &Plan, seeds: u32) -> Result<Cmd> {
    let sim = plan.built()?.artifacts.bin("lighterman-sim", "sim")?;
    Ok(Cmd::new(sim).args(["--seeds", &seeds.to_string(), "--seed", &FIRST_SEED.to_string()]))
}

/// The first line (from 1) at which the two differ.
fn first_difference(first: &[u8], second: &[u8]) -> Option<usize> {
    if first == second {
        return None;
    }
    let pairs = first.split(|byte| *byte == b'\n').zip(second.split(|byte| *byte == b'\n'));
    Some(pairs.take_while(|(a, b)| a == b).count() + 1)
}

fn demonstrate(plan: &mut Plan) -> Result<()> {
    let built = plan.built()?;
    let programs = demo::Programs::of(&built.artifacts, &built.testbox)?;
    let engine = plan.host.engine.as_ref().map_err(|why| anyhow::anyhow!("{why}"))?;
    demo::on_engine(&plan.workspace, engine, &programs)
}

fn bench(plan: &mut Plan) -> Result<()> {
    let bench = plan.built()?.artifacts.bin("lighterman-bench", "bench")?;
    plan.run(plan.told(Cmd::new(bench).arg("--smoke"))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_have_names_of_their_own_and_a_limit() {
        for (index, step) in STEPS.iter().enumerate() {
            assert!(STEPS[..index].iter().all(|earlier| earlier.name != step.name), "{}", step.name);
            assert!(step.limit(true) > step.limit(false));
        }
    }

    #[test]
    fn what_needs_the_build_comes_after_it() {
        let build = STEPS.iter().position(Step::is_build).unwrap();
        let first_user = STEPS.iter().position(Step::needs_build).unwrap();
        assert!(build < first_user);
    }

    #[test]
    fn the_first_difference_is_named_by_its_line() {
        assert_eq!(first_difference(b"a\nb\n", b"a\nb\n"), None);
        assert_eq!(first_difference(b"a\nb\nc", b"a\nx\nc"), Some(2));
        assert_eq!(first_difference(b"a\n", b"a\nb"), Some(2));
    }
}
