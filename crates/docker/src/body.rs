//! The body of a create call.

use std::{
    collections::{BTreeMap, HashMap},
    time::Duration,
};

use bollard::models;
use bytes::Bytes;
use lighterman_calls::{
    ContainerConfig, CreateRequest, Device, Gpus, HealthcheckConfig, HostConfig, LogConfig, Mount, MountSource,
    PortBinding, PortKey, Propagation, Ulimit, UtsMode, VolumeRequest,
};

/// The request as the engine takes it. Members that are absent in the request are absent in the body.
///
/// It holds values of the environment: never log it.
pub(crate) fn create(request: &CreateRequest) -> Result<Bytes, serde_json::Error> {
    let body = container(&request.config, &request.host);
    serde_json::to_vec(&body).map(Bytes::from)
}

/// It can hold passwords of the volume's driver: never log it.
pub(crate) fn volume(request: &VolumeRequest) -> Result<Bytes, serde_json::Error> {
    let body = models::VolumeCreateRequest {
        name: Some(request.name.as_str().into()),
        driver: Some(request.driver.clone()),
        driver_opts: map(&request.options),
        labels: map(&request.labels),
        cluster_volume_spec: None,
    };
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
        network_disabled: config.network_disabled.then_some(true),
        healthcheck: config.healthcheck.as_ref().map(healthcheck),
        host_config: Some(host_config(host)),
        ..models::ContainerCreateBody::default()
    }
}

