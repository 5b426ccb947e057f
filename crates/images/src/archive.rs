//! A finished image, ready to be loaded.

use lighterman_ids::{ImageId, ImageRef};
use serde::Serialize;
use tar::Builder;

use crate::{
    config::{Architecture, CREATED, History, ImageConfig, RootFs, Settings},
    digest::sha256_hex,
    layer,
};

/// An image in the form that the engine's load call takes, with the id it will have there.
///
/// The form is that of `docker save`: one layer, one configuration, one `manifest.json`.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct ImageArchive {
    reference: ImageRef,
    id: ImageId,
    bytes: Vec<u8>,
}

impl ImageArchive {
    /// The name the image is loaded under, with a tag.
    #[must_use]
    pub fn reference(&self) -> &ImageRef {
        &self.reference
    }

    /// The id the engine gives the image: the digest of its configuration.
    #[must_use]
    pub fn image_id(&self) -> &ImageId {
        &self.id
    }

    /// The archive, an uncompressed tar.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The archive, for a call that takes it over.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

impl std::fmt::Debug for ImageArchive {
    /// Shows the length in place of the bytes.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ImageArchive")
            .field("reference", &self.reference)
            .field("id", &self.id)
            .field("bytes", &self.bytes.len())
            .finish()
    }
}

/// What an archive is made of; it has its id, and gets its name last.
pub(crate) struct Contents {
    layer: Vec<u8>,
    layer_hex: String,
    config: Vec<u8>,
    config_hex: String,
}

impl Contents {
    pub(crate) fn new(layer: Vec<u8>, settings: &Settings, architecture: Architecture) -> Self {
        let layer_hex = sha256_hex(&layer);
        let config = to_json(&ImageConfig {
            architecture,
            os: "linux",
            created: CREATED,
            config: settings,
            rootfs: RootFs { kind: "layers", diff_ids: [format!("sha256:{layer_hex}")] },
            history: [History { created: CREATED, created_by: "lighterman-images" }],
        });
        let config_hex = sha256_hex(&config);
        Self { layer, layer_hex, config, config_hex }
    }

    /// The digits of the image id.
    pub(crate) fn id_hex(&self) -> &str {
        &self.config_hex
    }

    pub(crate) fn named(self, reference: ImageRef) -> ImageArchive {
        let config_path = format!("{}.json", self.config_hex);
        let layer_path = format!("{}.tar", self.layer_hex);
        let manifest =
            to_json(&[Manifest { config: &config_path, repo_tags: [reference.as_str()], layers: [&layer_path] }]);
        let mut tar = Builder::new(Vec::new());
        layer::append_file(&mut tar, &config_path, &self.config);
        layer::append_file(&mut tar, &layer_path, &self.layer);
        layer::append_file(&mut tar, "manifest.json", &manifest);
        let id = ImageId::parse(&format!("sha256:{}", self.config_hex)).expect("a digest is 64 hex digits");
        ImageArchive { reference, id, bytes: layer::finish(tar) }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Manifest<'a> {
    config: &'a str,
    repo_tags: [&'a str; 1],
    layers: [&'a str; 1],
}

fn to_json(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).expect("structures with text keys have a JSON form")
}
