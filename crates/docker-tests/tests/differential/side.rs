//! One of the two engines: deeds are done to it, and it is looked at.

use std::{collections::BTreeMap, fmt, pin::Pin, sync::Mutex, time::Duration};

use futures_util::{Stream, StreamExt as _};
use lighterman_calls::{
    ContainerConfig, ContainerFacts, ContainerTarget, CreateRequest, EventAction, ExtraHost, HealthFacts, HealthTest,
    HealthcheckConfig, HostConfig, ImageTarget, IpcMode, Link, Mount, MountSource, NetworkMode, Outcome, Phase,
    PidMode, PortBinding, PortKey, Protocol, RuntimeEvent, Signal, UtsMode, VolumeFacts, VolumeRequest, VolumesFrom,
    Watched, labels,
};
use lighterman_contracts::{ContainerRuntime, LogChunk, LogRequest, LogSource, LogStream};
use lighterman_docker::Docker;
use lighterman_docker_tests::Fixture;
use lighterman_ids::{ImageRef, InstanceId, RuntimeId, RuntimeName};
use lighterman_testkit::FakeRuntime;
use tokio::time::{Instant, timeout};

use crate::deed::{Also, Cast, Deed, PARTS, name};

/// Longer than any call takes that goes well.
const AMPLE: Duration = Duration::from_secs(60);
/// After this a second call meets the first one in the middle of its work.
const MEANWHILE: Duration = Duration::from_millis(40);

/// Whatever ends by itself after a signal has ended by then; the grace is still long.
const LONG_BEFORE_GRACE: Duration = Duration::from_millis(900);

/// An engine and what others can do to it.
pub(crate) trait Engine {
    type Runtime: ContainerRuntime + LogSource;

    fn runtime(&self) -> &Self::Runtime;
    fn image(&self) -> &ImageRef;
    fn instance(&self) -> &InstanceId;
    /// What the program is called in its image.
    fn program(&self) -> String;
    async fn force_remove(&self, container: &RuntimeName);
    async fn restart(&self, container: &RuntimeName);
}

impl Engine for Fixture {
    type Runtime = Docker;

    fn runtime(&self) -> &Docker {
        self.docker()
    }

    fn image(&self) -> &ImageRef {
        self.image()
    }

    fn instance(&self) -> &InstanceId {
        self.instance()
    }

    fn program(&self) -> String {
        "/testbox".into()
    }

    async fn force_remove(&self, container: &RuntimeName) {
        self.raw().delete(&format!("/containers/{container}?force=1")).await;
    }

    async fn restart(&self, container: &RuntimeName) {
        self.raw().post(&format!("/containers/{container}/restart?t=1"), &serde_json::Value::Null).await;
    }
}

/// The model behind the fake.
pub(crate) struct Modelled {
    pub(crate) engine: FakeRuntime,
    pub(crate) image: ImageRef,
    pub(crate) instance: InstanceId,
}

impl Engine for Modelled {
    type Runtime = FakeRuntime;

    fn runtime(&self) -> &FakeRuntime {
        &self.engine
    }

    fn image(&self) -> &ImageRef {
        &self.image
    }

    fn instance(&self) -> &InstanceId {
        &self.instance
    }

    fn program(&self) -> String {
        "/testbox".into()
    }

    async fn force_remove(&self, container: &RuntimeName) {
        let target = ContainerTarget::Name(container.clone());
        self.engine.with_model(|model, now| model.external_remove(now, &target));
    }

    async fn restart(&self, container: &RuntimeName) {
        let target = ContainerTarget::Name(container.clone());
        self.engine.with_model(|model, now| model.external_restart_gracefully(now, &target, Duration::from_secs(1)));
    }
}

/// A container, or a process in it, was killed for memory.
const OOM: &str = " killed for memory";

/// Whether the engine shows what the model does. Under load it misses that a process was killed for memory, now and
/// then; it never makes one up.
pub(crate) fn agrees(model: &str, engine: &str) -> bool {
    model == engine
        || after_a_stop_at_once(engine).is_some_and(|engine| model == engine)
        || (model.replace(OOM, "") == engine.replace(OOM, "")
            && engine.matches(OOM).count() < model.matches(OOM).count())
}

/// A stop signal that comes in the first instant of a run, under load, may meet the engine's own starter in the place of
/// the program. It ends with 2; the program, which has no handler, would have been killed after its grace.
fn after_a_stop_at_once(engine: &str) -> Option<String> {
    let killed = engine.replace("exited 2 ", "exited 137 ").replace(" die Some(2)", " die Some(137)");
    (killed != engine).then_some(killed)
}

