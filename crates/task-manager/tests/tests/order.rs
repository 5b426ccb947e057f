//! What the order of the containers comes to in a task.

use std::time::Duration;

use lighterman_ids::{ActionIds, ContainerName, ImageRef, Moment};
use lighterman_status::{ContainerStatus, TaskStatus};
use lighterman_task_manager::{ContainerState, Context, TaskManager};
use lighterman_taskdef::{Condition, ContainerDefinition, Dependency, HealthCheck, HealthTest, TaskDefinition};

use crate::script::{Script, definition, spec};

/// `web` waits for `db`, which others wait for at most eight seconds.
fn dependent_on(condition: Condition) -> TaskDefinition {
    let name = ContainerName::parse("db").unwrap();
    let mut db = ContainerDefinition::new(name.clone(), ImageRef::parse("db:1").unwrap());
    db.essential = false;
    db.start_timeout = Some(Duration::from_secs(8));
    db.health_check = Some(HealthCheck::new(HealthTest::parse(&["CMD".into(), "true".into()]).unwrap()));
    let mut definition = definition();
    definition.containers[0].depends_on.push(Dependency { container: name, condition });
    definition.containers.push(db);
    definition
}

/// The state of `db` of a task that has done nothing else.
fn db(script: &Script) -> ContainerState {
    let mut db = script.task.container_state(1).unwrap();
    db.started_at = Some(script.now.wall);
    db
}

/// The task as it goes on once `db` is known to be like this.
fn go_on(script: &mut Script, definition: TaskDefinition, db: ContainerState) {
    script.task = TaskManager::restore(spec(definition), script.task.state(), vec![db], script.now).unwrap();
    script.forget_deeds();
    script.wake();
}

#[test]
fn b006_e18_a_task_whose_dependency_failed_ends_and_says_why() {
    let definition = dependent_on(Condition::Success);
    let mut s = Script::accepted(definition.clone());
    let ended = ContainerState { known: ContainerStatus::Stopped, exit_code: Some(1), ..db(&s) };
    go_on(&mut s, definition, ended);
    let view = s.view();
    let web = &view.containers[0];
    assert_eq!((web.known, web.exit_code), (ContainerStatus::Stopped, Some(143)));
    let text = "CannotStartContainerError: waits for db to end with exit code 0 (dependsOn[0]), \
                but db ended with exit code 1";
    assert_eq!(web.reason.as_ref().unwrap().to_string(), text);
    assert_eq!((view.known, view.reason.as_deref()), (TaskStatus::Stopped, Some(text)));
    assert!(web.runtime_name.is_none(), "it was never created");
}

#[test]
fn a_ring_is_not_accepted() {
    let mut definition = dependent_on(Condition::Start);
    let web = definition.containers[0].name.clone();
    definition.containers[1].depends_on.push(Dependency { container: web, condition: Condition::Start });
    let error = TaskManager::accept(spec(definition), Moment::default()).unwrap_err();
    let ring = "web -[dependsOn START]-> db -[dependsOn START]-> web";
    assert_eq!(error.to_string(), format!("containers wait for each other: {ring}"));
}

#[test]
fn e22_a_start_timeout_wakes_the_task() {
    let definition = dependent_on(Condition::Healthy);
    let mut s = Script::accepted(definition.clone());
    let runs = ContainerState { known: ContainerStatus::Running, ..db(&s) };
    go_on(&mut s, definition, runs);
    assert_eq!(s.until_due(), Duration::from_nanos(8_000_000_001));
    assert!(s.view().reason.unwrap().contains("db was started more than 8s ago"));
}

/// What had become of the dependency while nobody looked is found out first.
#[test]
fn nobody_is_given_up_before_the_dependency_was_looked_at() {
    let definition = dependent_on(Condition::Complete);
    let mut s = Script::accepted(definition.clone());
    let runtime_id = Some(crate::answers::runtime_id());
    let runs = ContainerState { known: ContainerStatus::Running, runtime_id, ..db(&s) };
    s.passes(Duration::from_secs(9));
    let mut task = TaskManager::restore(spec(definition), s.task.state(), vec![runs], s.now).unwrap();
    let (mut ids, settings, instance) = (ActionIds::new(2), &s.settings, &s.instance);
    let mut cx =
        Context { now: s.now, ids: &mut ids, settings, instance, store_failing: None, awaited: None, closing: false };
    task.handle_timeout(&mut cx);
    assert!(task.is_restoring(), "its start timeout is over, and it may have ended in time");
    assert_eq!(task.view(&cx).containers[0].desired, ContainerStatus::Running);
}
