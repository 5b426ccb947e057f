//! What readers are shown only goes forward, over crashes too: known STOPPED never leaves, desired only
//! rises, and the first reason and exit code stay (design.md R3, engine.md 3.6.1).

use std::collections::BTreeMap;

use lighterman_calls::ExitCode;
use lighterman_ids::TaskId;
use lighterman_status::{ContainerStatus, TaskStatus};
use lighterman_view::TaskView;

use super::Check;
use crate::note::{Note, Sight};

/// Compares each view with the one before it.
fn compare<T: Clone>(
    last: &mut BTreeMap<TaskId, T>,
    note: &Note<'_>,
    take: impl FnOnce(&TaskView) -> T,
    compare: impl FnOnce(&T, &T) -> Result<(), String>,
) -> Result<(), String> {
    match note {
        Note::LostRecords => last.clear(),
        Note::Shows(view) => {
            let now = take(view);
            if let Some(before) = last.insert(view.id.clone(), now.clone()) {
                compare(&before, &now).map_err(|text| format!("task {}: {text}", view.id))?;
            }
            if view.removed {
                // What is found of it later, by its labels, is another beginning.
                last.remove(&view.id);
            }
        }
        _ => {}
    }
    Ok(())
}

#[derive(Debug, Default)]
pub(super) struct StoppedStays {
    last: BTreeMap<TaskId, (TaskStatus, Vec<ContainerStatus>)>,
}

impl Check for StoppedStays {
    fn name(&self) -> &'static str {
        "stopped-stays"
    }

    fn see(&mut self, _: &Sight<'_>, note: &Note<'_>) -> Result<(), String> {
        let take = |view: &TaskView| (view.known, view.containers.iter().map(|c| c.known).collect());
        compare(&mut self.last, note, take, |(task, containers), (task_now, containers_now)| {
            if task.is_terminal() && !task_now.is_terminal() {
                return Err(format!("was STOPPED and is {}", task_now.as_str()));
            }
            match containers.iter().zip(containers_now).find(|(was, is)| was.is_terminal() && !is.is_terminal()) {
                Some((_, is)) => Err(format!("a container was STOPPED and is {}", is.as_str())),
                None => Ok(()),
            }
        })
    }
}

#[derive(Debug, Default)]
pub(super) struct DesiredRises {
    last: BTreeMap<TaskId, (TaskStatus, Vec<ContainerStatus>)>,
}

impl Check for DesiredRises {
    fn name(&self) -> &'static str {
        "desired-rises"
    }

    fn see(&mut self, _: &Sight<'_>, note: &Note<'_>) -> Result<(), String> {
        let take = |view: &TaskView| (view.desired, view.containers.iter().map(|c| c.desired).collect());
        compare(&mut self.last, note, take, |(task, containers), (task_now, containers_now)| {
            if task_now.is_before(*task) {
                return Err(format!("desired fell from {} to {}", task.as_str(), task_now.as_str()));
            }
            match containers.iter().zip(containers_now).find(|(was, is)| is.is_before(**was)) {
                Some((was, is)) => Err(format!("desired of a container fell from {} to {}", was.as_str(), is.as_str())),
                None => Ok(()),
            }
        })
    }
}

/// Reason of the task, and of each container reason and, once it has stopped, exit code.
type Words = (Option<String>, Vec<(Option<String>, Option<ExitCode>)>);

#[derive(Debug, Default)]
pub(super) struct FirstWordStays {
    last: BTreeMap<TaskId, Words>,
}

impl Check for FirstWordStays {
    fn name(&self) -> &'static str {
        "first-word-stays"
    }

    fn see(&mut self, _: &Sight<'_>, note: &Note<'_>) -> Result<(), String> {
        let take = |view: &TaskView| {
            let containers = view.containers.iter().map(|container| {
                let code = container.exit_code.filter(|_| container.known.is_terminal());
                (container.reason.as_ref().map(ToString::to_string), code)
            });
            (view.reason.clone(), containers.collect())
        };
        compare(&mut self.last, note, take, |(reason, containers): &Words, (reason_now, containers_now): &Words| {
            stays("the reason", reason.as_ref(), reason_now.as_ref())?;
            for ((reason, code), (reason_now, code_now)) in containers.iter().zip(containers_now) {
                // A pull error that was tolerated is none once the container exists (E58).
                let kept = reason.as_ref().filter(|text| !text.starts_with("CannotPullContainerError"));
                stays("the reason of a container", kept, reason_now.as_ref())?;
                stays("an exit code", code.as_ref(), code_now.as_ref())?;
            }
            Ok(())
        })
    }
}

fn stays<T: PartialEq + std::fmt::Debug>(what: &str, was: Option<&T>, is: Option<&T>) -> Result<(), String> {
    if was.is_some() && was != is {
        return Err(format!("{what} was {was:?} and is {is:?}"));
    }
    Ok(())
}
