//! `lighterman run`: one task, from its definition to its end.

mod session;

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use lighterman_config::{ExitCode, RunSettings, StateRoot};
use lighterman_contracts::{Clock, ContainerRuntime, Entropy, LogSource};
use lighterman_engine::{HostSettings, SavedTask};
use lighterman_ids::{InstanceId, TaskId};
use lighterman_task_manager::TaskSpec;
use lighterman_ui::{End, Failure, Started, StopSignal};
use tokio::{net::UnixStream, sync::mpsc, time::timeout};

use crate::{
    definition::{Definition, DefinitionError},
    earlier::{self, InstancePrefix},
    host::{Definitions, Prepared},
    instance::{Instance, InstanceError, OnDamage, Opening, Told},
    settings::host_settings,
    shown::{Following, Shown},
    stage::{Show, Stage},
    sweep::Sweep,
    wishes::Heard,
};
use session::{Outcome, Session};

/// What `run` was asked for.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// The definition, `-` for standard input; may be left out with `resume`.
    pub file: Option<PathBuf>,
    /// The instance to go on with, or how its id begins.
    pub resume: Option<InstancePrefix>,
    /// Where state goes.
    pub state: StateRoot,
    /// Move a damaged store aside and find containers by their labels.
    pub recover: bool,
    /// Limits and waits.
    pub settings: RunSettings,
    /// Address of Docker, to be shown.
    pub docker_host: String,
    /// Version of the program, to be shown.
    pub version: String,
    /// What was odd about the settings, to be shown.
    pub warnings: Vec<String>,
}

/// Where a run gets everything else from.
#[derive(Debug)]
pub struct Surroundings<R, C, E> {
    /// Docker.
    pub runtime: Arc<R>,
    /// Time.
    pub clock: C,
    /// Randomness.
    pub entropy: E,
    /// Ctrl-C and its siblings, as they come.
    pub signals: mpsc::Receiver<Heard>,
    /// Where everything is shown.
    pub stage: Stage,
}

/// Runs a task to its end; everything there is to say has been shown when this returns.
pub async fn run<R, C, E>(options: RunOptions, around: Surroundings<R, C, E>) -> ExitCode
where
    R: ContainerRuntime + LogSource,
    C: Clock + Clone,
    E: Entropy,
{
    let Surroundings { runtime, clock, entropy, mut signals, stage } = around;
    let run = Run { settings: host_settings(&options.settings), options, runtime, clock, entropy, stage: &stage };
    let Done { code, text, nobody_reads } = match run.perform(&mut signals).await {
        Ok(done) => done,
        Err(failure) => {
            stage.show(Show::Failure(failure));
            Done::of(ExitCode::OwnError, Some("an error of our own, told above".into()))
        }
    };
    stage.show(Show::End(End { exit_code: code.code(), kind: code.as_str(), text }));
    stage.close(if nobody_reads { NOBODY_READS } else { LAST_WORDS }).await;
    code
}

/// How long the last words may take to be written, as long as nothing of them moves.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// The same where nobody has read for some time.
const NOBODY_READS: Duration = Duration::from_millis(500);

/// What there is to say at the end.
struct Done {
    code: ExitCode,
    text: Option<String>,
    /// Whether output has been given up because nobody read it.
    nobody_reads: bool,
}

impl Done {
    const fn of(code: ExitCode, text: Option<String>) -> Self {
        Self { code, text, nobody_reads: false }
    }
}

struct Run<'a, R, C, E> {
    options: RunOptions,
    settings: HostSettings,
    runtime: Arc<R>,
    clock: C,
    entropy: E,
    stage: &'a Stage,
}

/// A task that is to be submitted.
enum New {
    /// First of all.
    Now(TaskSpec),
    /// Once it is known that no container of an earlier one is there.
    IfNothingIsFound(TaskSpec),
}

/// What a run works on.
struct Plan {
    /// The task to follow; `None` until it is found by its labels.
    task: Option<TaskId>,
    new: Option<New>,
    definitions: Definitions,
}

