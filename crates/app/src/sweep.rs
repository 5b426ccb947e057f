//! Cleaning up after runs whose process is dead. Living ones are listed and never touched.

use std::{collections::BTreeMap, fs, io, path::PathBuf, pin::pin, sync::Arc, time::Duration};

use futures_util::future::join_all;
use lighterman_checkpoint::OpenError;
use lighterman_contracts::{Clock, ContainerRuntime, Entropy};
use lighterman_driver::{Handle, Update};
use lighterman_engine::{HostSettings, HostView, RuntimeLink};
use lighterman_ids::{InstanceId, TaskId};
use lighterman_ui::Leftover;
use lighterman_view::{ContainerView, TaskView};
use tokio::time::timeout;

use crate::{
    host::{Definitions, Host, Prepared},
    instance::{Instance, InstanceError, OnDamage},
    stage::{Show, Stage},
};

/// A clean-up that takes longer is told of.
const SAY_SO_AFTER: Duration = Duration::from_secs(1);

/// Why a task of a dead run is stopped.
const REASON: &str = "Its run ended without it";

/// What a sweep needs.
pub(crate) struct Sweep<'a, R, C, E> {
    pub(crate) settings: &'a HostSettings,
    pub(crate) on_damage: OnDamage,
    pub(crate) runtime: &'a Arc<R>,
    pub(crate) clock: &'a C,
    pub(crate) entropy: &'a E,
    pub(crate) stage: &'a Stage,
}

/// What a sweep found, and whether it got to its end.
#[derive(Default)]
pub(crate) struct Swept {
    pub(crate) found: Vec<Leftover>,
    /// Docker did not answer for too long; how it failed.
    pub(crate) gave_up: Option<String>,
}

impl<R: ContainerRuntime, C: Clock + Clone, E: Entropy> Sweep<'_, R, C, E> {
    /// Cleans up all instances below `all` but `except`, side by side.
    ///
    /// # Errors
    /// The directory cannot be listed.
    pub(crate) async fn all(&self, all: &std::path::Path, except: Option<&InstanceId>) -> io::Result<Swept> {
        let directories = instances_below(all, except)?;
        let each = join_all(directories.into_iter().map(|(id, directory)| self.one(id, directory))).await;
        let mut swept = Swept::default();
        for one in each {
            swept.found.extend(one.found);
            swept.gave_up = swept.gave_up.or(one.gave_up);
        }
        Ok(swept)
    }

    async fn one(&self, id: InstanceId, directory: PathBuf) -> Swept {
        let only = |leftover| Swept { found: vec![leftover], gave_up: None };
        let instance = match Instance::open(&directory, self.entropy, self.on_damage) {
            Ok(instance) => instance,
            Err(InstanceError::Store(OpenError::Locked { owner, .. })) => {
                return only(Leftover::Living {
                    instance: id,
                    state_dir: directory,
                    pid: owner.map(|owner| owner.pid),
                });
            }
            Err(error) => {
                let why = format!("{error}; {}", error.advice());
                return only(Leftover::Unreadable { state_dir: directory, why });
            }
        };
        let tasks: Vec<TaskId> = instance.saved.tasks.iter().map(|task| task.state.id.clone()).collect();
        let (runtime, clock) = (Arc::clone(self.runtime), self.clock.clone());
        let settings = self.settings.clone();
        match Prepared::new(instance, settings, Definitions::new(), runtime, clock, self.entropy) {
            Ok(prepared) => stop_all(prepared, &tasks, id, directory, self.stage).await,
            Err(error) => only(Leftover::Unreadable { state_dir: directory, why: error.to_string() }),
        }
    }
}

/// Directories named by an instance id.
fn instances_below(all: &std::path::Path, except: Option<&InstanceId>) -> io::Result<Vec<(InstanceId, PathBuf)>> {
    let entries = match fs::read_dir(all) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry?;
        let id = entry.file_name().to_str().and_then(|name| InstanceId::parse(name).ok());
        if let Some(id) = id.filter(|id| Some(id) != except)
            && entry.file_type()?.is_dir()
        {
            found.push((id, entry.path()));
        }
    }
    found.sort();
    Ok(found)
}

