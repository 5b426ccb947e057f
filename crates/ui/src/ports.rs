//! Published ports as people use them.

use lighterman_calls::{Protocol, PublishedPort};

use crate::event::Port;

/// TCP ports inside a container behind which no browser finds anything.
const NOT_FOR_BROWSERS: [u16; 14] = [21, 22, 25, 53, 389, 1433, 1521, 3306, 5432, 5672, 6379, 9042, 11211, 27017];

const TLS: [u16; 2] = [443, 8443];

pub(crate) fn port(port: &PublishedPort) -> Port {
    let inside = port.container.port;
    let scheme = match port.container.protocol {
        Protocol::Udp => None,
        Protocol::Tcp if NOT_FOR_BROWSERS.contains(&inside) => None,
        Protocol::Tcp if TLS.contains(&inside) => Some("https"),
        Protocol::Tcp => Some("http"),
    };
    Port {
        container_port: inside,
        protocol: port.container.protocol.as_str(),
        host_ip: port.host_ip.clone(),
        host_port: port.host_port,
        url: scheme.map(|scheme| format!("{scheme}://{}", address(&port.host_ip, port.host_port))),
    }
}

/// Where each port is found from this host: its address or URL, and the port inside. One that is bound to all addresses
/// of both families on the same port counts once.
pub(crate) fn for_people(ports: &[Port]) -> Vec<(String, String)> {
    let has_twin = |port: &Port| {
        let key = |port: &Port| (port.container_port, port.protocol, port.host_port);
        port.host_ip == "::" && ports.iter().any(|other| other.host_ip == "0.0.0.0" && key(other) == key(port))
    };
    let shown = ports.iter().filter(|port| !has_twin(port));
    let text = |port: &Port| port.url.clone().unwrap_or_else(|| address(&port.host_ip, port.host_port));
    shown.map(|port| (text(port), format!("{}/{}", port.container_port, port.protocol))).collect()
}

fn address(ip: &str, port: u16) -> String {
    match ip {
        "" | "0.0.0.0" => format!("127.0.0.1:{port}"),
        "::" => format!("[::1]:{port}"),
        ip if ip.contains(':') => format!("[{ip}]:{port}"),
        ip => format!("{ip}:{port}"),
    }
}

#[cfg(test)]
mod tests {
    use lighterman_calls::PortKey;

    use super::*;

    #[test]
    fn ports_are_told_as_they_are_opened() {
        let rows: [(Protocol, u16, &str, &str); 8] = [
            (Protocol::Tcp, 80, "0.0.0.0", "http://127.0.0.1:9"),
            (Protocol::Tcp, 80, "", "http://127.0.0.1:9"),
            (Protocol::Tcp, 80, "::", "http://[::1]:9"),
            (Protocol::Tcp, 80, "10.0.0.7", "http://10.0.0.7:9"),
            (Protocol::Tcp, 80, "fd00::1", "http://[fd00::1]:9"),
            (Protocol::Tcp, 443, "0.0.0.0", "https://127.0.0.1:9"),
            (Protocol::Tcp, 5432, "0.0.0.0", "127.0.0.1:9"),
            (Protocol::Udp, 80, "0.0.0.0", "127.0.0.1:9"),
        ];
        for (protocol, inside, host_ip, text) in rows {
            let published =
                PublishedPort { container: PortKey { port: inside, protocol }, host_ip: host_ip.into(), host_port: 9 };
            let shown = for_people(&[port(&published)]);
            assert_eq!(shown, [(text.to_owned(), format!("{inside}/{}", protocol.as_str()))]);
        }
    }

    #[test]
    fn both_families_on_one_port_are_told_once() {
        let published = |host_ip: &str, host_port| {
            let container = PortKey { port: 80, protocol: Protocol::Tcp };
            port(&PublishedPort { container, host_ip: host_ip.into(), host_port })
        };
        assert_eq!(for_people(&[published("0.0.0.0", 9), published("::", 9)]).len(), 1);
        assert_eq!(for_people(&[published("0.0.0.0", 9), published("::", 10)]).len(), 2);
        assert_eq!(for_people(&[published("::", 9)]).len(), 1);
    }
}
