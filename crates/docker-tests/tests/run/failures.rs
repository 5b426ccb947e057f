//! What cannot be run: nothing is left, and the words say why.

use std::{net::TcpListener, time::Duration};

use rustix::process::Signal;
use serde_json::json;

use crate::{
    corner::in_corner,
    engine::{SOON, times},
    launch::Ended,
};

/// The container never ran: no code is made up, and there are words.
#[track_caller]
fn assert_never_ran(ended: &Ended, name: &str) {
    ended.assert_code(125);
    assert_eq!(ended.events.last().unwrap()["kind"], "own-error");
    assert!(!ended.statuses().contains(&"RUNNING"), "b027: {}", ended.story());
    let container = ended.container();
    assert!(container["exit_code"].is_null(), "b061: {}", ended.story());
    assert_eq!(container["reason"]["name"], name, "{}", ended.story());
    assert!(!container["reason"]["advice"].as_str().unwrap().is_empty());
}

/// As a container may exit with what we exit with.
#[tokio::test]
async fn the_last_line_says_whose_exit_code_it_is_where_that_is_not_clear() {
    in_corner(async |corner| {
        for (code, says_so) in [("125", true), ("130", true), ("3", false)] {
            let run = corner.lighterman(&["run"]).argument(corner.file(&corner.task(&["exit", code])));
            let output = run.output().await;
            assert_eq!(output.code, code.parse().ok(), "{}", output.stderr);
            let line = format!("exit code {code}: the container's own exit code\n");
            assert_eq!(output.stderr.ends_with(&line), says_so, "{}", output.stderr);
        }
        let output = corner.lighterman(&["run", "nowhere.json"]).output().await;
        assert_eq!(output.code, Some(125));
        assert!(output.stderr.ends_with("exit code 125: an error of our own, told above\n"), "{}", output.stderr);
    })
    .await;
}

#[tokio::test]
async fn a_refused_file_creates_nothing() {
    in_corner(async |corner| {
        let watch = corner.engine().watch().await;
        let bad = corner.task(&["exit", "0"]).with("memory", "much");
        let ended = corner.run(&bad).start().end().await;
        ended.assert_code(125);
        let problem = ended.of("problem").next().unwrap_or_else(|| panic!("{}", ended.story()));
        assert_eq!(problem["severity"], "error");
        let words = problem["text"].as_str().unwrap();
        assert!(words.contains("containerDefinitions[0].memory"), "{words}");
        assert!(ended.failure().contains("nothing was created"), "{}", ended.failure());
        assert_eq!(watch.stories().len(), 0);
        corner.nothing_is_left().await;
    })
    .await;
}

#[tokio::test]
async fn a_missing_or_unreadable_file_is_named() {
    in_corner(async |corner| {
        for (file, why) in [("nowhere.json", "No such file"), (".", "Is a directory")] {
            let ended = corner.lighterman(&["run", "--json", file]).start().end().await;
            ended.assert_code(125);
            let words = ended.failure();
            assert!(words.contains(file) && words.contains(why), "{words}");
        }
        corner.nothing_is_left().await;
    })
    .await;
}

#[tokio::test]
async fn a_wrong_command_line_ends_with_125_and_says_what_is_right() {
    in_corner(async |corner| {
        for arguments in [&["run"][..], &["run", "a", "--resume", "x"], &["walk"], &["run", "--state-dir", "", "x"]] {
            let output = corner.lighterman(arguments).output().await;
            assert_eq!(output.code, Some(125), "{arguments:?}: {}", output.stderr);
            assert!(!output.stderr.is_empty());
        }
        for arguments in [["--help"], ["--version"]] {
            let output = corner.lighterman(&arguments).output().await;
            assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""));
        }
    })
    .await;
}

