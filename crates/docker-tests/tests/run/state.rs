//! State directories: going on, refusing, damage, recovery.

use std::{fs, path::Path};

use lighterman_checkpoint::{OpenOptions, Store};
use lighterman_contracts::{Batch, Checkpoint as _, Write};
use rustix::process::Signal;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

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

/// Starts a task, waits until it runs, and kills the command.
async fn killed(launch: Launch) -> Ended {
    let mut run = launch.start();
    run.until_said("ready").await;
    run.kill().await
}

/// Ends the container from outside and waits for the command's end.
async fn finished(corner: &Corner, mut run: Running) -> Ended {
    run.until_known("RUNNING").await;
    corner.engine().kill(&corner.engine().the_container().await.id, "TERM").await;
    run.end_within(SOON).await.unwrap_or_else(|run| panic!("it does not end: {}", run.story()))
}

#[tokio::test]
async fn b013_the_same_definition_in_the_same_directory_is_gone_on_with() {
    in_corner(async |corner| {
        let (directory, task) = (corner.path("mine"), corner.task(ENDLESS));
        let first = killed(run_in(corner, &directory, &task)).await;
        let container = corner.engine().the_container().await;
        assert_eq!(first.container()["runtime_id"], container.id.as_str());
        let ended = finished(corner, run_in(corner, &directory, &task).start()).await;
        ended.assert_code(7);
        let started = ended.of("started").next().unwrap();
        assert_eq!((&started["resumed"], &started["instance"]), (&Value::Bool(true), &container.instance.into()));
        assert_eq!(ended.container()["runtime_id"], container.id.as_str());
        assert!(ended.said().iter().all(|line| line == "ready"), "a second of output may be shown twice");
        assert_eq!(corner.engine().containers().await.len(), 0);
        // The directory is the user's: it stays, and holds no task.
        let records = corner.records(&directory).await;
        assert!(records.iter().all(|record| record["kind"] != "task"), "{records:?}");
        run_in(corner, &directory, &corner.task(&["exit", "3"])).start().end().await.assert_code(3);
    })
    .await;
}

#[tokio::test]
async fn b014_a_container_that_ended_while_nobody_looked_is_told_with_its_exit_code() {
    in_corner(async |corner| {
        let (directory, task) = (corner.path("mine"), corner.task(ENDLESS));
        killed(run_in(corner, &directory, &task)).await;
        let container = corner.engine().the_container().await.id;
        corner.engine().kill(&container, "TERM").await;
        assert_eq!(corner.engine().until_ended(&container).await, 7);
        let finished_at = corner.engine().inspect(&container).await["State"]["FinishedAt"].clone();
        let ended = run_in(corner, &directory, &task).start().end().await;
        ended.assert_code(7);
        let (told, known) = (ended.container()["finished_at"].as_str().unwrap(), finished_at.as_str().unwrap());
        assert_eq!(told.get(..23), known.get(..23), "the time is the engine's");
        assert_eq!(corner.engine().containers().await.len(), 0);
    })
    .await;
}

#[tokio::test]
async fn b017_work_that_is_done_is_not_done_again() {
    in_corner(async |corner| {
        let (directory, task) = (corner.path("mine"), corner.task(&["print", "ready", "+", "exit", "4"]));
        let watch = corner.engine().watch().await;
        // Without Docker it cannot be removed, and not even be looked at.
        let proxy = corner.proxy();
        let mut run = run_in(corner, &directory, &task).docker(proxy.socket()).start();
        run.until_known("CREATED").await;
        run.kill().await;
        watch.until(|stories| stories.values().any(|story| story.iter().any(|a| a == "create")).then_some(())).await;
        proxy.go_away().await;
        for _ in 0..3 {
            let absent = run_in(corner, &directory, &task).docker(proxy.socket());
            let ended = absent.env("LIGHTERMAN_RUNTIME_PATIENCE", "0s").start().end().await;
            ended.assert_code(125);
        }
        proxy.come_back().unwrap();
        run_in(corner, &directory, &task).docker(proxy.socket()).start().end().await.assert_code(4);
        let stories = watch.until_all_gone().await;
        assert_eq!(stories.len(), 1, "{stories:?}");
    })
    .await;
}

