//! Tasks to be planned, and plans in words.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use lighterman_engine::{HostSettings, TaskSpec};
use lighterman_ids::{ContainerName, DefinitionDigest, Family, ImageRef, TaskId};
use lighterman_plan::{Behaviour, Exit, HealthCourse, Plan, Planned, plan};
use lighterman_taskdef::{ContainerDefinition, HealthCheck, HealthTest, TaskDefinition};

/// What a test plans with.
pub(crate) fn settings() -> HostSettings {
    HostSettings::REFERENCE
}

pub(crate) fn name(text: &str) -> ContainerName {
    ContainerName::parse(text).unwrap()
}

/// A container with a health check, every ten seconds, two failures.
pub(crate) fn container(text: &str) -> ContainerDefinition {
    let mut container = ContainerDefinition::new(name(text), ImageRef::parse("site/web:1").unwrap());
    let words = ["CMD", "/bin/check"].map(String::from);
    let mut check = HealthCheck::new(HealthTest::parse(&words).unwrap());
    (check.interval, check.retries) = (Duration::from_secs(10), 2);
    container.health_check = Some(check);
    container.stop_timeout = Some(Duration::from_secs(7));
    container
}

pub(crate) fn task(containers: Vec<ContainerDefinition>) -> TaskSpec {
    let id = TaskId::from_bits(1);
    TaskSpec {
        arn: id.local_arn(None),
        id,
        definition: Arc::new(TaskDefinition::new(Family::parse("site").unwrap(), containers)),
        digest: DefinitionDigest::parse(&format!("sha256:{}", "0".repeat(64))).unwrap(),
        seed: 1,
    }
}

/// The plan of one container `web`.
pub(crate) fn plan_of(behaviour: Behaviour) -> Plan {
    plan(task(vec![container("web")]), &BTreeMap::from([(name("web"), behaviour)]), settings())
}

pub(crate) fn exits(code: u8, after: u64) -> Behaviour {
    Behaviour { exit: Some(Exit { code, after: Duration::from_secs(after) }), ..Behaviour::default() }
}

pub(crate) fn health(health: HealthCourse) -> Behaviour {
    Behaviour { health, ..Behaviour::default() }
}

/// The calls with what they are about, without the first four and without looks at containers.
pub(crate) fn deeds(calls: &[Planned]) -> Vec<String> {
    let word = |call: &Planned| format!("{} {}", call.ask.word(), call.subject);
    let is_look = |call: &&Planned| ["version", "watch", "list", "inspect"].contains(&call.ask.word());
    calls.iter().filter(|call| !is_look(call)).map(word).collect()
}

/// Why that call was made, in words.
pub(crate) fn causes(calls: &[Planned], deed: &str) -> Vec<String> {
    let call = calls.iter().find(|call| format!("{} {}", call.ask.word(), call.subject) == deed).unwrap();
    call.causes.iter().map(ToString::to_string).collect()
}
