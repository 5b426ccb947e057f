//! A definition goes into a record and comes back.

use std::{collections::BTreeMap, net::IpAddr, time::Duration};

use lighterman_ids::{ContainerName, Family, ImageRef, VolumeName};
use lighterman_taskdef::{
    AppProtocol, Capability, Compatibility, Condition, ContainerDefinition, CpuArchitecture, CpuUnits, Dependency,
    Device, DevicePermissions, DockerVolume, EfsVolume, EnvironmentFile, EnvironmentValue, ExtraHost, FsxVolume,
    HealthCheck, HealthTest, HostAddress, InferenceAccelerator, IpcMode, IsolationMode, Link, LinuxParameters,
    LogConfiguration, LogDriver, LogRouter, Mebibytes, MountPoint, NetworkMode, OperatingSystem, PidMode, PortMapping,
    Protocol, ProxyConfiguration, ResourceRequirement, RestartPolicy, RouterKind, RuntimePlatform, S3FilesVolume,
    Secret, SecretReference, Tag, TaskDefinition, Tmpfs, Toggle, Ulimit, UlimitName, VersionConsistency, Volume,
    VolumeScope, VolumeSource, VolumesFrom, fields::Levels,
};
use proptest::{collection, option, prelude::*, sample::select};

fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[ -~]{1,12}", "\\PC{1,8}", "[\u{1}-\u{1f}\"\\\\ä]{1,6}"]
}

