//! The engine's words, as 20.10.24 says them.

use alloc::{format, string::String, vec::Vec};

use lighterman_calls::{ContainerTarget, PortKey, Refusal, RefusalClass};
use lighterman_ids::{ImageId, ImageRef, RuntimeId, RuntimeName};

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

/// A container whose namespace or volumes a new one wants.
pub(crate) fn named_missing(target: &ContainerTarget) -> Refusal {
    Refusal::new(RefusalClass::NotFound, format!("No such container: {target}"))
}

pub(crate) fn link_missing(target: &ContainerTarget) -> Refusal {
    let text = format!("could not get container for {target}: No such container: {target}");
    Refusal::new(RefusalClass::NotFound, text)
}

/// The container whose network the linked one had joined is gone.
pub(crate) fn owner_of_link_missing(target: &ContainerTarget) -> Refusal {
    let text = format!("Could not get container for {target}: No such container: {target}");
    Refusal::new(RefusalClass::NotFound, text)
}

pub(crate) fn duplicate_mount(path: &str) -> Refusal {
    Refusal::new(RefusalClass::Invalid, format!("Duplicate mount point: {path}"))
}

/// A container whose network a start wants.
pub(crate) fn no_such_container(target: &ContainerTarget) -> Refusal {
    Refusal::new(RefusalClass::NotFound, format!("No such container: {target}"))
}

pub(crate) fn own_network() -> Refusal {
    Refusal::new(RefusalClass::PeerFault, "cannot join own network")
}

pub(crate) fn network_not_running(id: &RuntimeId) -> Refusal {
    Refusal::new(RefusalClass::Conflict, format!("cannot join network of a non running container: {id}"))
}

pub(crate) fn link_not_running(target: &RuntimeName, container: &RuntimeName, alias: &str) -> Refusal {
    let text = format!("Cannot link to a non running container: /{target} AS /{container}/{alias}");
    Refusal::new(RefusalClass::PeerFault, text)
}

pub(crate) fn ipc_gone(id: &RuntimeId) -> Refusal {
    ipc(id, format!("No such container: {id}"))
}

pub(crate) fn ipc_not_running(id: &RuntimeId) -> Refusal {
    ipc(id, format!("container {id} is not running"))
}

pub(crate) fn ipc_not_shareable(id: &RuntimeId) -> Refusal {
    ipc(id, "non-shareable IPC (hint: use IpcMode:shareable for the donor container)".into())
}

fn ipc(id: &RuntimeId, why: String) -> Refusal {
    Refusal::new(RefusalClass::PeerFault, format!("can't join IPC of container {id}: {why}"))
}

pub(crate) fn pid_gone(id: &RuntimeId) -> Refusal {
    let text = format!("cannot join PID of a non running container: {id}: No such container: {id}");
    Refusal::new(RefusalClass::PeerFault, text)
}

pub(crate) fn pid_not_running(id: &RuntimeId) -> Refusal {
    Refusal::new(RefusalClass::PeerFault, format!("container {id} is not running"))
}

pub(crate) fn volume_missing(volume: &RuntimeName) -> Refusal {
    Refusal::new(RefusalClass::NotFound, format!("get {volume}: no such volume"))
}

pub(crate) fn volume_in_use(volume: &RuntimeName, holders: &[RuntimeId]) -> Refusal {
    let holders: Vec<&str> = holders.iter().map(RuntimeId::as_str).collect();
    Refusal::new(RefusalClass::Conflict, format!("remove {volume}: volume is in use - [{}]", holders.join(", ")))
}

pub(crate) fn no_such_driver(volume: &RuntimeName, driver: &str) -> Refusal {
    let text = format!("create {volume}: error looking up volume plugin {driver}: plugin \"{driver}\" not found");
    Refusal::new(RefusalClass::NotFound, text)
}

pub(crate) fn bad_option(volume: &RuntimeName, option: &str) -> Refusal {
    Refusal::new(RefusalClass::Invalid, format!("create {volume}: invalid option: \"{option}\""))
}

pub(crate) fn missing_option(volume: &RuntimeName, option: &str) -> Refusal {
    Refusal::new(RefusalClass::Invalid, format!("create {volume}: missing required option: \"{option}\""))
}

/// By name, which is the last one that the image has.
pub(crate) fn image_in_use(name: &str, image: &ImageId, container: &RuntimeId) -> Refusal {
    let text = format!(
        "conflict: unable to remove repository reference \"{name}\" (must force) - container {} is using its \
         referenced image {}",
        container.short(),
        short(image)
    );
    Refusal::new(RefusalClass::Conflict, text)
}

/// By id, with more names than one.
pub(crate) fn image_has_names(image: &ImageId) -> Refusal {
    let text = format!(
        "conflict: unable to delete {} (must be forced) - image is referenced in multiple repositories",
        short(image)
    );
    Refusal::new(RefusalClass::Conflict, text)
}

/// By id.
pub(crate) fn image_of_container(image: &ImageId, container: &RuntimeId, running: bool) -> Refusal {
    let (force, state) = if running { ("cannot", "running") } else { ("must", "stopped") };
    let text = format!(
        "conflict: unable to delete {} ({force} be forced) - image is being used by {state} container {}",
        short(image),
        container.short()
    );
    Refusal::new(RefusalClass::Conflict, text)
}

fn short(image: &ImageId) -> &str {
    image.as_str().get("sha256:".len()..).and_then(|hex| hex.get(..12)).unwrap_or_default()
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
