//! The mapping itself: every field of the create call from the definition and the facts.

use alloc::{
    string::{String, ToString},
    vec::Vec,
};

use lighterman_calls::{self as calls, ContainerConfig, CreateRequest, HostConfig, ImageFacts, Ulimit};
use lighterman_ids::{DefinitionDigest, InstanceId, RuntimeName, TaskArn, TaskId};
use lighterman_taskdef::{ContainerDefinition, CpuUnits, LogDriver, Mebibytes, NetworkMode, TaskDefinition};

use crate::{
    environment, health, labels, logs, ports,
    recover::{self, Kept},
};

/// What a create request needs to know besides the definition.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings<'a> {
    /// The state directory that owns the container.
    pub instance: &'a InstanceId,
    /// The task.
    pub task_id: &'a TaskId,
    /// The task's ARN, for readers.
    pub task_arn: &'a TaskArn,
    /// Name of the cluster, for readers; `local` without one.
    pub cluster: &'a str,
    /// [`definition_digest`](crate::definition_digest) of what the user wrote.
    pub digest: &'a DefinitionDigest,
    /// The image it will be made from: its own health check and environment count.
    pub image: &'a ImageFacts,
    /// The region, where one is known.
    pub region: Option<&'a str>,
}

/// A create request, and what of the definition it does not carry out as written.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Spec {
    /// Ready to be sent.
    pub request: CreateRequest,
    /// For people; empty most of the time.
    pub warnings: Vec<SpecWarning>,
}

/// Something a person should know about a request that is sent all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum SpecWarning {
    /// The image's own test names nothing to run.
    #[error("the health check of the image would crash the engine and is switched off")]
    ImageHealthCheckSwitchedOff,
    /// The driver sends output away, which a local run does not.
    #[error("output for {driver} is kept here in files of 3 times 10 MB instead")]
    LogsShownHere {
        /// The driver that was asked for.
        driver: LogDriver,
    },
    /// The definition is too large for the label that survives the loss of our records.
    #[error("the definition is too large for its recovery label, which keeps {0}")]
    RecoverShortened(Kept),
}

/// Why no request can be made: a guard held that should never have been reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum SpecError {
    /// The engine must not be given this test: it may end all of it (V55).
    #[error("the health check names nothing to run")]
    HealthTest,
}

/// The create request of one container.
///
/// # Errors
/// The last guard on the health check held; nothing may be sent.
pub fn create_request(
    task: &TaskDefinition,
    container: &ContainerDefinition,
    name: &RuntimeName,
    around: &Surroundings<'_>,
) -> Result<Spec, SpecError> {
    let (healthcheck, health_warning) = health::healthcheck(container, around.image)?;
    let (log, log_warning) = logs::log_config(container.log_configuration.as_ref());
    let recover = recover::label(task, &container.name);
    let recover_warning = match recover.kept {
        Kept::Definition => None,
        Kept::Outline | Kept::OwnOutline => Some(SpecWarning::RecoverShortened(recover.kept)),
    };
    let config = ContainerConfig {
        entrypoint: present(&container.entry_point),
        cmd: present(&container.command),
        env: environment::environment(container, around).into(),
        labels: labels::labels(task, container, around, recover.text),
        user: container.user.clone(),
        working_dir: container.working_directory.clone(),
        hostname: container.hostname.clone(),
        tty: container.pseudo_terminal,
        open_stdin: container.interactive,
        exposed_ports: ports::exposed(&container.port_mappings),
        healthcheck,
        ..ContainerConfig::new(container.image.clone())
    };
    let host = HostConfig { log: Some(log), ..host_config(task.network_mode, container) };
    let warnings = [health_warning, log_warning, recover_warning].into_iter().flatten().collect();
    Ok(Spec { request: CreateRequest { name: name.clone(), platform: None, config, host }, warnings })
}

fn host_config(mode: NetworkMode, container: &ContainerDefinition) -> HostConfig {
    HostConfig {
        memory: container.memory.map(memory_bytes),
        memory_reservation: container.memory_reservation.map(memory_bytes),
        cpu_shares: cpu_shares(container.cpu),
        network_mode: match mode {
            // The engine's default, so that links keep working (taskdef.md 2).
            NetworkMode::Bridge => None,
            NetworkMode::Host => Some(calls::NetworkMode::Host),
            // A task without its pause container, as which no definition is accepted yet, gets no network at all.
            NetworkMode::None | NetworkMode::Awsvpc => Some(calls::NetworkMode::None),
        },
        port_bindings: ports::bindings(mode, &container.port_mappings),
        privileged: container.privileged,
        readonly_rootfs: container.readonly_root_filesystem,
        init: container.linux_parameters.init_process_enabled,
        ulimits: container.ulimits.iter().map(ulimit).collect(),
        ..HostConfig::default()
    }
}

/// An empty list is left out: sent, it would clear what the image has (taskdef.md 1.7).
fn present(words: &[String]) -> Option<Vec<String>> {
    (!words.is_empty()).then(|| words.to_vec())
}

/// 0 means 1,024 to the engine; 1 and more than 262,144 fail at start (engine.md 4.4.2).
fn cpu_shares(units: CpuUnits) -> u32 {
    units.0.clamp(2, 262_144)
}

/// The engine refuses less than 6 MiB (engine.md 4.4.2).
fn memory_bytes(amount: Mebibytes) -> u64 {
    amount.max(Mebibytes(6)).bytes()
}

fn ulimit(limit: &lighterman_taskdef::Ulimit) -> Ulimit {
    Ulimit { name: limit.name.as_str().to_string(), soft: limit.soft, hard: limit.hard }
}
