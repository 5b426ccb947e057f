//! How long a durable commit takes, beside a bare write and `fdatasync` of the same bytes.
//!
//! `cargo run --release -p lighterman-checkpoint --example commit_latency [ROUNDS [DIRECTORY]]`

#![expect(clippy::print_stdout, reason = "an example shows its result")]
#![expect(clippy::disallowed_methods, reason = "a measurement reads the clock")]

use std::{
    error::Error,
    fs::File,
    io::Write as _,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use lighterman_checkpoint::{OpenOptions, Store};
use lighterman_contracts::{Batch, Checkpoint, Write};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let rounds = arguments.next().map_or(Ok(50), |text| text.parse())?;
    let parent = arguments.next().map_or_else(std::env::temp_dir, PathBuf::from);
    println!("{:>20} {:>26} {:>26} {:>10}", "batch", "commit p50 / p99", "bare p50 / p99", "records/s");
    for (records, bytes) in [(1, 2048), (64, 2048), (1000, 512), (1000, 2048)] {
        let directory = tempfile::tempdir_in(&parent)?;
        let (commits, bare) = measure(directory.path(), rounds, records, bytes).await?;
        let total: Duration = commits.iter().sum();
        let rate = f64::from(rounds) * f64::from(records) / total.as_secs_f64();
        println!("{records:>9} × {bytes:>6} B {} {} {rate:>10.0}", percentiles(commits), percentiles(bare));
    }
    Ok(())
}

async fn measure(
    directory: &Path,
    rounds: u32,
    records: u32,
    bytes: usize,
) -> Result<(Vec<Duration>, Vec<Duration>), Box<dyn Error>> {
    let (store, _) = Store::open(&directory.join("state"), OpenOptions::default())?;
    let mut file = File::create(directory.join("bare"))?;
    let (mut commits, mut bare) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        let mut batch = Batch::new(u64::from(round) + 1);
        for record in 0..records {
            let key = format!("task/{:04}", (round * 7 + record) % 1000).into_bytes();
            batch.writes.push(Write::put(key, round.to_le_bytes().repeat(bytes / 4)));
        }
        let content = vec![7; batch.bytes()];

        let start = Instant::now();
        store.commit(batch).await?;
        commits.push(start.elapsed());

        let start = Instant::now();
        file.write_all(&content)?;
        file.sync_data()?;
        bare.push(start.elapsed());
    }
    Ok((commits, bare))
}

fn percentiles(mut times: Vec<Duration>) -> String {
    times.sort_unstable();
    let at = |percent: usize| times.get(times.len() * percent / 100).copied().unwrap_or_default();
    format!("{:>11.3} / {:>6.3} ms", at(50).as_secs_f64() * 1e3, at(99).as_secs_f64() * 1e3)
}
