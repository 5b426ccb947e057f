//! A create whose answer is lost, on the fake engine: `cargo run -p lighterman-testkit --example lost_answer`.
#![expect(clippy::print_stdout, reason = "an example shows its result")]

use std::time::Duration;

use lighterman_calls::{ContainerConfig, ContainerTarget, CreateRequest, HostConfig, RequestKind};
use lighterman_contracts::ContainerRuntime as _;
use lighterman_ids::RuntimeName;
use lighterman_runtime_model::Disturbance;
use lighterman_testkit::{FakeRuntime, On};

const LIMIT: Duration = Duration::from_secs(10);

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let engine = FakeRuntime::default();
    let name = RuntimeName::parse("web").expect("a good name");
    let request = CreateRequest {
        name: name.clone(),
        platform: None,
        config: ContainerConfig {
            cmd: Some(vec!["exit".into(), "0".into()]),
            ..ContainerConfig::new(engine.add_testbox())
        },
        host: HostConfig { cpu_shares: 2, ..HostConfig::default() },
    };
    engine.on(On::kind(RequestKind::Create).times(1), Disturbance::lost(Duration::from_millis(1)));
    println!("create   {:?}", engine.create(&request, LIMIT).await);
    println!("again    {:?}", engine.create(&request, LIMIT).await.map(|created| created.warnings));
    let found = engine.inspect(&ContainerTarget::Name(name), LIMIT).await;
    println!("inspect  {:?}", found.map(|facts| facts.phase));
    println!("asked    {} times", engine.calls().len());
}
