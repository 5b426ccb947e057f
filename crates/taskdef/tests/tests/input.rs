//! Shapes, leniencies, formats: taskdef.md 1, T1 to T20.

use std::time::Duration;

use lighterman_ids::VolumeName;
use lighterman_taskdef::{
    Compatibility, CpuUnits, Level, Mebibytes, NetworkMode, Protocol, Shape, Toggle, Volume, VolumeSource,
    fields::Levels, read, read_with,
};

use crate::helpers::{accepted, container, container_json, findings_of, read_json, task_json};

#[test]
fn t1_a_minimal_definition_has_one_finding() {
    let minimal = r#"{"family": "f", "containerDefinitions": [{"name": "web", "image": "busybox"}]}"#;
    assert_eq!(
        findings_of(minimal),
        [
            "E V31 no memory limit at containerDefinitions[0]; allowed: memory or memoryReservation, or memory for the task"
        ]
    );
    let reading = accepted(&container_json(""));
    assert!(reading.warnings.is_empty(), "{}", reading.warnings);
    let task = reading.definition;
    assert_eq!((task.network_mode, task.revision, task.containers.len()), (NetworkMode::Bridge, 1, 1));
    let web = &task.containers[0];
    assert!(web.essential && web.port_mappings.is_empty() && web.cpu == CpuUnits(0));
}

#[test]
fn t2_null_is_absent_everywhere() {
    let nulls = |rows: &[lighterman_taskdef::fields::FieldRow], used: &[&str]| {
        let unused = rows.iter().filter(|row| !used.contains(&row.key));
        unused.map(|row| format!(r#""{}": null"#, row.key)).collect::<Vec<_>>().join(", ")
    };
    let container = nulls(
        lighterman_taskdef::fields::CONTAINER_FIELDS,
        &["name", "image", "memory", "healthCheck", "linuxParameters"],
    );
    let task = nulls(lighterman_taskdef::fields::TASK_FIELDS, &["family", "containerDefinitions"]);
    let text = task_json(
        &task,
        &format!(
            r#"{{"name": "web", "image": "busybox:test", "memory": 64, {container}, "linuxParameters": {{"devices": null}}}}"#
        ),
    );
    let reading = accepted(&text);
    assert!(reading.warnings.is_empty(), "{}", reading.warnings);
    assert_eq!(reading.definition, accepted(&container_json("")).definition);
}

#[test]
fn t3_a_describe_answer_gives_the_task_it_came_from() {
    let text = r#"{
      "taskDefinition": {
        "taskDefinitionArn": "arn:aws:ecs:us-east-1:111122223333:task-definition/f:7", "revision": 7, "status": "ACTIVE",
        "requiresAttributes": [{"name": "x"}], "compatibilities": ["EXTERNAL", "EC2"], "registeredAt": 1700000000.5,
        "deregisteredAt": "2024-01-01T00:00:00Z", "deleteRequestedAt": 1, "registeredBy": "arn:aws:iam::1:user/x",
        "family": "f", "volumes": [], "placementConstraints": [],
        "containerDefinitions": [{
          "name": "web", "image": "busybox:test", "cpu": 0, "memory": 64, "environment": [], "mountPoints": [],
          "volumesFrom": [], "systemControls": [], "portMappings": [], "essential": true
        }]
      },
      "tags": [{"key": "team", "value": "docs"}],
      "ResponseMetadata": {"RequestId": "x"}
    }"#;
    let reading = accepted(text);
    assert!(reading.warnings.is_empty(), "{}", reading.warnings);
    let mut task = reading.definition;
    assert_eq!((task.revision, task.tags.len(), &*task.tags[0].key), (7, 1, "team"));
    assert!(task.arn.is_some());
    (task.revision, task.arn) = (1, None);
    task.tags.clear();
    assert_eq!(task, accepted(&container_json("")).definition);
}

#[test]
fn a_wrapped_definition_names_the_original_place() {
    let inactive = r#"{"taskDefinition": {"family": "f", "status": "INACTIVE", "containerDefinitions":
        [{"name": "web", "image": "b", "memory": 4}]}, "extra": 1}"#;
    assert_eq!(
        findings_of(inactive),
        [
            "E V32 memory 4 is too small at taskDefinition.containerDefinitions[0].memory; allowed: 6 or more",
            "W V88 task definition is INACTIVE at taskDefinition.status",
            "W V5 unknown field \"extra\" at $; allowed: taskDefinition, tags, ResponseMetadata",
        ]
    );
    let twice = r#"{"taskDefinition": {"tags": [], "containerDefinitions": []}, "tags": []}"#;
    assert_eq!(
        findings_of(twice),
        ["E V2 tags are given twice, again at tags; allowed: beside or inside taskDefinition"]
    );
}

