//! Rules that look at more than one value (taskdef.md 3.2).

use alloc::{
    collections::{BTreeMap, BTreeSet},
    format,
    string::String,
    vec::Vec,
};

use crate::{
    definition::{Compatibility, ContainerDefinition, LogDriver, Mebibytes, NetworkMode, Protocol, TaskDefinition},
    field::Field,
    finding::{Collector, Place, allowed, hint},
};

/// What the service takes as compact JSON.
const SERVICE_TEXT: usize = 65_536;

/// Runs every rule; `canonical` is the compact text of the document.
pub(crate) fn check(root: &Field, task: &TaskDefinition, canonical: &str, findings: &mut Collector) {
    let rules = Rules { root, task };
    rules.whole(canonical, findings);
    rules.one_container(findings);
    rules.unique_names(findings);
    rules.essential(findings);
    rules.task_amounts(findings);
    rules.tags(findings);
    for (field, container) in rules.containers() {
        rules.container_memory(field, container, findings);
        rules.timeouts(field, findings);
        rules.ports(field, findings);
        ulimits(field, findings);
        log_options(field, container, findings);
        exposure(field, container, findings);
    }
    rules.sums(findings);
    rules.host_ports(findings);
}

struct Rules<'d> {
    root: &'d Field,
    task: &'d TaskDefinition,
}

impl<'d> Rules<'d> {
    /// Each container with the place it was read from: `build` keeps them in step.
    fn containers(&self) -> impl Iterator<Item = (&'d Field, &'d ContainerDefinition)> {
        self.root.list("containerDefinitions").iter().zip(&self.task.containers)
    }

    fn is_for(&self, place: Compatibility) -> bool {
        self.task.requires_compatibilities.contains(&place)
    }

    /// V9, V87, V88.
    fn whole(&self, canonical: &str, findings: &mut Collector) {
        let root = &self.root.place;
        if canonical.len() > SERVICE_TEXT {
            let message = format!("{} bytes as compact JSON", canonical.len());
            findings.warning(9, root, message, hint(format!("the service allows {SERVICE_TEXT}")));
        }
        if let Some((status, place)) = self.root.text("status").filter(|(status, _)| *status != "ACTIVE") {
            findings.warning(88, place, format!("task definition is {status}"), None);
        }
        if self.is_for(Compatibility::Fargate) {
            let place = self.root.place_of("requiresCompatibilities");
            findings.warning(
                87,
                &place,
                "FARGATE is asked for",
                hint("it runs here, and most rules of FARGATE are not checked"),
            );
        }
        if self.task.network_mode == NetworkMode::Host {
            let place = self.root.place_of("networkMode");
            findings.warning(89, &place, "containers share the network of the host", None);
        }
    }

    fn one_container(&self, findings: &mut Collector) {
        if let [_, second, ..] = self.root.list("containerDefinitions") {
            let message = format!("{} containers", self.task.containers.len());
            findings.error(86, &second.place, message, allowed("one, in this version"));
        }
    }

    /// V11.
    fn unique_names(&self, findings: &mut Collector) {
        let mut first: BTreeMap<String, (&str, Place)> = BTreeMap::new();
        for (field, _) in self.containers() {
            let Some((name, place)) = field.text("name") else { continue };
            let folded = name.to_ascii_lowercase();
            let Some((other, at)) = first.get(&folded) else {
                first.insert(folded, (name, place.clone()));
                continue;
            };
            if *other == name {
                let message = format!("name \"{name}\" used twice, first at {}, again", at.path_text());
                findings.error(11, place, message, allowed("unique names"));
            } else {
                let message = format!("name \"{name}\" differs from \"{other}\" only in letter case");
                findings.warning(11, place, message, None);
            }
        }
    }

    /// V12.
    fn essential(&self, findings: &mut Collector) {
        let undecided = self.containers().any(|(field, _)| field.is_broken("essential"));
        if !self.task.containers.is_empty() && !undecided && !self.task.containers.iter().any(|c| c.essential) {
            let place = self.root.place_of("containerDefinitions");
            let advice = allowed("at least one without \"essential\": false");
            findings.error(12, &place, "no essential container", advice);
        }
    }

