//! Errors of containers, by their stable names (engine.md 8).

use alloc::{format, string::String};
use core::time::Duration;

use lighterman_calls::{Lost, LostCause};
use lighterman_view::StopReason;

/// What went wrong with a container: a name that tools match on, and words for people.
#[derive(Clone, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[error("{}: {text}", name.as_str())]
pub struct ContainerError {
    /// Which kind of error.
    pub name: ErrorName,
    /// The runtime's words, or ours.
    pub text: String,
}

/// The names of errors that this version produces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ErrorName {
    /// The image could not be pulled.
    CannotPullContainer,
    /// The runtime would not create the container.
    CannotCreateContainer,
    /// The runtime would not start it.
    CannotStartContainer,
    /// Stopping failed, and it was found stopped or given up.
    CannotStopContainer,
    /// Its state could not be read.
    CannotInspectContainer,
    /// It is not there any more, and it was not us.
    ContainerVanished,
    /// A call did not end within its limit.
    DockerTimeout,
    /// The runtime's own error text for a container that ended.
    DockerState,
    /// Its main process was killed for memory.
    OutOfMemory,
    /// What the definition asks for cannot be said to the runtime.
    DockerClientConfig,
}

impl ErrorName {
    /// Every name.
    pub const ALL: [Self; 10] = [
        Self::CannotPullContainer,
        Self::CannotCreateContainer,
        Self::CannotStartContainer,
        Self::CannotStopContainer,
        Self::CannotInspectContainer,
        Self::ContainerVanished,
        Self::DockerTimeout,
        Self::DockerState,
        Self::OutOfMemory,
        Self::DockerClientConfig,
    ];

    /// The name on the wire, in records and on the screen.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::CannotPullContainer => "CannotPullContainerError",
            Self::CannotCreateContainer => "CannotCreateContainerError",
            Self::CannotStartContainer => "CannotStartContainerError",
            Self::CannotStopContainer => "CannotStopContainerError",
            Self::CannotInspectContainer => "CannotInspectContainerError",
            Self::ContainerVanished => "ContainerVanishedError",
            Self::DockerTimeout => "DockerTimeoutError",
            Self::DockerState => "DockerStateError",
            Self::OutOfMemory => "OutOfMemoryError",
            Self::DockerClientConfig => "DockerClientConfigError",
        }
    }

    /// The name written so, if it is one of ours.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|name| name.as_str() == text)
    }

    /// What a person can do about an error of this name with this text; `None` where the text says all.
    fn advice(self, text: &str) -> Option<&'static str> {
        let of_cause = |causes: &[(&[&str], &'static str)]| {
            let text = text.to_lowercase();
            let fits = |(words, _): &&(&[&str], &'static str)| words.iter().any(|word| text.contains(word));
            causes.iter().find(fits).map(|(_, advice)| *advice)
        };
        match self {
            Self::CannotPullContainer => {
                of_cause(PULL_CAUSES).or(Some("check the image name, or load the image into Docker"))
            }
            Self::CannotCreateContainer => of_cause(START_CAUSES),
            Self::CannotStartContainer => of_cause(START_CAUSES).or(Some("look at the log of the Docker daemon")),
            Self::CannotStopContainer | Self::CannotInspectContainer | Self::DockerTimeout => {
                Some("look at the log of the Docker daemon")
            }
            Self::ContainerVanished => Some("somebody removed the container; find out who"),
            Self::DockerState => None,
            Self::OutOfMemory => Some("raise the memory of the container"),
            Self::DockerClientConfig => Some("change the task definition"),
        }
    }
}

/// Words of registries and of Docker about a pull, in lower case, and what helps (Docker 20.10 to 28).
const PULL_CAUSES: &[(&[&str], &str)] = &[
    (
        &["pull access denied", "unauthorized", "authentication required", "access to the resource is denied"],
        "check the image name; this version logs in to no registry, so load a private image into Docker",
    ),
    (&["manifest unknown", "manifest for", "not found"], "check the name and the tag of the image"),
    (
        &["dial tcp", "no such host", "connection refused", "timeout", "tls handshake", "server misbehaving"],
        "see whether Docker can reach the registry, or load the image into Docker",
    ),
    (&["no space left"], "make room on the disk of Docker"),
];

