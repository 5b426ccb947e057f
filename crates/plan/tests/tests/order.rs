//! Tasks whose containers wait for each other.

use std::{collections::BTreeMap, time::Duration};

use lighterman_plan::{Ending, HealthCourse, Plan, plan};
use lighterman_taskdef::{Condition, ContainerDefinition, Dependency};

use crate::rig::{causes, container, deeds, exits, health, name, settings, task};

fn after(mut container: ContainerDefinition, on: &str, condition: Condition) -> ContainerDefinition {
    container.depends_on.push(Dependency { container: name(on), condition });
    container
}

/// A web server that needs a healthy database, which needs its schema.
fn shop(health_of_db: HealthCourse, start_timeout: Option<Duration>) -> Plan {
    let schema = ContainerDefinition { essential: false, ..container("schema") };
    let db = after(container("db"), "schema", Condition::Success);
    let db = ContainerDefinition { start_timeout, ..db };
    let web = after(container("web"), "db", Condition::Healthy);
    let behaviours = BTreeMap::from([(name("schema"), exits(0, 3)), (name("db"), health(health_of_db))]);
    plan(task(vec![web, db, schema]), &behaviours, settings())
}

#[test]
fn a_dependency_that_is_fulfilled_is_the_cause_of_the_create() {
    let plan = shop(HealthCourse::HealthyAfter(Duration::from_secs(15)), None);
    let begun = ["create schema", "start schema", "create db", "start db", "create web", "start web"];
    assert_eq!(deeds(&plan.calls)[3..], begun);
    assert!(causes(&plan.calls, "create db").contains(&"schema is STOPPED".into()));
    assert!(causes(&plan.calls, "create web").contains(&"db is HEALTHY".into()));
    let Ending::Stays { stop, .. } = &plan.ending else { panic!("{plan:?}") };
    assert_eq!(deeds(stop), ["stop web", "stop db", "remove web", "remove db", "remove schema"]);
    assert!(causes(stop, "stop db").contains(&"web is STOPPED".into()));
}

#[test]
fn a_dependency_that_is_never_fulfilled_leaves_the_dependent_where_it_is() {
    let plan = shop(HealthCourse::Never, None);
    assert!(!deeds(&plan.calls).contains(&"create web".into()));
    let Ending::Stays { view, stop, .. } = &plan.ending else { panic!("{plan:?}") };
    assert!(!view.containers[0].known.at_least(lighterman_status::ContainerStatus::Created));
    assert_eq!(deeds(stop), ["stop db", "remove db", "remove schema"]);
}

#[test]
fn a_start_timeout_is_waited_for() {
    let plan = shop(HealthCourse::Never, Some(Duration::from_secs(1_200)));
    let Ending::Removed { view } = &plan.ending else { panic!("{plan:?}") };
    assert!(view.containers[0].reason.is_some(), "{view:?}");
    assert!(plan.calls.last().is_some_and(|call| call.at > Duration::from_secs(1_200)));
    assert!(deeds(&plan.calls).contains(&"stop db".into()));
}