/// Tries of a pull and their pauses take some 14 seconds; the registry that is asked is a port nobody listens on.
#[tokio::test]
async fn b016_a_missing_image_ends_the_task_with_a_pull_error_and_can_be_killed_in_between() {
    in_corner(async |corner| {
        let image = format!("localhost:1/{}:none", &corner.token()[..12]);
        let task = corner.task(&["exit", "0"]).with("image", image);
        let mut killed = corner.run(&task).start();
        killed.until(|event| (event["type"] == "wait" && event["wait"]["kind"] == "pause").then_some(())).await;
        killed.kill().await;
        assert_eq!(corner.states().len(), 1);
        let ended = corner.run(&task).start().end().await;
        assert_never_ran(&ended, "CannotPullContainerError");
        let task = ended.of("task").last().unwrap();
        assert!(task["reason"].as_str().unwrap().starts_with("CannotPullContainerError: "), "{task}");
        corner.nothing_is_left().await;
    })
    .await;
}

#[tokio::test]
async fn b038_a_stop_while_the_image_is_pulled_needs_no_patience() {
    in_corner(async |corner| {
        let image = format!("localhost:1/{}:none", &corner.token()[..12]);
        let mut run = corner.run(&corner.task(&["exit", "0"]).with("image", image)).start();
        run.until(|event| (event["type"] == "wait" && event["wait"]["kind"] == "pause").then_some(())).await;
        run.signal(Signal::INT);
        let ended = run.end_within(Duration::from_secs(2)).await.unwrap_or_else(|_| panic!("it waits for the pull"));
        ended.assert_code(130);
        assert_eq!(corner.engine().containers().await.len(), 0);
        corner.nothing_is_left().await;
    })
    .await;
}

#[tokio::test]
async fn b027_a_missing_command_never_runs() {
    in_corner(async |corner| {
        let watch = corner.engine().watch().await;
        let task = corner.task(&["x"]).with("entryPoint", json!(["/nope"]));
        for _ in 0..3 {
            let ended = corner.run(&task).start().end().await;
            assert_never_ran(&ended, "CannotStartContainerError");
            assert!(ended.container()["reason"]["text"].as_str().unwrap().contains("/nope"), "{}", ended.story());
        }
        let stories = watch.until_all_gone().await;
        assert_eq!(stories.len(), 3);
        assert!(stories.values().all(|story| times(story, "start") == 0), "{stories:?}");
        corner.nothing_is_left().await;
    })
    .await;
}

#[tokio::test]
async fn b041_a_taken_port_is_named_and_the_container_is_removed() {
    in_corner(async |corner| {
        let taken = TcpListener::bind("0.0.0.0:0").unwrap();
        let port = taken.local_addr().unwrap().port();
        let task =
            corner.task(&["serve", "8080"]).with("portMappings", json!([{ "containerPort": 8080, "hostPort": port }]));
        let ended = corner.run(&task).start().end().await;
        assert_never_ran(&ended, "CannotStartContainerError");
        let words = ended.container()["reason"]["text"].as_str().unwrap();
        assert!(words.contains(&port.to_string()), "{words}");
        corner.nothing_is_left().await;
        drop(taken);
        let mut run = corner.run(&task).start();
        run.until_said("listening on 8080").await;
        run.signal(Signal::INT);
        run.end_within(SOON).await.unwrap_or_else(|_| panic!("it does not stop")).assert_code(130);
    })
    .await;
}

#[tokio::test]
async fn b062_what_failed_has_a_name_that_does_not_change() {
    in_corner(async |corner| {
        let huge = "x".repeat(140_000);
        let user = corner.task(&["exit", "0"]).with("user", "nobody-of-that-name");
        let environment = corner.task(&["exit", "0"]).with("environment", json!([{ "name": "A", "value": huge }]));
        let directory = corner.task(&["exit", "0"]).with("workingDirectory", "/testbox");
        let ended = corner.run(&user).start().end().await;
        assert_never_ran(&ended, "CannotStartContainerError");
        let ended = corner.run(&directory).start().end().await;
        assert_eq!(ended.code, Some(125), "{}", ended.story());
        assert!(ended.container()["reason"]["name"].as_str().unwrap().starts_with("Cannot"), "{}", ended.story());
        // The engine starts it, and the cause stands only in the container's own log.
        let ended = corner.run(&environment).start().end().await;
        ended.assert_code(1);
        assert!(ended.said().iter().any(|line| line.contains("argument list too long")), "{}", ended.story());
        corner.nothing_is_left().await;
    })
    .await;
}
