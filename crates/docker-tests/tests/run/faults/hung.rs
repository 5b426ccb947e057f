//! Calls that are never answered.

use std::time::Duration;

use lighterman_docker_tests::AMPLE;
use lighterman_testkit::proxy::{Fault, Rule};
use rustix::process::Signal;

use super::{in_bounds, inspect, kill, list, notes, pull, remove, stop, version};
use crate::corner::in_corner;

#[tokio::test]
async fn b032_a_version_that_is_never_answered_is_told_and_asked_for_again() {
    in_corner(async |corner| {
        let proxy = corner.proxy();
        proxy.add(Rule::new(version(), Fault::Hang).times(1));
        let run = corner.run(&corner.task(&["exit", "3"])).docker(proxy.socket());
        let ended = in_bounds(run.env("LIGHTERMAN_RUNTIME_VERSION_TIMEOUT", "500ms").start()).await;
        ended.assert_code(3);
        assert!(notes(&ended).contains("no complete answer"), "{}", ended.story());
        corner.nothing_is_left().await;
    })
    .await;
}

#[tokio::test]
async fn an_engine_that_is_hung_altogether_is_given_up() {
    in_corner(async |corner| {
        let proxy = corner.proxy();
        proxy.pause();
        let run = corner.run(&corner.task(&["exit", "3"])).docker(proxy.socket());
        let run = run.env("LIGHTERMAN_RUNTIME_VERSION_TIMEOUT", "500ms").env("LIGHTERMAN_RUNTIME_PATIENCE", "2s");
        let ended = in_bounds(run.start()).await;
        ended.assert_code(125);
        assert!(ended.failure().contains("no complete answer"), "{}", ended.failure());
        assert!(ended.took < Duration::from_secs(6), "{:?}", ended.took);
        corner.nothing_is_left().await;
    })
    .await;
}

#[tokio::test]
async fn b031_a_stop_that_is_never_answered_ends_in_a_kill() {
    in_corner(async |corner| {
        let proxy = corner.proxy();
        proxy.add(Rule::new(stop(), Fault::Hang));
        let task = corner.task(&["print", "ready", "+", "ignore-term"]).with("stopTimeout", 1);
        let run = corner.run(&task).docker(proxy.socket()).env("LIGHTERMAN_RUNTIME_STOP_MARGIN", "500ms");
        let mut run = run.start();
        run.until_said("ready").await;
        run.signal(Signal::INT);
        let ended = in_bounds(run).await;
        ended.assert_code(130);
        assert_eq!(ended.container()["exit_code"], 137, "{}", ended.story());
        assert_eq!((proxy.count(&stop()), proxy.count(&kill())), (2, 1));
        corner.nothing_is_left().await;
    })
    .await;
}

#[tokio::test]
async fn a_third_interrupt_leaves_an_engine_that_can_neither_stop_nor_kill() {
    in_corner(async |corner| {
        let proxy = corner.proxy();
        let rules = [stop(), kill()].map(|pattern| proxy.add(Rule::new(pattern, Fault::Hang)));
        let task = corner.task(&["print", "ready", "+", "trap", "9", "+", "sleep", "600"]);
        let mut run = corner.run(&task).docker(proxy.socket()).start();
        run.until_said("ready").await;
        for pattern in [stop(), kill()] {
            run.signal_again(Signal::INT).await;
            tokio::time::timeout(AMPLE, proxy.seen(&pattern, 1)).await.unwrap();
        }
        run.signal_again(Signal::INT).await;
        let ended = run.end_within(Duration::from_secs(2)).await;
        let ended = ended.unwrap_or_else(|run| panic!("it does not leave: {}", run.story()));
        ended.assert_code(130);
        let text = ended.events.last().unwrap()["text"].as_str().unwrap();
        assert!(text.contains("the next run cleans up"), "{text}");
        assert_eq!(corner.states().len(), 1);
        rules.into_iter().for_each(|rule| proxy.remove(rule));
        let next = in_bounds(corner.run(&corner.task(&["exit", "0"])).docker(proxy.socket()).start()).await;
        next.assert_code(0);
        let leftover = next.of("leftover").next().unwrap_or_else(|| panic!("{}", next.story()));
        assert_eq!((&leftover["state"], &leftover["exit_code"]), (&"cleaned".into(), &9.into()));
        corner.nothing_is_left().await;
    })
    .await;
}

