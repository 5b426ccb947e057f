//! The body of a create call.

use std::{
    collections::{BTreeMap, HashMap},
    time::Duration,
};

use bollard::models;
use bytes::Bytes;
use lighterman_calls::{
    ContainerConfig, CreateRequest, HealthcheckConfig, HostConfig, LogConfig, PortBinding, PortKey, Ulimit,
};

/// The request as the engine takes it. Members that are absent in the request are absent in the body.
///
/// It holds values of the environment: never log it.
pub(crate) fn create(request: &CreateRequest) -> Result<Bytes, serde_json::Error> {
    let body = container(&request.config, &request.host);
    serde_json::to_vec(&body).map(Bytes::from)
}

fn container(config: &ContainerConfig, host: &HostConfig) -> models::ContainerCreateBody {
    models::ContainerCreateBody {
        image: Some(config.image.as_str().into()),
        entrypoint: config.entrypoint.clone(),
        cmd: config.cmd.clone(),
        env: present(config.env.iter().map(|(name, value)| format!("{name}={value}")).collect()),
        labels: map(&config.labels),
        user: config.user.clone(),
        working_dir: config.working_dir.clone(),
        hostname: config.hostname.clone(),
        tty: config.tty.then_some(true),
        open_stdin: config.open_stdin.then_some(true),
        exposed_ports: present(config.exposed_ports.iter().map(ToString::to_string).collect()),
        healthcheck: config.healthcheck.as_ref().map(healthcheck),
        host_config: Some(host_config(host)),
        ..models::ContainerCreateBody::default()
    }
}

fn host_config(host: &HostConfig) -> models::HostConfig {
    models::HostConfig {
        memory: host.memory.map(bytes),
        memory_reservation: host.memory_reservation.map(bytes),
        cpu_shares: Some(host.cpu_shares.into()),
        network_mode: host.network_mode.clone(),
        port_bindings: port_bindings(&host.port_bindings),
        privileged: host.privileged.then_some(true),
        readonly_rootfs: host.readonly_rootfs.then_some(true),
        init: host.init,
        ulimits: present(host.ulimits.iter().map(ulimit).collect()),
        log_config: host.log.as_ref().map(log_config),
        ..models::HostConfig::default()
    }
}

/// An empty list is left out.
fn present<T>(list: Vec<T>) -> Option<Vec<T>> {
    (!list.is_empty()).then_some(list)
}

fn map(map: &BTreeMap<String, String>) -> Option<HashMap<String, String>> {
    (!map.is_empty()).then(|| map.iter().map(|(key, value)| (key.clone(), value.clone())).collect())
}

