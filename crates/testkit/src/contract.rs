//! What every container runtime does: one list of tests for the fake and for the real adapter.
//!
//! Each function is one rule. It is given a [`Contract`], which is a runtime with an instance id of its own and the
//! image of the test program in it, and panics where the rule is broken. [`contract_tests!`](crate::contract_tests)
//! makes a test of each. [`Contract::clean`] removes what a test left.

mod containers;
mod ends;
mod events;
mod joined;
mod logs;
mod stored;

use std::{collections::BTreeMap, pin::Pin, time::Duration};

use futures_util::{Stream, StreamExt as _};
use lighterman_calls::{
    ContainerConfig, ContainerFacts, ContainerTarget, CreateRequest, EventAction, HostConfig, ImageTarget, Outcome,
    RuntimeEvent, Signal, Watched, labels,
};
use lighterman_contracts::{ContainerRuntime, LogSource};
use lighterman_ids::{ImageRef, InstanceId, RuntimeId, RuntimeName, Wall};
use tokio::time::timeout;

pub use containers::*;
pub use ends::*;
pub use events::*;
pub use joined::*;
pub use logs::*;
pub use stored::*;

/// Longer than any step takes that goes well.
const AMPLE: Duration = Duration::from_secs(60);

/// A runtime on trial.
#[derive(Debug)]
pub struct Contract<'a, R> {
    runtime: &'a R,
    instance: InstanceId,
    image: ImageRef,
}

impl<'a, R: ContainerRuntime + LogSource> Contract<'a, R> {
    /// Tries `runtime`, with an instance id that nobody else uses and the image of the test program, which is there.
    pub fn new(runtime: &'a R, instance: InstanceId, image: ImageRef) -> Self {
        Self { runtime, instance, image }
    }

    /// Kills and removes every container of the instance and of the foreigner that tests invent, their volumes, and
    /// the names that images were given.
    pub async fn clean(&self) {
        for instance in [self.instance.clone(), self.foreigner()] {
            self.clean_containers(&instance).await;
            let Outcome::Done(list) = self.runtime.list_volumes(&instance, AMPLE).await else { continue };
            for volume in list {
                let name = RuntimeName::parse(&volume.name).expect("tests give good names");
                let removed = self.runtime.remove_volume(&name, AMPLE).await;
                assert!(matches!(removed, Outcome::Done(()) | Outcome::Gone), "{removed:?}");
            }
        }
        let own = self.image_name("x");
        for name in self.image_names().await.iter().filter(|name| name.starts_with(own.name())) {
            let name = ImageRef::parse(name).expect("tests give good names");
            let removed = self.runtime.remove_image(&ImageTarget::Name(name), AMPLE).await;
            assert!(matches!(removed, Outcome::Done(()) | Outcome::Gone), "{removed:?}");
        }
    }

    async fn clean_containers(&self, instance: &InstanceId) {
        let Outcome::Done(list) = self.runtime.list(instance, AMPLE).await else { return };
        for container in list {
            let target = ContainerTarget::Id(container.id);
            // It may have ended, or gone, by itself.
            let _killed = self.runtime.kill(&target, Signal::Kill, AMPLE).await;
            let removed = self.runtime.remove(&target, AMPLE).await;
            assert!(matches!(removed, Outcome::Done(()) | Outcome::Gone), "{removed:?}");
        }
    }

    /// Another instance, whose containers are none of ours.
    fn foreigner(&self) -> InstanceId {
        let bits = u128::from_str_radix(self.instance.as_str(), 16).expect("an instance id is 32 hex digits");
        InstanceId::from_bits(!bits)
    }

    fn name(&self, name: &str) -> RuntimeName {
        let text = format!("lm-contract-{}-{name}", &self.instance.as_str()[..12]);
        RuntimeName::parse(&text).expect("letters, digits and dashes")
    }

    fn target(&self, name: &str) -> ContainerTarget {
        ContainerTarget::Name(self.name(name))
    }

    /// A container of the test program with these words, joined by blanks.
    fn request(&self, name: &str, words: &str) -> CreateRequest {
        CreateRequest {
            name: self.name(name),
            platform: None,
            config: ContainerConfig {
                cmd: Some(words.split_whitespace().map(str::to_owned).collect()),
                labels: BTreeMap::from([(labels::INSTANCE.into(), self.instance.to_string())]),
                ..ContainerConfig::new(self.image.clone())
            },
            host: HostConfig { cpu_shares: 2, ..HostConfig::default() },
        }
    }

    async fn create(&self, request: &CreateRequest) -> RuntimeId {
        match self.runtime.create(request, AMPLE).await {
            Outcome::Done(created) => created.id,
            other => panic!("create: {other:?}"),
        }
    }

    async fn start(&self, name: &str) -> Outcome<()> {
        self.runtime.start(&self.target(name), AMPLE).await
    }

    /// Makes and starts a container.
    async fn run(&self, name: &str, words: &str) -> RuntimeId {
        let id = self.create(&self.request(name, words)).await;
        assert_eq!(self.start(name).await, Outcome::Done(()));
        id
    }

    async fn facts(&self, name: &str) -> ContainerFacts {
        match self.runtime.inspect(&self.target(name), AMPLE).await {
            Outcome::Done(facts) => *facts,
            other => panic!("inspect: {other:?}"),
        }
    }

    async fn stop(&self, name: &str, grace: Duration) -> Outcome<()> {
        self.runtime.stop(&self.target(name), grace, grace + AMPLE).await
    }

