//! The engine is killed under a running container.

use std::panic::{AssertUnwindSafe, resume_unwind};

use futures_util::FutureExt as _;
use rustix::process::Signal;

use super::second_engine::SecondEngine;
use crate::{
    corner::{Corner, in_corner},
    launch::{Ended, Running},
};

/// A program that ends with 7 when it is asked to.
const ENDLESS: &[&str] = &["trap", "7", "+", "print", "ready", "+", "sleep", "600"];

/// Runs `test` with an engine that may be killed, and ends that engine, also when the test failed.
async fn with_own_engine(argument: &str, test: impl AsyncFnOnce(&Corner, &mut SecondEngine)) {
    in_corner(async |corner| {
        let mut engine = SecondEngine::start(corner, argument).await;
        let outcome = AssertUnwindSafe(test(corner, &mut engine)).catch_unwind().await;
        engine.end().await;
        if let Err(panic) = outcome {
            resume_unwind(panic);
        }
    })
    .await;
}

async fn ready(corner: &Corner, engine: &SecondEngine, patience: &str) -> Running {
    let run = corner.run(&corner.task(ENDLESS)).docker(&engine.socket());
    let mut run = run.env("LIGHTERMAN_RUNTIME_PATIENCE", patience).start();
    run.until_said("ready").await;
    run
}

async fn ended(run: Running) -> Ended {
    let limit = std::time::Duration::from_secs(20);
    run.end_within(limit).await.unwrap_or_else(|run| panic!("it does not end: {}", run.story()))
}

async fn until_away(run: &mut Running) {
    run.until(|event| {
        let text = event["text"].as_str().unwrap_or_default();
        (event["type"] == "note" && text.contains("Docker does not answer")).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_daemon_that_keeps_its_containers_is_waited_for() {
    with_own_engine("--live-restore", async |corner, engine| {
        let mut run = ready(corner, engine, "60s").await;
        engine.kill().await;
        until_away(&mut run).await;
        engine.come_up().await;
        run.until(|event| (event["text"] == "Docker answers again").then_some(())).await;
        let seen = engine.seen_by(corner);
        let container = seen.the_container().await;
        assert_eq!(container.state, "running");
        seen.kill(&container.id, "TERM").await;
        let ended = ended(run).await;
        ended.assert_code(7);
        assert_eq!(ended.statuses(), ["PULLED", "CREATED", "RUNNING", "STOPPED"], "{}", ended.story());
        assert_eq!(seen.containers().await.len(), 0);
        corner.nothing_is_left().await;
    })
    .await;
}

/// The daemon ends what still runs when it comes up again.
#[tokio::test]
async fn a_daemon_that_ends_its_containers_tells_their_exit_code() {
    with_own_engine("", async |corner, engine| {
        let mut run = ready(corner, engine, "60s").await;
        engine.kill().await;
        until_away(&mut run).await;
        engine.come_up().await;
        let ended = ended(run).await;
        let code = ended.container()["exit_code"].as_i64().unwrap_or_else(|| panic!("no code: {}", ended.story()));
        assert!([7, 137].contains(&code), "asked to end, or killed: {}", ended.story());
        ended.assert_code(code.try_into().unwrap());
        assert_eq!(engine.seen_by(corner).containers().await.len(), 0);
        corner.nothing_is_left().await;
    })
    .await;
}

#[tokio::test]
async fn a_daemon_that_stays_dead_is_given_up_and_the_next_start_cleans_up() {
    with_own_engine("--live-restore", async |corner, engine| {
        let run = ready(corner, engine, "2s").await;
        engine.kill().await;
        let given_up = ended(run).await;
        given_up.assert_code(125);
        let words = given_up.failure();
        assert!(words.contains("Docker") && words.contains("--resume"), "{words}");
        engine.come_up().await;
        assert_eq!(engine.seen_by(corner).the_container().await.state, "running");
        let next = corner.run(&corner.task(&["exit", "0"])).docker(&engine.socket()).start().end().await;
        next.assert_code(0);
        let leftover = next.of("leftover").next().unwrap_or_else(|| panic!("{}", next.story()));
        assert_eq!((&leftover["state"], &leftover["exit_code"]), (&"cleaned".into(), &7.into()));
        assert_eq!(engine.seen_by(corner).containers().await.len(), 0);
        corner.nothing_is_left().await;
    })
    .await;
}

#[tokio::test]
async fn a_power_cut_of_engine_and_container_ends_the_task() {
    with_own_engine("", async |corner, engine| {
        let mut run = ready(corner, engine, "60s").await;
        engine.kill_all().await;
        until_away(&mut run).await;
        engine.come_up().await;
        let ended = ended(run).await;
        assert_eq!(ended.statuses().last(), Some(&"STOPPED"), "{}", ended.story());
        assert_ne!(ended.code, Some(0), "it did not end well: {}", ended.story());
        assert_eq!(engine.seen_by(corner).containers().await.len(), 0);
        corner.nothing_is_left().await;
    })
    .await;
}

#[tokio::test]
async fn an_interrupt_while_the_daemon_is_dead_is_carried_out_when_it_is_back() {
    with_own_engine("--live-restore", async |corner, engine| {
        let mut run = ready(corner, engine, "60s").await;
        engine.kill().await;
        until_away(&mut run).await;
        run.signal(Signal::INT);
        run.until(|event| (event["type"] == "signal").then_some(())).await;
        engine.come_up().await;
        let ended = ended(run).await;
        ended.assert_code(130);
        assert_eq!(ended.container()["exit_code"], 7, "{}", ended.story());
        assert_eq!(engine.seen_by(corner).containers().await.len(), 0);
        corner.nothing_is_left().await;
    })
    .await;
}
