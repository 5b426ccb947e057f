//! A scripted engine: it hears one request per connection and plays what it was given.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex},
    time::Duration,
};

use lighterman_calls::{ContainerTarget, Lost, Outcome};
use lighterman_docker::{Docker, DockerHost};
use lighterman_ids::{InstanceId, RuntimeId};
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{UnixListener, UnixStream},
};

/// Longer than any test takes that goes well.
pub(crate) const AMPLE: Duration = Duration::from_secs(20);

/// What the engine does on one connection, after it has heard the request.
#[derive(Clone, Debug)]
pub(crate) enum Play {
    /// Says this and closes.
    Say(Vec<u8>),
    /// Says this before it has heard anything, then closes once it has.
    Greet(Vec<u8>),
    /// Says this and keeps the connection open until the other side closes it.
    Hold(Vec<u8>),
    /// Says one piece after the other, with a pause before each, and closes.
    Trickle(Duration, Vec<Vec<u8>>),
}

/// A request as it came over the wire.
#[derive(Clone, Debug)]
pub(crate) struct Heard {
    /// Method and target, such as `GET /_ping`.
    pub(crate) line: String,
    /// Header lines.
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

pub(crate) struct Stage {
    dir: TempDir,
    heard: Arc<Mutex<Vec<Heard>>>,
    closed: Arc<Mutex<usize>>,
}

impl Stage {
    pub(crate) fn new() -> Self {
        Self { dir: TempDir::new().unwrap(), heard: Arc::default(), closed: Arc::default() }
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.dir.path().join("engine.sock")
    }

    pub(crate) fn docker(&self) -> Docker {
        Docker::connect(DockerHost::parse(&format!("unix://{}", self.socket().display())).unwrap())
    }

    /// Request lines, in the order in which they came.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.heard().into_iter().map(|heard| heard.line).collect()
    }

    pub(crate) fn heard(&self) -> Vec<Heard> {
        self.heard.lock().unwrap().clone()
    }

    /// Connections that were held and that the other side has closed.
    pub(crate) fn closed(&self) -> usize {
        *self.closed.lock().unwrap()
    }

    /// Runs `test` while the engine plays, one connection after the other.
    pub(crate) async fn play<T>(&self, plays: Vec<Play>, test: impl Future<Output = T>) -> T {
        let listener = UnixListener::bind(self.socket()).unwrap();
        let serving = async {
            for play in plays {
                let (stream, _) = listener.accept().await.unwrap();
                self.perform(stream, play).await;
            }
            std::future::pending::<()>().await;
        };
        let result = tokio::select! {
            result = test => result,
            () = serving => unreachable!("serving never ends"),
        };
        drop(listener);
        std::fs::remove_file(self.socket()).unwrap();
        result
    }

    async fn perform(&self, mut stream: UnixStream, play: Play) {
        if let Play::Greet(bytes) = &play {
            stream.write_all(bytes).await.unwrap();
        }
        let Some(heard) = hear(&mut stream).await else { return };
        self.heard.lock().unwrap().push(heard);
        // The other side may give up at any moment: writing to it may fail.
        match play {
            Play::Greet(_) => {}
            Play::Say(bytes) => drop(stream.write_all(&bytes).await),
            Play::Hold(bytes) => {
                drop(stream.write_all(&bytes).await);
                let mut rest = Vec::new();
                drop(stream.read_to_end(&mut rest).await);
                *self.closed.lock().unwrap() += 1;
            }
            Play::Trickle(pause, pieces) => {
                for piece in pieces {
                    wait(pause).await;
                    if stream.write_all(&piece).await.is_err() {
                        break;
                    }
                }
            }
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "the script says when the engine speaks")]
async fn wait(pause: Duration) {
    tokio::time::sleep(pause).await;
}

async fn hear(stream: &mut UnixStream) -> Option<Heard> {
    let mut bytes = Vec::new();
    let end = loop {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end;
        }
    };
    let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
    let mut body = bytes.split_off(end + 4);
    let (line, head) = head.split_once("\r\n").unwrap();
    let length = head
        .lines()
        .find_map(|header| header.to_ascii_lowercase().strip_prefix("content-length:")?.trim().parse::<usize>().ok());
    while body.len() < length.unwrap_or(0) {
        if stream.read_buf(&mut body).await.ok()? == 0 {
            return None;
        }
    }
    let line = line.strip_suffix(" HTTP/1.1").unwrap();
    Some(Heard { line: line.into(), head: head.into(), body })
}

/// A complete answer.
pub(crate) fn answer(status: u16, body: &str) -> Vec<u8> {
    let head = format!("HTTP/1.1 {status} Status\r\nContent-Type: application/json\r\nContent-Length: {}", body.len());
    format!("{head}\r\n\r\n{body}").into_bytes()
}

/// An answer without a body.
pub(crate) fn bare(status: u16) -> Vec<u8> {
    format!("HTTP/1.1 {status} Status\r\n\r\n").into_bytes()
}

/// The engine's own form of an error.
pub(crate) fn refusal(status: u16, message: &str) -> Vec<u8> {
    answer(status, &serde_json::json!({ "message": message }).to_string())
}

/// Head of an answer whose body comes in chunks.
pub(crate) fn head() -> Vec<u8> {
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec()
}

pub(crate) fn chunk(bytes: impl AsRef<[u8]>) -> Vec<u8> {
    let bytes = bytes.as_ref();
    [format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat()
}

/// The last chunk, after which the body is over.
pub(crate) fn end() -> Vec<u8> {
    b"0\r\n\r\n".to_vec()
}

/// Head, chunks and, after the last one, the end.
pub(crate) fn chunked(chunks: &[&[u8]]) -> Vec<u8> {
    [head(), chunks.iter().flat_map(chunk).collect(), end()].concat()
}

pub(crate) fn target() -> ContainerTarget {
    ContainerTarget::Id(RuntimeId::parse(ID).unwrap())
}

pub(crate) const ID: &str = "0123456789ab0123456789ab0123456789ab0123456789ab0123456789ab0123";

pub(crate) fn instance() -> InstanceId {
    InstanceId::from_bits(7)
}

#[track_caller]
pub(crate) fn lost<T: std::fmt::Debug>(outcome: Outcome<T>) -> Lost {
    match outcome {
        Outcome::Unknown(lost) => lost,
        other @ (Outcome::Done(_) | Outcome::Refused(_) | Outcome::Gone) => panic!("{other:?} must be unknown"),
    }
}
