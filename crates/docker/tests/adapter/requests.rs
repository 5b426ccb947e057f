//! What goes over the wire.

use std::{collections::BTreeMap, time::Duration};

use futures_util::StreamExt as _;
use lighterman_calls::{
    ContainerConfig, ContainerTarget, CreateRequest, HostConfig, ImageTarget, Outcome, Platform, PullLimits,
    RefusalClass, Signal, VolumeRequest, Watched,
};
use lighterman_contracts::{ContainerRuntime, ImageStore, LogRequest, LogSource};
use lighterman_docker::ApiVersion;
use lighterman_ids::{ImageId, ImageRef, RuntimeName, Wall};

use crate::stage::{AMPLE, ID, Play, Stage, answer, bare, chunked, instance, refusal, target};

pub(crate) fn create_request(env: BTreeMap<String, String>) -> CreateRequest {
    CreateRequest {
        name: RuntimeName::parse("ecs-web").unwrap(),
        platform: None,
        config: ContainerConfig { env: env.into(), ..ContainerConfig::new(ImageRef::parse("busybox:test").unwrap()) },
        host: HostConfig { cpu_shares: 2, ..HostConfig::default() },
    }
}

fn version_answer(lowest: &str, highest: &str) -> Vec<u8> {
    answer(
        200,
        &format!(r#"{{"Version":"20.10.24","ApiVersion":"{highest}","MinAPIVersion":"{lowest}","Os":"linux"}}"#),
    )
}

#[tokio::test]
async fn every_call_is_one_request_with_the_version_in_its_path() {
    let stage = Stage::new();
    let docker = stage.docker();
    let image = ImageRef::parse("registry.test:5000/team/web").unwrap();
    let pinned = ImageRef::parse(&format!("web:1@sha256:{}", "ab".repeat(32))).unwrap();
    let limits = PullLimits { first_progress: AMPLE, inactivity: AMPLE };
    let name = ContainerTarget::Name(RuntimeName::parse("ecs-web").unwrap());
    let since = Wall(1_709_210_096_000_000_789);
    let log = |follow, since| LogRequest { container: target(), follow, since, tty: false };
    let calls = async {
        drop(docker.inspect_image(&image, AMPLE).await);
        drop(docker.pull(&image, None, limits, AMPLE).collect::<Vec<_>>().await);
        drop(docker.pull(&pinned, None, limits, AMPLE).collect::<Vec<_>>().await);
        drop(docker.create(&create_request(BTreeMap::new()), AMPLE).await);
        drop(docker.start(&target(), AMPLE).await);
        drop(docker.inspect(&name, AMPLE).await);
        drop(docker.stop(&target(), Duration::from_millis(2_001), AMPLE).await);
        drop(docker.stop(&target(), Duration::ZERO, AMPLE).await);
        drop(docker.kill(&target(), Signal::Term, AMPLE).await);
        drop(docker.remove(&target(), AMPLE).await);
        drop(docker.list(&instance(), AMPLE).await);
        drop(docker.watch(&instance(), None, AMPLE).collect::<Vec<_>>().await);
        drop(docker.watch(&instance(), Some(since), AMPLE).collect::<Vec<_>>().await);
        drop(docker.logs(log(true, None)).collect::<Vec<_>>().await);
        drop(docker.logs(log(false, Some(since))).collect::<Vec<_>>().await);
        drop(docker.load_image(b"tar".to_vec(), AMPLE).await);
    };
    stage.play(vec![Play::Say(answer(200, "{}")); 16], calls).await;
    let digest = format!("sha256%3A{}", "ab".repeat(32));
    let label = format!("dev.lighterman.instance={}", instance());
    let expected = [
        "GET /v1.41/images/registry.test:5000/team/web:latest/json".to_owned(),
        "POST /v1.41/images/create?fromImage=registry.test%3A5000%2Fteam%2Fweb&tag=latest&platform=".into(),
        format!("POST /v1.41/images/create?fromImage=web&tag={digest}&platform="),
        "POST /v1.41/containers/create?name=ecs-web&platform=".into(),
        format!("POST /v1.41/containers/{ID}/start"),
        "GET /v1.41/containers/ecs-web/json".into(),
        // Whole seconds, rounded up.
        format!("POST /v1.41/containers/{ID}/stop?t=3"),
        format!("POST /v1.41/containers/{ID}/stop?t=0"),
        format!("POST /v1.41/containers/{ID}/kill?signal=SIGTERM"),
        // With anonymous volumes, never by force.
        format!("DELETE /v1.41/containers/{ID}?v=true&force=false&link=false"),
    ];
    let lines = stage.lines();
    assert_eq!(lines[..expected.len()], expected);
    let list = query(&lines[10], "GET /v1.41/containers/json");
    assert_eq!(list["all"], "true");
    assert_eq!(filters(&list), serde_json::json!({ "label": [label] }));
    assert!(!list.contains_key("limit"), "all of them");
    for (line, expected) in [(&lines[11], None), (&lines[12], Some("1709210096.000000789"))] {
        let events = query(line, "GET /v1.41/events");
        assert_eq!(events.get("since").map(String::as_str), expected);
        assert_eq!(
            filters(&events),
            serde_json::json!({
                "type": ["container"], "label": [label],
                "event": ["create", "start", "die", "stop", "restart", "oom", "destroy", "health_status"]
            })
        );
    }
    for (line, follow, since) in [(&lines[13], "true", "0"), (&lines[14], "false", "1709210096.000000789")] {
        let logs = query(line, &format!("GET /v1.41/containers/{ID}/logs"));
        let member = |name: &str| logs[name].as_str();
        assert_eq!((member("follow"), member("since"), member("tail")), (follow, since, "all"));
        assert_eq!((member("stdout"), member("stderr"), member("timestamps")), ("true", "true", "false"));
    }
    assert_eq!(lines[15], "POST /v1.41/images/load?quiet=true");
    let load = &stage.heard()[15];
    assert_eq!(load.body, b"tar");
    assert_eq!(load.head.to_ascii_lowercase().matches("content-type: application/x-tar").count(), 1);
    assert_eq!(load.head.to_ascii_lowercase().matches("content-type").count(), 1);
}

#[tokio::test]
async fn calls_about_images_and_volumes_are_one_request_each() {
    let stage = Stage::new();
    let docker = stage.docker();
    let image = ImageRef::parse("registry.test:5000/team/web").unwrap();
    let name = RuntimeName::parse("ecs-site").unwrap();
    let id = ImageId::parse(&format!("sha256:{}", "cd".repeat(32))).unwrap();
    let (driver, options, labels) = ("local".to_owned(), BTreeMap::new(), BTreeMap::new());
    let volume = VolumeRequest { name: name.clone(), driver, options, labels };
    let limits = PullLimits { first_progress: AMPLE, inactivity: AMPLE };
    let amd64 = CreateRequest { platform: Some(Platform::Amd64), ..create_request(BTreeMap::new()) };
    let by_name = ImageTarget::Name(image.clone());
    let calls = async {
        drop(docker.resolve_digest(&image, AMPLE).await);
        drop(docker.tag_image(&ImageTarget::Id(id.clone()), &image, AMPLE).await);
        drop(docker.remove_image(&by_name, AMPLE).await);
        drop(docker.remove_image(&ImageTarget::Id(id.clone()), AMPLE).await);
        drop(docker.create_volume(&volume, AMPLE).await);
        drop(docker.inspect_volume(&name, AMPLE).await);
        drop(docker.remove_volume(&name, AMPLE).await);
        drop(docker.pull(&image, Some(Platform::Arm64), limits, AMPLE).collect::<Vec<_>>().await);
        drop(docker.create(&amd64, AMPLE).await);
        drop(docker.list_images(AMPLE).await);
        drop(docker.list_volumes(&instance(), AMPLE).await);
    };
    stage.play(vec![Play::Say(answer(200, "{}")); 11], calls).await;
    let expected = [
        "GET /v1.41/distribution/registry.test:5000/team/web:latest/json".to_owned(),
        format!("POST /v1.41/images/{id}/tag?repo=registry.test%3A5000%2Fteam%2Fweb&tag=latest"),
        // Never by force.
        "DELETE /v1.41/images/registry.test:5000/team/web:latest?force=false&noprune=false".into(),
        format!("DELETE /v1.41/images/{id}?force=false&noprune=false"),
        "POST /v1.41/volumes/create".into(),
        "GET /v1.41/volumes/ecs-site".into(),
        "DELETE /v1.41/volumes/ecs-site".into(),
        "POST /v1.41/images/create?fromImage=registry.test%3A5000%2Fteam%2Fweb&tag=latest&platform=linux%2Farm64"
            .into(),
        "POST /v1.41/containers/create?name=ecs-web&platform=linux%2Famd64".into(),
    ];
    let lines = stage.lines();
    assert_eq!(lines[..expected.len()], expected);
    assert_eq!(stage.heard()[4].body, br#"{"Name":"ecs-site","Driver":"local"}"#);
    let images = query(&lines[9], "GET /v1.41/images/json");
    assert_eq!(images["all"], "false");
    let volumes = query(&lines[10], "GET /v1.41/volumes");
    let label = format!("dev.lighterman.instance={}", instance());
    assert_eq!(filters(&volumes), serde_json::json!({ "label": [label] }));
}

#[tokio::test]
async fn ping_and_version_ask_without_a_version() {
    let stage = Stage::new();
    let docker = stage.docker();
    let plays = vec![Play::Say(answer(200, "OK")), Play::Say(version_answer("1.12", "1.41"))];
    let (ping, version) = stage.play(plays, async { (docker.ping(AMPLE).await, docker.version(AMPLE).await) }).await;
    assert_eq!(ping, Outcome::Done(()));
    let Outcome::Done(version) = version else { panic!("{version:?}") };
    assert_eq!(
        [version.version, version.api_version, version.min_api_version].map(String::into_boxed_str),
        ["20.10.24", "1.41", "1.12"].map(Into::into)
    );
    assert_eq!(stage.lines(), ["GET /_ping", "GET /version"]);
}

#[tokio::test]
async fn b100_the_version_follows_what_the_engine_speaks() {
    let stage = Stage::new();
    let docker = stage.docker();
    let plays = vec![
        Play::Say(version_answer("1.44", "1.52")),
        Play::Say(bare(204)),
        Play::Say(version_answer("1.12", "1.41")),
        Play::Say(bare(204)),
    ];
    let calls = async {
        for _ in 0..2 {
            assert!(docker.version(AMPLE).await.is_done());
            assert!(docker.start(&target(), AMPLE).await.is_done());
        }
    };
    stage.play(plays, calls).await;
    let start = |version| format!("POST /v{version}/containers/{ID}/start");
    assert_eq!(stage.lines(), ["GET /version".into(), start("1.44"), "GET /version".into(), start("1.41")]);
}

#[tokio::test]
async fn b100_an_engine_that_speaks_none_of_ours_is_refused_by_name() {
    for (lowest, highest) in [("1.12", "1.40"), ("1.99", "1.120")] {
        let stage = Stage::new();
        let docker = stage.docker();
        let outcome = stage.play(vec![Play::Say(version_answer(lowest, highest))], docker.version(AMPLE)).await;
        let Outcome::Refused(refusal) = outcome else { panic!("{outcome:?}") };
        assert_eq!(refusal.class, RefusalClass::Unsupported);
        for version in [lowest, highest, "1.41"] {
            assert!(refusal.text.contains(version), "{refusal}");
        }
    }
}

#[tokio::test]
async fn b100_a_refused_version_is_told_and_the_next_call_speaks_another() {
    let stage = Stage::new();
    let docker = stage.docker();
    let old = "client version 1.41 is too old. Minimum supported API version is 1.44, please upgrade your client";
    let plays = vec![Play::Say(refusal(400, old)), Play::Say(bare(204))];
    let run = async { (docker.start(&target(), AMPLE).await, docker.start(&target(), AMPLE).await) };
    let (first, second) = stage.play(plays, run).await;
    let Outcome::Refused(refusal) = first else { panic!("{first:?}") };
    assert_eq!((refusal.class, refusal.text.as_str()), (RefusalClass::Unsupported, old));
    assert_eq!(second, Outcome::Done(()));
    assert_eq!(docker.api_version(), ApiVersion { major: 1, minor: 44 });
    assert!(stage.lines()[1].starts_with("POST /v1.44/"), "{:?}", stage.lines());
}

#[tokio::test]
async fn create_tells_what_it_made() {
    let stage = Stage::new();
    let docker = stage.docker();
    let body = format!(r#"{{"Id":"{ID}","Warnings":["no swap\n limit"]}}"#);
    let plays = vec![
        Play::Say(answer(201, &body)),
        Play::Say(refusal(409, "Conflict. The container name \"/ecs-web\" is already in use by container \"ab\".")),
        Play::Say(refusal(404, "No such image: busybox:test")),
    ];
    let request = create_request(BTreeMap::new());
    let run = async {
        (
            docker.create(&request, AMPLE).await,
            docker.create(&request, AMPLE).await,
            docker.create(&request, AMPLE).await,
        )
    };
    let (made, taken, missing) = stage.play(plays, run).await;
    let Outcome::Done(created) = made else { panic!("{made:?}") };
    assert_eq!((created.id.as_str(), created.warnings), (ID, vec!["no swap limit".to_owned()]));
    assert!(matches!(taken, Outcome::Refused(refusal) if refusal.class == RefusalClass::NameInUse));
    assert!(matches!(missing, Outcome::Refused(refusal) if refusal.class == RefusalClass::NotFound));
    let heard = &stage.heard()[0];
    assert!(heard.head.to_ascii_lowercase().contains("content-type: application/json"));
    let sent: serde_json::Value = serde_json::from_slice(&heard.body).unwrap();
    assert_eq!(sent, serde_json::json!({"Image": "busybox:test", "HostConfig": {"CpuShares": 2}}));
}

#[tokio::test]
async fn a_watch_that_is_refused_says_why() {
    let stage = Stage::new();
    let docker = stage.docker();
    let watch = docker.watch(&instance(), None, AMPLE).collect::<Vec<_>>();
    let items = stage.play(vec![Play::Say(refusal(403, "authorization denied by plugin"))], watch).await;
    assert!(matches!(&items[..], [Watched::Lost(lost)] if lost.text.contains("denied by plugin")), "{items:?}");
}

#[tokio::test]
async fn an_image_that_cannot_be_loaded_is_refused_in_the_engines_words() {
    let stage = Stage::new();
    let docker = stage.docker();
    let failed = br#"{"errorDetail":{"message":"Error processing tar file: no space left on device"},"error":"x"}"#;
    let plays = vec![Play::Say(chunked(&[br#"{"stream":"Loaded image: a:1\n"}"#])), Play::Say(chunked(&[failed]))];
    let run = async { (docker.load_image(vec![1], AMPLE).await, docker.load_image(vec![2], AMPLE).await) };
    let (loaded, refused) = stage.play(plays, run).await;
    assert_eq!(loaded, Outcome::Done(()));
    assert!(matches!(refused, Outcome::Refused(refusal) if refusal.class == RefusalClass::NoSpace));
}

fn query(line: &str, path: &str) -> BTreeMap<String, String> {
    let (before, query) = line.split_once('?').unwrap();
    assert_eq!(before, path);
    query
        .split('&')
        .map(|pair| pair.split_once('=').unwrap())
        .map(|(name, value)| (name.to_owned(), unescaped(value)))
        .collect()
}

fn filters(query: &BTreeMap<String, String>) -> serde_json::Value {
    serde_json::from_str(&query["filters"]).unwrap()
}

fn unescaped(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digits = [rest.next().unwrap(), rest.next().unwrap()];
            bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).unwrap(), 16).unwrap());
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).unwrap()
}
