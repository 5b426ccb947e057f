//! Going on with a run that was killed: which one is meant, what of its output is shown, and whom it leaves alone.

use std::ops::Range;

use lighterman_docker_tests::AMPLE;
use rustix::process::Signal;
use serde_json::Value;
use tokio::time::timeout;

use crate::{
    corner::{Corner, in_corner},
    launch::{Ended, Launch},
};

const ENDLESS: &[&str] = &["trap", "7", "+", "print", "ready", "+", "sleep", "600"];

fn resume(corner: &Corner, instance: &str) -> Launch {
    corner.lighterman(&["run", "--json", "--resume", instance])
}

/// Starts an endless task, kills the command, and answers the id of its instance.
async fn dead(corner: &Corner) -> String {
    let mut run = corner.run(&corner.task(ENDLESS)).start();
    run.until_said("ready").await;
    let instance = run.instance().await;
    run.kill().await;
    instance
}

/// Two dead runs, of which none could clean up after the other.
async fn two_dead(corner: &Corner) -> [String; 2] {
    let first = dead(corner).await;
    let (place, aside) = (corner.runs().join(&first), corner.path("aside"));
    std::fs::rename(&place, &aside).unwrap();
    let second = dead(corner).await;
    std::fs::rename(&aside, &place).unwrap();
    [first, second]
}

/// Ends a container from outside, and the run that follows it.
async fn finish(corner: &Corner, instance: &str, launch: Launch) -> Ended {
    let mut run = launch.start();
    run.until_known("RUNNING").await;
    let containers = corner.engine().containers().await;
    let container = containers.into_iter().find(|container| container.instance == instance).unwrap();
    corner.engine().kill(&container.id, "TERM").await;
    run.end().await
}

#[tokio::test]
async fn a_mistyped_id_touches_nothing_and_is_answered_with_the_runs_there_are() {
    in_corner(async |corner| {
        let instance = dead(corner).await;
        let last = if instance.ends_with('0') { "1" } else { "0" };
        let mistyped = format!("{}{last}", &instance[..31]);
        let refused = resume(corner, &mistyped).start().end().await;
        refused.assert_code(125);
        let words = refused.failure();
        assert!(words.contains(&mistyped) && words.contains(&instance), "{words}");
        assert_eq!(refused.of("leftover").count(), 0, "{}", refused.story());
        assert_eq!(corner.engine().the_container().await.state, "running", "it was not touched");
        finish(corner, &instance, resume(corner, &instance)).await.assert_code(7);
        corner.nothing_is_left().await;
    })
    .await;
}

#[tokio::test]
async fn the_first_digits_in_any_letters_name_a_run() {
    in_corner(async |corner| {
        let instance = dead(corner).await;
        let ended = finish(corner, &instance, resume(corner, &instance[..12].to_uppercase())).await;
        ended.assert_code(7);
        assert_eq!(ended.of("started").next().unwrap()["instance"], instance.as_str());
        let output = resume(corner, &instance[..7]).output().await;
        assert_eq!(output.code, Some(125), "{}", output.stderr);
        assert!(output.stderr.contains("8 to 32 hexadecimal digits"), "{}", output.stderr);
        corner.nothing_is_left().await;
    })
    .await;
}

#[tokio::test]
async fn who_goes_on_with_one_run_lists_the_other_and_leaves_it_alone() {
    in_corner(async |corner| {
        let [first, second] = two_dead(corner).await;
        let ended = finish(corner, &first, resume(corner, &first)).await;
        ended.assert_code(7);
        let told: Vec<_> = ended.of("leftover").map(|event| (&event["state"], &event["instance"])).collect();
        assert_eq!(told, [(&"dead".into(), &Value::from(second.as_str()))]);
        assert_eq!(corner.engine().the_container().await.state, "running", "it was not touched");
        finish(corner, &second, resume(corner, &second)).await.assert_code(7);
        corner.nothing_is_left().await;
    })
    .await;
}

