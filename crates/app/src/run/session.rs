//! Following a task to its end: views, output, progress, signals.

use std::{
    collections::{BTreeMap, BTreeSet},
    future::Future,
    pin::Pin,
    sync::Arc,
    time::Duration,
};

use futures_util::{StreamExt as _, stream::FuturesUnordered};
use lighterman_calls::ExitCode;
use lighterman_contracts::{ContainerRuntime, LogSource};
use lighterman_driver::{Handle, RequestError, Update, Updates};
use lighterman_ids::{ContainerName, RuntimeId, TaskId};
use lighterman_task_manager::TaskSpec;
use lighterman_ui::{StopAction, StopSignal};
use lighterman_view::{ContainerView, HostView, Restarted, RuntimeLink, TaskView};
use tokio::{sync::mpsc, time::timeout};

use super::New;
use crate::{
    host::Host,
    logs,
    shown::Shown,
    stage::{Show, Stage},
    sweep::until_given_up,
    wishes::{Heard, Wish, Wishes},
};

/// How long nothing of the output of a container that has ended may come, or be taken by a reader, before the rest of it
/// is given up: its stream may never end (B-033), and a pager that nobody reads takes nothing.
const SILENCE: Duration = Duration::from_secs(5);

/// The same once somebody wants the command to end.
const SHORT_SILENCE: Duration = Duration::from_secs(2);

/// How long the rest of the output may take, however it moves, once its containers have ended.
const REST: Duration = Duration::from_secs(30);

/// The same once somebody wants the command to end.
const SHORT_REST: Duration = Duration::from_secs(5);

/// How a session ended.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// Exit code of the task, if it has one.
    pub(super) exit_code: Option<ExitCode>,
    /// The first signal that asked to end.
    pub(super) signal: Option<StopSignal>,
    /// Asked three times, or by SIGQUIT: what is left is left to the next start.
    pub(super) leave_at_once: bool,
    /// It could not be followed to its end.
    pub(super) failure: Option<String>,
    /// Docker did not answer for too long, or cannot be used.
    pub(super) gave_up: bool,
    /// There was no task, and no container of one.
    pub(super) nothing_there: bool,
    /// Output was given up.
    pub(super) silenced: bool,
}

/// Reads the output of a container to its end.
type Output<'a> = Pin<Box<dyn Future<Output = ContainerName> + Send + 'a>>;

/// What the command is doing about its task.
pub(super) struct Session<'a, R> {
    stage: &'a Stage,
    runtime: Arc<R>,
    task: Option<TaskId>,
    /// To be submitted if no earlier one is found.
    instead: Option<TaskSpec>,
    shown: Arc<Shown>,
    /// How long Docker may be away.
    patience: Option<Duration>,
    view: Option<Arc<TaskView>>,
    /// Tasks left over beside it, as they were last shown, for as long as they are waited for.
    others: BTreeMap<TaskId, Arc<TaskView>>,
    /// Containers that carry our labels and are left alone, as far as they have been told of.
    left_alone: BTreeSet<RuntimeId>,
    /// Whose output is or was read, and whether it has been to its end.
    followed: BTreeMap<ContainerName, bool>,
    outputs: FuturesUnordered<Output<'a>>,
    /// Ends when nothing of the output of a stopped task has moved for too long.
    silence: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    wishes: Wishes,
    outcome: Outcome,
    /// What was last said about Docker and the store.
    told: Option<Trouble>,
}

/// What keeps the task from going on, and is not its own.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Trouble {
    Docker { answered_before: bool, text: String },
    Store(String),
}

impl Trouble {
    fn of(host: &HostView) -> Option<Self> {
        if let Some(text) = &host.store_failing {
            return Some(Self::Store(text.clone()));
        }
        match &host.runtime {
            RuntimeLink::Away { trouble } => Some(Self::Docker { answered_before: true, text: trouble.clone() }),
            RuntimeLink::Connecting { trouble } => {
                trouble.clone().map(|text| Self::Docker { answered_before: false, text })
            }
            RuntimeLink::Up { .. } | RuntimeLink::Unusable { .. } => None,
        }
    }
}

impl Trouble {
    fn in_words(&self, patience: Option<Duration>) -> String {
        let end = until_given_up(patience);
        match self {
            Self::Docker { answered_before: true, text } => format!("Docker does not answer: {text}{end}"),
            Self::Docker { answered_before: false, text } => format!("waiting for Docker: {text}{end}"),
            Self::Store(text) => format!("the state store takes no changes, so nothing new is started: {text}"),
        }
    }
}

