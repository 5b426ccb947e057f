//! Log drivers and the log router (V69, V70).

use alloc::{collections::BTreeSet, format, vec::Vec};

use super::Rules;
use crate::{
    definition::{Compatibility, ContainerDefinition, LogDriver},
    field::Field,
    finding::{Collector, allowed, hint},
};

pub(super) fn check(rules: &Rules<'_>, findings: &mut Collector) {
    let is_fargate = rules.is_for(Compatibility::Fargate);
    for (field, container) in rules.containers() {
        options(field, container, is_fargate, findings);
    }
    routers(rules, findings);
}

/// V69.
fn options(field: &Field, container: &ContainerDefinition, is_fargate: bool, findings: &mut Collector) {
    let (Some(log), Some(written)) = (&container.log_configuration, field.get("logConfiguration")) else { return };
    let secret: BTreeSet<&str> = log.secret_options.iter().map(|option| option.name.as_str()).collect();
    let has = |option: &str| log.options.contains_key(option) || secret.contains(option);
    let place = written.place_of("options");
    if !written.is_broken("options") && !written.is_broken("secretOptions") {
        let required = required_options(log.driver);
        for option in required.iter().filter(|option| !has(option)) {
            findings.error(69, &place, format!("{option} is missing"), allowed(required.join(", ")));
        }
        if is_fargate && log.driver == LogDriver::Awslogs && !has("awslogs-stream-prefix") {
            let advice = allowed("on FARGATE with awslogs-stream-prefix");
            findings.error(69, &place, "awslogs-stream-prefix is missing", advice);
        }
    }
    if log.driver == LogDriver::Awslogs && has("awslogs-stream") && has("awslogs-stream-prefix") {
        let message = "awslogs-stream and awslogs-stream-prefix";
        findings.warning(69, &place, message, hint("awslogs-stream wins"));
    }
    let is_there = matches!(log.driver, LogDriver::Awslogs | LogDriver::Splunk | LogDriver::Awsfirelens);
    let is_ours = matches!(log.driver, LogDriver::Local | LogDriver::None);
    if is_fargate && !is_there {
        let message = format!("logDriver \"{}\"", log.driver);
        let advice = allowed("on FARGATE awslogs, splunk, awsfirelens");
        findings.error(69, &written.place_of("logDriver"), message, advice);
    } else if is_ours {
        let message = format!("logDriver \"{}\" is not in the API of the service", log.driver);
        findings.warning(4, &written.place_of("logDriver"), message, None);
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
        | LogDriver::Awsfirelens
        | LogDriver::Local
        | LogDriver::None => &[],
    }
}

/// V70.
fn routers(rules: &Rules<'_>, findings: &mut Collector) {
    let is_router = |field: &Field| field.get("firelensConfiguration").is_some();
    let routers: Vec<&Field> =
        rules.root.list("containerDefinitions").iter().filter(|field| is_router(field)).collect();
    if let [_, second, ..] = routers[..] {
        let place = second.place_of("firelensConfiguration");
        findings.error(70, &place, format!("{} log routers", routers.len()), allowed("one in the task"));
    }
    for (field, container) in rules.containers() {
        let log = container.log_configuration.as_ref();
        if log.is_none_or(|log| log.driver != LogDriver::Awsfirelens) {
            continue;
        }
        let place = field.get("logConfiguration").map_or_else(|| field.place.clone(), |log| log.place_of("logDriver"));
        if is_router(field) {
            let message = "awsfirelens on the log router itself";
            findings.error(70, &place, message, allowed("another driver"));
        } else if routers.is_empty() {
            let message = "awsfirelens but no container has firelensConfiguration";
            findings.error(70, &place, message, allowed("one log router in the task"));
        }
    }
    for (field, container) in rules.containers().filter(|_| rules.is_for(Compatibility::Fargate)) {
        let kind = container.log_router.as_ref().and_then(|router| router.options.get("config-file-type"));
        if kind.is_some_and(|kind| kind == "s3") {
            let place = field.place_of("firelensConfiguration");
            findings.error(70, &place, "config-file-type \"s3\"", allowed("on FARGATE file"));
        }
    }
}
