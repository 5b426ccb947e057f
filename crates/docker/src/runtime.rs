//! The contracts, one method per call.

use std::time::Duration;

use bytes::Bytes;
use futures_core::Stream;
use lighterman_calls::{
    ContainerFacts, ContainerSummary, ContainerTarget, CreateRequest, Created, ImageFacts, ImageSummary, ImageTarget,
    Outcome, Platform, PullLimits, PullStep, RefusalClass, RemoteImage, RuntimeVersion, Signal, VolumeFacts,
    VolumeRequest, Watched,
};
use lighterman_contracts::{ContainerRuntime, ImageStore, LogChunk, LogRequest, LogSource};
use lighterman_ids::{ImageRef, InstanceId, RuntimeName, Wall};

use crate::{
    Docker, body,
    client::within,
    facts::{RawContainer, RawCreated, RawImage, RawSummary},
    lines::Lines,
    logs,
    pull::{self, Pull},
    stored::{RawImageSummary, RawRemoteImage, RawVolume, RawVolumes},
    verdict::{Addresses, NotDone},
    watch::{self, Opening},
};

impl ContainerRuntime for Docker {
    async fn ping(&self, limit: Duration) -> Outcome<()> {
        within(limit, async {
            let written = self.scribe().ping()?;
            self.exchange(Addresses::Nothing, written, None, Bytes::new()).await.map(drop)
        })
        .await
    }

    async fn version(&self, limit: Duration) -> Outcome<RuntimeVersion> {
        within(limit, self.negotiate()).await
    }

    async fn inspect_image(&self, image: &ImageRef, limit: Duration) -> Outcome<Box<ImageFacts>> {
        within(limit, async {
            let raw: RawImage = self.ask(Addresses::Image, self.scribe().inspect_image(image)).await?;
            raw.facts().map(Box::new)
        })
        .await
    }

    fn pull(
        &self,
        image: &ImageRef,
        platform: Option<Platform>,
        limits: PullLimits,
        limit: Duration,
    ) -> impl Stream<Item = PullStep> + Send {
        pull::steps(Pull { docker: self.clone(), image: image.clone(), platform, limits, limit })
    }

    async fn resolve_digest(&self, image: &ImageRef, limit: Duration) -> Outcome<RemoteImage> {
        within(limit, async {
            let raw: RawRemoteImage = self.ask(Addresses::RemoteImage, self.scribe().resolve_digest(image)).await?;
            raw.facts()
        })
        .await
    }

    async fn tag_image(&self, image: &ImageTarget, tag: &ImageRef, limit: Duration) -> Outcome<()> {
        within(limit, self.command(Addresses::Image, self.scribe().tag_image(image, tag))).await
    }

    async fn remove_image(&self, image: &ImageTarget, limit: Duration) -> Outcome<()> {
        within(limit, self.command(Addresses::Image, self.scribe().remove_image(image))).await
    }

    async fn list_images(&self, limit: Duration) -> Outcome<Vec<ImageSummary>> {
        within(limit, async {
            let raw: Vec<RawImageSummary> = self.ask(Addresses::Nothing, self.scribe().list_images()).await?;
            raw.into_iter().map(RawImageSummary::summary).collect()
        })
        .await
    }

    async fn create_volume(&self, volume: &VolumeRequest, limit: Duration) -> Outcome<Box<VolumeFacts>> {
        within(limit, async {
            let body = body::volume(volume).map_err(|error| no_json(&error))?;
            let answer = self.send(Addresses::NewVolume, self.scribe().create_volume()?, body).await?;
            Ok(Box::new(answer.body.json::<RawVolume>().await?.facts()))
        })
        .await
    }

    async fn inspect_volume(&self, volume: &RuntimeName, limit: Duration) -> Outcome<Box<VolumeFacts>> {
        within(limit, async {
            let raw: RawVolume = self.ask(Addresses::Volume, self.scribe().inspect_volume(volume)).await?;
            Ok(Box::new(raw.facts()))
        })
        .await
    }

    async fn remove_volume(&self, volume: &RuntimeName, limit: Duration) -> Outcome<()> {
        within(limit, self.command(Addresses::Volume, self.scribe().remove_volume(volume))).await
    }

    async fn list_volumes(&self, instance: &InstanceId, limit: Duration) -> Outcome<Vec<VolumeFacts>> {
        within(limit, async {
            let raw: RawVolumes = self.ask(Addresses::Nothing, self.scribe().list_volumes(instance)).await?;
            Ok(raw.facts())
        })
        .await
    }

    async fn create(&self, request: &CreateRequest, limit: Duration) -> Outcome<Created> {
        within(limit, async {
            let body = body::create(request).map_err(|error| no_json(&error))?;
            let written = self.scribe().create(&request.name, request.platform)?;
            let answer = self.send(Addresses::NewContainer, written, body).await?;
            answer.body.json::<RawCreated>().await?.created()
        })
        .await
    }

    async fn start(&self, container: &ContainerTarget, limit: Duration) -> Outcome<()> {
        let call = Addresses::Startable(container.as_str());
        within(limit, self.command(call, self.scribe().start(container))).await
    }

    async fn inspect(&self, container: &ContainerTarget, limit: Duration) -> Outcome<Box<ContainerFacts>> {
        within(limit, async {
            let raw: RawContainer = self.ask(Addresses::Container, self.scribe().inspect(container)).await?;
            raw.facts().map(Box::new)
        })
        .await
    }

    async fn stop(&self, container: &ContainerTarget, grace: Duration, limit: Duration) -> Outcome<()> {
        within(limit, self.command(Addresses::Container, self.scribe().stop(container, grace))).await
    }

    async fn kill(&self, container: &ContainerTarget, signal: Signal, limit: Duration) -> Outcome<()> {
        within(limit, self.command(Addresses::Container, self.scribe().kill(container, signal))).await
    }

    async fn remove(&self, container: &ContainerTarget, limit: Duration) -> Outcome<()> {
        within(limit, self.command(Addresses::Container, self.scribe().remove(container))).await
    }

    async fn list(&self, instance: &InstanceId, limit: Duration) -> Outcome<Vec<ContainerSummary>> {
        within(limit, async {
            let raw: Vec<RawSummary> = self.ask(Addresses::Nothing, self.scribe().list(instance)).await?;
            raw.into_iter().map(RawSummary::summary).collect()
        })
        .await
    }

    fn watch(
        &self,
        instance: &InstanceId,
        since: Option<Wall>,
        limit: Duration,
    ) -> impl Stream<Item = Watched> + Send + 'static {
        watch::stream(Opening { docker: self.clone(), written: self.scribe().events(instance, since), limit })
    }
}

impl ImageStore for Docker {
    async fn load_image(&self, archive: Vec<u8>, limit: Duration) -> Outcome<()> {
        within(limit, async {
            let answer = self.send(Addresses::Nothing, self.scribe().load_image()?, Bytes::from(archive)).await?;
            let mut lines = Lines::new(answer.body);
            while pull::step(&mut lines, Addresses::Nothing).await?.is_some() {}
            Ok(())
        })
        .await
    }
}

impl LogSource for Docker {
    fn logs(&self, request: LogRequest) -> impl Stream<Item = Result<LogChunk, Outcome<()>>> + Send + 'static {
        logs::stream(self.clone(), request)
    }
}

fn no_json(error: &serde_json::Error) -> NotDone {
    NotDone::refused(RefusalClass::Invalid, format!("the request is no JSON: {error}"))
}
