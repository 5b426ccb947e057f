//! Streams that break, repeat themselves, or never end.

use std::time::Duration;

use futures_util::future::join_all;
use lighterman_docker_tests::AMPLE;
use lighterman_testkit::proxy::{Fault, LineFate, Rule};
use rustix::process::Signal;

use super::{events, in_bounds, inspect, logs};
use crate::{corner::in_corner, engine::times};

/// Runs at once.
const RUNS: usize = 20;

/// Each stream is cut in the middle of its first object, and comes again only when all containers have ended.
#[tokio::test]
async fn b002_exits_while_the_event_stream_is_cut_are_all_told() {
    in_corner(async |corner| {
        let proxy = corner.proxy();
        let watch = corner.engine().watch().await;
        let cut = proxy.add(Rule::new(events(), Fault::CutBody(100)));
        let task = |code: usize| corner.task(&["trap", &code.to_string(), "+", "print", "ready", "+", "sleep", "600"]);
        let mut runs: Vec<_> = (1..=RUNS).map(|code| corner.run(&task(code)).docker(proxy.socket()).start()).collect();
        join_all(runs.iter_mut().map(|run| run.until_said("ready"))).await;
        proxy.add(Rule::new(events(), Fault::CutBefore));
        proxy.remove(cut);
        for container in corner.engine().containers().await {
            corner.engine().kill(&container.id, "TERM").await;
        }
        watch
            .until(|stories| {
                let ended = stories.values().filter(|story| times(story, "die") == 1).count();
                (ended == RUNS).then_some(())
            })
            .await;
        let asked = proxy.count(&events());
        proxy.clear();
        let all = join_all(runs.into_iter().map(|run| run.end())).await;
        for (index, ended) in all.iter().enumerate() {
            ended.assert_code(i32::try_from(index).unwrap() + 1);
            let mut statuses = ended.statuses();
            statuses.dedup();
            let mut sorted = statuses.clone();
            let order = ["NONE", "MANIFEST_PULLED", "PULLED", "CREATED", "RUNNING", "STOPPED"];
            sorted.sort_by_key(|status| order.iter().position(|known| known == status));
            assert_eq!(statuses, sorted, "a transition came twice: {}", ended.story());
        }
        // Each opens its stream with growing pauses of a second and more.
        assert!(asked < RUNS * 15, "{asked} openings: a busy loop");
        corner.nothing_is_left().await;
    })
    .await;
}

#[tokio::test]
async fn doubled_and_lost_events_change_nothing() {
    in_corner(async |corner| {
        for fate in [LineFate::Double, LineFate::Lose, LineFate::Delay(Duration::from_millis(300))] {
            let proxy = corner.proxy();
            let decide = fate.clone();
            proxy.add(Rule::new(events(), Fault::lines(move |_| decide.clone())));
            let task = corner.task(&["print", "once", "+", "exit", "3"]);
            let run = corner.run(&task).docker(proxy.socket()).start();
            let container = corner.engine().clone();
            if fate == LineFate::Lose {
                // Nobody tells of the end. What does is the answer to a look; a break of the stream makes one.
                let watch = container.watch().await;
                watch.until(|stories| stories.values().any(|story| times(story, "die") == 1).then_some(())).await;
                proxy.clear();
                proxy.go_away().await;
                proxy.come_back().unwrap();
            }
            let ended = in_bounds(run).await;
            ended.assert_code(3);
            assert_eq!(ended.statuses().iter().filter(|status| **status == "STOPPED").count(), 1, "{fate:?}");
        }
        corner.nothing_is_left().await;
    })
    .await;
}

/// The engine's stream tells of the end before the start is looked at.
#[tokio::test]
async fn b004_a_start_that_is_told_late_brings_nothing_back() {
    in_corner(async |corner| {
        let proxy = corner.proxy();
        proxy.add(Rule::new(
            events(),
            Fault::lines(|line| {
                let is_start = line.contains(r#""Action":"start""#);
                if is_start { LineFate::Delay(Duration::from_secs(1)) } else { LineFate::Pass }
            }),
        ));
        let ended = in_bounds(corner.run(&corner.task(&["exit", "3"])).docker(proxy.socket()).start()).await;
        ended.assert_code(3);
        assert_eq!(ended.statuses().last(), Some(&"STOPPED"));
    })
    .await;
}

#[tokio::test]
async fn b033_an_output_stream_that_never_ends_does_not_hold_up_the_exit_code() {
    in_corner(async |corner| {
        let proxy = corner.proxy();
        proxy.add(Rule::new(logs(), Fault::DropAnswer));
        let ended = in_bounds(corner.run(&corner.task(&["exit", "3"])).docker(proxy.socket()).start()).await;
        ended.assert_code(3);
        assert!(super::notes(&ended).contains("the output of main"), "what is left out is told: {}", ended.story());
        corner.nothing_is_left().await;
    })
    .await;
}

#[tokio::test]
async fn an_output_stream_that_breaks_is_told() {
    in_corner(async |corner| {
        let proxy = corner.proxy();
        proxy.add(Rule::new(logs(), Fault::CutBody(3)));
        let task = corner.task(&["print", "much", "+", "sleep", "1", "+", "exit", "3"]);
        let ended = in_bounds(corner.run(&task).docker(proxy.socket()).start()).await;
        ended.assert_code(3);
        assert!(super::notes(&ended).contains("the output of main"), "{}", ended.story());
        corner.nothing_is_left().await;
    })
    .await;
}

#[tokio::test]
async fn an_interrupt_gets_through_while_the_event_stream_is_away() {
    in_corner(async |corner| {
        let proxy = corner.proxy();
        proxy.add(Rule::new(events(), Fault::CutBefore).skip(1));
        let task = corner.task(&["trap", "9", "+", "print", "ready", "+", "sleep", "600"]);
        let mut run = corner.run(&task).docker(proxy.socket()).start();
        run.until_said("ready").await;
        proxy.go_away().await;
        proxy.come_back().unwrap();
        tokio::time::timeout(AMPLE, proxy.seen(&events(), 2)).await.unwrap();
        run.signal(Signal::INT);
        let ended = in_bounds(run).await;
        ended.assert_code(130);
        assert_eq!(ended.container()["exit_code"], 9, "{}", ended.story());
        assert!(proxy.count(&inspect()) < 20);
        corner.nothing_is_left().await;
    })
    .await;
}
