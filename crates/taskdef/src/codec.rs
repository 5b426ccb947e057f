//! A definition as text for a record, and back.

mod parts;

use alloc::{
    boxed::Box,
    string::{String, ToString},
    vec::Vec,
};
use core::time::Duration;

use crate::{
    canonical,
    definition::{
        ContainerDefinition, IsolationMode, LogConfiguration, OperatingSystem, PortMapping, TaskDefinition,
        VersionConsistency,
    },
    fields::Levels,
    finding::Findings,
    health::HealthCheck,
    node::{Member, Node, Value},
    pipeline,
};

impl TaskDefinition {
    /// The definition as compact Register input, defaults left out.
    ///
    /// It holds environment values: for the store, not for a log or a label.
    #[must_use]
    pub fn to_register_json(&self) -> String {
        canonical::text(&task(self))
    }

    /// Reads what [`to_register_json`](Self::to_register_json) wrote.
    ///
    /// Rules that compare values are not run again: what was accepted once stays readable when
    /// a rule becomes stricter. A field that this version does not carry is refused all the same: it
    /// was stored by one that does.
    ///
    /// # Errors
    /// The text is not such a definition; the findings say where.
    pub fn from_register_json(text: &str) -> Result<Self, Findings> {
        Self::from_register_json_with(text, Levels::Built)
    }

    /// The same, for whoever does not run it.
    ///
    /// # Errors
    /// As [`from_register_json`](Self::from_register_json), for these levels.
    pub fn from_register_json_with(text: &str, levels: Levels) -> Result<Self, Findings> {
        pipeline::stored("stored definition", text, levels).map(|reading| reading.definition)
    }
}

/// Builds an object member by member; absent values are left out.
#[derive(Default)]
struct ObjectWriter(Vec<Member>);

impl ObjectWriter {
    fn put(&mut self, key: &str, value: Option<Value>) {
        if let Some(value) = value {
            self.0.push(Member::new(key.into(), 0, node(value)));
        }
    }

    fn text(&mut self, key: &str, text: Option<&str>) {
        self.put(key, text.map(text_value));
    }

    fn number(&mut self, key: &str, number: Option<impl ToString>) {
        self.put(key, number.map(|number| Value::Number(number.to_string().into_boxed_str())));
    }

    /// Only where it differs from the default.
    fn flag(&mut self, key: &str, value: bool, default: bool) {
        self.put(key, (value != default).then_some(Value::Boolean(value)));
    }

    fn list(&mut self, key: &str, items: impl Iterator<Item = Value>) {
        let items: Vec<Node> = items.map(node).collect();
        self.put(key, (!items.is_empty()).then_some(Value::List(items)));
    }

    fn texts<'t>(&mut self, key: &str, texts: impl Iterator<Item = &'t str>) {
        self.list(key, texts.map(text_value));
    }

    fn object(&mut self, key: &str, object: Self) {
        self.put(key, (!object.0.is_empty()).then_some(Value::Object(object.0)));
    }

    fn into_value(self) -> Value {
        Value::Object(self.0)
    }
}

const fn node(value: Value) -> Node {
    Node { at: 0, value }
}

fn text_value(text: &str) -> Value {
    Value::Text(Box::from(text))
}

fn pair(first: (&str, &str), second: (&str, &str)) -> Value {
    let mut out = ObjectWriter::default();
    out.text(first.0, Some(first.1));
    out.text(second.0, Some(second.1));
    out.into_value()
}

fn task(task: &TaskDefinition) -> Node {
    let mut out = ObjectWriter::default();
    out.text("family", Some(task.family.as_str()));
    out.number("revision", Some(task.revision));
    out.text("taskDefinitionArn", task.arn.as_deref());
    out.text("networkMode", Some(task.network_mode.as_str()));
    out.number("cpu", task.cpu.map(|cpu| cpu.0));
    out.number("memory", task.memory.map(|memory| memory.0));
    out.text("taskRoleArn", task.task_role_arn.as_deref());
    out.text("executionRoleArn", task.execution_role_arn.as_deref());
    out.list("requiresCompatibilities", task.requires_compatibilities.iter().map(|place| text_value(place.as_str())));
    out.list("tags", task.tags.iter().map(|tag| pair(("key", &tag.key), ("value", &tag.value))));
    out.list("volumes", task.volumes.iter().map(parts::volume));
    out.text("pidMode", task.pid_mode.map(|mode| mode.as_str()));
    out.text("ipcMode", task.ipc_mode.map(|mode| mode.as_str()));
    out.object("runtimePlatform", platform(task));
    out.put("proxyConfiguration", task.proxy.as_ref().map(parts::proxy));
    out.list(
        "placementConstraints",
        task.placement_constraints.iter().map(|expression| pair(("type", "memberOf"), ("expression", expression))),
    );
    out.list(
        "inferenceAccelerators",
        task.inference_accelerators.iter().map(|accelerator| {
            pair(("deviceName", &accelerator.device_name), ("deviceType", &accelerator.device_type))
        }),
    );
    let mut storage = ObjectWriter::default();
    storage.number("sizeInGiB", task.ephemeral_storage_gib);
    out.object("ephemeralStorage", storage);
    out.flag("enableFaultInjection", task.enable_fault_injection, false);
    out.object("trustedExecutionConfiguration", isolation(task));
    let containers = task.containers.iter().map(container).map(node).collect();
    out.put("containerDefinitions", Some(Value::List(containers)));
    node(out.into_value())
}

