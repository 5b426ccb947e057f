//! The container runtime, its logs and its images.

use alloc::{boxed::Box, vec::Vec};
use core::{future::Future, pin::Pin, time::Duration};

use futures_core::Stream;
use lighterman_calls::{
    Answer, Call, ContainerFacts, ContainerSummary, ContainerTarget, CreateRequest, Created, ImageFacts, ImageSummary,
    ImageTarget, Outcome, Platform, PullLimits, PullProgress, PullStep, RemoteImage, Request, RuntimeVersion, Signal,
    VolumeFacts, VolumeRequest, Watched,
};
use lighterman_ids::{ImageRef, InstanceId, RuntimeName, Wall};

/// One method per call of the engine's API; each call is bounded by `limit`, around the whole of it.
///
/// Names and ids arrive validated. Texts of refusals are the runtime's own.
pub trait ContainerRuntime: Send + Sync + 'static {
    /// Does it answer at all?
    fn ping(&self, limit: Duration) -> impl Future<Output = Outcome<()>> + Send;

    /// Version and API versions. `Refused(Unsupported)` when it speaks none of ours, naming both.
    fn version(&self, limit: Duration) -> impl Future<Output = Outcome<RuntimeVersion>> + Send;

    /// Looks an image up; `Gone` when it is not there.
    fn inspect_image(&self, image: &ImageRef, limit: Duration)
    -> impl Future<Output = Outcome<Box<ImageFacts>>> + Send;

    /// Fetches an image, for `platform` or for the runtime's own. The stream ends with [`PullStep::End`].
    fn pull(
        &self,
        image: &ImageRef,
        platform: Option<Platform>,
        limits: PullLimits,
        limit: Duration,
    ) -> impl Stream<Item = PullStep> + Send;

    /// Asks the image's registry for its digest; `Refused(NotFound)` when the registry does not know it.
    fn resolve_digest(&self, image: &ImageRef, limit: Duration) -> impl Future<Output = Outcome<RemoteImage>> + Send;

    /// Gives an image one more name; `Gone` when the image is not there.
    fn tag_image(
        &self,
        image: &ImageTarget,
        tag: &ImageRef,
        limit: Duration,
    ) -> impl Future<Output = Outcome<()>> + Send;

    /// Takes a name away, and with the last one the image. `Refused(Conflict)` when a container was made from what
    /// would go, and for an id when it has several names.
    fn remove_image(&self, image: &ImageTarget, limit: Duration) -> impl Future<Output = Outcome<()>> + Send;

    /// Lists the images, except those that are only part of another one.
    fn list_images(&self, limit: Duration) -> impl Future<Output = Outcome<Vec<ImageSummary>>> + Send;

    /// Makes a volume, unless one has the name; shows what has it then. `Refused(NotFound)` when there is no such
    /// driver.
    fn create_volume(
        &self,
        volume: &VolumeRequest,
        limit: Duration,
    ) -> impl Future<Output = Outcome<Box<VolumeFacts>>> + Send;

    /// Looks at a volume.
    fn inspect_volume(
        &self,
        volume: &RuntimeName,
        limit: Duration,
    ) -> impl Future<Output = Outcome<Box<VolumeFacts>>> + Send;

    /// Removes a volume; `Refused(Conflict)` when a container has it, running or not.
    fn remove_volume(&self, volume: &RuntimeName, limit: Duration) -> impl Future<Output = Outcome<()>> + Send;

    /// Lists all volumes that carry the instance's label.
    fn list_volumes(
        &self,
        instance: &InstanceId,
        limit: Duration,
    ) -> impl Future<Output = Outcome<Vec<VolumeFacts>>> + Send;

    /// Makes a container. `Refused(NameInUse)` when the name is taken, `Refused(NotFound)` when the image is missing or
    /// a container that it links to, or takes volumes or a namespace from.
    fn create(&self, request: &CreateRequest, limit: Duration) -> impl Future<Output = Outcome<Created>> + Send;

    /// Starts a container; `Done` when it runs already.
    fn start(&self, container: &ContainerTarget, limit: Duration) -> impl Future<Output = Outcome<()>> + Send;

    /// Looks at a container.
    fn inspect(
        &self,
        container: &ContainerTarget,
        limit: Duration,
    ) -> impl Future<Output = Outcome<Box<ContainerFacts>>> + Send;

    /// Stops a container and answers when it has ended; `Done` when it was not running. The limit must
    /// exceed the grace.
    fn stop(
        &self,
        container: &ContainerTarget,
        grace: Duration,
        limit: Duration,
    ) -> impl Future<Output = Outcome<()>> + Send;

    /// Sends a signal; `Refused(Conflict)` when it is not running.
    fn kill(
        &self,
        container: &ContainerTarget,
        signal: Signal,
        limit: Duration,
    ) -> impl Future<Output = Outcome<()>> + Send;

    /// Removes a container that is not running, with its anonymous volumes; `Refused(Conflict)` when it runs.
    fn remove(&self, container: &ContainerTarget, limit: Duration) -> impl Future<Output = Outcome<()>> + Send;

    /// Lists all containers, running or not, that carry the instance's label.
    fn list(
        &self,
        instance: &InstanceId,
        limit: Duration,
    ) -> impl Future<Output = Outcome<Vec<ContainerSummary>>> + Send;

    /// Events of the instance's containers from `since` on (from now on when `None`).
    ///
    /// Says [`Watched::Opened`] once the stream stands, within `limit`; ends with [`Watched::Lost`].
    /// Events that carry the stamp of `since` are delivered again; within one watch none is doubled.
    fn watch(
        &self,
        instance: &InstanceId,
        since: Option<Wall>,
        limit: Duration,
    ) -> impl Stream<Item = Watched> + Send + 'static;
}