/// A definition that does not fit is answered with what can be done about it here.
#[tokio::test]
async fn advice_to_who_goes_on_names_nothing_that_conflicts_with_it() {
    in_corner(async |corner| {
        let instance = dead(corner).await;
        let other = corner.file(&corner.task(&["exit", "0"]));
        let refused = resume(corner, &instance).argument(other).start().end().await;
        refused.assert_code(125);
        assert!(refused.failure().contains("leave it out"), "{}", refused.failure());
        assert!(!refused.failure().contains("--state-dir"), "{}", refused.failure());
        assert_eq!(corner.engine().the_container().await.state, "running", "it was not touched");
    })
    .await;
}

#[tokio::test]
async fn who_cleans_up_a_dead_run_is_told_as_that() {
    in_corner(async |corner| {
        let slow = corner.task(&["print", "ready", "+", "ignore-term"]).with("stopTimeout", 5);
        let mut run = corner.run(&slow).start();
        run.until_said("ready").await;
        let instance = run.instance().await;
        run.kill().await;
        let mut cleaner = corner.run(&corner.task(&["exit", "0"])).start();
        let says_so = |event: &Value| event["text"].as_str().is_some_and(|text| text.contains("still cleaning up"));
        cleaner.until(|event| says_so(event).then_some(())).await;
        let beside = corner.run(&corner.task(&["exit", "3"])).start().end().await;
        beside.assert_code(3);
        let leftover = beside.of("leftover").next().unwrap_or_else(|| panic!("{}", beside.story()));
        assert_eq!((&leftover["state"], &leftover["pid"]), (&"in-cleanup".into(), &cleaner.pid().into()));
        let refused = resume(corner, &instance).start().end().await;
        refused.assert_code(125);
        assert!(refused.failure().contains("cleans up after its dead run"), "{}", refused.failure());
        cleaner.end().await.assert_code(0);
        corner.nothing_is_left().await;
    })
    .await;
}

/// All that a container has written so far, seen past the command.
async fn written(corner: &Corner, words: &str) {
    let id = corner.engine().the_container().await.id;
    let reading = async {
        loop {
            let logs = corner.engine().raw().get(&format!("/containers/{id}/logs?stdout=1")).await;
            if logs.text().contains(words) {
                return;
            }
        }
    };
    timeout(AMPLE, reading).await.unwrap_or_else(|_| panic!("{words} is never written"));
}

#[tokio::test]
async fn what_is_written_while_nobody_looks_is_shown_by_who_goes_on() {
    in_corner(async |corner| {
        let steps = ["print", "t0", "+", "sleep", "3", "+", "print", "t1", "+", "sleep", "1", "+", "print", "t2", "+"];
        for lives_on in [true, false] {
            let end = if lives_on { &["trap", "4", "+", "sleep", "600"][..] } else { &["exit", "4"] };
            let task = corner.task(&[&steps[..], end].concat());
            let mut run = corner.run(&task).start();
            run.until_said("t1").await;
            let instance = run.instance().await;
            run.kill().await;
            written(corner, "t2").await;
            let ended = if lives_on {
                let mut resumed = resume(corner, &instance).start();
                resumed.until_said("t2").await;
                corner.engine().kill(&corner.engine().the_container().await.id, "TERM").await;
                resumed.end().await
            } else {
                corner.engine().until_ended(&corner.engine().the_container().await.id).await;
                resume(corner, &instance).start().end().await
            };
            ended.assert_code(4);
            let said = ended.said();
            assert!(said == ["t1", "t2"] || said == ["t2"], "{lives_on}: {}", ended.story());
            corner.nothing_is_left().await;
        }
    })
    .await;
}

/// The numbers of the lines that were shown.
fn numbers(ended: &Ended) -> Range<u32> {
    let lines = ended.said();
    let number = |line: &String| line.get(..10).and_then(|digits| digits.parse::<u32>().ok()).unwrap();
    let first = number(lines.first().unwrap());
    for (index, line) in lines.iter().enumerate() {
        assert_eq!(number(line), first + u32::try_from(index).unwrap(), "a line is missing or doubled");
    }
    first..first + u32::try_from(lines.len()).unwrap()
}

