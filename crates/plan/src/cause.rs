//! Why a call was made: what the same turn brought and changed. Taken from the views, never decided again.

use alloc::{
    string::{String, ToString},
    vec::Vec,
};
use core::fmt;

use lighterman_calls::{ContainerTarget, EventAction, ImageTarget, Request, RequestKind, labels};
use lighterman_engine::Event;
use lighterman_ids::{ContainerName, ImageRef, RuntimeName};
use lighterman_status::{ContainerStatus, Health, TaskStatus};
use lighterman_view::{ContainerView, TaskView, WaitReason};

use crate::rehearsal::Arrival;

/// What a call is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Subject {
    /// Docker itself.
    Docker,
    /// An image, for all containers that are made from it.
    Image(ImageRef),
    /// A volume, by its name in Docker.
    Volume(RuntimeName),
    /// A container of the task.
    Container(ContainerName),
}

/// One reason for a call. A turn takes in one thing, so everything that it changed belongs together.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Cause {
    /// The container waited for this, and does no more.
    WaitEnded {
        /// Which container.
        container: ContainerName,
        /// What it waited for.
        reason: WaitReason,
    },
    /// The status of a container is known to be this.
    Known {
        /// Which container.
        container: ContainerName,
        /// The new status.
        status: ContainerStatus,
    },
    /// A container should go here.
    Desired {
        /// Which container.
        container: ContainerName,
        /// The new goal.
        status: ContainerStatus,
    },
    /// The verdict of a health check.
    Health {
        /// Which container.
        container: ContainerName,
        /// The new verdict.
        health: Health,
    },
    /// The task should go here.
    TaskDesired {
        /// The new goal.
        status: TaskStatus,
        /// Why, where that is known.
        reason: Option<String>,
    },
    /// The run begins, or the core had set itself this time.
    Time {
        /// Whether it is the first turn of all.
        first: bool,
    },
    /// The task was submitted.
    Submitted,
    /// The user asked to stop it.
    StopAsked,
    /// It has stopped, and nobody keeps its containers any longer.
    LetGo,
    /// Docker answered a call.
    Answered {
        /// Which kind of call.
        kind: RequestKind,
        /// What it was about.
        subject: Subject,
        /// `done`, or why not.
        outcome: String,
    },
    /// The event stream stands.
    WatchOpened,
    /// The event stream ended.
    WatchLost,
    /// Docker told of a container.
    Told {
        /// Which container; `None` for one that is not known.
        container: Option<ContainerName>,
        /// What happened.
        event: EventAction,
    },
}

impl Subject {
    /// What a request is about, as far as a view of the task knows.
    pub(crate) fn of(request: &Request, view: Option<&TaskView>) -> Self {
        if let Some(image) = image_of(request) {
            return Self::Image(image.clone());
        }
        if let Some(volume) = volume_of(request) {
            return Self::Volume(volume.clone());
        }
        let name = if let Request::Create(create) = request {
            create.config.labels.get(labels::CONTAINER).and_then(|name| ContainerName::parse(name).ok())
        } else {
            target_of(request).and_then(|target| named(view?, target))
        };
        name.map_or(Self::Docker, Self::Container)
    }

    fn includes(&self, container: &ContainerView) -> bool {
        match self {
            Self::Docker | Self::Volume(_) => false,
            Self::Image(image) => container.image == *image,
            Self::Container(name) => container.name == *name,
        }
    }
}

fn image_of(request: &Request) -> Option<&ImageRef> {
    if let Request::InspectImage(image)
    | Request::ResolveDigest(image)
    | Request::Pull { image, .. }
    | Request::TagImage { tag: image, .. }
    | Request::RemoveImage(ImageTarget::Name(image)) = request
    {
        return Some(image);
    }
    None
}

fn volume_of(request: &Request) -> Option<&RuntimeName> {
    if let Request::InspectVolume(name) | Request::RemoveVolume(name) = request {
        return Some(name);
    }
    if let Request::CreateVolume(volume) = request { Some(&volume.name) } else { None }
}

fn target_of(request: &Request) -> Option<&ContainerTarget> {
    if let Request::Start(target) | Request::Inspect(target) | Request::Remove(target) = request {
        return Some(target);
    }
    if let Request::Stop { container, .. } | Request::Kill { container, .. } = request {
        return Some(container);
    }
    None
}

fn named(view: &TaskView, target: &ContainerTarget) -> Option<ContainerName> {
    let is_it = |container: &&ContainerView| match target {
        ContainerTarget::Id(id) => container.runtime_id.as_ref() == Some(id),
        ContainerTarget::Name(name) => container.runtime_name.as_ref() == Some(name),
    };
    view.containers.iter().find(is_it).map(|container| container.name.clone())
}

