//! What containers need of each other, of volumes and of images.

use std::collections::BTreeMap;

use lighterman_calls::{
    Answer, ContainerTarget, CreateRequest, ImageTarget, IpcMode, Link, Mount, MountSource, NetworkMode, Outcome,
    Phase, PidMode, RefusalClass, Request, VolumeFacts, VolumeRequest, VolumesFrom,
};
use lighterman_ids::{ImageRef, RuntimeName};
use lighterman_runtime_model::{Failure, LocalImage, Source};

use crate::rig::{Rig, container, image_id, named, refusal, secs, testbox};

type Change = fn(&mut CreateRequest);

fn name(text: &str) -> RuntimeName {
    RuntimeName::parse(text).expect("a good name")
}

fn reference(text: &str) -> ImageRef {
    ImageRef::parse(text).expect("a good reference")
}

fn create_refused(rig: &mut Rig, request: CreateRequest) -> (RefusalClass, String) {
    match rig.call(Request::Create(Box::new(request))) {
        Answer::Create(outcome) => refusal(outcome),
        other => panic!("{other:?}"),
    }
}

fn remove_image(rig: &mut Rig, image: ImageTarget) -> Outcome<()> {
    match rig.call(Request::RemoveImage(image)) {
        Answer::RemoveImage(outcome) => outcome,
        other => panic!("{other:?}"),
    }
}

fn make_volume(rig: &mut Rig, volume: &str, driver: &str) -> Outcome<Box<VolumeFacts>> {
    let request =
        VolumeRequest { name: name(volume), driver: driver.into(), options: BTreeMap::new(), labels: BTreeMap::new() };
    match rig.call(Request::CreateVolume(request)) {
        Answer::CreateVolume(outcome) => outcome,
        other => panic!("{other:?}"),
    }
}

fn remove_volume(rig: &mut Rig, volume: &str) -> Outcome<()> {
    match rig.call(Request::RemoveVolume(name(volume))) {
        Answer::RemoveVolume(outcome) => outcome,
        other => panic!("{other:?}"),
    }
}

fn with_volume(of: &str) -> CreateRequest {
    let mut request = container(of, "sleep 9");
    request.host.binds =
        vec![Mount { source: MountSource::Volume(name("data")), target: "/data".into(), read_only: false }];
    request
}

#[test]
fn a_create_looks_at_the_request_then_at_the_image_then_at_the_rest() {
    let rows: [(Change, &str); 4] = [
        (|r| r.host.memory = Some(1), "Minimum memory limit allowed is 6MB"),
        (|r| r.host.pid_mode = Some(PidMode::Container(named("nobody"))), "No such container: nobody"),
        (
            |r| r.host.volumes_from = vec![VolumesFrom { container: named("nobody"), read_only: false }],
            "No such image: nope:1",
        ),
        (|r| r.host.links = vec![Link { container: named("nobody"), alias: "n".into() }], "No such image: nope:1"),
    ];
    for (change, expected) in rows {
        let mut rig = Rig::new();
        let mut request = container("web", "exit 0");
        request.config.image = reference("nope:1");
        change(&mut request);
        assert_eq!(create_refused(&mut rig, request).1, expected);
    }
    // With the image there, the name comes before volumes and links.
    let mut rig = Rig::new();
    rig.create(container("web", "exit 0"));
    let mut request = container("web", "exit 0");
    request.host.links = vec![Link { container: named("nobody"), alias: "n".into() }];
    assert_eq!(create_refused(&mut rig, request.clone()).0, RefusalClass::NameInUse);
    request.name = name("other");
    request.host.volumes_from = vec![VolumesFrom { container: named("nobody"), read_only: false }];
    assert_eq!(create_refused(&mut rig, request.clone()).1, "No such container: nobody");
    request.host.volumes_from.clear();
    let words = "could not get container for nobody: No such container: nobody";
    assert_eq!(create_refused(&mut rig, request), (RefusalClass::NotFound, words.into()));
}

