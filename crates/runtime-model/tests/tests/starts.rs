//! Starts: those that work, those that fail, and what they leave.

use lighterman_calls::{NetworkMode, Outcome, Phase, PortBinding, PortKey, Protocol, RefusalClass, Signal};
use lighterman_ids::RuntimeName;

use crate::rig::{Rig, container, ms, named, refusal, secs};

const WEB: PortKey = PortKey { port: 80, protocol: Protocol::Tcp };

fn with_port(name: &str, host_port: Option<u16>) -> lighterman_calls::CreateRequest {
    let mut request = container(name, "sleep 9");
    request.config.exposed_ports = vec![WEB];
    request.host.port_bindings = vec![(WEB, PortBinding { host_ip: None, host_port })];
    request
}

#[test]
fn command_missing_leaves_created_with_127() {
    let mut rig = Rig::new();
    let mut request = container("web", "");
    request.config.entrypoint = Some(vec!["/nope".into()]);
    rig.create(request);
    let (class, text) = refusal(rig.start("web"));
    assert_eq!(class, RefusalClass::Invalid);
    assert!(text.contains("exec: \"/nope\": stat /nope: no such file or directory"), "{text}");
    let facts = rig.inspect("web");
    // `Exited` without a code: the engine says `created`, 127, and holds the text.
    assert_eq!((facts.phase, &facts.error), (Phase::Exited { code: None }, &text));
    assert_eq!((facts.started_at, facts.finished_at), (None, None));
    assert_eq!(rig.told(), ["create"], "a failed start makes no event");
}

#[test]
fn a_word_without_slash_is_looked_for_in_the_path() {
    let mut rig = Rig::new();
    let mut request = container("web", "");
    request.config.entrypoint = Some(vec!["nope".into()]);
    rig.create(request);
    assert!(refusal(rig.start("web")).1.contains("exec: \"nope\": executable file not found in $PATH"));
}

#[test]
fn host_port_taken_leaves_created_with_128() {
    let mut rig = Rig::new();
    rig.run(with_port("one", Some(8_080)));
    rig.create(with_port("two", Some(8_080)));
    let (class, text) = refusal(rig.start("two"));
    assert_eq!(class, RefusalClass::PeerFault);
    assert!(text.ends_with("Bind for 0.0.0.0:8080 failed: port is already allocated"), "{text}");
    assert_eq!(rig.inspect("two").phase, Phase::Exited { code: None });
    assert_eq!(rig.inspect("two").error, text);
    // The port is free once the other has ended, and the text goes with the next start.
    rig.kill("one", Signal::Kill);
    assert_eq!(rig.start("two"), Outcome::Done(()));
    assert_eq!(rig.inspect("two").error, "");
    // A container that ran before keeps its exit code when its next start fails.
    assert_eq!(refusal(rig.start("one")).0, RefusalClass::PeerFault);
    let facts = rig.inspect("one");
    assert_eq!(facts.phase, Phase::Exited { code: Some(137) });
    assert!(!facts.error.is_empty());
}

#[test]
fn a_port_of_the_host_is_taken_too() {
    let mut rig = Rig::new();
    assert!(rig.model.occupy_port(Protocol::Tcp, 8_080));
    assert!(!rig.model.occupy_port(Protocol::Tcp, 8_080));
    assert!(rig.model.occupy_port(Protocol::Udp, 8_080));
    rig.create(with_port("web", Some(8_080)));
    assert!(refusal(rig.start("web")).1.contains("listen tcp4 0.0.0.0:8080: bind: address already in use"));
    rig.model.free_port(Protocol::Tcp, 8_080);
    assert_eq!(rig.start("web"), Outcome::Done(()));
    assert!(!rig.model.occupy_port(Protocol::Tcp, 8_080));
}