#[tokio::test]
async fn of_a_steady_output_no_line_is_lost_and_little_is_shown_twice() {
    in_corner(async |corner| {
        // A hundred lines a second.
        let task = corner.task(&["write", "5000", "6", "50", "+", "exit", "4"]);
        let mut run = corner.run(&task).start();
        run.until(|event| event["line"].as_str().is_some_and(|line| line.starts_with("0000000300")).then_some(()))
            .await;
        let instance = run.instance().await;
        let killed = numbers(&run.kill().await);
        let ended = resume(corner, &instance).start().end().await;
        ended.assert_code(4);
        let rest = numbers(&ended);
        assert_eq!(killed.start, 0);
        assert!(rest.start <= killed.end, "lines are lost between {killed:?} and {rest:?}");
        assert!(killed.end - rest.start <= 250, "too much is shown twice: {killed:?} and {rest:?}");
        assert_eq!(rest.end, 600);
        corner.nothing_is_left().await;
    })
    .await;
}

/// Whoever has lost what tells whose a directory is finds it in the store.
#[tokio::test]
async fn a_note_that_is_lost_is_written_anew_from_the_store() {
    in_corner(async |corner| {
        let directory = corner.path("mine");
        let run = || corner.run(&corner.task(ENDLESS)).argument("--state-dir").argument(&directory);
        let mut first = run().start();
        first.until_said("ready").await;
        let instance = first.instance().await;
        first.kill().await;
        for note in ["instance", "docker"] {
            let path = directory.join(note);
            for removed in [true, false] {
                if removed { std::fs::remove_file(&path) } else { std::fs::write(&path, "") }.unwrap();
                let verify = corner.lighterman(&["state", "verify"]).argument(&directory).output().await;
                assert_eq!(verify.code, Some(0), "{}", verify.stderr);
                let line = format!("{}: missing or empty", path.display());
                assert!(verify.stdout.contains(&line), "{}", verify.stdout);
                let mut next = run().start();
                next.until_known("RUNNING").await;
                assert_eq!(next.instance().await, instance);
                next.kill().await;
                assert!(!std::fs::read_to_string(&path).unwrap().trim().is_empty());
            }
        }
        // Of another instance: the store knows better.
        std::fs::write(directory.join("instance"), "1".repeat(32)).unwrap();
        let mut last = run().start();
        last.until_known("RUNNING").await;
        assert_eq!(last.instance().await, instance);
        last.signal(Signal::TERM);
        last.end().await.assert_code(143);
        assert_eq!(corner.engine().containers().await.len(), 0);
    })
    .await;
}

/// Without store and note, nobody knows which containers to look for: none must be forgotten.
#[tokio::test]
async fn a_damaged_store_without_a_note_is_not_begun_anew() {
    in_corner(async |corner| {
        let directory = corner.path("mine");
        let run = || corner.run(&corner.task(ENDLESS)).argument("--state-dir").argument(&directory);
        let mut first = run().start();
        first.until_said("ready").await;
        let instance = first.instance().await;
        first.kill().await;
        std::fs::write(directory.join("store-1/db"), "").unwrap();
        std::fs::remove_file(directory.join("instance")).unwrap();
        for recover in [&[][..], &["--recover"]] {
            let refused = run().arguments(recover).start().end().await;
            refused.assert_code(125);
            let words = refused.failure();
            assert!(words.contains("dev.lighterman.instance") && words.contains("mine/instance"), "{words}");
        }
        assert_eq!(corner.engine().the_container().await.state, "running", "it was not touched");
        std::fs::write(directory.join("instance"), &instance).unwrap();
        finish(corner, &instance, run().argument("--recover")).await.assert_code(7);
        assert_eq!(corner.engine().containers().await.len(), 0);
    })
    .await;
}

/// A damaged store knows no definition: only with the file is its container gone on with.
#[tokio::test]
async fn who_resumes_from_damage_is_told_that_the_file_is_needed() {
    in_corner(async |corner| {
        let instance = dead(corner).await;
        std::fs::write(corner.runs().join(&instance).join("store-1/db"), "").unwrap();
        let refused = resume(corner, &instance).start().end().await;
        refused.assert_code(125);
        let words = refused.failure();
        assert!(words.contains("--recover and FILE") && words.contains("without FILE"), "{words}");
        assert_eq!(corner.engine().the_container().await.state, "running", "it was not touched");
        let file = corner.file(&corner.task(ENDLESS));
        finish(corner, &instance, resume(corner, &instance).argument("--recover").argument(file)).await.assert_code(7);
        corner.nothing_is_left().await;
    })
    .await;
}
