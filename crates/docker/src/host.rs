//! Where the engine listens.

use std::{
    fmt,
    path::{Path, PathBuf},
    str::FromStr,
};

use http::uri::Authority;

/// Port of an engine's plain TCP listener when an address names none.
const DEFAULT_TCP_PORT: u16 = 2375;

/// Address of a Docker engine, in the form of `DOCKER_HOST`.
///
/// ```
/// use lighterman_docker::DockerHost;
///
/// assert_eq!(DockerHost::default().to_string(), "unix:///var/run/docker.sock");
/// assert_eq!(DockerHost::parse("tcp://engine.test").unwrap().to_string(), "tcp://engine.test:2375");
/// let refused = DockerHost::parse("ssh://engine.test").unwrap_err();
/// assert!(refused.to_string().contains("unix:///"), "says what would be accepted");
/// let refused = DockerHost::parse("nonsense").unwrap_err();
/// assert!(refused.to_string().starts_with("\"nonsense\" is not the address of a Docker engine"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DockerHost(Address);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Address {
    /// Absolute path of a socket.
    Unix(PathBuf),
    /// `host:port`; an IPv6 host stands in brackets.
    Tcp(String),
}

/// Why a text is not an address of an engine that can be reached from here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DockerHostError {
    /// It begins with something other than the schemes that are spoken.
    #[error("cannot speak {scheme:?} to a Docker engine; allowed: unix:///absolute/path, tcp://host:port")]
    Scheme {
        /// What stands before `://`.
        scheme: String,
    },
    /// There is no `://`.
    #[error("{text:?} is not the address of a Docker engine; allowed: unix:///absolute/path, tcp://host:port")]
    NoScheme {
        /// What was found.
        text: String,
    },
    /// `unix://` without an absolute path behind it.
    #[error("{path:?} is not an absolute path of a socket; allowed: unix:///absolute/path")]
    Path {
        /// What stands behind `unix://`.
        path: String,
    },
    /// `tcp://` or `http://` without a host, or with more than a host and a port.
    #[error("{authority:?} is not a host and port; allowed: tcp://host:port")]
    Authority {
        /// What stands behind the scheme.
        authority: String,
    },
}

impl DockerHost {
    /// Reads `unix:///path`, `tcp://host[:port]` or `http://host[:port]`. TCP is plain: nothing on it is encrypted.
    ///
    /// # Errors
    /// The scheme is not spoken, or what follows it is no path or host; the error says what is allowed.
    pub fn parse(text: &str) -> Result<Self, DockerHostError> {
        match text.split_once("://") {
            Some(("unix", path)) => Self::unix(path),
            Some(("tcp" | "http", authority)) => Self::tcp(authority.strip_suffix('/').unwrap_or(authority)),
            Some((scheme, _)) => Err(DockerHostError::Scheme { scheme: scheme.into() }),
            None => Err(DockerHostError::NoScheme { text: text.into() }),
        }
    }

    fn unix(path: &str) -> Result<Self, DockerHostError> {
        if Path::new(path).is_absolute() && !path.contains('\0') {
            Ok(Self(Address::Unix(path.into())))
        } else {
            Err(DockerHostError::Path { path: path.into() })
        }
    }

    fn tcp(text: &str) -> Result<Self, DockerHostError> {
        let refuse = || DockerHostError::Authority { authority: text.into() };
        let authority = Authority::from_str(text).map_err(|_| refuse())?;
        let host = authority.host();
        let port = match text.strip_prefix(host) {
            Some("") => DEFAULT_TCP_PORT,
            Some(rest) => rest.strip_prefix(':').and_then(port_number).ok_or_else(refuse)?,
            None => return Err(refuse()),
        };
        if host.is_empty() {
            return Err(refuse());
        }
        Ok(Self(Address::Tcp(format!("{host}:{port}"))))
    }

    pub(crate) const fn address(&self) -> &Address {
        &self.0
    }
}

fn port_number(digits: &str) -> Option<u16> {
    let only_digits = digits.bytes().all(|b| b.is_ascii_digit());
    digits.parse().ok().filter(|port| only_digits && *port != 0)
}

/// The engine's own default, `unix:///var/run/docker.sock`.
impl Default for DockerHost {
    fn default() -> Self {
        Self(Address::Unix("/var/run/docker.sock".into()))
    }
}

impl fmt::Display for DockerHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Address::Unix(path) => write!(f, "unix://{}", path.display()),
            Address::Tcp(authority) => write!(f, "tcp://{authority}"),
        }
    }
}

impl FromStr for DockerHost {
    type Err = DockerHostError;

    fn from_str(text: &str) -> Result<Self, DockerHostError> {
        Self::parse(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_printed() {
        for (text, printed) in [
            ("unix:///var/run/docker.sock", "unix:///var/run/docker.sock"),
            ("unix:///run/user/1000/a b.sock", "unix:///run/user/1000/a b.sock"),
            ("tcp://127.0.0.1:2375", "tcp://127.0.0.1:2375"),
            ("tcp://engine.test/", "tcp://engine.test:2375"),
            ("http://engine.test:80", "tcp://engine.test:80"),
            ("tcp://[::1]:4243", "tcp://[::1]:4243"),
        ] {
            let host = DockerHost::parse(text).unwrap();
            assert_eq!(host.to_string(), printed);
            assert_eq!(DockerHost::parse(printed).unwrap(), host);
        }
    }

    #[test]
    fn anything_else_is_refused_and_told_what_is_allowed() {
        for text in [
            "",
            "/var/run/docker.sock",
            "ssh://host",
            "https://host:2376",
            "npipe:////./pipe/docker_engine",
            "fd://",
            "unix://",
            "unix://docker.sock",
            "unix:///a\0b",
            "tcp://",
            "tcp://:2375",
            "tcp://host:0",
            "tcp://host:70000",
            "tcp://host:",
            "tcp://host:+1",
            "tcp://user@host:1",
            "tcp://host:1/path",
            "tcp://host?x=1",
        ] {
            let refused = DockerHost::parse(text).expect_err(text);
            assert!(refused.to_string().contains("allowed: "), "{refused}");
        }
    }
}
