//! What the engine shows of containers and images, read tolerantly.
//!
//! Members that are not used are not read, words are texts, and `null` is as good as absent. So a
//! newer engine that knows a status, a network or a health word more is still understood. What
//! decides about a container (its id, whether it runs, when it started) must be there and readable.

use std::collections::BTreeMap;

use lighterman_calls::{
    ContainerFacts, ContainerSummary, Created, ExitCode, HealthFacts, HealthWord, ImageFacts, Phase, PortKey, Protocol,
    PublishedPort, RuntimeVersion,
};
use lighterman_ids::{ImageId, NameError, RuntimeId, RuntimeName, Wall};
use serde::{Deserialize, Deserializer};

use crate::{
    stamp,
    text::{cut, tidy},
    verdict::NotDone,
};

/// Longest output of a health check that is kept (`HealthFacts::output`).
const LONGEST_HEALTH_OUTPUT: usize = 1_024;

/// `null` counts as absent.
pub(crate) fn lenient<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(from: D) -> Result<T, D::Error> {
    Option::<T>::deserialize(from).map(Option::unwrap_or_default)
}

pub(crate) type Labels = BTreeMap<String, String>;

/// `GET /containers/{id}/json`.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct RawContainer {
    id: String,
    name: String,
    state: RawState,
    #[serde(default, deserialize_with = "lenient")]
    created: String,
    #[serde(default, deserialize_with = "lenient")]
    image: String,
    #[serde(default, deserialize_with = "lenient")]
    config: RawConfig,
    #[serde(default, deserialize_with = "lenient")]
    network_settings: RawNetwork,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct RawState {
    running: bool,
    #[serde(default, deserialize_with = "lenient")]
    dead: bool,
    #[serde(default, deserialize_with = "lenient", rename = "OOMKilled")]
    oom_killed: bool,
    #[serde(default, deserialize_with = "lenient")]
    exit_code: ExitCode,
    #[serde(default, deserialize_with = "lenient")]
    error: String,
    started_at: String,
    finished_at: String,
    #[serde(default)]
    health: Option<RawHealth>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct RawConfig {
    #[serde(default, deserialize_with = "lenient")]
    labels: Labels,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct RawHealth {
    #[serde(default, deserialize_with = "lenient")]
    status: String,
    #[serde(default, deserialize_with = "lenient")]
    log: Vec<RawProbe>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct RawProbe {
    #[serde(default)]
    exit_code: Option<ExitCode>,
    #[serde(default, deserialize_with = "lenient")]
    output: String,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct RawNetwork {
    #[serde(default, deserialize_with = "lenient")]
    ports: BTreeMap<String, Option<Vec<RawBinding>>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct RawBinding {
    #[serde(default, deserialize_with = "lenient")]
    host_ip: String,
    #[serde(default, deserialize_with = "lenient")]
    host_port: String,
}

impl RawContainer {
    pub(crate) fn facts(self) -> Result<ContainerFacts, NotDone> {
        let started_at = instant("State.StartedAt", &self.state.started_at)?;
        let finished_at = instant("State.FinishedAt", &self.state.finished_at)?;
        Ok(ContainerFacts {
            id: container_id(&self.id)?,
            name: container_name(&self.name).map_err(|error| unnamed(&error))?,
            labels: self.config.labels,
            phase: self.state.phase(started_at, finished_at),
            oom_killed: self.state.oom_killed,
            error: tidy(&self.state.error),
            created_at: instant("Created", &self.created)?,
            started_at,
            finished_at,
            health: self.state.health.map(RawHealth::facts),
            ports: ports(self.network_settings),
            image: ImageId::parse(&self.image).ok(),
        })
    }
}

impl RawState {
    /// engine.md 4.9, first match. A failed start leaves a container that never ran and has an error text (B-041).
    fn phase(&self, started_at: Option<Wall>, finished_at: Option<Wall>) -> Phase {
        let code = finished_at.map(|_| self.exit_code);
        if self.running {
            Phase::Running
        } else if self.dead {
            Phase::Dead { code }
        } else if started_at.is_none() && self.error.trim().is_empty() {
            Phase::Created
        } else {
            Phase::Exited { code }
        }
    }
}

impl RawHealth {
    fn facts(self) -> HealthFacts {
        let word = health_word(&self.status);
        let (exit_code, mut output) =
            self.log.into_iter().next_back().map_or((None, String::new()), |probe| (probe.exit_code, probe.output));
        cut(&mut output, LONGEST_HEALTH_OUTPUT);
        HealthFacts { word, output, exit_code }
    }
}

fn health_word(word: &str) -> HealthWord {
    match word {
        "starting" | "none" | "" => HealthWord::Starting,
        "healthy" => HealthWord::Healthy,
        "unhealthy" => HealthWord::Unhealthy,
        other => HealthWord::Unrecognized(tidy(other)),
    }
}

fn ports(network: RawNetwork) -> Vec<PublishedPort> {
    let mut published = Vec::new();
    for (key, bindings) in network.ports {
        for binding in bindings.unwrap_or_default() {
            match (port_key(&key), binding.host_port.parse()) {
                (Some(container), Ok(host_port)) if host_port != 0 => {
                    published.push(PublishedPort { container, host_ip: binding.host_ip, host_port });
                }
                _ => tracing::debug!(port = key, host_port = binding.host_port, "a published port cannot be read"),
            }
        }
    }
    published.sort();
    published
}

fn port_key(text: &str) -> Option<PortKey> {
    let (port, protocol) = text.split_once('/')?;
    let protocol = match protocol {
        "tcp" => Protocol::Tcp,
        "udp" => Protocol::Udp,
        _ => return None,
    };
    Some(PortKey { port: port.parse().ok().filter(|port| *port != 0)?, protocol })
}

/// `GET /containers/json`.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct RawSummary {
    id: String,
    #[serde(default, deserialize_with = "lenient")]
    names: Vec<String>,
    #[serde(default, deserialize_with = "lenient")]
    labels: Labels,
    state: String,
}

impl RawSummary {
    pub(crate) fn summary(self) -> Result<ContainerSummary, NotDone> {
        Ok(ContainerSummary {
            id: container_id(&self.id)?,
            name: self.name().map_err(|error| unnamed(&error))?,
            running: matches!(self.state.as_str(), "running" | "paused" | "restarting"),
            labels: self.labels,
        })
    }

    /// Its own name. Others with two slashes are aliases that links have made. While it is being
    /// removed it can have none at all: its id stands in, so that it does not vanish from the list.
    fn name(&self) -> Result<RuntimeName, NameError> {
        let own = self.names.iter().find(|name| !name.trim_start_matches('/').contains('/'));
        container_name(own.unwrap_or(&self.id))
    }
}

/// `POST /containers/create`.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct RawCreated {
    id: String,
    #[serde(default, deserialize_with = "lenient")]
    warnings: Vec<String>,
}

impl RawCreated {
    pub(crate) fn created(self) -> Result<Created, NotDone> {
        let warnings = self.warnings.iter().map(|warning| tidy(warning)).collect();
        Ok(Created { id: container_id(&self.id)?, warnings })
    }
}

/// `GET /images/{name}/json`.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct RawImage {
    id: String,
    #[serde(default, deserialize_with = "lenient")]
    repo_digests: Vec<String>,
    #[serde(default, deserialize_with = "lenient")]
    config: RawImageConfig,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct RawImageConfig {
    #[serde(default, deserialize_with = "lenient")]
    env: Vec<String>,
    #[serde(default, deserialize_with = "lenient")]
    healthcheck: RawHealthcheck,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct RawHealthcheck {
    #[serde(default, deserialize_with = "lenient")]
    test: Vec<String>,
}

impl RawImage {
    pub(crate) fn facts(self) -> Result<ImageFacts, NotDone> {
        let name = |variable: &String| variable.split('=').next().unwrap_or(variable).to_owned();
        let test = self.config.healthcheck.test;
        Ok(ImageFacts {
            id: ImageId::parse(&self.id).map_err(|error| unnamed(&error))?,
            repo_digests: self.repo_digests,
            env_names: self.config.env.iter().map(name).collect(),
            health_test: (!test.is_empty()).then_some(test),
        })
    }
}

/// `GET /version`.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct RawVersion {
    version: String,
    api_version: String,
    /// Absent in stand-ins for the engine: then anything up to `ApiVersion` may be tried.
    #[serde(default, deserialize_with = "lenient", rename = "MinAPIVersion")]
    min_api_version: String,
}

impl RawVersion {
    pub(crate) fn facts(self) -> RuntimeVersion {
        let Self { version, api_version, min_api_version } = self;
        RuntimeVersion { version, api_version, min_api_version }
    }
}

fn instant(member: &str, text: &str) -> Result<Option<Wall>, NotDone> {
    stamp::read(text).map_err(|stamp::BadStamp| NotDone::garbled(format!("{member} is no time: {}", tidy(text))))
}

fn container_id(text: &str) -> Result<RuntimeId, NotDone> {
    RuntimeId::parse(text).map_err(|error| unnamed(&error))
}

fn container_name(text: &str) -> Result<RuntimeName, NameError> {
    RuntimeName::parse(text.strip_prefix('/').unwrap_or(text))
}

pub(crate) fn unnamed(error: &NameError) -> NotDone {
    NotDone::garbled(error.to_string())
}

#[cfg(test)]
mod tests {
    use lighterman_calls::LostCause;
    use serde_json::{Value, json};

    use super::*;

    const ID: &str = "0123456789ab0123456789ab0123456789ab0123456789ab0123456789ab0123";
    const ZERO: &str = "0001-01-01T00:00:00Z";
    const START: &str = "2024-02-29T12:34:56.123456789Z";
    const END: &str = "2024-02-29T12:34:57Z";

    fn container(state: &Value) -> Value {
        json!({
            "Id": ID, "Name": "/ecs-web", "Created": START, "Image": format!("sha256:{}", "ab".repeat(32)),
            "State": state, "Config": {"Labels": {"a": "b"}},
            "NetworkSettings": {"Ports": {}}
        })
    }

    fn read(value: &Value) -> Result<ContainerFacts, NotDone> {
        serde_json::from_value::<RawContainer>(value.clone()).unwrap().facts()
    }

    fn phase(state: &Value) -> Phase {
        read(&container(state)).unwrap().phase
    }

    #[test]
    fn e146_the_phase_is_the_first_match() {
        let state = |running: bool, dead: bool, started: &str, finished: &str, code: i32, error: &str| {
            json!({"Running": running, "Dead": dead, "StartedAt": started, "FinishedAt": finished, "ExitCode": code,
                   "Error": error})
        };
        // E146: never started, without and with an error text.
        assert_eq!(phase(&state(false, false, ZERO, ZERO, 0, "")), Phase::Created);
        assert_eq!(phase(&state(false, false, ZERO, ZERO, 0, "cannot start")), Phase::Exited { code: None });
        // B-041: the engine says exit code 128 of a process that never was.
        let taken = "driver failed: Bind for 0.0.0.0:80 failed: port is already allocated";
        assert_eq!(phase(&state(false, false, ZERO, ZERO, 128, taken)), Phase::Exited { code: None });
        // Running wins over everything, dead over the rest.
        assert_eq!(phase(&state(true, true, START, ZERO, 0, "x")), Phase::Running);
        assert_eq!(phase(&state(false, true, ZERO, ZERO, 0, "")), Phase::Dead { code: None });
        assert_eq!(phase(&state(false, true, START, END, 3, "")), Phase::Dead { code: Some(3) });
        // A restarted container runs with the end of its former run still in place.
        assert_eq!(phase(&state(true, false, START, END, 137, "")), Phase::Running);
        assert_eq!(phase(&state(false, false, START, END, 0, "")), Phase::Exited { code: Some(0) });
        assert_eq!(phase(&state(false, false, START, END, 137, "x")), Phase::Exited { code: Some(137) });
        assert_eq!(phase(&state(false, false, START, ZERO, 137, "")), Phase::Exited { code: None });
        // Very short runs can end before they start (seen on 20.10).
        assert_eq!(phase(&state(false, false, END, START, 3, "")), Phase::Exited { code: Some(3) });
    }

    #[test]
    fn facts_hold_what_inspect_shows() {
        let mut value = container(&json!({
            "Status": "exited", "Running": false, "Paused": false, "Restarting": false, "OOMKilled": true,
            "Dead": false, "Pid": 0, "ExitCode": 137, "Error": " broken\n pipe ", "StartedAt": START,
            "FinishedAt": END,
            "Health": {"Status": "unhealthy", "FailingStreak": 3, "Log": [
                {"Start": START, "End": END, "ExitCode": 0, "Output": "fine"},
                {"Start": START, "End": END, "ExitCode": 1, "Output": "ä".repeat(1_000)},
            ]}
        }));
        value["NetworkSettings"]["Ports"] = json!({
            "8080/tcp": [{"HostIp": "0.0.0.0", "HostPort": "32810"}, {"HostIp": "::", "HostPort": "32810"}],
            "53/udp": [{"HostIp": "127.0.0.1", "HostPort": "53"}],
            "9000/tcp": null,
            "1/sctp": [{"HostIp": "", "HostPort": "1"}],
            "x/tcp": [{"HostIp": "", "HostPort": "1"}],
            "70/tcp": [{"HostIp": "", "HostPort": "many"}, {"HostIp": "", "HostPort": ""}],
        });
        let facts = read(&value).unwrap();
        assert_eq!((facts.id.as_str(), facts.name.as_str()), (ID, "ecs-web"));
        assert_eq!(facts.labels, BTreeMap::from([("a".into(), "b".into())]));
        assert_eq!((facts.oom_killed, facts.error.as_str()), (true, "broken pipe"));
        assert_eq!(facts.started_at, Some(Wall(1_709_210_096_123_456_789)));
        assert_eq!(facts.finished_at, Some(Wall(1_709_210_097_000_000_000)));
        assert_eq!(facts.created_at, facts.started_at);
        assert!(facts.image.is_some());
        let health = facts.health.unwrap();
        assert_eq!((health.word, health.exit_code, health.output.len()), (HealthWord::Unhealthy, Some(1), 1_024));
        let ports: Vec<String> =
            facts.ports.iter().map(|p| format!("{} {} {}", p.container, p.host_ip, p.host_port)).collect();
        assert_eq!(ports, ["53/udp 127.0.0.1 53", "8080/tcp 0.0.0.0 32810", "8080/tcp :: 32810"]);
    }

    #[test]
    fn words_of_a_newer_engine_are_read() {
        // bollard's closed enums fail on each of these.
        let mut value = container(&json!({
            "Status": "hibernating", "Running": true, "StartedAt": START, "FinishedAt": ZERO,
            "Health": {"Status": "recovering", "Log": null}
        }));
        value["HostConfig"] = json!({"Isolation": "moonbase", "CgroupnsMode": "odd", "RestartPolicy": {"Name": "odd"}});
        value["Mounts"] = json!([{"Type": "tape"}]);
        let facts = read(&value).unwrap();
        assert_eq!(facts.phase, Phase::Running);
        assert_eq!(facts.health.unwrap().word, HealthWord::Unrecognized("recovering".into()));
        assert!(serde_json::from_value::<bollard::models::ContainerInspectResponse>(value).is_err());
    }

    #[test]
    fn null_is_as_good_as_absent() {
        let value = json!({
            "Id": ID, "Name": "/ecs-web", "Created": null, "Image": null, "Config": null, "NetworkSettings": null,
            "State": {"Running": false, "Dead": null, "OOMKilled": null, "ExitCode": null, "Error": null,
                      "StartedAt": ZERO, "FinishedAt": ZERO, "Health": null}
        });
        let facts = read(&value).unwrap();
        assert_eq!((facts.phase, facts.created_at, facts.image), (Phase::Created, None, None));
        let inner = json!({"Id": ID, "Name": "/ecs-web", "Config": {"Labels": null}, "NetworkSettings": {"Ports": null},
            "State": {"Running": false, "StartedAt": ZERO, "FinishedAt": ZERO,
                      "Health": {"Status": "none", "Log": []}}});
        assert_eq!(read(&inner).unwrap().health.unwrap().word, HealthWord::Starting);
    }

    #[test]
    fn what_decides_must_be_readable() {
        let good = json!({"Running": false, "StartedAt": START, "FinishedAt": END});
        for (member, value) in [("StartedAt", json!("soon")), ("FinishedAt", json!("12:00"))] {
            let mut state = good.clone();
            state[member] = value;
            let Err(NotDone::Unknown(lost)) = read(&container(&state)) else { panic!("{member} must be readable") };
            assert_eq!(lost.cause, LostCause::Garbled);
        }
        for member in ["Running", "StartedAt", "FinishedAt"] {
            let mut state = good.clone();
            state.as_object_mut().unwrap().remove(member);
            assert!(serde_json::from_value::<RawContainer>(container(&state)).is_err(), "{member} must be there");
        }
        for (member, value) in [("Id", "../x"), ("Name", "/a/b")] {
            let mut all = container(&good);
            all[member] = json!(value);
            assert!(matches!(read(&all), Err(NotDone::Unknown(_))), "{member} must be valid");
        }
    }

    #[test]
    fn summaries_name_each_container() {
        let summary = |names: Value, state: &str| {
            let value = json!({"Id": ID, "Names": names, "Labels": null, "State": state, "Status": "x"});
            serde_json::from_value::<RawSummary>(value).unwrap().summary().unwrap()
        };
        assert_eq!(summary(json!(["/web/db", "/ecs-db"]), "running").name.as_str(), "ecs-db");
        assert_eq!(summary(json!(null), "removing").name.as_str(), ID);
        for (state, running) in [
            ("running", true),
            ("paused", true),
            ("restarting", true),
            ("created", false),
            ("exited", false),
            ("removing", false),
            ("dead", false),
            ("hibernating", false),
        ] {
            assert_eq!(summary(json!(["/ecs-db"]), state).running, running, "{state}");
        }
    }

    #[test]
    fn images_show_their_names_and_their_check() {
        let id = format!("sha256:{}", "cd".repeat(32));
        let image = |config: Value| {
            let value = json!({"Id": id, "RepoTags": ["a:1"], "RepoDigests": null, "Config": config});
            serde_json::from_value::<RawImage>(value).unwrap().facts().unwrap()
        };
        let full = image(json!({"Env": ["PATH=/bin", "EMPTY=", "BARE"], "Healthcheck": {"Test": ["CMD", "true"]}}));
        assert_eq!(full.env_names, ["PATH", "EMPTY", "BARE"]);
        assert_eq!(full.health_test, Some(vec!["CMD".into(), "true".into()]));
        for bare in [json!(null), json!({"Env": null, "Healthcheck": null}), json!({"Healthcheck": {"Test": []}})] {
            let facts = image(bare);
            assert_eq!((facts.env_names.len(), facts.health_test, facts.repo_digests.len()), (0, None, 0));
        }
    }
}