#[test]
fn a_start_looks_at_networks_then_the_user_then_memory_then_processes_then_volumes() {
    let mut rig = Rig::new();
    let pause = rig.create(container("pause", "sleep 9"));
    let mut all = container("all", "sleep 9");
    all.config.user = Some("somebody".into());
    all.host.network_mode = Some(NetworkMode::Container(named("pause")));
    all.host.ipc_mode = Some(IpcMode::Container(named("pause")));
    all.host.pid_mode = Some(PidMode::Container(named("pause")));
    all.host.volumes_from = vec![VolumesFrom { container: named("store"), read_only: false }];
    let steps: [(Change, &str); 5] = [
        (|_| (), "cannot join network of a non running container: <pause>"),
        (|r| r.host.network_mode = None, "unable to find user somebody: no matching entries in passwd file"),
        (|r| r.config.user = None, "can't join IPC of container <pause>: container <pause> is not running"),
        (|r| r.host.ipc_mode = None, "container <pause> is not running"),
        (|r| r.host.pid_mode = None, "get data: no such volume"),
    ];
    for (change, expected) in steps {
        change(&mut all);
        rig.create(with_volume("store"));
        rig.create(all.clone());
        assert!(rig.remove("store").is_done());
        assert!(remove_volume(&mut rig, "data").is_done());
        assert_eq!(refusal(rig.start("all")).1.replace(pause.as_str(), "<pause>"), expected);
        assert!(rig.remove("all").is_done());
    }
}

#[test]
fn what_was_named_at_create_is_that_container_for_ever() {
    let mut rig = Rig::new();
    let first = rig.create(container("pause", "sleep 9"));
    let mut app = container("app", "sleep 9");
    app.host.pid_mode = Some(PidMode::Container(named("pause")));
    rig.create(app);
    assert!(rig.remove("pause").is_done());
    rig.run(container("pause", "sleep 9"));
    let words = format!("cannot join PID of a non running container: {first}: No such container: {first}");
    assert_eq!(refusal(rig.start("app")), (RefusalClass::PeerFault, words));
    // Only a network may come to be later.
    let mut late = container("late", "sleep 9");
    late.host.network_mode = Some(NetworkMode::Container(named("later")));
    rig.create(late);
    assert_eq!(refusal(rig.start("late")), (RefusalClass::NotFound, "No such container: later".into()));
    rig.run(container("later", "sleep 9"));
    assert!(rig.start("late").is_done());
    let mut own = container("own", "sleep 9");
    own.host.network_mode = Some(NetworkMode::Container(named("own")));
    rig.create(own);
    assert_eq!(refusal(rig.start("own")), (RefusalClass::PeerFault, "cannot join own network".into()));
}

#[test]
fn a_namespace_ends_with_its_first_process_also_while_the_engine_is_away() {
    for away in [false, true] {
        let mut rig = Rig::new();
        rig.run(container("pause", "sleep 5 + exit 3"));
        for app in ["one", "two"] {
            let mut request = container(app, "ignore-term");
            request.host.pid_mode = Some(PidMode::Container(named("pause")));
            rig.run(request);
        }
        if away {
            rig.model.restart_engine(rig.now, Failure::Crash, secs(9));
        }
        rig.pass(secs(20));
        assert_eq!(rig.inspect("pause").phase, Phase::Exited { code: Some(3) });
        for app in ["one", "two"] {
            assert_eq!(rig.inspect(app).phase, Phase::Exited { code: Some(137) });
        }
    }
}

#[test]
fn a_refused_create_can_leave_a_volume() {
    let mut rig = Rig::new();
    let mut request = with_volume("web");
    request.host.tmpfs = BTreeMap::from([("/data".into(), String::new())]);
    let twice = (RefusalClass::Invalid, "Duplicate mount point: /data".into());
    assert_eq!(create_refused(&mut rig, request), twice);
    assert_eq!(rig.model.volumes().len(), 0, "a tmpfs is met before the volume is made");
    let mut request = with_volume("web");
    request.host.mounts = request.host.binds.clone();
    assert_eq!(create_refused(&mut rig, request), twice);
    assert_eq!(rig.model.volumes().len(), 1);
    assert_eq!(remove_volume(&mut rig, "data"), Outcome::Done(()));
}

#[test]
fn a_driver_that_is_not_there_is_looked_for_long() {
    let mut rig = Rig::new();
    assert!(make_volume(&mut rig, "data", "local").is_done());
    let begun = rig.now.mono;
    // Also when a volume of another driver has the name.
    let words = "create data: error looking up volume plugin nope: plugin \"nope\" not found";
    assert_eq!(refusal(make_volume(&mut rig, "data", "nope")), (RefusalClass::NotFound, words.into()));
    assert!(rig.now.mono.since(begun) >= secs(15));
}

