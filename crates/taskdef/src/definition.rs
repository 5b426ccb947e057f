//! The task definition as the rest of the program sees it: typed, all defaults filled in.

use alloc::{
    collections::BTreeMap,
    string::{String, ToString},
    vec::Vec,
};
use core::{fmt, net::IpAddr, time::Duration};

use lighterman_ids::{ContainerName, Family, ImageRef};

use crate::health::HealthCheck;

mod linux;
mod network;
mod secret;
mod volume;
mod words;

pub use linux::{Device, DevicePermissions, LinuxParameters, ResourceRequirement, Tmpfs, Ulimit};
pub use network::{ExtraHost, HostAddress, Link, PortMapping};
pub use secret::{EnvironmentFile, Secret, SecretReference, SecretReferenceError, SecretSource};
pub use volume::{
    DockerVolume, EfsVolume, FsxVolume, MountPoint, S3FilesVolume, Volume, VolumeScope, VolumeSource, VolumesFrom,
};
pub use words::{
    AppProtocol, Capability, Compatibility, Condition, CpuArchitecture, IpcMode, IsolationMode, LogDriver, NetworkMode,
    OperatingSystem, PidMode, Protocol, RouterKind, Toggle, UlimitName, VersionConsistency,
};

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
    /// What containers can mount, in file order; names unique.
    pub volumes: Vec<Volume>,
    /// Whose processes the containers see; `None`: each its own.
    pub pid_mode: Option<PidMode>,
    /// Whose shared memory the containers use; `None`: the engine's setting.
    pub ipc_mode: Option<IpcMode>,
    /// What the images are built for.
    pub runtime_platform: RuntimePlatform,
    /// The proxy all traffic is led through.
    pub proxy: Option<ProxyConfiguration>,
    /// Expressions that a place must fulfil.
    pub placement_constraints: Vec<String>,
    /// Accelerators that containers name.
    pub inference_accelerators: Vec<InferenceAccelerator>,
    /// Size of the disk in GiB, at least 1; `None`: the host's.
    pub ephemeral_storage_gib: Option<u32>,
    /// Whether containers may ask for faults.
    pub enable_fault_injection: bool,
    /// How far it is kept apart from others.
    pub isolation: IsolationMode,
    /// Base64; always there with [`IsolationMode::ConfidentialSandbox`].
    pub attestation_policy: Option<String>,
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
            volumes: Vec::new(),
            pid_mode: None,
            ipc_mode: None,
            runtime_platform: RuntimePlatform { cpu_architecture: None, operating_system: OperatingSystem::Linux },
            proxy: None,
            placement_constraints: Vec::new(),
            inference_accelerators: Vec::new(),
            ephemeral_storage_gib: None,
            enable_fault_injection: false,
            isolation: IsolationMode::Shared,
            attestation_policy: None,
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
    /// ARN or name of the secret that opens the registry.
    pub repository_credentials: Option<String>,
    /// Whether the tag is resolved once for all copies.
    pub version_consistency: VersionConsistency,
    /// Files of variables, the later over the earlier, `environment` over both.
    pub environment_files: Vec<EnvironmentFile>,
    /// Variables whose values are fetched; names unique, also among `environment`.
    pub secrets: Vec<Secret>,
    /// As the API writes them: `no-new-privileges`, `apparmor:PROFILE`, `label:VALUE`.
    pub docker_security_options: Vec<String>,
    /// At most one.
    pub credential_specs: Vec<String>,
    /// What it waits for; names of other containers of the task.
    pub depends_on: Vec<Dependency>,
    /// `None`: it is not restarted by itself.
    pub restart_policy: Option<RestartPolicy>,
    /// Other containers in its `/etc/hosts`; the bridge only.
    pub links: Vec<Link>,
    /// Empty: the engine's.
    pub dns_servers: Vec<IpAddr>,
    /// Empty: the engine's; `.` alone: none.
    pub dns_search_domains: Vec<String>,
    /// Lines of `/etc/hosts`, in file order.
    pub extra_hosts: Vec<ExtraHost>,
    /// Loopback only.
    pub disable_networking: bool,
    /// Kernel settings by name.
    pub system_controls: BTreeMap<String, String>,
    /// One per kind, in file order.
    pub resource_requirements: Vec<ResourceRequirement>,
    /// It takes the logs of others.
    pub log_router: Option<LogRouter>,
    /// Paths unique.
    pub mount_points: Vec<MountPoint>,
    /// Other containers whose mounts it has too.
    pub volumes_from: Vec<VolumesFrom>,
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
            repository_credentials: None,
            version_consistency: VersionConsistency::Enabled,
            environment_files: Vec::new(),
            secrets: Vec::new(),
            docker_security_options: Vec::new(),
            credential_specs: Vec::new(),
            depends_on: Vec::new(),
            restart_policy: None,
            links: Vec::new(),
            dns_servers: Vec::new(),
            dns_search_domains: Vec::new(),
            extra_hosts: Vec::new(),
            disable_networking: false,
            system_controls: BTreeMap::new(),
            resource_requirements: Vec::new(),
            log_router: None,
            mount_points: Vec::new(),
            volumes_from: Vec::new(),
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

/// One tag of a task definition.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tag {
    /// 1 to 128 characters.
    pub key: String,
    /// 0 to 256 characters.
    pub value: String,
}

/// What the images of a task are built for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RuntimePlatform {
    /// `None`: the host's.
    pub cpu_architecture: Option<CpuArchitecture>,
    /// Linux where the file has none.
    pub operating_system: OperatingSystem,
}

/// The proxy that the traffic of a task is led through; its type is always `APPMESH`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ProxyConfiguration {
    /// A container of the task.
    pub container: ContainerName,
    /// `IgnoredUID`, `AppPorts` and others, as written.
    pub properties: BTreeMap<String, String>,
}

/// An accelerator of a kind the service no longer has.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InferenceAccelerator {
    /// Name that containers use.
    pub device_name: String,
    /// Kind of device.
    pub device_type: String,
}

/// One container that another waits for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Dependency {
    /// Another container of the task.
    pub container: ContainerName,
    /// What is waited for.
    pub condition: Condition,
}

/// When a container is started again (engine.md 3.10). The engine is never asked to do it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RestartPolicy {
    /// Exit codes after which it is left alone; at most 50.
    pub ignored_exit_codes: Vec<i32>,
    /// How long it must have run: 60 to 1800 s, whole seconds.
    pub attempt_period: Duration,
}

impl RestartPolicy {
    /// What an absent period means (taskdef.md 4).
    pub const DEFAULT_PERIOD: Duration = Duration::from_secs(300);
}

/// Where the output of a container goes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LogConfiguration {
    /// The engine's driver.
    pub driver: LogDriver,
    /// As written; an option that the driver does not know fails the create call.
    pub options: BTreeMap<String, String>,
    /// Options whose values are fetched.
    pub secret_options: Vec<Secret>,
}

/// A container that takes the logs of others.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LogRouter {
    /// The program in it.
    pub kind: RouterKind,
    /// As written.
    pub options: BTreeMap<String, String>,
}
