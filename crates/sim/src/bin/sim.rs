//! `sim`: runs many seeds and says which failed, how, and how to repeat them.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program for people and CI")]

use std::{
    fs,
    path::PathBuf,
    process::{Command, ExitCode},
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use clap::Parser;
use lighterman_sim::{Counts, Crashes, Failed, FailureKind, Keep, Report, Scenario, Stats, logbook, run};

#[derive(Debug, Parser)]
#[command(about = "Seeded simulation of engine, store, clock and runtime")]
struct Args {
    /// How many seeds.
    #[arg(long, default_value_t = 1_000)]
    seeds: u64,
    /// The first seed.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Skip so many seeds.
    #[arg(long, default_value_t = 0)]
    start: u64,
    /// Run each seed twice and compare byte for byte.
    #[arg(long)]
    twice: bool,
    /// For each seed: crash at every commit and every action once.
    #[arg(long, conflicts_with = "crash_at")]
    crash_points: bool,
    /// Crash at this point alone.
    #[arg(long)]
    crash_at: Option<u64>,
    /// Write the log of the run of a single seed to this file.
    #[arg(long)]
    log: Option<PathBuf>,
    /// Print how often what was exercised.
    #[arg(long)]
    stats: bool,
    /// Stop after so many failures.
    #[arg(long, default_value_t = 5)]
    failures: usize,
    /// How many threads share the seeds.
    #[arg(long, default_value_t = 2)]
    threads: usize,
}

/// Exit codes, so that whoever called knows what kind of failure there was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    /// Nothing was wrong.
    Passed = 0,
    /// The program itself failed: a file could not be written.
    Unable = 2,
    /// A run did not come to its end.
    Liveness = 4,
    /// Something happened that must not.
    Correctness = 5,
    /// Two runs of one seed were not the same.
    NotTheSame = 6,
    /// The code under test panicked.
    Crash = 101,
}

impl From<FailureKind> for End {
    fn from(kind: FailureKind) -> Self {
        match kind {
            FailureKind::Crash => Self::Crash,
            FailureKind::Liveness => Self::Liveness,
            FailureKind::Correctness => Self::Correctness,
        }
    }
}

fn main() -> ExitCode {
    let args = Args::parse();
    // Panics are failures like others, and told with their seed.
    std::panic::set_hook(Box::new(|_| {}));
    let end = if let Some(file) = &args.log { log_one(&args, file) } else { run_all(&args) };
    ExitCode::from(end as u8)
}

/// What all threads share.
#[derive(Debug, Default)]
struct Shared {
    next: AtomicU64,
    sum: Mutex<Sum>,
}

#[derive(Debug, Default)]
struct Sum {
    counts: Counts,
    runs: u64,
    stats: Stats,
    simulated: Duration,
    end: Option<End>,
    failures: usize,
}

fn run_all(args: &Args) -> End {
    let shared = Shared::default();
    let began = now();
    std::thread::scope(|scope| {
        for _ in 0..args.threads.max(1) {
            scope.spawn(|| run_some(args, &shared));
        }
    });
    let took = now() - began;
    let sum = shared.sum.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    if args.stats {
        print_stats(&sum.stats);
    }
    let rate = sum.counts.lifetimes as u128 * 1_000_000 / took.as_micros().max(1);
    println!(
        "{} runs, {} task lifetimes, {} steps, {} crash points, {} deaths of the agent, {} simulated hours; \
         {:.1} s, {rate} lifetimes/s; {} failures",
        sum.runs,
        sum.counts.lifetimes,
        sum.counts.steps,
        sum.counts.points,
        sum.counts.deaths,
        sum.simulated.as_secs() / 3_600,
        took.as_secs_f32(),
        sum.failures,
    );
    sum.end.unwrap_or(End::Passed)
}

#[expect(clippy::disallowed_methods, reason = "the rate of a simulation is measured in real time")]
fn now() -> Duration {
    std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default()
}

fn run_some(args: &Args, shared: &Shared) {
    loop {
        let nth = shared.next.fetch_add(1, Ordering::Relaxed);
        if args.start + nth >= args.seeds || failures(shared) >= args.failures {
            return;
        }
        let seed = args.seed + args.start + nth;
        run_seed(args, seed, shared);
    }
}

fn failures(shared: &Shared) -> usize {
    lock(shared).failures
}

fn lock(shared: &Shared) -> std::sync::MutexGuard<'_, Sum> {
    shared.sum.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn run_seed(args: &Args, seed: u64, shared: &Shared) {
    let keep = Keep { log: args.twice, stats: args.stats };
    if !args.crash_points {
        return run_once(args, scenario(seed, args.crash_at), args.crash_at, keep, shared);
    }
    // Without any crash first, to see how many points there are.
    let mut points = run(scenario(seed, Some(0)), Keep::default()).counts.points;
    let mut at = 1;
    while at <= points && failures(shared) < args.failures {
        run_once(args, scenario(seed, Some(at)), Some(at), keep, shared);
        at += 1;
        points = points.min(20_000);
    }
}

