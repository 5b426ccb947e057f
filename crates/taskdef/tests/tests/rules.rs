//! The rules of taskdef.md 3.2, one row per case, against a snapshot that is read as a table.

use std::fmt::Write;

use lighterman_taskdef::fields::{CONTAINER_FIELDS, FieldRow, Support, TASK_FIELDS};

use crate::helpers::{container, container_json, findings_of, task_json};

fn snapshot(name: &str, table: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, table));
}

/// `members => findings`, one case under the other.
fn table(cases: &[&str], text: impl Fn(&str) -> String) -> String {
    let mut out = String::new();
    for case in cases {
        writeln!(out, "{case}").unwrap();
        let findings = findings_of(&text(case));
        if findings.is_empty() {
            writeln!(out, "    ok").unwrap();
        }
        for finding in findings {
            writeln!(out, "    {finding}").unwrap();
        }
    }
    out
}

#[test]
fn rules_on_one_container() {
    snapshot(
        "one_container",
        &table(
            &[
                r#""cpu": -1"#,
                r#""cpu": 1"#,
                r#""cpu": 262145"#,
                r#""memory": "512MB""#,
                r#""memoryReservation": 5"#,
                r#""memoryReservation": 64"#,
                r#""memoryReservation": 65"#,
                r#""stopTimeout": -1"#,
                r#""stopTimeout": 0"#,
                r#""stopTimeout": 2147483648"#,
                r#""environment": [{"value": "a"}, {"name": "", "value": "a"}, {"name": "A=B"}, {"name": "N"}]"#,
                r#""environment": [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}, {"name": "ECS_AGENT_URI", "value": "x"}]"#,
                r#""entryPoint": [""]"#,
                r#""entryPoint": [""], "command": ["sh"]"#,
                r#""entryPoint": ["", "a"]"#,
                r#""user": "a b""#,
                r#""user": "1:2:3""#,
                r#""user": "2147483648""#,
                r#""user": "app:0""#,
                r#""workingDirectory": "app""#,
                r#""hostname": "a b""#,
                r#""dockerLabels": {"": "x", "dev.lighterman.task": "x", "com.amazonaws.ecs.cluster": "x", "team": "x"}"#,
                r#""ulimits": [{"name": "nofile", "softLimit": 300, "hardLimit": 200}]"#,
                r#""ulimits": [{"name": "nofile", "softLimit": -1, "hardLimit": 200}]"#,
                r#""ulimits": [{"name": "nofile", "softLimit": 200, "hardLimit": -1}, {"name": "nofile", "softLimit": 1, "hardLimit": 1}]"#,
                r#""ulimits": [{"name": "as", "softLimit": 1, "hardLimit": 1}, {"softLimit": -2}]"#,
                r#""logConfiguration": {}"#,
                r#""logConfiguration": {"logDriver": "jsonfile"}"#,
                r#""logConfiguration": {"logDriver": "gelf"}"#,
                r#""logConfiguration": {"logDriver": "awsfirelens"}"#,
                r#""logConfiguration": {"logDriver": "awslogs", "options": {"awslogs-group": "g", "awslogs-region": "r"}}"#,
                r#""logConfiguration": {"logDriver": "splunk"}"#,
                r#""privileged": true"#,
                r#""image": "x""#,
                r#""linuxParameters": {"initProcessEnabled": true, "sharedMemorySize": 0, "maxSwap": 1, "tmpfs": [{"size": 1}]}"#,
                r#""versionConsistency": "disabled""#,
                r#""restartPolicy": {"enabled": false}"#,
                r#""restartPolicy": {"enabled": true}"#,
            ],
            |members| {
                container_json(members)
                    .replace(r#""memory": 64, "memory""#, r#""memory""#)
                    .replace(r#""image": "busybox:test", "memory": 64, "image""#, r#""memory": 64, "image""#)
            },
        ),
    );
}

#[test]
fn rules_on_health_checks() {
    snapshot(
        "health_checks",
        &table(
            &[
                r"{}",
                r#"{"command": []}"#,
                r#"{"command": ["CMD"]}"#,
                r#"{"command": ["CMD", ""]}"#,
                r#"{"command": ["CMD", " "]}"#,
                r#"{"command": ["CMD-SHELL"]}"#,
                r#"{"command": ["CMD-SHELL", ""]}"#,
                r#"{"command": ["cmd"]}"#,
                r#"{"command": ["CMD,"]}"#,
                r#"{"command": ["CMD-SHELL, "]}"#,
                r#"{"command": [""]}"#,
                r#"{"command": ["", "a"]}"#,
                r#"{"command": ["NONE", "a"]}"#,
                r#"{"command": ["NONE"]}"#,
                r#"{"command": ["CMD", "true"]}"#,
                r#"{"command": ["CMD-SHELL", "exit 0", "b"]}"#,
                r#"{"command": ["CMD-SHELL, curl -f localhost"]}"#,
                r#"{"command": ["sh", "-c", "true"]}"#,
                r#"{"command": ["curl -f localhost"]}"#,
                r#"{"command": ["cmd-shell", "true"]}"#,
                r#"{"command": ["CMD", "true"], "interval": 4, "timeout": 1, "retries": 0, "startPeriod": 301}"#,
                r#"{"command": ["CMD", "true"], "interval": 301, "timeout": 61, "retries": 11, "startPeriod": -1}"#,
                r#"{"command": ["CMD", "true"], "interval": 5, "timeout": 6}"#,
                r#"{"command": ["CMD", "true"], "interval": 5, "timeout": 2, "retries": 10, "startPeriod": 300}"#,
            ],
            |check| container_json(&format!(r#""healthCheck": {check}"#)),
        ),
    );
}

#[test]
fn t28_t29_health_commands_are_repaired() {
    let words = |command: &str| {
        container(&format!(r#""healthCheck": {{"command": {command}}}"#)).health_check.unwrap().test.words()
    };
    assert_eq!(words(r#"["sh", "-c", "true"]"#), ["CMD", "sh", "-c", "true"]);
    assert_eq!(words(r#"["CMD-SHELL, curl -f localhost, x"]"#), ["CMD-SHELL", "curl -f localhost, x"]);
    assert_eq!(words(r#"["curl -f localhost"]"#), ["CMD-SHELL", "curl -f localhost"]);
    assert_eq!(words(r#"["none"]"#), ["NONE"]);
}

#[test]
fn rules_on_ports() {
    snapshot(
        "ports",
        &table(
            &[
                r#""networkMode": "bridge" | {"containerPort": 80}"#,
                r#""networkMode": "bridge" | {"containerPort": 0}"#,
                r#""networkMode": "bridge" | {"containerPort": 65536, "hostPort": 65536}"#,
                r#""networkMode": "bridge" | {"hostPort": 80}"#,
                r#""networkMode": "bridge" | {"containerPortRange": "80-90"}"#,
                r#""networkMode": "bridge" | {"containerPort": 80, "protocol": "icmp"}"#,
                r#""networkMode": "bridge" | {"containerPort": 80, "name": "HTTP", "appProtocol": "http"}"#,
                r#""networkMode": "bridge" | {"containerPort": 80, "hostPort": 3000}, {"containerPort": 81, "hostPort": 3000}"#,
                r#""networkMode": "bridge" | {"containerPort": 80, "hostPort": 3000}, {"containerPort": 81, "hostPort": 3000, "protocol": "udp"}"#,
                r#""networkMode": "bridge" | {"containerPort": 80, "hostPort": 1}, {"containerPort": 80, "hostPort": 2}"#,
                r#""networkMode": "bridge" | {"containerPort": 53}, {"containerPort": 53, "protocol": "udp"}"#,
                r#""networkMode": "host" | {"containerPort": 80, "hostPort": 8080}"#,
                r#""networkMode": "host" | {"containerPort": 80, "hostPort": 80}"#,
                r#""networkMode": "host" | {"containerPort": 80}, {"containerPort": 80}"#,
                r#""networkMode": "none" | {"containerPort": 80}"#,
                r#""networkMode": "awsvpc" | {"containerPort": 80}"#,
            ],
            |case| {
                let (task, ports) = case.split_once(" | ").unwrap();
                task_json(task, &format!(r#"{{"name": "w", "image": "b", "memory": 64, "portMappings": [{ports}]}}"#))
            },
        ),
    );
}

#[test]
fn rules_on_the_task() {
    let plain = r#"{"name": "w", "image": "b", "memory": 64}"#;
    let cases = [
        r#"{"containerDefinitions": []}"#.to_string(),
        r#"{"family": "my app", "containerDefinitions": [{"image": "Web:1"}]}"#.to_string(),
        task_json(
            "",
            r#"{"name": "a b", "image": "web@sha256:12", "memory": 64}, {"name": "ä", "image": "a b", "memory": 64}"#,
        ),
        task_json("", &format!(r#"{plain}, {plain}, {}"#, plain.replace("\"w\"", "\"W\""))),
        task_json("", &plain.replace("64", "64, \"essential\": false")),
        task_json(r#""memory": 32"#, plain),
        task_json(r#""memory": 64, "cpu": 256"#, &plain.replace("64", "0, \"memoryReservation\": 65, \"cpu\": 257")),
        task_json(r#""memory": 100"#, &format!("{plain}, {}", plain.replace("\"w\"", "\"v\""))),
        task_json(r#""cpu": 64"#, plain),
        task_json(
            r#""cpu": 64, "requiresCompatibilities": ["FARGATE"]"#,
            &plain.replace("64", "64, \"stopTimeout\": 300"),
        ),
        task_json(r#""cpu": "1 core", "memory": true"#, plain),
        task_json(r#""taskRoleArn": "role", "executionRoleArn": "role", "ephemeralStorage": {"sizeInGiB": 30}"#, plain),
        task_json(
            r#""tags": [{"key": "aws:x"}, {"key": "a", "value": "b"}, {"key": "a"}, {"value": "x"}, {"key": "!"}]"#,
            plain,
        ),
        task_json(r#""placementConstraints": [{"type": "memberOf", "expression": "x"}]"#, plain),
        task_json(r#""runtimePlatform": {"operatingSystemFamily": "LINUX"}, "enableFaultInjection": false"#, plain),
        task_json(r#""runtimePlatform": {"operatingSystemFamily": "WINDOWS_SERVER_2022_CORE"}"#, plain),
        task_json(r#""revision": 0"#, plain),
        task_json(
            r#""volumes": [{"name": "a"}], "pidMode": "task", "inferenceAccelerators": [{"deviceName": "a"}]"#,
            plain,
        ),
    ];
    let cases: Vec<_> = cases.iter().map(String::as_str).collect();
    snapshot("task", &table(&cases, str::to_string));
}

#[test]
fn v9_a_large_definition_is_warned_about() {
    let text = container_json(&format!(r#""command": ["{}"]"#, "a".repeat(65_536)));
    assert_eq!(findings_of(&text).len(), 1);
    assert!(findings_of(&text)[0].contains("the service allows 65536"));
}

/// What is known is honoured, noted, ignored or refused: never dropped in silence.
#[test]
fn no_field_is_dropped_in_silence() {
    let loud = |support: Support| match support {
        Support::Approximated(_) | Support::Noted(_) | Support::Later(_) | Support::Refused(_) => true,
        Support::Honoured | Support::ReadOnly => false,
    };
    fn value(row: &FieldRow) -> String {
        use lighterman_taskdef::fields::FieldKind::*;
        match row.kind {
            Text | Name => r#""x""#.to_string(),
            Integer => "7".to_string(),
            Boolean => "true".to_string(),
            Word(words, _) => format!("\"{}\"", words[0]),
            CpuAmount | MemoryAmount => "512".to_string(),
            Texts => r#"["x"]"#.to_string(),
            Integers => "[7]".to_string(),
            Words(words) => format!("[\"{}\"]", words[0]),
            TextMap | Pairs(_, _) => r#"{"x": "y"}"#.to_string(),
            Object(rows) => format!("{{\"{}\": {}}}", rows[0].key, value(&rows[0])),
            Objects(rows) => format!("[{{\"{}\": {}}}]", rows[0].key, value(&rows[0])),
            Opaque => "7".to_string(),
        }
    }
    let mut checked = 0;
    let plain = r#"{"name": "w", "image": "b", "memory": 64}"#;
    let rows = TASK_FIELDS.iter().map(|row| (row, true)).chain(CONTAINER_FIELDS.iter().map(|row| (row, false)));
    for (row, on_task) in rows.filter(|(row, _)| loud(row.support)) {
        let member = format!("\"{}\": {}", row.key, value(row));
        let text = if on_task { task_json(&member, plain) } else { container_json(&member) };
        let findings = findings_of(&text);
        assert!(findings.iter().any(|finding| finding.contains(&format!("\"{}\"", row.key))), "{text}: {findings:?}");
        checked += 1;
    }
    assert!(checked > 25, "{checked}");
}
