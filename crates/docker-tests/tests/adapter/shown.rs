//! What was asked for, and what an inspect shows of it.

use std::{collections::BTreeMap, time::Duration};

use lighterman_calls::{
    ContainerFacts, CreateRequest, HealthTest, HealthWord, HealthcheckConfig, LogConfig, Phase, PortBinding, PortKey,
    Protocol, Ulimit,
};
use lighterman_docker_tests::{Fixture, on_engine};
use serde_json::{Value, json};

const WEB: PortKey = PortKey { port: 8080, protocol: Protocol::Tcp };

async fn inspected(fixture: &Fixture, request: &CreateRequest) -> Value {
    let container = fixture.create(request).await;
    fixture.raw().get(&format!("/containers/{container}/json")).await.json()
}

#[tokio::test]
async fn what_is_not_asked_for_is_the_engines_or_the_images() {
    on_engine(async |fixture| {
        let shown = inspected(fixture, &fixture.request("bare", &["exit", "0"])).await;
        let (config, host) = (&shown["Config"], &shown["HostConfig"]);
        assert_eq!(config["Entrypoint"], json!(["/testbox"]), "the image's");
        assert_eq!(config["Cmd"], json!(["exit", "0"]));
        assert_eq!((&config["Tty"], &config["OpenStdin"], &config["User"]), (&json!(false), &json!(false), &json!("")));
        assert_eq!(config.get("Healthcheck"), None);
        // taskdef.md 5.5.
        assert_eq!(host["NetworkMode"], "default");
        assert_eq!(host["IpcMode"], "private");
        assert_eq!(host["MemorySwappiness"], Value::Null);
        assert_eq!(host["ShmSize"], 67_108_864);
        assert_eq!(host["RestartPolicy"], json!({"Name": "", "MaximumRetryCount": 0}));
        // Its options are those of the engine's own settings.
        assert_eq!(host["LogConfig"]["Type"], fixture.raw().get("/info").await.json()["LoggingDriver"]);
        assert_eq!((&host["Memory"], &host["CpuShares"]), (&json!(0), &json!(2)));
        assert_eq!((&host["Privileged"], &host["ReadonlyRootfs"]), (&json!(false), &json!(false)));
        assert_eq!(host["Init"], Value::Null);
    })
    .await;
}

#[tokio::test]
async fn every_member_of_a_create_arrives() {
    on_engine(async |fixture| {
        let mut request = fixture.request("full", &["sleep", "600"]);
        let config = &mut request.config;
        config.entrypoint = Some(vec!["/testbox".into()]);
        config.env = BTreeMap::from([("B".into(), "x=y z".into()), ("A".into(), String::new())]).into();
        config.labels.insert("team".into(), "docs".into());
        config.user = Some("0:0".into());
        config.working_dir = Some("/tmp".into());
        config.hostname = Some("web".into());
        config.tty = true;
        config.open_stdin = true;
        config.exposed_ports = vec![WEB];
        config.healthcheck = Some(HealthcheckConfig {
            test: HealthTest::Exec { program: "/testbox".into(), arguments: vec!["exit".into(), "0".into()] },
            interval: Duration::from_secs(5),
            timeout: Duration::from_secs(2),
            start_period: Duration::from_millis(1),
            retries: 3,
        });
        let host = &mut request.host;
        host.memory = Some(64 << 20);
        host.memory_reservation = Some(32 << 20);
        host.cpu_shares = 128;
        host.readonly_rootfs = true;
        host.init = Some(true);
        host.ulimits = vec![Ulimit { name: "nofile".into(), soft: 1024, hard: 2048 }];
        host.log =
            Some(LogConfig { driver: "json-file".into(), options: BTreeMap::from([("max-size".into(), "1m".into())]) });
        host.port_bindings = vec![(WEB, PortBinding { host_ip: Some("127.0.0.1".into()), host_port: None })];

        let shown = inspected(fixture, &request).await;
        assert_eq!(shown["Name"], format!("/{}", request.name));
        let (config, host) = (&shown["Config"], &shown["HostConfig"]);
        assert_eq!(config["Env"].as_array().unwrap()[..2], [json!("A="), json!("B=x=y z")]);
        assert_eq!(config["Labels"]["team"], "docs");
        assert_eq!(
            (&config["User"], &config["WorkingDir"], &config["Hostname"]),
            (&json!("0:0"), &json!("/tmp"), &json!("web"))
        );
        assert_eq!((&config["Tty"], &config["OpenStdin"]), (&json!(true), &json!(true)));
        assert_eq!(config["ExposedPorts"], json!({"8080/tcp": {}}));
        assert_eq!(
            config["Healthcheck"],
            json!({"Test": ["CMD", "/testbox", "exit", "0"], "Interval": 5_000_000_000_u64, "Timeout": 2_000_000_000,
                   "StartPeriod": 1_000_000, "Retries": 3})
        );
        assert_eq!((&host["Memory"], &host["MemoryReservation"]), (&json!(64 << 20), &json!(32 << 20)));
        assert_eq!((&host["MemorySwap"], &host["CpuShares"]), (&json!(128 << 20), &json!(128)));
        assert_eq!((&host["ReadonlyRootfs"], &host["Init"]), (&json!(true), &json!(true)));
        assert_eq!(host["Ulimits"], json!([{"Name": "nofile", "Soft": 1024, "Hard": 2048}]));
        // The engine may have options of its own settings to add.
        assert_eq!(
            (&host["LogConfig"]["Type"], &host["LogConfig"]["Config"]["max-size"]),
            (&json!("json-file"), &json!("1m"))
        );
        assert_eq!(host["PortBindings"], json!({"8080/tcp": [{"HostIp": "127.0.0.1", "HostPort": ""}]}));
    })
    .await;
}

