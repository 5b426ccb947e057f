//! Cleaning up after runs whose process is dead. Living ones are listed and never touched.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    path::{Path, PathBuf},
    pin::pin,
    sync::Arc,
    time::Duration,
};

use futures_util::{StreamExt as _, stream};
use lighterman_checkpoint::OpenError;
use lighterman_config::format_duration;
use lighterman_contracts::{Clock, ContainerRuntime, Entropy};
use lighterman_driver::{Handle, Update};
use lighterman_engine::HostSettings;
use lighterman_ids::{InstanceId, RuntimeName, TaskId};
use lighterman_ui::Leftover;
use lighterman_view::{ContainerView, HostView, RuntimeLink, TaskView};
use tokio::time::timeout;

use crate::{
    earlier::{self, CLEANS_UP},
    host::{Definitions, Host, Prepared},
    instance::{Instance, InstanceError, OnDamage, Opening, Told},
    stage::{Show, Stage},
};

/// A clean-up that takes longer is told of.
const SAY_SO_AFTER: Duration = Duration::from_secs(1);

/// What Docker does not remove for so long is left to the next run: this one is to begin.
const SWEEP_PATIENCE: Duration = Duration::from_secs(3);

/// So many stores are open side by side: each has threads and files, and all share the seven threads of sled.
const AT_ONCE: usize = 4;

/// Why a task of a dead run is stopped.
const REASON: &str = "Its run ended without it";

/// What a sweep needs.
pub(crate) struct Sweep<'a, R, C, E> {
    pub(crate) settings: &'a HostSettings,
    pub(crate) on_damage: OnDamage,
    pub(crate) runtime: &'a Arc<R>,
    pub(crate) clock: &'a C,
    pub(crate) entropy: &'a E,
    /// Address of Docker.
    pub(crate) docker_host: &'a str,
    pub(crate) stage: &'a Stage,
}

impl<R: ContainerRuntime, C: Clock + Clone, E: Entropy> Sweep<'_, R, C, E> {
    /// Cleans up all instances below `all`, a few side by side, and shows each find at once: whatever is found must have been
    /// told before it is forgotten. How Docker failed, when it did not answer for too long.
    ///
    /// # Errors
    /// The directory cannot be listed.
    pub(crate) async fn all(&self, all: &Path) -> io::Result<Option<String>> {
        let directories = earlier::directories_below(all)?;
        let each = stream::iter(directories).map(|(id, directory)| self.one(id, directory));
        let failures: Vec<Option<String>> = each.buffer_unordered(AT_ONCE).collect().await;
        Ok(failures.into_iter().flatten().next())
    }

    async fn one(&self, instance: InstanceId, state_dir: PathBuf) -> Option<String> {
        let opening =
            Opening { docker: self.docker_host, on_damage: self.on_damage, purpose: CLEANS_UP, is_named_by_id: true };
        let opened = match Instance::open_existing(&state_dir, opening, self.entropy) {
            Ok(opened) => opened,
            Err(InstanceError::OtherDocker { theirs, .. }) => {
                self.show(Leftover::Elsewhere { instance, state_dir, docker_host: theirs });
                return None;
            }
            // Whoever owned it has just removed it.
            Err(InstanceError::Store(OpenError::Missing { .. })) => return None,
            Err(InstanceError::Store(OpenError::Locked { owner, .. })) => {
                self.show(earlier::held(instance, state_dir, owner));
                return None;
            }
            Err(error) => {
                let why = format!("{error}; {}", error.advice(Told::Passerby(&instance)));
                self.show(Leftover::Unreadable { state_dir, why });
                return None;
            }
        };
        if opened.damaged.is_some() {
            let text = "its damaged state store is set aside, and its containers are looked for by their labels";
            self.stage.show(Show::Warning(format!("earlier run {instance}: {text}")));
        }
        let tasks: Vec<TaskId> = opened.saved.tasks.iter().map(|task| task.state.id.clone()).collect();
        let (runtime, clock) = (Arc::clone(self.runtime), self.clock.clone());
        let mut settings = self.settings.clone();
        settings.task.cleanup_patience = settings.task.cleanup_patience.min(SWEEP_PATIENCE);
        match Prepared::new(opened, settings, Definitions::new(), runtime, clock, self.entropy) {
            Ok(prepared) => {
                let dead = Dead {
                    instance,
                    state_dir,
                    stage: self.stage,
                    patience: self.settings.patience,
                    views: BTreeMap::new(),
                    told: BTreeSet::new(),
                };
                dead.clean_up(prepared, &tasks).await
            }
            Err(error) => {
                self.show(Leftover::Unreadable { state_dir, why: error.to_string() });
                None
            }
        }
    }

    fn show(&self, leftover: Leftover) {
        self.stage.show(Show::Leftovers(vec![leftover]));
    }
}

/// The instance of a dead run, with its tasks as they were last shown.
struct Dead<'a> {
    instance: InstanceId,
    state_dir: PathBuf,
    stage: &'a Stage,
    patience: Option<Duration>,
    views: BTreeMap<TaskId, Arc<TaskView>>,
    /// Containers that have been told of.
    told: BTreeSet<RuntimeName>,
}

