//! An instance with its driver running.

use std::{collections::BTreeMap, sync::Arc};

use lighterman_checkpoint::{DirectoryLock, Store};
use lighterman_contracts::{Clock, ContainerRuntime, Entropy};
use lighterman_driver::{Driver, Ending, Handle, Options, Updates};
use lighterman_engine::{Engine, HostSettings, TakeUpError};
use lighterman_ids::DefinitionDigest;
use lighterman_taskdef::TaskDefinition;
use lighterman_turn::Turns;
use lighterman_view::HostView;

use crate::instance::Instance;

/// Definitions that are at hand.
pub(crate) type Definitions = BTreeMap<DefinitionDigest, Arc<TaskDefinition>>;

/// A driver over an instance's state. Requests made before [`Prepared::start`] are handled in its first turn.
pub(crate) struct Prepared<R, C> {
    driver: Driver<R, Store, C>,
    store: Arc<Store>,
    pub(crate) handle: Handle,
    pub(crate) updates: Updates,
}

/// A running driver.
pub(crate) struct Host {
    pub(crate) handle: Handle,
    pub(crate) updates: Updates,
    store: Arc<Store>,
    driver: tokio::task::JoinHandle<Ending>,
}

impl<R: ContainerRuntime, C: Clock> Prepared<R, C> {
    pub(crate) fn new(
        instance: Instance,
        settings: HostSettings,
        definitions: Definitions,
        runtime: Arc<R>,
        clock: C,
        entropy: &impl Entropy,
    ) -> Result<Self, TakeUpError> {
        let seed = u64::try_from(entropy.bits() & u128::from(u64::MAX)).unwrap_or_default();
        let mut engine = Engine::take_up(settings, instance.id, instance.saved, seed, clock.now())?;
        for (digest, definition) in definitions {
            engine.define(digest, definition);
        }
        let store = Arc::new(instance.store);
        let turns = Turns::new(engine, instance.ledger);
        let (driver, handle) = Driver::new(turns, runtime, Arc::clone(&store), clock, Options::default());
        let updates = handle.updates();
        Ok(Self { driver, store, handle, updates })
    }

    pub(crate) fn start(self) -> Host {
        let Self { driver, store, handle, updates } = self;
        Host { driver: driver.spawn(), store, handle, updates }
    }
}

impl Host {
    pub(crate) fn view(&self) -> Arc<HostView> {
        self.handle.host().get()
    }

    /// Ends the driver in order and closes the store. `None` for the lock when the store does not close in
    /// time; a warning when something was not saved.
    pub(crate) async fn end(self) -> (Option<DirectoryLock>, Option<String>, Updates) {
        self.handle.shutdown();
        let unsaved = match self.driver.await {
            Ok(ending) => ending.unsaved.map(|why| format!("the last changes were not saved: {why}")),
            Err(error) => Some(format!("the driver broke off: {error}")),
        };
        let lock = Arc::try_unwrap(self.store).ok().and_then(Store::close);
        (lock, unsaved, self.updates)
    }
}