#[tokio::test]
async fn published_ports_are_shown_with_what_the_engine_picked() {
    on_engine(async |fixture| {
        let mut request = fixture.request("ports", &["sleep", "600"]);
        let dns = PortKey { port: 53, protocol: Protocol::Udp };
        request.config.exposed_ports = vec![WEB, dns, PortKey { port: 9, protocol: Protocol::Tcp }];
        let local = |host_port| PortBinding { host_ip: Some("127.0.0.1".into()), host_port };
        // Twice the same container port: both work.
        request.host.port_bindings = vec![(WEB, local(None)), (WEB, local(None)), (dns, PortBinding::default())];
        let container = fixture.create(&request).await;
        assert_eq!(fixture.facts(&container).await.ports, []);
        fixture.start(&container).await;
        let ports = fixture.facts(&container).await.ports;
        assert!(ports.iter().all(|port| port.host_port > 0), "{ports:?}");
        let of =
            |key| ports.iter().filter(|port| port.container == key).map(|p| p.host_ip.as_str()).collect::<Vec<_>>();
        assert_eq!(of(WEB), ["127.0.0.1", "127.0.0.1"]);
        // One entry per bind address; hosts without IPv6 have only the first.
        assert_eq!(of(dns)[0], "0.0.0.0");
        assert!(!ports.iter().any(|port| port.container.port == 9), "exposed is not published");
    })
    .await;
}

#[tokio::test]
async fn health_is_shown_as_the_engine_sees_it() {
    on_engine(async |fixture| {
        let mut request =
            fixture.request("health", &["sleep", "2", "+", "put", "/tmp/healthy", "yes", "+", "sleep", "600"]);
        request.config.healthcheck = Some(HealthcheckConfig {
            test: HealthTest::Exec {
                program: "/testbox".into(),
                arguments: vec!["healthy".into(), "/tmp/healthy".into()],
            },
            interval: Duration::from_millis(500),
            timeout: Duration::from_secs(5),
            start_period: Duration::from_secs(30),
            retries: 2,
        });
        let container = fixture.create(&request).await;
        fixture.start(&container).await;
        let starting = fixture.facts(&container).await.health.unwrap();
        assert_eq!(starting.word, HealthWord::Starting);
        let verdict = |wanted: HealthWord| {
            move |facts: &ContainerFacts| facts.health.clone().filter(|health| health.word == wanted)
        };
        let healthy = fixture.until(&container, verdict(HealthWord::Healthy)).await;
        assert_eq!((healthy.exit_code, healthy.output.trim()), (Some(0), "healthy"));
        // The probes of a container that has been healthy count.
        assert_eq!(fixture.raw().exec(&container.to_string(), &["/testbox", "remove", "/tmp/healthy"]).await, 0);
        let unhealthy = fixture.until(&container, verdict(HealthWord::Unhealthy)).await;
        assert_eq!((unhealthy.exit_code, unhealthy.output.trim()), (Some(1), "unhealthy"));
    })
    .await;
}

#[tokio::test]
async fn running_out_of_memory_is_shown() {
    on_engine(async |fixture| {
        let mut request = fixture.request("memory", &["alloc", "256", "600"]);
        request.host.memory = Some(32 << 20);
        let container = fixture.create(&request).await;
        fixture.start(&container).await;
        assert_eq!(fixture.until_ended(&container).await, Some(137));
        let facts = fixture.facts(&container).await;
        assert_eq!((facts.phase, facts.oom_killed), (Phase::Exited { code: Some(137) }, true));
    })
    .await;
}

#[tokio::test]
async fn a_paused_container_counts_as_running() {
    on_engine(async |fixture| {
        let container = fixture.run("paused", &["sleep", "600"]).await;
        assert_eq!(fixture.raw().post(&format!("/containers/{container}/pause"), &Value::Null).await.status, 204);
        assert_eq!(fixture.facts(&container).await.phase, Phase::Running);
        let unpaused = fixture.raw().post(&format!("/containers/{container}/unpause"), &Value::Null).await;
        assert_eq!(unpaused.status, 204);
    })
    .await;
}