    async fn kill(&self, name: &str, signal: Signal) -> Outcome<()> {
        self.runtime.kill(&self.target(name), signal, AMPLE).await
    }

    async fn remove(&self, name: &str) -> Outcome<()> {
        self.runtime.remove(&self.target(name), AMPLE).await
    }

    /// A watch that stands.
    async fn watch(&self, since: Option<Wall>) -> Watch {
        let mut items: Pin<Box<dyn Stream<Item = Watched> + Send>> =
            Box::pin(self.runtime.watch(&self.instance, since, AMPLE));
        match timeout(AMPLE, items.next()).await.expect("a watch opens within its limit") {
            Some(Watched::Opened) => Watch { items, seen: Vec::new() },
            other => panic!("not opened: {other:?}"),
        }
    }
}

/// An open watch and what it brought.
struct Watch {
    items: Pin<Box<dyn Stream<Item = Watched> + Send>>,
    seen: Vec<RuntimeEvent>,
}

impl Watch {
    /// Reads on until this has happened to the container.
    async fn until(&mut self, container: &RuntimeId, wanted: impl Fn(&EventAction) -> bool) -> &RuntimeEvent {
        let waiting = async {
            loop {
                match self.items.next().await {
                    Some(Watched::Event(event)) => {
                        let found = event.container == *container && wanted(&event.action);
                        self.seen.push(*event);
                        if found {
                            return;
                        }
                    }
                    other => panic!("the watch broke: {other:?}"),
                }
            }
        };
        timeout(AMPLE, waiting).await.expect("the event comes");
        self.seen.last().expect("one was just put there")
    }

    async fn until_ended(&mut self, container: &RuntimeId) {
        self.until(container, |action| matches!(action, EventAction::Die { .. })).await;
    }

    /// What happened to the container, in words.
    fn story(&self, container: &RuntimeId) -> Vec<String> {
        let of_it = self.seen.iter().filter(|event| event.container == *container);
        of_it.map(|event| word(&event.action)).collect()
    }
}

fn word(action: &EventAction) -> String {
    match action {
        EventAction::Create => "create".into(),
        EventAction::Start => "start".into(),
        EventAction::Die { exit_code: Some(code) } => format!("die {code}"),
        EventAction::Die { exit_code: None } => "die".into(),
        EventAction::Stop => "stop".into(),
        EventAction::Restart => "restart".into(),
        EventAction::Oom => "oom".into(),
        EventAction::Destroy => "destroy".into(),
        EventAction::HealthStatus(word) => word.clone(),
    }
}

/// The class of a refusal.
#[track_caller]
fn class<T: std::fmt::Debug>(outcome: &Outcome<T>) -> lighterman_calls::RefusalClass {
    match outcome {
        Outcome::Refused(refusal) => refusal.class,
        Outcome::Done(_) | Outcome::Gone | Outcome::Unknown(_) => panic!("not refused: {outcome:?}"),
    }
}

/// Makes a test of every rule of [`contract`](crate::contract).
///
/// `$with` is an async function that is given the rule, calls it with a [`Contract`], and cleans up afterwards; `$test` is
/// the attribute of each test.
///
/// ```
/// use lighterman_ids::InstanceId;
/// use lighterman_testkit::{FakeRuntime, contract::Contract};
///
/// async fn on_a_fake(rule: impl AsyncFnOnce(&Contract<'_, FakeRuntime>)) {
///     let engine = FakeRuntime::default();
///     let contract = Contract::new(&engine, InstanceId::from_bits(1), engine.add_testbox());
///     rule(&contract).await;
///     contract.clean().await;
/// }
///
/// lighterman_testkit::contract_tests!(on_a_fake, tokio::test(start_paused = true));
/// ```
#[macro_export]
macro_rules! contract_tests {
    ($with:path, $($test:tt)*) => {
        $crate::contract_tests! {
            @each $with, [$($test)*],
            ping_and_version
            an_image_is_looked_up
            create_start_inspect_stop_remove
            names_are_unique
            a_missing_image_is_not_found
            a_missing_command_fails_the_start
            start_is_idempotent_by_state
            stop_is_idempotent_by_state
            a_second_start_is_a_second_run
            gone_is_gone
            remove_of_running_is_conflict
            list_shows_only_own_instance
            published_ports_are_shown
            exit_code_is_reported
            stop_grace_then_kill
            a_handler_ends_a_stop_early
            kill_needs_a_running_container
            a_call_given_up_takes_its_course
            a_stop_during_a_start_waits_for_it
            events_arrive_in_order
            watch_since_replays
            a_watch_is_of_one_instance
            health_is_told_and_shown
            a_link_needs_a_running_container
            a_network_is_joined_while_its_container_runs
            processes_are_joined_and_end_together
            memory_is_joined_where_it_is_shareable
            mounts_come_from_another_container
            volumes_are_made_shown_and_removed
            a_volume_is_refused_that_cannot_be_made
            volumes_are_listed_by_instance
            a_volume_in_use_is_not_removed
            an_image_has_several_names
            logs_come_as_written
            logs_are_followed_to_the_end
            logs_of_nothing
        }
    };
    (@each $with:path, $test:tt, $($rule:ident)*) => {
        $($crate::contract_tests! { @one $with, $test, $rule })*
    };
    (@one $with:path, [$($test:tt)*], $rule:ident) => {
        #[$($test)*]
        async fn $rule() {
            $with(async |contract| $crate::contract::$rule(contract).await).await;
        }
    };
}
