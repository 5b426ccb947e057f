//! The body of a create call, in the engine's own terms.
//!
//! An absent member is left out of the body: for several members the engine gives zero or an empty
//! list another meaning than absence (taskdef.md 1.7, 2.4).

use alloc::{collections::BTreeMap, string::String, vec::Vec};
use core::{fmt, time::Duration};

use lighterman_ids::{ImageRef, RuntimeName};

use crate::Environment;

/// `POST /containers/create?name=…`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CreateRequest {
    /// The name under which the container can be found again whatever happens to the answer.
    pub name: RuntimeName,
    /// `Config`.
    pub config: ContainerConfig,
    /// `HostConfig`.
    pub host: HostConfig,
}

/// `Config`: what runs inside.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ContainerConfig {
    /// `Image`, as the definition writes it.
    pub image: ImageRef,
    /// `Entrypoint`; `None` keeps the image's. Never `Some(vec![])`, which would clear it.
    pub entrypoint: Option<Vec<String>>,
    /// `Cmd`; `None` keeps the image's.
    pub cmd: Option<Vec<String>>,
    /// `Env` by name; sent as sorted `NAME=value`.
    pub env: Environment,
    /// `Labels`, ours included.
    pub labels: BTreeMap<String, String>,
    /// `User`.
    pub user: Option<String>,
    /// `WorkingDir`.
    pub working_dir: Option<String>,
    /// `Hostname`.
    pub hostname: Option<String>,
    /// `Tty`.
    pub tty: bool,
    /// `OpenStdin`.
    pub open_stdin: bool,
    /// `ExposedPorts`; every key of [`HostConfig::port_bindings`] must be among them.
    pub exposed_ports: Vec<PortKey>,
    /// `Healthcheck`; every member is sent, since the engine fills zero ones from the image.
    pub healthcheck: Option<HealthcheckConfig>,
}

/// `HostConfig`: what the host lends.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct HostConfig {
    /// `Memory` in bytes; `None` is no limit.
    pub memory: Option<u64>,
    /// `MemoryReservation` in bytes.
    pub memory_reservation: Option<u64>,
    /// `CpuShares`, 2 to 262,144; always sent, since the engine takes 0 for 1,024.
    pub cpu_shares: u32,
    /// `NetworkMode`; `None` is the engine's default bridge.
    pub network_mode: Option<String>,
    /// `PortBindings`.
    pub port_bindings: Vec<(PortKey, PortBinding)>,
    /// `Privileged`.
    pub privileged: bool,
    /// `ReadonlyRootfs`.
    pub readonly_rootfs: bool,
    /// `Init`; `None` is the engine's setting.
    pub init: Option<bool>,
    /// `Ulimits`.
    pub ulimits: Vec<Ulimit>,
    /// `LogConfig`; `None` is the engine's setting.
    pub log: Option<LogConfig>,
}

/// `tcp` or `udp`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Protocol {
    /// `tcp`.
    Tcp,
    /// `udp`.
    Udp,
}

impl Protocol {
    /// The word the engine uses.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Tcp => "tcp",
            Self::Udp => "udp",
        }
    }
}

/// A port of a container, printed `80/tcp`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PortKey {
    /// 1 to 65,535.
    pub port: u16,
    /// Which protocol.
    pub protocol: Protocol,
}

impl fmt::Display for PortKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.port, self.protocol.as_str())
    }
}

/// Where a container port appears on the host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct PortBinding {
    /// `HostIp`; `None` is all addresses.
    pub host_ip: Option<String>,
    /// `HostPort`; `None` lets the engine pick one.
    pub host_port: Option<u16>,
}

/// `Ulimits[]`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Ulimit {
    /// Such as `nofile`.
    pub name: String,
    /// -1 is unlimited.
    pub soft: i64,
    /// -1 is unlimited.
    pub hard: i64,
}

/// `LogConfig`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LogConfig {
    /// `Type`.
    pub driver: String,
    /// `Config`.
    pub options: BTreeMap<String, String>,
}

/// `Healthcheck`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct HealthcheckConfig {
    /// `Test`.
    pub test: HealthTest,
    /// `Interval`.
    pub interval: Duration,
    /// `Timeout`.
    pub timeout: Duration,
    /// `StartPeriod`; at least 1 ms, since a sent 0 keeps the image's.
    pub start_period: Duration,
    /// `Retries`.
    pub retries: u32,
}

/// `Healthcheck.Test` in the forms that are safe to send.
///
/// There is no way to write `["CMD"]` alone: it crashes engine 20.10 at its first probe
/// (taskdef.md 2.5).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum HealthTest {
    /// `["NONE"]`: switches the image's check off.
    Disabled,
    /// `["CMD", program, arguments…]`; `program` is not empty.
    Exec {
        /// The program.
        program: String,
        /// Its arguments.
        arguments: Vec<String>,
    },
    /// `["CMD-SHELL", script, arguments…]`; `script` is not empty.
    Shell {
        /// Run by the image's shell.
        script: String,
        /// `$0`, `$1` … of the script.
        arguments: Vec<String>,
    },
}

impl HealthTest {
    /// Reads a definition's or an image's test; `None` for a form that the engine must not be given.
    #[must_use]
    pub fn parse(words: &[String]) -> Option<Self> {
        let (first, rest) = words.split_first()?;
        let program = rest.first().filter(|word| !word.is_empty());
        let arguments = || rest.iter().skip(1).cloned().collect();
        match (first.as_str(), program) {
            ("NONE", _) => Some(Self::Disabled),
            ("CMD", Some(program)) => Some(Self::Exec { program: program.clone(), arguments: arguments() }),
            ("CMD-SHELL", Some(script)) => Some(Self::Shell { script: script.clone(), arguments: arguments() }),
            _ => None,
        }
    }

    /// The words as they are sent.
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        let (kind, first, rest) = match self {
            Self::Disabled => return alloc::vec!["NONE".into()],
            Self::Exec { program, arguments } => ("CMD", program, arguments),
            Self::Shell { script, arguments } => ("CMD-SHELL", script, arguments),
        };
        [String::from(kind), first.clone()].into_iter().chain(rest.iter().cloned()).collect()
    }
}

#[cfg(test)]
mod tests {
    use alloc::{string::ToString, vec};

    use super::*;

    #[test]
    fn t30_a_health_test_of_only_cmd_cannot_be_written() {
        let words = |list: &[&str]| list.iter().map(ToString::to_string).collect::<Vec<_>>();
        for broken in [&["CMD"][..], &["CMD", ""], &["CMD-SHELL"], &["CMD-SHELL", ""], &[], &["true"], &["cmd", "true"]]
        {
            assert_eq!(HealthTest::parse(&words(broken)), None, "{broken:?}");
        }
        for good in [&["NONE"][..], &["CMD", "true"], &["CMD", "a", "b"], &["CMD-SHELL", "exit 1"]] {
            let test = HealthTest::parse(&words(good)).unwrap();
            assert_eq!(test.words(), words(good));
        }
        assert_eq!(HealthTest::Disabled.words(), vec!["NONE".to_string()]);
    }
}
