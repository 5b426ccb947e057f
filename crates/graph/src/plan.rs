//! What a task says about the order of its containers, before anybody has checked it.

use alloc::vec::Vec;
use core::{fmt, time::Duration};

use lighterman_ids::{ContainerName, VolumeName};
use lighterman_status::{ContainerKind, ContainerStatus, ResourceKind, ResourceStatus, SteadyState};

use crate::Condition;

/// The containers and resources of a task with all that orders them: the input of
/// [`Graph::build`](crate::Graph::build).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Plan {
    /// In task order.
    pub containers: Vec<ContainerPlan>,
    /// In the order in which they were added to the task.
    pub resources: Vec<ResourcePlan>,
}

/// One container and what it waits for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ContainerPlan {
    /// Its name in the task.
    pub name: ContainerName,
    /// Whether it is one of the task definition.
    pub kind: ContainerKind,
    /// When it counts as up.
    pub steady: SteadyState,
    /// Whether the task ends with it.
    pub essential: bool,
    /// Whether the agent has a health check for it; the image's own does not count.
    pub has_health_check: bool,
    /// How long after its start others wait for it to end or to be healthy; `None` or zero: without limit.
    pub start_timeout: Option<Duration>,
    /// Whether its image is pulled with the credentials of the execution role.
    pub pull_needs_role: bool,
    /// Its `dependsOn`, as written.
    pub depends_on: Vec<(ContainerName, Condition)>,
    /// The source containers of its `volumesFrom`, as written: condition CREATE.
    pub volumes_from: Vec<ContainerName>,
    /// The containers its `links` name, as written: condition START.
    pub links: Vec<ContainerName>,
    /// The log router its log goes through; naming itself means nothing. It becomes an edge START unless the
    /// container depends on the router already, or the router on anything.
    pub logs_to: Option<ContainerName>,
    /// Its transition dependencies.
    pub gates: Vec<Gate>,
}

/// A transition dependency: the container may not enter `toward` before something else is far enough.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Gate {
    /// Before another container has reached `reached`, or is beyond.
    Container {
        /// The status that is held back.
        toward: ContainerStatus,
        /// The other container.
        on: ContainerName,
        /// How far it has to be.
        reached: ContainerStatus,
    },
    /// Before a resource has reached `reached`, or is beyond.
    Resource {
        /// The status that is held back.
        toward: ContainerStatus,
        /// The resource.
        on: ResourceName,
        /// How far it has to be.
        reached: ResourceStatus,
    },
}

/// One resource and what it waits for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ResourcePlan {
    /// Its name in the task.
    pub name: ResourceName,
    /// Whether making it takes the credentials of the execution role (`ResourceKind::role_need`).
    pub needs_role: bool,
    /// It is made only after these containers have reached these statuses.
    pub after: Vec<(ContainerName, ContainerStatus)>,
}

/// Name of a resource within its task (engine.md 1.6). The kind is part of it: a volume that somebody calls
/// `cgroup` is not the control group.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ResourceName {
    /// The control group around all containers.
    Cgroup,
    /// A volume that the agent makes.
    Volume(VolumeName),
    /// Registry credentials from Secrets Manager.
    AsmAuth,
    /// Secret values from the Parameter Store.
    SsmSecret,
    /// Secret values from Secrets Manager.
    AsmSecret,
    /// The environment files of this container.
    EnvFile(ContainerName),
    /// The configuration of the log router.
    Firelens,
    /// Credential specs for domain accounts.
    CredentialSpec,
}

impl Plan {
    /// These containers, and no resource.
    #[must_use]
    pub const fn new(containers: Vec<ContainerPlan>) -> Self {
        Self { containers, resources: Vec::new() }
    }

    /// All containers run in the control group of the task. Call it last: those of the agent wait for it too.
    pub fn run_in_cgroup(&mut self) {
        self.resources.push(ResourcePlan::new(ResourceName::Cgroup));
        for container in &mut self.containers {
            container.need(ResourceName::Cgroup);
        }
    }

