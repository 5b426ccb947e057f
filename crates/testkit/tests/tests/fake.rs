//! The script of the fake, its clock, and what it records.

use std::{pin::pin, time::Duration};

use futures_util::StreamExt as _;
use lighterman_calls::{
    Answer, Call, ContainerTarget, LostCause, Outcome, PullLimits, PullProgress, PullStep, Refusal, RefusalClass,
    Request, RequestKind, Watched,
};
use lighterman_contracts::{Clock as _, ContainerRuntime as _, ImageStore as _, perform};
use lighterman_ids::{ImageRef, InstanceId, RuntimeName};
use lighterman_images::{ImageBuilder, pause_image};
use lighterman_runtime_model::{Disturbance, Failure, LocalImage, Source};
use lighterman_testkit::{FakeRuntime, On};
use tokio::time::timeout;

const LIMIT: Duration = Duration::from_secs(30);

fn named(name: &str) -> ContainerTarget {
    ContainerTarget::Name(RuntimeName::parse(name).expect("a good name"))
}

/// A create of the shape that the contract uses.
fn create(engine: &FakeRuntime, name: &str, words: &str) -> Request {
    use lighterman_calls::{ContainerConfig, CreateRequest, HostConfig};
    Request::Create(Box::new(CreateRequest {
        name: RuntimeName::parse(name).expect("a good name"),
        platform: None,
        config: ContainerConfig {
            cmd: Some(words.split(' ').map(Into::into).collect()),
            labels: [("dev.lighterman.instance".into(), InstanceId::from_bits(1).to_string())].into(),
            ..ContainerConfig::new(engine.add_testbox())
        },
        host: HostConfig { cpu_shares: 2, ..HostConfig::default() },
    }))
}

async fn call(engine: &FakeRuntime, request: Request) -> Answer {
    perform(engine, &Call { request, limit: LIMIT }, |_| ()).await
}

fn done(answer: &Answer) -> bool {
    answer.summary() == "done"
}