/// The same for several lines.
pub(crate) fn agree(model: &[String], engine: &[String]) -> bool {
    model.len() == engine.len() && model.iter().zip(engine).all(|(model, engine)| agrees(model, engine))
}

/// What was answered, and what every container looks like then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct View {
    pub(crate) outcome: String,
    pub(crate) parts: Vec<String>,
}

impl fmt::Display for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "  {}", self.outcome)?;
        self.parts.iter().try_for_each(|part| write!(f, "\n  {part}"))
    }
}

type Events = Pin<Box<dyn Stream<Item = Watched> + Send>>;

/// A sequence's corner of an engine.
pub(crate) struct Side<'a, E> {
    engine: &'a E,
    /// Keeps the containers of sequences apart.
    prefix: String,
    events: tokio::sync::Mutex<Events>,
    told: Mutex<Told>,
}

/// Containers made so far, and what was told of all.
#[derive(Default)]
struct Told {
    made: Vec<(RuntimeId, usize)>,
    events: Vec<RuntimeEvent>,
}

impl<'a, E: Engine> Side<'a, E> {
    pub(crate) async fn new(engine: &'a E, prefix: &str) -> Self {
        let mut events: Events = Box::pin(engine.runtime().watch(engine.instance(), None, AMPLE));
        let opened = timeout(AMPLE, events.next()).await;
        assert!(matches!(opened, Ok(Some(Watched::Opened))), "{opened:?}");
        let prefix = format!("lm-diff-{}-{prefix}", &engine.instance().as_str()[..12]);
        Self { engine, prefix, events: tokio::sync::Mutex::new(events), told: Mutex::default() }
    }

    fn name(&self, part: usize) -> RuntimeName {
        RuntimeName::parse(&format!("{}-{}", self.prefix, name(part))).expect("letters, digits and dashes")
    }

    fn target(&self, part: usize) -> ContainerTarget {
        ContainerTarget::Name(self.name(part))
    }

    /// Does it, and says in words how it ended.
    pub(crate) async fn perform(&self, deed: &Deed) -> String {
        let runtime = self.engine.runtime();
        match *deed {
            Deed::Create { part, cast } => self.create(part, cast).await,
            Deed::Start { part } => self.words(runtime.start(&self.target(part), AMPLE).await),
            Deed::Stop { part } => self.words(self.stop(part, 1, AMPLE).await),
            Deed::StopGivenUp { part } => {
                let outcome = self.stop(part, 1, Duration::from_millis(120)).await;
                // Whether it was quick enough is no difference worth telling.
                if outcome.is_done() || matches!(outcome, Outcome::Unknown(_)) {
                    String::from("done, or not heard of")
                } else {
                    self.words(outcome)
                }
            }
            Deed::StopThenKill { part } => {
                let kill = async {
                    let _meanwhile = timeout(LONG_BEFORE_GRACE, std::future::pending::<()>()).await;
                    runtime.kill(&self.target(part), Signal::Kill, AMPLE).await
                };
                let (stopped, killed) = tokio::join!(self.stop(part, 30, AMPLE), kill);
                format!("{}; {}", self.words(stopped), self.words(killed))
            }
            Deed::StopTwice { part } => {
                let (one, two) = tokio::join!(self.stop(part, 1, AMPLE), self.stop(part, 20, AMPLE));
                format!("{}; {}", self.words(one), self.words(two))
            }
            Deed::StartAndLook { part } => {
                let look = async {
                    let _meanwhile = timeout(MEANWHILE, std::future::pending::<()>()).await;
                    runtime.inspect(&self.target(part), AMPLE).await.map(|facts| facts.error)
                };
                let target = self.target(part);
                let (started, looked) = tokio::join!(runtime.start(&target, AMPLE), look);
                format!("{}; {}", self.words(started), self.words(looked))
            }
            Deed::Kill { part, hard } => {
                let signal = if hard { Signal::Kill } else { Signal::Term };
                self.words(runtime.kill(&self.target(part), signal, AMPLE).await)
            }
            Deed::Remove { part } => self.words(runtime.remove(&self.target(part), AMPLE).await),
            Deed::List => self.list().await,
            Deed::ForceRemove { part } => {
                self.engine.force_remove(&self.name(part)).await;
                String::new()
            }
            Deed::Restart { part } => {
                self.engine.restart(&self.name(part)).await;
                String::new()
            }
            Deed::MissingImage => {
                let mut request = self.request(0, Cast::Plain("exit 0"));
                request.config.image = ImageRef::parse("lighterman/nope:none").expect("a good reference");
                self.words(runtime.create(&request, AMPLE).await.map(|_| ()))
            }
            Deed::InspectImage => {
                let outcome = runtime.inspect_image(self.engine.image(), AMPLE).await;
                self.words(outcome.map(|facts| (facts.env_names, facts.health_test)))
            }
            Deed::CreateVolume { label, option } => {
                let request = VolumeRequest {
                    name: self.volume(),
                    driver: "local".into(),
                    options: option.map(|option| (option.to_owned(), "tmpfs".to_owned())).into_iter().collect(),
                    labels: BTreeMap::from([
                        (labels::INSTANCE.into(), self.engine.instance().to_string()),
                        ("colour".into(), label.into()),
                    ]),
                };
                self.words(runtime.create_volume(&request, AMPLE).await.map(|facts| seen_of(&facts)))
            }
            Deed::InspectVolume => {
                self.words(runtime.inspect_volume(&self.volume(), AMPLE).await.map(|facts| seen_of(&facts)))
            }
            Deed::RemoveVolume => self.words(runtime.remove_volume(&self.volume(), AMPLE).await),
            Deed::TagImage => {
                let image = ImageTarget::Name(self.engine.image().clone());
                self.words(runtime.tag_image(&image, &self.tag(), AMPLE).await)
            }
            Deed::RemoveTag => self.words(runtime.remove_image(&ImageTarget::Name(self.tag()), AMPLE).await),
        }
    }

