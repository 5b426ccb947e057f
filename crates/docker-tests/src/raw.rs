//! The engine's API by hand, for what the adapter has no call for.

use std::{
    io::ErrorKind,
    path::{Path, PathBuf},
};

use lighterman_docker::DockerHost;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::UnixStream,
    time::timeout,
};

use crate::AMPLE;

/// Calls that only tests make: exec, a look at a whole inspect, removing an image.
///
/// One connection per call, in HTTP/1.0: the engine answers without chunks and closes.
#[derive(Clone, Debug)]
pub struct Raw(PathBuf);

/// An answer, read to its end.
#[derive(Clone, Debug)]
pub struct RawAnswer {
    /// The HTTP status.
    pub status: u16,
    /// Without the headers.
    pub body: Vec<u8>,
}

impl RawAnswer {
    /// The body, read as JSON.
    ///
    /// # Panics
    /// It is no JSON.
    #[must_use]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    /// The body as text.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// Lines of an answer that goes on.
#[derive(Debug)]
pub struct Lines(BufReader<UnixStream>);

impl Lines {
    /// The next line; `None` when the engine ends the answer.
    ///
    /// # Panics
    /// The connection breaks.
    pub async fn next(&mut self) -> Option<Vec<u8>> {
        let mut line = Vec::new();
        let count = self.0.read_until(b'\n', &mut line).await.unwrap();
        (count > 0).then_some(line)
    }
}

impl Raw {
    /// The engine at `host`; `None` when that is no unix socket.
    #[must_use]
    pub fn new(host: &DockerHost) -> Option<Self> {
        host.to_string().strip_prefix("unix://").map(|path| Self(path.into()))
    }

    /// Its socket.
    #[must_use]
    pub fn socket(&self) -> &Path {
        &self.0
    }

    /// `GET`.
    pub async fn get(&self, path: &str) -> RawAnswer {
        self.call("GET", path, b"").await
    }

    /// `POST` of JSON.
    pub async fn post(&self, path: &str, body: &serde_json::Value) -> RawAnswer {
        self.call("POST", path, body.to_string().as_bytes()).await
    }

    /// `DELETE`.
    pub async fn delete(&self, path: &str) -> RawAnswer {
        self.call("DELETE", path, b"").await
    }

    /// Runs `words` inside a running container and waits for their end; their exit code.
    ///
    /// # Panics
    /// The container does not run.
    pub async fn exec(&self, container: &str, words: &[&str]) -> i64 {
        let body = serde_json::json!({ "AttachStdout": true, "Cmd": words });
        let made = self.post(&format!("/containers/{container}/exec"), &body).await;
        let id = made.json()["Id"].as_str().unwrap().to_owned();
        self.post(&format!("/exec/{id}/start"), &serde_json::json!({})).await;
        // Its output can end before the engine has noted its end.
        let noted = async {
            loop {
                if let Some(code) = self.get(&format!("/exec/{id}/json")).await.json()["ExitCode"].as_i64() {
                    return code;
                }
            }
        };
        timeout(AMPLE, noted).await.unwrap()
    }

    /// `GET` of an answer without end, such as events: its lines, as they come.
    ///
    /// # Panics
    /// The engine refuses.
    pub async fn follow(&self, path: &str) -> Lines {
        let opening = async {
            let mut lines = BufReader::new(self.send("GET", path, b"").await);
            let mut head = String::new();
            while !head.ends_with("\r\n\r\n") {
                let count = lines.read_line(&mut head).await.unwrap();
                assert!(count > 0, "{path}: {head}");
            }
            assert!(head.split_whitespace().nth(1) == Some("200"), "{path}: {head}");
            Lines(lines)
        };
        timeout(AMPLE, opening).await.unwrap()
    }

    async fn call(&self, method: &str, path: &str, body: &[u8]) -> RawAnswer {
        timeout(AMPLE, self.exchange(method, path, body)).await.unwrap()
    }

    async fn send(&self, method: &str, path: &str, body: &[u8]) -> UnixStream {
        let mut socket = UnixStream::connect(&self.0).await.unwrap();
        let head = format!(
            "{method} /v1.41{path} HTTP/1.0\r\nHost: docker\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        // In one piece: the engine may refuse, and close, before a second one is written.
        socket.write_all(&[head.as_bytes(), body].concat()).await.unwrap();
        socket
    }

    async fn exchange(&self, method: &str, path: &str, body: &[u8]) -> RawAnswer {
        let mut socket = self.send(method, path, body).await;
        let mut answer = Vec::new();
        if let Err(error) = socket.read_to_end(&mut answer).await {
            // The output of an exec ends like this when there is input that nobody has read.
            assert!(error.kind() == ErrorKind::ConnectionReset && !answer.is_empty(), "{method} {path}: {error}");
        }
        let end = answer.windows(4).position(|window| window == b"\r\n\r\n").unwrap();
        let status = String::from_utf8_lossy(&answer[..end]).split_whitespace().nth(1).unwrap().parse().unwrap();
        RawAnswer { status, body: answer.split_off(end + 4) }
    }
}
