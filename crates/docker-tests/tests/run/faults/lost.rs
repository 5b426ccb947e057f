//! Calls that the engine carries out, and whose answers are lost.

use std::time::Duration;

use lighterman_testkit::proxy::{Fault, Pattern, Reply, Rule};

use super::{create, in_bounds, remove, start};
use crate::{
    corner::{Corner, in_corner},
    engine::times,
};

/// Runs a task whose first call of this kind is done and not answered; all is as if it had been.
async fn goes_on_as_if_it_had_been_answered(corner: &Corner, pattern: Pattern, fault: Fault, limit: (&str, &str)) {
    let proxy = corner.proxy();
    let watch = corner.engine().watch().await;
    proxy.add(Rule::new(pattern.clone(), fault).times(1));
    // Longer than a create call in doubt is watched for: nothing is left for the next run.
    let task = corner.task(&["print", "once", "+", "sleep", "2.5", "+", "exit", "3"]);
    let run = corner.run(&task).docker(proxy.socket()).env(limit.0, limit.1);
    let mut run = run.start();
    run.until_known("RUNNING").await;
    let ended = in_bounds(run).await;
    ended.assert_code(3);
    assert_eq!(ended.said(), ["once"]);
    assert!(ended.container()["reason"].is_null(), "{}", ended.story());
    let stories = watch.until_all_gone().await;
    assert_eq!(stories.len(), 1, "twins: {stories:#?}");
    for story in stories.values() {
        assert_eq!((times(story, "start"), times(story, "die"), times(story, "kill")), (1, 1, 0), "{story:?}");
    }
    corner.nothing_is_left().await;
}

const CREATE_LIMIT: (&str, &str) = ("LIGHTERMAN_RUNTIME_CREATE_TIMEOUT", "1s");
const START_LIMIT: (&str, &str) = ("LIGHTERMAN_RUNTIME_START_TIMEOUT", "5s");
const REMOVE_LIMIT: (&str, &str) = ("LIGHTERMAN_RUNTIME_REMOVE_TIMEOUT", "2s");

#[tokio::test]
async fn a_create_whose_answer_is_cut_off_is_adopted() {
    in_corner(async |corner| {
        goes_on_as_if_it_had_been_answered(corner, create(), Fault::CutAfter, CREATE_LIMIT).await;
    })
    .await;
}

#[tokio::test]
async fn a_create_whose_answer_never_comes_is_adopted() {
    in_corner(async |corner| {
        goes_on_as_if_it_had_been_answered(corner, create(), Fault::DropAnswer, CREATE_LIMIT).await;
    })
    .await;
}

/// As something in between answers that has lost sight of the engine.
fn not_dockers(status: u16, body: &'static str) -> Fault {
    Fault::rewrite(move |_| Reply { status, body: body.as_bytes().to_vec() })
}

#[tokio::test]
async fn what_something_in_between_answers_is_no_word_of_docker() {
    in_corner(async |corner| {
        for pattern in [create(), start(), remove()] {
            for (status, body) in [
                (503, "upstream connect error or disconnect/reset before headers"),
                (500, "<html>Internal Server Error</html>"),
            ] {
                let fault = not_dockers(status, body);
                goes_on_as_if_it_had_been_answered(corner, pattern.clone(), fault, CREATE_LIMIT).await;
            }
        }
    })
    .await;
}

#[tokio::test]
async fn b026_a_start_whose_answer_is_cut_off_is_running() {
    in_corner(async |corner| {
        goes_on_as_if_it_had_been_answered(corner, start(), Fault::CutAfter, START_LIMIT).await;
    })
    .await;
}

#[tokio::test]
async fn b026_a_start_whose_answer_never_comes_is_running() {
    in_corner(async |corner| {
        goes_on_as_if_it_had_been_answered(corner, start(), Fault::DropAnswer, START_LIMIT).await;
    })
    .await;
}

#[tokio::test]
async fn a_removal_whose_answer_is_lost_is_done() {
    in_corner(async |corner| {
        for fault in [Fault::CutAfter, Fault::DropAnswer] {
            goes_on_as_if_it_had_been_answered(corner, remove(), fault, REMOVE_LIMIT).await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_call_that_is_cut_off_before_it_arrives_is_made_again() {
    in_corner(async |corner| {
        for pattern in [create(), start(), remove()] {
            goes_on_as_if_it_had_been_answered(corner, pattern, Fault::CutBefore, CREATE_LIMIT).await;
        }
    })
    .await;
}

/// The call is given up, and the engine gets to it afterwards.
#[tokio::test]
async fn a_create_that_is_carried_out_after_it_was_given_up_leaves_nothing() {
    in_corner(async |corner| {
        let proxy = corner.proxy();
        let watch = corner.engine().watch().await;
        proxy.add(Rule::new(create(), Fault::DelayRequest(Duration::from_millis(1_500))));
        let run = corner.run(&corner.task(&["exit", "3"])).docker(proxy.socket());
        let ended = in_bounds(run.env("LIGHTERMAN_RUNTIME_CREATE_TIMEOUT", "1s").start()).await;
        ended.assert_code(125);
        assert_eq!(ended.container()["reason"]["name"], "DockerTimeoutError", "{}", ended.story());
        assert!(super::notes(&ended).contains("the next run removes it"), "{}", ended.story());
        watch.until(|stories| (!stories.is_empty()).then_some(())).await;
        let next = corner.run(&corner.task(&["exit", "0"])).docker(proxy.socket()).start();
        proxy.clear();
        next.end().await;
        watch.until_all_gone().await;
        corner.nothing_is_left().await;
    })
    .await;
}