fn host_config(host: &HostConfig) -> models::HostConfig {
    models::HostConfig {
        memory: host.memory.map(bytes),
        memory_reservation: host.memory_reservation.map(bytes),
        memory_swap: host.memory_swap.map(bytes),
        memory_swappiness: host.memory_swappiness.map(Into::into),
        cpu_shares: Some(host.cpu_shares.into()),
        network_mode: host.network_mode.as_ref().map(ToString::to_string),
        pid_mode: host.pid_mode.as_ref().map(ToString::to_string),
        ipc_mode: host.ipc_mode.as_ref().map(ToString::to_string),
        uts_mode: host.uts_mode.map(UtsMode::as_str).map(Into::into),
        port_bindings: port_bindings(&host.port_bindings),
        links: texts(&host.links),
        dns: present(host.dns.clone()),
        dns_search: present(host.dns_search.clone()),
        extra_hosts: texts(&host.extra_hosts),
        volumes_from: texts(&host.volumes_from),
        binds: present(host.binds.iter().map(bind).collect()),
        mounts: present(host.mounts.iter().map(mount).collect()),
        tmpfs: map(&host.tmpfs),
        shm_size: host.shm_size.map(bytes),
        devices: present(host.devices.iter().map(device).collect()),
        device_requests: host.gpus.as_ref().map(|gpus| vec![device_request(gpus)]),
        cap_add: present(host.cap_add.clone()),
        cap_drop: present(host.cap_drop.clone()),
        security_opt: present(host.security_opt.clone()),
        sysctls: map(&host.sysctls),
        group_add: present(host.group_add.clone()),
        cgroup_parent: host.cgroup_parent.clone(),
        runtime: host.runtime.clone(),
        oom_kill_disable: host.oom_kill_disable.then_some(true),
        oom_score_adj: host.oom_score_adj.map(Into::into),
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

fn texts<T: ToString>(list: &[T]) -> Option<Vec<String>> {
    present(list.iter().map(ToString::to_string).collect())
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

/// `source:target`, and what is not the default behind it.
fn bind(mount: &Mount) -> String {
    let mut text = format!("{}:{}", mount.source.as_str(), mount.target);
    let propagation = propagation(&mount.source).map(Propagation::as_str);
    for (position, word) in mount.read_only.then_some("ro").into_iter().chain(propagation).enumerate() {
        text.push(if position == 0 { ':' } else { ',' });
        text.push_str(word);
    }
    text
}

const fn propagation(source: &MountSource) -> Option<Propagation> {
    match source {
        MountSource::Host { propagation, .. } => *propagation,
        MountSource::Volume(_) => None,
    }
}

fn mount(mount: &Mount) -> models::Mount {
    use models::MountBindOptionsPropagationEnum as Word;
    let options = propagation(&mount.source).map(|propagation| models::MountBindOptions {
        propagation: Some(match propagation {
            Propagation::Private => Word::PRIVATE,
            Propagation::RPrivate => Word::RPRIVATE,
            Propagation::Shared => Word::SHARED,
            Propagation::RShared => Word::RSHARED,
            Propagation::Slave => Word::SLAVE,
            Propagation::RSlave => Word::RSLAVE,
        }),
        ..models::MountBindOptions::default()
    });
    models::Mount {
        typ: Some(match mount.source {
            MountSource::Volume(_) => models::MountType::VOLUME,
            MountSource::Host { .. } => models::MountType::BIND,
        }),
        source: Some(mount.source.as_str().into()),
        target: Some(mount.target.clone()),
        read_only: mount.read_only.then_some(true),
        bind_options: options,
        ..models::Mount::default()
    }
}

fn device(device: &Device) -> models::DeviceMapping {
    models::DeviceMapping {
        path_on_host: Some(device.host_path.clone()),
        path_in_container: Some(device.container_path.clone()),
        cgroup_permissions: Some(device.access.as_str().into()),
    }
}

/// A count or ids, never both: the engine takes both, and heeds one (taskdef.md 2.6).
fn device_request(gpus: &Gpus) -> models::DeviceRequest {
    let (count, device_ids) = match gpus {
        Gpus::All => (Some(-1), None),
        Gpus::Count(count) => (Some(i64::from(*count)), None),
        Gpus::Ids(ids) => (None, Some(ids.clone())),
    };
    models::DeviceRequest {
        driver: Some(String::new()),
        count,
        device_ids,
        capabilities: Some(vec![vec!["gpu".into()]]),
        options: None,
    }
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
    use lighterman_calls::{
        ContainerTarget, DeviceAccess, ExtraHost, HealthTest, IpcMode, Link, NetworkMode, PidMode, Protocol,
        VolumesFrom,
    };
    use lighterman_ids::{ImageRef, RuntimeId, RuntimeName};
    use serde_json::{Value, json};

    use super::*;

    const TCP: PortKey = PortKey { port: 8080, protocol: Protocol::Tcp };

    fn bare() -> CreateRequest {
        CreateRequest {
            name: RuntimeName::parse("ecs-web").unwrap(),
            platform: None,
            config: ContainerConfig::new(ImageRef::parse("busybox:test").unwrap()),
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

    fn named(name: &str) -> ContainerTarget {
        ContainerTarget::Name(RuntimeName::parse(name).unwrap())
    }

    fn volume(name: &str) -> MountSource {
        MountSource::Volume(RuntimeName::parse(name).unwrap())
    }

    fn path(path: &str, propagation: Option<Propagation>) -> MountSource {
        MountSource::Host { path: path.into(), propagation }
    }

    #[test]
    fn absent_members_are_absent() {
        assert_eq!(sent(&bare()), json!({"Image": "busybox:test", "HostConfig": {"CpuShares": 2}}));
    }

    #[test]
    fn the_bodies_of_the_worked_example_are_sent() {
        // taskdef.md 5.3.
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
            memory_swap: Some(33_554_432),
            memory_swappiness: Some(10),
            cpu_shares: 2,
            binds: vec![
                Mount { source: volume("ecs-site-90ab"), target: "/site".into(), read_only: false },
                Mount { source: path("/etc", None), target: "/host-etc".into(), read_only: true },
            ],
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
                    "Binds": ["ecs-site-90ab:/site", "/etc:/host-etc:ro"],
                    "Memory": 33_554_432, "MemoryReservation": 16_777_216, "MemorySwap": 33_554_432,
                    "MemorySwappiness": 10, "CpuShares": 2, "Init": true,
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
        web.host = HostConfig {
            links: vec![Link { container: named("ecs-store"), alias: "s".into() }],
            volumes_from: vec![VolumesFrom { container: named("ecs-store"), read_only: true }],
            memory: Some(67_108_864),
            cpu_shares: 128,
            shm_size: Some(16_777_216),
            tmpfs: pairs(&[("/scratch", "rw,noexec,mode=1777,size=8m")]),
            cap_add: texts(&["NET_ADMIN"]),
            cap_drop: texts(&["MKNOD"]),
            sysctls: pairs(&[("net.core.somaxconn", "512")]),
            dns: texts(&["10.0.0.2"]),
            dns_search: texts(&["example.test"]),
            extra_hosts: vec![ExtraHost { hostname: "db".into(), address: "10.1.2.3".into() }],
            security_opt: texts(&["no-new-privileges"]),
            devices: vec![Device {
                host_path: "/dev/zero".into(),
                container_path: "/dev/fill".into(),
                access: DeviceAccess::of(&["read", "write"]).unwrap(),
            }],
            cgroup_parent: Some("/ecs/0f1e".into()),
            ..HostConfig::default()
        };
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
                    "Links": ["ecs-store:s"],
                    "VolumesFrom": ["ecs-store:ro"],
                    "PortBindings": {"8080/tcp": [{"HostPort": "32810"}]},
                    "Memory": 67_108_864,
                    "CpuShares": 128,
                    "ReadonlyRootfs": true,
                    "ShmSize": 16_777_216,
                    "Tmpfs": {"/scratch": "rw,noexec,mode=1777,size=8m"},
                    "CapAdd": ["NET_ADMIN"],
                    "CapDrop": ["MKNOD"],
                    "Sysctls": {"net.core.somaxconn": "512"},
                    "Dns": ["10.0.0.2"],
                    "DnsSearch": ["example.test"],
                    "ExtraHosts": ["db:10.1.2.3"],
                    "SecurityOpt": ["no-new-privileges"],
                    "Devices": [
                        {"PathOnHost": "/dev/zero", "PathInContainer": "/dev/fill", "CgroupPermissions": "rw"}
                    ],
                    "CgroupParent": "/ecs/0f1e"
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

    /// The members of `HostConfig` beside the one that is always sent.
    fn host(change: impl FnOnce(&mut HostConfig)) -> Value {
        let mut request = bare();
        change(&mut request.host);
        let mut body = sent(&request)["HostConfig"].take();
        assert_eq!(body.as_object_mut().unwrap().remove("CpuShares"), Some(json!(2)));
        body
    }

    #[test]
    fn each_member_of_the_host_is_sent_under_its_name() {
        let id = RuntimeId::parse(&"ab".repeat(32)).unwrap();
        let joined = format!("container:{id}");
        let by_id = || ContainerTarget::Id(id.clone());
        let rows = [
            (host(|h| h.memory = Some(6_291_456)), json!({"Memory": 6_291_456})),
            (host(|h| h.memory_reservation = Some(6_291_456)), json!({"MemoryReservation": 6_291_456})),
            (host(|h| h.memory_swap = Some(335_544_320)), json!({"MemorySwap": 335_544_320})),
            (host(|h| h.memory_swappiness = Some(0)), json!({"MemorySwappiness": 0})),
            (host(|h| h.network_mode = Some(NetworkMode::Bridge)), json!({"NetworkMode": "bridge"})),
            (host(|h| h.network_mode = Some(NetworkMode::Host)), json!({"NetworkMode": "host"})),
            (host(|h| h.network_mode = Some(NetworkMode::None)), json!({"NetworkMode": "none"})),
            (host(|h| h.network_mode = Some(NetworkMode::Container(by_id()))), json!({"NetworkMode": joined})),
            (host(|h| h.pid_mode = Some(PidMode::Host)), json!({"PidMode": "host"})),
            (host(|h| h.pid_mode = Some(PidMode::Container(by_id()))), json!({"PidMode": joined})),
            (host(|h| h.ipc_mode = Some(IpcMode::None)), json!({"IpcMode": "none"})),
            (host(|h| h.ipc_mode = Some(IpcMode::Host)), json!({"IpcMode": "host"})),
            (host(|h| h.ipc_mode = Some(IpcMode::Shareable)), json!({"IpcMode": "shareable"})),
            (host(|h| h.ipc_mode = Some(IpcMode::Container(by_id()))), json!({"IpcMode": joined})),
            (host(|h| h.uts_mode = Some(UtsMode::Host)), json!({"UTSMode": "host"})),
            (
                host(|h| h.links = vec![Link { container: named("ecs-db"), alias: "db".into() }]),
                json!({"Links": ["ecs-db:db"]}),
            ),
            (host(|h| h.dns = texts(&["10.0.0.2", "fe80::1"])), json!({"Dns": ["10.0.0.2", "fe80::1"]})),
            (host(|h| h.dns_search = texts(&["."])), json!({"DnsSearch": ["."]})),
            (
                host(|h| h.extra_hosts = vec![ExtraHost { hostname: "a".into(), address: "fe80::1".into() }]),
                json!({"ExtraHosts": ["a:fe80::1"]}),
            ),
            (
                host(|h| h.volumes_from = vec![VolumesFrom { container: named("ecs-db"), read_only: false }]),
                json!({"VolumesFrom": ["ecs-db"]}),
            ),
            (host(|h| h.tmpfs = pairs(&[("/t", "size=16m")])), json!({"Tmpfs": {"/t": "size=16m"}})),
            (host(|h| h.shm_size = Some(104_857_600)), json!({"ShmSize": 104_857_600})),
            (
                host(|h| h.gpus = Some(Gpus::All)),
                json!({"DeviceRequests": [{"Driver": "", "Count": -1, "Capabilities": [["gpu"]]}]}),
            ),
            (
                host(|h| h.gpus = Some(Gpus::Count(2))),
                json!({"DeviceRequests": [{"Driver": "", "Count": 2, "Capabilities": [["gpu"]]}]}),
            ),
            (
                host(|h| h.gpus = Some(Gpus::Ids(texts(&["GPU-1"])))),
                json!({"DeviceRequests": [{"Driver": "", "DeviceIDs": ["GPU-1"], "Capabilities": [["gpu"]]}]}),
            ),
            (host(|h| h.cap_add = texts(&["ALL"])), json!({"CapAdd": ["ALL"]})),
            (host(|h| h.cap_drop = texts(&["KILL", "CHOWN"])), json!({"CapDrop": ["KILL", "CHOWN"]})),
            (host(|h| h.security_opt = texts(&["label=type:svirt_t"])), json!({"SecurityOpt": ["label=type:svirt_t"]})),
            (host(|h| h.sysctls = pairs(&[("kernel.sem", "1 2")])), json!({"Sysctls": {"kernel.sem": "1 2"}})),
            (host(|h| h.group_add = texts(&["1000"])), json!({"GroupAdd": ["1000"]})),
            (host(|h| h.cgroup_parent = Some("ecstasks-1.slice".into())), json!({"CgroupParent": "ecstasks-1.slice"})),
            (host(|h| h.runtime = Some("nvidia".into())), json!({"Runtime": "nvidia"})),
            (host(|h| h.oom_kill_disable = true), json!({"OomKillDisable": true})),
            (host(|h| h.oom_score_adj = Some(-5)), json!({"OomScoreAdj": -5})),
            (host(|h| h.privileged = true), json!({"Privileged": true})),
            (host(|h| h.readonly_rootfs = true), json!({"ReadonlyRootfs": true})),
            (host(|h| h.init = Some(false)), json!({"Init": false})),
        ];
        for (sent, expected) in rows {
            assert_eq!(sent, expected);
        }
        let mut alone = bare();
        alone.config.network_disabled = true;
        assert_eq!(sent(&alone)["NetworkDisabled"], json!(true));
    }

    #[test]
    fn mounts_are_written_as_binds_or_as_mounts() {
        let mount = |source: MountSource, read_only| Mount { source, target: "/data".into(), read_only };
        for (mount, bind, typ) in [
            (mount(volume("site"), false), "site:/data", "volume"),
            (mount(volume("site"), true), "site:/data:ro", "volume"),
            (mount(path("/etc", None), false), "/etc:/data", "bind"),
            (mount(path("/etc", Some(Propagation::Slave)), false), "/etc:/data:slave", "bind"),
            (mount(path("/etc", Some(Propagation::RShared)), true), "/etc:/data:ro,rshared", "bind"),
        ] {
            assert_eq!(host(|h| h.binds = vec![mount.clone()]), json!({"Binds": [bind]}));
            let mut expected = json!({"Type": typ, "Source": mount.source.as_str(), "Target": "/data"});
            if mount.read_only {
                expected["ReadOnly"] = json!(true);
            }
            if let MountSource::Host { propagation: Some(propagation), .. } = mount.source {
                expected["BindOptions"] = json!({"Propagation": propagation.as_str()});
            }
            assert_eq!(host(|h| h.mounts = vec![mount]), json!({"Mounts": [expected]}));
        }
        for propagation in Propagation::ALL {
            let written = host(|h| h.mounts = vec![mount(path("/etc", Some(propagation)), false)]);
            assert_eq!(written["Mounts"][0]["BindOptions"]["Propagation"], json!(propagation.as_str()));
        }
    }

    #[test]
    fn t37_t38_permissions_of_devices_are_letters() {
        for (words, letters) in [
            (&["read"][..], "r"),
            (&["mknod", "read"], "rm"),
            (&["write", "write"], "w"),
            (&["mknod"], "m"),
            (&["mknod", "write"], "wm"),
            (&["write", "read"], "rw"),
            (&["write", "read", "mknod"], "rwm"),
        ] {
            let access = DeviceAccess::of(words).unwrap();
            let device = Device { host_path: "/dev/a".into(), container_path: "/dev/b".into(), access };
            assert_eq!(
                host(|h| h.devices = vec![device]),
                json!({"Devices": [
                    {"PathOnHost": "/dev/a", "PathInContainer": "/dev/b", "CgroupPermissions": letters}
                ]})
            );
        }
        assert_eq!(DeviceAccess::ALL.as_str(), "rwm");
        assert_eq!(DeviceAccess::of(&["read", "execute"]), None);
    }

    #[test]
    fn volumes_are_asked_for_with_what_is_given() {
        let name = RuntimeName::parse("ecs-site").unwrap();
        let (driver, none) = ("local".to_owned(), BTreeMap::new());
        let plain = VolumeRequest { name, driver, options: none.clone(), labels: none };
        let body =
            |request: &VolumeRequest| -> Value { serde_json::from_slice(&super::volume(request).unwrap()).unwrap() };
        assert_eq!(body(&plain), json!({"Name": "ecs-site", "Driver": "local"}));
        let full = VolumeRequest { options: pairs(&[("type", "nfs")]), labels: pairs(&[("a", "1")]), ..plain };
        assert_eq!(
            body(&full),
            json!({"Name": "ecs-site", "Driver": "local", "DriverOpts": {"type": "nfs"}, "Labels": {"a": "1"}})
        );
    }
}
