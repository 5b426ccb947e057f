//! State on a file system that is full, or may not be written.

use std::{
    fs::{self, File},
    io::{ErrorKind, Write as _},
    path::{Path, PathBuf},
};

use lighterman_docker_tests::AMPLE;
use lighterman_testkit::proxy::Pattern;
use rustix::{
    fs::{FallocateFlags, fallocate},
    process::Signal,
};

use crate::{
    corner::{Corner, in_corner},
    definition::Task,
    engine::SOON,
    launch::{Launch, Running, text},
};

/// The command with a small file system of its own where the state goes. Nobody else sees it; it ends with the command.
///
/// Its blocks are small, so that a commit needs a new one: what a file has already got is never refused.
fn run_on_small_disk(corner: &Corner, task: &Task, kibibytes: u64, options: &str) -> Launch {
    let (place, image) = (corner.path("small"), corner.path("image"));
    fs::create_dir_all(&place).unwrap();
    File::create(&image).unwrap().set_len(kibibytes << 10).unwrap();
    let script = r#"
        mkfs.ext4 -q -F -b 1024 -m 0 -N 64 -O ^has_journal "$1" && mount -o "loop,$2" "$1" "$3" && shift 3 && exec "$@""#;
    corner
        .through(&["unshare", "--mount", "--propagation", "private", "sh", "-c", script, "small"])
        .argument(&image)
        .argument(options)
        .argument(&place)
        .argument(corner.program())
        .arguments(&["run", "--json", "--state-dir"])
        .argument(place.join("state"))
        .argument(corner.file(task))
}

/// The small file system, seen from here.
fn disk_of(corner: &Corner, run: &Running) -> PathBuf {
    let place = corner.path("small");
    Path::new(&format!("/proc/{}/root", run.pid())).join(place.strip_prefix("/").unwrap())
}

/// Writes until nothing more goes in. What the store has got in advance is taken away from it first: else it would go on
/// for hundreds of commits.
fn fill(disk: &Path) {
    let path = disk.join("state/store-1/db");
    let bytes = fs::read(&path).unwrap();
    let used = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1).next_multiple_of(1_024);
    let (from, spare) = (used.try_into().unwrap(), (bytes.len() - used).try_into().unwrap());
    let database = File::options().write(true).open(&path).unwrap();
    fallocate(&database, FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE, from, spare).unwrap();
    database.sync_all().unwrap();

    let mut file = File::create(disk.join("filler")).unwrap();
    for size in [4_096, 512, 1] {
        loop {
            match file.write(&vec![1; size]) {
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::StorageFull => break,
                Err(error) => panic!("{error}"),
            }
        }
    }
}

fn free(disk: &Path) {
    fs::remove_file(disk.join("filler")).unwrap();
}

const ENDLESS: &[&str] = &["trap", "7", "+", "print", "ready", "+", "sleep", "600"];

async fn until_store_fails(run: &mut Running) -> String {
    run.until(|event| {
        let told = event["type"] == "note" && event["text"].as_str().unwrap().contains("takes no changes");
        told.then(|| text(event, "text"))
    })
    .await
}

#[tokio::test]
async fn b075_a_full_disk_leaves_a_running_task_alone_and_its_end_is_told_when_there_is_room() {
    in_corner(async |corner| {
        let mut run = run_on_small_disk(corner, &corner.task(ENDLESS), 8 << 10, "rw").start();
        run.until_said("ready").await;
        let disk = disk_of(corner, &run);
        fill(&disk);
        let container = corner.engine().the_container().await;
        assert_eq!(container.state, "running");
        corner.engine().kill(&container.id, "TERM").await;
        let words = until_store_fails(&mut run).await;
        assert!(words.contains("no space left"), "{words}");
        assert_eq!(corner.engine().until_ended(&container.id).await, 7);
        assert_eq!(corner.engine().the_container().await.state, "exited", "what is not saved is not removed");
        free(&disk);
        let ended = run.end_within(SOON).await.unwrap_or_else(|run| panic!("it does not go on: {}", run.story()));
        ended.assert_code(7);
        let notes: Vec<_> = ended.of("note").map(|note| note["text"].clone()).collect();
        let [_, last] = &notes[..] else { panic!("told once, and its end: {}", ended.story()) };
        assert_eq!(last, "the state store takes changes again");
        assert_eq!(corner.engine().containers().await.len(), 0);
    })
    .await;
}

