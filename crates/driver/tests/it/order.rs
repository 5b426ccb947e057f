//! Persist, then act (design.md R1), seen from the runtime and the store.

use std::{sync::Arc, time::Duration};

use lighterman_calls::RequestKind;
use lighterman_driver::{RequestError, Update};
use lighterman_engine::SubmitError;
use lighterman_ids::TaskId;
use lighterman_status::TaskStatus;
use tokio::time::Instant;

use crate::{
    agent::{Agent, bounded, idle, pass, spec},
    runtime::{Fake, Way},
    store::{Fault, Store},
};

/// A runtime that finds fault with every create whose name is not durable yet.
fn strict() -> (Arc<Fake>, Arc<Store>) {
    let store = Arc::new(Store::default());
    let seen = Arc::clone(&store);
    let look = move |request: &lighterman_calls::CreateRequest| {
        assert!(seen.holds(request.name.as_str()), "{} is created and not durable", request.name);
    };
    (Arc::new(Fake::looking_at_creates(look)), store)
}

#[tokio::test(start_paused = true)]
async fn no_create_leaves_before_its_name_is_durable() {
    let (runtime, store) = strict();
    let agent = Agent::with(runtime, store).await;
    for delay in [0, 1, 50] {
        agent.store.take(Duration::from_millis(delay));
        for n in 1..=5 {
            let n = u128::from(delay) * 10 + n;
            agent.run(n).await;
        }
    }
    assert_eq!(agent.runtime.count(RequestKind::Create), 15);
}

#[tokio::test(start_paused = true)]
async fn while_a_commit_hangs_nothing_leaves_and_nothing_is_shown() {
    let (runtime, store) = strict();
    let agent = Agent::with(runtime, store).await;
    let calls = agent.runtime.calls();
    let mut updates = agent.handle.updates();
    agent.store.hold();
    let handle = agent.handle.clone();
    let accepted = tokio::spawn(async move { handle.submit(spec(1)).await });
    pass(Duration::from_secs(60)).await;
    assert_eq!(agent.runtime.calls(), calls);
    assert!(agent.handle.tasks().get().is_empty());
    assert!(!accepted.is_finished());
    agent.store.release();
    let view = bounded(accepted).await.unwrap().unwrap();
    assert_eq!(view.id, TaskId::from_bits(1));
    let shown = loop {
        // How the host does is shown at once.
        if let Some(Update::Task(shown)) = bounded(updates.next()).await {
            break shown;
        }
    };
    assert_eq!(shown, view);
    agent.reaches(1, TaskStatus::Running).await;
}

#[tokio::test(start_paused = true)]
async fn the_first_question_waits_for_the_new_incarnation() {
    let (runtime, store) = strict();
    store.hold();
    let agent = Agent::begun(runtime, store);
    pass(Duration::from_secs(60)).await;
    assert_eq!((agent.runtime.calls(), agent.store.begun()), (Vec::new(), 1));
    agent.store.release();
    idle().await;
    assert_eq!(agent.runtime.calls().first(), Some(&RequestKind::Version));
}

/// Holds the store at every commit of a task's life in turn. What creates something leaves only when the
/// commit before it is through.
#[tokio::test(start_paused = true)]
async fn a_held_commit_holds_what_follows_from_it() {
    let (create, start) = (RequestKind::Create, RequestKind::Start);
    let expected: [(usize, &[RequestKind]); 5] =
        [(0, &[]), (1, &[]), (2, &[create]), (3, &[create, start]), (4, &[create, start])];
    for (through, begun) in expected {
        let (runtime, store) = strict();
        let agent = Agent::with(runtime, store).await;
        agent.store.hold();
        let handle = agent.handle.clone();
        let accepted = tokio::spawn(async move { handle.submit(spec(1)).await });
        for _ in 0..through {
            idle().await;
            agent.store.let_one_through();
        }
        pass(Duration::from_secs(10)).await;
        let calls = agent.runtime.calls().into_iter().filter(|kind| [create, start].contains(kind));
        assert_eq!(calls.collect::<Vec<_>>(), begun, "after {through} commits");
        assert_eq!(accepted.is_finished(), through > 0);
        let is_shown = agent.handle.tasks().get().values().any(|view| view.known == TaskStatus::Running);
        assert_eq!(is_shown, through == 4);
    }
}

#[tokio::test(start_paused = true)]
async fn p18_a_task_waits_for_at_most_three_commits() {
    let agent = Agent::connected().await;
    let delay = Duration::from_millis(50);
    agent.store.take(delay);
    // The runtime answers at once, so that all the time goes into commits: one to accept the task …
    let (asked, begun) = (Instant::now(), agent.store.begun());
    agent.handle.submit(spec(1)).await.unwrap();
    assert_eq!(asked.elapsed(), delay);
    // … and one each before the create, before the start, and before it is shown.
    let accepted = Instant::now();
    agent.reaches(1, TaskStatus::Running).await;
    assert!(accepted.elapsed() <= 3 * delay, "{:?}", accepted.elapsed());
    idle().await;
    assert_eq!(agent.store.begun() - begun, 4);
}

