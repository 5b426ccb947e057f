//! A container: what the engine believes of it, and what is true of its process.

use alloc::{
    borrow::ToOwned,
    collections::{BTreeMap, VecDeque},
    format,
    string::{String, ToString},
    vec::Vec,
};

use lighterman_calls::{
    ContainerFacts, ContainerSummary, CreateRequest, ExitCode, HealthFacts, HealthTest, HealthWord, HealthcheckConfig,
    NetworkMode, Phase, PublishedPort, labels,
};
use lighterman_ids::{ImageId, Mono, RuntimeId, RuntimeName, Wall};

use crate::{
    image::{LocalImage, ProgramKind},
    needs::Needs,
    process::{Process, World},
};

/// What an adapter keeps of a probe's output, in bytes.
const OUTPUT_LIMIT: usize = 1_024;

/// One container of the engine.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Container {
    pub(crate) id: RuntimeId,
    pub(crate) request: CreateRequest,
    pub(crate) labels: BTreeMap<String, String>,
    pub(crate) image: ImageId,
    /// Entry point and command together; the first is the program.
    pub(crate) command: Vec<String>,
    pub(crate) programs: BTreeMap<String, ProgramKind>,
    pub(crate) check: Option<HealthcheckConfig>,
    pub(crate) created_at: Wall,
    /// Counts creations, so that lists can show the youngest first.
    pub(crate) ordinal: u64,
    pub(crate) world: World,
    pub(crate) state: State,
    /// `State.ExitCode`; 0 while it runs.
    pub(crate) exit_code: ExitCode,
    pub(crate) error: String,
    /// `State.OOMKilled`: changes only when a run ends, so a later run still shows it (seen on 20.10).
    pub(crate) oom_killed: bool,
    pub(crate) started_at: Option<Wall>,
    pub(crate) finished_at: Option<Wall>,
    pub(crate) health: Option<Health>,
    /// What probes are made to say from outside.
    pub(crate) forced_health: Option<ExitCode>,
    pub(crate) ports: Vec<PublishedPort>,
    pub(crate) removal: Removal,
    /// A removal fails as long as this holds.
    pub(crate) wedged: bool,
    pub(crate) lock: Lock,
    pub(crate) needs: Needs,
    /// How often it was started; also names the current run.
    pub(crate) runs: u64,
}

/// What the engine believes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum State {
    Created,
    Running(Run),
    Exited,
    Dead,
}

