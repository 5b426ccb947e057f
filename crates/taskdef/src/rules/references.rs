//! What is fetched from elsewhere, and what a task names of its own (V48, V49, V71, V80).

use alloc::{
    collections::{BTreeMap, BTreeSet},
    format,
};

use super::Rules;
use crate::{
    definition::{Compatibility, ContainerDefinition, LogDriver, NetworkMode, ResourceRequirement},
    field::Field,
    finding::{Collector, Place, allowed, hint, quoted},
};

pub(super) fn check(rules: &Rules<'_>, findings: &mut Collector) {
    let declared: BTreeSet<&str> =
        rules.task.inference_accelerators.iter().map(|accelerator| accelerator.device_name.as_str()).collect();
    for (field, container) in rules.containers() {
        execution_role(rules, field, container, findings);
        secret_names(field, findings);
        resources(rules, &declared, field, container, findings);
    }
    gpus(rules, findings);
    proxy(rules, findings);
}

/// V48.
fn execution_role(rules: &Rules<'_>, field: &Field, container: &ContainerDefinition, findings: &mut Collector) {
    if rules.root.get("executionRoleArn").is_some() {
        return;
    }
    let log = field.get("logConfiguration");
    let sends = container.log_configuration.as_ref().is_some_and(|log| log.driver == LogDriver::Awslogs);
    let needs = [
        ("secrets", field, !container.secrets.is_empty()),
        ("environmentFiles", field, !container.environment_files.is_empty()),
        ("repositoryCredentials", field, container.repository_credentials.is_some()),
        ("secretOptions", log.unwrap_or(field), log.is_some_and(|log| !log.list("secretOptions").is_empty())),
        ("logDriver", log.unwrap_or(field), sends && rules.is_for(Compatibility::Fargate)),
    ];
    for (key, owner, _) in needs.into_iter().filter(|(_, _, given)| *given) {
        let message = format!("{key} without executionRoleArn");
        findings.warning(48, &owner.place_of(key), message, hint("the service needs one"));
    }
}

/// V49, over one container, and the same for the options of its log driver.
fn secret_names(field: &Field, findings: &mut Collector) {
    let names = |key: &str| field.list(key).iter().filter_map(|entry| entry.text("name"));
    let variables: BTreeSet<&str> = names("environment").map(|(name, _)| name).collect();
    let mut seen = BTreeSet::new();
    for (name, place) in names("secrets") {
        if variables.contains(name) {
            let message = format!("secret {} is also in environment", quoted(name));
            findings.error(49, place, message, allowed("one of them"));
        } else if !seen.insert(name) {
            findings.error(49, place, format!("secret {} is given twice", quoted(name)), allowed("once"));
        }
    }
    let Some(log) = field.get("logConfiguration") else { return };
    let mut options: BTreeSet<&str> = log.map("options").map(|(name, _, _)| name).collect();
    for (name, place) in log.list("secretOptions").iter().filter_map(|option| option.text("name")) {
        if !options.insert(name) {
            findings.error(49, place, format!("log option {} is given twice", quoted(name)), allowed("once"));
        }
    }
}

/// V80, over one container.
fn resources(
    rules: &Rules<'_>,
    declared: &BTreeSet<&str>,
    field: &Field,
    container: &ContainerDefinition,
    findings: &mut Collector,
) {
    let mut kinds = BTreeSet::new();
    for resource in field.list("resourceRequirements") {
        let Some((kind, place)) = resource.text("type") else { continue };
        if !kinds.insert(kind) {
            findings.error(80, place, format!("{kind} is asked for twice"), allowed("once per container"));
        }
        let value = resource.text("value").filter(|_| kind == "InferenceAccelerator");
        if let Some((name, place)) = value.filter(|(name, _)| !declared.contains(name)) {
            let message = format!("InferenceAccelerator value {}", quoted(name));
            findings.error(80, place, message, allowed("a deviceName of inferenceAccelerators"));
        }
    }
    let is_fargate = rules.is_for(Compatibility::Fargate);
    if is_fargate && container.resource_requirements.iter().any(is_gpu) {
        let place = field.place_of("resourceRequirements");
        findings.warning(81, &place, "GPU", hint("not available on FARGATE"));
    }
}

