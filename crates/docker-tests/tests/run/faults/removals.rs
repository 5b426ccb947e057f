//! Removals that Docker refuses again and again, and ends that it tells nobody of.

use std::time::Duration;

use lighterman_testkit::proxy::{Fault, LineFate, Pattern, Rule};
use serde_json::Value;

use super::{events, in_bounds, notes, remove};
use crate::corner::in_corner;

const PATIENCE: (&str, &str) = ("LIGHTERMAN_TASKS_CLEANUP_PATIENCE", "2s");

fn busy() -> Fault {
    Fault::answer(500, r#"{"message":"driver failed to remove root filesystem: device or resource busy"}"#)
}

#[tokio::test]
async fn what_cannot_be_removed_is_told_and_the_exit_code_comes() {
    in_corner(async |corner| {
        let proxy = corner.proxy();
        let rule = proxy.add(Rule::new(remove(), busy()));
        let task = corner.task(&["exit", "3"]);
        let ended = in_bounds(corner.run(&task).docker(proxy.socket()).env(PATIENCE.0, PATIENCE.1).start()).await;
        ended.assert_code(3);
        let kept = corner.engine().the_container().await;
        let name = ended.container()["runtime_name"].as_str().unwrap().to_owned();
        let told = notes(&ended);
        assert!(told.contains(&name) && told.contains("resource busy") && told.contains("next run"), "{told}");
        assert_eq!(corner.states().len(), 1, "its state stays for the next run");

        // The next run tries for a short time, says so, and begins; its own container can be removed.
        proxy.remove(rule);
        let rule = proxy.add(Rule::new(Pattern::new("DELETE", &format!("/containers/{}", kept.id)), busy()));
        let ended = in_bounds(corner.run(&corner.task(&["exit", "4"])).docker(proxy.socket()).start()).await;
        ended.assert_code(4);
        let kept_again: Vec<&Value> = ended.of("leftover").filter(|leftover| leftover["state"] == "kept").collect();
        assert_eq!(kept_again.len(), 1, "{}", ended.story());
        assert!(kept_again[0]["text"].as_str().unwrap().contains("resource busy"), "{}", kept_again[0]);
        assert_eq!(corner.engine().the_container().await.id, kept.id);

        proxy.remove(rule);
        in_bounds(corner.run(&corner.task(&["exit", "0"])).docker(proxy.socket()).start()).await.assert_code(0);
        corner.nothing_is_left().await;
    })
    .await;
}

/// The stream of events stands and is silent; the end of the output is all there is.
#[tokio::test]
async fn an_end_that_no_event_tells_is_known_from_the_end_of_the_output() {
    in_corner(async |corner| {
        let proxy = corner.proxy();
        proxy.add(Rule::new(events(), Fault::lines(|_| LineFate::Lose)));
        let task = corner.task(&["print", "x", "+", "sleep", "1", "+", "exit", "3"]);
        let ended = in_bounds(corner.run(&task).docker(proxy.socket()).start()).await;
        ended.assert_code(3);
        assert!(ended.took < Duration::from_secs(6), "{:?}", ended.took);
        corner.nothing_is_left().await;
    })
    .await;
}

#[tokio::test]
async fn a_restart_by_somebody_else_is_gone_on_with_and_told() {
    in_corner(async |corner| {
        let task = corner.task(&["trap", "7", "+", "print", "ready", "+", "sleep", "600"]);
        let mut run = corner.run(&task).start();
        run.until_said("ready").await;
        let container = corner.engine().the_container().await.id;
        // Without a moment in which a look could find it ended.
        let policy = serde_json::json!({ "RestartPolicy": { "Name": "always" } });
        let answer = corner.engine().raw().post(&format!("/containers/{container}/update"), &policy).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        // A policy takes effect for what has run for some seconds, and for a signal that `docker kill` did not send.
        let pid = corner.engine().inspect(&container).await["State"]["Pid"].as_i64().unwrap();
        let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        let told = |event: &Value| {
            let text = event["text"].as_str().unwrap_or_default();
            (event["type"] == "note" && text.contains("restarted in Docker")).then(|| text.to_owned())
        };
        let text = run.until(told).await;
        assert!(text.contains("exit code 7"), "{text}");
        run.signal(rustix::process::Signal::TERM);
        in_bounds(run).await.assert_code(143);
        corner.nothing_is_left().await;
    })
    .await;
}
