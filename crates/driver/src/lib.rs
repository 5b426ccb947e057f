//! The tokio loop around the pure engine.
//!
//! The core decides, adapters act, and the [`Driver`] between them decides nothing. It takes in what
//! happened, hands it to the gate ([`Turns`](lighterman_turn::Turns)), makes durable what the gate wants
//! durable, and does what the gate lets out, one function per kind of output.
//!
//! # A turn
//!
//! 1. Take in what is there, without waiting for more: a commit that ended, answers, runtime events, requests.
//! 2. Tell the core that a deadline has come, if one has.
//! 3. Begin the next commit, unless one is in flight: turns handled meanwhile share the one after it.
//! 4. Let out what may leave: calls become executors, views become visible.
//!
//! Between two turns the loop waits for an input or the next deadline. It never polls, never spins, and holds
//! no lock while it waits.
//!
//! # Lanes
//!
//! | lane | holds at most | when it is full |
//! | --- | --- | --- |
//! | answers | one per call that is out | cannot be; an executor that panicked is an unknown outcome |
//! | runtime events | [`EVENTS`] | all are dropped in favour of one look at everything |
//! | requests | [`REQUESTS`] | the next one is [`RequestError::Busy`] |
//!
//! Readers are on the other side of the commit: [`Handle::tasks`] and [`Handle::host`] have what holds now,
//! [`Handle::updates`] every change in order. A reader who is too slow misses updates and is told so; it never
//! holds the loop up. Progress of pulls goes from the executor to the reader without passing through the loop.
//!
//! # Ending
//!
//! [`Handle::shutdown`] begins nothing more, cancels pulls, waits up to five seconds for the other calls, makes
//! the last changes durable and returns (engine.md 3.12). Nothing is saved only then. Aborting the loop's future,
//! or the process, instead is as good as a crash; that is what a second signal does.
//!
//! A call that is cancelled, or still out at the end, has no answer: whoever cancelled it does not wait for
//! one, and its effect is looked up before anything else is done (design.md R9).
//!
//! Not for: deciding whether, when or in which order anything is done (`lighterman-engine`), speaking to a
//! container runtime (`lighterman-docker`), handling signals (the binary).
//!
//! # Example
//!
//! ```
//! # use std::{future::{Future, ready}, sync::Arc, time::Duration};
//! # use lighterman_calls::*;
//! # use lighterman_contracts::{Batch, Checkpoint, Clock, CommitError, ContainerRuntime};
//! # use lighterman_driver::{Driver, HostClock, Options};
//! # use lighterman_engine::{Engine, HostSettings, SavedState};
//! # use lighterman_ids::*;
//! # use lighterman_records::Ledger;
//! # use lighterman_turn::Turns;
//! # use lighterman_view::RuntimeLink;
//! # fn away<T>() -> Outcome<T> { Outcome::Unknown(Lost::new(LostCause::Unreachable, "no such socket")) }
//! # struct NoRuntime;
//! # type F<T> = std::future::Ready<Outcome<T>>;
//! # impl ContainerRuntime for NoRuntime {
//! #     fn ping(&self, _: Duration) -> F<()> { ready(away()) }
//! #     fn version(&self, _: Duration) -> F<RuntimeVersion> { ready(away()) }
//! #     fn inspect_image(&self, _: &ImageRef, _: Duration) -> F<Box<ImageFacts>> { ready(away()) }
//! #     fn pull(&self, _: &ImageRef, _: Option<Platform>, _: PullLimits, _: Duration) -> impl futures_core::Stream<Item = PullStep> + Send {
//! #         futures_util::stream::empty()
//! #     }
//! #     fn resolve_digest(&self, _: &ImageRef, _: Duration) -> F<RemoteImage> { ready(away()) }
//! #     fn tag_image(&self, _: &ImageTarget, _: &ImageRef, _: Duration) -> F<()> { ready(away()) }
//! #     fn remove_image(&self, _: &ImageTarget, _: Duration) -> F<()> { ready(away()) }
//! #     fn list_images(&self, _: Duration) -> F<Vec<ImageSummary>> { ready(away()) }
//! #     fn create_volume(&self, _: &VolumeRequest, _: Duration) -> F<Box<VolumeFacts>> { ready(away()) }
//! #     fn inspect_volume(&self, _: &RuntimeName, _: Duration) -> F<Box<VolumeFacts>> { ready(away()) }
//! #     fn remove_volume(&self, _: &RuntimeName, _: Duration) -> F<()> { ready(away()) }
//! #     fn list_volumes(&self, _: &InstanceId, _: Duration) -> F<Vec<VolumeFacts>> { ready(away()) }
//! #     fn create(&self, _: &CreateRequest, _: Duration) -> F<Created> { ready(away()) }
//! #     fn start(&self, _: &ContainerTarget, _: Duration) -> F<()> { ready(away()) }
//! #     fn inspect(&self, _: &ContainerTarget, _: Duration) -> F<Box<ContainerFacts>> { ready(away()) }
//! #     fn stop(&self, _: &ContainerTarget, _: Duration, _: Duration) -> F<()> { ready(away()) }
//! #     fn kill(&self, _: &ContainerTarget, _: Signal, _: Duration) -> F<()> { ready(away()) }
//! #     fn remove(&self, _: &ContainerTarget, _: Duration) -> F<()> { ready(away()) }
//! #     fn list(&self, _: &InstanceId, _: Duration) -> F<Vec<ContainerSummary>> { ready(away()) }
//! #     fn watch(&self, _: &InstanceId, _: Option<Wall>, _: Duration) -> impl futures_core::Stream<Item = Watched> + Send + 'static {
//! #         futures_util::stream::empty()
//! #     }
//! # }
//! # struct Forgetful;
//! # impl Checkpoint for Forgetful {
//! #     fn commit(&self, _: Batch) -> impl Future<Output = Result<(), CommitError>> + Send { ready(Ok(())) }
//! # }
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let clock = HostClock::new()?;
//! let instance = InstanceId::from_bits(1);
//! let engine = Engine::take_up(HostSettings::REFERENCE, instance, SavedState::default(), 1, clock.now())?;
//! let turns = Turns::new(engine, Ledger::new());
//! // `NoRuntime` stands for a Docker that is not there, `Forgetful` for a state store.
//! let (driver, handle) = Driver::new(turns, Arc::new(NoRuntime), Arc::new(Forgetful), clock, Options::default());
//! let running = driver.spawn();
//!
//! let mut host = handle.host();
//! let away = |runtime: &RuntimeLink| matches!(runtime, RuntimeLink::Connecting { trouble: Some(_) });
//! let view = host.wait_for(|host| away(&host.runtime)).await.expect("the driver runs");
//! assert_eq!(view.runtime, RuntimeLink::Connecting { trouble: Some("no such socket".into()) });
//!
//! handle.shutdown();
//! let ending = running.await?;
//! assert_eq!((ending.unanswered, ending.unsaved), (0, None));
//! # Ok(())
//! # }
//! ```

mod calls;
mod clock;
mod driver;
mod entropy;
mod events;
mod handle;
mod publish;
mod stats;
mod timer;

pub use clock::{BootIdError, HostClock};
pub use driver::{Driver, Ending, Options};
pub use entropy::OsEntropy;
pub use events::EVENTS;
pub use handle::{Handle, REQUESTS, RequestError};
pub use publish::{Latest, PROGRESS, Progress, PullNews, TaskMap, UPDATES, Update, Updates};
pub use stats::Stats;
