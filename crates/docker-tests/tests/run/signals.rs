//! Ctrl-C and its siblings.

use std::time::Duration;

use rustix::process::Signal;

use crate::{
    corner::in_corner,
    engine::{SOON, times},
};

/// Shorter than any stop timeout in these tests.
const AT_ONCE: Duration = Duration::from_secs(5);

#[tokio::test]
async fn an_interrupt_stops_the_container_with_its_stop_signal() {
    in_corner(async |corner| {
        let watch = corner.engine().watch().await;
        let mut run = corner.run(&corner.task(&["trap", "9", "+", "print", "ready", "+", "sleep", "600"])).start();
        run.until_said("ready").await;
        run.signal(Signal::INT);
        let ended = run.end_within(SOON).await.unwrap_or_else(|_| panic!("it does not stop"));
        ended.assert_code(130);
        assert_eq!(ended.events.last().unwrap()["kind"], "interrupted");
        assert_eq!(ended.container()["exit_code"], 9, "{}", ended.story());
        let told: Vec<_> = ended.of("signal").map(|event| (&event["signal"], &event["action"])).collect();
        assert_eq!(told.len(), 1);
        assert!(told[0].0 == "SIGINT" && told[0].1 == "stop", "{told:?}");
        assert_eq!(ended.of("task").last().unwrap()["reason"], "Stopped by the user");
        let stories = watch.until_all_gone().await;
        assert!(stories.values().all(|story| times(story, "kill") == 1), "{stories:?}");
        corner.nothing_is_left().await;
    })
    .await;
}

#[tokio::test]
async fn a_terminate_ends_with_143_and_a_hang_up_with_129() {
    in_corner(async |corner| {
        let cases = [(Signal::TERM, "SIGTERM", 143, "terminated"), (Signal::HUP, "SIGHUP", 129, "hung-up")];
        for (signal, name, code, kind) in cases {
            let mut run = corner.run(&corner.task(&["trap", "0", "+", "print", "ready", "+", "sleep", "600"])).start();
            run.until_said("ready").await;
            run.signal(signal);
            let ended = run.end_within(SOON).await.unwrap_or_else(|_| panic!("it does not stop"));
            ended.assert_code(code);
            assert_eq!(ended.events.last().unwrap()["kind"], kind);
            assert_eq!(ended.of("signal").next().unwrap()["signal"], name);
        }
        corner.nothing_is_left().await;
    })
    .await;
}

#[tokio::test]
async fn b040_a_second_interrupt_kills_however_long_the_stop_timeout_is() {
    in_corner(async |corner| {
        let task = corner.task(&["print", "ready", "+", "ignore-term"]).with("stopTimeout", 7200);
        let mut run = corner.run(&task).start();
        run.until_said("ready").await;
        run.signal(Signal::INT);
        let left = run
            .until(|event| {
                (event["type"] == "wait" && event["wait"]["call"] == "stop").then(|| event["wait"]["left_ms"].clone())
            })
            .await;
        assert!(left.is_null() || left.as_u64().unwrap() > 7_000_000, "{left}");
        run.signal(Signal::INT);
        let ended = run.end_within(AT_ONCE).await.unwrap_or_else(|_| panic!("the kill waits for the stop timeout"));
        ended.assert_code(130);
        assert_eq!(ended.container()["exit_code"], 137);
        let actions: Vec<_> = ended.of("signal").map(|event| event["action"].clone()).collect();
        assert_eq!(actions, ["stop", "kill"]);
        corner.nothing_is_left().await;
    })
    .await;
}

#[tokio::test]
async fn b040_a_stop_timeout_of_zero_kills_at_once() {
    in_corner(async |corner| {
        let task = corner.task(&["print", "ready", "+", "ignore-term"]);
        let mut run = corner.run(&task).env("LIGHTERMAN_RUNTIME_STOP_TIMEOUT", "0s").start();
        run.until_said("ready").await;
        run.signal(Signal::INT);
        let ended = run.end_within(AT_ONCE).await.unwrap_or_else(|_| panic!("it is not killed"));
        ended.assert_code(130);
        assert_eq!(ended.container()["exit_code"], 137);
    })
    .await;
}

