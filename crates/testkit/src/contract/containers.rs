//! Making, starting, looking at and removing containers.

use std::time::Duration;

use lighterman_calls::{ContainerTarget, Outcome, Phase, PortBinding, PortKey, Protocol, RefusalClass, Signal, labels};
use lighterman_contracts::{ContainerRuntime, LogSource};
use lighterman_ids::{ImageRef, RuntimeId};

use super::{AMPLE, Contract, class};

/// It answers, and speaks a version.
///
/// # Panics
/// The rule is broken.
pub async fn ping_and_version<R: ContainerRuntime + LogSource>(contract: &Contract<'_, R>) {
    assert_eq!(contract.runtime.ping(AMPLE).await, Outcome::Done(()));
    let Outcome::Done(version) = contract.runtime.version(AMPLE).await else { panic!("no version") };
    let number = |text: &str| text.split_once('.').and_then(|(one, two)| Some((one.parse().ok()?, two.parse().ok()?)));
    let api: (u32, u32) = number(&version.api_version).expect("two numbers");
    assert!(api >= (1, 41), "{api:?}");
}

/// An image that is there is described, one that is not is gone.
///
/// # Panics
/// The rule is broken.
pub async fn an_image_is_looked_up<R: ContainerRuntime + LogSource>(contract: &Contract<'_, R>) {
    let Outcome::Done(facts) = contract.runtime.inspect_image(&contract.image, AMPLE).await else {
        panic!("the image is there");
    };
    assert!(facts.id.as_str().starts_with("sha256:"));
    let nope = ImageRef::parse("lighterman/nope:none").expect("a good reference");
    assert_eq!(contract.runtime.inspect_image(&nope, AMPLE).await.map(|_| ()), Outcome::Gone);
}

/// The life of a container, looked at after each step.
///
/// # Panics
/// The rule is broken.
pub async fn create_start_inspect_stop_remove<R: ContainerRuntime + LogSource>(contract: &Contract<'_, R>) {
    let id = contract.create(&contract.request("life", "on-term 3")).await;
    let created = contract.facts("life").await;
    assert_eq!((&created.id, &created.name), (&id, &contract.name("life")));
    assert_eq!((created.phase, created.started_at, created.finished_at), (Phase::Created, None, None));
    assert_eq!(created.labels.get(labels::INSTANCE).map(String::as_str), Some(contract.instance.as_str()));

    assert_eq!(contract.start("life").await, Outcome::Done(()));
    let running = contract.facts("life").await;
    assert_eq!((running.phase, running.health, &*running.error), (Phase::Running, None, ""));
    assert!(running.started_at >= created.created_at);

    assert_eq!(contract.stop("life", Duration::from_secs(30)).await, Outcome::Done(()));
    let ended = contract.facts("life").await;
    assert_eq!((ended.phase, ended.oom_killed), (Phase::Exited { code: Some(3) }, false));
    assert_eq!(ended.started_at, running.started_at);
    assert!(ended.finished_at > ended.started_at);

    assert_eq!(contract.remove("life").await, Outcome::Done(()));
    let target = ContainerTarget::Id(id);
    assert_eq!(contract.runtime.inspect(&target, AMPLE).await.map(|_| ()), Outcome::Gone);
}

/// A name belongs to one container, until that is removed.
///
/// # Panics
/// The rule is broken.
pub async fn names_are_unique<R: ContainerRuntime + LogSource>(contract: &Contract<'_, R>) {
    let request = contract.request("name", "exit 0");
    let first = contract.create(&request).await;
    let second = contract.runtime.create(&request, AMPLE).await;
    assert_eq!(class(&second), RefusalClass::NameInUse);
    assert_eq!(contract.facts("name").await.id, first);
    assert_eq!(contract.remove("name").await, Outcome::Done(()));
    assert_ne!(contract.create(&request).await, first);
}

/// A create from an image that is not there is refused, and takes no name.
///
/// # Panics
/// The rule is broken.
pub async fn a_missing_image_is_not_found<R: ContainerRuntime + LogSource>(contract: &Contract<'_, R>) {
    let mut request = contract.request("image", "exit 0");
    request.config.image = ImageRef::parse("lighterman/nope:none").expect("a good reference");
    let outcome = contract.runtime.create(&request, AMPLE).await;
    assert_eq!(class(&outcome), RefusalClass::NotFound);
    let Outcome::Refused(refusal) = outcome else { unreachable!("it was just looked at") };
    assert_eq!(refusal.text, "No such image: lighterman/nope:none");
    let found = contract.runtime.inspect(&contract.target("image"), AMPLE).await;
    assert_eq!(found.map(|_| ()), Outcome::Gone);
}

/// A start whose command is missing is refused; the container shows why, and that it never ran.
///
/// # Panics
/// The rule is broken.
pub async fn a_missing_command_fails_the_start<R: ContainerRuntime + LogSource>(contract: &Contract<'_, R>) {
    let mut request = contract.request("command", "");
    request.config.entrypoint = Some(vec!["/nope".into()]);
    contract.create(&request).await;
    let outcome = contract.start("command").await;
    assert_eq!(class(&outcome), RefusalClass::Invalid);
    let facts = contract.facts("command").await;
    assert_eq!((facts.phase, facts.started_at), (Phase::Exited { code: None }, None));
    assert!(facts.error.contains("/nope"), "{}", facts.error);
    assert_eq!(contract.remove("command").await, Outcome::Done(()));
}

