//! Volumes and images: what is asked for, and what a look shows.

use alloc::{collections::BTreeMap, string::String, vec::Vec};
use core::fmt;

use lighterman_ids::{Digest, ImageId, ImageRef, RuntimeName, Wall};

/// `POST /volumes/create`. Options can hold the password of a file server, so `Debug` shows their names only (B-053).
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct VolumeRequest {
    /// The name under which the volume can be found again whatever happens to the answer.
    pub name: RuntimeName,
    /// `Driver`, such as `local`.
    pub driver: String,
    /// `DriverOpts`; `local` knows `type`, `o`, `device` and `size`.
    pub options: BTreeMap<String, String>,
    /// `Labels`, ours included.
    pub labels: BTreeMap<String, String>,
}

impl fmt::Debug for VolumeRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, driver, options, labels } = self;
        let mut shown = f.debug_struct("VolumeRequest");
        shown.field("name", name).field("driver", driver).field("options", &options.keys());
        shown.field("labels", labels).finish()
    }
}

/// What a look at a volume shows. Of its options `Debug` shows the names only.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct VolumeFacts {
    /// Its name, as the runtime writes it: others can be longer than ours.
    pub name: String,
    /// Which driver keeps it.
    pub driver: String,
    /// The options it was made with.
    pub options: BTreeMap<String, String>,
    /// Its labels; none if a bind made it in passing.
    pub labels: BTreeMap<String, String>,
    /// Where it is on the host; empty where the driver does not say.
    pub mountpoint: String,
}

impl fmt::Debug for VolumeFacts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, driver, options, labels, mountpoint } = self;
        let mut shown = f.debug_struct("VolumeFacts");
        shown.field("name", name).field("driver", driver).field("options", &options.keys());
        shown.field("labels", labels).field("mountpoint", mountpoint).finish()
    }
}

/// An image of the runtime, by one of its names or by its id.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ImageTarget {
    /// By name: another image can come to have it.
    Name(ImageRef),
    /// By id: always the same content.
    Id(ImageId),
}

impl fmt::Display for ImageTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(&name.pull_name()),
            Self::Id(id) => f.write_str(id.as_str()),
        }
    }
}

impl fmt::Debug for ImageTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// One line of a list of images.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ImageSummary {
    /// Digest of its configuration.
    pub id: ImageId,
    /// `RepoTags`, such as `registry.test/web:1`; none if another image has taken its only name.
    pub names: Vec<String>,
    /// `RepoDigests`, such as `registry.test/web@sha256:…`.
    pub repo_digests: Vec<String>,
    /// When it was built, in whole seconds; `None` where the image does not say.
    pub created_at: Option<Wall>,
    /// Bytes that it takes, layers shared with others included.
    pub size: u64,
}

/// What a registry says of a reference (engine.md 4.7.1).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RemoteImage {
    /// Of the manifest, or of the index of manifests.
    pub digest: Digest,
    /// Such as `application/vnd.docker.distribution.manifest.v2+json`.
    pub media_type: String,
}

#[cfg(test)]
mod tests {
    use alloc::{format, string::ToString};

    use super::*;

    #[test]
    fn b053_options_of_volumes_are_not_shown() {
        let options = BTreeMap::from([("o".to_string(), "username=web,password=hunter2".to_string())]);
        let name = RuntimeName::parse("site").unwrap();
        let labels = BTreeMap::new();
        let request = VolumeRequest { name, driver: "local".into(), options: options.clone(), labels: labels.clone() };
        let facts =
            VolumeFacts { name: "site".into(), driver: "local".into(), options, labels, mountpoint: "/v".into() };
        for shown in [format!("{request:?}"), format!("{facts:?}")] {
            assert!(shown.contains(r#"options: ["o"]"#) && !shown.contains("hunter2"), "{shown}");
        }
    }
}
