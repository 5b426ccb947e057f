//! An engine that is not there, or goes away and comes back.

use std::time::Duration;

use lighterman_docker_tests::AMPLE;
use rustix::process::Signal;

use super::{create, events, in_bounds, notes, stop};
use crate::corner::in_corner;

#[tokio::test]
async fn an_engine_that_is_not_there_is_named_and_waited_for_as_long_as_set() {
    in_corner(async |corner| {
        let socket = corner.path("absent.sock");
        let run = corner.run(&corner.task(&["exit", "0"])).docker(&socket).env("LIGHTERMAN_RUNTIME_PATIENCE", "1s");
        let ended = run.start().end_within(Duration::from_secs(4)).await;
        let ended = ended.unwrap_or_else(|run| panic!("it waits too long: {}", run.story()));
        ended.assert_code(125);
        let words = ended.failure();
        assert!(words.contains("absent.sock") && words.contains("No such file"), "{words}");
        assert!(words.contains("nothing of it is in Docker"), "{words}");
        assert!(words.contains("see to it that Docker answers at unix://"), "{words}");
        assert!(notes(&ended).contains("absent.sock"), "it says at once what it waits for: {}", ended.story());
        assert!(notes(&ended).contains("given up when it has not answered for 1s"), "{}", ended.story());
        corner.nothing_is_left().await;
    })
    .await;
}

#[tokio::test]
async fn an_interrupt_ends_the_wait_for_an_engine_that_is_not_there() {
    in_corner(async |corner| {
        let run = corner.run(&corner.task(&["exit", "0"])).docker(&corner.path("absent.sock"));
        let mut run = run.start();
        run.until(|event| (event["type"] == "wait").then_some(())).await;
        run.signal(Signal::INT);
        let ended = run.end_within(Duration::from_secs(2)).await;
        let ended = ended.unwrap_or_else(|run| panic!("it waits: {}", run.story()));
        ended.assert_code(130);
        corner.nothing_is_left().await;
    })
    .await;
}

#[tokio::test]
async fn b020_an_engine_that_comes_up_late_runs_the_task() {
    in_corner(async |corner| {
        let proxy = corner.proxy();
        proxy.go_away().await;
        let mut run = corner.run(&corner.task(&["exit", "3"])).docker(proxy.socket()).start();
        run.until(|event| (event["type"] == "note").then_some(())).await;
        proxy.come_back().unwrap();
        in_bounds(run).await.assert_code(3);
        corner.nothing_is_left().await;
    })
    .await;
}

#[tokio::test]
async fn b014_a_container_that_ends_while_docker_is_away_keeps_its_exit_code() {
    in_corner(async |corner| {
        let proxy = corner.proxy();
        let mut run = corner.run(&corner.task(&["trap", "9", "+", "print", "ready", "+", "sleep", "600"]));
        run = run.docker(proxy.socket());
        let mut run = run.start();
        run.until_said("ready").await;
        let container = corner.engine().the_container().await.id;
        proxy.go_away().await;
        run.until(|event| (event["type"] == "note" && event["level"] == "warning").then_some(())).await;
        corner.engine().kill(&container, "TERM").await;
        assert_eq!(corner.engine().until_ended(&container).await, 9);
        proxy.come_back().unwrap();
        let ended = in_bounds(run).await;
        ended.assert_code(9);
        let finished = corner.engine().containers().await;
        assert!(finished.is_empty(), "{finished:?}");
        assert!(notes(&ended).contains("answers"), "the end of the trouble is told: {}", ended.story());
        corner.nothing_is_left().await;
    })
    .await;
}

#[tokio::test]
async fn docker_that_stays_away_is_given_up_and_the_run_can_be_gone_on_with() {
    in_corner(async |corner| {
        let proxy = corner.proxy();
        let task = corner.task(&["trap", "9", "+", "print", "ready", "+", "sleep", "600"]);
        let run = corner.run(&task).docker(proxy.socket()).env("LIGHTERMAN_RUNTIME_PATIENCE", "1s");
        let mut run = run.start();
        run.until_said("ready").await;
        let instance = run.instance().await;
        let container = corner.engine().the_container().await.id;
        proxy.go_away().await;
        let ended = in_bounds(run).await;
        ended.assert_code(125);
        let words = ended.failure();
        assert!(words.contains(&format!("--resume {instance}")) && words.contains("cleans it up"), "{words}");
        assert_eq!(corner.engine().the_container().await.state, "running", "it was not touched");

        proxy.come_back().unwrap();
        let resumed = corner.lighterman(&["run", "--json", "--resume", &instance]).docker(proxy.socket());
        let mut resumed = resumed.start();
        resumed.until_known("RUNNING").await;
        corner.engine().kill(&container, "TERM").await;
        in_bounds(resumed).await.assert_code(9);
        corner.nothing_is_left().await;
    })
    .await;
}