const fn is_gpu(resource: &ResourceRequirement) -> bool {
    match resource {
        ResourceRequirement::Gpus(_) | ResourceRequirement::AllGpus | ResourceRequirement::SharedGpu { .. } => true,
        ResourceRequirement::InferenceAccelerator(_) | ResourceRequirement::AllNeuronDevices => false,
    }
}

/// V80, over the task: GPUs are handed out whole, or shared.
fn gpus(rules: &Rules<'_>, findings: &mut Collector) {
    let mut first: Option<bool> = None;
    for (field, container) in rules.containers() {
        for resource in container.resource_requirements.iter().filter(|resource| is_gpu(resource)) {
            let is_shared = matches!(resource, ResourceRequirement::SharedGpu { .. });
            if *first.get_or_insert(is_shared) != is_shared {
                let place = field.place_of("resourceRequirements");
                findings.error(80, &place, "GPUs whole and shared in one task", allowed("one way for all containers"));
            }
        }
    }
}

/// V71.
fn proxy(rules: &Rules<'_>, findings: &mut Collector) {
    const REQUIRED: [&str; 3] = ["ProxyIngressPort", "ProxyEgressPort", "AppPorts"];
    const KNOWN: [&str; 7] = [
        "IgnoredUID",
        "IgnoredGID",
        "AppPorts",
        "ProxyIngressPort",
        "ProxyEgressPort",
        "EgressIgnoredPorts",
        "EgressIgnoredIPs",
    ];
    let Some(field) = rules.root.get("proxyConfiguration").filter(|field| !field.members().is_empty()) else { return };
    let mode = rules.task.network_mode;
    if mode != NetworkMode::Awsvpc && !rules.root.is_broken("networkMode") {
        let message = format!("proxyConfiguration with networkMode {mode}");
        findings.error(71, &field.place, message, allowed("awsvpc"));
    }
    let properties: BTreeMap<&str, (&str, &Place)> = field
        .list("properties")
        .iter()
        .filter_map(|property| Some((property.text("name")?.0, property.text("value")?)))
        .collect();
    let filled = |name: &str| properties.get(name).is_some_and(|(value, _)| !value.is_empty());
    for name in REQUIRED.into_iter().filter(|name| !filled(name)) {
        let message = format!("property {name} is missing");
        findings.error(71, &field.place_of("properties"), message, allowed(REQUIRED.join(", ")));
    }
    if !filled("IgnoredUID") && !filled("IgnoredGID") {
        let message = "property IgnoredUID or IgnoredGID is missing";
        findings.error(71, &field.place_of("properties"), message, allowed("one of them, or both"));
    }
    for property in field.list("properties") {
        if let Some((name, place)) = property.text("name").filter(|(name, _)| !KNOWN.contains(name)) {
            findings.error(71, place, format!("unknown property {}", quoted(name)), allowed(KNOWN.join(", ")));
        }
    }
    let Some(proxy) = &rules.task.proxy else { return };
    let Some(container) = rules.task.container(&proxy.container) else {
        let message = format!("proxyConfiguration names \"{}\" which is not in the task", proxy.container);
        findings.error(71, &field.place_of("containerName"), message, allowed("a container of the task"));
        return;
    };
    let (user, group) = user_and_group(container);
    for (name, has) in [("IgnoredUID", user), ("IgnoredGID", group)] {
        if let Some((value, place)) = properties.get(name).filter(|(value, _)| !value.is_empty() && *value != has) {
            let message = format!("{name} {} differs from the user of \"{}\"", quoted(value), container.name);
            findings.warning(71, place, message, hint("its own traffic would be led back to it"));
        }
    }
}

/// As the engine reads `user`; empty where it is not said.
fn user_and_group(container: &ContainerDefinition) -> (&str, &str) {
    container.user.as_deref().map_or(("", ""), |user| user.split_once(':').unwrap_or((user, "")))
}