/// Starting what runs is done, and starts nothing.
///
/// # Panics
/// The rule is broken.
pub async fn start_is_idempotent_by_state<R: ContainerRuntime + LogSource>(contract: &Contract<'_, R>) {
    contract.run("twice", "sleep 600").await;
    let first = contract.facts("twice").await;
    assert_eq!(contract.start("twice").await, Outcome::Done(()));
    assert_eq!(contract.facts("twice").await, first);
}

/// Stopping what does not run is done, whether it ever ran or not.
///
/// # Panics
/// The rule is broken.
pub async fn stop_is_idempotent_by_state<R: ContainerRuntime + LogSource>(contract: &Contract<'_, R>) {
    contract.create(&contract.request("idle", "sleep 600")).await;
    assert_eq!(contract.stop("idle", Duration::from_secs(1)).await, Outcome::Done(()));
    assert_eq!(contract.facts("idle").await.phase, Phase::Created);
    assert_eq!(contract.start("idle").await, Outcome::Done(()));
    assert_eq!(contract.kill("idle", Signal::Kill).await, Outcome::Done(()));
    assert_eq!(contract.stop("idle", Duration::from_secs(1)).await, Outcome::Done(()));
}

/// A container that ended can be started again: another start time, and the old exit code is gone meanwhile.
///
/// # Panics
/// The rule is broken.
pub async fn a_second_start_is_a_second_run<R: ContainerRuntime + LogSource>(contract: &Contract<'_, R>) {
    contract.run("again", "on-term 4").await;
    contract.stop("again", Duration::from_secs(30)).await;
    let first = contract.facts("again").await;
    assert_eq!(contract.start("again").await, Outcome::Done(()));
    let second = contract.facts("again").await;
    assert_eq!(second.phase, Phase::Running);
    assert!(second.started_at > first.finished_at);
    assert_eq!(second.id, first.id);
}

/// No call makes anything of a container that does not exist, by name or by id.
///
/// # Panics
/// The rule is broken.
pub async fn gone_is_gone<R: ContainerRuntime + LogSource>(contract: &Contract<'_, R>) {
    let id = RuntimeId::parse(&"0123456789abcdef".repeat(4)).expect("a good id");
    for target in [contract.target("gone"), ContainerTarget::Id(id)] {
        let runtime = contract.runtime;
        assert_eq!(runtime.inspect(&target, AMPLE).await.map(|_| ()), Outcome::Gone);
        assert_eq!(runtime.start(&target, AMPLE).await, Outcome::Gone);
        assert_eq!(runtime.stop(&target, Duration::from_secs(1), AMPLE).await, Outcome::Gone);
        assert_eq!(runtime.kill(&target, Signal::Kill, AMPLE).await, Outcome::Gone);
        assert_eq!(runtime.remove(&target, AMPLE).await, Outcome::Gone);
    }
}

/// What runs is not removed.
///
/// # Panics
/// The rule is broken.
pub async fn remove_of_running_is_conflict<R: ContainerRuntime + LogSource>(contract: &Contract<'_, R>) {
    contract.run("busy", "sleep 600").await;
    assert_eq!(class(&contract.remove("busy").await), RefusalClass::Conflict);
    assert_eq!(contract.facts("busy").await.phase, Phase::Running);
    assert_eq!(contract.kill("busy", Signal::Kill).await, Outcome::Done(()));
    assert_eq!(contract.remove("busy").await, Outcome::Done(()));
}

/// A list shows all containers of the instance, running or not, and no others.
///
/// # Panics
/// The rule is broken.
pub async fn list_shows_only_own_instance<R: ContainerRuntime + LogSource>(contract: &Contract<'_, R>) {
    contract.create(&contract.request("idle", "exit 0")).await;
    contract.run("busy", "sleep 600").await;
    let mut foreign = contract.request("foreign", "exit 0");
    foreign.config.labels.insert(labels::INSTANCE.into(), contract.foreigner().to_string());
    contract.create(&foreign).await;
    let Outcome::Done(list) = contract.runtime.list(&contract.instance, AMPLE).await else { panic!("no list") };
    let mut seen: Vec<_> = list.iter().map(|line| (line.name.clone(), line.running)).collect();
    seen.sort();
    assert_eq!(seen, [(contract.name("busy"), true), (contract.name("idle"), false)]);
    assert_eq!(list[0].labels.get(labels::INSTANCE).map(String::as_str), Some(contract.instance.as_str()));
}

/// A port that is bound is shown while the container runs, on an address of each family; two cannot have it.
///
/// # Panics
/// The rule is broken.
pub async fn published_ports_are_shown<R: ContainerRuntime + LogSource>(contract: &Contract<'_, R>) {
    let key = PortKey { port: 80, protocol: Protocol::Tcp };
    let with_port = |name: &str, host_port| {
        let mut request = contract.request(name, "sleep 600");
        request.config.exposed_ports = vec![key];
        request.host.port_bindings = vec![(key, PortBinding { host_ip: Some("127.0.0.1".into()), host_port })];
        request
    };
    contract.create(&with_port("one", None)).await;
    assert_eq!(contract.facts("one").await.ports, []);
    assert_eq!(contract.start("one").await, Outcome::Done(()));
    let ports = contract.facts("one").await.ports;
    assert_eq!(ports.len(), 1);
    assert_eq!((ports[0].container, &*ports[0].host_ip), (key, "127.0.0.1"));
    assert_ne!(ports[0].host_port, 0);

    contract.create(&with_port("two", Some(ports[0].host_port))).await;
    assert_eq!(class(&contract.start("two").await), RefusalClass::PeerFault);
    let facts = contract.facts("two").await;
    assert_eq!(facts.phase, Phase::Exited { code: None });
    assert!(facts.error.contains("port is already allocated"), "{}", facts.error);
}
