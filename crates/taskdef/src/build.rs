//! Typed values out of the checked document, with the rules on single values (taskdef.md 3.2).
//!
//! Always builds a whole definition: a value that breaks a rule is a finding and leaves its
//! default, so that every other rule still runs. It is handed out only when there is no error.

mod health;
mod linux;
mod logs;
mod network;
mod order;
mod parts;
mod secrets;
mod task;
mod volumes;

use alloc::{
    collections::BTreeMap,
    format,
    string::{String, ToString},
    vec::Vec,
};
use core::{ops::RangeInclusive, time::Duration};

use lighterman_ids::{ContainerName, Family, ImageRef};

use crate::{
    definition::{
        Compatibility, ContainerDefinition, CpuUnits, EnvironmentValue, IpcMode, Mebibytes, NetworkMode, PidMode, Tag,
        TaskDefinition, VersionConsistency,
    },
    field::Field,
    finding::{Collector, Place, allowed, hint, quoted},
    shape::Shape,
};

pub(crate) use linux::is_kernel_ipc;
pub(crate) use network::range_of;
pub(crate) use volumes::plain_path;

/// The definition, with a default where a value was refused.
pub(crate) fn task(root: &Field, shape: Shape, findings: &mut Collector) -> TaskDefinition {
    let mut task = Build { findings }.task(root);
    if shape.lacks_task_level() {
        volumes::add_undeclared(&mut task);
    }
    task
}

struct Build<'f> {
    findings: &'f mut Collector,
}

const WORD: &str = "1 to 255 of A-Z a-z 0-9 _ -";

