//! Ports, links and names against the network mode (V17 to V27).

use alloc::{
    collections::{BTreeMap, BTreeSet},
    format,
    string::{String, ToString},
    vec::Vec,
};

use super::Rules;
use crate::{
    build::range_of,
    definition::{NetworkMode, Protocol},
    field::Field,
    finding::{Collector, Place, allowed, hint, quoted},
};

pub(super) fn check(rules: &Rules<'_>, findings: &mut Collector) {
    let mode = rules.task.network_mode;
    let spans: Vec<Span<'_>> = rules
        .root
        .list("containerDefinitions")
        .iter()
        .enumerate()
        .flat_map(|(index, container)| spans_of(index, container))
        .collect();
    for container in rules.root.list("containerDefinitions") {
        container_in_mode(container, mode, findings);
    }
    single_ports(&spans, mode, findings);
    ranges(rules, &spans, findings);
    host_ports(spans, mode, findings);
    port_names(rules, findings);
    links(rules, findings);
}

/// A port mapping as it was written, so that a finding can name its place.
struct Span<'d> {
    container: usize,
    field: &'d Field,
    first: i64,
    last: i64,
    /// `None` where nothing was asked for.
    host: Option<i64>,
    protocol: &'d str,
    key: &'static str,
}

impl Span<'_> {
    const fn is_range(&self) -> bool {
        self.first != self.last
    }

    fn place(&self) -> Place {
        self.field.place_of(self.key)
    }

    /// Without its protocol.
    fn text(&self) -> String {
        if self.is_range() { format!("{}-{}", self.first, self.last) } else { self.first.to_string() }
    }
}

fn spans_of(index: usize, container: &Field) -> impl Iterator<Item = Span<'_>> {
    container.list("portMappings").iter().filter_map(move |field| {
        let range = field.text("containerPortRange").and_then(|(text, _)| range_of(text));
        let (first, last, key) = match range {
            Some((first, last)) => (first.into(), last.into(), "containerPortRange"),
            None => {
                let port = field.integer("containerPort")?.0;
                (port, port, "containerPort")
            }
        };
        let host = field.integer("hostPort").map(|(port, _)| port).filter(|port| *port != 0);
        let protocol = field.text("protocol").map_or(Protocol::Tcp.as_str(), |(word, _)| word);
        Some(Span { container: index, field, first, last, host, protocol, key })
    })
}

/// Each span that overlaps one before it in the document, with that one. Sorted once: there may be many.
fn overlaps<'s, 'd>(mut spans: Vec<&'s Span<'d>>) -> Vec<(&'s Span<'d>, &'s Span<'d>)> {
    spans.sort_by_key(|span| (span.protocol, span.first, span.field.place.at));
    let mut found = Vec::new();
    let mut widest: Option<&Span<'_>> = None;
    for span in spans {
        match widest {
            Some(other) if other.protocol == span.protocol && span.first <= other.last => {
                let in_order = other.field.place.at < span.field.place.at;
                found.push(if in_order { (other, span) } else { (span, other) });
                if span.last > other.last {
                    widest = Some(span);
                }
            }
            Some(_) | None => widest = Some(span),
        }
    }
    found
}

/// V22, V23, V25, V26.
fn container_in_mode(container: &Field, mode: NetworkMode, findings: &mut Collector) {
    let mappings = container.list("portMappings");
    if mode == NetworkMode::None && !mappings.is_empty() {
        let place = container.place_of("portMappings");
        findings.error(22, &place, "portMappings with networkMode none", allowed("none"));
    }
    let ranges = mappings.iter().filter(|mapping| mapping.has("containerPortRange"));
    for range in ranges.filter(|_| mode == NetworkMode::Host) {
        let place = range.place_of("containerPortRange");
        findings.error(23, &place, "containerPortRange with networkMode host", allowed("bridge, awsvpc"));
    }
    let has_hostname = container.filled_text("hostname").is_some();
    let has_hosts = !container.list("extraHosts").is_empty();
    if mode == NetworkMode::Awsvpc {
        for (key, _) in [("hostname", has_hostname), ("extraHosts", has_hosts)].iter().filter(|(_, given)| *given) {
            let message = format!("{key} with networkMode awsvpc");
            findings.error(25, &container.place_of(key), message, allowed("absent"));
        }
    }
    if container.boolean("disableNetworking") == Some(true) {
        let place = container.place_of("disableNetworking");
        if matches!(mode, NetworkMode::Awsvpc | NetworkMode::Host) {
            let message = format!("disableNetworking with networkMode {mode}");
            findings.error(26, &place, message, allowed("bridge, none"));
        }
        for (key, given) in [("portMappings", !mappings.is_empty()), ("links", !container.texts("links").is_empty())] {
            if given {
                findings.error(26, &place, format!("disableNetworking with {key}"), allowed("one of them"));
            }
        }
    }
}