    /// All normal containers use the network of `pause` (network mode `awsvpc`).
    pub fn share_network_of(&mut self, pause: &ContainerName) {
        self.live_inside(pause, ContainerStatus::ManifestPulled, ContainerStatus::ResourcesProvisioned);
    }

    /// All normal containers use the process or IPC namespace of `pause` (`pidMode` or `ipcMode` is `task`).
    pub fn share_namespaces_of(&mut self, pause: &ContainerName) {
        self.live_inside(pause, ContainerStatus::Pulled, ContainerStatus::Running);
    }

    /// The normal containers enter `toward` once `pause` is `up`, and it stops after them.
    fn live_inside(&mut self, pause: &ContainerName, toward: ContainerStatus, up: ContainerStatus) {
        let mut leaves = Vec::new();
        for container in self.containers.iter_mut().filter(|container| !container.kind.is_internal()) {
            container.gates.push(Gate::Container { toward, on: pause.clone(), reached: up });
            let stopped = ContainerStatus::Stopped;
            leaves.push(Gate::Container { toward: stopped, on: container.name.clone(), reached: stopped });
        }
        if let Some(pause) = self.containers.iter_mut().find(|container| container.name == *pause) {
            pause.gates.append(&mut leaves);
        }
    }
}

impl ContainerPlan {
    /// An essential container of the task definition that waits for nothing.
    #[must_use]
    pub const fn new(name: ContainerName) -> Self {
        Self {
            name,
            kind: ContainerKind::Normal,
            steady: SteadyState::Running,
            essential: true,
            has_health_check: false,
            start_timeout: None,
            pull_needs_role: false,
            depends_on: Vec::new(),
            volumes_from: Vec::new(),
            links: Vec::new(),
            logs_to: None,
            gates: Vec::new(),
        }
    }

    /// The container uses the resource: it waits before the steps that need a resource of that kind
    /// (engine.md 2.1).
    pub fn need(&mut self, resource: ResourceName) {
        for toward in resource.needed_for() {
            let reached = ResourceStatus::Created;
            self.gates.push(Gate::Resource { toward: *toward, on: resource.clone(), reached });
        }
    }
}

impl ResourcePlan {
    /// A resource that waits for nothing. One that needs credentials only sometimes is taken not to.
    #[must_use]
    pub fn new(name: ResourceName) -> Self {
        use lighterman_status::RoleNeed;
        let needs_role = match name.kind().role_need() {
            RoleNeed::Always => true,
            RoleNeed::Never | RoleNeed::ForS3Config | RoleNeed::ForRemoteSpec => false,
        };
        Self { name, needs_role, after: Vec::new() }
    }
}

impl ResourceName {
    /// Its kind.
    #[must_use]
    pub const fn kind(&self) -> ResourceKind {
        match self {
            Self::Cgroup => ResourceKind::Cgroup,
            Self::Volume(_) => ResourceKind::DockerVolume,
            Self::AsmAuth => ResourceKind::AsmAuth,
            Self::SsmSecret => ResourceKind::SsmSecret,
            Self::AsmSecret => ResourceKind::AsmSecret,
            Self::EnvFile(_) => ResourceKind::EnvFile,
            Self::Firelens => ResourceKind::Firelens,
            Self::CredentialSpec => ResourceKind::CredentialSpec,
        }
    }

    /// The statuses that a container which uses it enters only after it was made.
    const fn needed_for(&self) -> &'static [ContainerStatus] {
        match self {
            Self::Cgroup | Self::Volume(_) => &[ContainerStatus::Pulled],
            Self::AsmAuth => &[ContainerStatus::ManifestPulled, ContainerStatus::Pulled],
            Self::SsmSecret | Self::AsmSecret | Self::EnvFile(_) | Self::Firelens | Self::CredentialSpec => {
                &[ContainerStatus::Created]
            }
        }
    }
}

impl fmt::Display for ResourceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Volume(volume) => write!(f, "volume {volume}"),
            Self::EnvFile(container) => write!(f, "envfile_{container}"),
            Self::Cgroup
            | Self::AsmAuth
            | Self::SsmSecret
            | Self::AsmSecret
            | Self::Firelens
            | Self::CredentialSpec => f.write_str(self.kind().as_str()),
        }
    }
}
