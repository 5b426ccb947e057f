//! A runtime of a few lines: containers in a map, and a say over how single calls behave.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Mutex, MutexGuard},
    time::Duration,
};

use futures_core::Stream;
use futures_util::{StreamExt, stream};
use lighterman_calls::*;
use lighterman_contracts::ContainerRuntime;
use lighterman_ids::{ImageId, ImageRef, InstanceId, RuntimeId, RuntimeName, Wall};
use tokio::{sync::mpsc, time::Instant};

/// How one call behaves.
#[derive(Clone, Debug)]
pub(crate) enum Way {
    /// Answers at once.
    Answer,
    /// Answers after this.
    After(Duration),
    /// Never answers.
    Hang,
    /// The adapter has a fault.
    Panic,
}

pub(crate) struct Fake {
    state: Mutex<State>,
    /// Called with every create before it has an effect.
    on_create: Box<dyn Fn(&CreateRequest) + Send + Sync>,
}

#[derive(Debug, Default)]
struct State {
    containers: BTreeMap<RuntimeId, Container>,
    made: u128,
    image_is_missing: bool,
    pull_steps: usize,
    journal: Vec<(RequestKind, Instant)>,
    ways: BTreeMap<RequestKind, VecDeque<Way>>,
    /// Calls whose future was dropped before it had answered.
    dropped: Vec<RequestKind>,
    /// The first items of the next streams.
    openings: VecDeque<Opening>,
    streams: Vec<mpsc::UnboundedSender<Watched>>,
}

#[derive(Debug)]
struct Container {
    name: RuntimeName,
    labels: BTreeMap<String, String>,
    phase: Phase,
    started_at: Option<Wall>,
    finished_at: Option<Wall>,
}

/// How a stream begins.
#[derive(Clone, Debug)]
pub(crate) enum Opening {
    /// With these instead of `Opened`.
    Items(Vec<Watched>),
    Panic,
}

impl Default for Fake {
    fn default() -> Self {
        Self::looking_at_creates(|_| {})
    }
}

impl Fake {
    pub(crate) fn looking_at_creates(on_create: impl Fn(&CreateRequest) + Send + Sync + 'static) -> Self {
        Self { state: Mutex::default(), on_create: Box::new(on_create) }
    }

    /// The next calls of this kind behave so; all others answer at once.
    pub(crate) fn next(&self, kind: RequestKind, ways: impl IntoIterator<Item = Way>) {
        self.lock().ways.entry(kind).or_default().extend(ways);
    }

    pub(crate) fn next_stream(&self, opening: Opening) {
        self.lock().openings.push_back(opening);
    }

    /// The image has to be pulled, which takes this many steps: one of a small layer, then those of a large one.
    pub(crate) fn lose_image(&self, pull_steps: usize) {
        let mut state = self.lock();
        state.image_is_missing = true;
        state.pull_steps = pull_steps;
    }

    /// How many calls of this kind came in.
    pub(crate) fn count(&self, kind: RequestKind) -> usize {
        self.lock().journal.iter().filter(|(called, _)| *called == kind).count()
    }

    /// All calls, in order.
    pub(crate) fn calls(&self) -> Vec<RequestKind> {
        self.lock().journal.iter().map(|(kind, _)| *kind).collect()
    }

    /// When the last call of this kind came in.
    pub(crate) fn called_at(&self, kind: RequestKind) -> Option<Instant> {
        self.lock().journal.iter().rev().find(|(called, _)| *called == kind).map(|(_, at)| *at)
    }

    pub(crate) fn dropped(&self) -> Vec<RequestKind> {
        self.lock().dropped.clone()
    }

    pub(crate) fn container_count(&self) -> usize {
        self.lock().containers.len()
    }

    pub(crate) fn running_count(&self) -> usize {
        self.lock().containers.values().filter(|container| container.phase == Phase::Running).count()
    }

    pub(crate) fn ids(&self) -> Vec<RuntimeId> {
        self.lock().containers.keys().cloned().collect()
    }

    /// Streams somebody still reads.
    pub(crate) fn open_streams(&self) -> usize {
        self.lock().streams.iter().filter(|stream| !stream.is_closed()).count()
    }

    /// Every process ends with this code, and the stream tells.
    pub(crate) fn all_exit(&self, code: ExitCode) {
        for id in self.ids() {
            self.lock().end(&id, code);
        }
    }