#[tokio::test(start_paused = true)]
async fn p9_an_end_is_shown_after_one_commit() {
    let agent = Agent::connected().await;
    agent.run(1).await;
    let delay = Duration::from_millis(50);
    agent.store.take(delay);
    let ended = Instant::now();
    agent.runtime.all_exit(3);
    let view = agent.reaches(1, TaskStatus::Stopped).await;
    assert_eq!(view.exit_code(), Some(3));
    assert_eq!(ended.elapsed(), delay);
}

#[tokio::test(start_paused = true)]
async fn many_tasks_share_their_commits() {
    let agent = Agent::connected().await;
    agent.store.take(Duration::from_millis(50));
    let (asked, begun) = (Instant::now(), agent.store.begun());
    let submits = (1..=50).map(|n| {
        let handle = agent.handle.clone();
        tokio::spawn(async move { handle.submit(spec(n)).await })
    });
    for submit in submits.collect::<Vec<_>>() {
        bounded(submit).await.unwrap().unwrap();
    }
    for n in 1..=50 {
        agent.reaches(n, TaskStatus::Running).await;
    }
    let (waited, commits) = (asked.elapsed(), agent.store.begun() - begun);
    assert_eq!(agent.store.most_in_flight(), 1);
    // 16 calls go out at a time, 150 creates, starts and inspects in all: 10 to 13 rounds, not 150.
    assert!(commits <= 20, "{commits} commits in {waited:?}");
}

#[tokio::test(start_paused = true)]
async fn turns_go_on_while_a_commit_is_in_flight() {
    let agent = Agent::connected().await;
    agent.store.hold();
    let (turns, begun) = (agent.handle.stats().turns, agent.store.begun());
    for n in 1..=10 {
        let handle = agent.handle.clone();
        tokio::spawn(async move { handle.submit(spec(n)).await });
        idle().await;
    }
    assert!(agent.handle.stats().turns >= turns + 10);
    assert_eq!(agent.store.begun(), begun + 1);
    agent.store.release();
    for n in 1..=10 {
        agent.reaches(n, TaskStatus::Running).await;
    }
    assert_eq!(agent.store.most_in_flight(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_failed_commit_holds_back_what_creates_until_the_store_works() {
    let (runtime, store) = strict();
    let agent = Agent::with(runtime, store).await;
    agent.runtime.next(RequestKind::InspectImage, [Way::After(Duration::from_secs(1))]);
    agent.handle.submit(spec(1)).await.unwrap();
    agent.store.fail(Some(Fault::NoSpace));
    pass(Duration::from_secs(60)).await;
    assert_eq!(agent.runtime.count(RequestKind::Create), 0);
    let text = "no space left on the state device: disk full".to_owned();
    assert_eq!(agent.handle.host().get().store_failing, Some(text.clone()));
    let refused = agent.handle.submit(spec(2)).await;
    assert_eq!(refused, Err(RequestError::Refused(SubmitError::StoreFailing(text))));
    assert!(agent.handle.stats().failed_commits > 1);
    agent.store.fail(None);
    agent.reaches(1, TaskStatus::Running).await;
    assert_eq!(agent.runtime.count(RequestKind::Create), 1);
    assert_eq!(agent.handle.host().get().store_failing, None);
}

#[tokio::test(start_paused = true)]
async fn p18_a_stop_leaves_at_once_while_the_store_fails() {
    let agent = Agent::connected().await;
    agent.run(1).await;
    agent.store.fail(Some(Fault::NoSpace));
    // Something has to be committed for the failure to be found.
    let refused = tokio::spawn({
        let handle = agent.handle.clone();
        async move { handle.submit(spec(2)).await }
    });
    let mut host = agent.handle.host();
    bounded(host.wait_for(|host| host.store_failing.is_some())).await.unwrap();
    let asked = Instant::now();
    agent.handle.stop(TaskId::from_bits(1), None, false).unwrap();
    idle().await;
    assert_eq!(agent.runtime.called_at(RequestKind::Stop), Some(asked));
    assert_eq!(agent.runtime.running_count(), 0);
    agent.store.fail(None);
    agent.reaches(1, TaskStatus::Stopped).await;
    bounded(refused).await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_store_that_panics_is_one_that_fails() {
    let agent = Agent::connected().await;
    agent.store.fail(Some(Fault::Panic));
    let handle = agent.handle.clone();
    let accepted = tokio::spawn(async move { handle.submit(spec(1)).await });
    let mut host = agent.handle.host();
    let view = bounded(host.wait_for(|host| host.store_failing.is_some())).await.unwrap();
    assert_eq!(view.store_failing.as_deref(), Some("the state store broke off: planted in commit"));
    agent.store.fail(None);
    bounded(accepted).await.unwrap().unwrap();
    agent.reaches(1, TaskStatus::Running).await;
}