fn platform(task: &TaskDefinition) -> ObjectWriter {
    let platform = task.runtime_platform;
    let mut out = ObjectWriter::default();
    out.text("cpuArchitecture", platform.cpu_architecture.map(|word| word.as_str()));
    let family = platform.operating_system;
    out.text("operatingSystemFamily", (family != OperatingSystem::Linux).then_some(family.as_str()));
    out
}

fn isolation(task: &TaskDefinition) -> ObjectWriter {
    let mut out = ObjectWriter::default();
    if task.isolation != IsolationMode::Shared || task.attestation_policy.is_some() {
        out.text("isolationMode", Some(task.isolation.as_str()));
    }
    out.text("attestationPolicy", task.attestation_policy.as_deref());
    out
}

fn container(container: &ContainerDefinition) -> Value {
    let mut out = ObjectWriter::default();
    out.text("name", Some(container.name.as_str()));
    out.text("image", Some(container.image.as_str()));
    out.flag("essential", container.essential, true);
    out.list("entryPoint", container.entry_point.iter().map(|word| text_value(word)));
    out.list("command", container.command.iter().map(|word| text_value(word)));
    let environment = container.environment.iter();
    out.list("environment", environment.map(|(name, value)| pair(("name", name), ("value", value.as_str()))));
    out.text("user", container.user.as_deref());
    out.text("workingDirectory", container.working_directory.as_deref());
    out.text("hostname", container.hostname.as_deref());
    out.flag("interactive", container.interactive, false);
    out.flag("pseudoTerminal", container.pseudo_terminal, false);
    out.flag("privileged", container.privileged, false);
    out.flag("readonlyRootFilesystem", container.readonly_root_filesystem, false);
    out.object("dockerLabels", text_map(&container.docker_labels));
    out.number("cpu", Some(container.cpu.0));
    out.number("memory", container.memory.map(|memory| memory.0));
    out.number("memoryReservation", container.memory_reservation.map(|memory| memory.0));
    out.put("healthCheck", container.health_check.as_ref().map(health_check));
    out.number("stopTimeout", container.stop_timeout.map(whole_seconds));
    out.number("startTimeout", container.start_timeout.map(whole_seconds));
    out.object("linuxParameters", parts::linux(&container.linux_parameters));
    out.list(
        "ulimits",
        container.ulimits.iter().map(|ulimit| {
            let mut out = ObjectWriter::default();
            out.text("name", Some(ulimit.name.as_str()));
            out.number("softLimit", Some(ulimit.soft));
            out.number("hardLimit", Some(ulimit.hard));
            out.into_value()
        }),
    );
    out.put("logConfiguration", container.log_configuration.as_ref().map(log_configuration));
    out.list("portMappings", container.port_mappings.iter().map(port_mapping));
    parts::network(container, &mut out);
    parts::elsewhere(container, &mut out);
    parts::order(container, &mut out);
    out.texts("dockerSecurityOptions", container.docker_security_options.iter().map(String::as_str));
    out.texts("credentialSpecs", container.credential_specs.iter().map(String::as_str));
    let controls = container.system_controls.iter();
    out.list("systemControls", controls.map(|(name, value)| pair(("namespace", name), ("value", value))));
    out.list("resourceRequirements", container.resource_requirements.iter().map(parts::resource));
    out.put("firelensConfiguration", container.log_router.as_ref().map(parts::log_router));
    out.list("mountPoints", container.mount_points.iter().map(parts::mount_point));
    out.list("volumesFrom", container.volumes_from.iter().map(parts::volumes_from));
    let resolved = container.version_consistency == VersionConsistency::Enabled;
    out.text("versionConsistency", (!resolved).then_some(container.version_consistency.as_str()));
    out.into_value()
}

fn text_map(map: &alloc::collections::BTreeMap<String, String>) -> ObjectWriter {
    let mut out = ObjectWriter::default();
    for (key, value) in map {
        out.text(key, Some(value));
    }
    out
}

/// The definition only holds whole seconds.
const fn whole_seconds(duration: Duration) -> u64 {
    duration.as_secs()
}

fn health_check(check: &HealthCheck) -> Value {
    let mut out = ObjectWriter::default();
    out.list("command", check.test.words().iter().map(|word| text_value(word)));
    out.number("interval", Some(whole_seconds(check.interval)));
    out.number("timeout", Some(whole_seconds(check.timeout)));
    out.number("retries", Some(check.retries));
    out.number("startPeriod", Some(whole_seconds(check.start_period)));
    out.into_value()
}

fn log_configuration(log: &LogConfiguration) -> Value {
    let mut out = ObjectWriter::default();
    out.text("logDriver", Some(log.driver.as_str()));
    out.object("options", text_map(&log.options));
    out.list("secretOptions", log.secret_options.iter().map(parts::secret));
    out.into_value()
}

fn port_mapping(mapping: &PortMapping) -> Value {
    let mut out = ObjectWriter::default();
    match mapping.last_port {
        Some(last) => out.text("containerPortRange", Some(&alloc::format!("{}-{last}", mapping.container_port))),
        None => out.number("containerPort", Some(mapping.container_port)),
    }
    out.number("hostPort", mapping.host_port);
    out.text("protocol", Some(mapping.protocol.as_str()));
    out.text("name", mapping.name.as_deref());
    out.text("appProtocol", mapping.app_protocol.map(|word| word.as_str()));
    out.into_value()
}
