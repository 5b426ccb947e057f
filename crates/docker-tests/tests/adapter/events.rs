//! The watch.

use std::{pin::pin, time::Duration};

use futures_util::{Stream, StreamExt as _};
use lighterman_calls::{
    ContainerTarget, EventAction, HealthTest, HealthcheckConfig, Outcome, RuntimeEvent, Watched, labels,
};
use lighterman_contracts::ContainerRuntime;
use lighterman_docker_tests::{AMPLE, Fixture, on_engine};
use lighterman_ids::Wall;
use tokio::time::timeout;

/// The next event.
async fn next(watch: &mut (impl Stream<Item = Watched> + Unpin)) -> RuntimeEvent {
    match timeout(AMPLE, watch.next()).await.unwrap() {
        Some(Watched::Event(event)) => *event,
        other => panic!("{other:?} must be an event"),
    }
}

async fn opened(watch: &mut (impl Stream<Item = Watched> + Unpin)) {
    assert_eq!(timeout(AMPLE, watch.next()).await.unwrap(), Some(Watched::Opened));
}

/// Everything up to the removal of `container`.
async fn until_destroyed(
    watch: &mut (impl Stream<Item = Watched> + Unpin),
    container: &ContainerTarget,
) -> Vec<RuntimeEvent> {
    let mut events = Vec::new();
    loop {
        let event = next(watch).await;
        let last = event.action == EventAction::Destroy && event.container.as_str() == container.as_str();
        events.push(event);
        if last {
            return events;
        }
    }
}

fn actions(events: &[RuntimeEvent]) -> Vec<EventAction> {
    events.iter().map(|event| event.action.clone()).collect()
}

#[tokio::test]
async fn a_life_is_seen_as_it_happens() {
    on_engine(async |fixture| {
        let docker = fixture.docker();
        let mut watch = pin!(docker.watch(fixture.instance(), None, AMPLE));
        opened(&mut watch).await;
        let container = fixture.run("life", &["exit", "3"]).await;
        fixture.until_ended(&container).await;
        assert_eq!(docker.remove(&container, AMPLE).await, Outcome::Done(()));
        let events = until_destroyed(&mut watch, &container).await;
        let expected =
            [EventAction::Create, EventAction::Start, EventAction::Die { exit_code: Some(3) }, EventAction::Destroy];
        assert_eq!(actions(&events), expected);
        assert!(events.iter().all(|event| event.container.as_str() == container.as_str()));
        assert!(events.is_sorted_by_key(|event| event.at), "{events:?}");
    })
    .await;
}

#[tokio::test]
async fn b003_signals_and_execs_are_not_seen() {
    on_engine(async |fixture| {
        let docker = fixture.docker();
        let container = fixture.run("busy", &["print", "ready", "+", "ignore-term"]).await;
        fixture.until_said(&container, "ready").await;
        let id = container.to_string();
        let mut watch = pin!(docker.watch(fixture.instance(), None, AMPLE));
        opened(&mut watch).await;
        let (path, words) = (format!("/containers/{id}/kill?signal=SIGTERM"), ["/testbox", "exit", "0"]);
        for _ in 0..5 {
            let (killed, code) =
                tokio::join!(fixture.raw().post(&path, &serde_json::Value::Null), fixture.raw().exec(&id, &words));
            assert_eq!((killed.status, code), (204, 0));
        }
        assert_eq!(docker.stop(&container, Duration::ZERO, AMPLE).await, Outcome::Done(()));
        assert_eq!(docker.remove(&container, AMPLE).await, Outcome::Done(()));
        let seen = actions(&until_destroyed(&mut watch, &container).await);
        assert_eq!(seen, [EventAction::Die { exit_code: Some(137) }, EventAction::Stop, EventAction::Destroy]);
    })
    .await;
}