/// The same about a create or a start; the more special words first.
const START_CAUSES: &[(&[&str], &str)] = &[
    (&["logging driver", "log driver", "log opt"], "check the logConfiguration of the container"),
    (
        &["port is already allocated", "address already in use", "ports are not available"],
        "free the host port, or publish another one",
    ),
    (&["unable to find user", "unable to find group", "no matching entries in"], "check the user of the container"),
    (&["no space left"], "make room on the disk of Docker"),
    (
        &["executable file not found", "no such file or directory", "exec format error", "no command specified"],
        "check the command and the entryPoint against the files of the image",
    ),
    (
        &["no such container", "marked for removal", "already in progress"],
        "somebody removed the container meanwhile; run the task again",
    ),
    (&["permission denied"], "see whether the user of the container may execute the command"),
    (&["memory limit", "cannot allocate memory"], "check the memory of the container"),
];

impl ContainerError {
    /// An error of this name in these words.
    pub fn new(name: ErrorName, text: impl Into<String>) -> Self {
        Self { name, text: text.into() }
    }

    /// The error of a transition towards `word` that ended without an answer; a limit that passed has
    /// a name of its own (engine.md 4.9).
    pub(crate) fn lost(name: ErrorName, word: &str, lost: &Lost) -> Self {
        match lost.cause {
            LostCause::TimedOut(limit) => Self::new(
                ErrorName::DockerTimeout,
                format!("Could not transition to {word}; timed out after waiting {}", spell(limit)),
            ),
            LostCause::Unreachable | LostCause::ConnectionLost | LostCause::Garbled => Self::new(name, &*lost.text),
        }
    }

    /// The error as readers see it.
    pub(crate) fn reason(&self) -> StopReason {
        StopReason { name: self.name.as_str(), text: self.text.clone(), advice: self.name.advice(&self.text) }
    }
}

/// A duration as `3m0s` or `30s` (engine.md 4.9); below a second in milliseconds.
pub(crate) fn spell(duration: Duration) -> String {
    let seconds = duration.as_secs();
    let (hours, minutes, rest) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    match (hours, minutes) {
        (0, 0) if seconds == 0 => format!("{}ms", duration.as_millis()),
        (0, 0) => format!("{rest}s"),
        (0, _) => format!("{minutes}m{rest}s"),
        _ => format!("{hours}h{minutes}m{rest}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for name in ErrorName::ALL {
            assert_eq!(ErrorName::parse(name.as_str()), Some(name));
        }
        assert_eq!(ErrorName::parse("Error"), None);
    }

    #[test]
    fn advice_follows_the_cause() {
        for (name, text, word) in [
            (ErrorName::CannotStartContainer, "failed to initialize logging driver: no such host", "logConfiguration"),
            (ErrorName::CannotStartContainer, "driver failed: Bind for 0.0.0.0:80: port is already allocated", "port"),
            (ErrorName::CannotStartContainer, "unable to find user nobody: no matching entries in passwd", "user"),
            (ErrorName::CannotStartContainer, "exec: \"/x\": stat /x: no such file or directory", "entryPoint"),
            (ErrorName::CannotStartContainer, "exec: \"/x\": permission denied", "execute"),
            (ErrorName::CannotStartContainer, "No such container: 0123", "somebody removed"),
            (
                ErrorName::CannotStartContainer,
                "container is marked for removal and cannot be started",
                "somebody removed",
            ),
            (ErrorName::CannotStartContainer, "something new", "daemon"),
            (ErrorName::CannotPullContainer, "pull access denied for a/b, repository does not exist", "private"),
            (ErrorName::CannotPullContainer, "manifest for a/b:9 not found: manifest unknown", "tag"),
            (ErrorName::CannotPullContainer, "Get https://r.test/v2/: dial tcp: lookup r.test", "reach"),
            (ErrorName::CannotPullContainer, "something new", "image name"),
        ] {
            let advice = ContainerError::new(name, text).reason().advice.unwrap();
            assert!(advice.contains(word), "{text}: {advice}");
        }
        assert_eq!(ContainerError::new(ErrorName::CannotCreateContainer, "conflict").reason().advice, None);
    }

    #[test]
    fn limits_are_spelled_as_tools_expect_them() {
        let spelled = |ms| spell(Duration::from_millis(ms));
        assert_eq!(
            [spelled(180_000), spelled(30_000), spelled(200), spelled(7_200_000)],
            ["3m0s", "30s", "200ms", "2h0m0s"]
        );
    }
}
