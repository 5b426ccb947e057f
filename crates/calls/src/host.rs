//! What the host lends to a container.

use alloc::{collections::BTreeMap, string::String, vec::Vec};
use core::fmt;

use lighterman_ids::RuntimeName;

use crate::ContainerTarget;

/// `HostConfig`: what the host lends.
///
/// Never sent, whatever is asked for: `RestartPolicy`, since the engine must not restart a container by itself,
/// and `NanoCpus`, since the limit of a task is for all of its containers together (taskdef.md 2.1, 2.2).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct HostConfig {
    /// `Memory` in bytes, at least 6 MiB; `None` is no limit.
    pub memory: Option<u64>,
    /// `MemoryReservation` in bytes, at least 6 MiB.
    pub memory_reservation: Option<u64>,
    /// `MemorySwap` in bytes: memory and swap together, so at least `memory`, without which it is refused.
    /// `None` is the engine's default, twice `memory`.
    pub memory_swap: Option<u64>,
    /// `MemorySwappiness`, 0 to 100; without effect on cgroup v2.
    pub memory_swappiness: Option<u8>,
    /// `CpuShares`, 2 to 262,144; always sent, since the engine takes 0 for 1,024.
    pub cpu_shares: u32,
    /// `NetworkMode`; `None` is the engine's default bridge.
    pub network_mode: Option<NetworkMode>,
    /// `PidMode`; `None` is a namespace of its own.
    pub pid_mode: Option<PidMode>,
    /// `IpcMode`; `None` is the engine's setting, in 20.10 a namespace that nobody can join.
    pub ipc_mode: Option<IpcMode>,
    /// `UTSMode`; `None` is a host name of its own.
    pub uts_mode: Option<UtsMode>,
    /// `PortBindings`. The engine takes no ranges: each port of one is a binding of its own.
    pub port_bindings: Vec<(PortKey, PortBinding)>,
    /// `Links`, on the default bridge only.
    pub links: Vec<Link>,
    /// `Dns`: addresses, which the engine does not check.
    pub dns: Vec<String>,
    /// `DnsSearch`; `.` alone is none. Without effect in the network of another container.
    pub dns_search: Vec<String>,
    /// `ExtraHosts`.
    pub extra_hosts: Vec<ExtraHost>,
    /// `VolumesFrom`.
    pub volumes_from: Vec<VolumesFrom>,
    /// `Binds`: a directory of the host that is missing is made, and a volume too, without labels.
    pub binds: Vec<Mount>,
    /// `Mounts`, for paths with a `:` in them, which break the text of a bind. A directory of the host that is
    /// missing is refused.
    pub mounts: Vec<Mount>,
    /// `Tmpfs`: options by path inside, joined by `,`; the last of two sizes counts.
    pub tmpfs: BTreeMap<String, String>,
    /// `ShmSize` in bytes; `None` is the engine's default, 64 MiB.
    pub shm_size: Option<u64>,
    /// `Devices`.
    pub devices: Vec<Device>,
    /// `DeviceRequests`.
    pub gpus: Option<Gpus>,
    /// `CapAdd`: upper case, without `CAP_`; wins over `cap_drop`.
    pub cap_add: Vec<String>,
    /// `CapDrop`: upper case, without `CAP_`.
    pub cap_drop: Vec<String>,
    /// `SecurityOpt`, such as `no-new-privileges` or `label=type:svirt_t`.
    pub security_opt: Vec<String>,
    /// `Sysctls`; names and values are only looked at by a start.
    pub sysctls: BTreeMap<String, String>,
    /// `GroupAdd`: names, or numbers as text.
    pub group_add: Vec<String>,
    /// `CgroupParent`: a path on cgroup v1, a slice on v2.
    pub cgroup_parent: Option<String>,
    /// `Runtime`; `None` is the engine's setting.
    pub runtime: Option<String>,
    /// `OomKillDisable`: whoever exceeds the limit waits instead of being killed.
    pub oom_kill_disable: bool,
    /// `OomScoreAdj`, -1,000 to 1,000.
    pub oom_score_adj: Option<i16>,
    /// `Privileged`: the lists of capabilities are ignored then.
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

/// `NetworkMode`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NetworkMode {
    /// `bridge`: the engine's default bridge, by name.
    Bridge,
    /// `host`: no network of its own.
    Host,
    /// `none`: nothing but `lo`.
    None,
    /// `container:…`: that of another container, which must run when this one starts.
    Container(ContainerTarget),
    /// A network that was made before.
    Named(RuntimeName),
}

impl fmt::Display for NetworkMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bridge => f.write_str("bridge"),
            Self::Host => f.write_str("host"),
            Self::None => f.write_str("none"),
            Self::Container(container) => write!(f, "container:{container}"),
            Self::Named(network) => write!(f, "{network}"),
        }
    }
}

/// `PidMode`. The engine takes any other word in silence, and isolates (seen on 20.10).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PidMode {
    /// `host`: sees the processes of the host.
    Host,
    /// `container:…`: those of another container, which must exist now and run when this one starts.
    Container(ContainerTarget),
}

impl fmt::Display for PidMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host => f.write_str("host"),
            Self::Container(container) => write!(f, "container:{container}"),
        }
    }
}

