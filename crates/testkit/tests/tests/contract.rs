//! The contract, on the fake.

use lighterman_ids::InstanceId;
use lighterman_testkit::{FakeRuntime, contract::Contract};

async fn on_a_fake(rule: impl AsyncFnOnce(&Contract<'_, FakeRuntime>)) {
    let engine = FakeRuntime::default();
    let image = engine.add_testbox();
    let contract = Contract::new(&engine, InstanceId::from_bits(0xabc << 100), image);
    rule(&contract).await;
    contract.clean().await;
    assert!(engine.with_model(|model, _| model.containers().is_empty() && model.volumes().is_empty()));
}

lighterman_testkit::contract_tests!(on_a_fake, tokio::test(start_paused = true));