#[tokio::test]
async fn b075_nothing_new_is_created_on_a_full_disk_until_there_is_room() {
    in_corner(async |corner| {
        let proxy = corner.proxy();
        let watch = corner.engine().watch().await;
        // It has been accepted, and waits for the engine to tell of the image.
        let images = Pattern::new("GET", "/images/**");
        proxy.add(lighterman_testkit::proxy::Rule::new(
            images.clone(),
            lighterman_testkit::proxy::Fault::DelayAnswer(std::time::Duration::from_secs(1)),
        ));
        let launch = run_on_small_disk(corner, &corner.task(&["exit", "3"]), 8 << 10, "rw").docker(proxy.socket());
        let mut run = launch.start();
        tokio::time::timeout(AMPLE, proxy.seen(&images, 1)).await.unwrap();
        let disk = disk_of(corner, &run);
        fill(&disk);
        until_store_fails(&mut run).await;
        let wait = run.until(|event| (event["wait"]["kind"] == "store").then(|| text(&event["wait"], "text"))).await;
        assert!(wait.contains("no space left"), "{wait}");
        assert_eq!(watch.stories().len(), 0, "nothing is created that is not saved");
        free(&disk);
        let ended = run.end_within(SOON).await.unwrap_or_else(|run| panic!("it does not go on: {}", run.story()));
        ended.assert_code(3);
        let stories = watch.until_all_gone().await;
        assert_eq!(stories.len(), 1, "{stories:?}");
    })
    .await;
}

#[tokio::test]
async fn b075_an_interrupt_stops_the_container_however_full_the_disk_is() {
    in_corner(async |corner| {
        let mut run = run_on_small_disk(corner, &corner.task(ENDLESS), 8 << 10, "rw").start();
        run.until_said("ready").await;
        let disk = disk_of(corner, &run);
        fill(&disk);
        let container = corner.engine().the_container().await.id;
        run.signal(Signal::INT);
        assert_eq!(corner.engine().until_ended(&container).await, 7, "a stop needs no room");
        until_store_fails(&mut run).await;
        free(&disk);
        let ended = run.end_within(SOON).await.unwrap_or_else(|run| panic!("it does not go on: {}", run.story()));
        ended.assert_code(130);
        assert_eq!(ended.container()["exit_code"], 7, "{}", ended.story());
        assert_eq!(corner.engine().containers().await.len(), 0);
    })
    .await;
}

#[tokio::test]
async fn b075_a_start_without_any_room_is_refused_with_what_is_missing() {
    in_corner(async |corner| {
        let watch = corner.engine().watch().await;
        let refused = run_on_small_disk(corner, &corner.task(&["exit", "0"]), 300, "rw").start().end().await;
        refused.assert_code(125);
        let words = refused.failure().to_lowercase();
        assert!(words.contains("no space left") && words.contains("small/state"), "{words}");
        assert_eq!(watch.stories().len(), 0);
    })
    .await;
}

#[tokio::test]
async fn b076_a_read_only_place_is_refused_by_name() {
    in_corner(async |corner| {
        let refused = run_on_small_disk(corner, &corner.task(&["exit", "0"]), 1 << 10, "ro").start().end().await;
        refused.assert_code(125);
        let words = refused.failure();
        assert!(words.contains("small/state") && words.to_lowercase().contains("read-only"), "{words}");
        assert_eq!(corner.engine().containers().await.len(), 0);
    })
    .await;
}

#[tokio::test]
async fn b076_a_directory_of_somebody_else_is_refused_by_name() {
    in_corner(async |corner| {
        let place = corner.path("theirs");
        fs::create_dir(&place).unwrap();
        std::os::unix::fs::chown(&place, Some(12_345), None).unwrap();
        let run = corner.run(&corner.task(&["exit", "0"])).argument("--state-dir").argument(&place);
        let refused = run.start().end().await;
        refused.assert_code(125);
        let words = refused.failure();
        assert!(words.contains(place.to_str().unwrap()) && words.contains("12345"), "{words}");
        assert_eq!(fs::read_dir(&place).unwrap().count(), 0);
    })
    .await;
}