impl<R, C, E> Run<'_, R, C, E>
where
    R: ContainerRuntime + LogSource,
    C: Clock + Clone,
    E: Entropy,
{
    async fn perform(&self, signals: &mut mpsc::Receiver<Heard>) -> Result<Done, Failure> {
        for warning in &self.options.warnings {
            self.stage.show(Show::Warning(warning.clone()));
        }
        // Whoever has mistyped an id is told before anything is touched.
        let resumed = self.find_resumed()?;
        let definition = tokio::select! {
            loaded = self.load_definition() => loaded?,
            Some(Heard { signal, .. }) = signals.recv() => {
                return Ok(Done::of(code_of(signal), Some("stopped before anything was begun".into())));
            }
        };
        check_access(&self.options.docker_host).await?;
        let opening = Opening {
            docker: &self.options.docker_host,
            on_damage: self.on_damage(),
            purpose: "",
            is_named_by_id: self.options.state.of_all().is_some(),
        };
        let opened = match resumed {
            Some((id, directory)) => {
                self.list_others(&id)?;
                Instance::open_existing(&directory, opening, &self.entropy)
            }
            None => {
                if let Some(code) = self.sweep(signals).await? {
                    return Ok(Done::of(code, Some("stopped while cleaning up after earlier runs".into())));
                }
                Instance::open_new(&self.options.state, opening, &self.entropy)
            }
        };
        let instance = opened.map_err(|error| self.instance_failure(&error))?;
        if let Some(aside) = &instance.damaged {
            let text = "the damaged state store is set aside, until this state directory is removed, in";
            self.stage.show(Show::Warning(format!("{text} {}", aside.display())));
        }
        let plan = self.plan(&instance, definition.as_ref())?;
        self.show_started(&instance, &plan);
        let outcome = self.drive(instance, plan, signals).await?;
        Ok(exit_of(&outcome))
    }

    async fn load_definition(&self) -> Result<Option<Definition>, Failure> {
        let Some(file) = &self.options.file else { return Ok(None) };
        match Definition::load_when_there(file).await {
            Ok(definition) => {
                let warnings = texts(&definition.warnings.warnings);
                if !warnings.is_empty() {
                    self.stage.show(Show::Problems { file: file.clone(), errors: Vec::new(), warnings });
                }
                Ok(Some(definition))
            }
            Err(error) => Err(self.definition_failure(file, &error)),
        }
    }

    fn definition_failure(&self, file: &Path, error: &DefinitionError) -> Failure {
        match error {
            DefinitionError::Unreadable { .. } => failure(error.to_string(), None),
            DefinitionError::Refused(findings) => {
                let (errors, warnings) = (texts(&findings.errors), texts(&findings.warnings));
                self.stage.show(Show::Problems { file: file.into(), errors, warnings });
                failure("the task definition is refused; nothing was created".into(), None)
            }
        }
    }

    /// An exit code when a signal came meanwhile.
    async fn sweep(&self, signals: &mut mpsc::Receiver<Heard>) -> Result<Option<ExitCode>, Failure> {
        let Some(all) = self.options.state.of_all() else { return Ok(None) };
        let sweep = Sweep {
            settings: &self.settings,
            on_damage: self.on_damage(),
            runtime: &self.runtime,
            clock: &self.clock,
            entropy: &self.entropy,
            docker_host: &self.options.docker_host,
            stage: self.stage,
        };
        tokio::select! {
            swept = sweep.all(all) => {
                let gave_up = swept.map_err(|error| unlisted(all, &error))?;
                let advice = format!("see to it that Docker answers at {}", self.options.docker_host);
                gave_up.map_or(Ok(None), |text| Err(failure(text, Some(&advice))))
            }
            Some(Heard { signal, .. }) = signals.recv() => Ok(Some(code_of(signal))),
        }
    }

    /// The run to go on with, if one was asked for. Nothing is touched.
    fn find_resumed(&self) -> Result<Option<(InstanceId, PathBuf)>, Failure> {
        let (Some(prefix), Some(all)) = (&self.options.resume, self.options.state.of_all()) else { return Ok(None) };
        let found = earlier::find(all, prefix);
        found.map(Some).map_err(|error| failure(error.to_string(), error.advice().as_deref()))
    }

    /// Whoever goes on with one run touches no other.
    fn list_others(&self, resumed: &InstanceId) -> Result<(), Failure> {
        let Some(all) = self.options.state.of_all() else { return Ok(()) };
        let directories = earlier::directories_below(all).map_err(|error| unlisted(all, &error))?;
        let others = directories.into_iter().filter(|(id, _)| id != resumed);
        let found: Vec<_> =
            others.filter_map(|(id, directory)| earlier::look(id, directory, &self.options.docker_host)).collect();
        if !found.is_empty() {
            self.stage.show(Show::Leftovers(found));
        }
        Ok(())
    }

    fn instance_failure(&self, error: &InstanceError) -> Failure {
        let told = Told::Run { with_file: self.options.file.is_some(), is_free: self.options.resume.is_none() };
        Failure { causes: causes(error), ..failure(error.to_string(), Some(&error.advice(told))) }
    }

    const fn on_damage(&self) -> OnDamage {
        if self.options.recover { OnDamage::MoveAside } else { OnDamage::Refuse }
    }

    /// What to work on: the unfinished task of the same definition, else a new one. Another definition in
    /// the same directory is refused: two tasks would share what one state directory can tell apart only by
    /// their ids.
    fn plan(&self, instance: &Instance, definition: Option<&Definition>) -> Result<Plan, Failure> {
        let mut plan = Plan { task: None, new: None, definitions: Definitions::new() };
        if let Some(definition) = definition {
            plan.definitions.insert(definition.digest.clone(), Arc::clone(&definition.definition));
        }
        if let Some(unfinished) = to_go_on_with(&instance.saved.tasks, definition) {
            let other = definition.filter(|definition| definition.digest != unfinished.state.digest);
            if let Some(other) = other {
                let text = format!(
                    "{} holds an unfinished task of another definition ({}, and the file is {})",
                    instance.directory.display(),
                    unfinished.state.digest,
                    other.digest
                );
                let or = if self.options.resume.is_some() { "leave it out" } else { "use another --state-dir" };
                let advice = format!("give the definition it was started with, or {or}");
                return Err(failure(text, Some(&advice)));
            }
            plan.task = Some(unfinished.state.id.clone());
            return Ok(plan);
        }
        let new_task = || definition.map(|definition| definition.new_task(&self.entropy));
        match (self.options.resume.is_some(), instance.damaged.is_some()) {
            // By its labels, if there are any.
            (true, _) => {}
            (false, true) => plan.new = new_task().map(New::IfNothingIsFound),
            (false, false) => {
                let new = new_task();
                plan.task = new.as_ref().map(|spec| spec.id.clone());
                plan.new = new.map(New::Now);
            }
        }
        Ok(plan)
    }

    fn show_started(&self, instance: &Instance, plan: &Plan) {
        self.stage.show(Show::Started(Started {
            schema: 1,
            version: self.options.version.clone(),
            instance: instance.id.to_string(),
            state_dir: instance.directory.display().to_string(),
            docker_host: self.options.docker_host.clone(),
            file: self.options.file.as_ref().map(|file| file.display().to_string()),
            resumed: !matches!(plan.new, Some(New::Now(_))),
        }));
    }

    async fn drive(
        &self,
        instance: Instance,
        plan: Plan,
        signals: &mut mpsc::Receiver<Heard>,
    ) -> Result<Outcome, Failure> {
        let kept = Kept { instance: instance.id.clone(), directory: instance.directory.clone() };
        let is_new = matches!(plan.new, Some(New::Now(_)));
        let by_our_clock = self.options.docker_host.starts_with(UNIX);
        let following = Following { from_start: is_new, by_our_clock };
        let shown = Shown::open(&kept.directory, following, self.clock.clone());
        let unread = |error| failure(format!("what was shown before cannot be read: {error}"), None);
        let shown = shown.map_err(unread)?;
        let (runtime, clock) = (Arc::clone(&self.runtime), self.clock.clone());
        let prepared = Prepared::new(instance, self.settings.clone(), plan.definitions, runtime, clock, &self.entropy)
            .map_err(|error| failure(error.to_string(), Some("use the version that wrote it, or start anew")))?;
        let mut host = prepared.start();
        let (runtime, patience) = (Arc::clone(&self.runtime), self.settings.patience);
        let mut session = Session::new(self.stage, runtime, plan.task, Arc::clone(&shown), patience);
        let outcome = session.follow(&mut host, plan.new, signals).await;
        if outcome.leave_at_once {
            return Ok(outcome);
        }
        let (lock, unsaved, updates) = host.end().await;
        session.show_the_rest(updates).await;
        if session.is_lingering() {
            let text = "Docker was asked to create the container and did not answer; should it do so yet, the next run \
                        removes it";
            self.stage.show(Show::Warning(text.into()));
        }
        session.kept().for_each(|text| self.stage.show(Show::Warning(text)));
        let created_nothing = outcome.nothing_there || (is_new && session.has_created_nothing());
        let nothing_is_left = session.is_alone() && (created_nothing || (session.is_removed() && unsaved.is_none()));
        shown.close(nothing_is_left);
        if let (false, Some(unsaved)) = (nothing_is_left, unsaved) {
            self.stage.show(Show::Warning(unsaved));
        }
        if let (true, true, Some(lock)) = (nothing_is_left, self.options.state.of_all().is_some(), lock)
            && let Err(error) = lock.remove_directory()
        {
            self.stage.show(Show::Warning(error.to_string()));
        }
        match outcome.failure {
            Some(text) if created_nothing => {
                let docker = &self.options.docker_host;
                let first = outcome.gave_up.then(|| format!("see to it that Docker answers at {docker}; "));
                let advice = format!("{}nothing of it is in Docker: run it anew", first.unwrap_or_default());
                Err(failure(text, Some(&advice)))
            }
            Some(text) => Err(failure(text, Some(&kept.advice(self.options.state.of_all().is_some())))),
            None => Ok(outcome),
        }
    }
}

