//! What readers see.

use lighterman_ids::Mono;
use lighterman_status::ContainerStatus;
use lighterman_view::{ContainerView, TaskView, Wait, WaitReason};

use super::TaskManager;
use crate::{
    Context,
    container::{Container, RemoveStage, Step, Work},
};

impl TaskManager {
    /// The task as it is now.
    #[must_use]
    pub fn view(&self, cx: &Context<'_>) -> TaskView {
        TaskView {
            id: self.spec.id.clone(),
            family: self.spec.definition.family.clone(),
            revision: self.spec.definition.revision,
            definition: self.spec.digest.clone(),
            known: self.known,
            desired: self.desired,
            reason: self.reason.clone(),
            accepted_at: self.accepted_at,
            execution_stopped_at: self.execution_stopped_at,
            containers: (0..self.containers.len()).map(|c| self.container_view(cx, c)).collect(),
            lingering: !self.is_removed() && self.is_lingering(),
            removed: self.is_removed(),
        }
    }

    fn container_view(&self, cx: &Context<'_>, c: usize) -> ContainerView {
        let container = &self.containers[c];
        let definition = self.definition_of(c);
        ContainerView {
            name: container.name.clone(),
            image: definition.image.clone(),
            essential: container.essential,
            tty: definition.pseudo_terminal,
            known: container.known,
            desired: container.desired,
            has_health_check: definition.health_check.is_some(),
            health: container.health,
            runtime_name: container.runtime_name.clone(),
            runtime_id: container.runtime_id.clone(),
            exit_code: container.exit_code,
            reason: container.error.as_ref().map(crate::ContainerError::reason),
            started_at: container.started_at,
            finished_at: container.finished_at,
            ports: container.ports.clone(),
            stop_timeout: self.stop_timeout(cx, c),
            kept: container.kept.clone(),
            restarted: container.restarted,
            wait: self.wait_of(cx, container),
        }
    }

    /// Every "not yet" has a reason (design.md R5).
    fn wait_of(&self, cx: &Context<'_>, container: &Container) -> Option<Wait> {
        if let Some(awaited) = cx.awaited.filter(|_| self.needs_runtime(cx, container)) {
            return Some(awaited.wait());
        }
        let (reason, until) = wait_of_work(&container.work).or_else(|| self.wait_of_idle(cx, container))?;
        Some(Wait { reason, since: container.since, until })
    }

    /// What has stopped needs the runtime only to be removed, once it is time.
    fn needs_runtime(&self, cx: &Context<'_>, container: &Container) -> bool {
        if container.known.is_terminal() {
            let due = self.cleanup_due(cx).is_some_and(|due| due <= cx.now.mono);
            due && !container.removed && !container.is_watching()
        } else {
            true
        }
    }

    fn wait_of_idle(&self, cx: &Context<'_>, container: &Container) -> Option<(WaitReason, Option<Mono>)> {
        if let (Some(text), false) = (cx.store_failing, container.removed) {
            let held = container.is_before(container.desired) || self.known.is_terminal();
            if held {
                return Some((WaitReason::Store { text: text.into() }, None));
            }
        }
        if container.late_create.is_some() {
            return Some((WaitReason::LateCreate, None));
        }
        if cx.closing && container.is_before(container.desired) {
            return Some((WaitReason::Closing, None));
        }
        match container.known {
            ContainerStatus::Running | ContainerStatus::ResourcesProvisioned => Some((WaitReason::Running, None)),
            ContainerStatus::Stopped if !container.removed => Some((WaitReason::Cleanup, self.cleanup_due(cx))),
            ContainerStatus::None
            | ContainerStatus::ManifestPulled
            | ContainerStatus::Pulled
            | ContainerStatus::Created
            | ContainerStatus::Stopped => None,
        }
    }
}

fn wait_of_work(work: &Work) -> Option<(WaitReason, Option<Mono>)> {
    let job = work.job()?;
    let attempt = work.looks().unwrap_or(job.attempt);
    match (&job.step, work) {
        (Step::Asking { kind, .. }, _) => Some((WaitReason::Call { kind: *kind, attempt }, None)),
        (Step::Pausing { until, .. }, Work::Remove { stage: RemoveStage::Finding(_), .. }) => {
            Some((WaitReason::LateCreate, Some(*until)))
        }
        (Step::Pausing { after, away: true, .. }, _) => Some((WaitReason::RuntimeAway { text: after.clone() }, None)),
        (Step::Pausing { until, after, away: false }, _) => {
            Some((WaitReason::Pause { attempt, after: after.clone() }, Some(*until)))
        }
    }
}
