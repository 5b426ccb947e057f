//! From create to remove, and what each call says when it comes twice, too early or too late.

use std::time::Duration;

use lighterman_calls::{
    ContainerTarget, NetworkMode, Outcome, Phase, PortBinding, PortKey, Protocol, RefusalClass, Signal, labels,
};
use lighterman_contracts::ContainerRuntime;
use lighterman_docker_tests::{AMPLE, on_engine};
use lighterman_ids::{ImageRef, RuntimeId};

/// The class of a refusal.
#[track_caller]
pub(crate) fn refused<T: std::fmt::Debug>(outcome: Outcome<T>) -> (RefusalClass, String) {
    match outcome {
        Outcome::Refused(refusal) => (refusal.class, refusal.text),
        other @ (Outcome::Done(_) | Outcome::Gone | Outcome::Unknown(_)) => panic!("{other:?} must be refused"),
    }
}

#[tokio::test]
async fn a_container_goes_through_its_life() {
    on_engine(async |fixture| {
        let docker = fixture.docker();
        let request = fixture.request("life", &["trap", "7", "+", "print", "ready", "+", "on-term", "7"]);
        let container = fixture.create(&request).await;

        let made = fixture.facts(&container).await;
        assert_eq!((made.phase, made.started_at, made.finished_at), (Phase::Created, None, None));
        assert_eq!((&made.name, ContainerTarget::Id(made.id)), (&request.name, container.clone()));
        assert!(made.created_at.is_some() && made.image.is_some() && made.health.is_none());
        assert_eq!(made.labels, request.config.labels);

        for _ in 0..2 {
            // A second start finds it running: that is success (304).
            assert_eq!(docker.start(&container, AMPLE).await, Outcome::Done(()));
        }
        fixture.until_said(&container, "ready").await;
        let running = fixture.facts(&container).await;
        assert_eq!((running.phase, running.finished_at, running.error.as_str()), (Phase::Running, None, ""));
        assert!(running.started_at > running.created_at);
        let (class, text) = refused(docker.remove(&container, AMPLE).await);
        assert_eq!(class, RefusalClass::Conflict, "{text}");

        for _ in 0..2 {
            assert_eq!(docker.stop(&container, Duration::from_secs(30), AMPLE).await, Outcome::Done(()));
        }
        let ended = fixture.facts(&container).await;
        assert_eq!(ended.phase, Phase::Exited { code: Some(7) });
        assert!(ended.finished_at > ended.started_at && !ended.oom_killed);
        let (class, text) = refused(docker.kill(&container, Signal::Kill, AMPLE).await);
        assert_eq!(class, RefusalClass::Conflict, "{text}");

        assert_eq!(docker.remove(&container, AMPLE).await, Outcome::Done(()));
        for outcome in [
            docker.start(&container, AMPLE).await,
            docker.stop(&container, Duration::ZERO, AMPLE).await,
            docker.kill(&container, Signal::Term, AMPLE).await,
            docker.remove(&container, AMPLE).await,
            docker.inspect(&container, AMPLE).await.map(drop),
            docker.inspect(&ContainerTarget::Name(request.name.clone()), AMPLE).await.map(drop),
        ] {
            assert_eq!(outcome, Outcome::Gone);
        }
    })
    .await;
}

#[tokio::test]
async fn a_name_in_use_is_told_from_other_conflicts() {
    on_engine(async |fixture| {
        let request = fixture.request("twice", &["exit", "0"]);
        let container = fixture.create(&request).await;
        let (class, text) = refused(fixture.docker().create(&request, AMPLE).await);
        assert_eq!(class, RefusalClass::NameInUse, "{text}");
        // What has the name can be found by it.
        let found = fixture.facts(&ContainerTarget::Name(request.name.clone())).await;
        assert_eq!(ContainerTarget::Id(found.id), container);

        // Joining the network of a container that does not run is another 409.
        let mut joining = fixture.request("joining", &["exit", "0"]);
        joining.host.network_mode = Some(NetworkMode::Container(container.clone()));
        let joining = fixture.create(&joining).await;
        let (class, text) = refused(fixture.docker().start(&joining, AMPLE).await);
        assert_eq!(class, RefusalClass::Conflict, "{text}");
    })
    .await;
}

#[tokio::test]
async fn what_is_missing_is_told_from_what_is_gone() {
    on_engine(async |fixture| {
        let docker = fixture.docker();
        let absent = ImageRef::parse("lighterman/absent:1").unwrap();
        let mut request = fixture.request("missing", &["exit", "0"]);
        request.config.image = absent.clone();
        let (class, text) = refused(docker.create(&request, AMPLE).await);
        assert_eq!(class, RefusalClass::NotFound, "{text}");
        assert_eq!(docker.inspect_image(&absent, AMPLE).await, Outcome::Gone);
        let nobody = ContainerTarget::Id(RuntimeId::parse(&"f".repeat(64)).unwrap());
        assert_eq!(docker.start(&nobody, AMPLE).await, Outcome::Gone);

        // The network of a container that has gone is missing; the container itself is not.
        let mut joining = fixture.request("joining", &["exit", "0"]);
        joining.host.network_mode = Some(NetworkMode::Container(nobody.clone()));
        match docker.create(&joining, AMPLE).await {
            Outcome::Done(created) => {
                let (class, text) = refused(docker.start(&ContainerTarget::Id(created.id), AMPLE).await);
                assert_eq!(class, RefusalClass::NotFound, "{text}");
            }
            outcome => assert_eq!(refused(outcome).0, RefusalClass::NotFound),
        }
    })
    .await;
}