#[tokio::test(start_paused = true)]
async fn calls_are_recorded_in_order_with_their_times() {
    let engine = FakeRuntime::default();
    call(&engine, create(&engine, "web", "sleep 9")).await;
    call(&engine, Request::Start(named("web"))).await;
    let calls = engine.calls();
    assert_eq!(
        calls.iter().map(|call| call.request.kind()).collect::<Vec<_>>(),
        [RequestKind::Create, RequestKind::Start]
    );
    assert_eq!((calls[0].at, calls[0].limit), (Duration::ZERO, LIMIT));
    assert_eq!(calls[1].at, Duration::from_millis(10), "a create takes as long as the model says");
    assert_eq!((engine.count(RequestKind::Start), engine.count(RequestKind::Stop)), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn a_hanging_call_ends_with_its_limit() {
    let engine = FakeRuntime::default();
    engine.on(On::kind(RequestKind::Inspect).about("web"), Disturbance::hangs());
    call(&engine, create(&engine, "web", "sleep 9")).await;
    call(&engine, create(&engine, "other", "sleep 9")).await;
    let outcome = engine.inspect(&named("web"), LIMIT).await;
    assert!(matches!(outcome, Outcome::Unknown(lost) if lost.cause == LostCause::TimedOut(LIMIT)));
    assert!(engine.inspect(&named("other"), LIMIT).await.is_done());
    engine.forget_rules();
    assert!(engine.inspect(&named("web"), LIMIT).await.is_done());
}

#[tokio::test(start_paused = true)]
async fn rules_count_what_they_skip_and_what_they_hit() {
    let engine = FakeRuntime::default();
    let no = Refusal::new(RefusalClass::PeerFault, "no");
    engine.on(On::kind(RequestKind::Ping).skip(1).times(2), Disturbance::refuses(no.clone()));
    let mut seen = Vec::new();
    for _ in 0..4 {
        seen.push(engine.ping(LIMIT).await);
    }
    assert_eq!(seen, [Outcome::Done(()), Outcome::Refused(no.clone()), Outcome::Refused(no), Outcome::Done(())]);
}

#[tokio::test(start_paused = true)]
async fn an_answer_can_be_put_in_place_of_a_call() {
    let engine = FakeRuntime::default();
    engine.answer(On::kind(RequestKind::Create), Answer::Create(Outcome::Gone));
    assert_eq!(call(&engine, create(&engine, "web", "exit 0")).await, Answer::Create(Outcome::Gone));
    assert!(engine.with_model(|model, _| model.containers().is_empty()));
}

#[tokio::test(start_paused = true)]
async fn an_answer_lost_after_the_effect() {
    let engine = FakeRuntime::default();
    engine.on(On::kind(RequestKind::Create).times(1), Disturbance::lost(Duration::from_millis(1)));
    let answer = call(&engine, create(&engine, "web", "exit 0")).await;
    assert!(matches!(answer, Answer::Create(Outcome::Unknown(_))), "{answer:?}");
    // Nobody waits: the model moves when it is asked next.
    tokio::time::advance(Duration::from_secs(1)).await;
    assert!(engine.inspect(&named("web"), LIMIT).await.is_done());
}

#[tokio::test(start_paused = true)]
async fn a_dropped_call_goes_on_and_others_move_the_model() {
    let engine = FakeRuntime::default();
    call(&engine, create(&engine, "web", "sleep 9")).await;
    let mut events = pin!(engine.watch(&InstanceId::from_bits(1), None, LIMIT));
    assert_eq!(events.next().await, Some(Watched::Opened));
    let target = named("web");
    assert!(timeout(Duration::from_millis(1), engine.start(&target, LIMIT)).await.is_err());
    let event = timeout(LIMIT, events.next()).await.unwrap();
    assert!(matches!(event, Some(Watched::Event(_))), "{event:?}");
    assert!(engine.with_model(|model, _| model.is_alive(&target)));
}

#[tokio::test(start_paused = true)]
async fn events_can_be_lost_and_watches_broken() {
    let engine = FakeRuntime::default();
    let mut events = pin!(engine.watch(&InstanceId::from_bits(1), None, LIMIT));
    assert_eq!(events.next().await, Some(Watched::Opened));
    engine.lose_events(1);
    call(&engine, create(&engine, "one", "exit 0")).await;
    call(&engine, create(&engine, "two", "exit 0")).await;
    let two = engine.with_model(|model, _| model.facts(&named("two")).unwrap().id);
    assert!(matches!(events.next().await, Some(Watched::Event(event)) if event.container == two));
    engine.with_model(|model, now| model.restart_engine(now, Failure::Crash, Duration::from_secs(1)));
    assert!(matches!(events.next().await, Some(Watched::Lost(lost)) if lost.cause == LostCause::ConnectionLost));
    assert_eq!(events.next().await, None);
    assert!(matches!(engine.ping(LIMIT).await, Outcome::Unknown(lost) if lost.cause == LostCause::Unreachable));
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_does_not_open_is_lost_within_its_limit() {
    let engine = FakeRuntime::default();
    let target = named("web");
    call(&engine, create(&engine, "web", "ignore-term")).await;
    engine.start(&target, LIMIT).await;
    engine.with_model(|model, now| model.restart_engine(now, Failure::Crash, Duration::ZERO));
    tokio::time::advance(Duration::from_millis(1)).await;
    // The engine takes the connection, and serves nobody until it has stopped what it found.
    let mut events = pin!(engine.watch(&InstanceId::from_bits(1), None, Duration::from_secs(2)));
    let first = events.next().await;
    assert!(matches!(&first, Some(Watched::Lost(lost)) if lost.cause == LostCause::TimedOut(Duration::from_secs(2))));
    assert_eq!(events.next().await, None);
}

#[tokio::test(start_paused = true)]
async fn its_clock_is_tokios_and_the_wall_can_be_set() {
    let engine = FakeRuntime::default();
    let begin = engine.now();
    tokio::time::advance(Duration::from_secs(5)).await;
    engine.step_wall_clock(-60_000_000_000);
    let now = engine.now();
    assert_eq!(now.since(begin), Duration::from_secs(5));
    assert_eq!(now.wall.0 - begin.wall.0, -55_000_000_000);
}

#[tokio::test(start_paused = true)]
async fn a_pull_reports_and_a_dropped_one_ends() {
    let engine = FakeRuntime::default();
    let image = ImageRef::parse("registry.test/web:1").unwrap();
    let id = lighterman_ids::ImageId::parse(&format!("sha256:{}", "c".repeat(64))).unwrap();
    let local = Box::new(LocalImage::testbox(id));
    let source = Source::Available { image: local, layers: 1, takes: Duration::from_secs(3) };
    engine.with_model(|model, _| model.set_source(&image, source));
    let limits = PullLimits { first_progress: LIMIT, inactivity: LIMIT };
    let first = pin!(engine.pull(&image, None, limits, LIMIT)).next().await;
    assert!(matches!(first, Some(PullStep::Progress(_))));
    tokio::time::advance(Duration::from_secs(9)).await;
    assert_eq!(engine.inspect_image(&image, LIMIT).await.map(|_| ()), Outcome::Gone);
    let steps: Vec<PullStep> = engine.pull(&image, None, limits, LIMIT).collect().await;
    let word = |step: &PullStep| match step {
        PullStep::Progress(PullProgress { status, .. }) => status.clone(),
        PullStep::End(outcome) => format!("{outcome:?}"),
    };
    assert_eq!(steps.iter().map(word).collect::<Vec<_>>(), ["Downloading", "Pull complete", "Done(())"]);
    assert!(engine.inspect_image(&image, LIMIT).await.is_done());
}

#[tokio::test(start_paused = true)]
async fn archives_are_loaded_as_an_engine_does() {
    let engine = FakeRuntime::default();
    let pause = pause_image();
    assert_eq!(engine.load_image(pause.bytes().to_vec(), LIMIT).await, Outcome::Done(()));
    let Outcome::Done(facts) = engine.inspect_image(pause.reference(), LIMIT).await else { panic!() };
    assert_eq!(facts.id, *pause.image_id());

    let name = ImageRef::parse("lighterman/own:1").unwrap();
    let check = lighterman_images::HealthCheck::exec("/bin/testbox", ["exit", "0"]).interval(Duration::from_secs(1));
    let own = ImageBuilder::new()
        .file("/bin/testbox", 0o755, "not looked into")
        .entrypoint(["/bin/testbox"])
        .command(["exit", "7"])
        .env("A", "1")
        .health_check(check)
        .build(&name)
        .unwrap();
    assert_eq!(engine.load_image(own.into_bytes(), LIMIT).await, Outcome::Done(()));
    let Outcome::Done(facts) = engine.inspect_image(&name, LIMIT).await else { panic!() };
    assert_eq!(facts.env_names, ["A"]);
    assert_eq!(facts.health_test.as_deref().unwrap(), ["CMD", "/bin/testbox", "exit", "0"]);

    let Request::Create(mut request) = create(&engine, "own", "") else { panic!() };
    (request.config.image, request.config.cmd) = (name, None);
    assert!(done(&call(&engine, Request::Create(request)).await));
    assert!(done(&call(&engine, Request::Start(named("own"))).await));
    tokio::time::advance(Duration::from_secs(1)).await;
    let facts = engine.with_model(|model, _| model.facts(&named("own")).unwrap());
    assert_eq!(facts.phase, lighterman_calls::Phase::Exited { code: Some(7) });
}

#[tokio::test(start_paused = true)]
async fn a_broken_archive_is_refused() {
    let engine = FakeRuntime::default();
    for broken in [&b""[..], b"no tar at all", &[0; 1024]] {
        let outcome = engine.load_image(broken.to_vec(), LIMIT).await;
        assert!(matches!(outcome, Outcome::Refused(_)), "{outcome:?}");
    }
}
