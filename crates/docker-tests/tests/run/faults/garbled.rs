//! Answers that are nonsense, cut short, or errors.

use std::time::Duration;

use lighterman_testkit::proxy::{Fault, Pattern, Reply, Rule};
use rustix::process::Signal;
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::UnixListener,
};

use super::{create, in_bounds, inspect, kill, list, start, stop, version};
use crate::{corner::in_corner, engine::times};

#[tokio::test]
async fn what_does_not_speak_http_is_given_up_with_clear_words() {
    in_corner(async |corner| {
        let socket = corner.path("ssh.sock");
        let listener = UnixListener::bind(&socket).unwrap();
        let serving = tokio::spawn(async move {
            while let Ok((mut client, _)) = listener.accept().await {
                // Whoever hangs up early has understood.
                drop(client.write_all(b"SSH-2.0-OpenSSH_9.2\r\n").await);
                drop(client.read_to_end(&mut Vec::new()).await);
            }
        });
        let run = corner.run(&corner.task(&["exit", "0"])).docker(&socket).env("LIGHTERMAN_RUNTIME_PATIENCE", "1s");
        let ended = in_bounds(run.start()).await;
        serving.abort();
        ended.assert_code(125);
        assert!(ended.failure().contains("does not speak HTTP"), "{}", ended.failure());
        corner.nothing_is_left().await;
    })
    .await;
}

#[tokio::test]
async fn nonsense_instead_of_a_version_is_asked_for_again_and_given_up_in_the_end() {
    in_corner(async |corner| {
        let proxy = corner.proxy();
        let nonsense = || Fault::answer(200, "<html>Welcome to nginx!</html>");
        let once = proxy.add(Rule::new(version(), nonsense()).times(1));
        let ended = in_bounds(corner.run(&corner.task(&["exit", "3"])).docker(proxy.socket()).start()).await;
        ended.assert_code(3);
        proxy.remove(once);
        proxy.add(Rule::new(version(), nonsense()));
        let run = corner.run(&corner.task(&["exit", "3"])).docker(proxy.socket());
        let ended = in_bounds(run.env("LIGHTERMAN_RUNTIME_PATIENCE", "1s").start()).await;
        ended.assert_code(125);
        assert!(ended.failure().contains("Docker does not answer"), "{}", ended.failure());
        corner.nothing_is_left().await;
    })
    .await;
}

#[tokio::test]
async fn b100_an_engine_of_another_age_is_refused_by_name_and_at_once() {
    in_corner(async |corner| {
        let proxy = corner.proxy();
        let too_new = r#"{"message":"client version 1.41 is too old. Minimum supported API version is 1.44"}"#;
        let rule = proxy.add(Rule::new(Pattern::any(), Fault::answer(400, too_new)));
        let ended = in_bounds(corner.run(&corner.task(&["exit", "0"])).docker(proxy.socket()).start()).await;
        ended.assert_code(125);
        let words = ended.failure();
        assert!(words.contains("1.41") && words.contains("1.44"), "{words}");
        assert!(ended.took < Duration::from_secs(3), "{:?}", ended.took);
        proxy.remove(rule);
        let old = |mut reply: Reply| {
            let mut version: Value = serde_json::from_slice(&reply.body).unwrap();
            version["ApiVersion"] = "1.40".into();
            reply.body = version.to_string().into_bytes();
            reply
        };
        proxy.add(Rule::new(version(), Fault::rewrite(old)));
        let ended = in_bounds(corner.run(&corner.task(&["exit", "0"])).docker(proxy.socket()).start()).await;
        ended.assert_code(125);
        let words = ended.failure();
        assert!(words.contains("1.40") && words.contains("1.41"), "{words}");
        corner.nothing_is_left().await;
    })
    .await;
}

