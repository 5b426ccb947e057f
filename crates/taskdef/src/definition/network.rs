//! Ports, links and names of a container (taskdef.md 2.3).

use alloc::string::String;
use core::net::IpAddr;

use lighterman_ids::ContainerName;

use super::{AppProtocol, Protocol};

/// Container ports that are published, or announced: one, or a range.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PortMapping {
    /// 1 to 65535; the first one of a range.
    pub container_port: u16,
    /// The last one of a range, above `container_port`; `None`: one port.
    pub last_port: Option<u16>,
    /// `None` on the bridge: any free port, and always for a range. Other modes: always `Some`, equal to
    /// `container_port`, unless it is a range.
    pub host_port: Option<u16>,
    /// Transport.
    pub protocol: Protocol,
    /// Shown in metadata; up to 64 of `a-z 0-9 _ -`.
    pub name: Option<String>,
    /// For service connect.
    pub app_protocol: Option<AppProtocol>,
}

/// Another container under a name of its own in `/etc/hosts`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Link {
    /// Another container of the task.
    pub container: ContainerName,
    /// Name it is known by; unique in the container.
    pub alias: ContainerName,
}

/// A line of `/etc/hosts`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExtraHost {
    /// Name, without blanks and colons.
    pub hostname: String,
    /// What it stands for.
    pub address: HostAddress,
}

/// What a host name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HostAddress {
    /// That address.
    Ip(IpAddr),
    /// The host, as the engine sees it; not in the API of the service.
    HostGateway,
}

impl HostAddress {
    /// The word of the engine.
    pub(crate) const HOST_GATEWAY: &'static str = "host-gateway";
}

impl core::fmt::Display for HostAddress {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Ip(address) => address.fmt(f),
            Self::HostGateway => f.write_str(Self::HOST_GATEWAY),
        }
    }
}