#[test]
fn volumes_outlive_engine_and_containers() {
    let mut rig = Rig::new();
    rig.run(with_volume("web"));
    rig.model.restart_engine(rig.now, Failure::PowerCut, secs(1));
    rig.pass(secs(30));
    assert_eq!(refusal(remove_volume(&mut rig, "data")).0, RefusalClass::Conflict);
    assert!(rig.remove("web").is_done());
    assert_eq!(rig.model.volumes().len(), 1);
    assert_eq!(remove_volume(&mut rig, "data"), Outcome::Done(()));
}

#[test]
fn b064_an_image_that_a_container_uses_keeps_its_last_name() {
    let mut rig = Rig::new();
    let user = rig.create(container("web", "sleep 9"));
    let by_id = ImageTarget::Id(image_id('a'));
    let (image, short) = ("a".repeat(12), user.short().to_string());
    let words = format!(
        "conflict: unable to remove repository reference \"lighterman/testbox:1\" (must force) - container {short} is \
         using its referenced image {image}"
    );
    let by_name = ImageTarget::Name(testbox());
    assert_eq!(refusal(remove_image(&mut rig, by_name.clone())), (RefusalClass::Conflict, words));
    let stopped = refusal(remove_image(&mut rig, by_id.clone())).1;
    let words =
        format!("conflict: unable to delete {image} (must be forced) - image is being used by stopped container ");
    assert_eq!(stopped, words + &short);
    assert!(rig.start("web").is_done());
    let running = refusal(remove_image(&mut rig, by_id.clone())).1;
    let words =
        format!("conflict: unable to delete {image} (cannot be forced) - image is being used by running container ");
    assert_eq!(running, words + &short);

    let tag = Request::TagImage { image: by_id.clone(), tag: reference("other:1") };
    assert_eq!(rig.call(tag), Answer::TagImage(Outcome::Done(())));
    // A container that runs is told of first, then the names.
    assert_eq!(refusal(remove_image(&mut rig, by_id.clone())).1, running);
    assert!(rig.stop("web", secs(0)).is_done());
    let words =
        format!("conflict: unable to delete {image} (must be forced) - image is referenced in multiple repositories");
    assert_eq!(refusal(remove_image(&mut rig, by_id.clone())).1, words);
    assert_eq!(remove_image(&mut rig, by_name), Outcome::Done(()));
    assert!(rig.remove("web").is_done());
    assert_eq!(remove_image(&mut rig, by_id.clone()), Outcome::Done(()));
    assert_eq!(remove_image(&mut rig, by_id), Outcome::Gone);
    assert_eq!(remove_image(&mut rig, ImageTarget::Name(reference("other:1"))), Outcome::Gone);
}

#[test]
fn a_registry_tells_a_digest_without_bringing_the_image() {
    let mut rig = Rig::new();
    let web = reference("web:1");
    let ask = |rig: &mut Rig| match rig.call(Request::ResolveDigest(web.clone())) {
        Answer::ResolveDigest(outcome) => outcome,
        other => panic!("{other:?}"),
    };
    assert_eq!(refusal(ask(&mut rig)).0, RefusalClass::NotFound);
    let mut image = LocalImage::testbox(image_id('b'));
    image.repo_digests = vec![format!("web@sha256:{}", "c".repeat(64))];
    rig.model.set_source(&web, Source::Available { image: Box::new(image), layers: 1, takes: secs(1) });
    let Outcome::Done(remote) = ask(&mut rig) else { panic!() };
    assert_eq!(remote.digest.as_str(), format!("sha256:{}", "c".repeat(64)));
    assert_eq!(rig.call(Request::InspectImage(web)), Answer::InspectImage(Outcome::Gone));
}

#[test]
fn ports_published_in_the_network_of_the_host_are_warned_of() {
    use lighterman_calls::{PortBinding, PortKey, Protocol};
    let mut rig = Rig::new();
    let mut request = container("web", "exit 0");
    let key = PortKey { port: 80, protocol: Protocol::Tcp };
    request.config.exposed_ports = vec![key];
    request.host.port_bindings = vec![(key, PortBinding::default())];
    request.host.network_mode = Some(NetworkMode::Host);
    let Answer::Create(Outcome::Done(created)) = rig.call(Request::Create(Box::new(request))) else { panic!() };
    assert_eq!(created.warnings, ["Published ports are discarded when using host network mode"]);
    assert!(rig.start("web").is_done());
    assert!(rig.model.facts(&ContainerTarget::Id(created.id)).unwrap().ports.is_empty());
}
