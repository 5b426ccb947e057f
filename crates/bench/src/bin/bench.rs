//! `bench`: runs the cases, prints what they found, and writes the report.
#![expect(clippy::print_stdout, reason = "a program for people")]

use std::{
    fs,
    panic::AssertUnwindSafe,
    path::Path,
    process::ExitCode,
    thread::available_parallelism,
    time::{Duration, Instant},
};

use clap::Parser;
use futures_util::FutureExt as _;
use lighterman_bench::{
    Case,
    findings::Findings,
    report::{self, Entry, REPORT},
    stage::{Stage, Trouble, done},
    table,
};
use lighterman_contracts::ContainerRuntime as _;
use serde_json::{Value, json};

#[derive(Debug, Parser)]
#[command(name = "bench", about = "Measurements against the bare engine floor")]
struct Args {
    /// Only these cases, by name (`floor`, `P4` …); all without any.
    #[arg(value_parser = parse_case)]
    cases: Vec<Case>,
    /// See that everything still works: one repetition, shorter spans.
    #[arg(long)]
    smoke: bool,
}

/// Ctrl-C, as shells tell it.
const INTERRUPTED: u8 = 130;

fn parse_case(text: &str) -> Result<Case, String> {
    let names: Vec<_> = Case::ALL.into_iter().map(Case::name).collect();
    Case::parse(text).ok_or_else(|| format!("there is no such case; there are {}", names.join(", ")))
}

fn main() -> Result<ExitCode, Trouble> {
    let args = Args::parse();
    // As the command does: two workers.
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(run(&args))
}

async fn run(args: &Args) -> Result<ExitCode, Trouble> {
    let stage = Stage::new(args.smoke).await?;
    let machine = machine(&stage).await;
    println!("{}\n", in_words(&machine, args.smoke));
    let mut entries: Vec<Entry> = Vec::new();
    for case in Case::ALL.into_iter().filter(|case| args.cases.is_empty() || args.cases.contains(case)) {
        let begun = Instant::now();
        let outcome = tokio::select! {
            outcome = run_case(case, &stage) => outcome,
            asked = tokio::signal::ctrl_c() => {
                asked?;
                println!("{} was broken off; what it created is removed", case.name());
                stage.clear().await?;
                return Ok(ExitCode::from(INTERRUPTED));
            }
        };
        print_case(case, &outcome, begun.elapsed());
        entries.push((case.name(), case.title(), outcome));
    }
    report::write(Path::new(REPORT), &report::to_json(args.smoke, machine, &entries))?;
    Ok(sum_up(&entries))
}

/// Runs a case and removes what it created, whether it came to its end or not.
async fn run_case(case: Case, stage: &Stage) -> Result<Findings, String> {
    let outcome = match AssertUnwindSafe(case.run(stage)).catch_unwind().await {
        Ok(outcome) => outcome.map_err(|trouble| chain(trouble.as_ref())),
        Err(_) => Err("it panicked".into()),
    };
    match (outcome, stage.clear().await) {
        (Ok(findings), Ok(())) => Ok(findings),
        (Ok(_), Err(trouble)) => Err(format!("something was left behind: {trouble}")),
        (Err(why), Ok(())) => Err(why),
        (Err(why), Err(trouble)) => Err(format!("{why}; and something was left behind: {trouble}")),
    }
}

fn chain(trouble: &dyn std::error::Error) -> String {
    let mut text = trouble.to_string();
    let mut source = trouble.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}

fn print_case(case: Case, outcome: &Result<Findings, String>, took: Duration) {
    match outcome {
        Ok(findings) => print!("{}", table::show(case.name(), case.title(), findings)),
        Err(why) => println!("{}  {}\n  DID NOT RUN: {why}", case.name(), case.title()),
    }
    println!("  ({:.1} s)\n", took.as_secs_f64());
}

fn sum_up(entries: &[Entry]) -> ExitCode {
    let findings = || entries.iter().filter_map(|(name, _, outcome)| Some((*name, outcome.as_ref().ok()?)));
    let verdicts = || findings().flat_map(|(name, found)| found.verdicts.iter().map(move |verdict| (name, verdict)));
    let met = verdicts().filter(|(_, verdict)| verdict.is_met()).count();
    println!("{met} of {} goals met; the report is {REPORT}", verdicts().count());
    for (name, verdict) in verdicts().filter(|(_, verdict)| !verdict.is_met()) {
        println!("  {name}: {}", verdict.words());
    }
    let failed: Vec<_> = entries.iter().filter(|(_, _, outcome)| outcome.is_err()).map(|(name, ..)| *name).collect();
    if failed.is_empty() {
        return ExitCode::SUCCESS;
    }
    println!("did not run: {}", failed.join(", "));
    ExitCode::FAILURE
}

/// What the figures come from.
async fn machine(stage: &Stage) -> Value {
    let read = |path: &str| fs::read_to_string(path).ok().map(|text| text.trim().to_owned());
    let engine = match stage.docker() {
        Ok(docker) => done(docker.version(Duration::from_secs(10)).await).ok().map(|version| version.version),
        Err(_) => None,
    };
    json!({
        "cores": available_parallelism().ok().map(|cores| cores.get()),
        "kernel": read("/proc/sys/kernel/osrelease"),
        "load": read("/proc/loadavg"),
        "docker": engine,
    })
}

fn in_words(machine: &Value, smoke: bool) -> String {
    let text = |name: &str| machine[name].as_str().unwrap_or("unknown").to_owned();
    format!(
        "{} cores, Linux {}, Docker {}; load {}{}",
        machine["cores"],
        text("kernel"),
        text("docker"),
        text("load").split(' ').next().unwrap_or_default(),
        if smoke { "; smoke: the figures mean nothing" } else { "" }
    )
}