#[tokio::test]
async fn another_definition_in_the_same_directory_is_refused_and_both_are_named() {
    in_corner(async |corner| {
        let directory = corner.path("mine");
        let first = killed(run_in(corner, &directory, &corner.task(ENDLESS))).await;
        let other = corner.task(&["exit", "0"]);
        let refused = run_in(corner, &directory, &other).start().end().await;
        refused.assert_code(125);
        let words = refused.failure();
        let digest = first.of("task").next().unwrap()["definition"].as_str().unwrap();
        assert!(words.contains(digest) && words.matches("sha256:").count() == 2, "{words}");
        assert!(words.contains(directory.to_str().unwrap()), "{words}");
        assert_eq!(corner.engine().the_container().await.state, "running", "it was not touched");
    })
    .await;
}

#[tokio::test]
async fn a_living_owner_is_named_by_its_process_and_not_disturbed() {
    in_corner(async |corner| {
        let (directory, task) = (corner.path("mine"), corner.task(ENDLESS));
        let mut owner = run_in(corner, &directory, &task).start();
        owner.until_said("ready").await;
        let refused = run_in(corner, &directory, &task).start().end().await;
        refused.assert_code(125);
        assert!(refused.failure().contains(&owner.pid().to_string()), "{}", refused.failure());
        owner.signal(Signal::TERM);
        owner.end().await.assert_code(143);

        let mut shared = corner.run(&task).start();
        shared.until_said("ready").await;
        let instance = shared.instance().await;
        let resumed = corner.lighterman(&["run", "--json", "--resume", &instance]).start().end().await;
        resumed.assert_code(125);
        assert!(resumed.failure().contains(&shared.pid().to_string()), "{}", resumed.failure());
        let beside = corner.run(&corner.task(&["exit", "0"])).start().end().await;
        beside.assert_code(0);
        let living = beside.of("leftover").next().unwrap_or_else(|| panic!("{}", beside.story()));
        assert_eq!((&living["state"], &living["pid"]), (&"living".into(), &shared.pid().into()));
        shared.signal(Signal::TERM);
        let ended = shared.end().await;
        ended.assert_code(143);
        assert_eq!(ended.container()["exit_code"], 7);
    })
    .await;
}

#[tokio::test]
async fn what_cannot_be_resumed_is_said_so() {
    in_corner(async |corner| {
        let nobody = "00000000000000000000000000000001";
        let ended = corner.lighterman(&["run", "--json", "--resume", nobody]).start().end().await;
        ended.assert_code(125);
        assert!(ended.failure().contains(nobody), "{}", ended.failure());
        assert!(corner.states().is_empty());
        let output = corner.lighterman(&["run", "--resume", "../../etc"]).output().await;
        assert_eq!(output.code, Some(125), "{}", output.stderr);
    })
    .await;
}

#[tokio::test]
async fn b063_the_exit_code_of_a_dead_run_is_printed_by_the_next_start() {
    in_corner(async |corner| {
        killed(corner.run(&corner.task(ENDLESS))).await;
        let container = corner.engine().the_container().await.id;
        corner.engine().kill(&container, "TERM").await;
        corner.engine().until_ended(&container).await;
        let next = corner.lighterman(&["run"]).argument(corner.file(&corner.task(&["exit", "0"]))).output().await;
        assert_eq!(next.code, Some(0), "{}", next.stderr);
        assert!(next.stderr.contains("stopped, exit code 7; removing it"), "{}", next.stderr);
        corner.nothing_is_left().await;
    })
    .await;
}

