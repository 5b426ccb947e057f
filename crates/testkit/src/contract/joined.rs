//! Containers that need each other: links, volumes, networks and namespaces.

use std::time::Duration;

use lighterman_calls::{
    IpcMode, Link, NetworkMode, Outcome, Phase, PidMode, PortKey, Protocol, RefusalClass, Signal, VolumesFrom,
};
use lighterman_contracts::{ContainerRuntime, LogSource};

use super::{AMPLE, Contract, class};

/// A container that is linked to must be there at create and run at start; another one of its name is not it.
///
/// # Panics
/// The rule is broken.
pub async fn a_link_needs_a_running_container<R: ContainerRuntime + LogSource>(contract: &Contract<'_, R>) {
    let mut web = contract.request("web", "sleep 600");
    web.host.links = vec![Link { container: contract.target("store"), alias: "s".into() }];
    assert_eq!(class(&contract.runtime.create(&web, AMPLE).await), RefusalClass::NotFound);
    // A refused create takes no name.
    contract.create(&contract.request("store", "sleep 600")).await;
    contract.create(&web).await;
    let outcome = contract.start("web").await;
    let Outcome::Refused(refusal) = outcome else { panic!("{outcome:?} must be refused") };
    let (store, name) = (contract.name("store"), contract.name("web"));
    let words = format!("Cannot link to a non running container: /{store} AS /{name}/s");
    assert_eq!((refusal.class, refusal.text), (RefusalClass::PeerFault, words));
    assert_eq!(contract.facts("web").await.phase, Phase::Exited { code: None });
    assert_eq!(contract.start("store").await, Outcome::Done(()));
    assert_eq!(contract.start("web").await, Outcome::Done(()));
    // It runs on without it, and is not started again without it.
    for name in ["store", "web"] {
        assert_eq!(contract.kill(name, Signal::Kill).await, Outcome::Done(()));
    }
    assert_eq!(contract.remove("store").await, Outcome::Done(()));
    contract.run("store", "sleep 600").await;
    assert_eq!(class(&contract.start("web").await), RefusalClass::PeerFault);
}

/// A network is joined at start: its container must be there then, and run.
///
/// # Panics
/// The rule is broken.
pub async fn a_network_is_joined_while_its_container_runs<R: ContainerRuntime + LogSource>(contract: &Contract<'_, R>) {
    let joining = |name: &str| {
        let mut request = contract.request(name, "sleep 600");
        request.host.network_mode = Some(NetworkMode::Container(contract.target("pause")));
        request
    };
    contract.create(&joining("early")).await;
    assert_eq!(class(&contract.start("early").await), RefusalClass::NotFound);
    let pause = contract.create(&contract.request("pause", "sleep 600")).await;
    contract.create(&joining("app")).await;
    let outcome = contract.start("app").await;
    let Outcome::Refused(refusal) = outcome else { panic!("{outcome:?} must be refused") };
    let words = format!("cannot join network of a non running container: {pause}");
    assert_eq!((refusal.class, refusal.text), (RefusalClass::Conflict, words));
    assert_eq!(contract.start("pause").await, Outcome::Done(()));
    assert_eq!(contract.start("app").await, Outcome::Done(()));
    // What has not been there at create is found by its name.
    assert_eq!(contract.start("early").await, Outcome::Done(()));
    assert_eq!(contract.kill("pause", Signal::Kill).await, Outcome::Done(()));
    assert_eq!(contract.facts("app").await.phase, Phase::Running);

    let mut named = joining("named");
    named.config.hostname = Some("own".into());
    let mut linked = joining("linked");
    linked.host.links = vec![Link { container: contract.target("pause"), alias: "p".into() }];
    let mut exposed = joining("exposed");
    exposed.config.exposed_ports = vec![PortKey { port: 80, protocol: Protocol::Tcp }];
    let mut resolved = joining("resolved");
    resolved.host.dns = vec!["10.0.0.1".into()];
    for request in [named, linked, exposed, resolved] {
        assert_eq!(class(&contract.runtime.create(&request, AMPLE).await), RefusalClass::Invalid);
    }
}

