//! Kernel options, devices, resources (taskdef.md 2.6).

use alloc::{
    collections::BTreeMap,
    format,
    string::{String, ToString},
    vec::Vec,
};

use super::Build;
use crate::{
    definition::{Capability, Device, DevicePermissions, LinuxParameters, Mebibytes, ResourceRequirement, Tmpfs},
    field::Field,
    finding::{Place, allowed, hint, quoted},
    wording::{listed_with_nearest, nearest},
};

/// Words the kernel takes for a file system in memory.
const MOUNT_OPTIONS: &[&str] = &[
    "defaults",
    "ro",
    "rw",
    "suid",
    "nosuid",
    "dev",
    "nodev",
    "exec",
    "noexec",
    "sync",
    "async",
    "dirsync",
    "mand",
    "nomand",
    "atime",
    "noatime",
    "diratime",
    "nodiratime",
    "unbindable",
    "runbindable",
    "private",
    "rprivate",
    "shared",
    "rshared",
    "slave",
    "rslave",
    "relatime",
    "norelatime",
    "strictatime",
    "nostrictatime",
];

/// Those that need a value, and what it is.
const VALUE_OPTIONS: &[(&str, &str)] = &[
    ("mode", "octal"),
    ("uid", "number"),
    ("gid", "number"),
    ("nr_inodes", "number"),
    ("nr_blocks", "number"),
    ("mpol", "policy"),
];

/// In the list of the API, and always refused at start (taskdef.md 2.6).
const FAILING_OPTIONS: [&str; 3] = ["bind", "rbind", "remount"];