/// Whoever is killed while it cleans up has told what it knew.
#[tokio::test]
async fn what_was_cleaned_up_is_told_before_the_rest_is() {
    in_corner(async |corner| {
        let slow = corner.task(&["print", "ready", "+", "ignore-term"]).with("stopTimeout", 5);
        killed(corner.run(&slow)).await;
        let slow = corner.engine().the_container().await.id;
        // It must not be cleaned up before both are dead.
        let kept = corner.states();
        let aside = corner.path("aside");
        fs::rename(&kept[0], &aside).unwrap();
        killed(corner.run(&corner.task(ENDLESS))).await;
        fs::rename(&aside, &kept[0]).unwrap();

        let mut next = corner.run(&corner.task(&["exit", "0"])).start();
        let first = next.until(|event| (event["type"] == "leftover").then(|| event.clone())).await;
        assert_eq!((&first["state"], &first["exit_code"]), (&"cleaned".into(), &7.into()));
        assert_eq!(corner.engine().inspect(&slow).await["State"]["Running"], true, "the other still has its time");
        next.kill().await;
        let last = corner.run(&corner.task(&["exit", "0"])).start().end().await;
        last.assert_code(0);
        let told: Vec<_> = last.of("leftover").map(|event| event["exit_code"].clone()).collect();
        assert!(told.contains(&137.into()), "{}", last.story());
        corner.nothing_is_left().await;
    })
    .await;
}

/// There, nothing would be found of it: it would be forgotten, and its container with it.
#[tokio::test]
async fn what_is_in_another_docker_is_left_alone() {
    in_corner(async |corner| {
        let proxy = corner.proxy();
        killed(corner.run(&corner.task(ENDLESS)).docker(proxy.socket())).await;
        let instance = corner.engine().the_container().await.instance;
        let next = corner.run(&corner.task(&["exit", "0"])).start().end().await;
        next.assert_code(0);
        let leftover = next.of("leftover").next().unwrap_or_else(|| panic!("{}", next.story()));
        let address = format!("unix://{}", proxy.socket().display());
        assert_eq!((&leftover["state"], &leftover["instance"]), (&"elsewhere".into(), &instance.as_str().into()));
        assert!(leftover["text"].as_str().unwrap().contains(&address), "{leftover}");
        let resumed = corner.lighterman(&["run", "--json", "--resume", &instance]).start().end().await;
        resumed.assert_code(125);
        assert!(resumed.failure().contains(&format!("--docker-host {address}")), "{}", resumed.failure());
        assert_eq!(corner.engine().the_container().await.state, "running", "it was not touched");

        // Damage does not change whose it is.
        let state = corner.states().remove(0);
        Damage::CutToNothing.do_to(&state);
        let next = corner.run(&corner.task(&["exit", "0"])).argument("--recover").start().end().await;
        assert_eq!(next.of("leftover").next().unwrap()["state"], "elsewhere", "{}", next.story());
        let there = corner.run(&corner.task(&["exit", "0"])).argument("--recover").docker(proxy.socket());
        let there = there.start().end().await;
        let leftover = there.of("leftover").next().unwrap_or_else(|| panic!("{}", there.story()));
        assert_eq!((&leftover["state"], &leftover["exit_code"]), (&"cleaned".into(), &7.into()));
        corner.nothing_is_left().await;

        // A directory that holds nothing unfinished belongs to nobody.
        let directory = corner.path("mine");
        let task = corner.task(&["exit", "0"]);
        run_in(corner, &directory, &task).docker(proxy.socket()).start().end().await.assert_code(0);
        run_in(corner, &directory, &task).start().end().await.assert_code(0);
    })
    .await;
}

/// What is done to the files of a closed store.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Damage {
    FlipRecords,
    CutToHalf,
    CutToNothing,
    RemoveStore,
    FlipWitness,
}

impl Damage {
    const ALL: [Self; 5] =
        [Self::FlipRecords, Self::CutToHalf, Self::CutToNothing, Self::RemoveStore, Self::FlipWitness];