#[tokio::test]
async fn only_what_is_ours_is_seen() {
    on_engine(async |fixture| {
        let docker = fixture.docker();
        let mut watch = pin!(docker.watch(fixture.instance(), None, AMPLE));
        opened(&mut watch).await;
        let mut foreign = fixture.request("foreign", &["exit", "0"]);
        foreign.config.labels.insert(labels::INSTANCE.into(), fixture.other_instance().to_string());
        let foreign = fixture.create(&foreign).await;
        assert_eq!(docker.remove(&foreign, AMPLE).await, Outcome::Done(()));
        let ours = fixture.create(&fixture.request("ours", &["exit", "0"])).await;
        assert_eq!(docker.remove(&ours, AMPLE).await, Outcome::Done(()));
        let events = until_destroyed(&mut watch, &ours).await;
        assert!(events.iter().all(|event| event.container.as_str() == ours.as_str()), "{events:?}");
    })
    .await;
}

#[tokio::test]
async fn b002_a_watch_can_go_on_from_the_last_stamp_without_a_gap() {
    on_engine(async |fixture| {
        let docker = fixture.docker();
        let first = whole_life(fixture, "first", &mut Box::pin(docker.watch(fixture.instance(), None, AMPLE))).await;
        let last = first.last().unwrap().at;
        // Nobody watches while this one lives.
        let unseen = fixture.run("unseen", &["exit", "9"]).await;
        fixture.until_ended(&unseen).await;
        assert_eq!(docker.remove(&unseen, AMPLE).await, Outcome::Done(()));

        let mut again = pin!(docker.watch(fixture.instance(), Some(last), AMPLE));
        opened(&mut again).await;
        let events = until_destroyed(&mut again, &unseen).await;
        // The event of the stamp itself comes again; after it there is no gap and no double.
        assert_eq!(events[0], *first.last().unwrap());
        let expected =
            [EventAction::Create, EventAction::Start, EventAction::Die { exit_code: Some(9) }, EventAction::Destroy];
        assert_eq!(actions(&events[1..]), expected);

        // A nanosecond later it does not.
        let mut later = pin!(docker.watch(fixture.instance(), Some(Wall(last.0 + 1)), AMPLE));
        opened(&mut later).await;
        assert_eq!(actions(&until_destroyed(&mut later, &unseen).await), expected);
    })
    .await;
}

async fn whole_life(
    fixture: &Fixture,
    name: &str,
    watch: &mut (impl Stream<Item = Watched> + Unpin),
) -> Vec<RuntimeEvent> {
    opened(watch).await;
    let container = fixture.run(name, &["exit", "0"]).await;
    fixture.until_ended(&container).await;
    assert_eq!(fixture.docker().remove(&container, AMPLE).await, Outcome::Done(()));
    until_destroyed(watch, &container).await
}

#[tokio::test]
async fn a_change_of_health_is_seen_with_its_word() {
    on_engine(async |fixture| {
        let docker = fixture.docker();
        let mut request = fixture.request("health", &["sleep", "600"]);
        request.config.healthcheck = Some(HealthcheckConfig {
            test: HealthTest::Exec { program: "/testbox".into(), arguments: vec!["exit".into(), "0".into()] },
            interval: Duration::from_millis(500),
            timeout: Duration::from_secs(5),
            start_period: Duration::from_millis(1),
            retries: 1,
        });
        let mut watch = pin!(docker.watch(fixture.instance(), None, AMPLE));
        opened(&mut watch).await;
        let container = fixture.create(&request).await;
        fixture.start(&container).await;
        let seen = [next(&mut watch).await, next(&mut watch).await, next(&mut watch).await];
        // The events of each probe are not among them.
        let expected = [EventAction::Create, EventAction::Start, EventAction::HealthStatus("healthy".into())];
        assert_eq!(actions(&seen), expected);
    })
    .await;
}

#[tokio::test]
async fn running_out_of_memory_is_seen() {
    on_engine(async |fixture| {
        let docker = fixture.docker();
        let mut request = fixture.request("memory", &["alloc", "256", "600"]);
        request.host.memory = Some(32 << 20);
        let mut watch = pin!(docker.watch(fixture.instance(), None, AMPLE));
        opened(&mut watch).await;
        let container = fixture.create(&request).await;
        fixture.start(&container).await;
        fixture.until_ended(&container).await;
        assert_eq!(docker.remove(&container, AMPLE).await, Outcome::Done(()));
        let seen = actions(&until_destroyed(&mut watch, &container).await);
        assert!(seen.contains(&EventAction::Oom), "{seen:?}");
        assert!(seen.contains(&EventAction::Die { exit_code: Some(137) }), "{seen:?}");
    })
    .await;
}
