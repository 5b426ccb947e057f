//! The end: in order (engine.md 3.12), and not in order.

use std::{sync::Arc, time::Duration};

use lighterman_calls::RequestKind;
use lighterman_driver::{Ending, RequestError};
use lighterman_engine::SubmitError;
use lighterman_ids::TaskId;
use lighterman_status::TaskStatus;

use crate::{
    agent::{Agent, bounded, driver, idle, pass, spec},
    runtime::{Fake, Way},
    store::{Fault, Store},
};

const IN_ORDER: Ending = Ending { unanswered: 0, unsaved: None };

#[tokio::test(start_paused = true)]
async fn an_end_with_nothing_out_takes_no_time_and_saves_nothing() {
    let agent = Agent::connected().await;
    agent.run(1).await;
    idle().await;
    let (runtime, store) = (Arc::clone(&agent.runtime), Arc::clone(&agent.store));
    let (generation, calls) = (store.generation(), runtime.calls());
    let (ending, took) = agent.end().await;
    assert_eq!((ending, took), (IN_ORDER, Duration::ZERO));
    // Containers are left as they are, and a crash at that moment would have left the same.
    assert_eq!((store.generation(), runtime.calls(), runtime.running_count()), (generation, calls, 1));
    assert_eq!(runtime.open_streams(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_hangs_is_waited_for_five_seconds() {
    let agent = Agent::connected().await;
    agent.runtime.next(RequestKind::Create, [Way::Hang]);
    agent.handle.submit(spec(1)).await.unwrap();
    idle().await;
    let runtime = Arc::clone(&agent.runtime);
    let (ending, took) = agent.end().await;
    assert_eq!((ending, took), (Ending { unanswered: 1, unsaved: None }, Duration::from_secs(5)));
    idle().await;
    assert_eq!(runtime.dropped(), [RequestKind::Create]);
}

#[tokio::test(start_paused = true)]
async fn an_answer_in_time_is_learned_and_saved() {
    let agent = Agent::connected().await;
    agent.runtime.next(RequestKind::Create, [Way::After(Duration::from_secs(2))]);
    agent.handle.submit(spec(1)).await.unwrap();
    idle().await;
    let (runtime, store) = (Arc::clone(&agent.runtime), Arc::clone(&agent.store));
    let (ending, took) = agent.end().await;
    assert_eq!(ending, IN_ORDER);
    assert!(took <= Duration::from_secs(2), "{took:?}");
    assert!(store.holds(runtime.ids()[0].as_str()));
    // Nothing is begun any more.
    assert_eq!(runtime.count(RequestKind::Start), 0);
}

#[tokio::test(start_paused = true)]
async fn what_is_held_back_is_not_begun_any_more() {
    let agent = Agent::connected().await;
    agent.runtime.next(RequestKind::InspectImage, [Way::After(Duration::from_secs(1))]);
    agent.handle.submit(spec(1)).await.unwrap();
    agent.store.hold();
    // The create is decided, and waits for the commit of its name.
    pass(Duration::from_secs(2)).await;
    agent.handle.shutdown();
    idle().await;
    agent.store.release();
    let (runtime, (ending, _)) = (Arc::clone(&agent.runtime), agent.end().await);
    assert_eq!((ending, runtime.count(RequestKind::Create)), (IN_ORDER, 0));
}

#[tokio::test(start_paused = true)]
async fn a_pull_is_cancelled_and_not_waited_for() {
    let agent = Agent::connected().await;
    agent.runtime.lose_image(0);
    agent.runtime.next(RequestKind::Pull, [Way::Hang]);
    agent.handle.submit(spec(1)).await.unwrap();
    idle().await;
    assert_eq!(agent.runtime.count(RequestKind::Pull), 1);
    let (ending, took) = agent.end().await;
    assert_eq!((ending, took), (IN_ORDER, Duration::ZERO));
}

#[tokio::test(start_paused = true)]
async fn a_store_that_hangs_is_waited_for_five_seconds_more() {
    let agent = Agent::connected().await;
    agent.store.hold();
    let handle = agent.handle.clone();
    let accepted = tokio::spawn(async move { handle.submit(spec(1)).await });
    idle().await;
    let (ending, took) = agent.end().await;
    let unsaved = Some("the last commit did not end in time".to_owned());
    assert_eq!((ending, took), (Ending { unanswered: 0, unsaved }, Duration::from_secs(10)));
    assert_eq!(bounded(accepted).await.unwrap(), Err(RequestError::Ended));
}

#[tokio::test(start_paused = true)]
async fn a_store_that_fails_is_named() {
    let agent = Agent::connected().await;
    agent.run(1).await;
    agent.store.fail(Some(Fault::NoSpace));
    agent.runtime.all_exit(0);
    idle().await;
    let (ending, took) = agent.end().await;
    assert_eq!(ending.unsaved.as_deref(), Some("the state store takes no changes"));
    assert!(took <= Duration::from_secs(10), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn nothing_is_accepted_while_ending_or_afterwards() {
    let agent = Agent::connected().await;
    agent.runtime.next(RequestKind::Create, [Way::Hang]);
    agent.handle.submit(spec(1)).await.unwrap();
    idle().await;
    let handle = agent.handle.clone();
    let ending = tokio::spawn(agent.end());
    idle().await;
    assert_eq!(handle.submit(spec(2)).await, Err(RequestError::Refused(SubmitError::Closing)));
    let (mut tasks, mut updates) = (handle.tasks(), handle.updates());
    let (ending, _) = bounded(ending).await.unwrap();
    assert_eq!(ending.unanswered, 1);
    assert_eq!(handle.submit(spec(3)).await, Err(RequestError::Ended));
    assert_eq!(tasks.wait_for(|tasks| tasks.is_empty()).await, None);
    while bounded(updates.next()).await.is_some() {}
    assert!(handle.updates().next().await.is_none());
    assert!(handle.progress().next().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn asking_twice_changes_nothing() {
    let agent = Agent::connected().await;
    agent.runtime.next(RequestKind::Create, [Way::Hang]);
    agent.handle.submit(spec(1)).await.unwrap();
    idle().await;
    agent.handle.shutdown();
    pass(Duration::from_secs(3)).await;
    let (_, took) = agent.end().await;
    assert_eq!(took, Duration::from_secs(2));
}

/// Ends the loop, as a second signal or a crash does, a little later each time; the next start over the same
/// store and runtime brings the task to the same end, with one container.
#[tokio::test(start_paused = true)]
async fn an_abort_at_any_moment_is_a_crash_that_loses_nothing() {
    for micros in (0..250_000).step_by(9_700) {
        let (runtime, store) = (Arc::<Fake>::default(), Arc::<Store>::default());
        store.take(Duration::from_millis(30));
        for kind in [RequestKind::Create, RequestKind::Start, RequestKind::Inspect] {
            runtime.next(kind, [Way::After(Duration::from_millis(20))]);
        }
        let agent = Agent::with(Arc::clone(&runtime), Arc::clone(&store)).await;
        let handle = agent.handle.clone();
        let accepted = tokio::spawn(async move { handle.submit(spec(1)).await });
        pass(Duration::from_micros(micros)).await;
        agent.running.abort();
        let was_accepted = bounded(accepted).await.unwrap().is_ok();
        idle().await;

        let agent = Agent::with(Arc::clone(&runtime), Arc::clone(&store)).await;
        let is_known = agent.handle.tasks().get().contains_key(&TaskId::from_bits(1));
        assert!(is_known || !was_accepted, "after {micros} µs an accepted task is lost");
        if !is_known {
            assert_eq!(runtime.container_count(), 0);
            continue;
        }
        agent.reaches(1, TaskStatus::Running).await;
        assert_eq!((runtime.container_count(), runtime.running_count()), (1, 1), "after {micros} µs");
        runtime.all_exit(7);
        assert_eq!(agent.reaches(1, TaskStatus::Stopped).await.exit_code(), Some(7));
        agent.stop_and_forget(1).await;
        assert_eq!(runtime.container_count(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn a_driver_that_never_ran_leaves_nothing() {
    let (runtime, store) = (Arc::<Fake>::default(), Arc::<Store>::default());
    let (driver, handle, _) = driver(&runtime, &store);
    drop(driver);
    assert_eq!(handle.submit(spec(1)).await, Err(RequestError::Ended));
    assert_eq!((store.begun(), runtime.calls()), (0, Vec::new()));
}
