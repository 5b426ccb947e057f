//! What reaches into the host (V73, V75, V89).

use alloc::{collections::BTreeMap, format};

use super::Rules;
use crate::{
    build::{is_kernel_ipc, plain_path},
    definition::{Capability, ContainerDefinition, IpcMode, NetworkMode, PidMode, VolumeSource},
    field::Field,
    finding::{Collector, Place, allowed, hint, quoted},
};

pub(super) fn check(rules: &Rules<'_>, findings: &mut Collector) {
    whole(rules, findings);
    let mut controls = BTreeMap::new();
    let volumes = rules.volumes();
    for (field, container) in rules.containers() {
        capabilities(field, container, findings);
        system_controls(rules, field, &mut controls, findings);
        exposure(&volumes, field, container, findings);
    }
}

/// V89, over the task.
fn whole(rules: &Rules<'_>, findings: &mut Collector) {
    let shares = [
        ("networkMode", "the network", rules.task.network_mode == NetworkMode::Host),
        ("pidMode", "the processes", rules.task.pid_mode == Some(PidMode::Host)),
        ("ipcMode", "the shared memory", rules.task.ipc_mode == Some(IpcMode::Host)),
    ];
    for (key, what, _) in shares.into_iter().filter(|(_, _, shared)| *shared) {
        findings.warning(89, &rules.root.place_of(key), format!("containers share {what} of the host"), None);
    }
}

/// V73, over one container.
fn capabilities(field: &Field, container: &ContainerDefinition, findings: &mut Collector) {
    let linux = &container.linux_parameters;
    let Some(place) = field.get("linuxParameters").map(|linux| linux.place_of("capabilities")) else { return };
    let (added, dropped) = (&linux.capabilities_added, &linux.capabilities_dropped);
    if container.privileged && !(added.is_empty() && dropped.is_empty()) {
        findings.warning(73, &place, "capabilities with privileged", hint("they have no effect"));
    }
    for capability in added.iter().filter(|capability| **capability != Capability::All && dropped.contains(capability))
    {
        findings.warning(73, &place, format!("{capability} is added and dropped"), hint("it is added"));
    }
}

type Controls<'d> = BTreeMap<&'d str, (&'d str, &'d Place)>;

/// V75 against the modes, and over the shared namespaces of a task.
fn system_controls<'d>(rules: &Rules<'d>, field: &'d Field, first: &mut Controls<'d>, findings: &mut Collector) {
    let (network, ipc) = (rules.task.network_mode, rules.task.ipc_mode);
    for control in field.list("systemControls") {
        let Some((name, place)) = control.filled_text("namespace") else { continue };
        if name.starts_with("net.") && network == NetworkMode::Host {
            let message = format!("{} with networkMode host", quoted(name));
            findings.error(75, place, message, allowed("bridge, awsvpc, none"));
        }
        if (name.starts_with("fs.mqueue.") || is_kernel_ipc(name)) && ipc == Some(IpcMode::Host) {
            let message = format!("{} with ipcMode host", quoted(name));
            findings.error(75, place, message, allowed("task, none, or absent"));
        }
        let is_shared = name.starts_with("net.") && network == NetworkMode::Awsvpc;
        if let Some((value, _)) = control.text("value").filter(|_| is_shared) {
            match first.get(name) {
                Some((other, at)) if *other != value => {
                    let at = at.path_text();
                    let message = format!("{} has another value at {at}, again", quoted(name));
                    findings.warning(75, place, message, hint("the task has one; who starts last wins"));
                }
                Some(_) => {}
                None => drop(first.insert(name, (value, place))),
            }
        }
    }
}

/// V89, for one container.
fn exposure(
    volumes: &BTreeMap<&str, &VolumeSource>,
    field: &Field,
    container: &ContainerDefinition,
    findings: &mut Collector,
) {
    let name = &container.name;
    if container.privileged {
        let message = format!("\"{name}\" is privileged: it can do anything to the host");
        findings.warning(89, &field.place_of("privileged"), message, None);
    }
    for mount in field.list("mountPoints") {
        let Some((source, place)) = mount.filled_text("sourceVolume") else { continue };
        if let Some(VolumeSource::HostPath(path)) = volumes.get(source).copied()
            && holds_the_socket(&plain_path(path))
        {
            let message = format!("\"{name}\" can control the engine through {}", quoted(path));
            findings.warning(89, place, message, None);
        }
    }
}

/// The socket of the engine, or a directory that it is in.
fn holds_the_socket(path: &str) -> bool {
    ["/var/run/docker.sock", "/run/docker.sock"].into_iter().any(|socket| {
        path == "/" || socket.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    })
}
