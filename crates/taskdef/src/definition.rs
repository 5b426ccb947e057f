//! The task definition as the rest of the program sees it: typed, all defaults filled in.

use alloc::{
    collections::BTreeMap,
    string::{String, ToString},
    vec::Vec,
};
use core::{fmt, time::Duration};

use lighterman_ids::{ContainerName, Family, ImageRef};

use crate::health::HealthCheck;

/// One task definition: what is to run, not that it runs.
///
/// What `read` hands out is shape-valid: at least one container, unique names,
/// every value within its limits. Whether the containers may depend on each other as they say is
/// asked of `graph`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TaskDefinition {
    /// Goes into runtime names, labels and metadata.
    pub family: Family,
    /// Version within the family, from 1; 1 where the file has none (taskdef.md 1.2).
    pub revision: u32,
    /// ARN of a registered definition, as the file had it; for labels and metadata only.
    pub arn: Option<String>,
    /// How the containers of the task are connected.
    pub network_mode: NetworkMode,
    /// The containers in file order; never empty.
    pub containers: Vec<ContainerDefinition>,
    /// Limit for the sum of the containers.
    pub cpu: Option<CpuUnits>,
    /// Limit for the sum of the containers.
    pub memory: Option<Mebibytes>,
    /// ARN or name of the role the programs of the task act as.
    pub task_role_arn: Option<String>,
    /// ARN or name of the role that fetches images and secrets for the task.
    pub execution_role_arn: Option<String>,
    /// Where the author wants it to run; switches rules on (taskdef.md 3).
    pub requires_compatibilities: Vec<Compatibility>,
    /// For metadata; never container labels. In file order, keys unique.
    pub tags: Vec<Tag>,
}

impl TaskDefinition {
    /// Revision 1 on the bridge, everything optional absent.
    #[must_use]
    pub const fn new(family: Family, containers: Vec<ContainerDefinition>) -> Self {
        Self {
            family,
            revision: 1,
            arn: None,
            network_mode: NetworkMode::Bridge,
            containers,
            cpu: None,
            memory: None,
            task_role_arn: None,
            execution_role_arn: None,
            requires_compatibilities: Vec::new(),
            tags: Vec::new(),
        }
    }

    /// The container of that name.
    #[must_use]
    pub fn container(&self, name: &ContainerName) -> Option<&ContainerDefinition> {
        self.containers.iter().find(|container| container.name == *name)
    }
}

/// One container of a task definition (taskdef.md 2.2 to 2.7).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ContainerDefinition {
    /// Unique within the task.
    pub name: ContainerName,
    /// As written; what to pull is [`ImageRef::pull_name`].
    pub image: ImageRef,
    /// The task ends when this container does; `true` unless the file says otherwise.
    pub essential: bool,
    /// Empty: the image's. `[""]` clears the image's entry point and command (taskdef.md 1.7).
    pub entry_point: Vec<String>,
    /// Empty: the image's, unless `entry_point` is set.
    pub command: Vec<String>,
    /// By name: one value each, the last one written. Names are not empty and hold neither `=` nor NUL.
    pub environment: BTreeMap<String, EnvironmentValue>,
    /// `user[:group]`, names or numbers; `None`: the image's.
    pub user: Option<String>,
    /// Absolute; `None`: the image's.
    pub working_directory: Option<String>,
    /// 1 to 64 of `A-Z a-z 0-9 . _ -`; `None`: the container's short id.
    pub hostname: Option<String>,
    /// Keep standard input open without anybody attached.
    pub interactive: bool,
    /// Give it a terminal: its output is then one raw stream.
    pub pseudo_terminal: bool,
    /// All capabilities and devices of the host.
    pub privileged: bool,
    /// Mount the image's files read-only.
    pub readonly_root_filesystem: bool,
    /// Labels of the user. Keys are not empty and none begins with `dev.lighterman.`.
    pub docker_labels: BTreeMap<String, String>,
    /// Share of the processor; 0 where the file has none.
    pub cpu: CpuUnits,
    /// Hard limit; at least 6 MiB.
    pub memory: Option<Mebibytes>,
    /// Soft limit; at least 6 MiB, not above `memory`.
    pub memory_reservation: Option<Mebibytes>,
    /// `None`: the image's own check runs, and is not reported.
    pub health_check: Option<HealthCheck>,
    /// Between the stop signal and the kill; whole seconds above 0. `None`: the setting.
    pub stop_timeout: Option<Duration>,
    /// How long others wait for this container; whole seconds above 0. `None`: without limit.
    pub start_timeout: Option<Duration>,
    /// Kernel options.
    pub linux_parameters: LinuxParameters,
    /// One per name, in file order.
    pub ulimits: Vec<Ulimit>,
    /// `None`: the default of the mode it runs in (taskdef.md 2.7).
    pub log_configuration: Option<LogConfiguration>,
    /// In file order. Empty with [`NetworkMode::None`].
    pub port_mappings: Vec<PortMapping>,
}

impl ContainerDefinition {
    /// An essential container with everything optional absent.
    #[must_use]
    pub fn new(name: ContainerName, image: ImageRef) -> Self {
        Self {
            name,
            image,
            essential: true,
            entry_point: Vec::new(),
            command: Vec::new(),
            environment: BTreeMap::new(),
            user: None,
            working_directory: None,
            hostname: None,
            interactive: false,
            pseudo_terminal: false,
            privileged: false,
            readonly_root_filesystem: false,
            docker_labels: BTreeMap::new(),
            cpu: CpuUnits(0),
            memory: None,
            memory_reservation: None,
            health_check: None,
            stop_timeout: None,
            start_timeout: None,
            linux_parameters: LinuxParameters::default(),
            ulimits: Vec::new(),
            log_configuration: None,
            port_mappings: Vec::new(),
        }
    }
}

