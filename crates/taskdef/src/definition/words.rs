//! Closed sets of words of the API.

use core::fmt;

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
    /// How a task is connected.
    NetworkMode {
        /// The engine's bridge, with published ports.
        Bridge = "bridge",
        /// The host's own network.
        Host = "host",
        /// One network namespace, and one address, for all containers of the task.
        Awsvpc = "awsvpc",
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
    /// Where output can be sent.
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
        /// The log router of the task.
        Awsfirelens = "awsfirelens",
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
            Self::JsonFile
            | Self::Syslog
            | Self::Journald
            | Self::Gelf
            | Self::Fluentd
            | Self::Awsfirelens
            | Self::Local
            | Self::None => false,
        }
    }
}

words!(
    /// What a container waits for before it takes its step (engine.md 2).
    Condition {
        /// The target is created; between ourselves, the API does not have it.
        Create = "CREATE",
        /// The target was started.
        Start = "START",
        /// The target has ended, however.
        Complete = "COMPLETE",
        /// The target has ended with exit code 0.
        Success = "SUCCESS",
        /// The health check of the target says so.
        Healthy = "HEALTHY",
    }
);

words!(
    /// Whose processes a container sees; absent: its own.
    PidMode {
        /// Those of the host.
        Host = "host",
        /// Those of the whole task.
        Task = "task",
    }
);

words!(
    /// Whose shared memory a container uses; absent: what the engine is set to.
    IpcMode {
        /// That of the host.
        Host = "host",
        /// One for the whole task.
        Task = "task",
        /// There is none.
        None = "none",
    }
);

words!(
    /// Processor that an image is built for.
    CpuArchitecture {
        /// 64 bits, `linux/amd64` to the engine.
        X8664 = "X86_64",
        /// 64 bits, `linux/arm64` to the engine.
        Arm64 = "ARM64",
    }
);

words!(
    /// Operating system that an image is built for.
    OperatingSystem {
        /// Also what an absent family means.
        Linux = "LINUX",
        /// Windows Server 2016, full.
        WindowsServer2016Full = "WINDOWS_SERVER_2016_FULL",
        /// Windows Server 2019, full.
        WindowsServer2019Full = "WINDOWS_SERVER_2019_FULL",
        /// Windows Server 2019, core.
        WindowsServer2019Core = "WINDOWS_SERVER_2019_CORE",
        /// Windows Server 2004, core.
        WindowsServer2004Core = "WINDOWS_SERVER_2004_CORE",
        /// Windows Server 20H2, core.
        WindowsServer20h2Core = "WINDOWS_SERVER_20H2_CORE",
        /// Windows Server 2022, full.
        WindowsServer2022Full = "WINDOWS_SERVER_2022_FULL",
        /// Windows Server 2022, core.
        WindowsServer2022Core = "WINDOWS_SERVER_2022_CORE",
        /// Windows Server 2025, full.
        WindowsServer2025Full = "WINDOWS_SERVER_2025_FULL",
        /// Windows Server 2025, core.
        WindowsServer2025Core = "WINDOWS_SERVER_2025_CORE",
    }
);

words!(
    /// How far a task is kept apart from others on its machine.
    IsolationMode {
        /// As usual.
        Shared = "SHARED",
        /// In a machine of its own.
        IsolatedSandbox = "ISOLATED_SANDBOX",
        /// In a machine of its own whose memory is encrypted.
        ConfidentialSandbox = "CONFIDENTIAL_SANDBOX",
    }
);

words!(
    /// What is spoken on a port, for service connect.
    AppProtocol {
        /// HTTP/1.
        Http = "http",
        /// HTTP/2.
        Http2 = "http2",
        /// gRPC.
        Grpc = "grpc",
    }
);

words!(
    /// Whether the tag of an image is resolved to a digest once for all copies of a task.
    VersionConsistency {
        /// It is.
        Enabled = "enabled",
        /// The tag is used as it is.
        Disabled = "disabled",
    }
);

words!(
    /// Program of a log router.
    RouterKind {
        /// Fluentd.
        Fluentd = "fluentd",
        /// Fluent Bit.
        Fluentbit = "fluentbit",
    }
);

words!(
    /// On or off, as volumes spell it.
    Toggle {
        /// On.
        Enabled = "ENABLED",
        /// Off.
        Disabled = "DISABLED",
    }
);

words!(
    /// A single right of the superuser, or all of them.
    Capability {
        /// Every right.
        All = "ALL",
        /// Controls auditing by the kernel.
        AuditControl = "AUDIT_CONTROL",
        /// Writes to the audit log.
        AuditWrite = "AUDIT_WRITE",
        /// Keeps the host awake.
        BlockSuspend = "BLOCK_SUSPEND",
        /// Gives files away.
        Chown = "CHOWN",
        /// Passes by permissions of files.
        DacOverride = "DAC_OVERRIDE",
        /// Passes by permissions to read files.
        DacReadSearch = "DAC_READ_SEARCH",
        /// Acts as the owner of any file.
        Fowner = "FOWNER",
        /// Keeps the set-id bits of files.
        Fsetid = "FSETID",
        /// Locks memory.
        IpcLock = "IPC_LOCK",
        /// Passes by permissions of shared memory.
        IpcOwner = "IPC_OWNER",
        /// Signals processes of others.
        Kill = "KILL",
        /// Takes leases on files.
        Lease = "LEASE",
        /// Sets the immutable flag of files.
        LinuxImmutable = "LINUX_IMMUTABLE",
        /// Configures mandatory access control.
        MacAdmin = "MAC_ADMIN",
        /// Passes by mandatory access control.
        MacOverride = "MAC_OVERRIDE",
        /// Makes device files.
        Mknod = "MKNOD",
        /// Configures the network.
        NetAdmin = "NET_ADMIN",
        /// Binds ports below 1024.
        NetBindService = "NET_BIND_SERVICE",
        /// Sends broadcasts.
        NetBroadcast = "NET_BROADCAST",
        /// Opens raw sockets.
        NetRaw = "NET_RAW",
        /// Sets capabilities of files.
        Setfcap = "SETFCAP",
        /// Changes its group.
        Setgid = "SETGID",
        /// Changes its capabilities.
        Setpcap = "SETPCAP",
        /// Changes its user.
        Setuid = "SETUID",
        /// Administers the system.
        SysAdmin = "SYS_ADMIN",
        /// Reboots.
        SysBoot = "SYS_BOOT",
        /// Changes its root directory.
        SysChroot = "SYS_CHROOT",
        /// Loads kernel modules.
        SysModule = "SYS_MODULE",
        /// Raises priorities.
        SysNice = "SYS_NICE",
        /// Switches process accounting.
        SysPacct = "SYS_PACCT",
        /// Traces processes.
        SysPtrace = "SYS_PTRACE",
        /// Talks to ports and raw devices.
        SysRawio = "SYS_RAWIO",
        /// Passes by resource limits.
        SysResource = "SYS_RESOURCE",
        /// Sets the clock.
        SysTime = "SYS_TIME",
        /// Configures terminals.
        SysTtyConfig = "SYS_TTY_CONFIG",
        /// Controls the log of the kernel.
        Syslog = "SYSLOG",
        /// Wakes the host.
        WakeAlarm = "WAKE_ALARM",
    }
);
