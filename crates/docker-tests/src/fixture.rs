//! One test's corner of the engine.

use std::{
    collections::BTreeMap,
    env, fs,
    io::Read as _,
    panic::{AssertUnwindSafe, resume_unwind},
    pin::pin,
    time::Duration,
};

use futures_util::{FutureExt as _, StreamExt as _};
use lighterman_calls::{
    ContainerConfig, ContainerFacts, ContainerTarget, CreateRequest, HostConfig, Outcome, Phase, Watched, labels,
};
use lighterman_contracts::{ContainerRuntime, ImageStore, LogRequest, LogSource};
use lighterman_docker::{Docker, DockerHost};
use lighterman_ids::{ImageRef, InstanceId, RuntimeName};
use lighterman_images::StaticProgram;
use tokio::time::timeout;

use crate::{raw::Raw, testbox::testbox_program};

/// Longer than any single step of a test takes that goes well.
pub const AMPLE: Duration = Duration::from_secs(60);

/// An adapter, an instance id of its own, and the test program as an image.
#[derive(Debug)]
pub struct Fixture {
    docker: Docker,
    raw: Raw,
    instance: InstanceId,
    image: ImageRef,
}

/// Runs `test` in a corner of its own, then clears it, also when the test failed.
pub async fn on_engine(test: impl AsyncFnOnce(&Fixture)) {
    let Some(fixture) = engine_or_skip().await else { return };
    let outcome = AssertUnwindSafe(test(&fixture)).catch_unwind().await;
    fixture.clean().await;
    if let Err(panic) = outcome {
        resume_unwind(panic);
    }
}

/// A fixture, or `None` where this machine cannot run the test; with `CI=true` that is a failure.
///
/// # Panics
/// `CI` is `true` and there is no engine or no test program.
#[expect(clippy::print_stderr, reason = "a test that did not run must not look like one that passed")]
pub async fn engine_or_skip() -> Option<Fixture> {
    let why = match Fixture::new().await {
        Ok(fixture) => return Some(fixture),
        Err(why) => why,
    };
    assert!(env::var("CI").as_deref() != Ok("true"), "CI=true, and the test cannot run: {why}");
    eprintln!("DID NOT RUN: {why}");
    None
}

impl Fixture {
    async fn new() -> Result<Self, String> {
        let host = match env::var("DOCKER_HOST") {
            Ok(text) if !text.is_empty() => DockerHost::parse(&text).map_err(|error| error.to_string())?,
            Ok(_) | Err(_) => DockerHost::default(),
        };
        let raw = Raw::new(&host).ok_or_else(|| format!("{host} is no unix socket"))?;
        let docker = Docker::connect(host);
        match docker.version(Duration::from_secs(10)).await {
            Outcome::Done(_) => {}
            Outcome::Refused(refusal) => return Err(refusal.text),
            Outcome::Gone => return Err("the engine has no version".into()),
            Outcome::Unknown(lost) => return Err(lost.text),
        }
        let program = testbox_program().map_err(|error| error.to_string())?;
        let image = load(&docker, &program).await;
        Ok(Self { docker, raw, instance: InstanceId::from_bits(random_bits()), image })
    }

    /// The adapter.
    #[must_use]
    pub fn docker(&self) -> &Docker {
        &self.docker
    }

    /// The engine without the adapter.
    #[must_use]
    pub fn raw(&self) -> &Raw {
        &self.raw
    }

    /// Nobody else has it.
    #[must_use]
    pub fn instance(&self) -> &InstanceId {
        &self.instance
    }

    /// The instance id of somebody else. What a test makes under it, it has to remove itself.
    ///
    /// # Panics
    /// Never: an instance id is 128 bits in hex digits.
    #[must_use]
    pub fn other_instance(&self) -> InstanceId {
        let bits = u128::from_str_radix(self.instance.as_str(), 16).expect("an instance id is 32 hex digits");
        InstanceId::from_bits(!bits)
    }

    /// The image of the test program; its entrypoint is the program.
    #[must_use]
    pub fn image(&self) -> &ImageRef {
        &self.image
    }

    /// The name in the runtime of what a test calls `name`.
    ///
    /// # Panics
    /// No container can have such a name.
    #[must_use]
    pub fn name(&self, name: &str) -> RuntimeName {
        RuntimeName::parse(&format!("lm-test-{}-{name}", &self.instance.as_str()[..12])).unwrap()
    }

    /// Asks for a container of the test program with these words, and the instance's label.
    #[must_use]
    pub fn request(&self, name: &str, words: &[&str]) -> CreateRequest {
        CreateRequest {
            name: self.name(name),
            platform: None,
            config: ContainerConfig {
                cmd: Some(words.iter().map(ToString::to_string).collect()),
                labels: BTreeMap::from([(labels::INSTANCE.into(), self.instance.to_string())]),
                ..ContainerConfig::new(self.image.clone())
            },
            host: HostConfig { cpu_shares: 2, ..HostConfig::default() },
        }
    }

    /// Makes a container.
    ///
    /// # Panics
    /// The engine does not make it.
    pub async fn create(&self, request: &CreateRequest) -> ContainerTarget {
        match self.docker.create(request, AMPLE).await {
            Outcome::Done(created) => ContainerTarget::Id(created.id),
            other @ (Outcome::Refused(_) | Outcome::Gone | Outcome::Unknown(_)) => panic!("create: {other:?}"),
        }
    }

