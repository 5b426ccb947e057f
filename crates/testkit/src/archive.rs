//! Reads a `docker save` archive into an image of the model.

use std::{
    collections::BTreeMap,
    io::{Cursor, Read},
    time::Duration,
};

use lighterman_calls::{HealthTest, HealthcheckConfig};
use lighterman_ids::{ImageId, ImageRef, Wall};
use lighterman_runtime_model::{LocalImage, ProgramKind};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// What an archive holds: an image and its names.
pub(crate) struct Loaded {
    pub(crate) image: LocalImage,
    pub(crate) names: Vec<ImageRef>,
}

/// Why an archive cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ArchiveError {
    #[error("the archive is no tar")]
    Tar(#[source] std::io::Error),
    #[error("{0} is not in the archive")]
    Missing(String),
    #[error("{0} is not what the engine takes")]
    Malformed(&'static str),
}

pub(crate) fn read(archive: &[u8]) -> Result<Loaded, ArchiveError> {
    let files = files(archive)?;
    let file = |name: &str| files.get(name).ok_or_else(|| ArchiveError::Missing(name.to_owned()));
    let manifest = json(file("manifest.json")?, "manifest.json")?;
    let entry = manifest.get(0).ok_or(ArchiveError::Malformed("manifest.json"))?;
    let config_name = entry["Config"].as_str().ok_or(ArchiveError::Malformed("Config"))?;
    let config_text = file(config_name)?;
    let names = strings(&entry["RepoTags"]);
    let names = names.iter().map(|name| ImageRef::parse(name)).collect::<Result<_, _>>();
    let (mut programs, mut size) = (BTreeMap::new(), 0);
    for layer in strings(&entry["Layers"]) {
        let layer = file(&layer)?;
        size += u64::try_from(layer.len()).unwrap_or(u64::MAX);
        programs.extend(programs_of(layer)?);
    }
    let image = LocalImage { programs, size, ..image(config_text)? };
    Ok(Loaded { image, names: names.map_err(|_| ArchiveError::Malformed("RepoTags"))? })
}

/// Without what its layers hold.
fn image(config_text: &[u8]) -> Result<LocalImage, ArchiveError> {
    let digest: String = Sha256::digest(config_text).iter().map(|byte| format!("{byte:02x}")).collect();
    let id = ImageId::parse(&format!("sha256:{digest}")).expect("64 hex digits after sha256: are an id");
    let all = json(config_text, "the image's configuration")?;
    let config = &all["config"];
    let env = strings(&config["Env"]);
    let env = env.iter().filter_map(|line| line.split_once('=')).map(|(name, value)| (name.into(), value.into()));
    let labels = config["Labels"].as_object().into_iter().flatten();
    let labels = labels.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())));
    let check = &config["Healthcheck"];
    Ok(LocalImage {
        id,
        repo_digests: Vec::new(),
        entrypoint: strings(&config["Entrypoint"]),
        cmd: strings(&config["Cmd"]),
        env: env.collect(),
        labels: labels.collect(),
        health_test: check.is_object().then(|| strings(&check["Test"])),
        healthcheck: healthcheck(check),
        // What `lighterman-images` builds says so, wherever and whenever it is built.
        created_at: Some(Wall(0)),
        size: 0,
        programs: BTreeMap::new(),
    })
}

fn healthcheck(check: &Value) -> Option<HealthcheckConfig> {
    let time = |member: &str| Duration::from_nanos(check[member].as_u64().unwrap_or(0));
    Some(HealthcheckConfig {
        test: HealthTest::parse(&strings(&check["Test"]))?,
        interval: time("Interval"),
        timeout: time("Timeout"),
        start_period: time("StartPeriod"),
        retries: u32::try_from(check["Retries"].as_u64().unwrap_or(0)).unwrap_or(u32::MAX),
    })
}

/// The files of a layer that the model can play, by their names.
fn programs_of(layer: &[u8]) -> Result<BTreeMap<String, ProgramKind>, ArchiveError> {
    let names = files(layer)?.into_keys().filter_map(|path| {
        let kind = match path.rsplit('/').next()? {
            "testbox" => ProgramKind::Testbox,
            "pause" => ProgramKind::Pause,
            _ => return None,
        };
        Some((format!("/{}", path.trim_start_matches("./").trim_start_matches('/')), kind))
    });
    Ok(names.collect())
}

fn files(tar: &[u8]) -> Result<BTreeMap<String, Vec<u8>>, ArchiveError> {
    let mut files = BTreeMap::new();
    let mut archive = tar::Archive::new(Cursor::new(tar));
    for entry in archive.entries().map_err(ArchiveError::Tar)? {
        let mut entry = entry.map_err(ArchiveError::Tar)?;
        let path = entry.path().map_err(ArchiveError::Tar)?.to_string_lossy().into_owned();
        let mut content = Vec::new();
        entry.read_to_end(&mut content).map_err(ArchiveError::Tar)?;
        files.insert(path, content);
    }
    Ok(files)
}

fn json(text: &[u8], what: &'static str) -> Result<Value, ArchiveError> {
    serde_json::from_slice(text).map_err(|_| ArchiveError::Malformed(what))
}

fn strings(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}
