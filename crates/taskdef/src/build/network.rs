//! Ports, links, hosts, name servers (taskdef.md 2.3).

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};
use core::net::IpAddr;

use lighterman_ids::ContainerName;

use super::{Build, missing};
use crate::{
    definition::{AppProtocol, ExtraHost, HostAddress, Link, NetworkMode, PortMapping, Protocol},
    field::Field,
    finding::{Place, allowed, hint, quoted},
};

const PORTS: &str = "1 to 65535";

impl Build<'_> {
    pub(super) fn port_mappings(&mut self, container: &Field, mode: NetworkMode) -> Vec<PortMapping> {
        container.list("portMappings").iter().filter_map(|mapping| self.port_mapping(mapping, mode)).collect()
    }

    /// V15, V16, V17, V27.
    fn port_mapping(&mut self, mapping: &Field, mode: NetworkMode) -> Option<PortMapping> {
        let is_range = mapping.get("containerPortRange").is_some();
        let has_host_port = mapping.integer("hostPort").is_some_and(|(port, _)| port != 0);
        if is_range && mapping.get("containerPort").is_some() {
            let message = "both containerPort and containerPortRange";
            self.findings.error(16, &mapping.place, message, allowed("one of them"));
        } else if is_range && has_host_port {
            let place = mapping.place_of("hostPort");
            self.findings.error(16, &place, "hostPort with containerPortRange", allowed("absent"));
        } else if !is_range && mapping.integer("containerPort").is_none() {
            missing(self.findings, 16, mapping, "containerPort", PORTS);
        }
        let host_port = self.port(mapping, "hostPort", 0).filter(|port| *port > 0);
        let name = mapping.filled_text("name").map(|(name, _)| name.to_string());
        if let Some(name) = &name {
            self.port_name(mapping, name);
        }
        let protocol = mapping.text("protocol").and_then(|(word, _)| Protocol::from_word(word));
        let single = self.port(mapping, "containerPort", 1);
        let (container_port, last_port) = match self.port_range(mapping) {
            Some((first, last)) => (first, Some(last)),
            None => (single?, None),
        };
        let host_port = match mode {
            NetworkMode::Bridge | NetworkMode::None => host_port,
            NetworkMode::Host | NetworkMode::Awsvpc if last_port.is_some() => None,
            NetworkMode::Host | NetworkMode::Awsvpc => host_port.or(Some(container_port)),
        };
        Some(PortMapping {
            container_port,
            last_port,
            host_port,
            protocol: protocol.unwrap_or(Protocol::Tcp),
            name,
            app_protocol: mapping.text("appProtocol").and_then(|(word, _)| AppProtocol::from_word(word)),
        })
    }

    fn port(&mut self, mapping: &Field, key: &str, lowest: u32) -> Option<u16> {
        self.number_of(mapping, key, lowest..=65_535, 15).and_then(|port| u16::try_from(port).ok())
    }

    /// V17, for one range.
    fn port_range(&mut self, mapping: &Field) -> Option<(u16, u16)> {
        const ALLOWED: &str = "first-last, first below last, 1 to 65535";
        let (text, place) = mapping.text("containerPortRange")?;
        if let Some((first, last)) = range_of(text) {
            if text.contains(char::is_whitespace) {
                let message = format!("containerPortRange {} read without its blanks", quoted(text));
                self.findings.warning(4, place, message, hint(format!("write \"{first}-{last}\"")));
            }
            return Some((first, last));
        }
        let ports = text.split_once('-').and_then(|(first, last)| Some((port_of(first)?, port_of(last)?)));
        let what = match ports {
            Some((first, last)) if first == last => " is one port",
            Some(_) => " runs backwards",
            None => "",
        };
        self.findings.error(17, place, format!("containerPortRange {}{what}", quoted(text)), allowed(ALLOWED));
        None
    }

    fn port_name(&mut self, mapping: &Field, name: &str) {
        let legal = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'_' | b'-');
        if name.len() > 64 || name.starts_with('-') || !name.bytes().all(legal) {
            let message = format!("port name {}", quoted(name));
            let advice = allowed("a-z 0-9 _ -, up to 64, not starting with -");
            self.findings.error(27, &mapping.place_of("name"), message, advice);
        }
    }

    /// V24, for one container.
    pub(super) fn links(&mut self, container: &Field) -> Vec<Link> {
        container.placed_texts("links").filter_map(|link| self.link(link)).collect()
    }

    fn link(&mut self, (text, place): (&str, &Place)) -> Option<Link> {
        let (target, alias) = text.split_once(':').unwrap_or((text, text));
        match (ContainerName::parse(target), ContainerName::parse(alias)) {
            (Ok(container), Ok(alias)) => Some(Link { container, alias }),
            (Ok(_) | Err(_), Ok(_) | Err(_)) => {
                let advice = allowed("name or name:alias, of A-Z a-z 0-9 _ -");
                self.findings.error(24, place, format!("link {}", quoted(text)), advice);
                None
            }
        }
    }

    /// V76; the engine would take anything.
    pub(super) fn dns_servers(&mut self, container: &Field) -> Vec<IpAddr> {
        let mut servers = Vec::new();
        for (text, place) in container.placed_texts("dnsServers") {
            match text.parse() {
                Ok(address) => servers.push(address),
                Err(_) => {
                    self.findings.error(76, place, format!("dnsServers {}", quoted(text)), allowed("an IP address"));
                }
            }
        }
        servers
    }

    /// V76.
    pub(super) fn dns_search_domains(&mut self, container: &Field) -> Vec<String> {
        let mut domains = Vec::new();
        for (text, place) in container.placed_texts("dnsSearchDomains") {
            if is_host_name(text) {
                domains.push(text.to_string());
            } else {
                let advice = allowed("a domain name, or . alone for none");
                self.findings.error(76, place, format!("dnsSearchDomains {}", quoted(text)), advice);
            }
        }
        domains
    }

    /// V76.
    pub(super) fn extra_host(&mut self, host: &Field) -> Option<ExtraHost> {
        const ADDRESS: &str = "an IP address";
        let name = self.required(host, "hostname", 76, "a host name").and_then(|(name, place)| {
            let fits = is_host_name(name);
            if !fits {
                let advice = allowed("a host name without blanks and colons");
                self.findings.error(76, place, format!("extraHosts hostname {}", quoted(name)), advice);
            }
            fits.then(|| name.to_string())
        });
        let (text, place) = self.required(host, "ipAddress", 76, ADDRESS)?;
        let address = if text == HostAddress::HOST_GATEWAY {
            let message = format!("extraHosts address \"{text}\" is not in the API");
            self.findings.warning(4, place, message, hint("the engine puts the address of the host"));
            HostAddress::HostGateway
        } else if let Ok(address) = text.parse() {
            HostAddress::Ip(address)
        } else {
            self.findings.error(76, place, format!("extraHosts address {}", quoted(text)), allowed(ADDRESS));
            return None;
        };
        Some(ExtraHost { hostname: name?, address })
    }
}

fn port_of(text: &str) -> Option<u16> {
    text.trim().parse().ok().filter(|port| *port > 0)
}

/// The two ends of a range of ports that is in order.
pub(crate) fn range_of(text: &str) -> Option<(u16, u16)> {
    let (first, last) = text.split_once('-')?;
    let (first, last) = (port_of(first)?, port_of(last)?);
    (first < last).then_some((first, last))
}

/// Without what would end it in `/etc/hosts`, in `/etc/resolv.conf` or before the engine's colon.
fn is_host_name(text: &str) -> bool {
    !text.is_empty() && text.len() <= 255 && !text.chars().any(|c| c.is_whitespace() || c.is_control() || c == ':')
}
