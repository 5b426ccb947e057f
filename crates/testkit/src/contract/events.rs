//! What is told, and when.

use std::time::Duration;

use lighterman_calls::{EventAction, HealthTest, HealthWord, HealthcheckConfig, Outcome, Phase, Signal, labels};
use lighterman_contracts::{ContainerRuntime, LogSource};
use lighterman_ids::Wall;

use super::{Contract, word};

/// The life of a container is told in its order, each event with a later stamp.
///
/// # Panics
/// The rule is broken.
pub async fn events_arrive_in_order<R: ContainerRuntime + LogSource>(contract: &Contract<'_, R>) {
    let mut watch = contract.watch(None).await;
    let id = contract.run("told", "on-term 6").await;
    contract.stop("told", Duration::from_secs(30)).await;
    contract.start("told").await;
    contract.kill("told", Signal::Kill).await;
    contract.remove("told").await;
    watch.until(&id, |action| *action == EventAction::Destroy).await;
    assert_eq!(watch.story(&id), ["create", "start", "die 6", "stop", "start", "die 137", "destroy"]);
    let stamps: Vec<Wall> = watch.seen.iter().map(|event| event.at).collect();
    assert!(stamps.is_sorted_by(|one, two| one < two), "{stamps:?}");
}

/// A watch from an instant on begins with what happened since, that very instant included, and nothing earlier.
///
/// # Panics
/// The rule is broken.
pub async fn watch_since_replays<R: ContainerRuntime + LogSource>(contract: &Contract<'_, R>) {
    let mut watch = contract.watch(None).await;
    let id = contract.run("replay", "exit 5").await;
    watch.until_ended(&id).await;
    let [create, start, die] = <[_; 3]>::try_from(watch.seen).expect("three events");
    let mut from_start = contract.watch(Some(start.at)).await;
    from_start.until_ended(&id).await;
    assert_eq!(from_start.seen, [start.clone(), die.clone()]);
    let mut after_start = contract.watch(Some(Wall(start.at.0 + 1))).await;
    after_start.until_ended(&id).await;
    assert_eq!(after_start.seen, [die]);
    assert_eq!(word(&create.action), "create");
}

/// A watch tells of its own instance's containers only.
///
/// # Panics
/// The rule is broken.
pub async fn a_watch_is_of_one_instance<R: ContainerRuntime + LogSource>(contract: &Contract<'_, R>) {
    let mut watch = contract.watch(None).await;
    let mut foreign = contract.request("foreign", "exit 0");
    foreign.config.labels.insert(labels::INSTANCE.into(), contract.foreigner().to_string());
    contract.create(&foreign).await;
    let id = contract.create(&contract.request("own", "exit 0")).await;
    watch.until(&id, |action| *action == EventAction::Create).await;
    assert_eq!(watch.seen.len(), 1, "{:?}", watch.seen);
}

/// A health check begins without a verdict, tells of a change, and turns unhealthy untold when the container stops.
///
/// # Panics
/// The rule is broken.
pub async fn health_is_told_and_shown<R: ContainerRuntime + LogSource>(contract: &Contract<'_, R>) {
    let mut request = contract.request("health", "ignore-term");
    let test = HealthTest::Exec { program: "/testbox".into(), arguments: vec!["print".into(), "fine".into()] };
    let (interval, timeout) = (Duration::from_millis(200), Duration::from_secs(30));
    let start_period = Duration::from_millis(1);
    request.config.healthcheck = Some(HealthcheckConfig { test, interval, timeout, start_period, retries: 1 });
    let mut watch = contract.watch(None).await;
    let id = contract.create(&request).await;
    assert_eq!(contract.facts("health").await.health, None);
    assert_eq!(contract.start("health").await, Outcome::Done(()));
    let health = contract.facts("health").await.health.expect("there is a check");
    assert_eq!(health.word, HealthWord::Starting);
    watch.until(&id, |action| matches!(action, EventAction::HealthStatus(word) if word == "healthy")).await;
    let health = contract.facts("health").await.health.expect("there is a check");
    assert_eq!((health.word, health.exit_code, &*health.output), (HealthWord::Healthy, Some(0), "fine\n"));
    contract.kill("health", Signal::Kill).await;
    let facts = contract.facts("health").await;
    assert_eq!(facts.phase, Phase::Exited { code: Some(137) });
    assert_eq!(facts.health.expect("it is still shown").word, HealthWord::Unhealthy);
    contract.remove("health").await;
    watch.until(&id, |action| *action == EventAction::Destroy).await;
    assert_eq!(watch.story(&id), ["create", "start", "healthy", "die 137", "destroy"]);
}