    /// Starts a container.
    ///
    /// # Panics
    /// The engine does not start it.
    pub async fn start(&self, container: &ContainerTarget) {
        let outcome = self.docker.start(container, AMPLE).await;
        assert!(outcome.is_done(), "start: {outcome:?}");
    }

    /// Makes and starts a container of the test program.
    pub async fn run(&self, name: &str, words: &[&str]) -> ContainerTarget {
        let container = self.create(&self.request(name, words)).await;
        self.start(&container).await;
        container
    }

    /// Looks at a container.
    ///
    /// # Panics
    /// It is not there.
    pub async fn facts(&self, container: &ContainerTarget) -> ContainerFacts {
        match self.docker.inspect(container, AMPLE).await {
            Outcome::Done(facts) => *facts,
            other @ (Outcome::Refused(_) | Outcome::Gone | Outcome::Unknown(_)) => panic!("inspect: {other:?}"),
        }
    }

    /// Looks at a container whenever something happened to it, until `level` is reached.
    ///
    /// # Panics
    /// The level is not reached within a minute, or the engine goes away.
    pub async fn until<T>(&self, container: &ContainerTarget, level: impl Fn(&ContainerFacts) -> Option<T>) -> T {
        let waiting = async {
            let mut watch = pin!(self.docker.watch(&self.instance, None, AMPLE));
            loop {
                // Opened, or an event: either is a reason to look.
                match watch.next().await {
                    Some(Watched::Opened | Watched::Event(_)) => {}
                    Some(Watched::Lost(lost)) => panic!("{lost}"),
                    None => panic!("a watch ends by saying that it is lost"),
                }
                if let Some(reached) = level(&self.facts(container).await) {
                    return reached;
                }
            }
        };
        match timeout(AMPLE, waiting).await {
            Ok(reached) => reached,
            Err(_) => panic!("never reached; {:?}", self.facts(container).await),
        }
    }

    /// Waits until a container has ended; its exit code.
    pub async fn until_ended(&self, container: &ContainerTarget) -> Option<i32> {
        let ended = |facts: &ContainerFacts| match facts.phase {
            Phase::Exited { code } => Some(code),
            Phase::Dead { code } => Some(code),
            Phase::Created | Phase::Running => None,
        };
        self.until(container, ended).await
    }

    /// Reads a container's output until it holds `words`.
    ///
    /// # Panics
    /// The output ends, or a minute passes, before it does.
    pub async fn until_said(&self, container: &ContainerTarget, words: &str) {
        let request = LogRequest { container: container.clone(), follow: true, since: None, tty: false };
        let reading = async {
            let (mut logs, mut said) = (pin!(self.docker.logs(request)), String::new());
            while let Some(chunk) = logs.next().await {
                said.push_str(&String::from_utf8_lossy(&chunk.unwrap().bytes));
                if said.contains(words) {
                    return;
                }
            }
            panic!("{words:?} was never said, but {said:?}");
        };
        timeout(AMPLE, reading).await.unwrap();
    }

    /// Ends and removes every container of this instance, and its volumes, and nothing else.
    ///
    /// # Panics
    /// One of them cannot be removed.
    pub async fn clean(&self) {
        // A second round for what a call that was given up has made late.
        for _ in 0..2 {
            for container in self.listed().await {
                let target = ContainerTarget::Id(container);
                let stopped = self.docker.stop(&target, Duration::ZERO, AMPLE).await;
                assert!(matches!(stopped, Outcome::Done(()) | Outcome::Gone), "stop: {stopped:?}");
                let removed = self.docker.remove(&target, AMPLE).await;
                assert!(matches!(removed, Outcome::Done(()) | Outcome::Gone), "remove: {removed:?}");
            }
        }
        assert_eq!(self.listed().await, [], "left behind");
        let volumes = self.docker.list_volumes(&self.instance, AMPLE).await;
        let Outcome::Done(volumes) = volumes else { panic!("list of volumes: {volumes:?}") };
        for volume in volumes {
            let removed = self.docker.remove_volume(&RuntimeName::parse(&volume.name).unwrap(), AMPLE).await;
            assert!(matches!(removed, Outcome::Done(()) | Outcome::Gone), "remove of a volume: {removed:?}");
        }
    }

    async fn listed(&self) -> Vec<lighterman_ids::RuntimeId> {
        match self.docker.list(&self.instance, AMPLE).await {
            Outcome::Done(list) => list.into_iter().map(|container| container.id).collect(),
            other @ (Outcome::Refused(_) | Outcome::Gone | Outcome::Unknown(_)) => panic!("list: {other:?}"),
        }
    }
}

/// Loads the program's image unless the engine has it. Its tag tells its content, so that test
/// programs of two builds do not take the name from each other. It stays: other tests use it.
async fn load(docker: &Docker, program: &StaticProgram) -> ImageRef {
    let name = ImageRef::parse("lighterman/testbox:test").unwrap();
    let archive = program.image().build_tagged_by_content(&name).unwrap();
    let reference = archive.reference().clone();
    if docker.inspect_image(&reference, AMPLE).await == Outcome::Gone {
        let outcome = docker.load_image(archive.into_bytes(), AMPLE).await;
        assert!(outcome.is_done(), "load: {outcome:?}");
    }
    reference
}

fn random_bits() -> u128 {
    let mut bytes = [0; 16];
    fs::File::open("/dev/urandom").unwrap().read_exact(&mut bytes).unwrap();
    u128::from_le_bytes(bytes)
}
