//! Values of the environment reach the engine and nothing else.

use std::{
    collections::BTreeMap,
    sync::{Mutex, Once},
};

use lighterman_calls::Outcome;
use lighterman_contracts::ContainerRuntime;
use lighterman_docker::QUIET_TARGETS;

use crate::{
    requests::create_request,
    stage::{AMPLE, Play, Stage, answer},
};

/// Everything that went through the `log` crate, at every level.
struct Kept(Mutex<Vec<(String, String)>>);

static KEPT: Kept = Kept(Mutex::new(Vec::new()));

impl log::Log for Kept {
    fn enabled(&self, _: &log::Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &log::Record<'_>) {
        self.0.lock().unwrap().push((record.target().to_owned(), record.args().to_string()));
    }

    fn flush(&self) {}
}

fn keep_logs() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        log::set_logger(&KEPT).unwrap();
        log::set_max_level(log::LevelFilter::Trace);
    });
}

fn targets_that_said(word: &str) -> Vec<String> {
    let kept = KEPT.0.lock().unwrap();
    kept.iter().filter(|(_, text)| text.contains(word)).map(|(target, _)| target.clone()).collect()
}

#[tokio::test]
async fn the_environment_is_sent_and_never_logged() {
    const SECRET: &str = "correct-horse-battery-staple";
    keep_logs();
    let stage = Stage::new();
    let docker = stage.docker();
    let request = create_request(BTreeMap::from([("PASSWORD".to_owned(), SECRET.to_owned())]));
    // An engine that repeats it in a place where nothing of the kind is expected.
    let echo = format!(r#"{{"Id":"{SECRET}"}}"#);
    let plays = vec![Play::Say(answer(201, &echo.replace(SECRET, "0123456789ab"))), Play::Say(answer(200, SECRET))];
    let run = async { (docker.create(&request, AMPLE).await, docker.create(&request, AMPLE).await) };
    let (made, garbled) = stage.play(plays, run).await;
    assert!(made.is_done(), "{made:?}");
    assert!(stage.heard()[0].body.windows(SECRET.len()).any(|window| window == SECRET.as_bytes()));
    assert_eq!(targets_that_said(SECRET), Vec::<String>::new());
    let Outcome::Unknown(lost) = garbled else { panic!("{garbled:?}") };
    assert!(!lost.text.contains(SECRET), "{}", lost.text);
}

#[tokio::test]
async fn the_quiet_targets_cover_what_bollard_says_of_bodies() {
    const SECRET: &str = "a-body-that-was-given-to-bollard";
    keep_logs();
    // What the adapter does not do: hand a body to bollard. It shows why the targets are kept quiet.
    let nowhere = |_: bollard::BollardRequest| std::future::ready(Err(bollard::errors::Error::RequestTimeoutError));
    let client = bollard::Docker::connect_with_custom_transport(
        nowhere,
        Some("http://nowhere"),
        1,
        bollard::API_DEFAULT_VERSION,
    )
    .unwrap();
    let env = Some(vec![format!("PASSWORD={SECRET}")]);
    let body = bollard::models::ContainerCreateBody { env, ..Default::default() };
    assert!(client.create_container(None, body).await.is_err());
    let told = targets_that_said(SECRET);
    assert!(!told.is_empty(), "bollard no longer logs bodies: the directive may go");
    for target in told {
        let covered = QUIET_TARGETS.iter().any(|directive| {
            let (prefix, level) = directive.split_once('=').unwrap();
            level == "info" && (target == prefix || target.starts_with(&format!("{prefix}::")))
        });
        assert!(covered, "{target} is not kept quiet");
    }
}
