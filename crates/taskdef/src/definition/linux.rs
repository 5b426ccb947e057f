//! Kernel options, limits and devices of a container (taskdef.md 2.6).

use alloc::{string::String, vec::Vec};

use super::{Capability, Mebibytes, UlimitName};

/// Kernel options of a container (taskdef.md 2.6).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct LinuxParameters {
    /// Run an init process as process 1; `None`: the engine's setting.
    pub init_process_enabled: Option<bool>,
    /// Swap besides the memory limit; 0 is no swap at all. Only with a memory limit.
    pub max_swap: Option<Mebibytes>,
    /// 0 to 100; without effect unless `max_swap` is set.
    pub swappiness: Option<u8>,
    /// Size of `/dev/shm`, at least 1 MiB; `None`: the engine's 64 MiB.
    pub shared_memory_size: Option<Mebibytes>,
    /// File systems in memory, in file order; paths unique.
    pub tmpfs: Vec<Tmpfs>,
    /// Rights that are added, in file order.
    pub capabilities_added: Vec<Capability>,
    /// Rights that are taken away, in file order.
    pub capabilities_dropped: Vec<Capability>,
    /// Devices of the host, in file order.
    pub devices: Vec<Device>,
}

/// A file system in memory.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Tmpfs {
    /// Absolute and not the root.
    pub container_path: String,
    /// At least 1 MiB.
    pub size: Mebibytes,
    /// Words the kernel takes, without `size`.
    pub mount_options: Vec<String>,
}

/// A device of the host inside a container.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Device {
    /// Absolute.
    pub host_path: String,
    /// Absolute; the path on the host where the file has none.
    pub container_path: String,
    /// What the container may do with it; all where the file has none.
    pub permissions: DevicePermissions,
}

/// Rights on a device; at least one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DevicePermissions {
    /// Read from it.
    pub read: bool,
    /// Write to it.
    pub write: bool,
    /// Make device files of it.
    pub mknod: bool,
}

impl DevicePermissions {
    /// Every right.
    pub const ALL: Self = Self { read: true, write: true, mknod: true };

    /// The words of the API with their answers, in its order.
    #[must_use]
    pub const fn words(self) -> [(&'static str, bool); 3] {
        [("read", self.read), ("write", self.write), ("mknod", self.mknod)]
    }
}

/// A resource limit of the processes of a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ulimit {
    /// What is limited.
    pub name: UlimitName,
    /// Where the process starts; -1 is unlimited; not above `hard`.
    pub soft: i64,
    /// How far it may raise the limit; -1 is unlimited.
    pub hard: i64,
}

/// A device of which a container gets a number, or a part.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ResourceRequirement {
    /// So many whole GPUs, at least one.
    Gpus(u32),
    /// Every GPU of the host.
    AllGpus,
    /// A share of a GPU that several containers use.
    SharedGpu {
        /// Memory of the device, at least 1 MiB.
        memory: Mebibytes,
        /// Part of its time: 1 to 100; `None`: without limit.
        max_compute_percent: Option<u8>,
    },
    /// A declared accelerator, by its device name.
    InferenceAccelerator(String),
    /// Every Neuron device of the host.
    AllNeuronDevices,
}