/// One run of the process, until the engine has taken note of its end.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Run {
    pub(crate) process: Process,
    /// Set once the process has ended.
    pub(crate) end: Option<End>,
    /// A process inside was killed for memory.
    pub(crate) out_of_memory: bool,
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct End {
    /// `None` when nobody knows: the host went down.
    pub(crate) at: Option<Wall>,
    pub(crate) code: ExitCode,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Removal {
    None,
    InProgress,
}

/// The engine's lock on one container: starting and taking note of an end hold it, all others wait.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Lock {
    pub(crate) held: bool,
    /// Calls that wait for it, by token.
    pub(crate) waiting: VecDeque<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Health {
    pub(crate) word: HealthWord,
    /// Of the last probe, which may have been in an earlier run (seen on 20.10).
    pub(crate) output: String,
    pub(crate) exit_code: Option<ExitCode>,
    /// Failures in a row that count.
    pub(crate) failures: u32,
    pub(crate) began: Mono,
}

impl Container {
    pub(crate) fn new(
        id: RuntimeId,
        request: CreateRequest,
        image: &LocalImage,
        needs: Needs,
        (created_at, ordinal): (Wall, u64),
    ) -> Self {
        let config = &request.config;
        let mut all_labels = image.labels.clone();
        all_labels.extend(config.labels.clone());
        let world = World {
            files: BTreeMap::new(),
            env: environment(&id, &request, image),
            directory: config.working_dir.clone().unwrap_or_else(|| "/".to_owned()),
            memory: request.host.memory,
            first: request.host.init != Some(true) && request.host.pid_mode.is_none(),
        };
        Self {
            labels: all_labels,
            image: image.id.clone(),
            command: command_of(&request, image),
            programs: image.programs.clone(),
            check: config.healthcheck.clone().or_else(|| image.healthcheck.clone()),
            created_at,
            ordinal,
            world,
            state: State::Created,
            exit_code: 0,
            error: String::new(),
            oom_killed: false,
            started_at: None,
            finished_at: None,
            health: None,
            forced_health: None,
            ports: Vec::new(),
            removal: Removal::None,
            wedged: false,
            lock: Lock::default(),
            needs,
            runs: 0,
            id,
            request,
        }
    }

    pub(crate) const fn name(&self) -> &RuntimeName {
        &self.request.name
    }

    pub(crate) fn instance(&self) -> Option<&str> {
        self.labels.get(labels::INSTANCE).map(String::as_str)
    }

    /// The run that the engine believes in.
    pub(crate) const fn run(&self) -> Option<&Run> {
        match &self.state {
            State::Running(run) => Some(run),
            State::Created | State::Exited | State::Dead => None,
        }
    }

    /// Whether it has an address of its own on the engine's bridge.
    pub(crate) const fn has_bridge(&self) -> bool {
        matches!(self.request.host.network_mode, None | Some(NetworkMode::Bridge))
    }

    pub(crate) const fn is_running(&self) -> bool {
        self.run().is_some()
    }

    /// Whether there is a process, whatever the engine believes.
    pub(crate) fn is_alive(&self) -> bool {
        self.run().is_some_and(|run| run.end.is_none())
    }

    /// The check that is run, if there is one.
    pub(crate) fn active_check(&self) -> Option<&HealthcheckConfig> {
        self.check.as_ref().filter(|check| check.test != HealthTest::Disabled)
    }

    pub(crate) fn facts(&self) -> ContainerFacts {
        ContainerFacts {
            id: self.id.clone(),
            name: self.name().clone(),
            labels: self.labels.clone(),
            phase: self.phase(),
            oom_killed: self.oom_killed,
            error: self.error.clone(),
            created_at: Some(self.created_at),
            started_at: self.started_at,
            finished_at: self.finished_at,
            health: self.health.as_ref().map(Health::facts),
            ports: self.ports.clone(),
            image: Some(self.image.clone()),
        }
    }

    fn phase(&self) -> Phase {
        let never_ran = self.started_at.is_none();
        let code = self.finished_at.is_some().then_some(self.exit_code);
        match &self.state {
            State::Running(_) => Phase::Running,
            State::Dead => Phase::Dead { code },
            State::Created if never_ran && self.error.is_empty() => Phase::Created,
            State::Created | State::Exited => Phase::Exited { code },
        }
    }

    pub(crate) fn summary(&self) -> ContainerSummary {
        ContainerSummary {
            id: self.id.clone(),
            name: self.name().clone(),
            labels: self.labels.clone(),
            running: self.is_running(),
        }
    }
}

impl Health {
    /// At the beginning of a run; output of an earlier one stays.
    pub(crate) fn starting(earlier: Option<Self>, began: Mono) -> Self {
        let (output, exit_code) = earlier.map(|health| (health.output, health.exit_code)).unwrap_or_default();
        Self { word: HealthWord::Starting, output, exit_code, failures: 0, began }
    }

    fn facts(&self) -> HealthFacts {
        let mut end = self.output.len().min(OUTPUT_LIMIT);
        while !self.output.is_char_boundary(end) {
            end -= 1;
        }
        HealthFacts { word: self.word.clone(), output: self.output[..end].to_owned(), exit_code: self.exit_code }
    }
}

/// Entry point and command as the engine puts them together: an entry point of the request's own drops
/// the image's command.
pub(crate) fn command_of(request: &CreateRequest, image: &LocalImage) -> Vec<String> {
    let config = &request.config;
    let (entrypoint, default_cmd) = match &config.entrypoint {
        Some(entrypoint) => (entrypoint, &[][..]),
        None => (&image.entrypoint, &image.cmd[..]),
    };
    let cmd = config.cmd.as_deref().unwrap_or(default_cmd);
    // `[""]` clears the image's entry point (taskdef.md 1.7).
    let entrypoint = entrypoint.iter().filter(|word| !(entrypoint.len() == 1 && word.is_empty()));
    entrypoint.chain(cmd).cloned().collect()
}

fn environment(id: &RuntimeId, request: &CreateRequest, image: &LocalImage) -> Vec<String> {
    let path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
    let hostname = request.config.hostname.clone().unwrap_or_else(|| id.short().to_string());
    let mut all: BTreeMap<String, String> =
        [("HOME", "/".to_owned()), ("HOSTNAME", hostname), ("PATH", path.to_owned())]
            .map(|(name, value)| (name.to_owned(), value))
            .into();
    all.extend(image.env.clone());
    all.extend(request.config.env.clone());
    all.iter().map(|(name, value)| format!("{name}={value}")).collect()
}
