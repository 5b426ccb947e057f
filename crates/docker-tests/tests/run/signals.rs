//! Ctrl-C and its siblings.

use std::time::Duration;

use lighterman_docker_tests::AMPLE;
use lighterman_testkit::proxy::{Fault, Rule};
use rustix::process::Signal;

use crate::{
    corner::{Corner, in_corner},
    engine::{SOON, times},
    faults::{kill, remove},
    launch::Launch,
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
        run.signal_again(Signal::INT).await;
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
        let proxy = corner.proxy();
        proxy.add(Rule::new(kill(), Fault::Hang));
        let task = corner.task(&["print", "ready", "+", "ignore-term"]).with("stopTimeout", 600);
        let mut run = corner.run(&task).docker(proxy.socket()).start();
        run.until_said("ready").await;
        let container = corner.engine().the_container().await;
        for action in ["stop", "kill"] {
            run.signal_again(Signal::INT).await;
            run.until(|event| (event["type"] == "signal" && event["action"] == action).then_some(())).await;
        }
        run.signal_again(Signal::INT).await;
        let ended = run.end_within(AT_ONCE).await.unwrap_or_else(|_| panic!("it does not leave"));
        ended.assert_code(130);
        assert_eq!(ended.of("signal").last().unwrap()["action"], "leave");
        corner.engine().kill(&container.id, "KILL").await;
        proxy.clear();
        let next = corner.run(&corner.task(&["exit", "0"])).docker(proxy.socket()).start().end().await;
        next.assert_code(0);
        let leftover = next.of("leftover").next().unwrap_or_else(|| panic!("{}", next.story()));
        assert_eq!(leftover["state"], "cleaned");
        assert_eq!(leftover["exit_code"], 137);
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

/// A task that exits with 9 when it is asked to stop.
const WILLING: &[&str] = &["trap", "9", "+", "print", "ready", "+", "sleep", "600"];

#[tokio::test]
async fn signals_of_all_kinds_that_come_together_ask_for_one_stop() {
    in_corner(async |corner| {
        for signals in [&[Signal::HUP, Signal::HUP][..], &[Signal::TERM, Signal::HUP, Signal::INT, Signal::TERM]] {
            let mut run = corner.run(&corner.task(WILLING)).start();
            run.until_said("ready").await;
            signals.iter().for_each(|signal| run.signal(*signal));
            let ended = run.end_within(SOON).await.unwrap_or_else(|_| panic!("it does not stop"));
            assert_eq!(ended.container()["exit_code"], 9, "it is not killed: {}", ended.story());
            let actions: Vec<_> = ended.of("signal").map(|event| event["action"].clone()).collect();
            assert_eq!(actions, ["stop"], "{}", ended.story());
            assert!([129, 130, 143].contains(&ended.code.unwrap()), "{}", ended.story());
            corner.nothing_is_left().await;
        }
    })
    .await;
}

/// The run of this task by a shell that does something first.
fn after(corner: &Corner, first: &str, words: &[&str]) -> Launch {
    let script = format!("{first}; exec \"$0\" \"$@\"");
    let launch = corner.through(&["sh", "-c", &script]).argument(corner.program()).arguments(&["run", "--json"]);
    launch.argument(corner.file(&corner.task(words)))
}

#[tokio::test]
async fn what_was_ignored_when_the_command_began_stays_ignored() {
    in_corner(async |corner| {
        let mut run = after(corner, "trap '' HUP INT QUIT", WILLING).start();
        run.until_said("ready").await;
        [Signal::HUP, Signal::INT, Signal::QUIT].into_iter().for_each(|signal| run.signal(signal));
        run.signal_again(Signal::TERM).await;
        let ended = run.end_within(SOON).await.unwrap_or_else(|_| panic!("it does not stop"));
        ended.assert_code(143);
        let told: Vec<_> = ended.of("signal").map(|event| event["signal"].clone()).collect();
        assert_eq!(told, ["SIGTERM"]);
        corner.nothing_is_left().await;
    })
    .await;
}

#[tokio::test]
async fn a_quit_leaves_at_once_and_says_so() {
    in_corner(async |corner| {
        let mut run = corner.run(&corner.task(WILLING)).start();
        run.until_said("ready").await;
        run.signal(Signal::QUIT);
        let ended = run.end_within(AT_ONCE).await.unwrap_or_else(|_| panic!("it does not leave"));
        ended.assert_code(131);
        let told = ended.of("signal").last().unwrap();
        assert!(told["signal"] == "SIGQUIT" && told["action"] == "leave", "{told}");
        assert_eq!(ended.events.last().unwrap()["kind"], "quit");
        assert_eq!(corner.engine().the_container().await.state, "running");
        let next = corner.run(&corner.task(&["exit", "0"])).start().end().await;
        assert_eq!(next.of("leftover").next().unwrap()["exit_code"], 9, "{}", next.story());
        corner.nothing_is_left().await;
    })
    .await;
}

#[tokio::test]
async fn who_interrupts_after_the_container_has_ended_gets_its_exit_code() {
    in_corner(async |corner| {
        let proxy = corner.proxy();
        let rule = proxy.add(Rule::new(remove(), Fault::answer(500, r#"{"message":"device or resource busy"}"#)));
        let mut run = corner.run(&corner.task(&["exit", "3"])).docker(proxy.socket()).start();
        run.until_known("STOPPED").await;
        tokio::time::timeout(AMPLE, proxy.seen(&remove(), 1)).await.unwrap();
        run.signal(Signal::INT);
        run.signal_again(Signal::INT).await;
        proxy.remove(rule);
        let ended = run.end_within(SOON).await.unwrap_or_else(|_| panic!("it does not end"));
        ended.assert_code(3);
        assert_eq!(ended.of("signal").count(), 0, "nothing was stopped: {}", ended.story());
        corner.nothing_is_left().await;
    })
    .await;
}

#[tokio::test]
async fn a_file_that_may_grow_no_more_is_lost_output_and_not_the_end() {
    in_corner(async |corner| {
        let output = corner.path("output");
        let first = format!("ulimit -f 3000; exec >'{}'", output.display());
        let ended = after(corner, &first, &["write", "5000000", "1", "+", "exit", "6"]).output().await;
        assert_eq!(ended.code, Some(6), "{}", ended.stderr);
        assert!(ended.stderr.contains("output cannot be written and is lost"), "{}", ended.stderr);
        corner.nothing_is_left().await;
    })
    .await;
}