#[tokio::test]
async fn a_container_that_ignores_its_stop_signal_is_killed_after_its_stop_timeout() {
    in_corner(async |corner| {
        let task = corner.task(&["print", "ready", "+", "ignore-term"]).with("stopTimeout", 2);
        let mut run = corner.run(&task).start();
        run.until_said("ready").await;
        run.signal(Signal::INT);
        let ended = run.end_within(SOON).await.unwrap_or_else(|_| panic!("it is not killed"));
        ended.assert_code(130);
        assert_eq!(ended.container()["exit_code"], 137);
        assert!(ended.took >= Duration::from_secs(2), "{:?}", ended.took);
    })
    .await;
}

#[tokio::test]
async fn a_third_interrupt_leaves_at_once_and_the_next_start_cleans_up() {
    in_corner(async |corner| {
        let task = corner.task(&["print", "ready", "+", "ignore-term"]).with("stopTimeout", 3);
        let mut run = corner.run(&task).start();
        run.until_said("ready").await;
        let container = corner.engine().the_container().await;
        for action in ["stop", "kill"] {
            run.signal(Signal::INT);
            run.until(|event| (event["type"] == "signal" && event["action"] == action).then_some(())).await;
        }
        run.signal(Signal::INT);
        let ended = run.end_within(AT_ONCE).await.unwrap_or_else(|_| panic!("it does not leave"));
        ended.assert_code(130);
        // The kill may have been faster than the third signal; then all is over already. If not, the next start says what
        // it waits for.
        let left = !corner.states().is_empty();
        let next = corner.run(&corner.task(&["exit", "0"])).start().end().await;
        next.assert_code(0);
        if left {
            let leftover = next.of("leftover").next().unwrap_or_else(|| panic!("{}", next.story()));
            assert_eq!(leftover["state"], "cleaned");
            assert_eq!(leftover["exit_code"], 137);
        }
        assert!(corner.engine().containers().await.iter().all(|listed| listed.id != container.id));
        corner.nothing_is_left().await;
    })
    .await;
}

#[tokio::test]
async fn an_interrupt_ends_the_wait_for_a_definition() {
    in_corner(async |corner| {
        let run = corner.lighterman(&["run", "--json", "-"]).input_without_end();
        let run = run.start();
        until_it_heeds_signals(run.pid()).await;
        run.signal(Signal::INT);
        let ended = run.end_within(AT_ONCE).await.unwrap_or_else(|_| panic!("it waits for its standard input"));
        ended.assert_code(130);
        corner.nothing_is_left().await;
    })
    .await;
}

/// Until then the system would end it, and nothing would have happened.
async fn until_it_heeds_signals(pid: u32) {
    let heeds = || {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
        u64::from_str_radix(caught.trim(), 16).unwrap() >> (Signal::INT.as_raw() - 1) & 1 == 1
    };
    let waiting = async {
        while !heeds() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(SOON, waiting).await.unwrap();
}

#[tokio::test]
async fn an_interrupt_leaves_a_clean_up_to_the_next_run() {
    in_corner(async |corner| {
        let slow = corner.task(&["print", "ready", "+", "ignore-term"]).with("stopTimeout", 4);
        let mut dead = corner.run(&slow).start();
        dead.until_said("ready").await;
        dead.kill().await;
        let mut next = corner.run(&corner.task(&["exit", "0"])).start();
        let says_so =
            |event: &serde_json::Value| event["text"].as_str().is_some_and(|text| text.contains("cleaning up"));
        next.until(|event| says_so(event).then_some(())).await;
        next.signal(Signal::INT);
        let ended = next.end_within(Duration::from_secs(2)).await;
        let ended = ended.unwrap_or_else(|next| panic!("it goes on waiting: {}", next.story()));
        ended.assert_code(130);
        let last = corner.run(&corner.task(&["exit", "0"])).start().end().await;
        last.assert_code(0);
        assert_eq!(last.of("leftover").next().unwrap()["exit_code"], 137, "{}", last.story());
        corner.nothing_is_left().await;
    })
    .await;
}

#[tokio::test]
async fn a_signal_before_the_container_runs_leaves_nothing() {
    in_corner(async |corner| {
        let watch = corner.engine().watch().await;
        for status in ["", "PULLED", "CREATED"] {
            let mut run = corner.run(&corner.task(&["print", "ready", "+", "trap", "0", "+", "sleep", "600"])).start();
            if status.is_empty() {
                run.instance().await;
            } else {
                run.until_known(status).await;
            }
            run.signal(Signal::INT);
            let ended = run.end().await;
            ended.assert_code(130);
            corner.nothing_is_left().await;
        }
        watch.until_all_gone().await;
    })
    .await;
}
