//! Between driver and adapter: what passes, and when.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use futures_core::Stream;
use futures_util::StreamExt as _;
use lighterman_calls::{
    ContainerFacts, ContainerSummary, ContainerTarget, CreateRequest, Created, ImageFacts, ImageSummary, ImageTarget,
    Outcome, Platform, PullLimits, PullStep, RemoteImage, RequestKind, RuntimeEvent, RuntimeVersion, Signal,
    VolumeFacts, VolumeRequest, Watched,
};
use lighterman_contracts::ContainerRuntime;
use lighterman_ids::{ImageRef, InstanceId, RuntimeName, Wall};
use tokio::sync::watch;

/// A runtime that notes every call that leaves and every event that arrives, and changes neither.
#[derive(Clone, Debug)]
pub struct Tap<R> {
    inner: R,
    seen: Arc<Mutex<Seen>>,
    /// How many calls have left.
    count: Arc<watch::Sender<u64>>,
}

/// A call that passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passed {
    /// Which.
    pub kind: RequestKind,
    /// When it left.
    pub left: Instant,
    /// When its answer came; `None` while it is out, and for pulls, whose answer is a stream.
    pub answered: Option<Instant>,
}

impl Passed {
    /// How long the engine took, with the way there and back.
    #[must_use]
    pub fn took(&self) -> Duration {
        self.answered.map_or(Duration::ZERO, |answered| answered - self.left)
    }
}

#[derive(Debug, Default)]
struct Seen {
    calls: Vec<Passed>,
    events: Vec<(Instant, RuntimeEvent)>,
    last_create: Option<CreateRequest>,
}

impl<R> Tap<R> {
    /// Taps this runtime.
    #[must_use]
    pub fn new(inner: R) -> Self {
        Self { inner, seen: Arc::default(), count: Arc::default() }
    }

    /// How many calls have left so far.
    #[must_use]
    pub fn count(&self) -> u64 {
        *self.count.borrow()
    }

    /// The calls from the `skip`th on.
    #[must_use]
    pub fn calls_from(&self, skip: u64) -> Vec<Passed> {
        let skip = usize::try_from(skip).unwrap_or(usize::MAX);
        self.with(|seen| seen.calls.iter().skip(skip).copied().collect())
    }

    /// Waits until a call leaves that `is_it`, the first `skip` not looked at; when it left.
    ///
    /// # Panics
    /// Never: the sender lives in `self`.
    pub async fn wait_for_call(&self, skip: u64, is_it: impl Fn(RequestKind) -> bool) -> Instant {
        let mut count = self.count.subscribe();
        loop {
            count.borrow_and_update();
            if let Some(call) = self.calls_from(skip).into_iter().find(|call| is_it(call.kind)) {
                return call.left;
            }
            count.changed().await.expect("the sender lives in `self`");
        }
    }

    /// The last event that `is_it`, and when it arrived.
    #[must_use]
    pub fn last_event(&self, is_it: impl Fn(&RuntimeEvent) -> bool) -> Option<(Instant, RuntimeEvent)> {
        self.with(|seen| seen.events.iter().rev().find(|(_, event)| is_it(event)).cloned())
    }

    /// What was asked for with the last create call.
    #[must_use]
    pub fn last_create(&self) -> Option<CreateRequest> {
        self.with(|seen| seen.last_create.clone())
    }

