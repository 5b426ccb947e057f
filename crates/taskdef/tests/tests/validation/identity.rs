//! V1 to V14: text, shape, types, names, images, words.

use lighterman_taskdef::{Level, fields::Levels};

use super::{PLAIN, check, check_as, check_container, check_silent, named, with};
use crate::helpers::task_json;

#[test]
fn v01_text_must_parse() {
    check(1, "{\"family\": }", &["E V1 unexpected \"}\" at -; allowed: a value"]);
    check(1, "{\"a\": 1, \"a\": 2}", &["key \"a\" is given twice, first at line 1, column 2, again"]);
    check_as("t.toml", Levels::Planned, 1, "family = ", &["E V1 "]);
    check(1, &task_json("", PLAIN), &[]);
}

#[test]
fn v02_the_shape_must_be_known() {
    check(
        2,
        r#"{"services": {}, "version": "3"}"#,
        &[
            r#"E V2 not a task definition: found keys "services", "version" at $; allowed: containerDefinitions, taskDefinition, Resources, or a list of containers"#,
        ],
    );
    check(2, r#"{"containerDefinitions": [], "ContainerDefinitions": []}"#, &["at $; allowed: one of them"]);
}

#[test]
fn v03_types_must_fit() {
    check_container(
        3,
        r#""memory": "lots""#,
        &[r#"E V3 expected a whole number but found "lots" at C[0].memory; allowed: a whole number"#],
    );
    check_container(3, r#""links": "db""#, &["expected a list of text but found text at C[0].links"]);
    check_container(3, r#""dependsOn": {"db": "START"}"#, &["expected a list but found an object at C[0].dependsOn"]);
    check_container(
        3,
        r#""mountPoints": [7]"#,
        &["expected an object but found a number at C[0].mountPoints[0]; allowed: an object"],
    );
    check_container(
        3,
        r#""repositoryCredentials": {"credentialsParameter": ""}"#,
        &["credentialsParameter is missing"],
    );
    // With a unit that could be meant, the number is told.
    check_container(3, r#""memory": "2GB""#, &["C[0].memory; write 2048"]);
}

#[test]
fn v04_leniency_is_noted() {
    check_container(
        4,
        r#""portMappings": [{"containerPort": "8080"}]"#,
        &[r#"W V4 text "8080" read as a number at C[0].portMappings[0].containerPort; write 8080"#],
    );
    check_container(4, r#""linuxParameters": {"capabilities": {"add": ["CAP_net_admin"]}}"#, &["write \"NET_ADMIN\""]);
    check_container(4, r#""extraHosts": [{"hostname": "h", "ipAddress": "host-gateway"}]"#, &["is not in the API"]);
    check_container(4, r#""portMappings": [{"containerPortRange": "80 - 82"}]"#, &["write \"80-82\""]);
    check_container(4, r#""environmentFiles": [{"type": "s3", "value": "a.env"}]"#, &["file of this host"]);
    check(
        4,
        &task_json(
            "",
            &format!("{}, {}", with(r#""dependsOn": [{"containerName": "b", "condition": "create"}]"#), named("b", "")),
        ),
        &[r#""create" read as "CREATE""#, r#"condition "CREATE" is internal"#],
    );
    check_container(4, r#""memory": 64"#, &[]);
}

#[test]
fn v05_unknown_fields_are_named() {
    check_container(
        5,
        r#""enviroment": []"#,
        &[r#"W V5 unknown field "enviroment" at C[0]; did you mean "environment""#],
    );
    check_container(
        5,
        r#""linuxParameters": {"tmpfs": [{"containerPath": "/a", "size": 1, "sized": 1}]}"#,
        &["C[0].linuxParameters.tmpfs[0]"],
    );
    check(5, &task_json(r#""container_definitions": []"#, PLAIN), &["did you mean \"containerDefinitions\""]);
}

#[test]
fn v06_placeholders_are_refused_where_they_cannot_be_meant() {
    check_container(6, r#""image": "web:${TAG}""#, &[r#"E V6 placeholder "${TAG}" left at C[0].image"#]);
    check(
        6,
        &task_json(r#""volumes": [{"name": "a", "host": {"sourcePath": "<path>"}}], "cpu": "%CPU%""#, PLAIN),
        &["\"<path>\" left at volumes[0].host.sourcePath", "\"%CPU%\" left at cpu"],
    );
    check_container(
        6,
        r#""portMappings": [{"containerPortRange": "${RANGE}"}], "command": ["${A}"], "dockerLabels": {"a": "%A%"}"#,
        &["left at C[0].portMappings[0].containerPortRange"],
    );
    check_container(6, r#""dnsServers": [{"Ref": "Server"}]"#, &["intrinsic \"Ref\" left at C[0].dnsServers[0]"]);
}

#[test]
fn v07_a_family_is_a_word() {
    let family = |value: &str| format!(r#"{{{value}"containerDefinitions": [{PLAIN}]}}"#);
    check(7, &family(r#""family": "my app", "#), &[r#"E V7 family "my app" has a blank at family; allowed: 1 to 255"#]);
    check(7, &family(""), &["family is missing"]);
    check(7, &family(&format!(r#""family": "{}", "#, "a".repeat(256))), &["is too long"]);
    check(7, &family(&format!(r#""family": "{}", "#, "a".repeat(255))), &[]);
}

#[test]
fn v08_there_is_a_container() {
    check(8, &task_json("", ""), &["E V8 no containers at C; allowed: one, in this version"]);
    check(8, &task_json("", PLAIN), &[]);
}

#[test]
fn v09_quotas_of_the_service_are_warned_about() {
    let many = |count: usize| (0..count).map(|n| named(&format!("c{n}"), "")).collect::<Vec<_>>().join(", ");
    check(9, &task_json("", &many(12)), &["W V9 12 containers at C; the service allows 10"]);
    check(9, &task_json("", &many(10)), &[]);
    check_container(9, &format!(r#""command": ["{}"]"#, "a".repeat(65_536)), &["bytes as compact JSON"]);
}

#[test]
fn v10_a_container_has_a_name() {
    let second = |name: &str| task_json("", &format!(r#"{PLAIN}, {{{name}"image": "b", "memory": 64}}"#));
    check(10, &second(""), &["E V10 name is missing at C[1].name; allowed: 1 to 255"]);
    check(10, &second(r#""name": "a.b", "#), &["name \"a.b\" holds '.' at C[1].name"]);
    check(10, &second(r#""name": "a_b-C", "#), &[]);
}

#[test]
fn v11_names_of_containers_are_unique() {
    check(
        11,
        &task_json("", &format!("{PLAIN}, {}, {PLAIN}", named("Web", ""))),
        &[
            "E V11 name \"web\" used twice, first at C[0].name, again at C[2].name; allowed: unique names",
            "W V11 name \"Web\" differs from \"web\" only in letter case at C[1].name",
        ],
    );
}

#[test]
fn v12_one_container_is_essential() {
    check(
        12,
        &task_json("", &with(r#""essential": false"#)),
        &["E V12 no essential container at C; allowed: at least one without \"essential\": false"],
    );
    check(12, &task_json("", &format!("{}, {}", with(r#""essential": false"#), named("b", ""))), &[]);
}

#[test]
fn v13_an_image_is_a_reference() {
    let digest = "a".repeat(64);
    check_container(
        13,
        r#""image": "Web:1""#,
        &["has upper case in its repository at C[0].image; allowed: lower case"],
    );
    check_container(13, r#""image": """#, &["image is missing"]);
    check_container(13, r#""image": "web@sha256:12""#, &["has a broken digest"]);
    check_container(13, &format!(r#""image": "host:5000/a/web:Tag@sha256:{digest}""#), &[]);
    check_container(13, &format!(r#""image": "{}""#, "a/".repeat(128) + "b"), &["is too long"]);
}

#[test]
fn v14_words_are_of_their_list() {
    check(
        14,
        &task_json(r#""networkMode": "briged", "pidMode": "hots", "ipcMode": 1"#, PLAIN),
        &[
            "unknown networkMode \"briged\" at networkMode; allowed: bridge, host, awsvpc, none; did you mean bridge",
            "unknown pidMode",
        ],
    );
    check_container(14, r#""portMappings": [{"containerPort": 1, "protocol": "icmp"}]"#, &["allowed: tcp, udp"]);
    check_container(14, r#""firelensConfiguration": {"type": "vector"}"#, &["allowed: fluentd, fluentbit"]);
    let volume = r#"{"name": "v", "dockerVolumeConfiguration": {"scope": "host"}}"#;
    check(14, &task_json(&format!("\"volumes\": [{volume}]"), PLAIN), &["allowed: task, shared"]);
    // Letter case is put right.
    check(14, &task_json(r#""networkMode": "HOST", "pidMode": "Task""#, PLAIN), &[]);
    check_silent(Level::Error, &task_json(r#""networkMode": "HOST""#, PLAIN));
}
