//! V69 to V71, V81, V83 to V89: logs, proxy, what the service asks, what is noted.

use lighterman_taskdef::fields::Levels;

use super::{PLAIN, check, check_as, check_container, fargate, named, with};
use crate::helpers::task_json;

#[track_caller]
fn check_built(rule: u8, text: &str, wanted: &[&str]) {
    check_as("task.json", Levels::Built, rule, text, wanted);
}

#[test]
fn v69_log_drivers_have_their_options() {
    let log = |driver: &str, rest: &str| format!(r#""logConfiguration": {{"logDriver": "{driver}"{rest}}}"#);
    check_container(
        69,
        &log("awslogs", ""),
        &[
            "E V69 awslogs-group is missing at C[0].logConfiguration.options; allowed: awslogs-group, awslogs-region",
            "awslogs-region is missing",
        ],
    );
    check_container(69, &log("gelf", ""), &["gelf-address is missing"]);
    check_container(69, &log("splunk", r#", "options": {"splunk-url": "u"}"#), &["splunk-token is missing"]);
    check_container(
        69,
        &log(
            "splunk",
            r#", "options": {"splunk-url": "u"}, "secretOptions": [{"name": "splunk-token", "valueFrom": "a"}]"#,
        ),
        &[],
    );
    check_container(69, r#""logConfiguration": {}"#, &["logDriver is missing"]);
    let group = r#""awslogs-group": "g", "awslogs-region": "r""#;
    check_container(
        69,
        &log("awslogs", &format!(r#", "options": {{{group}, "awslogs-stream": "s", "awslogs-stream-prefix": "p"}}"#)),
        &["W V69 awslogs-stream and awslogs-stream-prefix at C[0].logConfiguration.options; awslogs-stream wins"],
    );
    check(
        69,
        &fargate("", &with(&log("awslogs", &format!(r#", "options": {{{group}}}"#)))),
        &["E V69 awslogs-stream-prefix is missing"],
    );
    check(
        69,
        &fargate("", &with(&log("json-file", ""))),
        &[
            "E V69 logDriver \"json-file\" at C[0].logConfiguration.logDriver; allowed: on FARGATE awslogs, splunk, awsfirelens",
        ],
    );
    check_container(69, &log("json-file", r#", "options": {}"#), &[]);
}

#[test]
fn v70_a_log_router_is_one_and_another() {
    let router = |members: &str| format!(r#""firelensConfiguration": {{"type": "fluentbit"{members}}}"#);
    let sender = r#""logConfiguration": {"logDriver": "awsfirelens"}"#;
    check_container(
        70,
        sender,
        &["E V70 awsfirelens but no container has firelensConfiguration at C[0].logConfiguration.logDriver"],
    );
    check_container(70, &format!("{}, {sender}", router("")), &["awsfirelens on the log router itself"]);
    let two = |b: &str, a: &str| task_json("", &format!("{}, {}", with(b), named("b", a)));
    check(
        70,
        &two(&router(""), &router("")),
        &["2 log routers at C[1].firelensConfiguration; allowed: one in the task"],
    );
    check(70, &two(&router(""), sender), &[]);
    let options = |options: &str| router(&format!(r#", "options": {{{options}}}"#));
    check_container(
        70,
        &options(r#""config-file-type": "file""#),
        &["only one of config-file-type and config-file-value"],
    );
    check_container(
        70,
        &options(r#""config-file-type": "url", "config-file-value": "x", "enable-ecs-log-metadata": "yes""#),
        &["config-file-type \"url\"", "enable-ecs-log-metadata \"yes\""],
    );
    check_container(70, r#""firelensConfiguration": {}"#, &["type is missing"]);
    let s3 = options(r#""config-file-type": "s3", "config-file-value": "arn:a""#);
    check_container(70, &s3, &[]);
    check(
        70,
        &fargate("", &with(&s3)),
        &["config-file-type \"s3\" at C[0].firelensConfiguration; allowed: on FARGATE file"],
    );
}

#[test]
fn v71_a_proxy_is_whole() {
    let property = |(name, value): (&str, &str)| format!(r#"{{"name": "{name}", "value": "{value}"}}"#);
    let proxy = |mode: &str, name: &str, properties: &[(&str, &str)]| {
        let properties: Vec<_> = properties.iter().copied().map(property).collect();
        task_json(
            &format!(
                r#""networkMode": "{mode}", "proxyConfiguration": {{"containerName": "{name}", "properties": [{}]}}"#,
                properties.join(", ")
            ),
            &with(r#""user": "1337""#),
        )
    };
    let all =
        [("IgnoredUID", "1337"), ("AppPorts", "80,81"), ("ProxyIngressPort", "15000"), ("ProxyEgressPort", "15001")];
    check(71, &proxy("awsvpc", "web", &all), &[]);
    check(
        71,
        &proxy("bridge", "web", &all),
        &["E V71 proxyConfiguration with networkMode bridge at proxyConfiguration; allowed: awsvpc"],
    );
    check(
        71,
        &proxy("awsvpc", "envoy", &all),
        &["names \"envoy\" which is not in the task at proxyConfiguration.containerName"],
    );
    check(
        71,
        &proxy("awsvpc", "web", &all[1..2]),
        &["ProxyIngressPort is missing", "ProxyEgressPort is missing", "IgnoredUID or IgnoredGID is missing"],
    );
    check(
        71,
        &proxy("awsvpc", "web", &[&all[1..], &[("IgnoredUID", "1")]].concat()),
        &["W V71 IgnoredUID \"1\" differs from the user of \"web\""],
    );
    check(71, &proxy("awsvpc", "web", &[&all[..], &[("AppPort", "1")]].concat()), &["unknown property \"AppPort\""]);
    check(
        71,
        &task_json(r#""networkMode": "awsvpc", "proxyConfiguration": {"type": "APPMESH"}"#, PLAIN),
        &[
            "containerName is missing",
            "ProxyIngressPort is missing",
            "ProxyEgressPort",
            "AppPorts is missing",
            "IgnoredUID or",
        ],
    );
}

#[test]
fn v81_what_the_service_does_not_have() {
    check(81, &fargate("", PLAIN), &[]);
    check(81, &fargate(r#""pidMode": "task""#, PLAIN), &[]);
    check(
        81,
        &fargate(
            r#""pidMode": "host", "ipcMode": "task", "placementConstraints": [{"type": "memberOf", "expression": "x"}]"#,
            PLAIN,
        ),
        &["W V81 pidMode host", "W V81 ipcMode at ipcMode; not available on FARGATE", "placementConstraints"],
    );
    check(
        81,
        &task_json(r#""requiresCompatibilities": ["FARGATE"]"#, PLAIN),
        &["W V81 networkMode bridge at networkMode; FARGATE needs awsvpc"],
    );
    for members in [
        r#""privileged": true"#,
        r#""links": ["db"]"#,
        r#""hostname": "a""#,
        r#""dockerSecurityOptions": ["no-new-privileges"]"#,
        r#""ulimits": [{"name": "nofile", "softLimit": 1, "hardLimit": 1}, {"name": "core", "softLimit": 1, "hardLimit": 1}]"#,
        r#""resourceRequirements": [{"type": "GPU", "value": "1"}]"#,
        r#""linuxParameters": {"devices": [{"hostPath": "/dev/fuse"}]}"#,
        r#""linuxParameters": {"sharedMemorySize": 1}"#,
        r#""linuxParameters": {"maxSwap": 1}"#,
        r#""linuxParameters": {"maxSwap": null, "swappiness": 1}"#,
    ] {
        check(81, &fargate("", &with(members)), &["not available on FARGATE"]);
        check(81, &task_json("", &with(members)), &[]);
    }
    let path = r#""volumes": [{"name": "a", "host": {"sourcePath": "/a"}}]"#;
    check(81, &fargate(path, PLAIN), &["W V81 sourcePath at volumes[0].host.sourcePath"]);
}

#[test]
fn v83_tags_have_keys() {
    let tags = |tags: &str| task_json(&format!("\"tags\": [{tags}]"), PLAIN);
    check(
        83,
        &tags(r#"{"key": "aws:x"}, {"key": "AWS:y"}"#),
        &["E V83 tag key \"aws:x\" at tags[0].key; allowed: keys not starting with aws:", "AWS:y"],
    );
    check(
        83,
        &tags(r#"{"key": "a", "value": "b"}, {"key": "a"}, {"value": "x"}, {"key": "!"}, {"key": "b", "value": "!"}"#),
        &["used twice", "is missing", "tag key \"!\"", "tag value of \"b\""],
    );
    let many: Vec<_> = (0..51).map(|n| format!(r#"{{"key": "k{n}"}}"#)).collect();
    check(83, &tags(&many.join(", ")), &["51 tags at tags; allowed: up to 50"]);
    check(83, &tags(&many[..50].join(", ")), &[]);
}

#[test]
fn v84_constraints_have_an_expression() {
    let constraints = |list: &str| task_json(&format!("\"placementConstraints\": [{list}]"), PLAIN);
    let one = r#"{"type": "memberOf", "expression": "attribute:a == b"}"#;
    check(
        84,
        &constraints(&[one; 11].join(", ")),
        &["E V84 11 placement constraints at placementConstraints; allowed: 10"],
    );
    check(
        84,
        &constraints(r#"{"type": "memberOf"}, {"expression": "x"}"#),
        &["expression is missing", "type is missing"],
    );
    check(84, &constraints(&[one; 10].join(", ")), &[]);
}

#[test]
fn v85_isolation_is_a_known_mode() {
    let trusted = |members: &str| task_json(&format!("\"trustedExecutionConfiguration\": {{{members}}}"), PLAIN);
    check(
        85,
        &trusted(r#""isolationMode": "CONFIDENTIAL_SANDBOX""#),
        &[
            "E V85 attestationPolicy is missing at trustedExecutionConfiguration.attestationPolicy; allowed: base64 text, required with CONFIDENTIAL_SANDBOX",
        ],
    );
    check(
        85,
        &trusted(r#""isolationMode": "CONFIDENTIAL_SANDBOX", "attestationPolicy": "a?""#),
        &["attestationPolicy \"a?\""],
    );
    check(85, &trusted(r#""attestationPolicy": "QQ==""#), &["isolationMode is missing"]);
    check(85, &trusted(r#""isolationMode": "CONFIDENTIAL_SANDBOX", "attestationPolicy": "QQ==""#), &[]);
    check(85, &trusted(r#""isolationMode": "SHARED""#), &[]);
    check(85, &trusted(""), &[]);
}

#[test]
fn v86_what_cannot_be_done_is_refused() {
    let efs = r#""volumes": [{"name": "a", "efsVolumeConfiguration": {"fileSystemId": "f"}}]"#;
    check(
        86,
        &task_json(efs, PLAIN),
        &[
            "E V86 \"efsVolumeConfiguration\" is refused at volumes[0].efsVolumeConfiguration; it cannot be mounted here",
        ],
    );
    check(
        86,
        &task_json(r#""trustedExecutionConfiguration": {"isolationMode": "ISOLATED_SANDBOX"}"#, PLAIN),
        &["cannot be given"],
    );
    check(
        86,
        &task_json(r#""runtimePlatform": {"operatingSystemFamily": "WINDOWS_SERVER_2025_FULL"}"#, PLAIN),
        &["kernel of Windows"],
    );
    check_container(
        86,
        r#""resourceRequirements": [{"type": "NeuronDevice", "value": "ALL"}]"#,
        &["type \"NeuronDevice\" is refused"],
    );
    check_container(86, r#""credentialSpecs": ["credentialspec:arn:a"]"#, &["\"credentialSpecs\" is refused"]);
    // What is only not built yet is refused by the version that has not built it, after everything else was checked.
    let later = task_json("", &with(r#""links": ["db"]"#));
    check(86, &later, &[]);
    check_built(86, &later, &["E V86 \"links\" is not supported yet at C[0].links; leave it out"]);
    check_built(24, &later, &["which is not in the task"]);
    check_built(
        86,
        &task_json("", &format!("{PLAIN}, {}", named("b", ""))),
        &["2 containers at C[1]; allowed: one, in this version"],
    );
    // Nothing is asked for.
    check_built(
        86,
        &task_json(
            r#""volumes": [], "enableFaultInjection": false"#,
            &with(r#""links": [], "linuxParameters": {"sharedMemorySize": 0}"#),
        ),
        &[],
    );
    check_as("task.json", Levels::Any, 86, &task_json(efs, PLAIN), &[]);
}

#[test]
fn v87_what_is_done_otherwise_is_noted() {
    let logs = with(
        r#""logConfiguration": {"logDriver": "awslogs", "options": {"awslogs-group": "g", "awslogs-region": "r"}}"#,
    );
    check(
        87,
        &task_json("", &logs),
        &["W V87 logDriver \"awslogs\" at C[0].logConfiguration.logDriver; its output is shown here, not sent"],
    );
    check(
        87,
        &task_json(
            r#""placementConstraints": [{"type": "memberOf", "expression": "x"}], "taskRoleArn": "role""#,
            PLAIN,
        ),
        &["\"placementConstraints\" is not honoured", "\"taskRoleArn\" is not honoured"],
    );
    check(
        87,
        &task_json(r#""volumes": [{"name": "a", "configuredAtLaunch": true}]"#, PLAIN),
        &["it is an empty volume of the task"],
    );
    check(87, &task_json(r#""placementConstraints": [], "taskRoleArn": """#, PLAIN), &[]);
}

#[test]
fn v88_an_inactive_definition_is_warned_about() {
    let status = |status: &str| {
        format!(r#"{{"taskDefinition": {{"family": "f", "status": "{status}", "containerDefinitions": [{PLAIN}]}}}}"#)
    };
    check(88, &status("INACTIVE"), &["W V88 task definition is INACTIVE at taskDefinition.status"]);
    check(88, &status("DELETE_IN_PROGRESS"), &["W V88 "]);
    check(88, &status("ACTIVE"), &[]);
}

#[test]
fn v89_what_reaches_into_the_host_is_named() {
    check(
        89,
        &task_json(r#""networkMode": "host", "pidMode": "host", "ipcMode": "host""#, &with(r#""privileged": true"#)),
        &[
            "W V89 containers share the network of the host at networkMode",
            "the processes of the host",
            "the shared memory of the host",
            "\"web\" is privileged",
        ],
    );
    let bind = |path: &str| {
        task_json(
            &format!(r#""volumes": [{{"name": "v", "host": {{"sourcePath": "{path}"}}}}]"#),
            &with(r#""mountPoints": [{"sourceVolume": "v", "containerPath": "/v", "readOnly": true}]"#),
        )
    };
    for path in ["/var/run/docker.sock", "/run//docker.sock/", "/var/run", "/run", "/var", "/"] {
        check(89, &bind(path), &["W V89 \"web\" can control the engine through"]);
    }
    for path in ["/etc", "/var/lib", "/run/docker", "/runner"] {
        check(89, &bind(path), &[]);
    }
}
