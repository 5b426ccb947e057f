//! The traits of `lighterman-contracts`, spoken by the fake.

use std::time::Duration;

use futures_util::{Stream, stream};
use lighterman_calls::{
    Answer, ContainerFacts, ContainerSummary, ContainerTarget, CreateRequest, Created, ImageFacts, ImageSummary,
    ImageTarget, Lost, LostCause, Outcome, Phase, Platform, PullLimits, PullStep, Refusal, RefusalClass, RemoteImage,
    Request, RuntimeVersion, Signal, VolumeFacts, VolumeRequest, Watched,
};
use lighterman_contracts::{ContainerRuntime, ImageStore, LogChunk, LogRequest, LogSource, LogStream};
use lighterman_ids::{ImageRef, InstanceId, RuntimeId, RuntimeName, Wall};
use lighterman_runtime_model::OutputStream;
use tokio::time::{Instant, timeout_at};

use super::{FakeRuntime, Item, State, Ticket};
use crate::archive;

/// Makes a call and takes the outcome out of the answer of its kind.
macro_rules! call {
    ($fake:expr, $kind:ident, $request:expr, $limit:expr) => {
        match $fake.begin($request, $limit).answer().await {
            Answer::$kind(outcome) => outcome,
            other => panic!("a call was answered in another kind: {other:?}"),
        }
    };
}

impl ContainerRuntime for FakeRuntime {
    async fn ping(&self, limit: Duration) -> Outcome<()> {
        call!(self, Ping, Request::Ping, limit)
    }

    async fn version(&self, limit: Duration) -> Outcome<RuntimeVersion> {
        call!(self, Version, Request::Version, limit)
    }

    async fn inspect_image(&self, image: &ImageRef, limit: Duration) -> Outcome<Box<ImageFacts>> {
        call!(self, InspectImage, Request::InspectImage(image.clone()), limit)
    }

    fn pull(
        &self,
        image: &ImageRef,
        platform: Option<Platform>,
        limits: PullLimits,
        limit: Duration,
    ) -> impl Stream<Item = PullStep> + Send {
        let (fake, image) = (self.clone(), image.clone());
        let begun = stream::once(async move { fake.begin(Request::Pull { image, platform, limits }, limit) });
        stream::StreamExt::flat_map(begun, steps)
    }

    async fn resolve_digest(&self, image: &ImageRef, limit: Duration) -> Outcome<RemoteImage> {
        call!(self, ResolveDigest, Request::ResolveDigest(image.clone()), limit)
    }

    async fn tag_image(&self, image: &ImageTarget, tag: &ImageRef, limit: Duration) -> Outcome<()> {
        call!(self, TagImage, Request::TagImage { image: image.clone(), tag: tag.clone() }, limit)
    }

    async fn remove_image(&self, image: &ImageTarget, limit: Duration) -> Outcome<()> {
        call!(self, RemoveImage, Request::RemoveImage(image.clone()), limit)
    }

    async fn list_images(&self, limit: Duration) -> Outcome<Vec<ImageSummary>> {
        call!(self, ListImages, Request::ListImages, limit)
    }

    async fn create_volume(&self, volume: &VolumeRequest, limit: Duration) -> Outcome<Box<VolumeFacts>> {
        call!(self, CreateVolume, Request::CreateVolume(volume.clone()), limit)
    }

    async fn inspect_volume(&self, volume: &RuntimeName, limit: Duration) -> Outcome<Box<VolumeFacts>> {
        call!(self, InspectVolume, Request::InspectVolume(volume.clone()), limit)
    }

    async fn remove_volume(&self, volume: &RuntimeName, limit: Duration) -> Outcome<()> {
        call!(self, RemoveVolume, Request::RemoveVolume(volume.clone()), limit)
    }

    async fn list_volumes(&self, instance: &InstanceId, limit: Duration) -> Outcome<Vec<VolumeFacts>> {
        call!(self, ListVolumes, Request::ListVolumes(instance.clone()), limit)
    }

    async fn create(&self, request: &CreateRequest, limit: Duration) -> Outcome<Created> {
        call!(self, Create, Request::Create(Box::new(request.clone())), limit)
    }

    async fn start(&self, container: &ContainerTarget, limit: Duration) -> Outcome<()> {
        call!(self, Start, Request::Start(container.clone()), limit)
    }

    async fn inspect(&self, container: &ContainerTarget, limit: Duration) -> Outcome<Box<ContainerFacts>> {
        call!(self, Inspect, Request::Inspect(container.clone()), limit)
    }

    async fn stop(&self, container: &ContainerTarget, grace: Duration, limit: Duration) -> Outcome<()> {
        call!(self, Stop, Request::Stop { container: container.clone(), grace }, limit)
    }

    async fn kill(&self, container: &ContainerTarget, signal: Signal, limit: Duration) -> Outcome<()> {
        call!(self, Kill, Request::Kill { container: container.clone(), signal }, limit)
    }

    async fn remove(&self, container: &ContainerTarget, limit: Duration) -> Outcome<()> {
        call!(self, Remove, Request::Remove(container.clone()), limit)
    }