/// Value of an environment variable. People keep passwords in them, so `Debug` shows its length only.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct EnvironmentValue(String);

impl EnvironmentValue {
    /// A value as it reaches the program: without NUL, else untouched.
    #[must_use]
    pub fn new(value: &str) -> Self {
        Self(value.to_string())
    }

    /// The value itself: for the create call and the record, never for a log.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for EnvironmentValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<{} bytes>", self.0.len())
    }
}

/// Processor share in units of 1/1024 of a CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CpuUnits(pub u32);

/// Memory in units of 1,048,576 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mebibytes(pub u32);

impl Mebibytes {
    /// The same amount in bytes; any amount fits.
    #[must_use]
    pub const fn bytes(self) -> u64 {
        // A u32 widened: `From` is not usable in a const fn.
        self.0 as u64 * 1_048_576
    }
}

/// A closed set of words of the API: parsing, spelling and the list for messages from one table.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[$variant_doc])* $variant,)+
        }

        impl $name {
            /// Every word with its spelling in the API, in the order of the API.
            pub const ALL: &'static [(&'static str, Self)] = &[$(($word, Self::$variant),)+];

            /// The spellings alone, in the same order.
            pub const WORDS: &'static [&'static str] = &[$($word,)+];

            /// The value of that exact spelling.
            #[must_use]
            pub fn from_word(word: &str) -> Option<Self> {
                Self::ALL.iter().find(|(known, _)| *known == word).map(|(_, value)| *value)
            }

            /// The spelling of the API.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

words!(
    /// How a task is connected. `awsvpc` is known to the reader and not built yet.
    NetworkMode {
        /// The engine's bridge, with published ports.
        Bridge = "bridge",
        /// The host's own network.
        Host = "host",
        /// Loopback only.
        None = "none",
    }
);

words!(
    /// Kinds of place a definition can ask to run on.
    Compatibility {
        /// Machines of the owner in the cloud.
        Ec2 = "EC2",
        /// Machines of the service.
        Fargate = "FARGATE",
        /// Machines elsewhere.
        External = "EXTERNAL",
        /// Machines kept by the service for the owner.
        ManagedInstances = "MANAGED_INSTANCES",
    }
);

words!(
    /// Transport of a port mapping.
    Protocol {
        /// Also what an absent protocol means.
        Tcp = "tcp",
        /// Datagrams.
        Udp = "udp",
    }
);

words!(
    /// Where output can be sent. `awsfirelens` is known to the reader and not built yet.
    LogDriver {
        /// Files on the host, readable through the engine.
        JsonFile = "json-file",
        /// The system log over a socket.
        Syslog = "syslog",
        /// The journal of the host.
        Journald = "journald",
        /// Graylog.
        Gelf = "gelf",
        /// A fluentd or fluent-bit daemon.
        Fluentd = "fluentd",
        /// The log service of the cloud.
        Awslogs = "awslogs",
        /// A Splunk collector.
        Splunk = "splunk",
        /// Compact files on the host, readable through the engine; not in the API of the service.
        Local = "local",
        /// Output is dropped; not in the API of the service.
        None = "none",
    }
);

words!(
    /// What a limit is put on; `as` is not allowed by the API.
    UlimitName {
        /// Size of core files.
        Core = "core",
        /// Processor time.
        Cpu = "cpu",
        /// Data segment.
        Data = "data",
        /// File size.
        Fsize = "fsize",
        /// File locks.
        Locks = "locks",
        /// Locked memory.
        Memlock = "memlock",
        /// Message queues.
        Msgqueue = "msgqueue",
        /// Highest nice value.
        Nice = "nice",
        /// Open files.
        Nofile = "nofile",
        /// Processes of the user, over all containers.
        Nproc = "nproc",
        /// Resident set.
        Rss = "rss",
        /// Real-time priority.
        Rtprio = "rtprio",
        /// Real-time without a blocking call.
        Rttime = "rttime",
        /// Pending signals.
        Sigpending = "sigpending",
        /// Stack segment.
        Stack = "stack",
    }
);

impl LogDriver {
    /// Whether a plain local run shows the output here instead of sending it away (taskdef.md 2.7).
    #[must_use]
    pub const fn leaves_the_machine(self) -> bool {
        match self {
            Self::Awslogs | Self::Splunk => true,
            Self::JsonFile | Self::Syslog | Self::Journald | Self::Gelf | Self::Fluentd | Self::Local | Self::None => {
                false
            }
        }
    }
}

/// One tag of a task definition.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tag {
    /// 1 to 128 characters.
    pub key: String,
    /// 0 to 256 characters.
    pub value: String,
}

/// Kernel options of a container (taskdef.md 2.6).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct LinuxParameters {
    /// Run an init process as process 1; `None`: the engine's setting.
    pub init_process_enabled: Option<bool>,
}

/// A resource limit of the processes of a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ulimit {
    /// What is limited.
    pub name: UlimitName,
    /// Where the process starts; -1 is unlimited; not above `hard`.
    pub soft: i64,
    /// How far it may raise the limit; -1 is unlimited.
    pub hard: i64,
}

/// Where the output of a container goes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LogConfiguration {
    /// The engine's driver.
    pub driver: LogDriver,
    /// As written; an option that the driver does not know fails the create call.
    pub options: BTreeMap<String, String>,
}

/// One container port that is published, or announced.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PortMapping {
    /// 1 to 65535.
    pub container_port: u16,
    /// `None` on the bridge: any free port. Host mode: always `Some`, equal to `container_port`.
    pub host_port: Option<u16>,
    /// Transport.
    pub protocol: Protocol,
    /// Shown in metadata; up to 64 of `a-z 0-9 _ -`.
    pub name: Option<String>,
}