    async fn stop(&self, part: usize, grace_secs: u64, limit: Duration) -> Outcome<()> {
        self.engine.runtime().stop(&self.target(part), Duration::from_secs(grace_secs), limit).await
    }

    async fn create(&self, part: usize, cast: Cast) -> String {
        let outcome = self.engine.runtime().create(&self.request(part, cast), AMPLE).await;
        if let Outcome::Done(created) = &outcome {
            self.told.lock().expect("no panic holds it").made.push((created.id.clone(), part));
        }
        self.words(outcome.map(|created| created.warnings))
    }

    fn volume(&self) -> RuntimeName {
        RuntimeName::parse(&format!("{}-volume", self.prefix)).expect("letters, digits and dashes")
    }

    fn tag(&self) -> ImageRef {
        ImageRef::parse(&format!("{}:tag", self.prefix)).expect("lower-case letters, digits and dashes")
    }

    async fn list(&self) -> String {
        let outcome = self.engine.runtime().list(self.engine.instance(), AMPLE).await;
        let ours = |list: Vec<lighterman_calls::ContainerSummary>| {
            let ours = list.into_iter().filter(|line| line.name.as_str().starts_with(&format!("{}-", self.prefix)));
            ours.map(|line| (line.name.to_string(), line.running)).collect::<Vec<_>>()
        };
        self.words(outcome.map(ours))
    }

