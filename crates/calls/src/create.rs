//! The body of a create call, in the engine's own terms.
//!
//! An absent member is left out of the body: for several members the engine gives zero or an empty
//! list another meaning than absence (taskdef.md 1.7, 2.4).

use alloc::{collections::BTreeMap, string::String, vec::Vec};

use lighterman_ids::{ImageRef, RuntimeName};

use crate::{Environment, HealthcheckConfig, HostConfig, PortKey};

/// `POST /containers/create?name=…`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CreateRequest {
    /// The name under which the container can be found again whatever happens to the answer.
    pub name: RuntimeName,
    /// For which kind of machine the image must be made; `None` takes whatever is there.
    pub platform: Option<Platform>,
    /// `Config`.
    pub config: ContainerConfig,
    /// `HostConfig`.
    pub host: HostConfig,
}

/// A kind of machine that images are made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Platform {
    /// `linux/amd64`.
    Amd64,
    /// `linux/arm64`.
    Arm64,
}

impl Platform {
    /// The words the engine uses.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Amd64 => "linux/amd64",
            Self::Arm64 => "linux/arm64",
        }
    }
}

/// `Config`: what runs inside.
///
/// Never sent: `StopTimeout`, since the grace goes with each stop call (taskdef.md 2.2).
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
    /// `NetworkDisabled`: nothing but `lo`.
    pub network_disabled: bool,
    /// `Healthcheck`; every member is sent, since the engine fills zero ones from the image.
    pub healthcheck: Option<HealthcheckConfig>,
}

impl ContainerConfig {
    /// What the image says, and nothing else.
    #[must_use]
    pub const fn new(image: ImageRef) -> Self {
        Self {
            image,
            entrypoint: None,
            cmd: None,
            env: Environment::new(),
            labels: BTreeMap::new(),
            user: None,
            working_dir: None,
            hostname: None,
            tty: false,
            open_stdin: false,
            exposed_ports: Vec::new(),
            network_disabled: false,
            healthcheck: None,
        }
    }
}