/// V19, V20, V21.
fn single_ports(spans: &[Span<'_>], mode: NetworkMode, findings: &mut Collector) {
    let mut seen: BTreeMap<(usize, i64), BTreeSet<&str>> = BTreeMap::new();
    for port in spans.iter().filter(|span| !span.is_range()) {
        let (number, protocol) = (port.first, port.protocol);
        let protocols = seen.entry((port.container, number)).or_default();
        if protocols.contains(protocol) {
            let message = format!("container port {number}/{protocol} is listed twice");
            findings.warning(19, &port.place(), message, hint("both host ports will reach it"));
        } else if !protocols.is_empty() {
            let message = format!("container port {number} for tcp and udp");
            findings.warning(20, &port.place(), message, hint("the service refuses this"));
        }
        protocols.insert(protocol);
        let is_shared = matches!(mode, NetworkMode::Host | NetworkMode::Awsvpc);
        if let Some(host) = port.host.filter(|host| is_shared && *host != number) {
            let message = format!("hostPort {host} differs from containerPort {number}");
            let advice = allowed(format!("with networkMode {mode} absent or {number}"));
            findings.error(21, &port.field.place_of("hostPort"), message, advice);
        }
    }
}

/// V17, over one container.
fn ranges(rules: &Rules<'_>, spans: &[Span<'_>], findings: &mut Collector) {
    const MOST: usize = 100;
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    for span in spans.iter().filter(|span| span.is_range()) {
        *counts.entry(span.container).or_default() += 1;
    }
    for (index, count) in counts.iter().filter(|(_, count)| **count > MOST) {
        let place = rules.root.list("containerDefinitions")[*index].place_of("portMappings");
        findings.error(17, &place, format!("{count} port ranges"), allowed("up to 100"));
    }
    let mut rest = spans;
    while let Some(first) = rest.first() {
        let length = rest.iter().take_while(|span| span.container == first.container).count();
        let (own, others) = rest.split_at(length);
        for (earlier, later) in overlaps(own.iter().collect()) {
            if earlier.is_range() || later.is_range() {
                let message = format!(
                    "ports {}/{} overlap {}, first at {}, again",
                    later.text(),
                    later.protocol,
                    earlier.text(),
                    earlier.place().path_text()
                );
                findings.error(17, &later.place(), message, allowed("each port once"));
            }
        }
        rest = others;
    }
}

/// V18: what is bound on the host, or on the address of the task.
fn host_ports(spans: Vec<Span<'_>>, mode: NetworkMode, findings: &mut Collector) {
    let spans: Vec<Span<'_>> = spans.into_iter().filter_map(|span| bound(span, mode)).collect();
    for (earlier, later) in overlaps(spans.iter().collect()) {
        // Ranges of one container are V17.
        if earlier.container == later.container && (earlier.is_range() || later.is_range()) {
            continue;
        }
        let at = earlier.place().path_text();
        let message = format!("host port {}/{} mapped twice, first at {at}, again", later.text(), later.protocol);
        findings.error(18, &later.place(), message, allowed("once per task"));
    }
}

fn bound(mut span: Span<'_>, mode: NetworkMode) -> Option<Span<'_>> {
    match (mode, span.host) {
        (NetworkMode::Bridge | NetworkMode::Host | NetworkMode::Awsvpc, Some(host)) => {
            (span.first, span.last, span.key) = (host, host, "hostPort");
            Some(span)
        }
        (NetworkMode::Host | NetworkMode::Awsvpc, None) => Some(span),
        (NetworkMode::Bridge, None) | (NetworkMode::None, Some(_) | None) => None,
    }
}

/// V27, over the task.
fn port_names(rules: &Rules<'_>, findings: &mut Collector) {
    let mut first: BTreeMap<&str, &Place> = BTreeMap::new();
    let mappings = rules.root.list("containerDefinitions").iter().flat_map(|container| container.list("portMappings"));
    for (name, place) in mappings.filter_map(|mapping| mapping.filled_text("name")) {
        if let Some(at) = first.get(name) {
            let message = format!("port name {} used twice, first at {}, again", quoted(name), at.path_text());
            findings.warning(27, place, message, allowed("unique names"));
        } else {
            first.insert(name, place);
        }
    }
}

/// V24, V90.
fn links(rules: &Rules<'_>, findings: &mut Collector) {
    let names = rules.names();
    let mode = rules.task.network_mode;
    for container in rules.root.list("containerDefinitions") {
        if mode != NetworkMode::Bridge && !container.texts("links").is_empty() {
            let message = format!("links with networkMode {mode}");
            findings.error(24, &container.place_of("links"), message, allowed("bridge (use 127.0.0.1:<port>)"));
        }
        let own = container.text("name").map(|(name, _)| name);
        let mut aliases = BTreeSet::new();
        for (link, place) in container.placed_texts("links") {
            let (target, alias) = link.split_once(':').unwrap_or((link, link));
            super::order::target(&names, (target, place), own, (24, "links"), findings);
            if !aliases.insert(alias) {
                let message = format!("link alias {} used twice", quoted(alias));
                findings.error(24, place, message, allowed("unique in the container"));
            }
            let linked = names.index.get(target).map(|index| &rules.root.list("containerDefinitions")[*index]);
            if linked.is_some_and(|linked| !linked.list("secrets").is_empty()) && own != Some(target) {
                let message = format!(
                    "{} receives all environment of {} through links",
                    quoted(own.unwrap_or_default()),
                    quoted(target)
                );
                findings.warning(90, place, message, hint("secrets included"));
            }
        }
    }
}