/// Processes are joined at start, and end with those of the container they have joined.
///
/// # Panics
/// The rule is broken.
pub async fn processes_are_joined_and_end_together<R: ContainerRuntime + LogSource>(contract: &Contract<'_, R>) {
    let mut app = contract.request("app", "sleep 600");
    app.host.pid_mode = Some(PidMode::Container(contract.target("pause")));
    assert_eq!(class(&contract.runtime.create(&app, AMPLE).await), RefusalClass::NotFound);
    contract.create(&contract.request("pause", "sleep 600")).await;
    contract.create(&app).await;
    assert_eq!(class(&contract.start("app").await), RefusalClass::PeerFault);
    assert_eq!(contract.start("pause").await, Outcome::Done(()));
    assert_eq!(contract.start("app").await, Outcome::Done(()));
    // It is not the first process there, so the stop signal ends it although it does not handle it.
    assert_eq!(contract.stop("app", Duration::from_secs(30)).await, Outcome::Done(()));
    assert_eq!(contract.facts("app").await.phase, Phase::Exited { code: Some(143) });
    let mut watch = contract.watch(None).await;
    assert_eq!(contract.start("app").await, Outcome::Done(()));
    let id = contract.facts("app").await.id;
    assert_eq!(contract.kill("pause", Signal::Kill).await, Outcome::Done(()));
    watch.until_ended(&id).await;
    assert_eq!(contract.facts("app").await.phase, Phase::Exited { code: Some(137) });
}

/// Shared memory is joined at start, where the container that has it lets others in.
///
/// # Panics
/// The rule is broken.
pub async fn memory_is_joined_where_it_is_shareable<R: ContainerRuntime + LogSource>(contract: &Contract<'_, R>) {
    let joining = |name: &str, owner: &str| {
        let mut request = contract.request(name, "sleep 600");
        request.host.ipc_mode = Some(IpcMode::Container(contract.target(owner)));
        request
    };
    assert_eq!(class(&contract.runtime.create(&joining("app", "pause"), AMPLE).await), RefusalClass::NotFound);
    let mut pause = contract.request("pause", "sleep 600");
    pause.host.ipc_mode = Some(IpcMode::Shareable);
    contract.create(&pause).await;
    contract.create(&joining("app", "pause")).await;
    let started = contract.start("app").await;
    assert_eq!(class(&started), RefusalClass::PeerFault);
    assert_eq!(contract.start("pause").await, Outcome::Done(()));
    assert_eq!(contract.start("app").await, Outcome::Done(()));
    let closed = contract.run("closed", "sleep 600").await;
    contract.create(&joining("outside", "closed")).await;
    let outcome = contract.start("outside").await;
    let Outcome::Refused(refusal) = outcome else { panic!("{outcome:?} must be refused") };
    let words = format!(
        "can't join IPC of container {closed}: non-shareable IPC (hint: use IpcMode:shareable for the donor container)"
    );
    assert_eq!((refusal.class, refusal.text), (RefusalClass::PeerFault, words));
}

/// Mounts are taken from a container that is there, running or not. Until a start has mounted them, they keep
/// nothing from being removed.
///
/// # Panics
/// The rule is broken.
pub async fn mounts_come_from_another_container<R: ContainerRuntime + LogSource>(contract: &Contract<'_, R>) {
    let taking = |name: &str| {
        let mut request = contract.request(name, "sleep 600");
        request.host.volumes_from = vec![VolumesFrom { container: contract.target("store"), read_only: true }];
        request
    };
    assert_eq!(class(&contract.runtime.create(&taking("web"), AMPLE).await), RefusalClass::NotFound);
    contract.make_volume("data").await;
    let mut store = contract.request("store", "exit 0");
    store.host.binds = vec![contract.mounted("data")];
    contract.create(&store).await;
    contract.create(&taking("web")).await;
    contract.create(&taking("late")).await;
    assert_eq!(contract.start("web").await, Outcome::Done(()));
    assert_eq!(contract.remove("store").await, Outcome::Done(()));
    assert_eq!(class(&contract.remove_volume("data").await), RefusalClass::Conflict);
    assert_eq!(contract.kill("web", Signal::Kill).await, Outcome::Done(()));
    assert_eq!(contract.remove("web").await, Outcome::Done(()));
    assert_eq!(contract.remove_volume("data").await, Outcome::Done(()));
    let outcome = contract.start("late").await;
    let Outcome::Refused(refusal) = outcome else { panic!("{outcome:?} must be refused") };
    let words = format!("get {}: no such volume", contract.name("data"));
    assert_eq!((refusal.class, refusal.text), (RefusalClass::NotFound, words));
}
