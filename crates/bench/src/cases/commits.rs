//! P12: 1,000 tasks change at once. The driver makes batches of that; each is then committed once more, in turns with a
//! bare write and `fdatasync` of the same bytes. Last the largest batches that there can be: all records of all tasks.

mod driver;
mod whole;

use std::{
    fs::File,
    io::Write as _,
    time::{Duration, Instant},
};

use lighterman_checkpoint::{OpenOptions, Store};
use lighterman_contracts::{Batch, Checkpoint, Write};
use tempfile::TempDir;

use crate::{
    findings::{Compare, Findings, Row},
    goals::Unit,
    samples::Samples,
    stage::{Stage, Trouble},
};

const TASKS: usize = 1_000;
const TASKS_IN_SMOKE: usize = 200;

pub(super) async fn run(stage: &Stage) -> Result<Findings, Trouble> {
    let tasks = stage.full_or_smoke(TASKS, TASKS_IN_SMOKE);
    let mut findings = Findings::default();
    driver::measure(stage, tasks, &mut findings).await?;
    whole::measure(stage, tasks, &mut findings).await?;
    Ok(findings)
}

/// A new store, and a plain file beside it on the same device.
#[derive(Debug)]
struct Pair {
    store: Store,
    bare: File,
    generation: u64,
    commits: Samples,
    floor: Samples,
    _directory: TempDir,
}

impl Pair {
    fn new(stage: &Stage) -> Result<Self, Trouble> {
        let directory = stage.scratch()?;
        let (store, _) = Store::open(&directory.path().join("state"), OpenOptions::default())?;
        let bare = File::create(directory.path().join("bare"))?;
        let (commits, floor) = (Samples::new(), Samples::new());
        Ok(Self { store, bare, generation: 0, commits, floor, _directory: directory })
    }

    /// One commit, and the same bytes bare; how long the commit took.
    async fn write(&mut self, writes: Vec<Write>) -> Result<Duration, Trouble> {
        let content: Vec<u8> = writes.iter().flat_map(bytes_of).collect();
        self.generation += 1;
        let begun = Instant::now();
        self.store.commit(Batch { generation: self.generation, writes }).await?;
        let took = begun.elapsed();
        self.commits.push_millis(took);
        let begun = Instant::now();
        self.bare.write_all(&content)?;
        self.bare.sync_data()?;
        self.floor.push_millis(begun.elapsed());
        Ok(took)
    }

    /// Tells of it under this name; p99 against p99.
    fn tell(self, what: &str, findings: &mut Findings) -> Option<f64> {
        let (own, floor) = (self.commits.percentile(99), self.floor.percentile(99));
        let p99 = |value: Option<f64>| Row::new(format!("p99 {what}"), Unit::Millis, value.into_iter().collect());
        findings.row(Row::new(what, Unit::Millis, self.commits).over(self.floor, Compare::Ratio));
        findings.row(p99(own).over(floor.into_iter().collect(), Compare::Ratio));
        own.zip(floor).map(|(own, floor)| own / floor)
    }
}

fn bytes_of(write: &Write) -> Vec<u8> {
    [write.key.as_slice(), write.value.as_deref().unwrap_or_default()].concat()
}
