//! Field by field.

use std::time::Duration;

use lighterman_calls::{HealthTest, PortKey, Protocol};
use lighterman_container_spec::SpecWarning;
use lighterman_taskdef::{LogDriver, Mebibytes, NetworkMode};

use crate::helpers::{image, spec, spec_with, task};

#[test]
fn t21_cpu_shares_stay_within_what_the_engine_starts() {
    for (members, shares) in
        [("", 2), (r#""cpu": 0"#, 2), (r#""cpu": 1"#, 2), (r#""cpu": 2"#, 2), (r#""cpu": 262145"#, 262_144)]
    {
        assert_eq!(spec(members).request.host.cpu_shares, shares, "{members}");
    }
}

#[test]
fn memory_is_in_bytes_and_never_below_six_mebibytes() {
    let host = spec(r#""memory": 64, "memoryReservation": 32"#).request.host;
    assert_eq!((host.memory, host.memory_reservation), (Some(67_108_864), Some(33_554_432)));
    let mut small = task("");
    small.containers[0].memory = Some(Mebibytes(4));
    let host = spec_with(&small, &image(), None).unwrap().request.host;
    assert_eq!((host.memory, host.memory_reservation), (Some(6_291_456), None));
}

#[test]
fn t26_t27_every_member_of_a_health_check_is_sent() {
    let check = spec(r#""healthCheck": {"command": ["CMD", "true"]}"#).request.config.healthcheck.unwrap();
    assert_eq!(
        (check.interval, check.timeout, check.retries, check.start_period),
        (Duration::from_secs(30), Duration::from_secs(5), 3, Duration::from_millis(1))
    );
    let check = spec(
        r#""healthCheck": {"command": ["CMD-SHELL", "exit 0"], "interval": 5, "timeout": 2, "retries": 1, "startPeriod": 9}"#,
    );
    let check = check.request.config.healthcheck.unwrap();
    assert_eq!(
        (check.interval, check.timeout, check.retries, check.start_period),
        (Duration::from_secs(5), Duration::from_secs(2), 1, Duration::from_secs(9))
    );
    assert_eq!(check.test, HealthTest::Shell { script: "exit 0".to_string(), arguments: Vec::new() });
}

#[test]
fn t30_a_test_of_only_cmd_in_the_image_is_switched_off() {
    for (words, dangerous) in [
        (&["CMD"][..], true),
        (&["CMD", ""], true),
        (&["CMD-SHELL"], true),
        (&["CMD", "true"], false),
        (&["NONE"], false),
        (&["true"], false),
        (&[], false),
    ] {
        let mut image = image();
        image.health_test = Some(words.iter().map(ToString::to_string).collect());
        let spec = spec_with(&task(""), &image, None).unwrap();
        let test = spec.request.config.healthcheck.map(|check| check.test);
        assert_eq!(test, dangerous.then_some(HealthTest::Disabled), "{words:?}");
        assert_eq!(spec.warnings.contains(&SpecWarning::ImageHealthCheckSwitchedOff), dangerous, "{words:?}");
        // A check of the definition replaces the image's test as a whole.
        let own = task(r#""healthCheck": {"command": ["CMD", "true"]}"#);
        let spec = spec_with(&own, &image, None).unwrap();
        assert_eq!(spec.request.config.healthcheck.unwrap().test.words(), ["CMD", "true"]);
        assert_eq!(spec.warnings, []);
    }
}

#[test]
fn t31_t32_empty_lists_keep_what_the_image_has() {
    let config = spec(r#""entryPoint": [], "command": []"#).request.config;
    assert_eq!((config.entrypoint, config.cmd), (None, None));
    let config = spec(r#""entryPoint": [""], "command": ["sh"]"#).request.config;
    assert_eq!((config.entrypoint, config.cmd), (Some(vec![String::new()]), Some(vec!["sh".to_string()])));
}

#[test]
fn t33_one_variable_per_name_the_last_one() {
    let env = spec(
        r#""environment": [{"name": "B", "value": "x"}, {"name": "A", "value": "1"}, {"name": "A", "value": "2="}]"#,
    );
    let env: Vec<_> = env.request.config.env.into_iter().collect();
    assert_eq!(env, [("A".to_string(), "2=".to_string()), ("B".to_string(), "x".to_string())]);
}

#[test]
fn the_region_is_set_where_nobody_sets_it() {
    let region = |members: &str, of_image: &str| {
        let mut image = image();
        image.env_names.push(of_image.to_string());
        let env = spec_with(&task(members), &image, Some("eu-north-1")).unwrap().request.config.env;
        env.get("AWS_REGION").cloned().zip(env.get("AWS_DEFAULT_REGION").cloned())
    };
    let both = Some(("eu-north-1".to_string(), "eu-north-1".to_string()));
    assert_eq!(region("", "PATH"), both);
    assert_eq!(region("", "AWS_DEFAULT_REGION"), None);
    assert_eq!(region(r#""environment": [{"name": "AWS_REGION", "value": "x"}]"#, "PATH"), None);
    assert!(spec("").request.config.env.is_empty(), "no region is known, and no endpoint is served");
}

#[test]
fn t34_every_binding_has_its_exposed_port() {
    let ports = r#""portMappings": [{"containerPort": 80, "hostPort": 3000}, {"containerPort": 80, "hostPort": 3001},
        {"containerPort": 53, "protocol": "udp"}]"#;
    let request = spec(ports).request;
    let key = |port, protocol| PortKey { port, protocol };
    assert_eq!(request.config.exposed_ports, [key(53, Protocol::Udp), key(80, Protocol::Tcp)]);
    let bindings: Vec<_> =
        request.host.port_bindings.iter().map(|(key, binding)| (key.port, binding.host_port)).collect();
    assert_eq!(bindings, [(80, Some(3000)), (80, Some(3001)), (53, None)]);
    assert!(request.host.port_bindings.iter().all(|(key, _)| request.config.exposed_ports.contains(key)));
}

#[test]
fn network_modes_are_translated_and_bind_on_the_bridge_only() {
    let mut task = task(r#""portMappings": [{"containerPort": 80}]"#);
    for (mode, sent, bindings) in
        [(NetworkMode::Bridge, None, 1), (NetworkMode::Host, Some("host"), 0), (NetworkMode::None, Some("none"), 0)]
    {
        task.network_mode = mode;
        let host = spec_with(&task, &image(), None).unwrap().request.host;
        let network = host.network_mode.map(|mode| mode.to_string());
        assert_eq!((network.as_deref(), host.port_bindings.len()), (sent, bindings), "{mode}");
    }
}

#[test]
fn t40_interactive_opens_standard_input_only() {
    let config = spec(r#""interactive": true"#).request.config;
    assert_eq!((config.open_stdin, config.tty), (true, false));
    let config = spec(r#""pseudoTerminal": true"#).request.config;
    assert_eq!((config.open_stdin, config.tty), (false, true));
}

#[test]
fn t46_t47_output_stays_here_and_is_bounded() {
    let log = |members: &str| {
        let spec = spec(members);
        let log = spec.request.host.log.unwrap();
        let options: Vec<_> = log.options.iter().map(|(key, value)| format!("{key}={value}")).collect();
        (format!("{} {}", log.driver, options.join(",")), spec.warnings)
    };
    let bounded = "json-file max-file=3,max-size=10m".to_string();
    assert_eq!(log(""), (bounded.clone(), vec![]));
    let aws =
        r#""logConfiguration": {"logDriver": "awslogs", "options": {"awslogs-group": "g", "mode": "non-blocking"}}"#;
    assert_eq!(log(aws), (bounded, vec![SpecWarning::LogsShownHere { driver: LogDriver::Awslogs }]));
    let plain = |options: &str| format!(r#""logConfiguration": {{"logDriver": "local", "options": {options}}}"#);
    assert_eq!(log(&plain("{}")).0, "local ");
    assert_eq!(log(&plain(r#"{"mode": "non-blocking"}"#)).0, "local max-buffer-size=10m,mode=non-blocking");
    let own = plain(r#"{"mode": "non-blocking", "max-buffer-size": "1m"}"#);
    assert_eq!(log(&own).0, "local max-buffer-size=1m,mode=non-blocking");
}

#[test]
fn t48_our_labels_win_over_the_users() {
    let labels = spec(r#""dockerLabels": {"com.amazonaws.ecs.cluster": "mine", "team": "docs"}"#).request.config.labels;
    assert_eq!((&*labels["com.amazonaws.ecs.cluster"], &*labels["team"]), ("local", "docs"));
    assert_eq!(
        labels["com.amazonaws.ecs.task-arn"],
        "arn:aws:ecs:us-west-2:000000000000:task/local/0f1e2d3c4b5a69788796a5b4c3d2e1f0"
    );
    // Even if a definition got past the reader: ownership cannot be forged.
    let mut forged = task("");
    forged.containers[0].docker_labels.insert("dev.lighterman.instance".to_string(), "x".to_string());
    let labels = spec_with(&forged, &image(), None).unwrap().request.config.labels;
    assert_eq!(labels["dev.lighterman.instance"], "00000000000000000000000000000001");
}