/// A turn as causes see it: the task before and after.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Change<'a> {
    pub(crate) arrival: &'a Arrival,
    pub(crate) first: bool,
    pub(crate) before: Option<&'a TaskView>,
    pub(crate) after: Option<&'a TaskView>,
}

impl Change<'_> {
    /// Why a call about `subject` left in this turn, the nearest reason first; never empty.
    pub(crate) fn causes(&self, subject: &Subject) -> Vec<Cause> {
        let (own, others): (Vec<_>, Vec<_>) = self.pairs().into_iter().partition(|(_, after)| subject.includes(after));
        let mut causes: Vec<Cause> = own.iter().filter_map(|pair| wait_ended(*pair)).collect();
        causes.extend(own.iter().flat_map(|pair| moved(*pair)));
        // A container that has come further by itself goes on; else what others did is what it waited for.
        let went_on = causes.iter().any(|cause| matches!(cause, Cause::Known { .. }));
        if !own.is_empty() && !went_on {
            causes.extend(self.task_desired());
            let is_fact = |cause: &Cause| matches!(cause, Cause::Known { .. } | Cause::Health { .. });
            causes.extend(others.iter().flat_map(|pair| moved(*pair)).filter(is_fact));
        }
        causes.push(self.origin());
        causes
    }

    /// Containers before and after.
    fn pairs(&self) -> Vec<(&ContainerView, &ContainerView)> {
        let (Some(before), Some(after)) = (self.before, self.after) else { return Vec::new() };
        before.containers.iter().zip(&after.containers).collect()
    }

    fn task_desired(&self) -> Option<Cause> {
        let (before, after) = (self.before?, self.after?);
        let reason = after.reason.clone();
        (before.desired != after.desired).then_some(Cause::TaskDesired { status: after.desired, reason })
    }

    /// What the turn was taken for.
    fn origin(&self) -> Cause {
        let view = self.before.or(self.after);
        match self.arrival {
            Arrival::Time => Cause::Time { first: self.first },
            Arrival::Wish(Event::Stop { .. }) => Cause::StopAsked,
            Arrival::Wish(Event::CleanUp(_)) => Cause::LetGo,
            Arrival::Wish(_) => Cause::Submitted,
            Arrival::Answer { request, answer } => {
                Cause::Answered { kind: request.kind(), subject: Subject::of(request, view), outcome: answer.summary() }
            }
            Arrival::Opened => Cause::WatchOpened,
            Arrival::Lost => Cause::WatchLost,
            Arrival::Told(event) => {
                let target = ContainerTarget::Id(event.container.clone());
                let container = view.and_then(|view| named(view, &target));
                Cause::Told { container, event: event.action.clone() }
            }
        }
    }
}

/// A wait that says more than the answer which ended it.
fn wait_ended((before, after): (&ContainerView, &ContainerView)) -> Option<Cause> {
    let reason = &before.wait.as_ref()?.reason;
    let goes_on = after.wait.as_ref().is_some_and(|wait| wait.reason == *reason);
    let is_plain = matches!(reason, WaitReason::Call { .. } | WaitReason::Running | WaitReason::Cleanup);
    let container = before.name.clone();
    (!goes_on && !is_plain).then(|| Cause::WaitEnded { container, reason: reason.clone() })
}

fn moved((before, after): (&ContainerView, &ContainerView)) -> Vec<Cause> {
    let container = || after.name.clone();
    let mut causes = Vec::new();
    if before.known != after.known {
        causes.push(Cause::Known { container: container(), status: after.known });
    }
    if before.desired != after.desired {
        causes.push(Cause::Desired { container: container(), status: after.desired });
    }
    if before.health != after.health {
        causes.push(Cause::Health { container: container(), health: after.health });
    }
    causes
}

