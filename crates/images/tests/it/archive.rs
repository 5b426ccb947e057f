//! Archives, read back as an engine reads them.

use std::{collections::BTreeMap, io::Read, time::Duration};

use lighterman_ids::ImageRef;
use lighterman_images::{Architecture, HealthCheck, ImageArchive, ImageBuilder, ImageError, pause_image};
use proptest::prelude::*;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// A tar entry as an engine sees it.
#[derive(Debug, PartialEq)]
pub(crate) struct Entry {
    pub(crate) mode: u32,
    pub(crate) directory: bool,
    pub(crate) content: Vec<u8>,
}

/// Every entry by its path, in the order of the archive.
fn entries(tar: &[u8]) -> Vec<(String, Entry)> {
    let mut archive = tar::Archive::new(tar);
    let read = |entry: Result<tar::Entry<'_, &[u8]>, _>| {
        let mut entry = entry.unwrap();
        let header = entry.header();
        assert_eq!((header.uid().unwrap(), header.gid().unwrap(), header.mtime().unwrap()), (0, 0, 0));
        let (mode, directory) = (header.mode().unwrap(), header.entry_type().is_dir());
        let path = entry.path().unwrap().to_str().unwrap().to_owned();
        let mut content = Vec::new();
        entry.read_to_end(&mut content).unwrap();
        (path, Entry { mode, directory, content })
    };
    archive.entries().unwrap().map(read).collect()
}

fn sha256(bytes: &[u8]) -> String {
    let hex: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{hex}")
}

/// What an engine takes out of an archive, checked on the way as it checks it.
pub(crate) struct Loaded {
    pub(crate) config: Value,
    pub(crate) files: Vec<(String, Entry)>,
}

pub(crate) fn load(image: &ImageArchive) -> Loaded {
    let parts: BTreeMap<String, Entry> = entries(image.bytes()).into_iter().collect();
    assert_eq!(parts.len(), 3, "a configuration, a layer and a manifest");
    let manifest: Value = serde_json::from_slice(&parts["manifest.json"].content).unwrap();
    let [manifest] = manifest.as_array().unwrap().as_slice() else { panic!("one image in {manifest}") };
    assert_eq!(manifest["RepoTags"], json!([image.reference().as_str()]));
    let config = &parts[manifest["Config"].as_str().unwrap()].content;
    assert_eq!(sha256(config), image.image_id().as_str(), "the id is the digest of the configuration");
    let layer = &parts[manifest["Layers"][0].as_str().unwrap()].content;
    let config: Value = serde_json::from_slice(config).unwrap();
    assert_eq!(config["rootfs"], json!({ "type": "layers", "diff_ids": [sha256(layer)] }));
    Loaded { config, files: entries(layer) }
}

fn reference(text: &str) -> ImageRef {
    ImageRef::parse(text).unwrap()
}

fn full() -> ImageBuilder {
    ImageBuilder::new()
        .architecture(Architecture::Arm64)
        .directory("/tmp", 0o1777)
        .file("/opt/app/run", 0o4755, "#!")
        .entrypoint(["/opt/app/run"])
        .command(["--fast", ""])
        .env("PATH", "/opt/app")
        .env("A", "b=c")
        .working_directory("/tmp")
        .label("z", "1")
        .label("a", "2")
        .user("1000:1000")
        .stop_signal("SIGINT")
        .expose_tcp(80)
        .volume("/data")
        .health_check(
            HealthCheck::exec("/opt/app/run", ["check"])
                .interval(Duration::from_millis(1500))
                .timeout(Duration::from_secs(2))
                .start_period(Duration::from_secs(3))
                .retries(4),
        )
}

#[test]
fn an_engine_reads_every_setting_as_it_was_given() {
    let loaded = load(&full().build(&reference("test/full:1")).unwrap());
    let expected = json!({
        "architecture": "arm64",
        "os": "linux",
        "created": "1970-01-01T00:00:00Z",
        "config": {
            "User": "1000:1000",
            "ExposedPorts": { "80/tcp": {} },
            "Env": ["PATH=/opt/app", "A=b=c"],
            "Entrypoint": ["/opt/app/run"],
            "Cmd": ["--fast", ""],
            "Healthcheck": {
                "Test": ["CMD", "/opt/app/run", "check"],
                "Interval": 1_500_000_000_u64,
                "Timeout": 2_000_000_000_u64,
                "StartPeriod": 3_000_000_000_u64,
                "Retries": 4,
            },
            "Volumes": { "/data": {} },
            "WorkingDir": "/tmp",
            "Labels": { "a": "2", "z": "1" },
            "StopSignal": "SIGINT",
        },
        "rootfs": loaded.config["rootfs"],
        "history": [{ "created": "1970-01-01T00:00:00Z", "created_by": "lighterman-images" }],
    });
    assert_eq!(loaded.config, expected);
}

#[test]
fn files_come_sorted_with_their_parents_first() {
    let image = full().file("/opt-x", 0o600, "x").build(&reference("test/files:1")).unwrap();
    let files = load(&image).files;
    let seen: Vec<_> = files.iter().map(|(path, entry)| (path.as_str(), entry.mode, entry.directory)).collect();
    assert_eq!(
        seen,
        [
            ("opt", 0o755, true),
            ("opt-x", 0o600, false),
            ("opt/app", 0o755, true),
            ("opt/app/run", 0o4755, false),
            ("tmp", 0o1777, true),
        ]
    );
}

