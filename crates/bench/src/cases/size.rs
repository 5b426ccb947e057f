//! P1: bytes of the command. A build that is not the release one says nothing about it.

use std::fs;

use crate::{
    findings::{Findings, Row},
    goals::{self, Unit},
    stage::{Stage, Trouble},
};

pub(super) fn run(stage: &Stage) -> Result<Findings, Trouble> {
    let mut findings = Findings::default();
    if stage.is_smoke() {
        findings.note("Not measured: this is not the release build.");
        return Ok(findings);
    }
    let bytes = fs::metadata(stage.product()?)?.len();
    let megabytes = f64::from(u32::try_from(bytes)?) / 1e6;
    findings.row(Row::of_one("the file", Unit::Megabytes, megabytes));
    findings.judge(goals::BINARY_SIZE, Some(megabytes));
    Ok(findings)
}