    /// Something comes out of the stream.
    pub(crate) fn tell(&self, item: Watched) {
        self.lock().tell(item);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    async fn enter(&self, kind: RequestKind) {
        let way = {
            let mut state = self.lock();
            state.journal.push((kind, Instant::now()));
            state.ways.get_mut(&kind).and_then(VecDeque::pop_front).unwrap_or(Way::Answer)
        };
        let mut drop_is_seen = DropIsSeen { fake: self, kind, answered: false };
        match way {
            Way::Answer => {}
            Way::After(wait) => tokio::time::sleep(wait).await,
            Way::Hang => std::future::pending().await,
            Way::Panic => {
                drop_is_seen.answered = true;
                panic!("planted in {}", kind.as_str());
            }
        }
        drop_is_seen.answered = true;
    }
}

struct DropIsSeen<'a> {
    fake: &'a Fake,
    kind: RequestKind,
    answered: bool,
}

impl Drop for DropIsSeen<'_> {
    fn drop(&mut self) {
        if !self.answered {
            self.fake.lock().dropped.push(self.kind);
        }
    }
}

impl State {
    fn tell(&mut self, item: Watched) {
        self.streams.retain(|stream| stream.send(item.clone()).is_ok());
    }

    fn event(&mut self, id: &RuntimeId, action: EventAction) {
        let event = RuntimeEvent { at: wall(), container: id.clone(), action };
        self.tell(Watched::Event(Box::new(event)));
    }

    fn find(&mut self, target: &ContainerTarget) -> Option<(RuntimeId, &mut Container)> {
        let found = self.containers.iter_mut().find(|(id, container)| match target {
            ContainerTarget::Id(wanted) => *id == wanted,
            ContainerTarget::Name(name) => container.name == *name,
        });
        found.map(|(id, container)| (id.clone(), container))
    }

    fn end(&mut self, id: &RuntimeId, code: ExitCode) {
        let Some(container) = self.containers.get_mut(id) else { return };
        if container.phase != Phase::Running {
            return;
        }
        container.phase = Phase::Exited { code: Some(code) };
        container.finished_at = Some(wall());
        self.event(id, EventAction::Die { exit_code: Some(code) });
    }
}

/// The runtime's clock; all that matters is that it moves with time.
fn wall() -> Wall {
    use std::sync::atomic::{AtomicI64, Ordering};
    static LAST: AtomicI64 = AtomicI64::new(1_700_000_000_000_000_000);
    Wall(LAST.fetch_add(1, Ordering::Relaxed))
}

impl ContainerRuntime for Fake {
    async fn ping(&self, _: Duration) -> Outcome<()> {
        self.enter(RequestKind::Ping).await;
        Outcome::Done(())
    }

    async fn version(&self, _: Duration) -> Outcome<RuntimeVersion> {
        self.enter(RequestKind::Version).await;
        Outcome::Done(RuntimeVersion {
            version: "20.10.24".into(),
            api_version: "1.41".into(),
            min_api_version: "1.12".into(),
        })
    }

    async fn inspect_image(&self, _: &ImageRef, _: Duration) -> Outcome<Box<ImageFacts>> {
        self.enter(RequestKind::InspectImage).await;
        if self.lock().image_is_missing {
            return Outcome::Gone;
        }
        Outcome::Done(Box::new(ImageFacts {
            id: image_id(),
            repo_digests: Vec::new(),
            env_names: Vec::new(),
            health_test: None,
        }))
    }

    fn pull(
        &self,
        _: &ImageRef,
        _: Option<Platform>,
        _: PullLimits,
        _: Duration,
    ) -> impl Stream<Item = PullStep> + Send {
        let steps = (0..self.lock().pull_steps).map(|n| {
            let current = u64::try_from(n).ok();
            let (layer, status) = if n == 0 { ("small", "Pull complete") } else { ("large", "Downloading") };
            PullStep::Progress(PullProgress { layer: layer.into(), status: status.into(), current, total: None })
        });
        let end = stream::once(async {
            self.enter(RequestKind::Pull).await;
            self.lock().image_is_missing = false;
            PullStep::End(Outcome::Done(()))
        });
        stream::iter(steps.collect::<Vec<_>>()).chain(end)
    }

    async fn resolve_digest(&self, _: &ImageRef, _: Duration) -> Outcome<RemoteImage> {
        panic!("no task asks for this")
    }

    async fn tag_image(&self, _: &ImageTarget, _: &ImageRef, _: Duration) -> Outcome<()> {
        panic!("no task asks for this")
    }

    async fn remove_image(&self, _: &ImageTarget, _: Duration) -> Outcome<()> {
        panic!("no task asks for this")
    }

    async fn list_images(&self, _: Duration) -> Outcome<Vec<ImageSummary>> {
        panic!("no task asks for this")
    }

    async fn create_volume(&self, _: &VolumeRequest, _: Duration) -> Outcome<Box<VolumeFacts>> {
        panic!("no task asks for this")
    }

    async fn inspect_volume(&self, _: &RuntimeName, _: Duration) -> Outcome<Box<VolumeFacts>> {
        panic!("no task asks for this")
    }

    async fn remove_volume(&self, _: &RuntimeName, _: Duration) -> Outcome<()> {
        panic!("no task asks for this")
    }