impl Dead<'_> {
    /// Stops and removes all there is. How Docker failed, when it did not answer for too long.
    async fn clean_up<R: ContainerRuntime, C: Clock>(
        mut self,
        prepared: Prepared<R, C>,
        tasks: &[TaskId],
    ) -> Option<String> {
        for task in tasks {
            stop(&prepared.handle, task);
        }
        let mut host = prepared.start();
        let finished = self.until_done(&mut host).await;
        let gave_up = (!finished).then(|| trouble_of(&host.view()));
        let (lock, unsaved, mut updates) = host.end().await;
        while let Some(update) = updates.next().await {
            self.take(update);
        }
        let is_empty = finished && unsaved.is_none() && self.views.values().all(|view| view.removed);
        if let (true, Some(lock)) = (is_empty, lock)
            && let Err(error) = lock.remove_directory()
        {
            tracing::warn!(error = %error, "an empty state directory could not be removed");
        }
        self.tell_what_is_kept(gave_up.as_deref());
        gave_up
    }

    /// `false` when Docker does not answer for too long.
    async fn until_done(&mut self, host: &mut Host) -> bool {
        let (handle, stage, instance, patience) =
            (host.handle.clone(), self.stage, self.instance.clone(), self.patience);
        let mut done = pin!(self.follow(host));
        if let Ok(finished) = timeout(SAY_SO_AFTER, &mut done).await {
            return finished;
        }
        stage.show(Show::Note(what_it_waits_for(&instance, &handle, patience)));
        done.await
    }

    async fn follow(&mut self, host: &mut Host) -> bool {
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
                move_on(&host.handle, &task);
            }
        }
    }

    /// Takes in what changed. The end of a container is told before anybody may forget it.
    fn take(&mut self, update: Update) -> Option<Arc<TaskView>> {
        match update {
            Update::Task(view) => {
                self.views.insert(view.id.clone(), Arc::clone(&view));
                if view.known.is_terminal() {
                    view.containers.iter().for_each(|container| self.tell_its_end(container));
                }
                Some(view)
            }
            Update::Host(host) => {
                for container in &host.left_alone {
                    if self.told.insert(container.name.clone()) {
                        self.stage.show(Show::Warning(format!("earlier run {}: {container}", self.instance)));
                    }
                }
                None
            }
            Update::Refused { .. } | Update::Missed(_) => None,
        }
    }

    fn tell_its_end(&mut self, container: &ContainerView) {
        // Without an id there was none: at most, one may still come.
        let (Some(name), Some(_)) = (&container.runtime_name, &container.runtime_id) else { return };
        if self.told.insert(name.clone()) {
            self.show(Leftover::Cleaned {
                instance: self.instance.clone(),
                state_dir: self.state_dir.clone(),
                container: name.to_string(),
                exit_code: container.exit_code,
            });
        }
    }

    /// `gave_up`: how Docker failed.
    fn tell_what_is_kept(&self, gave_up: Option<&str>) {
        let left = self.views.values().filter(|view| !view.removed).flat_map(|view| &view.containers);
        for container in left {
            let Some(why) = gave_up.or(container.kept.as_deref()) else { continue };
            let Some(name) = &container.runtime_name else { continue };
            self.show(Leftover::Kept {
                instance: self.instance.clone(),
                state_dir: self.state_dir.clone(),
                container: name.to_string(),
                why: why.to_owned(),
            });
        }
    }

    fn show(&self, leftover: Leftover) {
        self.stage.show(Show::Leftovers(vec![leftover]));
    }
}

/// What is not to stop yet is told to; what has stopped need not be kept for anybody.
fn move_on(handle: &Handle, view: &TaskView) {
    if !view.desired.is_terminal() {
        stop(handle, &view.id);
    } else if view.known.is_terminal()
        && !view.removed
        && !view.lingering
        && let Err(error) = handle.clean_up(view.id.clone())
    {
        tracing::debug!(error = %error, task.id = %view.id, "clean-up cannot be asked for yet");
    }
}

fn stop(handle: &Handle, task: &TaskId) {
    // A lane that is full is tried again with the next update.
    if let Err(error) = handle.stop(task.clone(), Some(REASON.into()), false) {
        tracing::debug!(error = %error, task.id = %task, "a task cannot be stopped yet");
    }
}

/// Whoever waits for a new run should know what for.
fn what_it_waits_for(instance: &InstanceId, handle: &Handle, patience: Option<Duration>) -> String {
    let tasks = handle.tasks().get();
    let containers = tasks.values().flat_map(|view| &view.containers);
    let waits: Vec<String> = containers
        .filter_map(|container| Some(format!("{} waits for {}", container.name, container.wait.as_ref()?.reason)))
        .collect();
    let what = match &handle.host().get().runtime {
        RuntimeLink::Up { .. } if !waits.is_empty() => waits.join(", "),
        RuntimeLink::Up { .. } => "Docker is at work".into(),
        RuntimeLink::Connecting { .. } | RuntimeLink::Away { .. } | RuntimeLink::Unusable { .. } => {
            format!("{}{}", trouble_of(&handle.host().get()), until_given_up(patience))
        }
    };
    format!("still cleaning up after the earlier run {instance}: {what}; Ctrl-C leaves it to the next run")
}

/// When a wait for Docker ends at the latest, to be added to what it waits for.
pub(crate) fn until_given_up(patience: Option<Duration>) -> String {
    patience.map_or_else(String::new, |patience| {
        format!("; given up when it has not answered for {}", format_duration(patience))
    })
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