impl<'a, R: ContainerRuntime + LogSource> Session<'a, R> {
    pub(super) fn new(
        stage: &'a Stage,
        runtime: Arc<R>,
        task: Option<TaskId>,
        shown: Arc<Shown>,
        patience: Option<Duration>,
    ) -> Self {
        Self {
            stage,
            runtime,
            task,
            instead: None,
            shown,
            patience,
            view: None,
            others: BTreeMap::new(),
            left_alone: BTreeSet::new(),
            followed: BTreeMap::new(),
            outputs: FuturesUnordered::new(),
            silence: None,
            wishes: Wishes::default(),
            outcome: Outcome::default(),
            told: None,
        }
    }

    /// Whether nothing of the task is left.
    pub(super) fn is_removed(&self) -> bool {
        self.view.as_ref().is_some_and(|view| view.removed)
    }

    /// Whether nothing is left but a create call that may still be carried out.
    pub(super) fn is_lingering(&self) -> bool {
        self.view.as_ref().is_some_and(|view| view.lingering)
    }

    /// What of the task has ended and is not removed by Docker, each with what it says.
    pub(super) fn kept(&self) -> impl Iterator<Item = String> {
        let views = self.view.iter().chain(self.others.values()).filter(|view| view.is_kept());
        views.flat_map(|view| &view.containers).filter_map(kept_in_words)
    }

    /// Whether nothing is left of others either.
    pub(super) fn is_alone(&self) -> bool {
        self.others.is_empty()
    }

    /// Whether no create call of the task can have left: a name is chosen, and shown, before.
    pub(super) fn has_created_nothing(&self) -> bool {
        let no_name = |view: &TaskView| view.containers.iter().all(|container| container.runtime_name.is_none());
        self.view.as_deref().is_none_or(no_name)
    }

    /// Goes on until the task has ended and is gone from Docker, or until that cannot be followed.
    pub(super) async fn follow(
        &mut self,
        host: &mut Host,
        new: Option<New>,
        signals: &mut mpsc::Receiver<Heard>,
    ) -> Outcome {
        let handle = host.handle.clone();
        let mut submission = None;
        match new {
            Some(New::Now(spec)) => submission = Some(Box::pin(submit(handle.clone(), spec))),
            Some(New::IfNothingIsFound(spec)) => self.instead = Some(spec),
            None => {}
        }
        let mut progress = handle.progress();
        let mut pulls_end = false;
        while !self.is_over(&host.view()) {
            if self.finds_nothing(&host.view())
                && let Some(spec) = self.instead.take()
            {
                self.task = Some(spec.id.clone());
                submission = Some(Box::pin(submit(handle.clone(), spec)));
            }
            tokio::select! {
                biased;
                Some(heard) = signals.recv() => self.on_signal(&handle, heard),
                outcome = async { submission.as_mut().expect("asked for").await }, if submission.is_some() => {
                    submission = None;
                    self.outcome.failure = outcome.err().map(|error| error.to_string());
                }
                update = host.updates.next() => match update {
                    Some(update) => self.on_update(&handle, update),
                    None => self.outcome.failure = Some("the agent's loop has ended".into()),
                },
                Some(name) = self.outputs.next() => self.on_output_end(&handle, name),
                () = async { self.silence.as_mut().expect("asked for").await }, if self.silence.is_some() => {
                    self.give_up_output();
                }
                news = progress.next(), if !pulls_end => match news {
                    Some(news) => self.stage.show(Show::Pull(news.image, news.step)),
                    None => pulls_end = true,
                },
            }
            self.let_go(&handle);
        }
        self.outcome.exit_code = self.view.as_ref().and_then(|view| view.exit_code());
        std::mem::take(&mut self.outcome)
    }

    /// Views that came while the driver ended.
    pub(super) async fn show_the_rest(&mut self, mut updates: Updates) {
        while let Some(update) = updates.next().await {
            let Update::Task(view) = update else { continue };
            if self.task.as_ref() == Some(&view.id) {
                self.stage.show(Show::View(Arc::clone(&view)));
                self.view = Some(view);
            } else {
                self.note_other(view);
            }
        }
    }

    fn is_over(&mut self, host: &HostView) -> bool {
        if self.outcome.failure.is_some() || self.outcome.leave_at_once {
            return true;
        }
        if host.gave_up {
            self.outcome.failure = Some(given_up(host));
            self.outcome.gave_up = true;
            return true;
        }
        if self.finds_nothing(host) && self.instead.is_none() {
            self.outcome.failure = Some("there is no task to go on with".into());
            self.outcome.nothing_there = true;
            return true;
        }
        let is_settled = |view: &Arc<TaskView>| view.removed || view.lingering || view.is_kept();
        self.view.as_ref().is_some_and(is_settled) && self.others.values().all(is_settled)
    }