    async fn list_volumes(&self, _: &InstanceId, _: Duration) -> Outcome<Vec<VolumeFacts>> {
        panic!("no task asks for this")
    }

    async fn create(&self, request: &CreateRequest, _: Duration) -> Outcome<Created> {
        (self.on_create)(request);
        self.enter(RequestKind::Create).await;
        let mut state = self.lock();
        if state.find(&ContainerTarget::Name(request.name.clone())).is_some() {
            return Outcome::Refused(Refusal::new(RefusalClass::NameInUse, "the name is in use"));
        }
        state.made += 1;
        let id = RuntimeId::parse(&format!("{:064x}", state.made)).unwrap();
        let container = Container {
            name: request.name.clone(),
            labels: request.config.labels.clone(),
            phase: Phase::Created,
            started_at: None,
            finished_at: None,
        };
        state.containers.insert(id.clone(), container);
        state.event(&id, EventAction::Create);
        Outcome::Done(Created { id, warnings: Vec::new() })
    }

    async fn start(&self, target: &ContainerTarget, _: Duration) -> Outcome<()> {
        self.enter(RequestKind::Start).await;
        let mut state = self.lock();
        let Some((id, container)) = state.find(target) else { return Outcome::Gone };
        container.phase = Phase::Running;
        container.started_at = Some(wall());
        state.event(&id, EventAction::Start);
        Outcome::Done(())
    }

    async fn inspect(&self, target: &ContainerTarget, _: Duration) -> Outcome<Box<ContainerFacts>> {
        self.enter(RequestKind::Inspect).await;
        let mut state = self.lock();
        let Some((id, container)) = state.find(target) else { return Outcome::Gone };
        Outcome::Done(Box::new(ContainerFacts {
            id,
            name: container.name.clone(),
            labels: container.labels.clone(),
            phase: container.phase,
            oom_killed: false,
            error: String::new(),
            created_at: None,
            started_at: container.started_at,
            finished_at: container.finished_at,
            health: None,
            ports: Vec::new(),
            image: Some(image_id()),
        }))
    }

    async fn stop(&self, target: &ContainerTarget, _: Duration, _: Duration) -> Outcome<()> {
        self.enter(RequestKind::Stop).await;
        let mut state = self.lock();
        let Some((id, _)) = state.find(target) else { return Outcome::Gone };
        state.end(&id, 143);
        state.event(&id, EventAction::Stop);
        Outcome::Done(())
    }

    async fn kill(&self, target: &ContainerTarget, _: Signal, _: Duration) -> Outcome<()> {
        self.enter(RequestKind::Kill).await;
        let mut state = self.lock();
        let Some((id, _)) = state.find(target) else { return Outcome::Gone };
        state.end(&id, 137);
        Outcome::Done(())
    }

    async fn remove(&self, target: &ContainerTarget, _: Duration) -> Outcome<()> {
        self.enter(RequestKind::Remove).await;
        let mut state = self.lock();
        let Some((id, _)) = state.find(target) else { return Outcome::Gone };
        state.containers.remove(&id);
        state.event(&id, EventAction::Destroy);
        Outcome::Done(())
    }

    async fn list(&self, _: &InstanceId, _: Duration) -> Outcome<Vec<ContainerSummary>> {
        self.enter(RequestKind::List).await;
        let state = self.lock();
        let summary = |(id, container): (&RuntimeId, &Container)| ContainerSummary {
            id: id.clone(),
            name: container.name.clone(),
            labels: container.labels.clone(),
            running: container.phase == Phase::Running,
        };
        Outcome::Done(state.containers.iter().map(summary).collect())
    }

    fn watch(&self, _: &InstanceId, _: Option<Wall>, _: Duration) -> impl Stream<Item = Watched> + Send + 'static {
        let (sender, mut receiver) = mpsc::unbounded_channel();
        let mut state = self.lock();
        let opening = state.openings.pop_front().unwrap_or_else(|| Opening::Items(vec![Watched::Opened]));
        let items = match opening {
            Opening::Items(items) => items,
            Opening::Panic => {
                drop(state);
                panic!("planted in watch");
            }
        };
        state.streams.push(sender);
        stream::iter(items).chain(stream::poll_fn(move |cx| receiver.poll_recv(cx)))
    }
}

fn image_id() -> ImageId {
    ImageId::parse(&format!("sha256:{}", "1".repeat(64))).unwrap()
}

/// An event that says nothing new.
pub(crate) fn noise(id: &RuntimeId) -> Watched {
    Watched::Event(Box::new(RuntimeEvent { at: wall(), container: id.clone(), action: EventAction::Oom }))
}

/// The stream breaks.
pub(crate) fn broken() -> Watched {
    Watched::Lost(Lost::new(LostCause::ConnectionLost, "closed"))
}