fn of<T: Copy + std::fmt::Debug + 'static>(all: &'static [(&'static str, T)]) -> impl Strategy<Value = T> {
    select(all).prop_map(|(_, value)| value)
}

fn seconds(lowest: u64, highest: u64) -> impl Strategy<Value = Duration> {
    (lowest..=highest).prop_map(Duration::from_secs)
}

fn health_check() -> impl Strategy<Value = HealthCheck> {
    let words = (select(vec!["CMD", "CMD-SHELL"]), "[!-~]{1,5}", collection::vec(text(), 0..3));
    let test = prop_oneof![
        Just(HealthTest::off()),
        words.prop_map(|(kind, first, rest)| {
            let words: Vec<_> = [kind.to_string(), first].into_iter().chain(rest).collect();
            HealthTest::parse(&words).unwrap()
        })
    ];
    (test, seconds(5, 300), seconds(2, 60), 1_u32..=10, seconds(0, 300)).prop_map(
        |(test, interval, timeout, retries, start_period)| HealthCheck {
            test,
            interval,
            timeout,
            retries,
            start_period,
        },
    )
}

fn port_mapping() -> impl Strategy<Value = PortMapping> {
    let ports = prop_oneof![
        (1_u16.., option::of(1_u16..)).prop_map(|(port, host)| (port, None, host)),
        (1_u16..1_000, 1_000_u16..).prop_map(|(first, last)| (first, Some(last), None)),
    ];
    (ports, of(Protocol::ALL), option::of("[a-z0-9_][a-z0-9_-]{0,9}"), option::of(of(AppProtocol::ALL))).prop_map(
        |((container_port, last_port, host_port), protocol, name, app_protocol)| PortMapping {
            container_port,
            last_port,
            host_port,
            protocol,
            name,
            app_protocol,
        },
    )
}

fn ulimit() -> impl Strategy<Value = Ulimit> {
    (of(UlimitName::ALL), 0_i64..1_000, prop_oneof![Just(-1_i64), 1_000_i64..]).prop_map(|(name, soft, hard)| Ulimit {
        name,
        soft,
        hard,
    })
}

fn log_configuration() -> impl Strategy<Value = LogConfiguration> {
    (of(LogDriver::ALL), options(), collection::vec(secret(), 0..2))
        .prop_map(|(driver, options, secret_options)| LogConfiguration { driver, options, secret_options })
}

fn options() -> impl Strategy<Value = BTreeMap<String, String>> {
    collection::btree_map(text(), text(), 0..3)
}

fn word() -> impl Strategy<Value = String> {
    "[A-Za-z0-9_-]{1,12}"
}

fn container_name() -> impl Strategy<Value = ContainerName> {
    word().prop_map(|name| ContainerName::parse(&name).unwrap())
}

fn volume_name() -> impl Strategy<Value = VolumeName> {
    // As the engine wants a shared one.
    "[A-Za-z0-9][A-Za-z0-9_-]{1,8}".prop_map(|name| VolumeName::parse(&name).unwrap())
}

fn path() -> impl Strategy<Value = String> {
    "/[a-z][a-z/: ]{0,8}"
}

fn some_mebibytes() -> impl Strategy<Value = Mebibytes> {
    (1_u32..).prop_map(Mebibytes)
}

fn secret() -> impl Strategy<Value = Secret> {
    let references = select(vec![
        "/a/parameter",
        "a parameter",
        "arn:aws:ssm:eu-west-1:1:parameter/a/b",
        "arn:aws:secretsmanager:eu-west-1:1:secret:a-AbCdEf",
        "arn:aws:secretsmanager:eu-west-1:1:secret:a-AbCdEf:key::",
        "arn:aws:secretsmanager:eu-west-1:1:secret:a-AbCdEf::stage:",
        "arn:aws:secretsmanager:eu-west-1:1:secret:a-AbCdEf:key::version",
    ]);
    ("[A-Z_a-z .-]{1,8}", references)
        .prop_map(|(name, from)| Secret { name, value_from: SecretReference::parse(from).unwrap() })
}

fn volume() -> impl Strategy<Value = Volume> {
    let docker = (any::<(bool, bool)>(), "[a-z]{1,6}", options(), options()).prop_map(
        |((shared, autoprovision), driver, driver_opts, labels)| DockerVolume {
            scope: if shared { VolumeScope::Shared { autoprovision } } else { VolumeScope::Task },
            driver,
            driver_opts,
            labels,
        },
    );
    let efs = prop_oneof![
        path().prop_map(|root_directory| EfsVolume {
            file_system_id: "fs-1".to_string(),
            root_directory,
            transit_encryption: Toggle::Disabled,
            transit_encryption_port: None,
            access_point_id: None,
            iam: Toggle::Disabled,
        }),
        (option::of(1_u16..), option::of("fsap-[a-z]{1,4}"), of(Toggle::ALL)).prop_map(
            |(transit_encryption_port, access_point_id, iam)| EfsVolume {
                file_system_id: "fs-1".to_string(),
                root_directory: "/".to_string(),
                transit_encryption: Toggle::Enabled,
                transit_encryption_port,
                access_point_id,
                iam,
            }
        ),
    ];
    let files = (option::of(1_u16..), option::of("arn:[a-z]{1,4}")).prop_map(|(port, point)| S3FilesVolume {
        file_system_arn: "arn:aws:s3files:eu-west-1:1:file-system/fs-1".to_string(),
        root_directory: "/".to_string(),
        transit_encryption_port: port,
        access_point_arn: point,
    });
    let fsx = (word(), word()).prop_map(|(root_directory, domain)| FsxVolume {
        file_system_id: "fs-1".to_string(),
        root_directory,
        credentials_parameter: "arn:aws:secretsmanager:eu-west-1:1:secret:a".to_string(),
        domain,
    });
    let source = prop_oneof![
        Just(VolumeSource::Empty),
        path().prop_map(VolumeSource::HostPath),
        docker.prop_map(VolumeSource::Docker),
        efs.prop_map(VolumeSource::Efs),
        files.prop_map(VolumeSource::S3Files),
        fsx.prop_map(VolumeSource::FsxWindows),
        Just(VolumeSource::ConfiguredAtLaunch),
    ];
    (volume_name(), source).prop_map(|(name, source)| Volume { name, source })
}

fn device() -> impl Strategy<Value = Device> {
    let permissions = any::<(bool, bool, bool)>().prop_filter("one of them", |(r, w, m)| *r || *w || *m);
    (path(), path(), permissions).prop_map(|(host_path, container_path, (read, write, mknod))| Device {
        host_path,
        container_path,
        permissions: DevicePermissions { read, write, mknod },
    })
}

fn tmpfs() -> impl Strategy<Value = Tmpfs> {
    let options = collection::vec(select(vec!["rw", "noexec", "mode=1777", "uid=1", "mpol=bind:0"]), 0..3);
    (path(), some_mebibytes(), options).prop_map(|(container_path, size, options)| Tmpfs {
        container_path,
        size,
        mount_options: options.into_iter().map(str::to_string).collect(),
    })
}

fn capabilities() -> impl Strategy<Value = Vec<Capability>> {
    collection::btree_set(of(Capability::ALL), 0..3).prop_map(|all| all.into_iter().collect())
}

prop_compose! {
    fn linux_parameters()(
        init_process_enabled in option::of(any::<bool>()),
        max_swap in option::of((0_u32..).prop_map(Mebibytes)),
        swappiness in option::of(0_u8..=100),
        shared_memory_size in option::of(some_mebibytes()),
        tmpfs in collection::vec(tmpfs(), 0..2),
        capabilities_added in capabilities(),
        capabilities_dropped in capabilities(),
        devices in collection::vec(device(), 0..2),
    ) -> LinuxParameters {
        LinuxParameters {
            init_process_enabled, max_swap, swappiness, shared_memory_size, tmpfs, capabilities_added,
            capabilities_dropped, devices,
        }
    }
}

fn resource() -> impl Strategy<Value = ResourceRequirement> {
    prop_oneof![
        (1_u32..).prop_map(ResourceRequirement::Gpus),
        Just(ResourceRequirement::AllGpus),
        (some_mebibytes(), option::of(1_u8..=100)).prop_map(|(memory, max_compute_percent)| {
            ResourceRequirement::SharedGpu { memory, max_compute_percent }
        }),
        word().prop_map(ResourceRequirement::InferenceAccelerator),
        Just(ResourceRequirement::AllNeuronDevices),
    ]
}

fn host_address() -> impl Strategy<Value = HostAddress> {
    prop_oneof![any::<IpAddr>().prop_map(HostAddress::Ip), Just(HostAddress::HostGateway)]
}

prop_compose! {
    /// What came with more than one container.
    fn surroundings()(
        repository_credentials in option::of(word()),
        version_consistency in of(VersionConsistency::ALL),
        environment_files in collection::vec(prop_oneof![
            "[a-z]{1,5}/[a-z]{1,5}[.]env".prop_map(|key| EnvironmentFile::S3(format!("arn:aws:s3:::{key}"))),
            "[a-z/]{1,5}[.]env".prop_map(EnvironmentFile::Local),
        ], 0..3),
        secrets in collection::vec(secret(), 0..3),
        options in collection::vec(select(vec!["no-new-privileges", "apparmor:a", "label:type:x"]), 0..3),
        credential_spec in option::of(Just("credentialspec:arn:aws:s3:::a/b".to_string())),
        depends_on in collection::vec((container_name(), of(Condition::ALL)), 0..3),
        restart_policy in option::of((collection::vec(0_i32..=255, 0..4), seconds(60, 1_800))),
        links in collection::vec((container_name(), container_name()), 0..3),
    ) -> ContainerDefinition {
        ContainerDefinition {
            repository_credentials, version_consistency, environment_files, secrets,
            docker_security_options: options.into_iter().map(str::to_string).collect(),
            credential_specs: credential_spec.into_iter().collect(),
            depends_on: depends_on.into_iter().map(|(container, condition)| Dependency { container, condition }).collect(),
            restart_policy: restart_policy
                .map(|(ignored_exit_codes, attempt_period)| RestartPolicy { ignored_exit_codes, attempt_period }),
            links: links.into_iter().map(|(container, alias)| Link { container, alias }).collect(),
            ..ContainerDefinition::new(ContainerName::parse("web").unwrap(), ImageRef::parse("busybox:test").unwrap())
        }
    }
}

prop_compose! {
    fn reach()(
        surroundings in surroundings(),
        dns_servers in collection::vec(any::<IpAddr>(), 0..3),
        dns_search_domains in collection::vec("[a-z.]{1,8}", 0..3),
        extra_hosts in collection::vec(("[a-z.]{1,8}", host_address()), 0..3),
        disable_networking: bool,
        system_controls in collection::btree_map("net[.][a-z.]{1,8}", text(), 0..3),
        resource_requirements in collection::vec(resource(), 0..2),
        log_router in option::of((of(RouterKind::ALL), options())),
        mount_points in collection::vec((volume_name(), path(), any::<bool>()), 0..3),
        volumes_from in collection::vec((container_name(), any::<bool>()), 0..3),
    ) -> ContainerDefinition {
        ContainerDefinition {
            dns_servers, dns_search_domains, disable_networking, system_controls, resource_requirements,
            extra_hosts: extra_hosts.into_iter().map(|(hostname, address)| ExtraHost { hostname, address }).collect(),
            log_router: log_router.map(|(kind, options)| LogRouter { kind, options }),
            mount_points: mount_points
                .into_iter()
                .map(|(source_volume, container_path, read_only)| MountPoint { source_volume, container_path, read_only })
                .collect(),
            volumes_from: volumes_from
                .into_iter()
                .map(|(source_container, read_only)| VolumesFrom { source_container, read_only })
                .collect(),
            ..surroundings
        }
    }
}

prop_compose! {
    fn process()(
        reach in reach(),
        essential: bool, interactive: bool, pseudo_terminal: bool, privileged: bool, readonly_root_filesystem: bool,
        entry_point in collection::vec(text(), 0..3),
        command in collection::vec(text(), 0..4),
        environment in collection::btree_map("[A-Za-z_. -]{1,8}", text().prop_map(|v| EnvironmentValue::new(&v)), 0..4),
        user in option::of(select(vec!["root", "1000:1000", "0", "a:b"])),
        directory in option::of("/[a-z/ ]{0,8}"),
        hostname in option::of("[a-zA-Z0-9._-]{1,64}"),
        labels in collection::btree_map(text(), text(), 0..3),
    ) -> ContainerDefinition {
        ContainerDefinition {
            essential, interactive, pseudo_terminal, privileged, readonly_root_filesystem, entry_point, command, environment,
            user: user.map(str::to_string),
            working_directory: directory,
            hostname,
            docker_labels: labels,
            ..reach
        }
    }
}

prop_compose! {
    fn container()(
        process in process(),
        name in "[A-Za-z0-9_-]{1,20}",
        cpu in 0_u32..,
        memory in option::of(6_u32..),
        reservation in option::of(6_u32..),
        health_check in option::of(health_check()),
        stop_timeout in option::of(seconds(1, 2_147_483_647)),
        start_timeout in option::of(seconds(1, 100)),
        linux_parameters in linux_parameters(),
        ulimits in collection::vec(ulimit(), 0..3),
        log_configuration in option::of(log_configuration()),
        port_mappings in collection::vec(port_mapping(), 0..4),
    ) -> ContainerDefinition {
        ContainerDefinition {
            name: ContainerName::parse(&name).unwrap(),
            cpu: CpuUnits(cpu),
            memory: memory.map(Mebibytes),
            memory_reservation: reservation.map(Mebibytes),
            health_check, stop_timeout, start_timeout, linux_parameters, ulimits, log_configuration, port_mappings,
            ..process
        }
    }
}

prop_compose! {
    fn whole()(
        volumes in collection::vec(volume(), 0..4),
        pid_mode in option::of(of(PidMode::ALL)),
        ipc_mode in option::of(of(IpcMode::ALL)),
        cpu_architecture in option::of(of(CpuArchitecture::ALL)),
        operating_system in of(OperatingSystem::ALL),
        proxy in option::of((container_name(), options())),
        placement_constraints in collection::vec("[ -~]{1,12}", 0..3),
        accelerators in collection::vec((word(), word()), 0..2),
        ephemeral_storage_gib in option::of(1_u32..),
        enable_fault_injection: bool,
        isolation in of(IsolationMode::ALL),
        policy in option::of(Just("AAAA".to_string())),
    ) -> TaskDefinition {
        TaskDefinition {
            volumes, pid_mode, ipc_mode, placement_constraints, ephemeral_storage_gib, enable_fault_injection, isolation,
            runtime_platform: RuntimePlatform { cpu_architecture, operating_system },
            proxy: proxy.map(|(container, mut properties)| {
                properties.remove("");
                ProxyConfiguration { container, properties }
            }),
            inference_accelerators: accelerators
                .into_iter()
                .map(|(device_name, device_type)| InferenceAccelerator { device_name, device_type })
                .collect(),
            attestation_policy: match isolation {
                IsolationMode::ConfidentialSandbox => Some("QUJD".to_string()),
                IsolationMode::Shared | IsolationMode::IsolatedSandbox => policy,
            },
            ..TaskDefinition::new(Family::parse("f").unwrap(), Vec::new())
        }
    }
}

prop_compose! {
    fn task()(
        whole in whole(),
        family in "[A-Za-z0-9_-]{1,20}",
        revision in 1_u32..,
        arn in option::of("arn:aws:ecs:[a-z]{0,4}:[0-9]{0,3}:task-definition/[a-z]{1,4}:1"),
        mode in select(vec![NetworkMode::Bridge, NetworkMode::None]),
        containers in collection::vec(container(), 1..3),
        cpu in option::of(1_u32..), memory in option::of(1_u32..),
        roles in (option::of("[a-z]{1,8}"), option::of("[a-z]{1,8}")),
        places in collection::vec(of(Compatibility::ALL), 0..3),
        tags in collection::vec(("[a-z]{1,8}", "[a-z =+@]{0,8}"), 0..3),
    ) -> TaskDefinition {
        TaskDefinition {
            family: Family::parse(&family).unwrap(),
            revision, arn, containers,
            network_mode: mode,
            cpu: cpu.map(CpuUnits),
            memory: memory.map(Mebibytes),
            task_role_arn: roles.0,
            execution_role_arn: roles.1,
            requires_compatibilities: places,
            tags: tags.into_iter().map(|(key, value)| Tag { key, value }).collect(),
            ..whole
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_stored_definition_comes_back_equal(mut task in task()) {
        for container in &mut task.containers {
            // An empty first word is refused without a command (V54); it is not what this is about.
            container.entry_point.retain(|word| !word.is_empty());
            // So is half of a pair of options (V70).
            if let Some(router) = &mut container.log_router {
                router.options.retain(|name, _| !name.contains("config"));
            }
        }
        let text = task.to_register_json();
        let back = TaskDefinition::from_register_json_with(&text, Levels::Any).map_err(|findings| TestCaseError::fail(findings.to_string()))?;
        prop_assert_eq!(&back, &task, "{}", text);
        prop_assert_eq!(back.to_register_json(), text);
    }
}

#[test]
fn rules_that_came_later_do_not_make_a_record_unreadable() {
    // Two containers, no memory limit, one host port twice: a file would be refused.
    let text = r#"{"family":"f","containerDefinitions":[
        {"name":"a","image":"b","portMappings":[{"containerPort":1,"hostPort":1}]},
        {"name":"a","image":"b","portMappings":[{"containerPort":1,"hostPort":1}]}]}"#;
    assert!(lighterman_taskdef::read("f.json", text.as_bytes()).is_err());
    assert_eq!(TaskDefinition::from_register_json(text).unwrap().containers.len(), 2);
}

#[test]
fn a_damaged_record_is_refused_with_a_place() {
    let text = TaskDefinition::new(Family::parse("f").unwrap(), Vec::new()).to_register_json();
    let findings = TaskDefinition::from_register_json(&text).unwrap_err();
    assert_eq!(findings.source, "stored definition");
    assert_eq!(findings.errors[0].rule.0, 8);
    assert!(TaskDefinition::from_register_json(&text[..10]).is_err());
}
