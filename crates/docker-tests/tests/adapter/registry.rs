//! A registry on a local port, as small as the engine accepts it.

use std::{collections::BTreeMap, io::Read as _};

use lighterman_ids::ImageRef;
use lighterman_images::ImageArchive;
use serde_json::json;
use sha2::{Digest as _, Sha256};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

/// How it answers.
#[derive(Clone, Debug)]
pub(crate) enum Manner {
    /// As a registry does.
    Serve,
    /// With this status and error code to every question for a manifest.
    Refuse(u16, &'static str),
    /// As a registry does, but of each layer only the first half comes, and then silence.
    Stall,
}

pub(crate) struct Registry {
    port: u16,
    listener: TcpListener,
    manner: Manner,
    manifest: Vec<u8>,
    blobs: BTreeMap<String, Vec<u8>>,
}

impl Registry {
    /// Offers what `archive` holds.
    pub(crate) async fn offering(archive: &ImageArchive, manner: Manner) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let files = files(archive.bytes());
        let index: serde_json::Value = serde_json::from_slice(&files["manifest.json"]).unwrap();
        let mut blobs = BTreeMap::new();
        let mut blob = |file: &serde_json::Value, media_type: &str| {
            let bytes = files[file.as_str().unwrap()].clone();
            let digest = digest(&bytes);
            let entry = json!({"mediaType": media_type, "size": bytes.len(), "digest": digest});
            blobs.insert(digest, bytes);
            entry
        };
        let config = blob(&index[0]["Config"], "application/vnd.docker.container.image.v1+json");
        let layers: Vec<_> = index[0]["Layers"]
            .as_array()
            .unwrap()
            .iter()
            .map(|layer| blob(layer, "application/vnd.docker.image.rootfs.diff.tar"))
            .collect();
        let manifest = json!({"schemaVersion": 2, "mediaType": MANIFEST, "config": config, "layers": layers});
        let port = listener.local_addr().unwrap().port();
        let manifest = manifest.to_string().into_bytes();
        Self { port, listener, manner, manifest, blobs }
    }

    /// The name under which the engine finds the image here. Registries on 127.0.0.1 may be plain HTTP.
    pub(crate) fn image(&self) -> ImageRef {
        ImageRef::parse(&format!("127.0.0.1:{}/offered:1", self.port)).unwrap()
    }

    pub(crate) fn digest(&self) -> String {
        digest(&self.manifest)
    }

    /// Runs `test` while the registry answers.
    pub(crate) async fn while_serving<T>(&self, test: impl Future<Output = T>) -> T {
        let serving = async {
            let mut connections = futures_util::stream::FuturesUnordered::new();
            loop {
                tokio::select! {
                    accepted = self.listener.accept() => connections.push(self.serve(accepted.unwrap().0)),
                    Some(()) = futures_util::StreamExt::next(&mut connections) => {}
                }
            }
        };
        tokio::select! {
            result = test => result,
            () = serving => unreachable!("serving never ends"),
        }
    }

    async fn serve(&self, mut stream: TcpStream) {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            match stream.read_u8().await {
                // The engine tries TLS first: this is its greeting, and hanging up is an answer.
                Ok(0x16) if head.is_empty() => return,
                Ok(byte) => head.push(byte),
                Err(_) => return,
            }
        }
        let head = String::from_utf8(head).unwrap();
        let path = head.split_whitespace().nth(1).unwrap().to_owned();
        let (answer, stall) = self.answer(&path, head.starts_with("HEAD"));
        // The engine may hang up at any moment.
        drop(stream.write_all(&answer).await);
        if stall {
            drop(stream.read_u8().await);
        }
        drop(stream.shutdown().await);
    }

    fn answer(&self, path: &str, head_only: bool) -> (Vec<u8>, bool) {
        if path == "/v2/" {
            return (answer(200, "application/json", "", b"{}", head_only), false);
        }
        if path.contains("/manifests/") {
            if let Manner::Refuse(status, code) = self.manner {
                let errors = json!({"errors": [{"code": code, "message": format!("the registry says {code}")}]});
                return (answer(status, "application/json", "", errors.to_string().as_bytes(), head_only), false);
            }
            return (answer(200, MANIFEST, &self.digest(), &self.manifest, head_only), false);
        }
        let digest = path.rsplit('/').next().unwrap();
        let Some(bytes) = self.blobs.get(digest) else {
            return (answer(404, "application/json", "", b"{}", head_only), false);
        };
        let whole = answer(200, "application/octet-stream", digest, bytes, head_only);
        let is_layer = bytes.len() > LARGE;
        match self.manner {
            Manner::Stall if is_layer => (whole[..whole.len() / 2].to_vec(), true),
            Manner::Stall | Manner::Serve | Manner::Refuse(..) => (whole, false),
        }
    }
}

const MANIFEST: &str = "application/vnd.docker.distribution.manifest.v2+json";

/// Layers are larger, configurations smaller.
const LARGE: usize = 100_000;

fn answer(status: u16, media_type: &str, digest: &str, body: &[u8], head_only: bool) -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 {status} Status\r\nDocker-Distribution-Api-Version: registry/2.0\r\nContent-Type: {media_type}\r\n\
         Docker-Content-Digest: {digest}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), if head_only { b"" } else { body }].concat()
}

fn digest(bytes: &[u8]) -> String {
    let hex: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{hex}")
}

fn files(archive: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let mut archive = tar::Archive::new(archive);
    let read = |entry: std::io::Result<tar::Entry<'_, &[u8]>>| {
        let mut entry = entry.unwrap();
        let name = entry.path().unwrap().to_string_lossy().into_owned();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        (name, bytes)
    };
    archive.entries().unwrap().map(read).collect()
}
