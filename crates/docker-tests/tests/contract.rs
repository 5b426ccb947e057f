//! The contract of container runtimes, on the real adapter: the same list that the fake keeps.

use lighterman_docker::Docker;
use lighterman_docker_tests::on_engine;
use lighterman_testkit::contract::Contract;

async fn with_docker(rule: impl AsyncFnOnce(&Contract<'_, Docker>)) {
    on_engine(async |fixture| {
        let contract = Contract::new(fixture.docker(), fixture.instance().clone(), fixture.image().clone());
        rule(&contract).await;
        contract.clean().await;
    })
    .await;
}

lighterman_testkit::contract_tests!(with_docker, tokio::test);