    pub(crate) fn do_to(self, directory: &Path) {
        let database = directory.join("store-1/db");
        let mut bytes = fs::read(&database).unwrap();
        match self {
            Self::FlipRecords => {
                // Each record begins so; its payload is 36 bytes on.
                let begins: Vec<usize> = (0..bytes.len() - 64).filter(|at| bytes[*at..].starts_with(b"LMR1")).collect();
                assert!(!begins.is_empty(), "no record is found");
                begins.into_iter().for_each(|at| bytes[at + 40] ^= 0x10);
                fs::write(&database, bytes).unwrap();
            }
            Self::CutToHalf => {
                let used = bytes.iter().rposition(|byte| *byte != 0).unwrap();
                fs::write(&database, &bytes[..used / 2]).unwrap();
            }
            Self::CutToNothing => fs::write(&database, b"").unwrap(),
            Self::RemoveStore => fs::remove_dir_all(directory.join("store-1")).unwrap(),
            Self::FlipWitness => {
                let witness = directory.join("witness");
                let mut bytes = fs::read(&witness).unwrap();
                bytes.iter_mut().for_each(|byte| *byte ^= 0x10);
                fs::write(&witness, bytes).unwrap();
            }
        }
    }
}

#[tokio::test]
async fn b015_a_damaged_store_is_refused_and_recovered_from_when_asked() {
    in_corner(async |corner| {
        for damage in Damage::ALL {
            let directory = corner.path(&format!("{damage:?}"));
            let task = corner.task(ENDLESS);
            killed(run_in(corner, &directory, &task)).await;
            let container = corner.engine().the_container().await.id;
            damage.do_to(&directory);

            let refused = run_in(corner, &directory, &task).start().end().await;
            refused.assert_code(125);
            let words = refused.failure();
            assert!(words.contains("--recover") && words.contains(directory.to_str().unwrap()), "{damage:?}: {words}");
            assert_eq!(corner.engine().the_container().await.state, "running", "{damage:?}: it was not touched");

            let recovered = run_in(corner, &directory, &task).argument("--recover").start();
            let ended = finished(corner, recovered).await;
            assert_eq!(ended.code, Some(7), "{damage:?}: {}", ended.story());
            assert_eq!(ended.container()["runtime_id"], container.as_str(), "{damage:?}");
            let aside =
                ended.of("note").find_map(|note| note["text"].as_str().filter(|text| text.contains("damaged-1")));
            assert!(aside.is_some(), "{damage:?}: where the damaged store is: {}", ended.story());
            assert!(directory.join("damaged-1").is_dir(), "{damage:?}");
            assert_eq!(corner.engine().containers().await.len(), 0, "{damage:?}");
        }
    })
    .await;
}

#[tokio::test]
async fn recovery_with_another_definition_only_ends_what_it_finds() {
    in_corner(async |corner| {
        let directory = corner.path("mine");
        killed(run_in(corner, &directory, &corner.task(ENDLESS))).await;
        Damage::CutToNothing.do_to(&directory);
        let other = corner.task(&["print", "other", "+", "exit", "0"]);
        let ended = run_in(corner, &directory, &other).argument("--recover").start().end().await;
        assert!(!ended.said().contains(&"other".to_owned()), "nothing new is begun: {}", ended.story());
        ended.assert_code(7);
        assert_eq!(corner.engine().containers().await.len(), 0);
    })
    .await;
}

#[tokio::test]
async fn recovery_that_finds_nothing_begins_anew() {
    in_corner(async |corner| {
        let (directory, task) = (corner.path("mine"), corner.task(&["exit", "0"]));
        run_in(corner, &directory, &task).start().end().await.assert_code(0);
        Damage::CutToNothing.do_to(&directory);
        run_in(corner, &directory, &task).start().end().await.assert_code(125);
        let ended = run_in(corner, &directory, &task).argument("--recover").start().end().await;
        ended.assert_code(0);
        assert_eq!(ended.statuses().last(), Some(&"STOPPED"));
    })
    .await;
}

