//! What the engine shows of volumes, of its images as a list, and of a registry's images; read as tolerantly as `facts`.

use std::collections::BTreeMap;

use lighterman_calls::{ImageSummary, RemoteImage, VolumeFacts};
use lighterman_ids::{Digest, ImageId, Wall};
use serde::Deserialize;

use crate::{
    facts::{Labels, lenient, unnamed},
    text::tidy,
    verdict::NotDone,
};

/// `GET /volumes/{name}`, and the answer to a create.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct RawVolume {
    name: String,
    #[serde(default, deserialize_with = "lenient")]
    driver: String,
    #[serde(default, deserialize_with = "lenient")]
    options: BTreeMap<String, String>,
    #[serde(default, deserialize_with = "lenient")]
    labels: Labels,
    #[serde(default, deserialize_with = "lenient")]
    mountpoint: String,
}

impl RawVolume {
    pub(crate) fn facts(self) -> VolumeFacts {
        let Self { name, driver, options, labels, mountpoint } = self;
        VolumeFacts { name, driver, options, labels, mountpoint }
    }
}

/// `GET /volumes`.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct RawVolumes {
    #[serde(default, deserialize_with = "lenient")]
    volumes: Vec<RawVolume>,
}

impl RawVolumes {
    pub(crate) fn facts(self) -> Vec<VolumeFacts> {
        self.volumes.into_iter().map(RawVolume::facts).collect()
    }
}

/// `GET /images/json`.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct RawImageSummary {
    id: String,
    #[serde(default, deserialize_with = "lenient")]
    repo_tags: Vec<String>,
    #[serde(default, deserialize_with = "lenient")]
    repo_digests: Vec<String>,
    /// Seconds since 1970; those of the first instant of year 1 when the image does not say.
    #[serde(default, deserialize_with = "lenient")]
    created: i64,
    #[serde(default, deserialize_with = "lenient")]
    size: i64,
}

impl RawImageSummary {
    pub(crate) fn summary(self) -> Result<ImageSummary, NotDone> {
        Ok(ImageSummary {
            id: ImageId::parse(&self.id).map_err(|error| unnamed(&error))?,
            names: named(self.repo_tags),
            repo_digests: named(self.repo_digests),
            created_at: self.created.checked_mul(1_000_000_000).map(Wall),
            size: u64::try_from(self.size).unwrap_or(0),
        })
    }
}

/// Without `<none>:<none>` and `<none>@<none>`, which stand for nothing (engine 20.10).
fn named(mut names: Vec<String>) -> Vec<String> {
    names.retain(|name| !name.starts_with("<none>"));
    names
}

/// `GET /distribution/{name}/json`.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct RawRemoteImage {
    descriptor: RawDescriptor,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawDescriptor {
    digest: String,
    #[serde(default, deserialize_with = "lenient")]
    media_type: String,
}

impl RawRemoteImage {
    pub(crate) fn facts(self) -> Result<RemoteImage, NotDone> {
        let digest = Digest::parse(&self.descriptor.digest).map_err(|error| unnamed(&error))?;
        Ok(RemoteImage { digest, media_type: tidy(&self.descriptor.media_type) })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn volumes_are_read() {
        let full = json!({"CreatedAt": "2024-02-29T12:34:57Z", "Driver": "local", "Labels": {"a": "1"},
            "Mountpoint": "/v/site/_data", "Name": "site", "Options": {"type": "tmpfs"}, "Scope": "local"});
        let bare = json!({"Driver": "local", "Labels": null, "Name": "x", "Options": null});
        let read: RawVolumes = serde_json::from_value(json!({"Volumes": [full, bare], "Warnings": null})).unwrap();
        let [full, bare] = <[VolumeFacts; 2]>::try_from(read.facts()).unwrap();
        assert_eq!(
            (full.name.as_str(), full.driver.as_str(), full.mountpoint.as_str()),
            ("site", "local", "/v/site/_data")
        );
        assert_eq!(full.labels, BTreeMap::from([("a".into(), "1".into())]));
        assert_eq!(full.options, BTreeMap::from([("type".into(), "tmpfs".into())]));
        assert_eq!((bare.labels.len(), bare.options.len(), bare.mountpoint.as_str()), (0, 0, ""));
        let none: RawVolumes = serde_json::from_value(json!({"Volumes": null})).unwrap();
        assert_eq!(none.facts(), []);
        assert!(serde_json::from_value::<RawVolume>(json!({"Driver": "local"})).is_err(), "a name must be there");
    }

    #[test]
    fn images_without_a_name_have_none() {
        let summary = |value: Value| serde_json::from_value::<RawImageSummary>(value).unwrap().summary();
        let id = format!("sha256:{}", "ab".repeat(32));
        let named = summary(json!({"Id": id, "RepoTags": ["a:1", "b:2"], "RepoDigests": ["a@sha256:00"],
            "Created": 1_709_210_096, "Size": 5, "ParentId": "", "Containers": -1}));
        let named = named.unwrap();
        assert_eq!(
            (named.names, named.repo_digests),
            (vec!["a:1".to_owned(), "b:2".into()], vec!["a@sha256:00".into()])
        );
        assert_eq!((named.created_at, named.size), (Some(Wall(1_709_210_096_000_000_000)), 5));
        let dangling = summary(json!({"Id": id, "RepoTags": ["<none>:<none>"], "RepoDigests": ["<none>@<none>"],
            "Created": -62_135_596_800_i64, "Size": -1}));
        let dangling = dangling.unwrap();
        assert_eq!((dangling.names.len(), dangling.repo_digests.len()), (0, 0));
        assert_eq!((dangling.created_at, dangling.size), (None, 0));
        assert!(summary(json!({"Id": "x"})).is_err());
    }

    #[test]
    fn a_registry_tells_digest_and_type() {
        let read = |digest: &str| {
            let value = json!({"Descriptor": {"mediaType": "application/vnd.oci.image.index.v1+json",
                "digest": digest, "size": 7}, "Platforms": []});
            serde_json::from_value::<RawRemoteImage>(value).unwrap().facts()
        };
        let digest = format!("sha256:{}", "cd".repeat(32));
        let facts = read(&digest).unwrap();
        assert_eq!((facts.digest.as_str(), &*facts.media_type), (&*digest, "application/vnd.oci.image.index.v1+json"));
        assert!(matches!(read("md5:1"), Err(NotDone::Unknown(_))));
    }
}