    /// V28, the range.
    fn task_amounts(&self, findings: &mut Collector) {
        const UNITS: core::ops::RangeInclusive<u32> = 128..=196_608;
        let Some(cpu) = self.task.cpu.filter(|cpu| !UNITS.contains(&cpu.0)) else { return };
        let place = self.root.place_of("cpu");
        let message = format!("cpu {} is outside what the service takes", cpu.0);
        if self.is_for(Compatibility::Fargate) {
            findings.error(28, &place, message, allowed("128 to 196608"));
        } else {
            findings.warning(28, &place, message, allowed("128 to 196608"));
        }
    }

    /// V83, over all tags.
    fn tags(&self, findings: &mut Collector) {
        const MOST: usize = 50;
        let tags = self.root.list("tags");
        if tags.len() > MOST {
            findings.error(83, &self.root.place_of("tags"), format!("{} tags", tags.len()), allowed("up to 50"));
        }
        let mut first: BTreeMap<&str, &Place> = BTreeMap::new();
        for (key, place) in tags.iter().filter_map(|tag| tag.text("key")) {
            if let Some(at) = first.get(key) {
                let message =
                    format!("tag key \"{}\" used twice, first at {}, again", key.escape_debug(), at.path_text());
                findings.error(83, place, message, allowed("unique keys"));
            } else {
                first.insert(key, place);
            }
        }
    }

    /// V31, V33, V34 for one container.
    fn container_memory(&self, field: &Field, container: &ContainerDefinition, findings: &mut Collector) {
        let (hard, soft) = (container.memory, container.memory_reservation);
        if let (Some(hard), Some(soft)) = (hard, soft) {
            let place = field.place_of("memoryReservation");
            if soft > hard {
                let message = format!("memoryReservation {} above memory {}", soft.0, hard.0);
                findings.error(33, &place, message, allowed(format!("up to {}", hard.0)));
            } else if soft == hard {
                findings.warning(33, &place, format!("memoryReservation {} equals memory", soft.0), None);
            }
        }
        let given = |key| field.is_broken(key) || field.integer(key).is_some_and(|(amount, _)| amount != 0);
        match (self.task.memory, hard) {
            (None, _) if !given("memory") && !given("memoryReservation") && !self.root.is_broken("memory") => {
                let advice = allowed("memory or memoryReservation, or memory for the task");
                findings.error(31, &field.place, "no memory limit", advice);
            }
            (Some(task), Some(hard)) if hard > task => {
                let message = format!("memory {} above the task's {}", hard.0, task.0);
                findings.error(34, &field.place_of("memory"), message, allowed(format!("up to {}", task.0)));
            }
            (None | Some(_), None | Some(_)) => {}
        }
    }

    /// V34, V35 over the task.
    fn sums(&self, findings: &mut Collector) {
        let place = self.root.place_of("containerDefinitions");
        let sum = |amount: fn(&ContainerDefinition) -> u64| self.task.containers.iter().map(amount).sum::<u64>();
        let cpu = sum(|container| container.cpu.0.into());
        if let Some(task) = self.task.cpu.filter(|task| cpu > task.0.into()) {
            let message = format!("cpu of all containers is {cpu}");
            findings.error(35, &place, message, allowed(format!("up to the task's {}", task.0)));
        }
        let Some(task) = self.task.memory else { return };
        let reserved = sum(|container| amount(container.memory_reservation));
        if reserved > task.0.into() {
            let message = format!("memoryReservation of all containers is {reserved}");
            findings.error(34, &place, message, allowed(format!("up to the task's {}", task.0)));
        }
        let limits = sum(|container| amount(container.memory));
        if limits > task.0.into() && self.task.containers.len() > 1 {
            let message = format!("memory of all containers is {limits}");
            findings.warning(34, &place, message, hint(format!("the task has {}", task.0)));
        }
    }

    /// V46, where the service is stricter.
    fn timeouts(&self, field: &Field, findings: &mut Collector) {
        if !self.is_for(Compatibility::Fargate) {
            return;
        }
        for key in ["startTimeout", "stopTimeout"] {
            let Some((seconds, place)) = field.integer(key) else { continue };
            if seconds > 0 && !(2..=120).contains(&seconds) {
                findings.error(46, place, format!("{key} {seconds}"), allowed("on FARGATE 2 to 120"));
            }
        }
    }

