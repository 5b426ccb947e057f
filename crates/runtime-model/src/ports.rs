//! Ports of the host: who has which.

use alloc::{collections::BTreeMap, string::String, vec::Vec};

use lighterman_calls::Protocol;
use lighterman_ids::RuntimeId;

/// First port that the engine gives out where none is asked for (seen: 32768, then upwards).
const FIRST: u16 = 32_768;
/// All addresses.
pub(crate) const ANY: &str = "0.0.0.0";

/// Who has a port.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Holder {
    Container(RuntimeId),
    /// A process of the host that the engine knows nothing of.
    Host,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Ports {
    held: BTreeMap<(Protocol, u16), Vec<(String, Holder)>>,
    next: u16,
}

impl Default for Ports {
    fn default() -> Self {
        Self { held: BTreeMap::new(), next: FIRST }
    }
}

impl Ports {
    /// Who keeps this address from being bound.
    pub(crate) fn in_the_way(&self, protocol: Protocol, port: u16, ip: &str) -> Option<&Holder> {
        let held = self.held.get(&(protocol, port))?;
        held.iter().find(|(other, _)| other == ip || other == ANY || ip == ANY).map(|(_, holder)| holder)
    }

    pub(crate) fn take(&mut self, protocol: Protocol, port: u16, ip: &str, holder: Holder) {
        self.held.entry((protocol, port)).or_default().push((ip.into(), holder));
    }

    /// The next port that nobody has.
    pub(crate) fn pick(&mut self, protocol: Protocol) -> u16 {
        loop {
            let port = self.next;
            self.next = self.next.checked_add(1).unwrap_or(FIRST);
            if !self.held.contains_key(&(protocol, port)) {
                return port;
            }
        }
    }

    pub(crate) fn release(&mut self, holder: &Holder) {
        self.held.retain(|_, held| {
            held.retain(|(_, other)| other != holder);
            !held.is_empty()
        });
    }

    pub(crate) fn release_host(&mut self, protocol: Protocol, port: u16) {
        if let Some(held) = self.held.get_mut(&(protocol, port)) {
            held.retain(|(_, holder)| *holder != Holder::Host);
            if held.is_empty() {
                self.held.remove(&(protocol, port));
            }
        }
    }
}