fn scenario(seed: u64, crash_at: Option<u64>) -> Scenario {
    let mut scenario = Scenario::draw(seed);
    if let Some(at) = crash_at {
        scenario.crashes = Crashes::At(at);
    }
    scenario
}

fn run_once(args: &Args, scenario: Scenario, crash_at: Option<u64>, keep: Keep, shared: &Shared) {
    let seed = scenario.seed;
    let again = args.twice.then(|| scenario.clone());
    let report = run(scenario.clone(), keep);
    let same = again.is_none_or(|again| run(again, keep).lines == report.lines);
    let mut sum = lock(shared);
    sum.take(&report);
    if let Some(failed) = &report.failed {
        sum.fail(failed.kind.into());
        drop(sum);
        tell(seed, crash_at, failed);
        write_log(scenario, crash_at);
    } else if !same {
        sum.fail(End::NotTheSame);
        println!("FAILED seed={seed} kind=not-the-same: two runs differ | repeat: {}", command(seed, crash_at));
    }
}

impl Sum {
    fn take(&mut self, report: &Report) {
        self.runs += 1;
        self.counts.steps += report.counts.steps;
        self.counts.points += report.counts.points;
        self.counts.deaths += report.counts.deaths;
        self.counts.lifetimes += report.counts.lifetimes;
        self.simulated += Duration::from_nanos(report.end.0);
        if let Some(stats) = report.stats.clone() {
            self.stats.add(stats);
        }
    }

    fn fail(&mut self, end: End) {
        self.failures += 1;
        self.end = self.end.max(Some(end));
    }
}

fn tell(seed: u64, crash_at: Option<u64>, failed: &Failed) {
    println!(
        "FAILED seed={seed} commit={} kind={} checker={} at={}s: {} | repeat: {}",
        commit(),
        failed.kind,
        failed.checker,
        failed.at.to_string().trim(),
        failed.text,
        command(seed, crash_at)
    );
}

fn command(seed: u64, crash_at: Option<u64>) -> String {
    let crash = crash_at.map_or_else(String::new, |at| format!(" -- --crash-at {at}"));
    format!("cargo xtask sim --seeds 1 --seed {seed}{crash}")
}

/// The commit that was built, if this is a checkout.
fn commit() -> String {
    let output = Command::new("git").args(["rev-parse", "--short=12", "HEAD"]).output();
    let text = output.ok().filter(|output| output.status.success()).map(|output| output.stdout);
    text.map_or_else(|| "unknown".into(), |text| String::from_utf8_lossy(&text).trim().to_owned())
}

/// The story of a failed run, for `cargo xtask replay`.
fn write_log(scenario: Scenario, crash_at: Option<u64>) {
    let seed = scenario.seed;
    let report = run(scenario, Keep { log: true, stats: false });
    let tail = report.lines.len().saturating_sub(25);
    report.lines[tail..].iter().for_each(|line| println!("    {line}"));
    let point = crash_at.map_or_else(String::new, |at| format!("-{at}"));
    let file = PathBuf::from(format!("target/sim/seed-{seed}{point}.log"));
    match save(&file, seed, crash_at, &report) {
        Ok(()) => println!("    the whole story: cargo xtask replay {}", file.display()),
        Err(error) => eprintln!("cannot write {}: {error}", file.display()),
    }
}

fn save(file: &PathBuf, seed: u64, crash_at: Option<u64>, report: &Report) -> std::io::Result<()> {
    if let Some(directory) = file.parent().filter(|directory| !directory.as_os_str().is_empty()) {
        fs::create_dir_all(directory)?;
    }
    fs::write(file, logbook::write(seed, crash_at, report))
}

/// `--log`: one seed, and its story whether it failed or not.
fn log_one(args: &Args, file: &PathBuf) -> End {
    let seed = args.seed + args.start;
    let report = run(scenario(seed, args.crash_at), Keep { log: true, stats: false });
    if let Some(failed) = &report.failed {
        tell(seed, args.crash_at, failed);
    }
    match save(file, seed, args.crash_at, &report) {
        Ok(()) => {
            println!("{} lines in {}", report.lines.len(), file.display());
            report.failed.map_or(End::Passed, |failed| failed.kind.into())
        }
        Err(error) => {
            eprintln!("cannot write {}: {error}", file.display());
            End::Unable
        }
    }
}

fn print_stats(stats: &Stats) {
    let mut kind = "";
    for (of, case, count) in stats.rows() {
        if of != kind {
            println!("{of}");
            kind = of;
        }
        println!("  {count:>9}  {case}");
    }
}
