//! Exposed and published ports (engine.md 4.5, taskdef.md 2.3).

use alloc::{collections::BTreeSet, vec::Vec};

use lighterman_calls::{PortBinding, PortKey, Protocol};
use lighterman_taskdef::{NetworkMode, PortMapping};

/// Each port once; a binding without its exposed port would publish nothing, without an error.
pub(crate) fn exposed(mappings: &[PortMapping]) -> Vec<PortKey> {
    mappings.iter().map(key).collect::<BTreeSet<_>>().into_iter().collect()
}

/// One binding per mapping, on the bridge only: elsewhere the engine discards them.
pub(crate) fn bindings(mode: NetworkMode, mappings: &[PortMapping]) -> Vec<(PortKey, PortBinding)> {
    match mode {
        NetworkMode::Bridge => mappings.iter().map(|mapping| (key(mapping), binding(mapping))).collect(),
        NetworkMode::Host | NetworkMode::Awsvpc | NetworkMode::None => Vec::new(),
    }
}

fn key(mapping: &PortMapping) -> PortKey {
    let protocol = match mapping.protocol {
        lighterman_taskdef::Protocol::Tcp => Protocol::Tcp,
        lighterman_taskdef::Protocol::Udp => Protocol::Udp,
    };
    PortKey { port: mapping.container_port, protocol }
}

const fn binding(mapping: &PortMapping) -> PortBinding {
    PortBinding { host_ip: None, host_port: mapping.host_port }
}
