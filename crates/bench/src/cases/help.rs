//! P15: `lighterman --help`, from its start to its end; beside it a static program that only exits.

use std::{
    ffi::OsStr,
    fs::File,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use lighterman_docker_tests::TESTBOX_ENV;
use rustix::fs::{Advice, fadvise};

use crate::{
    findings::{Compare, Findings, Row},
    goals::{self, Unit},
    samples::Samples,
    stage::{Stage, Trouble},
};

/// A start takes milliseconds, and what disturbs it as long.
const TIMES: usize = 5;

pub(super) fn run(stage: &Stage) -> Result<Findings, Trouble> {
    let product = stage.product()?;
    let bare = std::env::var_os(TESTBOX_ENV).map(PathBuf::from).ok_or_else(|| format!("{TESTBOX_ENV} is not set"))?;
    let (mut help, mut floor, mut dropped) = (Samples::default(), Samples::default(), Samples::default());
    spawn(product, ["--help"])?;
    for _ in 0..stage.repetitions() * TIMES {
        floor.push_millis(spawn(&bare, ["exit", "0"])?);
        help.push_millis(spawn(product, ["--help"])?);
        drop_from_cache(product)?;
        dropped.push_millis(spawn(product, ["--help"])?);
    }
    let mut findings = Findings::default();
    findings.judge(goals::HELP, help.median());
    findings.row(Row::new("--help", Unit::Millis, help).over(floor.clone(), Compare::Difference));
    findings.row(Row::new("--help, file not in memory", Unit::Millis, dropped).over(floor, Compare::Difference));
    Ok(findings)
}

fn spawn<S: AsRef<OsStr>>(program: &Path, words: impl IntoIterator<Item = S>) -> Result<Duration, Trouble> {
    let mut command = Command::new(program);
    command.args(words).stdin(Stdio::null()).stdout(Stdio::null());
    let begun = Instant::now();
    let status = command.status()?;
    let took = begun.elapsed();
    if status.success() { Ok(took) } else { Err(format!("{} ended with {status}", program.display()).into()) }
}

/// Asks the kernel to forget the file's pages, as after a boot. Pages in use elsewhere stay.
fn drop_from_cache(program: &Path) -> Result<(), Trouble> {
    Ok(fadvise(File::open(program)?, 0, None, Advice::DontNeed)?)
}
