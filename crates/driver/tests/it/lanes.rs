//! The three lanes of the inbox (design.md R6) and the executors behind them.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use lighterman_calls::{RequestKind, Watched};
use lighterman_driver::{EVENTS, REQUESTS, RequestError};
use lighterman_ids::TaskId;
use lighterman_status::TaskStatus;
use tokio::time::Instant;

use crate::{
    agent::{Agent, bounded, driver, idle, pass, spec},
    runtime::{Fake, Opening, Way, broken, noise},
    store::Store,
};

#[tokio::test(start_paused = true)]
async fn with_nothing_to_do_no_turn_is_handled() {
    let agent = Agent::connected().await;
    agent.run(1).await;
    idle().await;
    let turns = agent.handle.stats().turns;
    // Below the time of the next re-check.
    pass(Duration::from_secs(290)).await;
    assert_eq!(agent.handle.stats().turns, turns);
    // A re-check is one turn for its deadline and one for its answer.
    pass(Duration::from_secs(60)).await;
    assert_eq!(agent.handle.stats().turns, turns + 2);
}

#[tokio::test(start_paused = true)]
async fn a_burst_of_events_is_one_turn() {
    let agent = Agent::connected().await;
    agent.run(1).await;
    idle().await;
    let turns = agent.handle.stats().turns;
    let id = agent.runtime.ids().remove(0);
    for _ in 0..EVENTS {
        agent.runtime.tell(noise(&id));
    }
    idle().await;
    let stats = agent.handle.stats();
    // The stream hands them over in some pieces.
    assert!(stats.turns <= turns + 50, "{}", stats.turns - turns);
    assert_eq!(stats.overflows, 0);
}

#[tokio::test(start_paused = true)]
async fn a_ring_that_runs_over_costs_one_list_and_no_transition() {
    let runtime = Arc::new(Fake::default());
    let agent = Agent::with(Arc::clone(&runtime), Arc::default()).await;
    agent.run(1).await;
    idle().await;
    // The container ends while a new stream pours out more than fits, its end not among it.
    let id = runtime.ids().remove(0);
    let mut items = vec![Watched::Opened];
    items.extend((0..2 * EVENTS + 100).map(|_| noise(&id)));
    let lists = runtime.count(RequestKind::List);
    runtime.next_stream(Opening::Items(items));
    pass(Duration::from_secs(60)).await;
    runtime.tell(broken());
    pass(Duration::from_secs(60)).await;
    assert!(agent.handle.stats().overflows >= 1);
    // One list because the stream was opened anew, at most one more because events were dropped.
    let more = runtime.count(RequestKind::List) - lists;
    assert!((1..=2).contains(&more), "{more}");
    runtime.all_exit(0);
    agent.reaches(1, TaskStatus::Stopped).await;
}

#[tokio::test(start_paused = true)]
async fn an_end_among_dropped_events_is_found_by_the_list() {
    let runtime = Arc::new(Fake::default());
    let agent = Agent::with(Arc::clone(&runtime), Arc::default()).await;
    agent.run(1).await;
    idle().await;
    let id = runtime.ids().remove(0);
    let ended = Instant::now();
    runtime.all_exit(9);
    // Before anybody looks, so much else follows that the ring runs over.
    for _ in 0..3 * EVENTS {
        runtime.tell(noise(&id));
    }
    let view = agent.reaches(1, TaskStatus::Stopped).await;
    assert_eq!((view.exit_code(), ended.elapsed()), (Some(9), Duration::ZERO));
}

#[tokio::test(start_paused = true)]
async fn one_request_too_many_is_busy_and_the_others_are_handled() {
    let (runtime, store) = (Arc::<Fake>::default(), Arc::<Store>::default());
    let (driver, handle, _) = driver(&runtime, &store);
    for n in 0..REQUESTS {
        handle.stop(TaskId::from_bits(u128::try_from(n).unwrap()), None, false).unwrap();
    }
    assert_eq!(handle.stop(TaskId::from_bits(1), None, false), Err(RequestError::Busy));
    assert_eq!(handle.submit(spec(1)).await, Err(RequestError::Busy));
    // Ending is never busy.
    handle.shutdown();
    assert_eq!(handle.stats().busy, 2);
    let running = driver.spawn();
    let ending = bounded(running).await.unwrap();
    assert_eq!((ending.unanswered, ending.unsaved), (0, None));
    assert_eq!(handle.stop(TaskId::from_bits(1), None, false), Err(RequestError::Ended));
}