/// What does not fit is more than any host has: it is no limit either way.
fn bytes(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

/// Two bindings of one container port are two elements of one list: both work (taskdef.md 2.3).
fn port_bindings(bindings: &[(PortKey, PortBinding)]) -> Option<models::PortMap> {
    let mut by_port = models::PortMap::new();
    for (port, binding) in bindings {
        let list = by_port.entry(port.to_string()).or_default().get_or_insert_default();
        list.push(models::PortBinding {
            host_ip: binding.host_ip.clone(),
            // Left out, the engine picks a port.
            host_port: binding.host_port.map(|port| port.to_string()),
        });
    }
    (!by_port.is_empty()).then_some(by_port)
}

fn ulimit(limit: &Ulimit) -> models::ResourcesUlimits {
    models::ResourcesUlimits { name: Some(limit.name.clone()), soft: Some(limit.soft), hard: Some(limit.hard) }
}

fn log_config(log: &LogConfig) -> models::HostConfigLogConfig {
    models::HostConfigLogConfig { typ: Some(log.driver.clone()), config: map(&log.options) }
}

/// Every member is sent: the engine fills zero ones from the image (taskdef.md 2.5).
fn healthcheck(check: &HealthcheckConfig) -> models::HealthConfig {
    let nanos = |wait: Duration| Some(i64::try_from(wait.as_nanos()).unwrap_or(i64::MAX));
    models::HealthConfig {
        test: Some(check.test.words()),
        interval: nanos(check.interval),
        timeout: nanos(check.timeout),
        start_period: nanos(check.start_period),
        retries: Some(check.retries.into()),
        start_interval: None,
    }
}

#[cfg(test)]
mod tests {
    use lighterman_calls::{HealthTest, Protocol};
    use lighterman_ids::{ImageRef, RuntimeName};
    use serde_json::{Value, json};

    use super::*;

    const TCP: PortKey = PortKey { port: 8080, protocol: Protocol::Tcp };

    fn bare() -> CreateRequest {
        CreateRequest {
            name: RuntimeName::parse("ecs-web").unwrap(),
            config: ContainerConfig {
                image: ImageRef::parse("busybox:test").unwrap(),
                entrypoint: None,
                cmd: None,
                env: BTreeMap::new().into(),
                labels: BTreeMap::new(),
                user: None,
                working_dir: None,
                hostname: None,
                tty: false,
                open_stdin: false,
                exposed_ports: Vec::new(),
                healthcheck: None,
            },
            host: HostConfig { cpu_shares: 2, ..HostConfig::default() },
        }
    }

    fn sent(request: &CreateRequest) -> Value {
        serde_json::from_slice(&create(request).unwrap()).unwrap()
    }

    fn texts(list: &[&str]) -> Vec<String> {
        list.iter().map(ToString::to_string).collect()
    }

    fn pairs(list: &[(&str, &str)]) -> BTreeMap<String, String> {
        list.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn absent_members_are_absent() {
        assert_eq!(sent(&bare()), json!({"Image": "busybox:test", "HostConfig": {"CpuShares": 2}}));
    }

    #[test]
    fn the_bodies_of_the_worked_example_are_sent() {
        // taskdef.md 5.3, without the members that are not sent yet.
        let mut store = bare();
        store.config.cmd = Some(texts(&["sh", "-c", "exec sleep 3600"]));
        store.config.env =
            pairs(&[("MODE", "blue"), ("ECS_AGENT_URI", "http://169.254.170.2/api/1"), ("EMPTY", "")]).into();
        store.config.user = Some("0:0".into());
        store.config.labels = pairs(&[("com.amazonaws.ecs.cluster", "local")]);
        store.config.healthcheck = Some(HealthcheckConfig {
            test: HealthTest::parse(&texts(&["CMD-SHELL", "cat /site/index.html"])).unwrap(),
            interval: Duration::from_secs(5),
            timeout: Duration::from_secs(2),
            start_period: Duration::from_millis(1),
            retries: 3,
        });
        store.host = HostConfig {
            memory: Some(33_554_432),
            memory_reservation: Some(16_777_216),
            cpu_shares: 2,
            init: Some(true),
            ulimits: vec![Ulimit { name: "nofile".into(), soft: 1024, hard: 2048 }],
            log: Some(LogConfig { driver: "json-file".into(), options: pairs(&[("max-size", "1m")]) }),
            ..HostConfig::default()
        };
        assert_eq!(
            sent(&store),
            json!({
                "Image": "busybox:test",
                "Cmd": ["sh", "-c", "exec sleep 3600"],
                "Env": ["ECS_AGENT_URI=http://169.254.170.2/api/1", "EMPTY=", "MODE=blue"],
                "User": "0:0",
                "Labels": {"com.amazonaws.ecs.cluster": "local"},
                "Healthcheck": {
                    "Test": ["CMD-SHELL", "cat /site/index.html"],
                    "Interval": 5_000_000_000_u64, "Timeout": 2_000_000_000, "Retries": 3, "StartPeriod": 1_000_000
                },
                "HostConfig": {
                    "Memory": 33_554_432, "MemoryReservation": 16_777_216, "CpuShares": 2, "Init": true,
                    "Ulimits": [{"Name": "nofile", "Soft": 1024, "Hard": 2048}],
                    "LogConfig": {"Type": "json-file", "Config": {"max-size": "1m"}}
                }
            })
        );

        // taskdef.md 5.4.
        let mut web = bare();
        web.config.entrypoint = Some(texts(&["httpd"]));
        web.config.exposed_ports = vec![TCP];
        web.config.working_dir = Some("/site".into());
        web.config.hostname = Some("web".into());
        web.config.tty = true;
        web.config.open_stdin = true;
        web.host.readonly_rootfs = true;
        web.host.port_bindings = vec![(TCP, PortBinding { host_ip: None, host_port: Some(32_810) })];
        assert_eq!(
            sent(&web),
            json!({
                "Image": "busybox:test",
                "Entrypoint": ["httpd"],
                "ExposedPorts": {"8080/tcp": {}},
                "WorkingDir": "/site",
                "Hostname": "web",
                "Tty": true,
                "OpenStdin": true,
                "HostConfig": {
                    "CpuShares": 2, "ReadonlyRootfs": true,
                    "PortBindings": {"8080/tcp": [{"HostPort": "32810"}]}
                }
            })
        );
    }

    #[test]
    fn one_container_port_can_have_two_host_ports() {
        let mut request = bare();
        let udp = PortKey { port: 53, protocol: Protocol::Udp };
        request.host.port_bindings = vec![
            (TCP, PortBinding { host_ip: Some("127.0.0.1".into()), host_port: Some(80) }),
            (udp, PortBinding::default()),
            (TCP, PortBinding { host_ip: None, host_port: Some(81) }),
        ];
        assert_eq!(
            sent(&request)["HostConfig"]["PortBindings"],
            json!({
                "8080/tcp": [{"HostIp": "127.0.0.1", "HostPort": "80"}, {"HostPort": "81"}],
                "53/udp": [{}]
            })
        );
    }
}