async fn stop_all<R: ContainerRuntime, C: Clock>(
    prepared: Prepared<R, C>,
    tasks: &[TaskId],
    instance: InstanceId,
    state_dir: PathBuf,
    stage: &Stage,
) -> Swept {
    let mut seen = Seen::default();
    for task in tasks {
        seen.stop(&prepared.handle, task);
    }
    let handle = prepared.handle.clone();
    let mut host = prepared.start();
    let finished = {
        let mut done = pin!(seen.until_done(&mut host));
        match timeout(SAY_SO_AFTER, &mut done).await {
            Ok(finished) => finished,
            Err(_) => {
                stage.show(Show::Note(what_it_waits_for(&instance, &handle)));
                done.await
            }
        }
    };
    let gave_up = (!finished).then(|| trouble_of(&host.view()));
    let (lock, unsaved, mut updates) = host.end().await;
    while let Some(update) = updates.next().await {
        seen.take(update);
    }
    let is_empty = finished && unsaved.is_none() && seen.views.values().all(|view| view.removed);
    if let (true, Some(lock)) = (is_empty, lock)
        && let Err(error) = lock.remove_directory()
    {
        tracing::warn!(error = %error, "an empty state directory could not be removed");
    }
    let leftover = |container: &ContainerView| {
        let name = container.runtime_name.as_ref()?.to_string();
        let (instance, state_dir) = (instance.clone(), state_dir.clone());
        Some(match &gave_up {
            None => Leftover::Cleaned { instance, state_dir, container: name, exit_code: container.exit_code },
            Some(why) => Leftover::Kept { instance, state_dir, container: name, why: why.clone() },
        })
    };
    let found = seen.views.values().flat_map(|view| &view.containers).filter_map(leftover).collect();
    Swept { found, gave_up }
}

/// Whoever waits for a new run should know what for.
fn what_it_waits_for(instance: &InstanceId, handle: &Handle) -> String {
    let tasks = handle.tasks().get();
    let containers = tasks.values().flat_map(|view| &view.containers);
    let waits: Vec<String> = containers
        .filter_map(|container| Some(format!("{} waits for {}", container.name, container.wait.as_ref()?.reason)))
        .collect();
    let what = match &handle.host().get().runtime {
        RuntimeLink::Up { .. } if !waits.is_empty() => waits.join(", "),
        RuntimeLink::Up { .. } => "Docker is at work".into(),
        RuntimeLink::Connecting { .. } | RuntimeLink::Away { .. } | RuntimeLink::Unusable { .. } => {
            trouble_of(&handle.host().get())
        }
    };
    format!("still cleaning up after the earlier run {instance}: {what}; Ctrl-C leaves it to the next run")
}

/// Tasks of a dead run, as they were last shown.
#[derive(Default)]
struct Seen {
    views: BTreeMap<TaskId, Arc<TaskView>>,
}

impl Seen {
    fn stop(&self, handle: &Handle, task: &TaskId) {
        // A lane that is full is tried again with the next update.
        if let Err(error) = handle.stop(task.clone(), Some(REASON.into()), false) {
            tracing::debug!(error = %error, task.id = %task, "a task cannot be stopped yet");
        }
    }

    /// `false` when Docker does not answer for too long.
    async fn until_done(&mut self, host: &mut Host) -> bool {
        loop {
            let view = host.view();
            if view.checked && view.unfinished == 0 {
                return true;
            }
            if view.gave_up {
                return false;
            }
            let Some(update) = host.updates.next().await else { return false };
            if let Some(task) = self.take(update) {
                self.move_on(host, &task);
            }
        }
    }

    fn take(&mut self, update: Update) -> Option<Arc<TaskView>> {
        match update {
            Update::Task(view) => {
                self.views.insert(view.id.clone(), Arc::clone(&view));
                Some(view)
            }
            Update::Host(_) | Update::Refused { .. } | Update::Missed(_) => None,
        }
    }

    /// What is not to stop yet is told to; what has stopped need not be kept for anybody.
    fn move_on(&self, host: &Host, view: &TaskView) {
        if !view.desired.is_terminal() {
            self.stop(&host.handle, &view.id);
        } else if view.known.is_terminal()
            && !view.removed
            && !view.lingering
            && let Err(error) = host.handle.clean_up(view.id.clone())
        {
            tracing::debug!(error = %error, task.id = %view.id, "clean-up cannot be asked for yet");
        }
    }
}

fn trouble_of(host: &HostView) -> String {
    match &host.runtime {
        RuntimeLink::Connecting { trouble: Some(text) } | RuntimeLink::Away { trouble: text } => {
            format!("Docker does not answer: {text}")
        }
        RuntimeLink::Unusable { text } => format!("this Docker cannot be used: {text}"),
        RuntimeLink::Connecting { trouble: None } | RuntimeLink::Up { .. } => "Docker does not answer".into(),
    }
}