    fn request(&self, part: usize, cast: Cast) -> CreateRequest {
        let mut request = CreateRequest {
            name: self.name(part),
            platform: None,
            config: ContainerConfig {
                labels: BTreeMap::from([(labels::INSTANCE.into(), self.engine.instance().to_string())]),
                ..ContainerConfig::new(self.engine.image().clone())
            },
            host: HostConfig { cpu_shares: 2, ..HostConfig::default() },
        };
        let words = |words: &str| Some(words.split(' ').map(str::to_owned).collect::<Vec<_>>());
        self.bind(&mut request, cast, self.target(1 - part), self.target(part));
        let (config, host) = (&mut request.config, &mut request.host);
        config.cmd = words("sleep 600");
        match cast {
            Cast::OtherProcesses(program) => config.cmd = words(program),
            Cast::HostProcesses(program) => (config.cmd, host.pid_mode) = (words(program), Some(PidMode::Host)),
            Cast::Shareable => host.ipc_mode = Some(IpcMode::Shareable),
            Cast::HostWithPort => {
                publish(&mut request, None);
                request.host.network_mode = Some(NetworkMode::Host);
            }
            Cast::NamedOnHost => (config.hostname, host.uts_mode) = (Some("own".into()), Some(UtsMode::Host)),
            Cast::LittleSwap => (host.memory, host.memory_swap) = (Some(16 << 20), Some(8 << 20)),
            Cast::SwapAlone => host.memory_swap = Some(16 << 20),
            Cast::MuchSwappiness => host.memory_swappiness = Some(101),
            Cast::LittleReservation => host.memory_reservation = Some(4 << 20),
            Cast::MuchReservation => (host.memory, host.memory_reservation) = (Some(16 << 20), Some(32 << 20)),
            Cast::MuchScore => host.oom_score_adj = Some(1_001),
            Cast::Linked
            | Cast::LinkedWithPort
            | Cast::OtherNetwork
            | Cast::OwnNetwork
            | Cast::OtherMemory
            | Cast::OtherMounts
            | Cast::OtherEverything
            | Cast::Volume
            | Cast::VolumeTwice
            | Cast::TmpfsOverVolume
            | Cast::HostLinked
            | Cast::NamedInOtherNetwork
            | Cast::ExposedInOtherNetwork
            | Cast::PublishedInOtherNetwork
            | Cast::ResolvedInOtherNetwork
            | Cast::HostsInOtherNetwork
            | Cast::LinkedInOtherNetwork
            | Cast::MissingImageAnd(_) => {}
            Cast::Plain(program) => config.cmd = words(program),
            Cast::Checked(program, probe) => {
                config.cmd = words(program);
                config.healthcheck = Some(check(self.engine.program(), probe));
            }
            Cast::Limited(program) | Cast::Doomed(program) => {
                (config.cmd, host.memory) = (words(program), Some(16 << 20))
            }
            Cast::NoProgram(program) => (config.entrypoint, config.cmd) = (words(program), None),
            Cast::Port => publish(&mut request, Some(self.port())),
            Cast::AnyPort => publish(&mut request, None),
            Cast::User => config.user = Some("somebody".into()),
            Cast::Init(program) => (config.cmd, host.init) = (words(program), Some(true)),
            Cast::NoNetwork => {
                host.network_mode = Some(NetworkMode::Named(RuntimeName::parse("lm-nope").expect("a good name")))
            }
            Cast::LittleMemory => host.memory = Some(4 << 20),
            Cast::RelativeDirectory => config.working_dir = Some("rel".into()),
            Cast::NoCommand => (config.entrypoint, config.cmd) = (words(""), None),
            Cast::TooManyShares => host.cpu_shares = 262_145,
            Cast::LongVariable => config.env = [("LONG".to_owned(), "x".repeat(140_000))].into_iter().collect(),
        }
        request
    }

    /// What it needs of the other, or of itself.
    fn bind(&self, request: &mut CreateRequest, cast: Cast, other: ContainerTarget, own: ContainerTarget) {
        let (config, host) = (&mut request.config, &mut request.host);
        let link = || vec![Link { container: other.clone(), alias: "other".into() }];
        let mount = || Mount { source: MountSource::Volume(self.volume()), target: "/data".into(), read_only: false };
        let joined = || Some(NetworkMode::Container(other.clone()));
        match cast {
            Cast::Linked => host.links = link(),
            Cast::LinkedWithPort => {
                host.links = link();
                publish(request, Some(self.port()));
            }
            Cast::OtherNetwork => host.network_mode = joined(),
            Cast::OwnNetwork => host.network_mode = Some(NetworkMode::Container(own)),
            Cast::OtherProcesses(_) => host.pid_mode = Some(PidMode::Container(other)),
            Cast::OtherMemory => host.ipc_mode = Some(IpcMode::Container(other)),
            Cast::OtherMounts => host.volumes_from = vec![VolumesFrom { container: other, read_only: true }],
            Cast::OtherEverything => {
                host.network_mode = joined();
                host.pid_mode = Some(PidMode::Container(other.clone()));
                host.ipc_mode = Some(IpcMode::Container(other.clone()));
                host.volumes_from = vec![VolumesFrom { container: other, read_only: false }];
                config.user = Some("somebody".into());
            }
            Cast::Volume => host.binds = vec![mount()],
            Cast::VolumeTwice => (host.binds, host.mounts) = (vec![mount()], vec![mount()]),
            Cast::TmpfsOverVolume => {
                host.binds = vec![mount()];
                host.tmpfs = BTreeMap::from([("/data".into(), String::new())]);
            }
            Cast::HostLinked => (host.network_mode, host.links) = (Some(NetworkMode::Host), link()),
            Cast::NamedInOtherNetwork => (host.network_mode, config.hostname) = (joined(), Some("own".into())),
            Cast::ExposedInOtherNetwork => {
                publish(request, None);
                request.host.port_bindings.clear();
                request.host.network_mode = joined();
            }
            Cast::PublishedInOtherNetwork => {
                publish(request, None);
                request.host.network_mode = joined();
            }
            Cast::ResolvedInOtherNetwork => {
                (host.network_mode, host.dns) = (joined(), vec!["10.0.0.1".into()]);
                host.extra_hosts = vec![ExtraHost { hostname: "db".into(), address: "10.0.0.2".into() }];
            }
            Cast::HostsInOtherNetwork => {
                host.network_mode = joined();
                host.extra_hosts = vec![ExtraHost { hostname: "db".into(), address: "10.0.0.2".into() }];
            }
            Cast::LinkedInOtherNetwork => (host.network_mode, host.links) = (joined(), link()),
            Cast::MissingImageAnd(also) => {
                config.image = ImageRef::parse("lighterman/nope:none").expect("a good reference");
                match also {
                    Also::LittleMemory => host.memory = Some(4 << 20),
                    Also::OtherProcesses => host.pid_mode = Some(PidMode::Container(other)),
                    Also::OtherMounts => host.volumes_from = vec![VolumesFrom { container: other, read_only: true }],
                    Also::Linked => host.links = link(),
                }
            }
            _ => {}
        }
    }

