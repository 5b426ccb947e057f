//! A definition goes into a record and comes back.

use std::time::Duration;

use lighterman_ids::{ContainerName, Family, ImageRef};
use lighterman_taskdef::{
    Compatibility, ContainerDefinition, CpuUnits, EnvironmentValue, HealthCheck, HealthTest, LinuxParameters,
    LogConfiguration, LogDriver, Mebibytes, NetworkMode, PortMapping, Protocol, Tag, TaskDefinition, Ulimit,
    UlimitName,
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
    (1_u16.., option::of(1_u16..), of(Protocol::ALL), option::of("[a-z0-9_][a-z0-9_-]{0,9}")).prop_map(
        |(container_port, host_port, protocol, name)| PortMapping { container_port, host_port, protocol, name },
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
    (of(LogDriver::ALL), collection::btree_map(text(), text(), 0..3))
        .prop_map(|(driver, options)| LogConfiguration { driver, options })
}

prop_compose! {
    fn process()(
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
            ..ContainerDefinition::new(ContainerName::parse("web").unwrap(), ImageRef::parse("busybox:test").unwrap())
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
        init in option::of(any::<bool>()),
        ulimits in collection::vec(ulimit(), 0..3),
        log_configuration in option::of(log_configuration()),
        port_mappings in collection::vec(port_mapping(), 0..4),
    ) -> ContainerDefinition {
        ContainerDefinition {
            name: ContainerName::parse(&name).unwrap(),
            cpu: CpuUnits(cpu),
            memory: memory.map(Mebibytes),
            memory_reservation: reservation.map(Mebibytes),
            health_check, stop_timeout, start_timeout,
            linux_parameters: LinuxParameters { init_process_enabled: init },
            ulimits, log_configuration, port_mappings,
            ..process
        }
    }
}

prop_compose! {
    fn task()(
        family in "[A-Za-z0-9_-]{1,20}",
        revision in 1_u32..,
        arn in option::of("arn:[a-z:]{1,20}"),
        mode in select(vec![NetworkMode::Bridge, NetworkMode::None]),
        containers in collection::vec(container(), 1..3),
        cpu in option::of(1_u32..), memory in option::of(1_u32..),
        roles in (option::of("[a-z]{1,8}"), option::of("[a-z]{1,8}")),
        places in collection::vec(of(Compatibility::ALL), 0..3),
        tags in collection::vec(("[a-z]{1,8}", "[a-z =+@]{0,8}"), 0..3),
    ) -> TaskDefinition {
        TaskDefinition {
            revision, arn,
            network_mode: mode,
            cpu: cpu.map(CpuUnits),
            memory: memory.map(Mebibytes),
            task_role_arn: roles.0,
            execution_role_arn: roles.1,
            requires_compatibilities: places,
            tags: tags.into_iter().map(|(key, value)| Tag { key, value }).collect(),
            ..TaskDefinition::new(Family::parse(&family).unwrap(), containers)
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
        }
        let text = task.to_register_json();
        let back = TaskDefinition::from_register_json(&text).map_err(|findings| TestCaseError::fail(findings.to_string()))?;
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
