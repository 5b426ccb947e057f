//! What one call takes on the engine of this machine: `cargo run --release --example latency`.
#![expect(clippy::print_stdout, reason = "an example shows its result")]

use std::time::{Duration, Instant};

use lighterman_contracts::ContainerRuntime;
use lighterman_docker_tests::{AMPLE, Fixture, on_engine};

const ROUNDS: usize = 15;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    on_engine(async |fixture| {
        let mut took = [const { Vec::new() }; 6];
        for round in 0..ROUNDS {
            for (samples, sample) in took.iter_mut().zip(one(fixture, &format!("round-{round}")).await) {
                samples.push(sample);
            }
        }
        println!("{:<8} {:>10} {:>10}", "", "median", "longest");
        for (call, mut samples) in ["ping", "create", "start", "inspect", "stop", "remove"].into_iter().zip(took) {
            samples.sort();
            println!("{call:<8} {:>10.2?} {:>10.2?}", samples[ROUNDS / 2], samples[ROUNDS - 1]);
        }
    })
    .await;
}

/// One container's life; it ends by itself on SIGTERM, so that a stop does not wait for its grace.
async fn one(fixture: &Fixture, name: &str) -> [Duration; 6] {
    let docker = fixture.docker();
    let request = fixture.request(name, &["trap", "0", "+", "print", "ready", "+", "on-term", "0"]);
    let (_, ping) = timed(docker.ping(AMPLE)).await;
    let (container, create) = timed(fixture.create(&request)).await;
    let (_, start) = timed(docker.start(&container, AMPLE)).await;
    fixture.until_said(&container, "ready").await;
    let (_, inspect) = timed(docker.inspect(&container, AMPLE)).await;
    let (_, stop) = timed(docker.stop(&container, Duration::from_secs(5), AMPLE)).await;
    let (_, remove) = timed(docker.remove(&container, AMPLE)).await;
    [ping, create, start, inspect, stop, remove]
}

async fn timed<T>(call: impl Future<Output = T>) -> (T, Duration) {
    let begun = Instant::now();
    (call.await, begun.elapsed())
}