    fn finds_nothing(&self, host: &HostView) -> bool {
        self.task.is_none() && host.checked && host.unfinished == 0
    }

    fn on_update(&mut self, handle: &Handle, update: Update) {
        match update {
            Update::Task(view) => self.on_view(handle, view),
            Update::Host(host) => self.on_host(&host),
            // The submission says the same.
            Update::Refused { .. } => {}
            Update::Missed(_) => {
                let views: Vec<_> = handle.tasks().get().values().cloned().collect();
                views.into_iter().for_each(|view| self.on_view(handle, view));
            }
        }
    }

    fn on_view(&mut self, handle: &Handle, view: Arc<TaskView>) {
        // Without records the first task that shows itself is the one; one that is to go on rather than one that is not.
        let goes_on =
            || handle.tasks().get().values().find(|view| !view.desired.is_terminal()).map(|view| view.id.clone());
        if self.task.get_or_insert_with(|| goes_on().unwrap_or_else(|| view.id.clone())) != &view.id {
            return self.on_other(handle, view);
        }
        self.tell_of_restarts(&view);
        self.stage.show(Show::View(Arc::clone(&view)));
        for container in &view.containers {
            if !self.followed.contains_key(&container.name)
                && let Some(output) = logs::Output::of(container, &self.shown)
            {
                self.followed.insert(container.name.clone(), false);
                self.outputs.push(Box::pin(logs::follow(Arc::clone(&self.runtime), output, self.stage)));
            }
        }
        if view.known.is_terminal() && !self.outputs.is_empty() && self.silence.is_none() {
            self.silence = Some(self.limit_output());
        }
        self.view = Some(view);
    }

    /// A task beside the one that is followed: an earlier run has left it. It is stopped, removed and told.
    fn on_other(&mut self, handle: &Handle, view: Arc<TaskView>) {
        let asked = match (view.desired.is_terminal(), view.known.is_terminal()) {
            (false, _) => handle.stop(view.id.clone(), Some("Left over beside another task".into()), false),
            (true, true) if !view.removed && !view.lingering => handle.clean_up(view.id.clone()),
            (true, _) => Ok(()),
        };
        if let Err(error) = asked {
            tracing::debug!(error = %error, task.id = %view.id, "a task left over cannot be stopped or cleaned up yet");
        }
        if self.note_other(Arc::clone(&view)) {
            for name in view.containers.iter().filter_map(|container| container.runtime_name.as_ref()) {
                let text = format!("container {name} is left over from an earlier task of this state directory");
                self.stage.show(Show::Warning(format!("{text}; it is stopped and removed")));
            }
        }
    }

    /// Whether it is the first view of it.
    fn note_other(&mut self, view: Arc<TaskView>) -> bool {
        if view.removed {
            self.others.remove(&view.id);
            return false;
        }
        self.others.insert(view.id.clone(), view).is_none()
    }

    /// The end of its output is the end of a container, whether an event tells it or not.
    fn on_output_end(&mut self, handle: &Handle, name: ContainerName) {
        let of = |view: &Arc<TaskView>| {
            let runs = view.containers.iter().any(|container| container.name == name && container.known.is_running());
            runs.then(|| view.id.clone())
        };
        if let Some(task) = self.view.as_ref().and_then(of)
            && let Err(error) = handle.output_ended(task, name.clone())
        {
            tracing::debug!(error = %error, "the end of an output cannot be told yet");
        }
        self.followed.insert(name, true);
    }

    fn tell_of_restarts(&self, view: &TaskView) {
        let before = |name: &ContainerName| {
            let containers = self.view.as_ref().map(|view| &view.containers)?;
            containers.iter().find(|container| container.name == *name)?.restarted
        };
        for container in &view.containers {
            if let Some(restarted) = container.restarted.filter(|new| before(&container.name) != Some(*new)) {
                self.stage.show(Show::Warning(restarted_in_words(&container.name, restarted)));
            }
        }
    }

    /// Nobody waits for ever for output that does not come, or that nobody reads.
    fn give_up_output(&mut self) {
        self.silence = None;
        if self.outputs.is_empty() {
            return;
        }
        self.outputs.clear();
        self.outcome.silenced = true;
        for name in self.followed.iter().filter(|(_, done)| !**done).map(|(name, _)| name) {
            let text = format!("the output of {name} did not end, or was not read, in time: the rest is left out");
            self.stage.show(Show::Warning(text));
        }
    }