/// `IpcMode`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IpcMode {
    /// `none`: not even `/dev/shm`.
    None,
    /// `host`: that of the host.
    Host,
    /// `shareable`: its own, and others may join.
    Shareable,
    /// `container:…`: that of another container, which must exist now, and run and be shareable when this one
    /// starts.
    Container(ContainerTarget),
}

impl fmt::Display for IpcMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Host => f.write_str("host"),
            Self::Shareable => f.write_str("shareable"),
            Self::Container(container) => write!(f, "container:{container}"),
        }
    }
}

/// `UTSMode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum UtsMode {
    /// `host`: the host's name; a host name of its own is refused then.
    Host,
}

impl UtsMode {
    /// The word the engine uses.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Host => "host",
        }
    }
}

/// `Links[]`: the container must exist now, and run when this one starts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Link {
    /// Which container.
    pub container: ContainerTarget,
    /// Its name inside.
    pub alias: String,
}

impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.container, self.alias)
    }
}

/// `ExtraHosts[]`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ExtraHost {
    /// A name in `/etc/hosts`.
    pub hostname: String,
    /// Its address, of IPv6 without brackets, or `host-gateway`.
    pub address: String,
}

impl fmt::Display for ExtraHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.hostname, self.address)
    }
}

/// `VolumesFrom[]`: all mounts of a container, which must exist now.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct VolumesFrom {
    /// Whose.
    pub container: ContainerTarget,
    /// All of them read-only; what is read-only there stays so either way.
    pub read_only: bool,
}

impl fmt::Display for VolumesFrom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.container, if self.read_only { ":ro" } else { "" })
    }
}

/// An element of `Binds` or of `Mounts`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Mount {
    /// What is mounted.
    pub source: MountSource,
    /// Where to: an absolute path other than `/`.
    pub target: String,
    /// Whether it can only be read.
    pub read_only: bool,
}

/// What is mounted.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum MountSource {
    /// A volume. An empty one is filled from the image's directory at the target.
    Volume(RuntimeName),
    /// A path of the host.
    Host {
        /// Absolute.
        path: String,
        /// `None` is the engine's default, `rprivate`.
        propagation: Option<Propagation>,
    },
}

impl MountSource {
    /// The path or name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Volume(name) => name.as_str(),
            Self::Host { path, .. } => path,
        }
    }
}

/// Which later mounts below a path of the host are seen on the other side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Propagation {
    /// None.
    Private,
    /// None, nor those of mounts below it.
    RPrivate,
    /// Those of either side.
    Shared,
    /// Those of either side, also of mounts below it.
    RShared,
    /// Those of the host.
    Slave,
    /// Those of the host, also of mounts below it.
    RSlave,
}

impl Propagation {
    /// Every kind.
    pub const ALL: [Self; 6] = [Self::Private, Self::RPrivate, Self::Shared, Self::RShared, Self::Slave, Self::RSlave];

    /// The word the engine uses.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Private => "private",
            Self::RPrivate => "rprivate",
            Self::Shared => "shared",
            Self::RShared => "rshared",
            Self::Slave => "slave",
            Self::RSlave => "rslave",
        }
    }
}

/// `Devices[]`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Device {
    /// `PathOnHost`: looked for by a start; a directory stands for the devices below it.
    pub host_path: String,
    /// `PathInContainer`; never empty, which would make no device and no error.
    pub container_path: String,
    /// `CgroupPermissions`.
    pub access: DeviceAccess,
}

/// What may be done with a device: always something, since a start fails on an empty text (seen on 20.10).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeviceAccess {
    read: bool,
    write: bool,
    mknod: bool,
}

impl DeviceAccess {
    /// `rwm`.
    pub const ALL: Self = Self { read: true, write: true, mknod: true };

    /// What these words allow; `None` if one is not `read`, `write` or `mknod`, or if there is none.
    ///
    /// ```
    /// use lighterman_calls::DeviceAccess;
    ///
    /// assert_eq!(DeviceAccess::of(&["mknod", "read"]).unwrap().as_str(), "rm");
    /// assert_eq!(DeviceAccess::of::<&str>(&[]), None);
    /// ```
    #[must_use]
    pub fn of<T: AsRef<str>>(words: &[T]) -> Option<Self> {
        let mut access = Self { read: false, write: false, mknod: false };
        for word in words {
            match word.as_ref() {
                "read" => access.read = true,
                "write" => access.write = true,
                "mknod" => access.mknod = true,
                _ => return None,
            }
        }
        (!words.is_empty()).then_some(access)
    }

    /// The letters the engine takes.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match (self.read, self.write, self.mknod) {
            (true, true, true) => "rwm",
            (true, true, false) => "rw",
            (true, false, true) => "rm",
            (true, false, false) => "r",
            (false, true, true) => "wm",
            (false, true, false) => "w",
            (false, false, true) => "m",
            (false, false, false) => "",
        }
    }
}

/// Which graphics processors, of those that the engine has a driver for; without one a start fails.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Gpus {
    /// As many as there are.
    All,
    /// So many, whichever.
    Count(u32),
    /// These.
    Ids(Vec<String>),
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
