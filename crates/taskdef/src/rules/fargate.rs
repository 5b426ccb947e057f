//! What the service asks of a definition for its own machines (V29, V60, V73, V81). Where a definition may
//! well run here though not there, it is a warning.

use alloc::{format, string::String};

use super::Rules;
use crate::{
    definition::{
        Capability, Compatibility, ContainerDefinition, IpcMode, Mebibytes, NetworkMode, PidMode, UlimitName,
        VolumeSource,
    },
    field::Field,
    finding::{Collector, Place, allowed, hint},
};

/// Units, then lowest, highest and step of MiB; 256 units have three amounts of their own.
const PAIRS: [(u32, u32, u32, u32); 6] = [
    (512, 1_024, 4_096, 1_024),
    (1_024, 2_048, 8_192, 1_024),
    (2_048, 4_096, 16_384, 1_024),
    (4_096, 8_192, 30_720, 1_024),
    (8_192, 16_384, 61_440, 4_096),
    (16_384, 32_768, 122_880, 8_192),
];

const SMALLEST: (u32, [u32; 3]) = (256, [512, 1_024, 2_048]);

pub(super) fn check(rules: &Rules<'_>, findings: &mut Collector) {
    if !rules.is_for(Compatibility::Fargate) {
        return;
    }
    amounts(rules, findings);
    whole(rules, findings);
    for (field, container) in rules.containers() {
        one_container(field, container, findings);
    }
    volumes(rules, findings);
}

/// V29.
fn amounts(rules: &Rules<'_>, findings: &mut Collector) {
    for (key, given) in [("cpu", rules.task.cpu.is_some()), ("memory", rules.task.memory.is_some())] {
        if !given && !rules.root.is_broken(key) {
            let message = format!("{key} of the task is missing");
            findings.warning(29, &rules.root.place_of(key), message, hint("FARGATE needs it"));
        }
    }
    let (Some(cpu), Some(memory)) = (rules.task.cpu, rules.task.memory) else { return };
    match amounts_for(cpu.0, memory) {
        Some((true, _)) => {}
        Some((false, advice)) => {
            let message = format!("memory {} does not go with cpu {}", memory.0, cpu.0);
            findings.warning(29, &rules.root.place_of("memory"), message, allowed(advice));
        }
        None => {
            let message = format!("cpu {} is no amount of FARGATE", cpu.0);
            let advice = allowed("256, 512, 1024, 2048, 4096, 8192, 16384");
            findings.warning(29, &rules.root.place_of("cpu"), message, advice);
        }
    }
}

/// Whether they go together, and what would; `None`: there is no such amount of units.
fn amounts_for(cpu: u32, memory: Mebibytes) -> Option<(bool, String)> {
    if cpu == SMALLEST.0 {
        let [a, b, c] = SMALLEST.1;
        return Some((SMALLEST.1.contains(&memory.0), format!("{a}, {b}, {c}")));
    }
    let (_, lowest, highest, step) = PAIRS.into_iter().find(|(units, ..)| *units == cpu)?;
    let fits = (lowest..=highest).contains(&memory.0) && memory.0.is_multiple_of(step);
    Some((fits, format!("{lowest} to {highest} in steps of {step}")))
}

fn unavailable(findings: &mut Collector, place: &Place, what: &str) {
    findings.warning(81, place, what, hint("not available on FARGATE"));
}

/// V81, over the task.
fn whole(rules: &Rules<'_>, findings: &mut Collector) {
    let (root, task) = (rules.root, rules.task);
    if task.network_mode != NetworkMode::Awsvpc && !root.is_broken("networkMode") {
        let message = format!("networkMode {}", task.network_mode);
        findings.warning(81, &root.place_of("networkMode"), message, hint("FARGATE needs awsvpc"));
    }
    for (key, given) in [
        ("ipcMode", matches!(task.ipc_mode, Some(IpcMode::Host | IpcMode::Task | IpcMode::None))),
        ("placementConstraints", !root.list("placementConstraints").is_empty()),
    ] {
        if given {
            unavailable(findings, &root.place_of(key), key);
        }
    }
    if task.pid_mode == Some(PidMode::Host) {
        unavailable(findings, &root.place_of("pidMode"), "pidMode host");
    }
}

/// V73, V81.
fn one_container(field: &Field, container: &ContainerDefinition, findings: &mut Collector) {
    for (key, given) in [
        ("privileged", container.privileged),
        ("links", !container.links.is_empty()),
        ("hostname", container.hostname.is_some()),
        ("dockerSecurityOptions", !container.docker_security_options.is_empty()),
    ] {
        if given {
            unavailable(findings, &field.place_of(key), key);
        }
    }
    for (name, place) in field.list("ulimits").iter().filter_map(|ulimit| ulimit.text("name")) {
        if name != UlimitName::Nofile.as_str() {
            unavailable(findings, place, &format!("ulimit {name}"));
        }
    }
    let Some(linux) = field.get("linuxParameters") else { return };
    let parameters = &container.linux_parameters;
    for (key, given) in [
        ("devices", !parameters.devices.is_empty()),
        ("sharedMemorySize", parameters.shared_memory_size.is_some()),
        ("maxSwap", parameters.max_swap.is_some()),
        ("swappiness", parameters.swappiness.is_some()),
    ] {
        if given {
            unavailable(findings, &linux.place_of(key), key);
        }
    }
    for capability in parameters.capabilities_added.iter().filter(|word| **word != Capability::SysPtrace) {
        let message = format!("capability {capability} added");
        findings.error(73, &linux.place_of("capabilities"), message, allowed("on FARGATE SYS_PTRACE"));
    }
}

/// V60, V81.
fn volumes(rules: &Rules<'_>, findings: &mut Collector) {
    let volumes = rules.volumes();
    for field in rules.root.list("volumes") {
        match field.text("name").and_then(|(name, _)| volumes.get(name).copied()) {
            Some(VolumeSource::HostPath(_)) => {
                let place = field.get("host").map_or_else(|| field.place.clone(), |host| host.place_of("sourcePath"));
                unavailable(findings, &place, "sourcePath");
            }
            Some(VolumeSource::Docker(_)) => {
                let place = field.place_of("dockerVolumeConfiguration");
                let message = "dockerVolumeConfiguration on FARGATE";
                findings.error(60, &place, message, allowed("host without sourcePath, efsVolumeConfiguration"));
            }
            Some(
                VolumeSource::Empty
                | VolumeSource::Efs(_)
                | VolumeSource::S3Files(_)
                | VolumeSource::FsxWindows(_)
                | VolumeSource::ConfiguredAtLaunch,
            )
            | None => {}
        }
    }
}