impl Cause {
    /// Which kind of cause, in a word that does not change.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Self::WaitEnded { .. } => "wait-ended",
            Self::Known { .. } => "known",
            Self::Desired { .. } => "desired",
            Self::Health { .. } => "health",
            Self::TaskDesired { .. } => "task-desired",
            Self::Time { .. } => "time",
            Self::Submitted => "submitted",
            Self::StopAsked => "stop-asked",
            Self::LetGo => "let-go",
            Self::Answered { .. } => "answered",
            Self::WatchOpened => "watch-opened",
            Self::WatchLost => "watch-lost",
            Self::Told { .. } => "told",
        }
    }

    /// Whether it is what the turn was taken for, and not what the turn changed: less telling than a change.
    #[must_use]
    pub const fn is_origin(&self) -> bool {
        match self {
            Self::WaitEnded { .. }
            | Self::Known { .. }
            | Self::Desired { .. }
            | Self::Health { .. }
            | Self::TaskDesired { .. } => false,
            Self::Time { .. }
            | Self::Submitted
            | Self::StopAsked
            | Self::LetGo
            | Self::Answered { .. }
            | Self::WatchOpened
            | Self::WatchLost
            | Self::Told { .. } => true,
        }
    }

    /// The container whose change or event it is.
    #[must_use]
    pub const fn container(&self) -> Option<&ContainerName> {
        match self {
            Self::WaitEnded { container, .. }
            | Self::Known { container, .. }
            | Self::Desired { container, .. }
            | Self::Health { container, .. }
            | Self::Answered { subject: Subject::Container(container), .. } => Some(container),
            Self::Told { container, .. } => container.as_ref(),
            Self::TaskDesired { .. }
            | Self::Time { .. }
            | Self::Submitted
            | Self::StopAsked
            | Self::LetGo
            | Self::Answered { .. }
            | Self::WatchOpened
            | Self::WatchLost => None,
        }
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Docker => f.write_str("Docker"),
            Self::Image(image) => write!(f, "{image}"),
            Self::Volume(name) => write!(f, "{name}"),
            Self::Container(name) => write!(f, "{name}"),
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WaitEnded { container, reason } => write!(f, "{container} no longer waits for {reason}"),
            Self::Known { container, status } => write!(f, "{container} is {status}"),
            Self::Desired { container, status } => write!(f, "{container} should be {status}"),
            Self::Health { container, health } => write!(f, "{container} is {health}"),
            Self::TaskDesired { status, reason: None } => write!(f, "the task should be {status}"),
            Self::TaskDesired { status, reason: Some(reason) } => write!(f, "the task should be {status}: {reason}"),
            Self::Time { first: true } => f.write_str("the run begins"),
            Self::Time { first: false } => f.write_str("it was time to"),
            Self::Submitted => f.write_str("the task was submitted"),
            Self::StopAsked => f.write_str("the task was asked to stop"),
            Self::LetGo => f.write_str("the task has stopped, and its output was read"),
            Self::Answered { kind, subject: Subject::Docker, outcome } => {
                write!(f, "Docker answered {}: {outcome}", kind.as_str())
            }
            Self::Answered { kind, subject, outcome } => {
                write!(f, "Docker answered {} of {subject}: {outcome}", kind.as_str())
            }
            Self::WatchOpened => f.write_str("the event stream stands"),
            Self::WatchLost => f.write_str("the event stream ended"),
            Self::Told { container, event } => {
                let who = container.as_ref().map_or_else(|| "a container".to_string(), ToString::to_string);
                match event {
                    EventAction::Create => write!(f, "Docker created {who}"),
                    EventAction::Start => write!(f, "Docker started {who}"),
                    EventAction::Die { exit_code: Some(code) } => write!(f, "{who} ended with {code}"),
                    EventAction::Die { exit_code: None } => write!(f, "{who} ended"),
                    EventAction::Stop => write!(f, "Docker stopped {who}"),
                    EventAction::Restart => write!(f, "Docker restarted {who}"),
                    EventAction::Oom => write!(f, "{who} ran out of memory"),
                    EventAction::Destroy => write!(f, "Docker removed {who}"),
                    EventAction::HealthStatus(word) => write!(f, "the health check of {who} says {word}"),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use lighterman_calls::{PullLimits, VolumeRequest};

    use super::*;

    #[test]
    fn calls_about_images_and_volumes_name_them() {
        let image = ImageRef::parse("web:1").unwrap();
        let name = RuntimeName::parse("data").unwrap();
        let limit = core::time::Duration::from_secs(1);
        let limits = PullLimits { first_progress: limit, inactivity: limit };
        let volume = VolumeRequest {
            name: name.clone(),
            driver: "local".into(),
            options: Default::default(),
            labels: Default::default(),
        };
        for (request, subject) in [
            (Request::InspectImage(image.clone()), "web:1"),
            (Request::ResolveDigest(image.clone()), "web:1"),
            (Request::Pull { image: image.clone(), platform: None, limits }, "web:1"),
            (Request::RemoveImage(ImageTarget::Name(image)), "web:1"),
            (Request::CreateVolume(volume), "data"),
            (Request::InspectVolume(name.clone()), "data"),
            (Request::RemoveVolume(name.clone()), "data"),
            (Request::ListImages, "Docker"),
            // A container that no view knows.
            (Request::Start(ContainerTarget::Name(name)), "Docker"),
        ] {
            assert_eq!(Subject::of(&request, None).to_string(), subject, "{request:?}");
        }
    }
}