/// One after the other, each the first answer of its kind.
#[tokio::test]
async fn one_answer_that_is_nonsense_or_ends_early_changes_nothing() {
    in_corner(async |corner| {
        let patterns = [version(), list(), inspect(), create(), start()];
        for pattern in patterns {
            for fault in [Fault::CutBody(1), Fault::rewrite(nonsense)] {
                let proxy = corner.proxy();
                let watch = corner.engine().watch().await;
                proxy.add(Rule::new(pattern.clone(), fault.clone()).times(1));
                let task = corner.task(&["sleep", "0.2", "+", "exit", "3"]);
                let ended = in_bounds(corner.run(&task).docker(proxy.socket()).start()).await;
                assert_eq!(ended.code, Some(3), "{pattern:?} {fault:?}: {}", ended.story());
                let stories = watch.until_all_gone().await;
                assert_eq!(stories.len(), 1, "{pattern:?} {fault:?}: twins: {stories:#?}");
                assert!(stories.values().all(|story| times(story, "start") == 1), "{stories:#?}");
            }
        }
        corner.nothing_is_left().await;
    })
    .await;
}

fn nonsense(reply: Reply) -> Reply {
    Reply { body: b"{\"Id\": 7, \"Version\": [".to_vec(), ..reply }
}

#[tokio::test]
async fn errors_instead_of_a_stop_end_in_a_kill() {
    in_corner(async |corner| {
        let proxy = corner.proxy();
        proxy.add(Rule::new(stop(), Fault::answer(500, r#"{"message":"cannot stop container"}"#)));
        let task = corner.task(&["print", "ready", "+", "ignore-term"]).with("stopTimeout", 2);
        let mut run = corner.run(&task).docker(proxy.socket()).start();
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
async fn an_error_instead_of_one_stop_costs_one_more_try() {
    in_corner(async |corner| {
        let proxy = corner.proxy();
        proxy.add(Rule::new(stop(), Fault::answer(500, r#"{"message":"cannot stop container"}"#)).times(1));
        let task = corner.task(&["trap", "9", "+", "print", "ready", "+", "sleep", "600"]);
        let mut run = corner.run(&task).docker(proxy.socket()).start();
        run.until_said("ready").await;
        run.signal(Signal::INT);
        let ended = in_bounds(run).await;
        ended.assert_code(130);
        assert_eq!(ended.container()["exit_code"], 9, "{}", ended.story());
        assert_eq!((proxy.count(&stop()), proxy.count(&kill())), (2, 0));
        corner.nothing_is_left().await;
    })
    .await;
}

#[tokio::test]
async fn an_error_instead_of_a_create_is_told_in_the_engine_s_words() {
    in_corner(async |corner| {
        let proxy = corner.proxy();
        proxy.add(Rule::new(create(), Fault::answer(500, r#"{"message":"the graph driver is on fire"}"#)));
        let ended = in_bounds(corner.run(&corner.task(&["exit", "0"])).docker(proxy.socket()).start()).await;
        ended.assert_code(125);
        let reason = &ended.container()["reason"];
        assert_eq!(reason["name"], "CannotCreateContainerError");
        assert!(reason["text"].as_str().unwrap().contains("the graph driver is on fire"), "{reason}");
        corner.nothing_is_left().await;
    })
    .await;
}

#[tokio::test]
async fn b024_an_out_of_memory_mark_on_a_running_container_is_no_end() {
    in_corner(async |corner| {
        let proxy = corner.proxy();
        let marked = |mut reply: Reply| {
            let mut inspect: Value = serde_json::from_slice(&reply.body).unwrap();
            if inspect["State"]["Running"] == true {
                inspect["State"]["OOMKilled"] = true.into();
            }
            reply.body = inspect.to_string().into_bytes();
            reply
        };
        proxy.add(Rule::new(inspect(), Fault::rewrite(marked)));
        let task = corner.task(&["trap", "9", "+", "print", "ready", "+", "sleep", "1", "+", "exit", "3"]);
        let ended = in_bounds(corner.run(&task).docker(proxy.socket()).start()).await;
        ended.assert_code(3);
        assert_eq!(ended.container()["reason"], Value::Null, "{}", ended.story());
    })
    .await;
}