impl Build<'_> {
    fn task(&mut self, root: &Field) -> TaskDefinition {
        let network_mode = root.text("networkMode").and_then(|(word, _)| NetworkMode::from_word(word));
        let network_mode = network_mode.unwrap_or(NetworkMode::Bridge);
        let containers: Vec<_> =
            root.list("containerDefinitions").iter().map(|field| self.container(field, network_mode)).collect();
        if containers.is_empty() && !root.is_broken("containerDefinitions") {
            self.findings.error(
                8,
                &root.place_of("containerDefinitions"),
                "no containers",
                allowed("one, in this version"),
            );
        }
        let compatibilities = root.list("requiresCompatibilities").iter().filter_map(|field| field.value.as_text());
        TaskDefinition {
            family: self.family(root),
            revision: self.number(root, "revision", 1..=u32::MAX).unwrap_or(1),
            arn: root
                .text("taskDefinitionArn")
                .filter(|(arn, _)| is_definition_arn(arn))
                .map(|(arn, _)| arn.to_string()),
            network_mode,
            containers,
            cpu: root.integer("cpu").and_then(|(units, _)| u32::try_from(units).ok()).map(CpuUnits),
            memory: root.integer("memory").and_then(|(amount, _)| u32::try_from(amount).ok()).map(Mebibytes),
            task_role_arn: root.filled_text("taskRoleArn").map(|(role, _)| role.to_string()),
            execution_role_arn: root.filled_text("executionRoleArn").map(|(role, _)| role.to_string()),
            requires_compatibilities: compatibilities.filter_map(Compatibility::from_word).collect(),
            tags: root.list("tags").iter().filter_map(|tag| self.tag(tag)).collect(),
            volumes: root.list("volumes").iter().filter_map(|volume| self.volume(volume)).collect(),
            pid_mode: root.text("pidMode").and_then(|(word, _)| PidMode::from_word(word)),
            ipc_mode: root.text("ipcMode").and_then(|(word, _)| IpcMode::from_word(word)),
            runtime_platform: self.runtime_platform(root),
            proxy: root.get("proxyConfiguration").and_then(|proxy| self.proxy(proxy)),
            placement_constraints: self.placement_constraints(root),
            inference_accelerators: self.inference_accelerators(root),
            ephemeral_storage_gib: self.ephemeral_storage(root),
            enable_fault_injection: root.boolean("enableFaultInjection").unwrap_or(false),
            isolation: self.isolation(root),
            attestation_policy: self.attestation_policy(root),
        }
    }

    fn family(&mut self, root: &Field) -> Family {
        let parsed = self.word(root, "family", 7, Family::parse);
        parsed.unwrap_or_else(|| Family::parse("broken").expect("a word"))
    }

    /// A required name of `A-Za-z0-9_-`: V7, V10.
    fn word<T, E>(&mut self, object: &Field, key: &str, rule: u8, parse: fn(&str) -> Result<T, E>) -> Option<T> {
        match object.text(key) {
            Some((text, place)) => {
                let parsed = parse(text).ok();
                if parsed.is_none() {
                    self.findings.error(
                        rule,
                        place,
                        format!("{key} {} {}", quoted(text), not_a_word(text)),
                        allowed(WORD),
                    );
                }
                parsed
            }
            None => {
                if !object.is_broken(key) {
                    self.findings.error(rule, &object.place_of(key), format!("{key} is missing"), allowed(WORD));
                }
                None
            }
        }
    }

    /// V83.
    fn tag(&mut self, field: &Field) -> Option<Tag> {
        let value = field.text("value").map_or("", |(value, _)| value);
        let Some((key, place)) = field.text("key") else {
            if !field.is_broken("key") {
                self.findings.error(83, &field.place_of("key"), "tag key is missing", allowed("1 to 128 characters"));
            }
            return None;
        };
        let fits = |text: &str, longest: usize| {
            text.chars().count() <= longest
                && text
                    .chars()
                    .all(|c| c.is_alphanumeric() || matches!(c, ' ' | '_' | '.' | ':' | '/' | '=' | '+' | '-' | '@'))
        };
        let reserved = key.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("aws:"));
        if reserved {
            let message = format!("tag key {}", quoted(key));
            self.findings.error(83, place, message, allowed("keys not starting with aws:"));
        } else if key.is_empty() || !fits(key, 128) {
            let message = format!("tag key {}", quoted(key));
            self.findings.error(83, place, message, allowed("1 to 128 letters, digits, blanks, _ . : / = + - @"));
        } else if !fits(value, 256) {
            let advice = allowed("up to 256 letters, digits, blanks, _ . : / = + - @");
            self.findings.error(83, &field.place_of("value"), format!("tag value of {}", quoted(key)), advice);
        }
        Some(Tag { key: key.to_string(), value: value.to_string() })
    }

    fn container(&mut self, field: &Field, network_mode: NetworkMode) -> ContainerDefinition {
        let name = self.word(field, "name", 10, ContainerName::parse);
        let name = name.unwrap_or_else(|| ContainerName::parse("broken").expect("a word"));
        let image = self.image(field).unwrap_or_else(|| ImageRef::parse("broken").expect("an image"));
        let flag = |key| field.boolean(key).unwrap_or(false);
        let container = ContainerDefinition {
            name,
            image,
            essential: field.boolean("essential").unwrap_or(true),
            entry_point: field.texts("entryPoint").to_vec(),
            command: field.texts("command").to_vec(),
            environment: self.environment(field),
            user: self.user(field),
            working_directory: self.working_directory(field),
            hostname: self.hostname(field),
            interactive: flag("interactive"),
            pseudo_terminal: flag("pseudoTerminal"),
            privileged: flag("privileged"),
            readonly_root_filesystem: flag("readonlyRootFilesystem"),
            docker_labels: self.docker_labels(field),
            cpu: self.cpu(field),
            memory: self.memory(field, "memory"),
            memory_reservation: self.memory(field, "memoryReservation"),
            health_check: field.get("healthCheck").and_then(|check| self.health_check(check)),
            stop_timeout: self.timeout(field, "stopTimeout"),
            start_timeout: self.timeout(field, "startTimeout"),
            linux_parameters: self.linux_parameters(field),
            ulimits: field.list("ulimits").iter().filter_map(|ulimit| self.ulimit(ulimit)).collect(),
            log_configuration: field.get("logConfiguration").and_then(|log| self.log_configuration(log)),
            port_mappings: self.port_mappings(field, network_mode),
            repository_credentials: self.repository_credentials(field),
            version_consistency: field
                .text("versionConsistency")
                .and_then(|(word, _)| VersionConsistency::from_word(word))
                .unwrap_or(VersionConsistency::Enabled),
            environment_files: self.environment_files(field),
            secrets: self.secrets(field, "secrets"),
            docker_security_options: self.security_options(field),
            credential_specs: self.credential_specs(field),
            depends_on: self.depends_on(field),
            restart_policy: field.get("restartPolicy").and_then(|policy| self.restart_policy(policy)),
            links: self.links(field),
            dns_servers: self.dns_servers(field),
            dns_search_domains: self.dns_search_domains(field),
            extra_hosts: field.list("extraHosts").iter().filter_map(|host| self.extra_host(host)).collect(),
            disable_networking: flag("disableNetworking"),
            system_controls: self.system_controls(field),
            resource_requirements: self.resource_requirements(field),
            log_router: field.get("firelensConfiguration").and_then(|router| self.log_router(router)),
            mount_points: field.list("mountPoints").iter().filter_map(|mount| self.mount_point(mount)).collect(),
            volumes_from: self.volumes_from(field),
        };
        self.entry_point(field, &container);
        container
    }

    /// V13.
    fn image(&mut self, container: &Field) -> Option<ImageRef> {
        const ALLOWED: &str = "[host/]path[:tag][@sha256:…], up to 255 before any @";
        let Some((text, place)) = container.filled_text("image") else {
            if !container.is_broken("image") {
                self.findings.error(13, &container.place_of("image"), "image is missing", allowed(ALLOWED));
            }
            return None;
        };
        let parsed = ImageRef::parse(text).ok();
        if parsed.is_none() {
            let (what, advice) = broken_image(text, ALLOWED);
            self.findings.error(13, place, format!("image {} {what}", quoted(text)), allowed(advice));
        }
        parsed
    }

    /// V51, V52. Values are never shown.
    fn environment(&mut self, container: &Field) -> BTreeMap<String, EnvironmentValue> {
        let mut environment = BTreeMap::new();
        for entry in container.list("environment") {
            let Some((name, place)) = entry.text("name") else {
                if !entry.is_broken("name") {
                    let place = entry.place_of("name");
                    self.findings.error(51, &place, "environment name is missing", allowed("one or more characters"));
                }
                continue;
            };
            if name.is_empty() || name.contains('=') {
                let what = if name.is_empty() { "is empty" } else { "holds \"=\"" };
                let advice = allowed("one or more characters, no \"=\"");
                self.findings.error(51, place, format!("environment name {what}"), advice);
                continue;
            }
            if name.starts_with("AWS_CONTAINER_") || name.starts_with("ECS_CONTAINER_") || name == "ECS_AGENT_URI" {
                self.findings.warning(52, place, format!("environment name {} is the agent's", quoted(name)), None);
            }
            let value = entry.text("value").map(|(value, _)| EnvironmentValue::new(value));
            if value.is_none() && !entry.is_broken("value") {
                self.findings.warning(4, &entry.place, "environment value is absent", hint("it is read as empty"));
            }
            if environment.insert(name.to_string(), value.unwrap_or_default()).is_some() {
                let message = format!("environment name {} given twice", quoted(name));
                self.findings.warning(52, place, message, hint("the last one counts"));
            }
        }
        environment
    }

    /// V30.
    fn cpu(&mut self, container: &Field) -> CpuUnits {
        const HIGHEST: u32 = 262_144;
        let units = self.number_of(container, "cpu", 0..=u32::MAX, 30).unwrap_or(0);
        let place = container.place_of("cpu");
        if units == 1 {
            self.findings.warning(30, &place, "cpu 1", hint("it is raised to 2"));
        } else if units > HIGHEST {
            self.findings.warning(30, &place, format!("cpu {units}"), hint(format!("it is lowered to {HIGHEST}")));
        }
        CpuUnits(units)
    }

    /// V32; 0 is absent.
    fn memory(&mut self, container: &Field, key: &str) -> Option<Mebibytes> {
        let (amount, place) = container.integer(key)?;
        if (1..6).contains(&amount) {
            self.findings.error(32, place, format!("{key} {amount} is too small"), allowed("6 or more"));
            return None;
        }
        self.number_of(container, key, 0..=u32::MAX, 32).filter(|amount| *amount > 0).map(Mebibytes)
    }

    /// V46; 0 is absent.
    fn timeout(&mut self, container: &Field, key: &str) -> Option<Duration> {
        // The engine takes the stop timeout as a C int.
        const LONGEST: u32 = 2_147_483_647;
        let seconds = self.number_of(container, key, 0..=LONGEST, 46)?;
        if seconds == 0 {
            self.findings.warning(4, &container.place_of(key), format!("{key} 0 read as absent"), None);
            return None;
        }
        Some(Duration::from_secs(seconds.into()))
    }

    /// An absolute path; whether it may be the root is the caller's.
    fn absolute(&mut self, object: &Field, key: &str, rule: u8) -> Option<String> {
        let (path, place) = object.filled_text(key)?;
        if !path.starts_with('/') {
            self.findings.error(rule, place, format!("{key} {} is not absolute", quoted(path)), allowed("/…"));
            return None;
        }
        Some(path.to_string())
    }

    /// A text that must be there and not be empty.
    fn required<'o>(&mut self, object: &'o Field, key: &str, rule: u8, advice: &str) -> Option<(&'o str, &'o Place)> {
        let text = object.filled_text(key);
        if text.is_none() {
            missing(self.findings, rule, object, key, advice);
        }
        text
    }

    /// The name of another container; whether there is one is asked by the rules.
    fn reference<T, E>(
        &mut self,
        rule: u8,
        (text, place): (&str, &Place),
        by: &str,
        parse: fn(&str) -> Result<T, E>,
    ) -> Option<T> {
        let parsed = parse(text).ok();
        if parsed.is_none() {
            self.findings.error(rule, place, format!("{by} {} is no name", quoted(text)), allowed(WORD));
        }
        parsed
    }

    fn number(&mut self, object: &Field, key: &str, range: RangeInclusive<u32>) -> Option<u32> {
        self.number_of(object, key, range, 3)
    }

    /// A number within its range, or a finding under that rule.
    fn number_of(&mut self, object: &Field, key: &str, range: RangeInclusive<u32>, rule: u8) -> Option<u32> {
        let (number, place) = object.integer(key)?;
        let within = u32::try_from(number).ok().filter(|number| range.contains(number));
        if within.is_none() {
            self.findings.error(rule, place, format!("{key} {number}"), allowed(range_text(&range)));
        }
        within
    }
}

