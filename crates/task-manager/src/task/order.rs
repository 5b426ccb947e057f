//! The order of the containers: what the graph is built from, and the facts that it is asked with.

use alloc::vec::Vec;

use lighterman_graph::{Condition, ContainerPlan, Fatal, GraphError, Node, Plan, Readiness, Snapshot};
use lighterman_ids::{BootId, Moment, Mono};
use lighterman_taskdef::{ContainerDefinition, LogDriver, TaskDefinition};

use super::TaskManager;
use crate::{ContainerError, ErrorName, container::Container};

/// What a container ends with that was given up because of its dependencies (engine.md 2.6): 128 + SIGTERM.
const GIVEN_UP: lighterman_calls::ExitCode = 143;

/// What orders the containers of this definition.
pub(super) fn plan(definition: &TaskDefinition) -> Plan {
    let router = definition.containers.iter().find(|container| container.log_router.is_some());
    let container = |container: &ContainerDefinition| ContainerPlan {
        essential: container.essential,
        has_health_check: container.health_check.as_ref().is_some_and(|check| !check.test.is_off()),
        start_timeout: container.start_timeout,
        depends_on: container.depends_on.iter().map(|on| (on.container.clone(), condition(on.condition))).collect(),
        volumes_from: container.volumes_from.iter().map(|from| from.source_container.clone()).collect(),
        links: container.links.iter().map(|link| link.container.clone()).collect(),
        logs_to: router.filter(|_| logs_to_router(container)).map(|router| router.name.clone()),
        ..ContainerPlan::new(container.name.clone())
    };
    Plan::new(definition.containers.iter().map(container).collect())
}

fn logs_to_router(container: &ContainerDefinition) -> bool {
    container.log_configuration.as_ref().is_some_and(|log| log.driver == LogDriver::Awsfirelens)
}

const fn condition(written: lighterman_taskdef::Condition) -> Condition {
    match written {
        lighterman_taskdef::Condition::Create => Condition::Create,
        lighterman_taskdef::Condition::Start => Condition::Start,
        lighterman_taskdef::Condition::Complete => Condition::Complete,
        lighterman_taskdef::Condition::Success => Condition::Success,
        lighterman_taskdef::Condition::Healthy => Condition::Healthy,
    }
}

impl TaskManager {
    /// Whether the containers can wait for each other as they say (engine.md 2.2).
    pub(super) fn admit(&self, now: Moment) -> Result<(), GraphError> {
        self.graph.admit(&self.nodes(now))
    }

    /// What each container may do now.
    pub(super) fn readiness(&self, now: Moment) -> Vec<Readiness> {
        self.graph.readiness(&self.snapshot(now, &self.nodes(now)))
    }

    /// When a container may have to be given up although nothing happens.
    pub(super) fn start_timeout(&self, now: Moment) -> Option<Mono> {
        self.graph.edges().next()?;
        self.graph.next_change(&self.snapshot(now, &self.nodes(now)))
    }

    fn nodes(&self, now: Moment) -> Vec<Node<'_>> {
        self.containers.iter().map(|container| node(now, container)).collect()
    }

    fn snapshot<'a>(&self, now: Moment, nodes: &'a [Node<'a>]) -> Snapshot<'a> {
        Snapshot { now, task_desired: self.desired, ..Snapshot::new(nodes) }
    }

    /// What the container waits for will never be: it ends as if its start had been refused.
    pub(super) fn give_up(&mut self, now: Moment, c: usize, fatal: &Fatal) {
        self.containers[c].exit_code.get_or_insert(GIVEN_UP);
        let error = ContainerError::new(ErrorName::CannotStartContainer, self.graph.fatal_text(fatal));
        self.blame(now, c, error);
    }
}

fn node(now: Moment, container: &Container) -> Node<'_> {
    // When we learned of a start is not kept. The wall clock is left, as if it had been on another boot.
    let started = |wall| Moment { boot: BootId(!now.boot.0), mono: Mono(0), wall };
    Node {
        known: container.known,
        desired: container.desired,
        applied: container.work.applied(),
        exit_code: container.exit_code,
        health: container.health,
        started_at: container.started_at.map(started),
        was_created: container.runtime_id.is_some(),
        ..Node::new(&container.name)
    }
}