#[tokio::test(start_paused = true)]
async fn a_full_lane_is_emptied_by_one_turn() {
    let agent = Agent::connected().await;
    let turns = agent.handle.stats().turns;
    // Nothing else runs in between: the loop sees them all at once.
    for n in 0..REQUESTS {
        agent.handle.stop(TaskId::from_bits(u128::try_from(n).unwrap()), None, false).unwrap();
    }
    idle().await;
    assert_eq!(agent.handle.stats().turns, turns + 1);
    agent.handle.stop(TaskId::from_bits(1), None, false).unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_pull_ends_and_has_no_answer() {
    let agent = Agent::connected().await;
    agent.runtime.lose_image(3);
    agent.runtime.next(RequestKind::Pull, [Way::Hang]);
    agent.handle.submit(spec(1)).await.unwrap();
    idle().await;
    assert_eq!((agent.runtime.count(RequestKind::Pull), agent.runtime.dropped()), (1, vec![]));
    let asked = Instant::now();
    agent.handle.stop(TaskId::from_bits(1), None, false).unwrap();
    agent.reaches(1, TaskStatus::Stopped).await;
    idle().await;
    assert_eq!(agent.runtime.dropped(), [RequestKind::Pull]);
    assert_eq!(agent.runtime.count(RequestKind::Create), 0);
    assert!(asked.elapsed() < Duration::from_secs(1));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_panics_is_unknown_and_looked_up() {
    let agent = Agent::connected().await;
    for kind in [RequestKind::InspectImage, RequestKind::Create, RequestKind::Start, RequestKind::Inspect] {
        agent.runtime.next(kind, [Way::Panic]);
    }
    agent.run(1).await;
    // The create was looked up by name before it was made again.
    let calls = agent.runtime.calls();
    let first = calls.iter().position(|kind| *kind == RequestKind::Create).unwrap();
    let second = calls.iter().rposition(|kind| *kind == RequestKind::Create).unwrap();
    assert!(calls[first..second].contains(&RequestKind::Inspect), "{calls:?}");
    assert_eq!(agent.runtime.container_count(), 1);
    agent.runtime.next(RequestKind::Stop, [Way::Panic]);
    agent.runtime.next(RequestKind::Remove, [Way::Panic]);
    agent.stop_and_forget(1).await;
    assert_eq!(agent.runtime.container_count(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_panics_or_ends_without_a_word_is_opened_anew() {
    let runtime = Arc::new(Fake::default());
    runtime.next_stream(Opening::Panic);
    let agent = Agent::with(Arc::clone(&runtime), Arc::default()).await;
    agent.run(1).await;
    for _ in 0..3 {
        // One that stood for a while is opened again at once.
        pass(Duration::from_secs(60)).await;
        runtime.tell(broken());
        idle().await;
        assert_eq!(runtime.open_streams(), 1);
    }
    runtime.all_exit(4);
    assert_eq!(agent.reaches(1, TaskStatus::Stopped).await.exit_code(), Some(4));
}

#[tokio::test(start_paused = true)]
async fn no_answer_is_lost_among_many() {
    let agent = Agent::connected().await;
    let waits = |n: u64| Way::After(Duration::from_millis(n * 7919 % 97));
    for kind in [RequestKind::InspectImage, RequestKind::Create, RequestKind::Start, RequestKind::Inspect] {
        agent.runtime.next(kind, (0..200).map(waits));
    }
    let all: BTreeSet<u128> = (1..=200).collect();
    let begun = Instant::now();
    for n in &all {
        agent.handle.submit(spec(*n)).await.unwrap();
    }
    for n in &all {
        agent.reaches(*n, TaskStatus::Running).await;
    }
    assert_eq!(agent.runtime.running_count(), 200);
    for n in &all {
        agent.stop_and_forget(*n).await;
    }
    // Clean-up was asked for, so that nothing waits for its time.
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
    assert_eq!(agent.runtime.container_count(), 0);
    assert!(agent.handle.tasks().get().is_empty());
}

/// The same with real threads and real time, which shows races that a single thread cannot have.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_answer_is_lost_among_threads() {
    let agent = Agent::with(Arc::default(), Arc::default()).await;
    let tasks = (1..=200).map(|n| {
        let handle = agent.handle.clone();
        tokio::spawn(async move {
            while handle.submit(spec(n)).await == Err(RequestError::Busy) {
                tokio::task::yield_now().await;
            }
        })
    });
    for task in tasks.collect::<Vec<_>>() {
        bounded(task).await.unwrap();
    }
    for n in 1..=200 {
        agent.reaches(n, TaskStatus::Running).await;
    }
    agent.runtime.all_exit(0);
    for n in 1..=200 {
        agent.reaches(n, TaskStatus::Stopped).await;
    }
    let (ending, _) = agent.end().await;
    assert_eq!((ending.unanswered, ending.unsaved), (0, None));
}

#[tokio::test(start_paused = true)]
async fn the_loop_goes_on_without_handles() {
    let agent = Agent::connected().await;
    agent.run(1).await;
    let Agent { runtime, store, clock: _, handle, running } = agent;
    let mut tasks = handle.tasks();
    drop(handle);
    runtime.all_exit(5);
    let id = TaskId::from_bits(1);
    let stopped = bounded(tasks.wait_for(|tasks| tasks[&id].known == TaskStatus::Stopped)).await;
    assert!(stopped.is_some());
    assert!(!running.is_finished());
    assert!(store.holds("web"));
}

#[tokio::test(start_paused = true)]
async fn a_wall_clock_that_steps_moves_no_deadline() {
    const HOUR: i64 = 3_600_000_000_000;
    let mut removed_after = Vec::new();
    for step in [0, -HOUR, 24 * HOUR] {
        let agent = Agent::connected().await;
        agent.run(1).await;
        agent.runtime.all_exit(0);
        agent.reaches(1, TaskStatus::Stopped).await;
        let stopped = Instant::now();
        agent.clock.step_wall(step);
        agent.forgets(1).await;
        removed_after.push(stopped.elapsed().as_secs());
    }
    assert_eq!(removed_after, [removed_after[0]; 3]);
    assert!(removed_after[0] >= 10_800);
}
