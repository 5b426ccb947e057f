//! The engine's words, as 20.10.24 says them.

use alloc::{format, string::String};

use lighterman_calls::{ContainerTarget, PortKey, Refusal, RefusalClass};
use lighterman_ids::{ImageRef, RuntimeId, RuntimeName};

pub(crate) fn no_such_image(image: &ImageRef) -> Refusal {
    Refusal::new(RefusalClass::NotFound, format!("No such image: {}", image.pull_name()))
}

pub(crate) fn name_in_use(name: &RuntimeName, holder: &RuntimeId) -> Refusal {
    let text = format!(
        "Conflict. The container name \"/{name}\" is already in use by container \"{holder}\". You have to remove \
         (or rename) that container to be able to reuse that name."
    );
    Refusal::new(RefusalClass::NameInUse, text)
}

pub(crate) fn not_running(target: &ContainerTarget, id: &RuntimeId) -> Refusal {
    let text = format!("Cannot kill container: {target}: Container {id} is not running");
    Refusal::new(RefusalClass::Conflict, text)
}

pub(crate) fn running(id: &RuntimeId) -> Refusal {
    let text = format!(
        "You cannot remove a running container {id}. Stop the container before attempting removal or force remove"
    );
    Refusal::new(RefusalClass::Conflict, text)
}

pub(crate) fn removal_in_progress(target: &ContainerTarget) -> Refusal {
    Refusal::new(RefusalClass::Conflict, format!("removal of container {target} is already in progress"))
}

pub(crate) fn marked_for_removal() -> Refusal {
    Refusal::new(RefusalClass::Conflict, "container is marked for removal and cannot be started")
}

pub(crate) fn cannot_remove(id: &RuntimeId) -> Refusal {
    let text = format!(
        "container {id}: driver \"fuse-overlayfs\" failed to remove root filesystem: unlinkat: device or resource busy"
    );
    Refusal::new(RefusalClass::PeerFault, text)
}

pub(crate) fn port_allocated(name: &RuntimeName, id: &RuntimeId, ip: &str, port: u16) -> Refusal {
    let text = format!(
        "driver failed programming external connectivity on endpoint {name} ({id}): Bind for {ip}:{port} failed: \
         port is already allocated"
    );
    Refusal::new(RefusalClass::PeerFault, text)
}

pub(crate) fn port_taken(name: &RuntimeName, id: &RuntimeId, key: PortKey, ip: &str, port: u16) -> Refusal {
    let text = format!(
        "driver failed programming external connectivity on endpoint {name} ({id}): Error starting userland proxy: \
         listen {}4 {ip}:{port}: bind: address already in use",
        key.protocol.as_str()
    );
    Refusal::new(RefusalClass::PeerFault, text)
}

pub(crate) fn no_such_network(network: &str) -> Refusal {
    Refusal::new(RefusalClass::NotFound, format!("network {network} not found"))
}

pub(crate) fn no_such_user(user: &str) -> Refusal {
    Refusal::new(RefusalClass::PeerFault, format!("unable to find user {user}: no matching entries in passwd file"))
}

pub(crate) fn cpu_shares(shares: u32) -> Refusal {
    let bound = if shares < 2 { "minimum allowed cpu-shares is 2" } else { "maximum allowed cpu-shares is 262144" };
    let text = format!("{}error setting cgroup config for procHooks process: the {bound}: unknown", RUNC_INIT);
    Refusal::new(RefusalClass::PeerFault, text)
}

const RUNC: &str =
    "failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: ";
const RUNC_INIT: &str = "failed to create shim task: OCI runtime create failed: runc create failed: unable to start \
                         container process: error during container init: ";

/// The start of a program that the image does not hold.
pub(crate) fn missing_program(program: &str) -> Refusal {
    Refusal::new(RefusalClass::Invalid, format!("{RUNC}{}: unknown", exec_error(program)))
}

/// What a probe says whose program is missing.
pub(crate) fn missing_probe(program: &str) -> String {
    format!("OCI runtime exec failed: exec failed: unable to start container process: {}: unknown", exec_error(program))
}

fn exec_error(program: &str) -> String {
    /// What the engine puts into every container, whatever its image.
    const DIRECTORIES: [&str; 5] = ["/", "/dev", "/etc", "/proc", "/sys"];
    if DIRECTORIES.contains(&program) {
        return format!("exec: \"{program}\": permission denied");
    }
    if program.contains('/') {
        format!("exec: \"{program}\": stat {program}: no such file or directory")
    } else {
        format!("exec: \"{program}\": executable file not found in $PATH")
    }
}