/// `arn:<partition>:ecs:<region>:<account>:task-definition/<family>:<revision>`; what is no ARN is not used.
fn is_definition_arn(text: &str) -> bool {
    let parts: Vec<&str> = text.splitn(6, ':').collect();
    let ["arn", partition, "ecs", _, _, resource] = parts[..] else { return false };
    let family = resource.strip_prefix("task-definition/");
    !partition.is_empty() && family.is_some_and(|family| !family.is_empty()) && !text.chars().any(char::is_whitespace)
}

fn range_text(range: &RangeInclusive<u32>) -> String {
    format!("{} to {}", range.start(), range.end())
}

/// Why a text is no `[A-Za-z0-9_-]{1,255}`.
fn not_a_word(text: &str) -> String {
    match text.chars().find(|c| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))) {
        Some(c) if c.is_whitespace() => "has a blank".to_string(),
        Some(c) => format!("holds {c:?}"),
        None if text.is_empty() => "is empty".to_string(),
        None => "is too long".to_string(),
    }
}

fn broken_image(text: &str, form: &'static str) -> (&'static str, &'static str) {
    let (name, digest) = text.split_once('@').unwrap_or((text, ""));
    let tag_at = name.rfind('/').map_or(0, |slash| slash + 1);
    let repository = name[tag_at..].find(':').map_or(name, |colon| &name[..tag_at + colon]);
    if name.len() > 255 {
        ("is too long", "up to 255 before any @")
    } else if repository.bytes().any(|b| b.is_ascii_uppercase()) {
        ("has upper case in its repository", "lower case")
    } else if text.contains('@') && ImageRef::parse(name).is_ok() && !digest.is_empty() {
        ("has a broken digest", "sha256: and 64 lower-case hex digits")
    } else {
        ("is no image reference", form)
    }
}

/// What the parts share: a place and a value that must not be blank.
fn missing(findings: &mut Collector, rule: u8, object: &Field, key: &str, advice: &str) {
    if !object.is_broken(key) {
        let place: Place = object.place_of(key);
        findings.error(rule, &place, format!("{key} is missing"), allowed(advice));
    }
}