#[tokio::test]
async fn a_dead_run_with_a_damaged_store_is_named_and_left_alone_until_recovery_is_asked_for() {
    in_corner(async |corner| {
        killed(corner.run(&corner.task(ENDLESS))).await;
        let state = corner.states().remove(0);
        Damage::FlipRecords.do_to(&state);
        let task = corner.task(&["exit", "0"]);
        let next = corner.run(&task).start().end().await;
        next.assert_code(0);
        let leftover = next.of("leftover").next().unwrap_or_else(|| panic!("{}", next.story()));
        assert_eq!(
            (&leftover["state"], &leftover["state_dir"]),
            (&"unreadable".into(), &state.to_str().unwrap().into())
        );
        assert!(leftover["text"].as_str().unwrap().contains("--recover"), "{leftover}");
        assert_eq!(corner.engine().the_container().await.state, "running", "it was not touched");

        let next = corner.run(&task).argument("--recover").start().end().await;
        next.assert_code(0);
        let leftover = next.of("leftover").next().unwrap_or_else(|| panic!("{}", next.story()));
        assert_eq!((&leftover["state"], &leftover["exit_code"]), (&"cleaned".into(), &7.into()), "{}", next.story());
        corner.nothing_is_left().await;
    })
    .await;
}

/// The record of the host, as a program of tomorrow would write it.
async fn write_newer_record(directory: &Path) {
    let (store, loaded) = Store::open(directory, OpenOptions::default()).unwrap();
    let (key, mut value) = loaded.entries.into_iter().next().unwrap();
    value[4..6].copy_from_slice(&u16::MAX.to_le_bytes());
    let mut hash = Sha256::new();
    hash.update((key.len() as u64).to_le_bytes());
    hash.update(&key);
    hash.update(&value[..20]);
    hash.update(&value[36..]);
    value[20..36].copy_from_slice(&hash.finalize()[..16]);
    let generation = loaded.witness.unwrap() + 1;
    store.commit(Batch { generation, writes: vec![Write { key, value: Some(value) }] }).await.unwrap();
    drop(store.close());
}

#[tokio::test]
async fn a_store_of_a_newer_version_is_refused_even_with_recovery() {
    in_corner(async |corner| {
        let (directory, task) = (corner.path("mine"), corner.task(ENDLESS));
        killed(run_in(corner, &directory, &task)).await;
        write_newer_record(&directory).await;
        for recover in [&[][..], &["--recover"]] {
            let refused = run_in(corner, &directory, &task).arguments(recover).start().end().await;
            refused.assert_code(125);
            let words = refused.failure();
            assert!(words.contains("newer version") && words.contains("65535"), "{words}");
            assert!(!words.contains("--recover"), "it would not help: {words}");
        }
        assert_eq!(corner.engine().the_container().await.state, "running", "it was not touched");
    })
    .await;
}

#[tokio::test]
async fn b076_a_place_that_cannot_hold_state_is_named() {
    in_corner(async |corner| {
        let task = corner.task(&["exit", "0"]);
        let file = corner.path("file");
        fs::write(&file, "not a directory").unwrap();
        for place in [file.clone(), file.join("below")] {
            let refused = run_in(corner, &place, &task).start().end().await;
            refused.assert_code(125);
            assert!(refused.failure().contains(place.to_str().unwrap()), "{}", refused.failure());
        }
        assert_eq!(fs::read_to_string(&file).unwrap(), "not a directory");
        // The place of all runs: there is a file where the directory should be.
        fs::write(corner.path("state"), "").unwrap();
        let refused = corner.run(&task).start().end().await;
        refused.assert_code(125);
        assert!(refused.failure().contains(corner.path("state").to_str().unwrap()), "{}", refused.failure());
        // A missing one is made, with its parents, for this user alone.
        let deep = corner.path("a/b/c");
        run_in(corner, &deep, &task).start().end().await.assert_code(0);
        let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&deep).unwrap().permissions());
        assert_eq!(mode & 0o777, 0o700);
        assert_eq!(corner.engine().containers().await.len(), 0);
    })
    .await;
}