/// Makes the call and wraps its outcome into the answer of its kind; `progress` hears of a pull's steps.
pub async fn perform<R: ContainerRuntime>(
    runtime: &R,
    call: &Call,
    mut progress: impl FnMut(PullProgress) + Send,
) -> Answer {
    let limit = call.limit;
    match &call.request {
        Request::Ping => Answer::Ping(runtime.ping(limit).await),
        Request::Version => Answer::Version(runtime.version(limit).await),
        Request::InspectImage(image) => Answer::InspectImage(runtime.inspect_image(image, limit).await),
        Request::Pull { image, platform, limits } => {
            let steps = core::pin::pin!(runtime.pull(image, *platform, *limits, limit));
            Answer::Pull(last_of(steps, &mut progress).await)
        }
        Request::ResolveDigest(image) => Answer::ResolveDigest(runtime.resolve_digest(image, limit).await),
        Request::TagImage { image, tag } => Answer::TagImage(runtime.tag_image(image, tag, limit).await),
        Request::RemoveImage(image) => Answer::RemoveImage(runtime.remove_image(image, limit).await),
        Request::ListImages => Answer::ListImages(runtime.list_images(limit).await),
        Request::CreateVolume(volume) => Answer::CreateVolume(runtime.create_volume(volume, limit).await),
        Request::InspectVolume(volume) => Answer::InspectVolume(runtime.inspect_volume(volume, limit).await),
        Request::RemoveVolume(volume) => Answer::RemoveVolume(runtime.remove_volume(volume, limit).await),
        Request::ListVolumes(instance) => Answer::ListVolumes(runtime.list_volumes(instance, limit).await),
        Request::Create(request) => Answer::Create(runtime.create(request, limit).await),
        Request::Start(container) => Answer::Start(runtime.start(container, limit).await),
        Request::Inspect(container) => Answer::Inspect(runtime.inspect(container, limit).await),
        Request::Stop { container, grace } => Answer::Stop(runtime.stop(container, *grace, limit).await),
        Request::Kill { container, signal } => Answer::Kill(runtime.kill(container, *signal, limit).await),
        Request::Remove(container) => Answer::Remove(runtime.remove(container, limit).await),
        Request::List(instance) => Answer::List(runtime.list(instance, limit).await),
    }
}

/// Drives a pull's stream to its end. A stream that breaks its promise and just stops counts as cut off.
async fn last_of(
    mut steps: Pin<&mut (impl Stream<Item = PullStep> + Send)>,
    progress: &mut (impl FnMut(PullProgress) + Send),
) -> Outcome<()> {
    loop {
        match core::future::poll_fn(|cx| steps.as_mut().poll_next(cx)).await {
            Some(PullStep::Progress(step)) => progress(step),
            Some(PullStep::End(outcome)) => return outcome,
            None => {
                let lost = lighterman_calls::LostCause::ConnectionLost;
                return Outcome::Unknown(lighterman_calls::Lost::new(lost, "the pull ended without a result"));
            }
        }
    }
}

/// Which output of a container to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogRequest {
    /// Whose.
    pub container: ContainerTarget,
    /// Go on until the container ends.
    pub follow: bool,
    /// Only from this instant on; all when `None`.
    pub since: Option<Wall>,
    /// Whether the container has a terminal: its output is then one raw stream.
    pub tty: bool,
}

/// A piece of a container's output; lines may be cut anywhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogChunk {
    /// Which stream; all is [`LogStream::Stdout`] with a terminal.
    pub stream: LogStream,
    /// The bytes, as written.
    pub bytes: Vec<u8>,
}

/// Standard output or standard error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LogStream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// The output of containers. It never passes through the driver's loop (design.md R6).
pub trait LogSource: Send + Sync + 'static {
    /// Streams output; an `Err` is the last item and says why reading ended early.
    fn logs(&self, request: LogRequest) -> impl Stream<Item = Result<LogChunk, Outcome<()>>> + Send + 'static;
}

/// Images that come from memory rather than from a registry.
pub trait ImageStore: Send + Sync + 'static {
    /// Loads a `docker save` archive.
    fn load_image(&self, archive: Vec<u8>, limit: Duration) -> impl Future<Output = Outcome<()>> + Send;
}