    /// Trouble that is not the task's own, once each, and its end.
    fn on_host(&mut self, host: &HostView) {
        for container in &host.left_alone {
            if self.left_alone.insert(container.id.clone()) {
                self.stage.show(Show::Warning(container.to_string()));
            }
        }
        let trouble = Trouble::of(host);
        if trouble == self.told {
            return;
        }
        match (&self.told, &trouble) {
            (_, Some(trouble)) => self.stage.show(Show::Warning(trouble.in_words(self.patience))),
            (Some(Trouble::Docker { .. }), None) => self.stage.show(Show::Note("Docker answers again".into())),
            (Some(Trouble::Store(_)), None) => {
                self.stage.show(Show::Note("the state store takes changes again".into()))
            }
            (None, None) => {}
        }
        self.told = trouble;
    }

    /// Ends when nothing of the output of a stopped task has moved for too long, or all of it takes too long.
    fn limit_output(&self) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        let (silence, all) = if self.wishes.any() { (SHORT_SILENCE, SHORT_REST) } else { (SILENCE, REST) };
        let silence = self.stage.silence(silence);
        // Whichever passes first.
        Box::pin(async move { drop(timeout(all, silence).await) })
    }

    /// Whoever asks once the container has ended by itself wants only the command to end: what it exits with is settled.
    fn on_signal(&mut self, handle: &Handle, heard: Heard) {
        let Some(wish) = self.wishes.hear(heard) else { return };
        let has_ended = self.view.as_ref().is_some_and(|view| view.known.is_terminal());
        if !has_ended {
            self.outcome.signal.get_or_insert(heard.signal);
        }
        if self.silence.is_some() {
            self.silence = Some(self.limit_output());
        }
        let action = match wish {
            _ if self.task.is_none() => StopAction::Leave,
            Wish::Stop => StopAction::Stop,
            Wish::Kill => StopAction::Kill,
            Wish::Leave => StopAction::Leave,
        };
        self.outcome.leave_at_once = action == StopAction::Leave;
        if self.outcome.leave_at_once || !has_ended {
            self.stage.show(Show::Signal(heard.signal, action));
        }
        let Some(task) = self.task.clone().filter(|_| !has_ended && !self.outcome.leave_at_once) else { return };
        let reason = Some("Stopped by the user".to_owned());
        if let Err(error) = handle.stop(task, reason, action == StopAction::Kill) {
            self.stage.show(Show::Warning(format!("the stop could not be asked for: {error}; press Ctrl-C again")));
        }
    }

    /// A task that has stopped and whose output was read to its end need not be kept any longer.
    fn let_go(&self, handle: &Handle) {
        let Some(view) = &self.view else { return };
        let is_read = self.outputs.is_empty();
        if view.known.is_terminal() && is_read && !view.removed && !view.lingering {
            // A lane that is full is tried again with the next thing that happens.
            if let Err(error) = handle.clean_up(view.id.clone()) {
                tracing::debug!(error = %error, "clean-up cannot be asked for yet");
            }
        }
    }
}

async fn submit(handle: Handle, spec: TaskSpec) -> Result<(), RequestError> {
    handle.submit(spec).await.map(|_| ())
}

fn given_up(host: &HostView) -> String {
    match &host.runtime {
        RuntimeLink::Unusable { text } => format!("this Docker cannot be used: {text}"),
        RuntimeLink::Away { trouble } => format!("Docker has not answered for too long: {trouble}"),
        RuntimeLink::Connecting { trouble } => {
            format!("Docker does not answer: {}", trouble.as_deref().unwrap_or("it says nothing"))
        }
        RuntimeLink::Up { .. } => "Docker has not answered for too long".into(),
    }
}

/// `None` for what Docker removes, or has removed.
fn kept_in_words(container: &ContainerView) -> Option<String> {
    let (name, why) = (container.runtime_name.as_ref()?, container.kept.as_ref()?);
    Some(format!(
        "container {name} has ended, and Docker does not remove it: {why}; the next run tries again, or remove it by \
         `docker rm {name}`"
    ))
}

fn restarted_in_words(name: &ContainerName, restarted: Restarted) -> String {
    let ended = restarted.exit_code.map_or_else(|| "no exit code is known".into(), |code| format!("exit code {code}"));
    format!(
        "{name} was restarted in Docker, and not by this run, which goes on with it ({ended} before); what it writes from \
         now on may not be shown here"
    )
}