/// Of several unfinished tasks the one of this definition, and one that is to go on; the others are left over.
fn to_go_on_with<'a>(tasks: &'a [SavedTask], definition: Option<&Definition>) -> Option<&'a SavedTask> {
    let is_other = |task: &SavedTask| definition.is_some_and(|definition| definition.digest != task.state.digest);
    tasks.iter().min_by_key(|task| (is_other(task), task.state.desired.is_terminal()))
}

/// A state directory that something is left in.
struct Kept {
    instance: InstanceId,
    directory: PathBuf,
}

impl Kept {
    /// `is_shared`: other runs look into the directories beside it.
    fn advice(&self, is_shared: bool) -> String {
        let Self { instance, directory } = self;
        if is_shared {
            format!("go on with it by `lighterman run --resume {instance}`; any other `lighterman run` cleans it up")
        } else {
            format!("go on with it by the same command: its state is kept in {}", directory.display())
        }
    }
}

/// How a run ends that does not wait for its end.
const LEFT: &str = "left at once; the next run cleans up";

fn exit_of(outcome: &Outcome) -> Done {
    let (code, text) = match outcome.signal {
        Some(signal) => {
            let how = if outcome.leave_at_once { LEFT } else { "stopped because it was asked to" };
            (code_of(signal), Some(how.into()))
        }
        None if outcome.exit_code.is_none() => (ExitCode::OwnError, Some("the container never ran to an end".into())),
        None => {
            let code = ExitCode::of_task(outcome.exit_code);
            let text = outcome.leave_at_once.then_some(LEFT);
            let own = code.is_ambiguous().then_some("the container's own exit code");
            (code, text.or(own).map(Into::into))
        }
    };
    Done { nobody_reads: outcome.silenced, ..Done::of(code, text) }
}

