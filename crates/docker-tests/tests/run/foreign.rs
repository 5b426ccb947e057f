//! Containers that look like ours and are not, and ours that nobody has a record of.

use std::{fs, panic::AssertUnwindSafe, panic::resume_unwind, path::Path};

use futures_util::FutureExt as _;
use serde_json::{Value, json};

use crate::{
    corner::{Corner, in_corner},
    definition::Task,
    engine::SOON,
    launch::{Ended, Launch, Running},
};

/// Words of a program that runs until it is told to end, with 7.
const ENDLESS: &[&str] = &["trap", "7", "+", "print", "ready", "+", "sleep", "600"];

fn run_in(corner: &Corner, directory: &Path, task: &Task) -> Launch {
    corner.run(task).argument("--state-dir").argument(directory)
}

async fn ends(run: Running) -> Ended {
    run.end_within(SOON).await.unwrap_or_else(|run| panic!("it does not end: {}", run.story()))
}

/// As `docker commit` of this container; the image's name.
async fn committed(corner: &Corner, container: &str) -> String {
    let name = format!("lighterman-test-copy:{}", &corner.token()[..12]);
    let (repository, tag) = name.split_once(':').unwrap();
    let path = format!("/commit?container={container}&repo={repository}&tag={tag}");
    let answer = corner.engine().raw().post(&path, &json!({})).await;
    assert_eq!(answer.status, 201, "{}", answer.text());
    name
}

/// As `docker run -d` of this image; the container's id.
async fn run_copy(corner: &Corner, image: &str, name: &str) -> String {
    let raw = corner.engine().raw();
    let words = json!({ "Image": image, "Cmd": ["print", "FOREIGN", "+", "sleep", "600"] });
    let made = raw.post(&format!("/containers/create?name={name}"), &words).await;
    assert_eq!(made.status, 201, "{}", made.text());
    let id = made.json()["Id"].as_str().unwrap().to_owned();
    let started = raw.post(&format!("/containers/{id}/start"), &json!({})).await;
    assert_eq!(started.status, 204, "{}", started.text());
    id
}

/// Removes the image, also when the test failed; its containers first.
async fn without_trace(corner: &Corner, image: &str, test: impl Future<Output = ()>) {
    let outcome = AssertUnwindSafe(test).catch_unwind().await;
    corner.engine().clean().await;
    corner.engine().raw().delete(&format!("/images/{image}?force=1")).await;
    if let Err(panic) = outcome {
        resume_unwind(panic);
    }
}

fn warnings(ended: &Ended) -> String {
    let warning = |note: &&Value| note["level"] == "warning";
    ended.of("note").filter(warning).map(|note| format!("{}\n", note["text"].as_str().unwrap())).collect()
}

/// No record of a task is left in the user's state directory.
async fn holds_no_task(corner: &Corner, directory: &Path) {
    let records = corner.records(directory).await;
    assert!(records.iter().all(|record| record["kind"] != "task"), "{records:?}");
}

#[tokio::test]
async fn a_container_made_from_an_image_of_ours_is_never_taken_for_ours() {
    in_corner(async |corner| {
        let directory = corner.path("mine");
        let task = corner.task(&["print", "mine", "+", "sleep", "1", "+", "exit", "3"]);
        let mut first = run_in(corner, &directory, &task).start();
        first.until_said("mine").await;
        let image = committed(corner, &corner.engine().the_container().await.id).await;
        without_trace(corner, &image, async {
            ends(first).await.assert_code(3);
            let name = format!("copy-{}", &corner.token()[..12]);
            let copy = run_copy(corner, &image, &name).await;
            for _ in 0..2 {
                let ended = ends(run_in(corner, &directory, &task).start()).await;
                ended.assert_code(3);
                assert_eq!(ended.said(), ["mine"]);
                assert!(warnings(&ended).contains(&name), "it is told: {}", ended.story());
                assert_eq!(corner.engine().inspect(&copy).await["State"]["Running"], true, "it was not touched");
                holds_no_task(corner, &directory).await;
            }
        })
        .await;
    })
    .await;
}

#[tokio::test]
async fn a_recovery_touches_no_container_made_from_an_image_of_ours() {
    in_corner(async |corner| {
        let directory = corner.path("mine");
        let mut run = run_in(corner, &directory, &corner.task(ENDLESS)).start();
        run.until_said("ready").await;
        run.kill().await;
        let ours = corner.engine().the_container().await.id;
        let image = committed(corner, &ours).await;
        without_trace(corner, &image, async {
            corner.engine().remove(&ours).await;
            let name = format!("copy-{}", &corner.token()[..12]);
            let copy = run_copy(corner, &image, &name).await;
            crate::state::Damage::FlipRecords.do_to(&directory);
            let other = corner.task(&["exit", "0"]);
            let ended = ends(run_in(corner, &directory, &other).argument("--recover").start()).await;
            ended.assert_code(0);
            assert!(warnings(&ended).contains(&name), "it is told: {}", ended.story());
            assert_eq!(corner.engine().inspect(&copy).await["State"]["Running"], true, "it was not touched");
        })
        .await;
    })
    .await;
}

/// What a create that outlived its agent leaves, found by a run of another task.
#[tokio::test]
async fn an_orphan_beside_the_task_is_stopped_removed_and_told() {
    in_corner(async |corner| {
        let directory = corner.path("mine");
        let mut run = run_in(corner, &directory, &corner.task(ENDLESS)).start();
        run.until_said("ready").await;
        run.kill().await;
        let orphan = corner.engine().the_container().await.id;
        forget_records(&directory);
        let watch = corner.engine().watch().await;
        let task = corner.task(&["print", "mine", "+", "sleep", "0.5", "+", "exit", "3"]);
        let ended = ends(run_in(corner, &directory, &task).start()).await;
        ended.assert_code(3);
        assert_eq!(ended.said(), ["mine"]);
        assert!(warnings(&ended).contains("is left over from an earlier task"), "{}", ended.story());
        watch.until_all_gone().await;
        assert!(watch.stories().keys().any(|id| *id == orphan), "the orphan was met");
        holds_no_task(corner, &directory).await;
    })
    .await;
}

/// The same definition: the orphan is not gone on with once there is a task of it.
#[tokio::test]
async fn an_orphan_of_the_same_definition_is_not_gone_on_with() {
    in_corner(async |corner| {
        let (directory, task) = (corner.path("mine"), corner.task(ENDLESS));
        let mut run = run_in(corner, &directory, &task).start();
        run.until_said("ready").await;
        run.kill().await;
        let orphan = corner.engine().the_container().await.id;
        forget_records(&directory);
        let mut run = run_in(corner, &directory, &task).start();
        run.until_said("ready").await;
        let told = |event: &Value| {
            let text = event["text"].as_str().unwrap_or_default();
            (event["type"] == "note" && text.contains("is left over from an earlier task")).then_some(())
        };
        run.until(told).await;
        run.signal(rustix::process::Signal::TERM);
        ends(run).await.assert_code(143);
        assert_eq!(corner.engine().containers().await.len(), 0, "{orphan} is gone too");
        holds_no_task(corner, &directory).await;
    })
    .await;
}

/// The state directory keeps its id and loses everything else.
fn forget_records(directory: &Path) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            fs::remove_dir_all(&path).unwrap();
        } else if path.file_name().is_some_and(|name| name != "instance") {
            fs::remove_file(&path).unwrap();
        }
    }
}