    async fn list(&self, instance: &InstanceId, limit: Duration) -> Outcome<Vec<ContainerSummary>> {
        call!(self, List, Request::List(instance.clone()), limit)
    }

    fn watch(
        &self,
        instance: &InstanceId,
        since: Option<Wall>,
        limit: Duration,
    ) -> impl Stream<Item = Watched> + Send + 'static {
        let (fake, instance) = (self.clone(), instance.clone());
        stream::unfold(Watching::New { fake, instance, since, limit }, Watching::next)
    }
}

/// Progress until the end.
fn steps(ticket: Ticket) -> impl Stream<Item = PullStep> + Send {
    stream::unfold(Some(ticket), async |ticket| {
        let ticket = ticket?;
        match ticket.next().await {
            Item::Progress(step) => Some((PullStep::Progress(step), Some(ticket))),
            Item::Answer(Answer::Pull(outcome)) => Some((PullStep::End(outcome), None)),
            Item::Answer(other) => panic!("a pull was answered in another kind: {other:?}"),
            Item::Watched(other) => panic!("a pull is no watch: {other:?}"),
        }
    })
}

/// A watch, from before it is opened to its end.
enum Watching {
    New { fake: FakeRuntime, instance: InstanceId, since: Option<Wall>, limit: Duration },
    Open(Ticket),
    Ended,
}

impl Watching {
    async fn next(self) -> Option<(Watched, Self)> {
        let (item, ticket) = match self {
            Self::New { fake, instance, since, limit } => {
                let ticket = fake.begin_watch(instance, since);
                let opened = timeout_at(Instant::now() + limit, ticket.next()).await;
                let late = Lost::new(LostCause::TimedOut(limit), format!("no answer within {limit:?}"));
                (opened.unwrap_or(Item::Watched(Watched::Lost(late))), ticket)
            }
            Self::Open(ticket) => (ticket.next().await, ticket),
            Self::Ended => return None,
        };
        match item {
            Item::Watched(lost @ Watched::Lost(_)) => Some((lost, Self::Ended)),
            Item::Watched(watched) => Some((watched, Self::Open(ticket))),
            Item::Answer(_) | Item::Progress(_) => panic!("a watch is no call"),
        }
    }
}

impl LogSource for FakeRuntime {
    fn logs(&self, request: LogRequest) -> impl Stream<Item = Result<LogChunk, Outcome<()>>> + Send + 'static {
        let reading = Reading { fake: self.clone(), request, container: None, read: 0 };
        stream::unfold(Some(reading), async |reading| reading?.next().await)
    }
}

/// Somebody reads the output of a container.
struct Reading {
    fake: FakeRuntime,
    request: LogRequest,
    /// Once it has been found.
    container: Option<RuntimeId>,
    /// Pieces that were looked at.
    read: usize,
}

impl Reading {
    async fn next(mut self) -> Option<(Result<LogChunk, Outcome<()>>, Option<Self>)> {
        let fake = self.fake.clone();
        let look = |state: &mut State| self.look(state);
        match fake.until(look).await {
            Some(Ok(chunk)) => Some((Ok(chunk), Some(self))),
            Some(Err(outcome)) => Some((Err(outcome), None)),
            None => None,
        }
    }

    /// The next thing to say: `Some(None)` is the end, `None` that nothing is there yet.
    #[expect(clippy::option_option, reason = "not yet, and never more, are two things")]
    fn look(&mut self, state: &State) -> Option<Option<Result<LogChunk, Outcome<()>>>> {
        let facts = state.model.facts(&self.request.container);
        if self.container.is_none() {
            self.container = facts.as_ref().map(|facts| facts.id.clone());
        }
        let Some(container) = &self.container else { return Some(Some(Err(Outcome::Gone))) };
        while let Some(piece) = state.logs.get(container).and_then(|pieces| pieces.get(self.read)) {
            self.read += 1;
            if self.request.since.is_none_or(|since| piece.at >= since) {
                let stream = match piece.stream {
                    OutputStream::Stderr if !self.request.tty => LogStream::Stderr,
                    OutputStream::Stdout | OutputStream::Stderr => LogStream::Stdout,
                };
                return Some(Some(Ok(LogChunk { stream, bytes: piece.text.clone().into_bytes() })));
            }
        }
        // Following ends with the run, and at once where nothing runs (seen on 20.10).
        let goes_on = self.request.follow && facts.is_some_and(|facts| facts.phase == Phase::Running);
        if goes_on { None } else { Some(None) }
    }
}

impl ImageStore for FakeRuntime {
    /// Loads an archive whose programs are called `testbox` or `pause`; there are no others in the model.
    async fn load_image(&self, archive: Vec<u8>, _limit: Duration) -> Outcome<()> {
        match archive::read(&archive) {
            Ok(loaded) => {
                self.with_model(|model, _| {
                    for name in &loaded.names {
                        model.add_image(name, loaded.image.clone());
                    }
                });
                Outcome::Done(())
            }
            Err(error) => Outcome::Refused(Refusal::new(RefusalClass::PeerFault, error.to_string())),
        }
    }
}
