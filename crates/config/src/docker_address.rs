//! Where Docker listens.

use crate::{Environment, Source};

/// Where the engine listens when nobody says otherwise.
pub const DEFAULT_DOCKER_ADDRESS: &str = "unix:///var/run/docker.sock";

const FLAG: &str = "--docker-host";
const VARIABLE: &str = "DOCKER_HOST";

/// The address as it was written, and who wrote it. Whether it can be spoken to is the adapter's to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DockerAddress {
    /// Such as `unix:///var/run/docker.sock`.
    pub text: String,
    /// Where it came from.
    pub source: Source,
    /// What other Docker tools would have looked at.
    pub warnings: Vec<DockerWarning>,
}

/// Something that other Docker tools honour and we do not.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DockerWarning {
    /// A context may point to another engine.
    #[error("DOCKER_CONTEXT is set to {name:?}, and contexts are not read; talking to {address}")]
    Context {
        /// Its name.
        name: String,
        /// Where we go instead.
        address: String,
    },
    /// TLS is not spoken.
    #[error("{variable} is set, and TLS to Docker is not spoken; talking to {address} in the clear")]
    Tls {
        /// The variable.
        variable: &'static str,
        /// Where we go.
        address: String,
    },
}

impl DockerAddress {
    /// `--docker-host`, else `DOCKER_HOST`, else the default.
    #[must_use]
    pub fn resolve(flag: Option<&str>, env: &Environment) -> Self {
        let (text, source) = match (flag, env.text(VARIABLE)) {
            (Some(flag), _) => (flag.to_owned(), Source::Flag(FLAG)),
            (None, Some(text)) => (text, Source::Environment(VARIABLE.into())),
            (None, None) => (DEFAULT_DOCKER_ADDRESS.into(), Source::Default),
        };
        let warnings = warnings(&text, &source, env);
        Self { text, source, warnings }
    }
}

fn warnings(address: &str, source: &Source, env: &Environment) -> Vec<DockerWarning> {
    let address = || address.to_owned();
    let mut warnings = Vec::new();
    // `DOCKER_HOST` wins over `DOCKER_CONTEXT` in Docker's own tools as well.
    if *source == Source::Default
        && let Some(name) = env.text("DOCKER_CONTEXT").filter(|name| name != "default")
    {
        warnings.push(DockerWarning::Context { name, address: address() });
    }
    let tls = ["DOCKER_TLS", "DOCKER_TLS_VERIFY"].into_iter().find(|name| env.get(name).is_some());
    if let Some(variable) = tls.filter(|_| !address().starts_with("unix://")) {
        warnings.push(DockerWarning::Tls { variable, address: address() });
    }
    warnings
}