#[tokio::test]
async fn state_can_be_exported_and_verified() {
    in_corner(async |corner| {
        let (directory, task) = (corner.path("mine"), corner.task(ENDLESS));
        let mut owner = run_in(corner, &directory, &task).start();
        owner.until_said("ready").await;
        let verify = corner.lighterman(&["state", "verify"]).argument(&directory).output().await;
        assert_eq!(verify.code, Some(125), "it has an owner: {}", verify.stderr);
        assert!(verify.stderr.contains(&owner.pid().to_string()), "{}", verify.stderr);
        let task = owner.task().await;
        owner.kill().await;

        let verify = corner.lighterman(&["state", "verify"]).argument(&directory).output().await;
        assert_eq!((verify.code, verify.stderr.as_str()), (Some(0), ""));
        assert!(verify.stdout.contains("sound") && verify.stdout.contains("4 records, 1 task\n"), "{}", verify.stdout);
        let records = corner.records(&directory).await;
        let mut kinds: Vec<_> = records.iter().map(|record| record["kind"].as_str().unwrap()).collect();
        kinds.sort_unstable();
        assert_eq!(kinds, ["container", "definition", "head", "host", "task"], "{records:#?}");
        assert!(records.iter().any(|record| record.to_string().contains(&task)));

        Damage::FlipRecords.do_to(&directory);
        let before = fs::read(directory.join("store-1/db")).unwrap();
        let verify = corner.lighterman(&["state", "verify"]).argument(&directory).output().await;
        assert_eq!(verify.code, Some(125));
        let words = &verify.stderr;
        assert!(words.contains("damaged") && words.contains(directory.to_str().unwrap()), "{words}");
        assert!(words.contains("--recover") && !words.contains("reading"), "{words}");
        let export = corner.lighterman(&["state", "export"]).argument(&directory).output().await;
        assert!(export.code == Some(125) || export.stdout.contains("damage"), "{export:?}");
        assert_eq!(fs::read(directory.join("store-1/db")).unwrap(), before, "looking changes nothing");
        let missing = corner.lighterman(&["state", "verify"]).argument(corner.path("nowhere")).output().await;
        assert_eq!(missing.code, Some(125));
        assert!(missing.stderr.contains("nowhere does not exist"), "{}", missing.stderr);
        let empty = corner.path("empty");
        fs::create_dir(&empty).unwrap();
        let stateless = corner.lighterman(&["state", "verify"]).argument(&empty).output().await;
        assert_eq!(stateless.code, Some(125));
        assert!(stateless.stderr.contains("empty holds no state"), "{}", stateless.stderr);
        assert_eq!(fs::read_dir(&empty).unwrap().count(), 0, "looking leaves nothing");
    })
    .await;
}

/// The lock does not go with a copy.
#[tokio::test]
async fn a_copy_of_a_living_runs_state_does_not_end_it() {
    in_corner(async |corner| {
        let mut living = corner.run(&corner.task(ENDLESS)).start();
        living.until_said("ready").await;
        let elsewhere = corner.path("elsewhere");
        let copied = std::process::Command::new("cp").arg("-a").arg(corner.path("state")).arg(&elsewhere).status();
        assert!(copied.unwrap().success());
        let next = corner.run(&corner.task(&["exit", "0"])).env("XDG_STATE_HOME", &elsewhere).start().end().await;
        next.assert_code(0);
        let leftover = next.of("leftover").next().unwrap_or_else(|| panic!("{}", next.story()));
        assert_eq!((&leftover["state"], &leftover["pid"]), (&"living".into(), &living.pid().into()));

        // A new directory whose name is the id of that run is another's.
        let (instance, other) = (living.instance().await, corner.path("other"));
        let named = run_in(corner, &other.join(&instance), &corner.task(&["exit", "2"])).start().end().await;
        named.assert_code(2);
        assert_ne!(named.of("started").next().unwrap()["instance"], instance.as_str());
        finished(corner, living).await.assert_code(7);
        assert_eq!(corner.engine().containers().await.len(), 0);
    })
    .await;
}