    /// V19 to V22 for one container.
    fn ports(&self, container: &Field, findings: &mut Collector) {
        let mode = self.task.network_mode;
        let ports: Vec<_> = ports_of(container).collect();
        if mode == NetworkMode::None && !container.list("portMappings").is_empty() {
            let place = container.place_of("portMappings");
            findings.error(22, &place, "portMappings with networkMode none", allowed("none"));
        }
        for (index, port) in ports.iter().enumerate() {
            let (number, protocol) = (port.container, port.protocol);
            if let Some(earlier) = ports[..index].iter().find(|earlier| earlier.container == number) {
                let place = port.field.place_of("containerPort");
                if earlier.protocol == protocol {
                    let message = format!("container port {number}/{protocol} is listed twice");
                    findings.warning(19, &place, message, hint("both host ports will reach it"));
                } else {
                    let message = format!("container port {number} for tcp and udp");
                    findings.warning(20, &place, message, hint("the service refuses this"));
                }
            }
            if let Some(host) = port.host.filter(|host| mode == NetworkMode::Host && *host != number) {
                let message = format!("hostPort {host} differs from containerPort {number}");
                let advice = allowed(format!("with networkMode host absent or {number}"));
                findings.error(21, &port.field.place_of("hostPort"), message, advice);
            }
        }
    }

    /// V18.
    fn host_ports(&self, findings: &mut Collector) {
        let mut first: BTreeMap<(i64, &str), Place> = BTreeMap::new();
        for port in self.root.list("containerDefinitions").iter().flat_map(ports_of) {
            let (host, key) = match (self.task.network_mode, port.host) {
                (NetworkMode::Bridge | NetworkMode::Host, Some(host)) => (host, "hostPort"),
                (NetworkMode::Host, None) => (port.container, "containerPort"),
                (NetworkMode::Bridge, None) | (NetworkMode::None, Some(_) | None) => continue,
            };
            let place = port.field.place_of(key);
            if let Some(at) = first.get(&(host, port.protocol)) {
                let at = at.path_text();
                let message = format!("host port {host}/{} mapped twice, first at {at}, again", port.protocol);
                findings.error(18, &place, message, allowed("once per task"));
            } else {
                first.insert((host, port.protocol), place);
            }
        }
    }
}

/// A port mapping as it was written, so that a finding can name its place.
struct Port<'d> {
    field: &'d Field,
    container: i64,
    /// `None` where nothing was asked for.
    host: Option<i64>,
    protocol: &'d str,
}

fn ports_of(container: &Field) -> impl Iterator<Item = Port<'_>> {
    container.list("portMappings").iter().filter_map(|field| {
        let host = field.integer("hostPort").map(|(port, _)| port).filter(|port| *port != 0);
        let protocol = field.text("protocol").map_or(Protocol::Tcp.as_str(), |(word, _)| word);
        Some(Port { field, container: field.integer("containerPort")?.0, host, protocol })
    })
}

/// V72, over one container: two of a name fail at start.
fn ulimits(container: &Field, findings: &mut Collector) {
    let mut seen = BTreeSet::new();
    for (name, place) in container.list("ulimits").iter().filter_map(|ulimit| ulimit.text("name")) {
        if !seen.insert(name) {
            findings.error(72, place, format!("ulimit {name} is given twice"), allowed("one per name"));
        }
    }
}

/// V69.
fn log_options(field: &Field, container: &ContainerDefinition, findings: &mut Collector) {
    let (Some(log), Some(written)) = (&container.log_configuration, field.get("logConfiguration")) else { return };
    let required = required_options(log.driver);
    for option in required.iter().filter(|option| !log.options.contains_key(**option)) {
        if !written.is_broken("options") {
            let place = written.place_of("options");
            findings.error(69, &place, format!("{option} is missing"), allowed(required.join(", ")));
        }
    }
}

const fn required_options(driver: LogDriver) -> &'static [&'static str] {
    match driver {
        LogDriver::Awslogs => &["awslogs-group", "awslogs-region"],
        LogDriver::Splunk => &["splunk-url", "splunk-token"],
        LogDriver::Gelf => &["gelf-address"],
        LogDriver::JsonFile
        | LogDriver::Syslog
        | LogDriver::Journald
        | LogDriver::Fluentd
        | LogDriver::Local
        | LogDriver::None => &[],
    }
}

fn amount(memory: Option<Mebibytes>) -> u64 {
    memory.map_or(0, |memory| memory.0.into())
}

/// V89.
fn exposure(field: &Field, container: &ContainerDefinition, findings: &mut Collector) {
    if container.privileged {
        let message = format!("\"{}\" is privileged: it can do anything to the host", container.name);
        findings.warning(89, &field.place_of("privileged"), message, None);
    }
}