#[tokio::test]
async fn an_inspect_that_is_not_answered_once_changes_nothing() {
    in_corner(async |corner| {
        let proxy = corner.proxy();
        proxy.add(Rule::new(inspect(), Fault::Hang).times(1));
        let run = corner.run(&corner.task(&["sleep", "1", "+", "exit", "3"])).docker(proxy.socket());
        let ended = in_bounds(run.env("LIGHTERMAN_RUNTIME_INSPECT_TIMEOUT", "500ms").start()).await;
        ended.assert_code(3);
        assert_eq!(ended.container()["reason"], serde_json::Value::Null, "{}", ended.story());
        corner.nothing_is_left().await;
    })
    .await;
}

/// Without any inspect a running container cannot be told from one that never ran: it is not left to itself.
#[tokio::test]
async fn inspects_that_are_never_answered_end_the_task_with_their_name() {
    in_corner(async |corner| {
        let proxy = corner.proxy();
        proxy.add(Rule::new(inspect(), Fault::Hang));
        let run = corner.run(&corner.task(&["ignore-term"]).with("stopTimeout", 1)).docker(proxy.socket());
        let run = run.env("LIGHTERMAN_RUNTIME_INSPECT_TIMEOUT", "200ms");
        let ended = in_bounds(run.start()).await;
        // We had it killed, and the event told how it ended.
        ended.assert_code(137);
        assert_eq!(ended.container()["reason"]["name"], "CannotInspectContainerError", "{}", ended.story());
        corner.nothing_is_left().await;
    })
    .await;
}

#[tokio::test]
async fn a_list_that_is_never_answered_holds_nothing_up() {
    in_corner(async |corner| {
        let proxy = corner.proxy();
        proxy.add(Rule::new(list(), Fault::Hang));
        let ended = in_bounds(corner.run(&corner.task(&["exit", "3"])).docker(proxy.socket()).start()).await;
        ended.assert_code(3);
        assert!(ended.took < Duration::from_secs(8), "{:?}", ended.took);
        corner.nothing_is_left().await;
    })
    .await;
}

/// Remove, then forget.
#[tokio::test]
async fn b018_a_removal_that_hangs_under_a_killed_command_is_made_up_for() {
    in_corner(async |corner| {
        let proxy = corner.proxy();
        proxy.add(Rule::new(remove(), Fault::Hang));
        let run = corner.run(&corner.task(&["exit", "42"])).docker(proxy.socket()).start();
        tokio::time::timeout(AMPLE, proxy.seen(&remove(), 1)).await.unwrap();
        run.kill().await;
        assert_eq!(corner.engine().the_container().await.state, "exited");
        proxy.clear();
        let next = in_bounds(corner.run(&corner.task(&["exit", "0"])).docker(proxy.socket()).start()).await;
        next.assert_code(0);
        let leftover = next.of("leftover").next().unwrap_or_else(|| panic!("{}", next.story()));
        assert_eq!((&leftover["state"], &leftover["exit_code"]), (&"cleaned".into(), &42.into()), "b063");
        corner.nothing_is_left().await;
    })
    .await;
}

/// Tries and pauses take some 15 seconds.
#[tokio::test]
async fn b034_a_pull_that_always_stalls_is_tried_a_few_times() {
    in_corner(async |corner| {
        let proxy = corner.proxy();
        proxy.add(Rule::new(pull(), Fault::Hang));
        let task = corner.task(&["exit", "0"]).with("image", "localhost:1/nowhere:1");
        let run = corner.run(&task).docker(proxy.socket()).env("LIGHTERMAN_IMAGES_PULL_FIRST_PROGRESS", "100ms");
        let ended = run.start().end().await;
        ended.assert_code(125);
        assert_eq!(ended.container()["reason"]["name"], "DockerTimeoutError", "{}", ended.story());
        assert!(ended.container()["exit_code"].is_null(), "{}", ended.story());
        assert_eq!(proxy.count(&pull()), 5);
        assert!(ended.took < Duration::from_secs(25), "{:?}", ended.took);
        corner.nothing_is_left().await;
    })
    .await;
}
