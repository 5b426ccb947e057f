//! What the cases of one run share: the engine, the command, a directory, and the list of what has to be removed.

use std::{
    collections::BTreeSet,
    env,
    error::Error,
    fs, io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use lighterman_app::Definition;
use lighterman_calls::{ContainerTarget, CreateRequest, Outcome};
use lighterman_contracts::{ContainerRuntime, Entropy};
use lighterman_docker::Docker;
use lighterman_docker_tests::{AMPLE, Fixture, engine_or_skip};
use lighterman_driver::OsEntropy;
use lighterman_ids::{InstanceId, RuntimeName};
use serde_json::json;
use tempfile::TempDir;

/// Names the command, as `cargo xtask` builds it.
pub const PRODUCT_ENV: &str = "LIGHTERMAN_BIN";

/// Where the directories of a run are made, seen from the root of the workspace: on a disk that keeps what it says,
/// which the directory for temporary files need not be.
const SCRATCH: &str = "target/bench";

/// Why a case could not run.
pub type Trouble = Box<dyn Error + Send + Sync>;

/// Words that end a container of the test program as soon as it is told to.
pub const ENDS_WHEN_TOLD: &[&str] = &["on-term", "0"];

/// A program that is told to end before it listens to that has to be killed: that should not take longer.
const STOP_TIMEOUT: Duration = Duration::from_secs(2);

/// See the module's page.
#[derive(Debug)]
pub struct Stage {
    smoke: bool,
    fixture: Option<Fixture>,
    product: Option<PathBuf>,
    directory: TempDir,
    entropy: OsEntropy,
    /// Every instance under whose name something may have been created.
    instances: Mutex<BTreeSet<InstanceId>>,
}

impl Stage {
    /// Looks for the engine and the command; cases that need what is missing say so later.
    ///
    /// # Errors
    /// There is no place for the directories of the run.
    pub async fn new(smoke: bool) -> Result<Self, Trouble> {
        fs::create_dir_all(SCRATCH)?;
        Ok(Self {
            smoke,
            fixture: engine_or_skip().await,
            product: env::var_os(PRODUCT_ENV).filter(|path| !path.is_empty()).map(PathBuf::from),
            directory: tempfile::Builder::new().prefix("run-").tempdir_in(SCRATCH)?,
            entropy: OsEntropy::new()?,
            instances: Mutex::default(),
        })
    }

    /// Whether it is only to be seen that everything still works.
    #[must_use]
    pub const fn is_smoke(&self) -> bool {
        self.smoke
    }

    /// How often a case is repeated.
    #[must_use]
    pub const fn repetitions(&self) -> usize {
        if self.smoke { 1 } else { 10 }
    }

    /// The first, or the second when it is only to be seen that everything still works.
    pub const fn full_or_smoke<T: Copy>(&self, full: T, smoke: T) -> T {
        if self.smoke { smoke } else { full }
    }

    /// The corner of the engine.
    ///
    /// # Errors
    /// There is none.
    pub fn fixture(&self) -> Result<&Fixture, Trouble> {
        self.fixture.as_ref().ok_or_else(|| "there is no Docker engine, or no test program".into())
    }

    /// The adapter.
    ///
    /// # Errors
    /// There is no engine.
    pub fn docker(&self) -> Result<&Docker, Trouble> {
        Ok(self.fixture()?.docker())
    }

    /// The command.
    ///
    /// # Errors
    /// Nobody said where it is.
    pub fn product(&self) -> Result<&Path, Trouble> {
        self.product.as_deref().ok_or_else(|| format!("{PRODUCT_ENV} does not say where the command is").into())
    }

    /// Random bits.
    #[must_use]
    pub const fn entropy(&self) -> &OsEntropy {
        &self.entropy
    }

    /// A directory of its own for one use; it goes away with the run at the latest.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn scratch(&self) -> io::Result<TempDir> {
        tempfile::tempdir_in(self.directory.path())
    }

    /// An instance that nobody else has; what is created under its name is removed after the case.
    #[must_use]
    pub fn instance(&self) -> InstanceId {
        let id = InstanceId::from_bits(self.entropy.bits());
        self.instances.lock().unwrap_or_else(PoisonError::into_inner).insert(id.clone());
        id
    }

    /// A directory named by a new instance, which it then is the state directory of.
    #[must_use]
    pub fn state_directory(&self) -> PathBuf {
        self.directory.path().join(self.instance().as_str())
    }

    /// Writes the definition of a task with one container of the test program, which gets these words.
    ///
    /// # Errors
    /// It cannot be written, or there is no engine.
    pub fn definition_file(&self, words: &[&str]) -> Result<PathBuf, Trouble> {
        self.write_definition(self.fixture()?.image().as_str(), words)
    }

    /// The same, read.
    ///
    /// # Errors
    /// As [`definition_file`](Self::definition_file).
    pub fn definition(&self, words: &[&str]) -> Result<Definition, Trouble> {
        self.definition_of(self.fixture()?.image().as_str(), words)
    }

    /// The same for another image.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn definition_of(&self, image: &str, words: &[&str]) -> Result<Definition, Trouble> {
        Ok(Definition::load(&self.write_definition(image, words)?)?)
    }

    fn write_definition(&self, image: &str, words: &[&str]) -> Result<PathBuf, Trouble> {
        let text = json!({
            "family": "bench",
            "containerDefinitions": [
                { "name": "main", "image": image, "memory": 32, "stopTimeout": STOP_TIMEOUT.as_secs(), "command": words },
            ],
        });
        let file = tempfile::Builder::new().suffix(".json").tempfile_in(self.directory.path())?;
        // Until the directory goes away.
        let (_, path) = file.keep()?;
        fs::write(&path, text.to_string())?;
        Ok(path)
    }

    /// Removes every container that was created under an instance of this run, and nothing else.
    ///
    /// # Errors
    /// The engine does not remove one of them.
    pub async fn clear(&self) -> Result<(), Trouble> {
        let Some(fixture) = &self.fixture else { return Ok(()) };
        let instances = std::mem::take(&mut *self.instances.lock().unwrap_or_else(PoisonError::into_inner));
        for instance in &instances {
            clear_instance(fixture.docker(), instance).await?;
        }
        clear_instance(fixture.docker(), fixture.instance()).await
    }
}

