//! Readers: what they see, and that none of them can hold the loop up.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use lighterman_calls::{PullProgress, RequestKind};
use lighterman_driver::{PROGRESS, UPDATES, Update};
use lighterman_ids::TaskId;
use lighterman_status::TaskStatus;
use lighterman_view::RuntimeLink;

use crate::{
    agent::{Agent, bounded, driver, idle, spec},
    runtime::{Fake, Way},
    store::Store,
};

#[tokio::test(start_paused = true)]
async fn who_asks_before_the_start_sees_everything_in_order() {
    let (runtime, store) = (Arc::<Fake>::default(), Arc::<Store>::default());
    let (driver, handle, _) = driver(&runtime, &store);
    let mut updates = handle.updates();
    let running = driver.spawn();
    handle.submit(spec(1)).await.unwrap();
    let id = TaskId::from_bits(1);
    let mut tasks = handle.tasks();
    bounded(tasks.wait_for(|tasks| tasks.get(&id).is_some_and(|view| view.known == TaskStatus::Running))).await;
    runtime.all_exit(0);
    bounded(tasks.wait_for(|tasks| tasks[&id].known == TaskStatus::Stopped)).await;
    handle.clean_up(id.clone()).unwrap();
    bounded(tasks.wait_for(|tasks| tasks.is_empty())).await;
    handle.shutdown();
    let _ending = bounded(running).await.unwrap();

    let (mut known, mut links, mut last) = (Vec::new(), Vec::new(), None);
    while let Some(update) = bounded(updates.next()).await {
        match update {
            Update::Task(view) => {
                known.push(view.known);
                last = Some(view);
            }
            Update::Host(view) => links.push(view.runtime.clone()),
            Update::Refused { task, error } => panic!("{task} was refused: {error}"),
            Update::Missed(count) => panic!("{count} missed"),
        }
    }
    known.dedup();
    assert_eq!(known.last(), Some(&TaskStatus::Stopped));
    assert!(known.is_sorted_by(|a, b| !b.is_before(*a)), "{known:?}");
    assert!(known.contains(&TaskStatus::Running));
    assert!(last.unwrap().removed);
    assert_eq!(links.first(), Some(&RuntimeLink::Connecting { trouble: None }));
    assert!(links.contains(&RuntimeLink::Up { version: "20.10.24".into() }), "{links:?}");
}

#[tokio::test(start_paused = true)]
async fn a_slow_reader_misses_updates_is_told_and_holds_nothing_up() {
    let agent = Agent::connected().await;
    let mut updates = agent.handle.updates();
    agent.run(1).await;
    // A task that is known already is shown again.
    for _ in 0..2 * UPDATES {
        bounded(agent.handle.submit(spec(1))).await.unwrap();
    }
    let Some(Update::Missed(count)) = updates.next().await else { panic!("the reader was not told") };
    assert!(count >= u64::try_from(UPDATES).unwrap(), "{count}");
    for _ in 0..UPDATES {
        assert!(matches!(updates.next().await, Some(Update::Task(view)) if view.known == TaskStatus::Running));
    }
    // It has caught up, and the next update is a new one.
    agent.runtime.all_exit(0);
    let next = bounded(updates.next()).await;
    assert!(matches!(next, Some(Update::Task(_))), "{next:?}");
}

#[tokio::test(start_paused = true)]
async fn the_map_holds_at_least_what_an_update_told() {
    let agent = Agent::connected().await;
    let (mut updates, tasks) = (agent.handle.updates(), agent.handle.tasks());
    agent.handle.submit(spec(1)).await.unwrap();
    loop {
        if let Some(Update::Task(view)) = bounded(updates.next()).await {
            let map = tasks.get();
            assert!(!map[&view.id].known.is_before(view.known));
            if view.known == TaskStatus::Running {
                break;
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_snapshot_stays_as_it_was() {
    let agent = Agent::connected().await;
    agent.run(1).await;
    let before = agent.handle.tasks().get();
    agent.run(2).await;
    assert_eq!(before.len(), 1);
    assert_eq!(agent.handle.tasks().get().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn progress_of_a_pull_costs_no_turn() {
    let agent = Agent::connected().await;
    let turns = agent.handle.stats().turns;
    agent.runtime.lose_image(5_000);
    let (mut fast, mut slow) = (agent.handle.progress(), agent.handle.progress());
    let all = tokio::spawn(async move {
        let mut last = None;
        while let Some(news) = fast.next().await {
            let is_last = news.step.current == Some(4_999);
            last = Some(news);
            if is_last {
                break;
            }
        }
        last
    });
    agent.run(1).await;
    let news = bounded(all).await.unwrap().unwrap();
    assert_eq!((news.image.as_str(), news.step.status.as_str()), ("web:1", "Downloading"));
    assert!(agent.handle.stats().turns < turns + 30, "{}", agent.handle.stats().turns - turns);
    // Whoever is slow sees the latest, and the last of each layer once more: that of the small one was pushed out.
    let first = bounded(slow.next()).await.unwrap();
    assert_eq!(first.step.current, Some(5_002 - u64::try_from(PROGRESS).unwrap()));
    let mut ends = BTreeMap::new();
    for _ in 1..PROGRESS {
        let PullProgress { layer, status, current, .. } = bounded(slow.next()).await.unwrap().step;
        ends.insert(layer, (status, current));
    }
    let end = |layer: &str| ends.get(layer).map(|(status, current)| (status.as_str(), *current));
    assert_eq!(end("large"), Some(("Downloading", Some(4_999))));
    assert_eq!(end("small"), Some(("Pull complete", Some(0))));
}

#[tokio::test(start_paused = true)]
async fn a_submit_that_nobody_waits_for_is_made_all_the_same() {
    let agent = Agent::connected().await;
    agent.store.hold();
    for _ in 0..10 {
        let gave_up = tokio::time::timeout(Duration::from_secs(1), agent.handle.submit(spec(1))).await;
        assert!(gave_up.is_err());
    }
    agent.store.release();
    agent.reaches(1, TaskStatus::Running).await;
    assert_eq!(agent.runtime.count(RequestKind::Create), 1);
}

#[tokio::test(start_paused = true)]
async fn everybody_who_submits_the_same_task_hears_of_it() {
    let agent = Agent::connected().await;
    agent.runtime.next(RequestKind::InspectImage, [Way::After(Duration::from_secs(1))]);
    agent.store.take(Duration::from_millis(10));
    let submits = (0..5).map(|_| {
        let handle = agent.handle.clone();
        tokio::spawn(async move { handle.submit(spec(1)).await })
    });
    for submit in submits.collect::<Vec<_>>() {
        assert_eq!(bounded(submit).await.unwrap().unwrap().id, TaskId::from_bits(1));
    }
    idle().await;
}