const fn code_of(signal: StopSignal) -> ExitCode {
    match signal {
        StopSignal::Interrupt => ExitCode::Interrupted,
        StopSignal::Terminate => ExitCode::Terminated,
        StopSignal::HangUp => ExitCode::HungUp,
        StopSignal::Quit => ExitCode::Quit,
    }
}

/// Whoever may not use the socket may not a minute later either: that is no wait.
async fn check_access(docker_host: &str) -> Result<(), Failure> {
    let Some(socket) = docker_host.strip_prefix(UNIX) else { return Ok(()) };
    match timeout(ACCESS_LIMIT, UnixStream::connect(socket)).await {
        Ok(Err(error)) if error.kind() == io::ErrorKind::PermissionDenied => {
            let text = format!("no permission to use Docker at {docker_host}: {error}");
            let advice = "have this user added to the group that owns the socket, mostly `docker`, and log in anew, or run \
                          this with `sudo`; nothing was created";
            Err(failure(text, Some(advice)))
        }
        // Everything else may pass, and is waited for where the wait is shown.
        Ok(Ok(_) | Err(_)) | Err(_) => Ok(()),
    }
}

/// How addresses on this host begin.
const UNIX: &str = "unix://";

/// An engine that takes no connection says nothing about permissions.
const ACCESS_LIMIT: Duration = Duration::from_secs(1);

fn unlisted(all: &Path, error: &io::Error) -> Failure {
    failure(format!("{} cannot be listed: {error}", all.display()), None)
}

/// From the nearest to the farthest.
fn causes(error: &dyn std::error::Error) -> Vec<String> {
    std::iter::successors(error.source(), |cause| cause.source()).map(ToString::to_string).collect()
}

pub(crate) fn failure(text: String, advice: Option<&str>) -> Failure {
    Failure { text, causes: Vec::new(), advice: advice.map(Into::into) }
}

fn texts(findings: &[lighterman_taskdef::Finding]) -> Vec<String> {
    findings.iter().map(ToString::to_string).collect()
}