#[tokio::test]
async fn leftovers_are_not_waited_for_twice_when_docker_is_away() {
    in_corner(async |corner| {
        let proxy = corner.proxy();
        let endless = corner.task(&["trap", "0", "+", "print", "ready", "+", "sleep", "600"]);
        let mut dead = corner.run(&endless).docker(proxy.socket()).start();
        dead.until_said("ready").await;
        dead.kill().await;
        proxy.go_away().await;
        let run = corner.run(&corner.task(&["exit", "0"])).docker(proxy.socket());
        let ended = in_bounds(run.env("LIGHTERMAN_RUNTIME_PATIENCE", "2s").start()).await;
        ended.assert_code(125);
        assert!(ended.took < Duration::from_secs(4), "{:?}", ended.took);
        assert!(notes(&ended).contains("cleaning up"), "a wait of two seconds is told: {}", ended.story());
        let leftover = ended.of("leftover").next().unwrap_or_else(|| panic!("{}", ended.story()));
        assert_eq!(leftover["state"], "kept");
        assert!(leftover["text"].as_str().unwrap().contains("docker.sock"), "{leftover}");
        assert_eq!(corner.engine().the_container().await.state, "running", "it was not touched");
        proxy.come_back().unwrap();
        corner.run(&corner.task(&["exit", "0"])).docker(proxy.socket()).start().end().await.assert_code(0);
        corner.nothing_is_left().await;
    })
    .await;
}

#[tokio::test]
async fn b025_a_stop_that_is_cut_off_is_shown_as_stopping_until_the_engine_confirms() {
    in_corner(async |corner| {
        let proxy = corner.proxy();
        let task = corner.task(&["print", "ready", "+", "ignore-term"]).with("stopTimeout", 6);
        let mut run = corner.run(&task).docker(proxy.socket()).start();
        run.until_said("ready").await;
        run.signal(Signal::INT);
        tokio::time::timeout(AMPLE, proxy.seen(&stop(), 1)).await.unwrap();
        proxy.go_away().await;
        // Away for longer than the first tries of anything.
        run.until(|event| (event["type"] == "wait" && event["wait"]["kind"] == "runtime-away").then_some(())).await;
        let stopped = |event: &serde_json::Value| event["known"] == "STOPPED";
        assert!(!run.events.iter().any(stopped), "nobody has confirmed it: {}", run.story());
        assert_eq!(corner.engine().the_container().await.state, "running");
        proxy.come_back().unwrap();
        let ended = in_bounds(run).await;
        ended.assert_code(130);
        assert_eq!(ended.container()["exit_code"], 137);
        corner.nothing_is_left().await;
    })
    .await;
}

#[tokio::test]
async fn b072_descriptors_do_not_grow_when_docker_goes_and_comes() {
    in_corner(async |corner| {
        let proxy = corner.proxy();
        let task = corner.task(&["trap", "0", "+", "print", "ready", "+", "sleep", "600"]);
        let mut run = corner.run(&task).docker(proxy.socket()).start();
        run.until_said("ready").await;
        let descriptors = || std::fs::read_dir(format!("/proc/{}/fd", run.pid())).unwrap().count();
        let mut counts = Vec::new();
        // A stream that breaks soon after it stood is opened again after a second, then two …
        for round in 2..5 {
            proxy.go_away().await;
            proxy.come_back().unwrap();
            tokio::time::timeout(AMPLE, proxy.seen(&events(), round)).await.unwrap();
            counts.push(descriptors());
        }
        let (first, last) = (counts[0], counts[counts.len() - 1]);
        assert!(last <= first + 1, "{counts:?}");
        run.signal(Signal::TERM);
        let ended = in_bounds(run).await;
        ended.assert_code(143);
        assert_eq!(proxy.count(&create()), 1, "nothing was made twice");
    })
    .await;
}