async fn clear_instance(docker: &Docker, instance: &InstanceId) -> Result<(), Trouble> {
    for container in done(docker.list(instance, AMPLE).await)? {
        remove(docker, &ContainerTarget::Id(container.id)).await?;
    }
    Ok(())
}

/// Ends and removes a container, whatever it does.
async fn remove(docker: &Docker, container: &ContainerTarget) -> Result<(), Trouble> {
    for outcome in [docker.stop(container, Duration::ZERO, AMPLE).await, docker.remove(container, AMPLE).await] {
        match outcome {
            Outcome::Done(()) | Outcome::Gone => {}
            Outcome::Refused(refusal) => return Err(refusal.text.into()),
            Outcome::Unknown(lost) => return Err(lost.text.into()),
        }
    }
    Ok(())
}

/// What a call brought; anything else is trouble.
///
/// # Errors
/// The call was refused, its object is gone, or its outcome is not known.
pub fn done<T>(outcome: Outcome<T>) -> Result<T, Trouble> {
    match outcome {
        Outcome::Done(value) => Ok(value),
        Outcome::Gone => Err("what was asked for is gone".into()),
        Outcome::Refused(refusal) => Err(refusal.text.into()),
        Outcome::Unknown(lost) => Err(lost.text.into()),
    }
}

/// The floor: create and start, or stop and remove, over the same socket, and nothing else.
#[derive(Clone, Debug)]
pub struct Bare {
    docker: Docker,
    request: CreateRequest,
    instance: InstanceId,
    /// Part of every name, so that no two are the same.
    prefix: String,
    made: Arc<Mutex<u32>>,
}

impl Bare {
    /// Makes containers like `request`, under an instance of their own.
    ///
    /// # Errors
    /// There is no engine.
    pub fn new(stage: &Stage, mut request: CreateRequest) -> Result<Self, Trouble> {
        let instance = stage.instance();
        let prefix = format!("lm-bench-{}", &instance.as_str()[..12]);
        request.config.labels.insert(lighterman_calls::labels::INSTANCE.into(), instance.to_string());
        Ok(Self { docker: stage.docker()?.clone(), request, instance, prefix, made: Arc::default() })
    }

    /// The label of everything it makes.
    #[must_use]
    pub const fn instance(&self) -> &InstanceId {
        &self.instance
    }

    /// Create and start; how long both took.
    ///
    /// # Errors
    /// One of them fails.
    pub async fn start(&self) -> Result<(ContainerTarget, Duration), Trouble> {
        let mut request = self.request.clone();
        request.name = self.next_name()?;
        let begun = Instant::now();
        let container = ContainerTarget::Id(done(self.docker.create(&request, AMPLE).await)?.id);
        done(self.docker.start(&container, AMPLE).await)?;
        Ok((container, begun.elapsed()))
    }

    /// Stop and remove; how long both took.
    ///
    /// # Errors
    /// One of them fails.
    pub async fn stop(&self, container: &ContainerTarget) -> Result<Duration, Trouble> {
        let begun = Instant::now();
        done(self.docker.stop(container, STOP_TIMEOUT, AMPLE).await)?;
        done(self.docker.remove(container, AMPLE).await)?;
        Ok(begun.elapsed())
    }

    fn next_name(&self) -> Result<RuntimeName, Trouble> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        *made += 1;
        Ok(RuntimeName::parse(&format!("{}-{made}", self.prefix))?)
    }
}
