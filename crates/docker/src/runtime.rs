//! The contracts, one method per call.

use std::time::Duration;

use bytes::Bytes;
use futures_core::Stream;
use lighterman_calls::{
    ContainerFacts, ContainerSummary, ContainerTarget, CreateRequest, Created, ImageFacts, Outcome, PullLimits,
    PullStep, RefusalClass, RuntimeVersion, Signal, Watched,
};
use lighterman_contracts::{ContainerRuntime, ImageStore, LogChunk, LogRequest, LogSource};
use lighterman_ids::{ImageRef, InstanceId, Wall};

use crate::{
    Docker, body,
    client::within,
    facts::{RawContainer, RawCreated, RawImage, RawSummary},
    lines::Lines,
    logs,
    pull::{self, Pull},
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

    fn pull(&self, image: &ImageRef, limits: PullLimits, limit: Duration) -> impl Stream<Item = PullStep> + Send {
        pull::steps(Pull { docker: self.clone(), image: image.clone(), limits, limit })
    }

    async fn create(&self, request: &CreateRequest, limit: Duration) -> Outcome<Created> {
        within(limit, async {
            let body = body::create(request)
                .map_err(|error| NotDone::refused(RefusalClass::Invalid, format!("the request is no JSON: {error}")))?;
            let answer = self.send(Addresses::NewContainer, self.scribe().create(&request.name)?, body).await?;
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