impl Build<'_> {
    pub(super) fn linux_parameters(&mut self, container: &Field) -> LinuxParameters {
        let Some(linux) = container.get("linuxParameters") else { return LinuxParameters::default() };
        let capabilities = linux.get("capabilities");
        let mut list = |key| capabilities.map(|field| self.capabilities(field, key)).unwrap_or_default();
        let (capabilities_added, capabilities_dropped) = (list("add"), list("drop"));
        LinuxParameters {
            init_process_enabled: linux.boolean("initProcessEnabled"),
            max_swap: self.number_of(linux, "maxSwap", 0..=u32::MAX, 37).map(Mebibytes),
            swappiness: self.number_of(linux, "swappiness", 0..=100, 36).and_then(|number| u8::try_from(number).ok()),
            shared_memory_size: self.shared_memory_size(linux),
            tmpfs: linux.list("tmpfs").iter().filter_map(|tmpfs| self.tmpfs(tmpfs)).collect(),
            capabilities_added,
            capabilities_dropped,
            devices: linux.list("devices").iter().filter_map(|device| self.device(device)).collect(),
        }
    }

    /// V38; 0 is absent.
    fn shared_memory_size(&mut self, linux: &Field) -> Option<Mebibytes> {
        let size = self.number_of(linux, "sharedMemorySize", 0..=u32::MAX, 38)?;
        (size > 0).then_some(Mebibytes(size))
    }

    /// V38, V39.
    fn tmpfs(&mut self, tmpfs: &Field) -> Option<Tmpfs> {
        const SIZE: &str = "1 MiB or more";
        let container_path = self.path_in_container(tmpfs, 39);
        let size = match tmpfs.integer("size") {
            Some((size, place)) => {
                let size = u32::try_from(size).ok().filter(|size| *size > 0);
                if size.is_none() {
                    let message = format!("size {}", tmpfs.integer("size").map_or(0, |(size, _)| size));
                    self.findings.error(38, place, message, allowed(SIZE));
                }
                size
            }
            None => {
                super::missing(self.findings, 38, tmpfs, "size", SIZE);
                None
            }
        };
        let mut mount_options = Vec::new();
        for (option, place) in tmpfs.placed_texts("mountOptions") {
            if self.mount_option(option, place) {
                mount_options.push(option.to_string());
            }
        }
        Some(Tmpfs { container_path: container_path?, size: Mebibytes(size?), mount_options })
    }

    /// Whether it is kept.
    fn mount_option(&mut self, option: &str, place: &Place) -> bool {
        let (word, value) = option.split_once('=').map_or((option, None), |(word, value)| (word, Some(value)));
        let named = format!("tmpfs option {}", quoted(option));
        if word == "size" {
            let advice = hint("the size beside it counts");
            self.findings.warning(39, place, format!("{named} is left out"), advice);
            return false;
        }
        let form = VALUE_OPTIONS.iter().find(|(known, _)| *known == word);
        let refusal = match (form, value) {
            (Some(_), Some(value)) if !value.is_empty() => None,
            (Some((_, form)), _) => Some((format!("{named} needs a value"), format!("{word}=<{form}>"))),
            (None, None) if MOUNT_OPTIONS.contains(&word) => None,
            (None, _) if FAILING_OPTIONS.contains(&word) => {
                Some((format!("{named} always fails at start"), "leave it out".to_string()))
            }
            (None, _) => Some((named, listed_with_nearest(word, MOUNT_OPTIONS))),
        };
        let is_kept = refusal.is_none();
        if let Some((message, advice)) = refusal {
            self.findings.error(39, place, message, allowed(advice));
        }
        is_kept
    }

    /// V73, for single names.
    fn capabilities(&mut self, capabilities: &Field, key: &str) -> Vec<Capability> {
        let mut all = Vec::new();
        for (text, place) in capabilities.placed_texts(key) {
            let upper = text.to_ascii_uppercase();
            let word = upper.strip_prefix("CAP_").unwrap_or(&upper);
            let Some(capability) = Capability::from_word(word) else {
                let advice = nearest(word, Capability::WORDS.iter().copied());
                let advice = match advice {
                    Some(near) => hint(format!("did you mean {near}")),
                    None => allowed("ALL, or a capability such as NET_ADMIN"),
                };
                self.findings.error(73, place, format!("unknown capability {}", quoted(text)), advice);
                continue;
            };
            if capability.as_str() != text {
                let message = format!("{} read as \"{capability}\"", quoted(text));
                self.findings.warning(4, place, message, hint(format!("write \"{capability}\"")));
            }
            if !all.contains(&capability) {
                all.push(capability);
            }
        }
        all
    }

    /// V74.
    fn device(&mut self, device: &Field) -> Option<Device> {
        self.required(device, "hostPath", 74, "/…");
        let host_path = self.absolute(device, "hostPath", 74);
        let container_path = match device.filled_text("containerPath") {
            Some(_) => self.absolute(device, "containerPath", 74),
            None => host_path.clone(),
        };
        let permissions = self.device_permissions(device);
        Some(Device { host_path: host_path?, container_path: container_path?, permissions })
    }

    fn device_permissions(&mut self, device: &Field) -> DevicePermissions {
        let mut permissions = DevicePermissions { read: false, write: false, mknod: false };
        for (word, place) in device.placed_texts("permissions") {
            match word {
                "read" => permissions.read = true,
                "write" => permissions.write = true,
                "mknod" => permissions.mknod = true,
                _ => {
                    let message = format!("device permission {}", quoted(word));
                    self.findings.error(74, place, message, allowed("read, write, mknod"));
                }
            }
        }
        // An empty list of rights fails at start.
        if device.texts("permissions").is_empty() { DevicePermissions::ALL } else { permissions }
    }

    /// V75, for single names.
    pub(super) fn system_controls(&mut self, container: &Field) -> BTreeMap<String, String> {
        let mut all = BTreeMap::new();
        for control in container.list("systemControls") {
            let name = self.required(control, "namespace", 75, "a name such as net.core.somaxconn");
            if control.text("value").is_none() {
                super::missing(self.findings, 75, control, "value", "text");
            }
            let Some((name, place)) = name else { continue };
            if !is_namespaced(name) {
                let advice = allowed(
                    "net.*, fs.mqueue.*, kernel. msgmax msgmnb msgmni sem shmall shmmax shmmni shm_rmid_forced",
                );
                self.findings.error(75, place, format!("system control {}", quoted(name)), advice);
                continue;
            }
            let value = control.text("value").map_or("", |(value, _)| value);
            if all.insert(name.to_string(), value.to_string()).is_some() {
                self.findings.error(75, place, format!("{name} is given twice"), allowed("one per name"));
            }
        }
        all
    }

    /// V80, for single values.
    pub(super) fn resource_requirements(&mut self, container: &Field) -> Vec<ResourceRequirement> {
        container.list("resourceRequirements").iter().filter_map(|resource| self.resource(resource)).collect()
    }

    fn resource(&mut self, resource: &Field) -> Option<ResourceRequirement> {
        let (kind, _) = self.required(resource, "type", 80, "GPU, InferenceAccelerator, NeuronDevice")?;
        let value = resource.filled_text("value");
        if let Some(sharing) = resource.get("sharingStrategy") {
            if value.is_some() || kind != "GPU" {
                let message = format!("sharingStrategy with {}", if value.is_some() { "value" } else { kind });
                self.findings.error(80, &sharing.place, message, allowed("GPU, and one of them"));
            }
            return self.shared_gpu(sharing);
        }
        let Some((value, place)) = value else {
            super::missing(self.findings, 80, resource, "value", "a number, ALL, or a device name");
            return None;
        };
        let is_all = value.trim().eq_ignore_ascii_case("all");
        match (kind, value.trim().parse::<u32>()) {
            ("GPU", _) if is_all => Some(ResourceRequirement::AllGpus),
            ("GPU", Ok(count)) if count > 0 => Some(ResourceRequirement::Gpus(count)),
            ("NeuronDevice", _) if is_all => Some(ResourceRequirement::AllNeuronDevices),
            ("InferenceAccelerator", _) => Some(ResourceRequirement::InferenceAccelerator(value.to_string())),
            (kind, Ok(_) | Err(_)) => {
                let advice = if kind == "GPU" { "1 or more, or ALL" } else { "ALL" };
                self.findings.error(80, place, format!("{kind} value {}", quoted(value)), allowed(advice));
                None
            }
        }
    }

    fn shared_gpu(&mut self, sharing: &Field) -> Option<ResourceRequirement> {
        let Some(mps) = sharing.get("nvidiaMps") else {
            super::missing(self.findings, 80, sharing, "nvidiaMps", "an object with memory");
            return None;
        };
        if mps.get("memory").is_none() {
            super::missing(self.findings, 80, mps, "memory", "1 MiB or more");
        }
        let memory = self.number_of(mps, "memory", 1..=u32::MAX, 80);
        let percent =
            self.number_of(mps, "maxComputePercent", 1..=100, 80).and_then(|percent| u8::try_from(percent).ok());
        Some(ResourceRequirement::SharedGpu { memory: Mebibytes(memory?), max_compute_percent: percent })
    }
}

/// Kernel settings that a container can have for itself.
fn is_namespaced(name: &str) -> bool {
    let rest = |prefix| name.strip_prefix(prefix).is_some_and(|rest: &str| !rest.is_empty());
    let legal = name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-' | b'/'));
    legal && (rest("net.") || rest("fs.mqueue.") || is_kernel_ipc(name))
}

/// Those of `kernel.*`, which belong to the shared memory.
pub(crate) fn is_kernel_ipc(name: &str) -> bool {
    const NAMES: [&str; 8] = ["msgmax", "msgmnb", "msgmni", "sem", "shmall", "shmmax", "shmmni", "shm_rmid_forced"];
    name.strip_prefix("kernel.").is_some_and(|name| NAMES.contains(&name))
}
