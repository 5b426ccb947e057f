//! P13: the store after 100,000 overwrites of 1,000 records, while open and after it was opened again.

use std::{fs, io, path::Path};

use lighterman_checkpoint::{OpenOptions, Store};
use lighterman_contracts::{Batch, Checkpoint, Write};

use crate::{
    findings::{Findings, Row},
    goals::{self, Unit},
    samples::Samples,
    stage::{Stage, Trouble},
};

const RECORDS: u32 = 1_000;
const RECORD_BYTES: usize = 200;
const OVERWRITES: u32 = 100_000;
const OVERWRITES_IN_SMOKE: u32 = 20_000;
/// Records of one commit: what a busy turn changes.
const BATCH: u32 = 100;

pub(super) async fn run(stage: &Stage) -> Result<Findings, Trouble> {
    let overwrites = stage.full_or_smoke(OVERWRITES, OVERWRITES_IN_SMOKE);
    let (mut while_open, mut reopened, mut live) = (Samples::default(), Samples::default(), Samples::default());
    for _ in 0..stage.repetitions() {
        let scratch = stage.scratch()?;
        let directory = scratch.path().join("state");
        overwrite(&directory, overwrites).await?;
        while_open.push(megabytes(bytes_below(&directory)?)?);
        let (store, loaded) = Store::open(&directory, OpenOptions::default())?;
        if loaded.entries.len() != usize::try_from(RECORDS)? {
            return Err(format!("{} records are left", loaded.entries.len()).into());
        }
        let bytes: usize = loaded.entries.iter().map(|(key, value)| key.len() + value.len()).sum();
        reopened.push(megabytes(bytes_below(&directory)?)?);
        live.push(megabytes(u64::try_from(bytes)?)?);
        drop(store.close());
    }
    let mut findings = Findings::default();
    findings.row(
        Row::new(format!("after {overwrites} overwrites"), Unit::Megabytes, while_open)
            .over(live.clone(), crate::findings::Compare::Ratio),
    );
    let row = Row::new("opened again", Unit::Megabytes, reopened).over(live, crate::findings::Compare::Ratio);
    findings.judge(goals::STORE_SIZE, row.against_floor().map(|(value, _)| value));
    findings.row(row);
    findings.note("The floor is the live data: keys and values.");
    Ok(findings)
}

async fn overwrite(directory: &Path, overwrites: u32) -> Result<(), Trouble> {
    let (store, _) = Store::open(directory, OpenOptions::default())?;
    for commit in 0..overwrites / BATCH {
        let mut batch = Batch::new(u64::from(commit) + 1);
        for record in 0..BATCH {
            let key = format!("task/{:04}", (commit * BATCH + record) % RECORDS);
            batch.writes.push(Write::put(key.into_bytes(), content(commit, record)));
        }
        store.commit(batch).await?;
    }
    drop(store.close());
    Ok(())
}

/// Never the same, so that nothing is saved by comparing.
fn content(commit: u32, record: u32) -> Vec<u8> {
    let mut bytes = [commit.to_le_bytes(), record.to_le_bytes()].concat().repeat(RECORD_BYTES / 8);
    bytes.truncate(RECORD_BYTES);
    bytes
}

fn bytes_below(directory: &Path) -> io::Result<u64> {
    let mut sum = 0;
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        sum += if entry.file_type()?.is_dir() { bytes_below(&entry.path())? } else { entry.metadata()?.len() };
    }
    Ok(sum)
}

fn megabytes(bytes: u64) -> Result<f64, Trouble> {
    Ok(f64::from(u32::try_from(bytes)?) / 1e6)
}