#[test]
fn v02_what_is_no_task_definition_is_refused() {
    for (text, wanted) in [
        (r#"{"Resources": {}}"#, "no resource of type AWS::ECS::TaskDefinition at Resources; allowed: one"),
        (
            r#"{"Resources": {"Task": {"Type": "AWS::ECS::TaskDefinition"}}}"#,
            "Properties are missing at Resources.Task.Properties",
        ),
        (
            r#"{"containerDefinitions": [], "ContainerDefinitions": []}"#,
            "both containerDefinitions and ContainerDefinitions",
        ),
        (r#"{"services": {}, "version": "3"}"#, r#"not a task definition: found keys "services", "version""#),
        (
            r#"{"container_definitions": []}"#,
            r#"did you mean "containerDefinitions" instead of "container_definitions""#,
        ),
        (
            "{}",
            "not a task definition: found no keys at $; allowed: containerDefinitions, taskDefinition, Resources, or a list",
        ),
        ("[1]", "not a task definition: found a list"),
    ] {
        let found = findings_of(text);
        assert_eq!(found.len(), 1, "{text}: {found:?}");
        assert!(found[0].starts_with("E V2 ") && found[0].contains(wanted), "{text}: {found:?}");
    }
}

#[test]
fn t4_t5_a_bare_list_of_containers() {
    let list =
        r#"[{"name": "web", "image": "busybox:test", "mountPoints": [{"sourceVolume": "d", "containerPath": "/d"}]}]"#;
    let reading = read_with("dir/web.container.json", list.as_bytes(), Levels::Planned).unwrap();
    let task = reading.definition;
    assert_eq!((reading.shape, task.family.as_str(), task.revision), (Shape::ContainerList, "web", 1));
    assert_eq!(
        task.volumes,
        [Volume { name: VolumeName::parse("d").unwrap(), source: VolumeSource::Empty }],
        "made for the mount"
    );
    let warnings: Vec<_> = reading.warnings.iter().map(|f| (f.rule.0, f.path.as_deref().unwrap().to_owned())).collect();
    assert_eq!(warnings, [(31, "[0]".to_owned()), (61, "[0].mountPoints[0].sourceVolume".to_owned())]);
    assert_eq!(reading.canonical_text.find("\"containerDefinitions\":[{"), Some(1));
    for (name, family) in [
        ("-", "task"),
        ("standard input", "task"),
        (".json", "task"),
        ("my app (1).json", "my-app--1-"),
        (r"C:\tasks\job.json", "job"),
    ] {
        assert_eq!(
            read_with(name, list.as_bytes(), Levels::Planned).unwrap().definition.family.as_str(),
            family,
            "{name}"
        );
    }
    let theirs = br#"[{"Name": "web", "Image": "b", "Memory": 4}]"#;
    let findings = read("web.json", theirs).unwrap_err();
    assert_eq!(findings.errors[0].path.as_deref(), Some("[0].Memory"));
}

#[test]
fn a_single_container_is_a_list_of_one() {
    for text in [r#"{"name": "web", "image": "b", "memory": 6}"#, r#"{"Name": "web", "Image": "b", "Memory": 6}"#] {
        let reading = read("web.json", text.as_bytes()).unwrap();
        assert_eq!((reading.shape, reading.definition.family.as_str()), (Shape::SingleContainer, "web"));
        assert_eq!(reading.definition.containers[0].memory, Some(Mebibytes(6)));
        assert_eq!(reading.warnings.warnings.len(), 1, "{}", reading.warnings);
        assert_eq!(reading.warnings.warnings[0].rule.0, 4);
    }
    let findings = read("web.json", br#"{"name": "web", "image": "b", "memory": 4}"#).unwrap_err();
    assert_eq!(findings.errors[0].path.as_deref(), Some("memory"));
}

#[test]
fn t6_t7_keys_of_cloudformation() {
    let properties = r#"{
      "Family": "f", "TaskRoleArn": "role", "RequiresCompatibilities": ["EC2"], "Tags": [{"Key": "K", "Value": "v"}],
      "Volumes": [{"Name": "files", "EFSVolumeConfiguration": {"FilesystemId": "fs-1", "TransitEncryption": "ENABLED",
        "AuthorizationConfig": {"IAM": "ENABLED"}}}],
      "ProxyConfiguration": {"Type": "APPMESH", "ContainerName": "web", "ProxyConfigurationProperties":
        [{"Name": "AppPorts", "Value": "80"}]},
      "ContainerDefinitions": [{"Name": "web", "Image": "b", "Memory": 64, "DockerLabels": {"Team": "x"},
        "MountPoints": [{"SourceVolume": "files", "ContainerPath": "/f", "ReadOnly": true}],
        "LogConfiguration": {"LogDriver": "json-file", "Options": {"Max-Size": "1m"}},
        "Environment": [{"Name": "Value", "Value": "Name"}], "Memroy": 1}]
    }"#;
    let twin = r#"{
      "family": "f", "taskRoleArn": "role", "requiresCompatibilities": ["EC2"], "tags": [{"key": "K", "value": "v"}],
      "volumes": [{"name": "files", "efsVolumeConfiguration": {"fileSystemId": "fs-1", "transitEncryption": "ENABLED",
        "authorizationConfig": {"iam": "ENABLED"}}}],
      "proxyConfiguration": {"type": "APPMESH", "containerName": "web", "properties": [{"name": "AppPorts", "value": "80"}]},
      "containerDefinitions": [{"name": "web", "image": "b", "memory": 64, "dockerLabels": {"Team": "x"},
        "mountPoints": [{"sourceVolume": "files", "containerPath": "/f", "readOnly": true}],
        "logConfiguration": {"logDriver": "json-file", "options": {"Max-Size": "1m"}},
        "environment": [{"name": "Value", "value": "Name"}], "memroy": 1}]
    }"#;
    // The rest of what a proxy needs, in the spelling of the twin: it is taken as it is.
    let fixed = |file: &str| {
        file.replacen('{', r#"{"networkMode": "awsvpc", "#, 1).replace(
            r#""80"}"#,
            r#""80"}, {"name": "IgnoredUID", "value": "1"}, {"name": "ProxyIngressPort", "value": "2"},
               {"name": "ProxyEgressPort", "value": "3"}"#,
        )
    };
    let ours =
        read_with("f.json", fixed(properties).replace("networkMode", "NetworkMode").as_bytes(), Levels::Any).unwrap();
    let theirs = read_with("f.json", fixed(twin).as_bytes(), Levels::Any).unwrap();
    assert_eq!(ours.definition, theirs.definition);
    assert_eq!(ours.canonical_text, theirs.canonical_text);
    assert_eq!(ours.shape, Shape::Properties);
    let VolumeSource::Efs(efs) = &ours.definition.volumes[0].source else { panic!("a file system") };
    assert_eq!((&*efs.file_system_id, efs.iam), ("fs-1", Toggle::Enabled));
    assert_eq!(ours.definition.containers[0].docker_labels["Team"], "x");
    let unknown: Vec<_> = ours.warnings.iter().filter(|finding| finding.rule.0 == 5).map(|f| &*f.message).collect();
    assert_eq!(unknown, ["unknown field \"Memroy\""]);

    let wrong = read("x.json", properties.replace("64", "4").as_bytes()).unwrap_err();
    assert!(wrong.iter().any(|finding| finding.path.as_deref() == Some("ContainerDefinitions[0].Memory")), "{wrong}");
}

#[test]
fn t8_t9_a_template_of_cloudformation() {
    let task = r#"{"Type": "AWS::ECS::TaskDefinition", "Properties": {"ContainerDefinitions":
        [{"Name": "web", "Image": "b", "Memory": 64}]}}"#;
    let template =
        |resources: &str| format!(r#"{{"AWSTemplateFormatVersion": "2010-09-09", "Resources": {{{resources}}}}}"#);
    let one = template(&format!(r#""Bucket": {{"Type": "AWS::S3::Bucket"}}, "Task": {task}"#));
    let reading = read("stack.json", one.as_bytes()).unwrap();
    assert_eq!((reading.shape, reading.definition.family.as_str()), (Shape::Template, "stack"));
    assert!(reading.warnings.is_empty(), "{}", reading.warnings);

    let two = template(&format!(r#""A": {task}, "B": {task}"#));
    assert_eq!(
        findings_of(&two),
        [r#"E V2 several task definitions: "A", "B" at Resources; which one? leave one of them in"#]
    );

    let left = template(
        &format!(r#""Task": {task}"#)
            .replace(r#""b""#, r#"{"Fn::Sub": "${Repo}:1"}"#)
            .replace(r#"{"ContainerDefinitions""#, r#"{"TaskRoleArn": {"Ref": "Role"}, "ContainerDefinitions""#)
            .replace("64", r#"64, "Command": ["a", {"Ref": "B"}], "Environment": [{"Fn::If": ["c", {}, {}]}]"#),
    );
    assert_eq!(
        findings_of(&left),
        [
            "E V6 intrinsic \"Ref\" left at Resources.Task.Properties.TaskRoleArn; allowed: a value",
            "E V6 intrinsic \"Fn::Sub\" left at Resources.Task.Properties.ContainerDefinitions[0].Image; allowed: a value",
            "E V6 intrinsic \"Ref\" left at Resources.Task.Properties.ContainerDefinitions[0].Command[1]; allowed: a value",
            "E V6 intrinsic \"Fn::If\" left at Resources.Task.Properties.ContainerDefinitions[0].Environment[0]; allowed: a value",
        ]
    );
}

#[test]
fn t10_toml_gives_the_same_task_and_the_same_text() {
    let toml = r#"
        # The twin of the JSON below.
        family = "page"
        networkMode = "bridge"
        cpu = 0x100
        [[containerDefinitions]]
        name = "web"
        image = "busybox:test"
        memory = 64
        command = ["httpd", "-f", "-p", "8080"]
        portMappings = [{ containerPort = 8_080 }]
        environment = [{ name = "MODE", value = "blue" }]
        [containerDefinitions.logConfiguration]
        logDriver = "json-file"
        options = { "max-size" = "1m" }
    "#;
    let json = r#"{"family": "page", "networkMode": "bridge", "cpu": 256, "containerDefinitions": [{
        "name": "web", "image": "busybox:test", "memory": 64, "command": ["httpd", "-f", "-p", "8080"],
        "portMappings": [{"containerPort": 8080}], "environment": [{"name": "MODE", "value": "blue"}],
        "logConfiguration": {"logDriver": "json-file", "options": {"max-size": "1m"}}, "links": null}]}"#;
    let (ours, theirs) = (read("task.toml", toml.as_bytes()).unwrap(), accepted(json));
    assert_eq!(ours.definition, theirs.definition);
    assert_eq!(ours.canonical_text, theirs.canonical_text);
    // Recognised by its content too.
    assert_eq!(read("-", toml.as_bytes()).unwrap().definition, theirs.definition);
}

#[test]
fn t10_toml_has_every_shape_of_value() {
    let toml = r#"
        family = "page-and-store"
        volumes = [{ name = "site", host = {} }]
        [[containerDefinitions]]
        name = "web"
        image = "busybox:test"
        memory = 64
        dependsOn = [{ containerName = "store", condition = "HEALTHY" }]
        [containerDefinitions.linuxParameters.capabilities]
        add = ["NET_ADMIN"]
        [[containerDefinitions.mountPoints]]
        sourceVolume = "site"
        containerPath = "/site"
        readOnly = true
        [[containerDefinitions]]
        name = "store"
        image = "busybox:test"
        memory = 32
        healthCheck.command = ["CMD", "true"]
        restartPolicy = { enabled = true, ignoredExitCodes = [0, 3] }
        [containerDefinitions.logConfiguration]
        logDriver = "fluentd"
        options."fluentd-address" = "unix:///run/fluentd.sock"
    "#;
    let json = r#"{"family": "page-and-store", "volumes": [{"name": "site", "host": {}}], "containerDefinitions": [
        {"name": "web", "image": "busybox:test", "memory": 64,
         "dependsOn": [{"containerName": "store", "condition": "HEALTHY"}],
         "linuxParameters": {"capabilities": {"add": ["NET_ADMIN"]}},
         "mountPoints": [{"sourceVolume": "site", "containerPath": "/site", "readOnly": true}]},
        {"name": "store", "image": "busybox:test", "memory": 32, "healthCheck": {"command": ["CMD", "true"]},
         "restartPolicy": {"enabled": true, "ignoredExitCodes": [0, 3]},
         "logConfiguration": {"logDriver": "fluentd", "options": {"fluentd-address": "unix:///run/fluentd.sock"}}}]}"#;
    let ours = read_with("task.toml", toml.as_bytes(), Levels::Planned).unwrap();
    let theirs = read_with("task.json", json.as_bytes(), Levels::Planned).unwrap();
    assert_eq!(ours.definition, theirs.definition);
    assert_eq!(ours.canonical_text, theirs.canonical_text);
    assert!(ours.warnings.is_empty(), "{}", ours.warnings);
}

#[test]
fn toml_findings_have_places() {
    let text = "family = \"f\"\n[[containerDefinitions]]\nname = \"web\"\nimage = 2020-01-01\nmemory = \"lots\"\nlinks = [\"a\"]\n";
    let findings = read("t.toml", text.as_bytes()).unwrap_err();
    let places: Vec<_> = findings.errors.iter().map(|f| (f.rule.0, f.line, f.column, f.path.as_deref())).collect();
    assert_eq!(
        places,
        [
            (3, 4, 9, Some("containerDefinitions[0].image")),
            (3, 5, 10, Some("containerDefinitions[0].memory")),
            (86, 6, 9, Some("containerDefinitions[0].links")),
            (24, 6, 10, Some("containerDefinitions[0].links[0]")),
        ]
    );
    let broken = read("t.toml", b"family = \"f\"\nfamily = \"g\"\n[x\n").unwrap_err();
    assert!(broken.errors.iter().all(|finding| finding.rule.0 == 1 && finding.path.is_none()));
    assert_eq!(broken.errors[0].line, 2, "{broken}");
}

#[test]
fn t11_amounts_of_a_task() {
    let task = |cpu: &str, memory: &str| {
        let text = task_json(&format!(r#""cpu": {cpu}, "memory": {memory}"#), r#"{"name": "web", "image": "b"}"#);
        let task = accepted(&text).definition;
        (task.cpu.map(|cpu| cpu.0), task.memory.map(|memory| memory.0))
    };
    assert_eq!(task(r#"".5 vcpu""#, r#""2GB""#), (Some(512), Some(2048)));
    assert_eq!(task("512", "2048.0"), (Some(512), Some(2048)));
}

#[test]
fn t12_a_fraction_of_a_cpu_needs_its_unit() {
    let findings =
        |cpu: &str| findings_of(&task_json(&format!(r#""cpu": {cpu}"#), r#"{"name": "w", "image": "b", "memory": 6}"#));
    assert_eq!(
        findings(r#""0.3 vCPU""#),
        [r#"E V28 cpu "0.3 vCPU" at cpu; allowed: units such as "512" or "0.5 vCPU""#]
    );
    assert_eq!(findings("0.5"), [r#"E V28 cpu 0.5 is a fraction at cpu; write "0.5 vCPU""#]);
    assert_eq!(findings(r#""0""#), ["W V4 cpu of nothing read as absent at cpu; leave it out"]);
}

#[test]
fn t13_numbers_as_text() {
    let port = |value: &str| format!(r#""portMappings": [{{"containerPort": {value}}}]"#);
    assert_eq!(container(&port(r#"" 8080 ""#)).port_mappings[0].container_port, 8080);
    assert_eq!(
        findings_of(&container_json(&port(r#""8080""#))),
        [r#"W V4 text "8080" read as a number at containerDefinitions[0].portMappings[0].containerPort; write 8080"#]
    );
    assert_eq!(
        findings_of(&container_json(&port(r#""8080/tcp""#))),
        [
            r#"E V3 expected a whole number but found "8080/tcp" at containerDefinitions[0].portMappings[0].containerPort; allowed: a whole number"#
        ]
    );
    for refused in ["1e3", "80.5", r#""0x50""#, r#""+5""#, "true", "[]", "99999999999999999999"] {
        assert!(read_json(&container_json(&port(refused))).is_err(), "{refused}");
    }
}

#[test]
fn t14_booleans_as_text() {
    let two = |value: &str| findings_of(&container_json(&format!(r#""interactive": {value}"#)));
    assert!(container(r#""interactive": "True""#).interactive);
    assert_eq!(
        two(r#""True""#),
        [r#"W V4 text "True" read as true at containerDefinitions[0].interactive; write true"#]
    );
    for refused in ["0", "1", r#""yes""#, r#""on""#] {
        assert_eq!(two(refused).len(), 1, "{refused}");
        assert!(two(refused)[0].starts_with("E V3 expected true or false"), "{refused}");
    }
}

#[test]
fn t15_a_number_as_text_keeps_its_source() {
    let web = container(r#""environment": [{"name": "A", "value": 1.10}, {"name": "B", "value": true}]"#);
    assert_eq!(web.environment["A"].as_str(), "1.10");
    assert_eq!(web.environment["B"].as_str(), "true");
    let toml = b"family='f'\n[[containerDefinitions]]\nname='w'\nimage='b'\nmemory=6\nenvironment={A=1.10}\n";
    assert_eq!(read("t.toml", toml).unwrap().definition.containers[0].environment["A"].as_str(), "1.10");
}

#[test]
fn t16_a_command_is_a_list() {
    assert_eq!(
        findings_of(&container_json(r#""command": "sleep 10""#)),
        [
            r#"E V3 expected a list of text but found text at containerDefinitions[0].command; allowed: a list of text, such as ["sh", "-c", "…"]"#
        ]
    );
}

#[test]
fn t17_unknown_fields_are_named_with_the_nearest() {
    let text = container_json(r#""enviroment": [{"name": "A", "value": "x"}]"#);
    assert_eq!(
        findings_of(&text),
        [r#"W V5 unknown field "enviroment" at containerDefinitions[0]; did you mean "environment""#]
    );
    assert!(accepted(&text).definition.containers[0].environment.is_empty());
}

#[test]
fn t18_another_letter_case_is_applied() {
    let text = container_json(r#""readonlyrootfilesystem": true, "ENTRYPOINT": ["a"]"#);
    let web = accepted(&text).definition.containers.remove(0);
    assert!(web.readonly_root_filesystem);
    assert_eq!(web.entry_point, ["a"]);
    assert_eq!(findings_of(&text).len(), 2);
    assert_eq!(
        findings_of(&container_json(r#""command": ["a"], "Command": ["b"]"#)),
        [
            r#"E V3 "command" is given in two spellings, again at containerDefinitions[0].Command; allowed: one of them"#,
            r#"W V4 field "Command" read as "command" at containerDefinitions[0]; write command"#,
        ]
    );
}

#[test]
fn t19_placeholders_are_refused_where_they_cannot_be_meant() {
    let text = task_json(
        r#""taskRoleArn": {"Ref": "Role"}, "cpu": "${CPU}""#,
        r#"{"name": "<name>", "image": "web:${TAG}", "memory": 64, "cpu": "%CPU%", "command": ["echo", "${HOME}"],
            "environment": [{"name": "A", "value": "${HOME}"}]}"#,
    );
    assert_eq!(
        findings_of(&text),
        [
            "E V6 intrinsic \"Ref\" left at taskRoleArn; allowed: a value",
            "E V6 placeholder \"${CPU}\" left at cpu; allowed: a value",
            "E V6 placeholder \"<name>\" left at containerDefinitions[0].name; allowed: a value",
            "E V6 placeholder \"${TAG}\" left at containerDefinitions[0].image; allowed: a value",
            "E V6 placeholder \"%CPU%\" left at containerDefinitions[0].cpu; allowed: a value",
        ]
    );
    let web = container(r#""environment": [{"name": "A", "value": "${HOME}"}], "command": ["echo", "<x>"]"#);
    assert_eq!(web.environment["A"].as_str(), "${HOME}");
}

#[test]
fn t20_all_faults_come_at_once_in_document_order() {
    let limits: Vec<_> =
        (0..40).map(|n| format!("{{\"name\": \"nofile{n}\", \"softLimit\": 1, \"hardLimit\": 2}}")).collect();
    let text = container_json(&format!("\"ulimits\": [\n{}\n]", limits.join(",\n")));
    let findings = read_json(&text).unwrap_err();
    let lines: Vec<_> = findings.errors.iter().map(|finding| finding.line).collect();
    assert_eq!(lines, (2..42).collect::<Vec<_>>());
    assert!(findings.errors.iter().all(|finding| finding.column == 10));

    let many = format!(r#""command": [{}]"#, vec!["[]"; 5_000].join(","));
    let findings = read_json(&container_json(&many)).unwrap_err();
    assert_eq!((findings.errors.len(), findings.left_out), (100, 4_900));
    assert!(findings.to_string().ends_with("\n… and 4900 more"));
}

#[test]
fn errors_come_before_warnings() {
    let text = container_json(r#""unknown": 1, "user": "a b", "odd": 2"#);
    let levels: Vec<_> = read_json(&text).unwrap_err().iter().map(|finding| finding.level).collect();
    assert_eq!(levels, [Level::Error, Level::Warning, Level::Warning]);
}

#[test]
fn words_are_folded_and_corrected() {
    let task = accepted(&task_json(
        r#""networkMode": "HOST", "requiresCompatibilities": ["ec2"]"#,
        r#"{"name": "w", "image": "b", "memory": 64, "portMappings": [{"containerPort": 80, "protocol": "UDP"}]}"#,
    ));
    assert_eq!(task.definition.network_mode, NetworkMode::Host);
    assert_eq!(task.definition.requires_compatibilities, [Compatibility::Ec2]);
    let port = &task.definition.containers[0].port_mappings[0];
    assert_eq!((port.protocol, port.host_port), (Protocol::Udp, Some(80)));
    assert_eq!(
        findings_of(&task_json(r#""networkMode": "briged""#, r#"{"name": "w", "image": "b", "memory": 64}"#)),
        [
            r#"E V14 unknown networkMode "briged" at networkMode; allowed: bridge, host, awsvpc, none; did you mean bridge"#
        ]
    );
}

#[test]
fn pairs_may_be_an_object_and_nulls_may_stand_in_lists() {
    let text = container_json(r#""environment": {"B": "2", "A": 1, "N": null}, "command": ["a", null, "b"]"#);
    let web = accepted(&text).definition.containers.remove(0);
    assert_eq!(web.command, ["a", "b"]);
    let names: Vec<_> = web.environment.keys().collect();
    assert_eq!(names, ["A", "B"]);
    assert_eq!(
        findings_of(&text),
        [
            "W V4 object read as a list of pairs at containerDefinitions[0].environment; write a list of {\"name\": …, \"value\": …}",
            "W V4 number read as text at containerDefinitions[0].environment.A; write it in quotes",
            "W V4 null entry dropped at containerDefinitions[0].environment.N; leave it out",
            "W V4 null dropped from a list at containerDefinitions[0].command[1]; leave it out",
        ]
    );
}

#[test]
fn absent_null_and_empty_where_they_are_the_same() {
    let web = container(
        r#""entryPoint": [], "command": [], "user": "", "workingDirectory": "", "hostname": "", "linuxParameters": {},
           "stopTimeout": 0, "startTimeout": "", "memoryReservation": 0, "portMappings": [{"containerPort": 80, "hostPort": 0}],
           "logConfiguration": {"logDriver": "json-file", "options": {}}"#,
    );
    let mut plain =
        container(r#""portMappings": [{"containerPort": 80}], "logConfiguration": {"logDriver": "json-file"}"#);
    assert_eq!(web, plain);
    plain.stop_timeout = Some(Duration::from_secs(7));
    assert_eq!(
        container(
            r#""stopTimeout": 7, "portMappings": [{"containerPort": 80}], "logConfiguration": {"logDriver": "json-file"}"#
        ),
        plain
    );
}

#[test]
fn the_canonical_text_is_what_the_user_wrote() {
    let one = accepted(&container_json(
        r#""enviroment": {"z": 1.10, "a": null}, "links": null, "command": ["ä\u0001\"", null]"#,
    ));
    assert_eq!(
        one.canonical_text,
        r#"{"containerDefinitions":[{"command":["ä\u0001\""],"enviroment":{"z":1.10},"image":"busybox:test","memory":64,"name":"web"}],"family":"f"}"#
    );
    // A default that is written out is something else than one that is not: no version has to know defaults.
    let written = accepted(&container_json(r#""essential": true"#));
    assert_eq!(written.definition, accepted(&container_json("")).definition);
    assert_ne!(written.canonical_text, accepted(&container_json("")).canonical_text);
}

#[test]
fn amounts_are_typed() {
    let web = container(r#""cpu": 128, "memoryReservation": 32"#);
    assert_eq!(
        (web.cpu, web.memory, web.memory_reservation),
        (CpuUnits(128), Some(Mebibytes(64)), Some(Mebibytes(32)))
    );
    assert_eq!(Mebibytes(64).bytes(), 67_108_864);
}