#[test]
fn what_is_not_set_is_absent() {
    let image = ImageBuilder::new().build(&reference("test/empty:1")).unwrap();
    let loaded = load(&image);
    assert_eq!(loaded.config["config"], json!({}));
    assert_eq!(loaded.files, []);
}

/// An engine knows images by this id: a change here makes it load every image anew.
#[test]
fn the_id_of_a_fixed_image_stays() {
    let image = full().build(&reference("test/full:1")).unwrap();
    assert_eq!(image.image_id().as_str(), "sha256:21537632235c128435da5ee807df710b9a6cb0aa5d06c5f6a7b0040feacc4120");
}

#[test]
fn names_are_tagged_and_the_id_does_not_depend_on_them() {
    let plain = full().build(&reference("test/full")).unwrap();
    assert_eq!(plain.reference().as_str(), "test/full:latest");
    let by_content = full().build_tagged_by_content(&reference("test/full:2.0")).unwrap();
    assert_eq!(by_content.image_id(), plain.image_id());
    let digits = &plain.image_id().as_str()["sha256:".len()..][..12];
    assert_eq!(by_content.reference().as_str(), format!("test/full:2.0-{digits}"));
    assert_eq!(load(&by_content).files, load(&plain).files);
}

#[test]
fn another_content_has_another_tag() {
    let tag = |text: &str| {
        let image = ImageBuilder::new().file("/a", 0o644, text).build_tagged_by_content(&reference("test/a:1"));
        image.unwrap().reference().clone()
    };
    assert_eq!(tag("x"), tag("x"));
    assert_ne!(tag("x"), tag("y"));
}

#[test]
fn what_cannot_be_in_an_image_is_refused() {
    let at = |path: &str| ImageBuilder::new().file(path, 0o644, "").build(&reference("test/a:1"));
    let long_name = format!("/{}", "n".repeat(256));
    let long_path = "/nnnnnnn".repeat(512);
    for path in ["", "/", "a", "/a/", "//a", "/a//b", "/./a", "/a/../b", "/a\0", &long_name, &long_path] {
        assert!(matches!(at(path), Err(ImageError::BadPath { .. })), "{path:?} must be refused");
    }
    let below = ImageBuilder::new().file("/a/b", 0o644, "").file("/a", 0o644, "").build(&reference("test/a:1"));
    assert!(matches!(below, Err(ImageError::BelowFile { path }) if path == "/a/b"));
    let twice = ImageBuilder::new().file("/a", 0o644, "").directory("/a", 0o755).build(&reference("test/a:1"));
    assert!(matches!(twice, Err(ImageError::PathTwice { path }) if path == "/a"));
    for name in ["", "a=b", "a\0"] {
        let built = ImageBuilder::new().env(name, "").build(&reference("test/a:1"));
        assert!(matches!(built, Err(ImageError::BadVariable { .. })), "{name:?} must be refused");
    }
    let digest = reference(&format!("test/a@sha256:{}", "0".repeat(64)));
    assert!(matches!(ImageBuilder::new().build(&digest), Err(ImageError::DigestInReference { .. })));
    let long_tag = reference(&format!("test/a:{}", "t".repeat(128)));
    let built = ImageBuilder::new().build_tagged_by_content(&long_tag);
    assert!(matches!(built, Err(ImageError::TagTooLong { .. })));
}

#[test]
fn paths_up_to_the_limit_survive() {
    let path = format!("{}/last", "/directory".repeat(400));
    let image = ImageBuilder::new().file(&path, 0o644, "end").build(&reference("test/long:1")).unwrap();
    let files = load(&image).files;
    assert_eq!(files.len(), 401);
    assert_eq!(format!("/{}", files.last().unwrap().0), path);
}

#[test]
fn the_pause_image_holds_one_program() {
    let image = pause_image();
    assert!(image.bytes().len() < 16 * 1024, "{} bytes", image.bytes().len());
    assert!(image.reference().as_str().starts_with(concat!("lighterman/pause:", env!("CARGO_PKG_VERSION"), "-")));
    let loaded = load(&image);
    assert_eq!(loaded.config["config"], json!({ "Entrypoint": ["/pause"] }));
    let [(path, program)] = loaded.files.as_slice() else { panic!("one file in {:?}", loaded.files) };
    assert_eq!((path.as_str(), program.mode), ("pause", 0o755));
    assert_eq!(image, pause_image());
}

proptest! {
    #[test]
    fn the_order_of_files_does_not_matter(
        files in prop::collection::btree_map("/[a-d]{1,2}(/[a-d]{1,2}){0,2}", (0_u32..0o10000, "[a-z]{0,9}"), 0..8),
        turn in any::<prop::sample::Index>(),
    ) {
        let files: Vec<_> = files.into_iter().collect();
        let build = |from: usize| {
            let shifted = files.iter().cycle().skip(from).take(files.len());
            let add = |image: ImageBuilder, (path, (mode, text)): &(String, (u32, String))| image.file(path, *mode, &**text);
            shifted.fold(ImageBuilder::new(), add).build(&reference("test/order:1")).ok()
        };
        let straight = build(0);
        prop_assert_eq!(&straight, &build(if files.is_empty() { 0 } else { turn.index(files.len()) }));
        if let Some(image) = straight {
            let plain = load(&image).files.into_iter().filter(|(_, entry)| !entry.directory);
            let read: Vec<_> = plain.map(|(path, entry)| (format!("/{path}"), (entry.mode, entry.content))).collect();
            let given = files.iter().map(|(path, (mode, text))| (path.clone(), (*mode, text.clone().into_bytes())));
            prop_assert_eq!(read, given.collect::<Vec<_>>());
        }
    }
}