    /// A port that no other sequence uses.
    fn port(&self) -> u16 {
        let sum = self.prefix.bytes().fold(0u16, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
        20_000 + sum % 10_000
    }

    /// What every container looks like now.
    pub(crate) async fn look(&self) -> Vec<String> {
        let mut parts = Vec::new();
        for part in 0..PARTS {
            let facts = self.engine.runtime().inspect(&self.target(part), AMPLE).await;
            let seen = match facts {
                Outcome::Done(facts) => self.show(&facts) + &self.said(part).await,
                other => self.words(other.map(|_| ())),
            };
            parts.push(format!("{}: {seen}", name(part)));
        }
        parts
    }

    fn show(&self, facts: &ContainerFacts) -> String {
        let phase = match facts.phase {
            Phase::Created => "created".into(),
            Phase::Running => "running".into(),
            Phase::Exited { code: None } => "never ran".into(),
            Phase::Exited { code: Some(code) } => format!("exited {code}"),
            Phase::Dead { .. } => "dead".to_owned(),
        };
        // A probe that the end of the container meets leaves whatever it was just doing.
        let probed =
            |health: &HealthFacts| (facts.phase == Phase::Running).then(|| (health.exit_code, health.output.clone()));
        let health = facts.health.as_ref().map(|health| (&health.word, probed(health)));
        let ports: Vec<_> = facts.ports.iter().map(|port| (port.container.to_string(), &port.host_ip)).collect();
        let times = (facts.created_at.is_some(), facts.started_at.is_some(), facts.finished_at.is_some());
        let oom = if facts.oom_killed { OOM } else { "" };
        let text = format!("{phase}{oom} {health:?} {ports:?} {times:?} {:?}", facts.error);
        self.plain(&text)
    }

    /// What it has written so far, by stream.
    async fn said(&self, part: usize) -> String {
        let request = LogRequest { container: self.target(part), follow: false, since: None, tty: false };
        let mut said = [String::new(), String::new()];
        let mut chunks = Box::pin(self.engine.runtime().logs(request));
        while let Some(chunk) = chunks.next().await {
            match chunk {
                Ok(LogChunk { stream, bytes }) => {
                    said[usize::from(stream == LogStream::Stderr)] += &String::from_utf8_lossy(&bytes);
                }
                // It was removed meanwhile.
                Err(outcome) => return self.words(outcome),
            }
        }
        let [out, err] = said.map(|text| text.trim_end().replace('\n', "/"));
        self.plain(&format!(" [{out}|{err}]"))
    }

    /// An outcome in words that both engines share.
    fn words<T: fmt::Debug>(&self, outcome: Outcome<T>) -> String {
        let text = match outcome {
            Outcome::Done(value) => format!("done {value:?}"),
            Outcome::Refused(refusal) => format!("refused ({}) {}", refusal.class, refusal.text),
            Outcome::Gone => "gone".into(),
            Outcome::Unknown(lost) => format!("unknown {:?}", lost.cause),
        };
        self.plain(&text)
    }

    /// Names as parts, ids and ports as words.
    fn plain(&self, text: &str) -> String {
        let named = text.replace(&format!("{}-", self.prefix), "").replace(&self.port().to_string(), "<port>");
        let mut plain = String::new();
        let mut word = String::new();
        for letter in named.chars().chain([' ']) {
            if letter.is_ascii_hexdigit() {
                word.push(letter);
                continue;
            }
            plain += if word.len() == 64 { "<id>" } else { &word };
            word.clear();
            plain.push(letter);
        }
        plain.trim_end().to_owned()
    }

    /// Looks whenever something happened, or a while passed, until it looks like this or patience is over.
    pub(crate) async fn until(&self, expected: &[String], patience: Duration) -> Vec<String> {
        let end = Instant::now() + patience;
        loop {
            let seen = self.look().await;
            if agree(expected, &seen) || Instant::now() >= end {
                return seen;
            }
            self.hear(Duration::from_millis(100)).await;
        }
    }

    /// Listens until it was told like this or patience is over.
    pub(crate) async fn until_told(&self, expected: &str, patience: Duration) -> String {
        let end = Instant::now() + patience;
        loop {
            let told = self.stories().await;
            if agrees(expected, &told) || Instant::now() >= end {
                return told;
            }
            self.hear(Duration::from_millis(100)).await;
        }
    }

    /// Takes in one more event, if one comes in this time.
    async fn hear(&self, time: Duration) -> bool {
        match timeout(time, self.events.lock().await.next()).await {
            Ok(Some(Watched::Event(event))) => {
                self.told.lock().expect("no panic holds it").events.push(*event);
                true
            }
            Ok(other) => panic!("the watch broke: {other:?}"),
            Err(_) => false,
        }
    }

    /// What was told of each container made so far, in order.
    pub(crate) async fn stories(&self) -> String {
        while self.hear(Duration::from_millis(20)).await {}
        let told = self.told.lock().expect("no panic holds it");
        let mut lines = String::new();
        for (id, part) in &told.made {
            let events = told.events.iter().filter(|event| event.container == *id);
            let mut words: Vec<String> = events.map(|event| word(&event.action)).collect();
            // One kill for memory is told once or twice (seen on 20.10).
            words.dedup_by(|one, other| one == other && one == OOM);
            lines += &format!("  {}: {}\n", name(*part), words.join(","));
        }
        lines
    }

    /// Leaves nothing behind.
    pub(crate) async fn clean(&self) {
        let made = self.told.lock().expect("no panic holds it").made.clone();
        for (id, _) in made {
            let target = ContainerTarget::Id(id);
            // It may not run, or be gone already.
            let _killed = self.engine.runtime().kill(&target, Signal::Kill, AMPLE).await;
            let removed = self.engine.runtime().remove(&target, AMPLE).await;
            assert!(matches!(removed, Outcome::Done(()) | Outcome::Gone), "{removed:?}");
        }
        let volume = self.engine.runtime().remove_volume(&self.volume(), AMPLE).await;
        let tag = self.engine.runtime().remove_image(&ImageTarget::Name(self.tag()), AMPLE).await;
        for removed in [volume, tag] {
            assert!(matches!(removed, Outcome::Done(()) | Outcome::Gone), "{removed:?}");
        }
    }
}

/// What both engines show of a volume.
fn seen_of(volume: &VolumeFacts) -> (String, String, BTreeMap<String, String>, Vec<String>) {
    let colours = volume.labels.get("colour").cloned();
    (volume.name.clone(), volume.driver.clone(), volume.options.clone(), colours.into_iter().collect())
}

fn check(program: String, words: &str) -> HealthcheckConfig {
    HealthcheckConfig {
        test: HealthTest::Exec { program, arguments: words.split(' ').map(str::to_owned).collect() },
        interval: Duration::from_millis(300),
        timeout: Duration::from_secs(30),
        start_period: Duration::from_millis(1),
        retries: 2,
    }
}

fn publish(request: &mut CreateRequest, host_port: Option<u16>) {
    let key = PortKey { port: 80, protocol: Protocol::Tcp };
    request.config.exposed_ports = vec![key];
    request.host.port_bindings = vec![(key, PortBinding { host_ip: None, host_port })];
}

fn word(action: &EventAction) -> String {
    match action {
        EventAction::Create => " create".into(),
        EventAction::Start => " start".into(),
        EventAction::Die { exit_code } => format!(" die {exit_code:?}"),
        EventAction::Stop => " stop".into(),
        EventAction::Restart => " restart".into(),
        EventAction::Oom => OOM.into(),
        EventAction::Destroy => " destroy".into(),
        EventAction::HealthStatus(word) => format!(" {word}"),
    }
}