    fn with<T>(&self, look: impl FnOnce(&mut Seen) -> T) -> T {
        look(&mut self.seen.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn leaves(&self, kind: RequestKind) -> usize {
        let call = Passed { kind, left: Instant::now(), answered: None };
        let place = self.with(|seen| {
            seen.calls.push(call);
            seen.calls.len() - 1
        });
        self.count.send_modify(|count| *count += 1);
        place
    }

    async fn pass<T>(&self, kind: RequestKind, call: impl Future<Output = T>) -> T {
        let place = self.leaves(kind);
        let answer = call.await;
        let now = Instant::now();
        self.with(|seen| seen.calls[place].answered = Some(now));
        answer
    }
}

impl<R: ContainerRuntime + Clone> ContainerRuntime for Tap<R> {
    async fn ping(&self, limit: Duration) -> Outcome<()> {
        self.pass(RequestKind::Ping, self.inner.ping(limit)).await
    }

    async fn version(&self, limit: Duration) -> Outcome<RuntimeVersion> {
        self.pass(RequestKind::Version, self.inner.version(limit)).await
    }

    async fn inspect_image(&self, image: &ImageRef, limit: Duration) -> Outcome<Box<ImageFacts>> {
        self.pass(RequestKind::InspectImage, self.inner.inspect_image(image, limit)).await
    }

    fn pull(
        &self,
        image: &ImageRef,
        platform: Option<Platform>,
        limits: PullLimits,
        limit: Duration,
    ) -> impl Stream<Item = PullStep> + Send {
        self.leaves(RequestKind::Pull);
        self.inner.pull(image, platform, limits, limit)
    }

    async fn resolve_digest(&self, image: &ImageRef, limit: Duration) -> Outcome<RemoteImage> {
        self.pass(RequestKind::ResolveDigest, self.inner.resolve_digest(image, limit)).await
    }

    async fn tag_image(&self, image: &ImageTarget, tag: &ImageRef, limit: Duration) -> Outcome<()> {
        self.pass(RequestKind::TagImage, self.inner.tag_image(image, tag, limit)).await
    }

    async fn remove_image(&self, image: &ImageTarget, limit: Duration) -> Outcome<()> {
        self.pass(RequestKind::RemoveImage, self.inner.remove_image(image, limit)).await
    }

    async fn list_images(&self, limit: Duration) -> Outcome<Vec<ImageSummary>> {
        self.pass(RequestKind::ListImages, self.inner.list_images(limit)).await
    }

    async fn create_volume(&self, volume: &VolumeRequest, limit: Duration) -> Outcome<Box<VolumeFacts>> {
        self.pass(RequestKind::CreateVolume, self.inner.create_volume(volume, limit)).await
    }

    async fn inspect_volume(&self, volume: &RuntimeName, limit: Duration) -> Outcome<Box<VolumeFacts>> {
        self.pass(RequestKind::InspectVolume, self.inner.inspect_volume(volume, limit)).await
    }

    async fn remove_volume(&self, volume: &RuntimeName, limit: Duration) -> Outcome<()> {
        self.pass(RequestKind::RemoveVolume, self.inner.remove_volume(volume, limit)).await
    }

    async fn list_volumes(&self, instance: &InstanceId, limit: Duration) -> Outcome<Vec<VolumeFacts>> {
        self.pass(RequestKind::ListVolumes, self.inner.list_volumes(instance, limit)).await
    }

    async fn create(&self, request: &CreateRequest, limit: Duration) -> Outcome<Created> {
        self.with(|seen| seen.last_create = Some(request.clone()));
        self.pass(RequestKind::Create, self.inner.create(request, limit)).await
    }

    async fn start(&self, container: &ContainerTarget, limit: Duration) -> Outcome<()> {
        self.pass(RequestKind::Start, self.inner.start(container, limit)).await
    }

    async fn inspect(&self, container: &ContainerTarget, limit: Duration) -> Outcome<Box<ContainerFacts>> {
        self.pass(RequestKind::Inspect, self.inner.inspect(container, limit)).await
    }

    async fn stop(&self, container: &ContainerTarget, grace: Duration, limit: Duration) -> Outcome<()> {
        self.pass(RequestKind::Stop, self.inner.stop(container, grace, limit)).await
    }

    async fn kill(&self, container: &ContainerTarget, signal: Signal, limit: Duration) -> Outcome<()> {
        self.pass(RequestKind::Kill, self.inner.kill(container, signal, limit)).await
    }

    async fn remove(&self, container: &ContainerTarget, limit: Duration) -> Outcome<()> {
        self.pass(RequestKind::Remove, self.inner.remove(container, limit)).await
    }

    async fn list(&self, instance: &InstanceId, limit: Duration) -> Outcome<Vec<ContainerSummary>> {
        self.pass(RequestKind::List, self.inner.list(instance, limit)).await
    }

    /// No [`RequestKind`] of its own: a stream is open for as long as the engine answers.
    fn watch(
        &self,
        instance: &InstanceId,
        since: Option<Wall>,
        limit: Duration,
    ) -> impl Stream<Item = Watched> + Send + 'static {
        let seen = Arc::clone(&self.seen);
        self.inner.watch(instance, since, limit).inspect(move |item| match item {
            Watched::Event(event) => {
                let arrived = (Instant::now(), RuntimeEvent::clone(event));
                seen.lock().unwrap_or_else(PoisonError::into_inner).events.push(arrived);
            }
            Watched::Opened | Watched::Lost(_) => {}
        })
    }
}