#[tokio::test]
async fn b041_a_start_on_a_taken_port_fails_and_leaves_no_exit_code() {
    on_engine(async |fixture| {
        let taken = std::net::TcpListener::bind("0.0.0.0:0").unwrap();
        let port = taken.local_addr().unwrap().port();
        let key = PortKey { port: 80, protocol: Protocol::Tcp };
        let mut request = fixture.request("taken", &["exit", "0"]);
        request.config.exposed_ports = vec![key];
        request.host.port_bindings = vec![(key, PortBinding { host_ip: None, host_port: Some(port) })];
        let container = fixture.create(&request).await;
        let (class, text) = refused(fixture.docker().start(&container, AMPLE).await);
        assert_eq!(class, RefusalClass::PeerFault, "{text}");
        assert!(text.contains(&port.to_string()), "names the port: {text}");
        let facts = fixture.facts(&container).await;
        assert_eq!((facts.phase, facts.started_at), (Phase::Exited { code: None }, None));
        assert!(!facts.error.is_empty());
    })
    .await;
}

#[tokio::test]
async fn e146_a_start_of_a_missing_program_fails_and_leaves_no_exit_code() {
    on_engine(async |fixture| {
        let mut request = fixture.request("absent", &[]);
        request.config.entrypoint = Some(vec!["/absent".into()]);
        let container = fixture.create(&request).await;
        let (class, text) = refused(fixture.docker().start(&container, AMPLE).await);
        assert_eq!(class, RefusalClass::Invalid, "{text}");
        let facts = fixture.facts(&container).await;
        assert_eq!((facts.phase, facts.started_at), (Phase::Exited { code: None }, None));
        assert!(facts.error.contains("/absent"), "{}", facts.error);
    })
    .await;
}

#[tokio::test]
async fn a_stop_waits_for_its_grace_and_then_kills() {
    on_engine(async |fixture| {
        let container = fixture.run("deaf", &["print", "ready", "+", "ignore-term"]).await;
        fixture.until_said(&container, "ready").await;
        let begun = std::time::Instant::now();
        // Half a second is sent as a whole one, never as none.
        let outcome = fixture.docker().stop(&container, Duration::from_millis(500), AMPLE).await;
        assert_eq!(outcome, Outcome::Done(()));
        assert!(begun.elapsed() >= Duration::from_secs(1), "killed after {:?}", begun.elapsed());
        assert_eq!(fixture.facts(&container).await.phase, Phase::Exited { code: Some(137) });
    })
    .await;
}

#[tokio::test]
async fn a_kill_ends_at_once() {
    on_engine(async |fixture| {
        let container = fixture.run("killed", &["sleep", "600"]).await;
        assert_eq!(fixture.docker().kill(&container, Signal::Kill, AMPLE).await, Outcome::Done(()));
        assert_eq!(fixture.until_ended(&container).await, Some(137));
    })
    .await;
}

#[tokio::test]
async fn a_list_holds_what_is_ours_running_or_not() {
    on_engine(async |fixture| {
        let running = fixture.run("running", &["sleep", "600"]).await;
        let ended = fixture.run("ended", &["exit", "0"]).await;
        fixture.until_ended(&ended).await;
        let created = fixture.create(&fixture.request("created", &["exit", "0"])).await;
        // Somebody else's: the same engine, another instance.
        let mut foreign = fixture.request("foreign", &["exit", "0"]);
        foreign.config.labels.insert(labels::INSTANCE.into(), fixture.other_instance().to_string());
        let foreign = fixture.create(&foreign).await;

        let Outcome::Done(mut list) = fixture.docker().list(fixture.instance(), AMPLE).await else { panic!("no list") };
        list.sort_by(|a, b| a.name.cmp(&b.name));
        let seen: Vec<_> =
            list.iter().map(|c| (c.name.clone(), ContainerTarget::Id(c.id.clone()), c.running)).collect();
        // The foreign one is ours to remove, since the test made it.
        assert_eq!(fixture.docker().remove(&foreign, AMPLE).await, Outcome::Done(()));
        assert_eq!(
            seen,
            [
                (fixture.name("created"), created, false),
                (fixture.name("ended"), ended, false),
                (fixture.name("running"), running, true),
            ]
        );
        assert_eq!(list[0].labels[labels::INSTANCE], fixture.instance().as_str());
    })
    .await;
}
