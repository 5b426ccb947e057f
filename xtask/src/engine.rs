//! The few questions that builds and checks put to a Docker engine, over its socket and without a client library.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;

/// An engine that is well answers these questions in milliseconds; a hung one must not hang us.
const PATIENCE: Duration = Duration::from_secs(10);

const DEFAULT_SOCKET: &str = "/var/run/docker.sock";

/// An engine that has answered.
#[derive(Debug)]
pub(crate) struct Engine {
    address: Address,
    pub(crate) version: String,
    pub(crate) api_version: String,
}

/// A container, as far as we look at it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct Container {
    pub(crate) names: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Version {
    version: String,
    api_version: String,
}

#[derive(Debug, PartialEq, Eq)]
enum Address {
    Unix(PathBuf),
    Tcp(String),
}

impl Engine {
    /// The engine named by `DOCKER_HOST`, else the one behind the usual socket.
    pub(crate) fn find() -> Result<Self> {
        let address = Address::parse(std::env::var("DOCKER_HOST").ok().as_deref())?;
        let answer = address.ask("GET", "/version")?.done()?;
        let Version { version, api_version } =
            serde_json::from_slice(&answer).context("the engine's version is not the JSON it should be")?;
        Ok(Self { address, version, api_version })
    }

    /// All containers, running or not, that carry this label, `name=value`.
    pub(crate) fn containers_with(&self, label: &str) -> Result<Vec<Container>> {
        let label = label.replace('=', "%3D");
        let filters = format!("%7B%22label%22%3A%5B%22{label}%22%5D%7D");
        let answer = self.address.ask("GET", &format!("/containers/json?all=1&filters={filters}"))?.done()?;
        serde_json::from_slice(&answer).context("the engine's list of containers is not the JSON it should be")
    }

    pub(crate) fn has_image(&self, name: &str) -> Result<bool> {
        let answer = self.address.ask("GET", &format!("/images/{name}/json"))?;
        if answer.status == 404 { Ok(false) } else { answer.done().map(|_| true) }
    }

    /// Removes the image; `false` where somebody else uses it.
    pub(crate) fn remove_image(&self, name: &str) -> Result<bool> {
        let answer = self.address.ask("DELETE", &format!("/images/{name}"))?;
        match answer.status {
            404 => Ok(true),
            409 => Ok(false),
            _ => answer.done().map(|_| true),
        }
    }
}

/// Status and body of an answer.
#[derive(Debug, PartialEq, Eq)]
struct Answer {
    status: u16,
    body: Vec<u8>,
}

impl Answer {
    fn done(self) -> Result<Vec<u8>> {
        match self.status {
            200 => Ok(self.body),
            status => bail!("the Docker engine answered {status}: {}", String::from_utf8_lossy(&self.body).trim()),
        }
    }
}

impl Address {
    fn parse(docker_host: Option<&str>) -> Result<Self> {
        match docker_host {
            None | Some("") => Ok(Self::Unix(DEFAULT_SOCKET.into())),
            Some(host) => match host.split_once("://") {
                Some(("unix", path)) => Ok(Self::Unix(path.into())),
                Some(("tcp" | "http", address)) => Ok(Self::Tcp(address.trim_end_matches('/').to_owned())),
                _ => bail!("DOCKER_HOST={host} is neither unix:// nor tcp://"),
            },
        }
    }

    fn ask(&self, method: &str, path: &str) -> Result<Answer> {
        match self {
            Self::Unix(socket) => {
                let stream = UnixStream::connect(socket)
                    .with_context(|| format!("no Docker engine answers at {}", socket.display()))?;
                stream.set_read_timeout(Some(PATIENCE))?;
                stream.set_write_timeout(Some(PATIENCE))?;
                ask(stream, method, path)
            }
            Self::Tcp(address) => {
                let stream =
                    TcpStream::connect(address).with_context(|| format!("no Docker engine answers at {address}"))?;
                stream.set_read_timeout(Some(PATIENCE))?;
                stream.set_write_timeout(Some(PATIENCE))?;
                ask(stream, method, path)
            }
        }
    }
}

/// One request in HTTP/1.0, which the engine answers without chunks and by closing the connection.
fn ask(mut stream: impl Read + Write, method: &str, path: &str) -> Result<Answer> {
    write!(stream, "{method} {path} HTTP/1.0\r\nHost: docker\r\n\r\n").context("the Docker engine took no request")?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).context("the Docker engine gave no whole answer")?;
    parse(&answer).context("the Docker engine's answer is not HTTP")
}

fn parse(answer: &[u8]) -> Option<Answer> {
    let head_end = answer.windows(4).position(|window| window == b"\r\n\r\n")?;
    let head = std::str::from_utf8(&answer[..head_end]).ok()?;
    let status = head.lines().next()?.split(' ').nth(1)?.parse().ok()?;
    Some(Answer { status, body: answer[head_end + 4..].to_vec() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn docker_host_is_read_as_docker_reads_it() {
        assert_eq!(Address::parse(None).unwrap(), Address::Unix(DEFAULT_SOCKET.into()));
        assert_eq!(Address::parse(Some("")).unwrap(), Address::Unix(DEFAULT_SOCKET.into()));
        assert_eq!(Address::parse(Some("unix:///run/x.sock")).unwrap(), Address::Unix("/run/x.sock".into()));
        assert_eq!(Address::parse(Some("tcp://127.0.0.1:2375/")).unwrap(), Address::Tcp("127.0.0.1:2375".into()));
        assert!(Address::parse(Some("ssh://somewhere")).is_err());
    }

    #[test]
    fn only_a_200_answer_is_done() {
        let answer = |bytes: &[u8]| parse(bytes).unwrap().done();
        assert_eq!(answer(b"HTTP/1.0 200 OK\r\nA: b\r\n\r\n{}").unwrap(), b"{}");
        let error = answer(b"HTTP/1.0 500 Internal\r\n\r\noops\n").unwrap_err().to_string();
        assert_eq!(error, "the Docker engine answered 500: oops");
        assert_eq!(parse(b"garbage"), None);
        assert_eq!(parse(b"HTTP/1.0 two OK\r\n\r\n"), None);
    }

    #[test]
    fn an_absent_socket_is_named() {
        let absent = Address::Unix("/nonexistent/docker.sock".into());
        assert!(absent.ask("GET", "/version").unwrap_err().to_string().contains("/nonexistent/docker.sock"));
    }

    #[test]
    fn an_engine_that_closes_mid_answer_is_an_error() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        theirs.write_all(b"HTTP/1.0 200 OK\r\n").unwrap();
        theirs.shutdown(std::net::Shutdown::Write).unwrap();
        assert!(ask(ours, "GET", "/version").is_err());
    }
}