#[test]
fn ports_are_shown_while_it_runs() {
    let mut rig = Rig::new();
    rig.create(with_port("web", None));
    assert_eq!(rig.inspect("web").ports, []);
    rig.start("web");
    let ports: Vec<_> = rig.inspect("web").ports.iter().map(|port| (port.host_ip.clone(), port.host_port)).collect();
    assert_eq!(ports, [("0.0.0.0".to_string(), 32_768), ("::".to_string(), 32_768)]);
    rig.kill("web", Signal::Kill);
    assert_eq!(rig.inspect("web").ports, []);
    rig.start("web");
    assert_eq!(rig.inspect("web").ports[0].host_port, 32_769);
}

#[test]
fn a_binding_whose_port_is_not_exposed_publishes_nothing() {
    let mut rig = Rig::new();
    let mut request = with_port("web", Some(8_080));
    request.config.exposed_ports.clear();
    rig.run(request);
    assert_eq!(rig.inspect("web").ports, []);
}

#[test]
fn bindings_to_different_addresses_do_not_meet() {
    let on = |name, ip: &str| {
        let mut request = with_port(name, Some(8_080));
        request.host.port_bindings[0].1.host_ip = Some(ip.into());
        request
    };
    let mut rig = Rig::new();
    rig.run(on("one", "127.0.0.1"));
    rig.run(on("two", "127.0.0.2"));
    assert_eq!(rig.inspect("two").ports.len(), 1);
    rig.create(with_port("all", Some(8_080)));
    assert!(!rig.start("all").is_done());
}

#[test]
fn starts_that_fail_for_what_the_host_does_not_have() {
    type Change = fn(&mut lighterman_calls::CreateRequest);
    let cases: [(Change, RefusalClass, &str); 4] = [
        (
            |r| r.config.user = Some("root".into()),
            RefusalClass::PeerFault,
            "unable to find user root: no matching entries in passwd file",
        ),
        (
            |r| r.host.network_mode = Some(NetworkMode::Named(RuntimeName::parse("nope").unwrap())),
            RefusalClass::NotFound,
            "network nope not found",
        ),
        (|r| r.host.cpu_shares = 1, RefusalClass::PeerFault, "the minimum allowed cpu-shares is 2: unknown"),
        (|r| r.host.cpu_shares = 262_145, RefusalClass::PeerFault, "the maximum allowed cpu-shares is 262144: unknown"),
    ];
    for (change, class, expected) in cases {
        let mut rig = Rig::new();
        let mut request = container("web", "exit 0");
        change(&mut request);
        rig.create(request);
        let (seen, text) = refusal(rig.start("web"));
        assert_eq!(seen, class);
        assert!(text.ends_with(expected), "{text}");
        assert_eq!(rig.inspect("web").phase, Phase::Exited { code: None });
    }
}

#[test]
fn an_environment_string_of_140_kb_ends_with_1_and_no_error() {
    let mut rig = Rig::new();
    let mut request = container("web", "sleep 9");
    request.config.env = [("BIG".to_string(), "x".repeat(140_000))].into_iter().collect();
    rig.run(request);
    rig.pass(secs(1));
    let facts = rig.inspect("web");
    assert_eq!((facts.phase, &*facts.error), (Phase::Exited { code: Some(1) }, ""));
    assert_eq!(rig.written, "exec /testbox: argument list too long\n");
}

#[test]
fn a_very_short_container_can_end_before_it_started() {
    let mut rig = Rig::new();
    rig.run(container("web", "exit 0"));
    rig.pass(secs(1));
    let facts = rig.inspect("web");
    assert!(facts.finished_at < facts.started_at, "{facts:?}");
    assert_eq!(rig.told(), ["create", "start", "die 0"]);
}

#[test]
fn a_second_start_begins_a_second_run() {
    let mut rig = Rig::new();
    rig.run(container("web", "exit 3"));
    rig.pass(secs(1));
    let first = rig.inspect("web");
    assert_eq!(rig.start("web"), Outcome::Done(()));
    let second = rig.model.facts(&named("web")).unwrap();
    assert!(second.started_at > first.started_at);
    assert_eq!((second.phase, second.finished_at), (Phase::Running, first.finished_at));
    rig.pass(ms(500));
    assert_eq!(rig.model.starts(&named("web")), Some(2));
    assert_eq!(rig.told(), ["create", "start", "die 3", "start", "die 3"]);
}
