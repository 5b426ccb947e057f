//! Runs the loop for a while in front of a runtime that is not there, and prints what readers are shown.
#![expect(clippy::print_stdout, reason = "an example shows its result")]

use std::{error::Error, future::ready, sync::Arc, time::Duration};

use futures_core::Stream;
use futures_util::stream;
use lighterman_calls::{
    ContainerFacts, ContainerSummary, ContainerTarget, CreateRequest, Created, ImageFacts, ImageSummary, ImageTarget,
    Lost, LostCause, Outcome, Platform, PullLimits, PullStep, RemoteImage, RuntimeVersion, Signal, VolumeFacts,
    VolumeRequest, Watched,
};
use lighterman_contracts::{Batch, Checkpoint, Clock, CommitError, ContainerRuntime, Entropy};
use lighterman_driver::{Driver, HostClock, Options, OsEntropy, Update};
use lighterman_engine::{Engine, HostSettings, SavedState};
use lighterman_ids::{ImageRef, InstanceId, RuntimeName, Wall};
use lighterman_records::Ledger;
use lighterman_turn::Turns;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let (clock, entropy) = (HostClock::new()?, OsEntropy::new()?);
    let instance = InstanceId::from_bits(entropy.bits());
    let settings = HostSettings { patience: Some(Duration::from_millis(400)), ..HostSettings::REFERENCE };
    let engine = Engine::take_up(settings, instance, SavedState::default(), 1, clock.now())?;
    let turns = Turns::new(engine, Ledger::new());
    let (driver, handle) = Driver::new(turns, Arc::new(Away), Arc::new(Forgetful), clock, Options::default());

    let mut updates = handle.updates();
    let running = driver.spawn();
    while let Some(Update::Host(host)) = updates.next().await {
        println!("{:?}, gave up: {}", host.runtime, host.gave_up);
        if host.gave_up {
            break;
        }
    }
    handle.shutdown();
    println!("{:?}", running.await?);
    println!("{:?}", handle.stats());
    Ok(())
}

/// A runtime that nobody runs.
struct Away;

fn away<T>() -> Outcome<T> {
    Outcome::Unknown(Lost::new(LostCause::Unreachable, "there is no such socket"))
}

impl ContainerRuntime for Away {
    async fn ping(&self, _: Duration) -> Outcome<()> {
        away()
    }

    async fn version(&self, _: Duration) -> Outcome<RuntimeVersion> {
        away()
    }

    async fn inspect_image(&self, _: &ImageRef, _: Duration) -> Outcome<Box<ImageFacts>> {
        away()
    }

    fn pull(
        &self,
        _: &ImageRef,
        _: Option<Platform>,
        _: PullLimits,
        _: Duration,
    ) -> impl Stream<Item = PullStep> + Send {
        stream::once(ready(PullStep::End(away())))
    }

    async fn resolve_digest(&self, _: &ImageRef, _: Duration) -> Outcome<RemoteImage> {
        away()
    }

    async fn tag_image(&self, _: &ImageTarget, _: &ImageRef, _: Duration) -> Outcome<()> {
        away()
    }

    async fn remove_image(&self, _: &ImageTarget, _: Duration) -> Outcome<()> {
        away()
    }

    async fn list_images(&self, _: Duration) -> Outcome<Vec<ImageSummary>> {
        away()
    }

    async fn create_volume(&self, _: &VolumeRequest, _: Duration) -> Outcome<Box<VolumeFacts>> {
        away()
    }

    async fn inspect_volume(&self, _: &RuntimeName, _: Duration) -> Outcome<Box<VolumeFacts>> {
        away()
    }

    async fn remove_volume(&self, _: &RuntimeName, _: Duration) -> Outcome<()> {
        away()
    }

    async fn list_volumes(&self, _: &InstanceId, _: Duration) -> Outcome<Vec<VolumeFacts>> {
        away()
    }

    async fn create(&self, _: &CreateRequest, _: Duration) -> Outcome<Created> {
        away()
    }

    async fn start(&self, _: &ContainerTarget, _: Duration) -> Outcome<()> {
        away()
    }

    async fn inspect(&self, _: &ContainerTarget, _: Duration) -> Outcome<Box<ContainerFacts>> {
        away()
    }

    async fn stop(&self, _: &ContainerTarget, _: Duration, _: Duration) -> Outcome<()> {
        away()
    }

    async fn kill(&self, _: &ContainerTarget, _: Signal, _: Duration) -> Outcome<()> {
        away()
    }

    async fn remove(&self, _: &ContainerTarget, _: Duration) -> Outcome<()> {
        away()
    }

    async fn list(&self, _: &InstanceId, _: Duration) -> Outcome<Vec<ContainerSummary>> {
        away()
    }

    fn watch(&self, _: &InstanceId, _: Option<Wall>, _: Duration) -> impl Stream<Item = Watched> + Send + 'static {
        stream::empty()
    }
}

/// A store that keeps nothing.
struct Forgetful;

impl Checkpoint for Forgetful {
    async fn commit(&self, _: Batch) -> Result<(), CommitError> {
        Ok(())
    }
}
