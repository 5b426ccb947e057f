//! V40 to V56, V64, V77 to V79: who waits for whom, what is run, what it is given.

use super::{PLAIN, check, check_container, fargate, named, with};
use crate::helpers::task_json;

/// `web` waits for `db` in this way.
fn waiting(condition: &str, db: &str) -> String {
    let depends = format!(r#""dependsOn": [{{"containerName": "db", "condition": "{condition}"}}]"#);
    task_json("", &format!("{}, {}", with(&depends), named("db", db)))
}

#[test]
fn v40_a_dependency_is_another_container_of_the_task() {
    let depends = |name: &str| {
        let depends = format!(r#""dependsOn": [{{"containerName": "{name}", "condition": "START"}}]"#);
        task_json("", &format!("{}, {}", with(&depends), named("cache", "")))
    };
    check(
        40,
        &depends("db"),
        &["E V40 dependsOn names \"db\" which is not in the task at C[0].dependsOn[0].containerName; allowed: cache"],
    );
    check(40, &depends("web"), &["dependsOn names \"web\" itself"]);
    check(40, &depends("a b"), &["dependsOn \"a b\" is no name"]);
    check(40, &depends("cache"), &[]);
    check_container(40, r#""dependsOn": [{"condition": "START"}]"#, &["containerName is missing"]);
}

#[test]
fn v41_a_condition_is_of_four() {
    check(41, &waiting("READY", ""), &["E V41 unknown condition \"READY\" at C[0].dependsOn[0].condition; allowed: "]);
    check_container(41, r#""dependsOn": [{"containerName": "db"}]"#, &["condition is missing"]);
    for condition in ["START", "COMPLETE", "SUCCESS", "HEALTHY", "healthy"] {
        check(41, &waiting(condition, ""), &[]);
    }
}

#[test]
fn v42_healthy_needs_a_check() {
    let health = |command: &str| format!(r#""healthCheck": {{"command": [{command}]}}"#);
    check(
        42,
        &waiting("HEALTHY", ""),
        &[
            "E V42 \"web\" waits for \"db\" to be HEALTHY but C[1] has no healthCheck at C[0].dependsOn[0]; allowed: add one, or START",
        ],
    );
    check(42, &waiting("HEALTHY", &health(r#""NONE""#)), &["switches its healthCheck off"]);
    check(42, &waiting("HEALTHY", &health(r#""CMD", "true""#)), &[]);
    check(42, &waiting("START", ""), &[]);
    // A check that is refused is one finding.
    check(42, &waiting("HEALTHY", &health(r#""CMD""#)), &[]);
}

#[test]
fn v43_an_end_is_not_waited_for_in_vain() {
    for condition in ["SUCCESS", "COMPLETE"] {
        check(
            43,
            &waiting(condition, ""),
            &[
                "E V43 \"web\" waits for \"db\" to end but \"db\" is essential at C[0].dependsOn[0]; allowed: \"essential\": false on it",
            ],
        );
        check(43, &waiting(condition, r#""essential": false"#), &[]);
    }
    check(43, &waiting("HEALTHY", ""), &[]);
}

#[test]
fn v44_nobody_waits_in_a_ring() {
    let ring =
        |a: &str, b: &str, c: &str| task_json("", &format!("{}, {}, {}", named("a", a), named("b", b), named("c", c)));
    let depends = |name: &str| format!(r#""dependsOn": [{{"containerName": "{name}", "condition": "START"}}]"#);
    check(
        44,
        &ring(&depends("b"), r#""links": ["c:alias"]"#, r#""volumesFrom": [{"sourceContainer": "a"}]"#),
        &["E V44 containers wait for each other: a → b → c → a at C[0]; allowed: no ring"],
    );
    check(44, &ring(&depends("b"), &depends("c"), ""), &[]);
    check(44, &ring("", &depends("c"), &depends("b")), &["b → c → b at C[1]"]);
    // The senders of a log router wait for it.
    let router = r#""firelensConfiguration": {"type": "fluentbit"}"#;
    let sender = r#""logConfiguration": {"logDriver": "awsfirelens"}"#;
    check(44, &ring(&format!("{router}, {}", depends("b")), sender, ""), &["a → b → a"]);
    check(44, &ring(router, sender, &format!("{sender}, {}", depends("b"))), &[]);
    // Two rings are two findings.
    let four = [("a", "b"), ("b", "a"), ("c", "d"), ("d", "c")].map(|(own, other)| named(own, &depends(other)));
    check(44, &task_json("", &four.join(", ")), &["a → b → a", "c → d → c"]);
}

#[test]
fn v45_a_dependency_twice_is_warned_about() {
    let entry = |condition: &str| format!(r#"{{"containerName": "db", "condition": "{condition}"}}"#);
    let depends = format!(r#""dependsOn": [{}, {}]"#, entry("START"), entry("HEALTHY"));
    let task = task_json("", &format!("{}, {}", with(&depends), named("db", "")));
    check(45, &task, &["W V45 \"db\" listed twice in dependsOn at C[0].dependsOn[1].containerName"]);
    // All are checked.
    check(42, &task, &["to be HEALTHY"]);
}

#[test]
fn v46_timeouts_are_not_negative() {
    check_container(46, r#""stopTimeout": -1, "startTimeout": -1"#, &["E V46 stopTimeout -1", "E V46 startTimeout -1"]);
    check_container(46, r#""stopTimeout": 300, "startTimeout": 600"#, &[]);
    check(
        46,
        &fargate("", &with(r#""stopTimeout": 300, "startTimeout": 1"#)),
        &["E V46 stopTimeout 300 at C[0].stopTimeout; allowed: on FARGATE 2 to 120", "E V46 startTimeout 1"],
    );
    check(46, &fargate("", &with(r#""stopTimeout": 120, "startTimeout": 2"#)), &[]);
}

#[test]
fn v47_a_restart_policy_is_whole() {
    let policy = |members: &str| format!(r#""restartPolicy": {{{members}}}"#);
    check_container(
        47,
        &policy(r#""enabled": true, "restartAttemptPeriod": 5"#),
        &["E V47 restartAttemptPeriod 5 at C[0].restartPolicy.restartAttemptPeriod; allowed: 60 to 1800"],
    );
    check_container(47, &policy(r#""restartAttemptPeriod": 60"#), &["enabled is missing"]);
    check_container(
        47,
        &policy(r#""enabled": true, "ignoredExitCodes": [0, 255, 256, 4294967296]"#),
        &["E V47 exit code 4294967296", "W V47 exit code 256"],
    );
    let codes =
        |count: usize| policy(&format!(r#""enabled": true, "ignoredExitCodes": [{}]"#, vec!["1"; count].join(", ")));
    check_container(47, &codes(51), &["51 ignoredExitCodes"]);
    check_container(47, &codes(50), &[]);
    check_container(47, &policy(r#""enabled": true, "restartAttemptPeriod": 1800"#), &[]);
}

#[test]
fn v48_what_is_fetched_needs_a_role() {
    let members = r#""secrets": [{"name": "A", "valueFrom": "a"}], "repositoryCredentials": {"credentialsParameter": "a"},
        "environmentFiles": [{"type": "s3", "value": "arn:aws:s3:::b/a.env"}],
        "logConfiguration": {"logDriver": "fluentd", "secretOptions": [{"name": "A", "valueFrom": "a"}]}"#;
    check_container(
        48,
        members,
        &[
            "W V48 secrets without executionRoleArn at C[0].secrets; the service needs one",
            "repositoryCredentials",
            "environmentFiles",
            "secretOptions",
        ],
    );
    check(48, &task_json(r#""executionRoleArn": "role""#, &with(members)), &[]);
    let logs = with(r#""logConfiguration": {"logDriver": "awslogs"}"#);
    check(48, &fargate("", &logs), &["W V48 logDriver without executionRoleArn"]);
    check(48, &task_json("", &logs), &[]);
}

#[test]
fn v49_a_secret_has_one_name() {
    let secrets =
        |secrets: &str| format!(r#""environment": [{{"name": "B", "value": "hunter2"}}], "secrets": [{secrets}]"#);
    check_container(
        49,
        &secrets(r#"{"name": "B", "valueFrom": "a"}"#),
        &["E V49 secret \"B\" is also in environment at C[0].secrets[0].name; allowed: one of them"],
    );
    check_container(
        49,
        &secrets(r#"{"name": "A", "valueFrom": "a"}, {"name": "A", "valueFrom": "a"}"#),
        &["secret \"A\" is given twice"],
    );
    check_container(
        49,
        &secrets(r#"{"valueFrom": "a"}, {"name": "C", "valueFrom": ""}, {"name": "D=", "valueFrom": "a"}"#),
        &["name is missing", "valueFrom is missing", "holds \"=\""],
    );
    check_container(49, &secrets(r#"{"name": "A", "valueFrom": "a"}"#), &[]);
    let log = r#""logConfiguration": {"logDriver": "splunk", "options": {"splunk-url": "u"}, "secretOptions":
        [{"name": "splunk-token", "valueFrom": "a"}, {"name": "splunk-url", "valueFrom": "a"}]}"#;
    check_container(49, log, &["log option \"splunk-url\" is given twice"]);
}

#[test]
fn v50_a_reference_names_a_secret() {
    let secret = |from: &str| format!(r#""secrets": [{{"name": "A", "valueFrom": "{from}"}}]"#);
    for from in [
        "/a/name",
        "name",
        "arn:aws:ssm:us-west-2:111122223333:parameter/a",
        "arn:aws-cn:secretsmanager:cn-north-1:1:secret:a",
        "arn:aws:secretsmanager:us-west-2:1:secret:a-AbCdEf:::",
        "arn:aws:secretsmanager:us-west-2:1:secret:a-AbCdEf:key:stage:",
    ] {
        check_container(50, &secret(from), &[]);
    }
    for (from, wanted) in [
        (
            "arn:aws:kms:us-west-2:1:key/1",
            "E V50 valueFrom is an ARN of service \"kms\" at C[0].secrets[0].valueFrom; allowed: ssm parameter or secretsmanager secret",
        ),
        ("arn:aws:ssm:us-west-2:1:document/a", "no complete ARN"),
        ("arn:aws:ssm", "no complete ARN"),
        ("arn:aws:secretsmanager:us-west-2:1:secret:a:key", "no complete ARN"),
        ("arn:aws:secretsmanager:us-west-2:1:secret:a:key::v:x", "no complete ARN"),
        ("arn:aws:secretsmanager:us-west-2:1:secret:", "no complete ARN"),
        ("arn:aws:secretsmanager:us-west-2:1:secret:a:key:stage:version", "a stage and a version"),
        (" ", "valueFrom is empty"),
    ] {
        check_container(50, &secret(from), &[wanted]);
    }
}

#[test]
fn v51_a_variable_has_a_name() {
    let environment = |entries: &str| format!(r#""environment": [{entries}]"#);
    check_container(
        51,
        &environment(r#"{"name": "", "value": "a"}, {"name": "A=B"}, {"value": "a"}"#),
        &[
            "E V51 environment name is empty at C[0].environment[0].name; allowed: one or more characters, no \"=\"",
            "holds \"=\"",
            "name is missing",
        ],
    );
    check_container(
        51,
        &environment(r#"{"name": "A", "value": "a\u0000"}, {"name": "A\u0000", "value": "a"}"#),
        &["holds a NUL character", "holds a NUL character"],
    );
    check_container(51, &environment(r#"{"name": "A b.c-d", "value": "a=b\n$X"}"#), &[]);
}

#[test]
fn v52_a_variable_that_is_overwritten_is_warned_about() {
    check_container(
        52,
        r#""environment": [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}, {"name": "ECS_AGENT_URI", "value": ""},
            {"name": "AWS_CONTAINER_X", "value": ""}, {"name": "ECS_CONTAINER_X", "value": ""}, {"name": "ECS_X", "value": ""}]"#,
        &[
            "W V52 environment name \"A\" given twice at C[0].environment[1].name; the last one counts",
            "ECS_AGENT_URI",
            "AWS_CONTAINER_X",
            "ECS_CONTAINER_X",
        ],
    );
}

#[test]
fn v53_files_of_variables() {
    let files = |files: &str| format!(r#""environmentFiles": [{files}]"#);
    let file = |value: &str| files(&format!(r#"{{"type": "s3", "value": "{value}"}}"#));
    check_container(
        53,
        &file("arn:aws:s3:::b/app.txt"),
        &[
            "E V53 environment file \"arn:aws:s3:::b/app.txt\" at C[0].environmentFiles[0].value; allowed: names ending .env",
        ],
    );
    check_container(53, &file("arn:aws:s3:::b.env"), &["is no ARN of an object"]);
    check_container(53, &file("arn:aws:sns:x:1:b/a.env"), &["is no ARN of an object"]);
    check_container(
        53,
        &files(r#"{"value": "arn:aws:s3:::b/a.env"}, {"type": "s3"}"#),
        &["type is missing", "value is missing"],
    );
    check_container(53, &file("arn:aws:s3:::b/a/b.env"), &[]);
    check_container(53, &file("./local.env"), &[]);
    let many = [r#"{"type": "s3", "value": "arn:aws:s3:::b/a.env"}"#; 11].join(", ");
    check_container(53, &files(&many), &["11 environment files at C[0].environmentFiles; allowed: up to 10"]);
}

#[test]
fn v54_something_is_run() {
    check_container(
        54,
        r#""entryPoint": [""]"#,
        &[
            "E V54 entryPoint is one empty text and command is missing at C[0].entryPoint; allowed: a command, or leave entryPoint out",
        ],
    );
    check_container(54, r#""entryPoint": ["", "a"]"#, &["entryPoint begins with an empty text"]);
    check_container(54, r#""entryPoint": [""], "command": [""]"#, &["E V54 "]);
    check_container(54, r#""entryPoint": [""], "command": ["sh"]"#, &[]);
    check_container(54, r#""entryPoint": []"#, &[]);
}

#[test]
fn v55_a_health_command_runs_something() {
    let health = |command: &str| format!(r#""healthCheck": {{"command": [{command}]}}"#);
    for command in [r#""CMD""#, r#""CMD", """#, r#""CMD-SHELL""#, r#""CMD-SHELL", """#, r#""cmd""#, r#""CMD, ""#] {
        let text = task_json("", &with(&health(command)));
        let findings = crate::helpers::read_json(&text).unwrap_err();
        assert!(findings.errors.iter().any(|finding| finding.rule.0 == 55), "{command}: {findings}");
    }
    check_container(
        55,
        &health(r#""CMD""#),
        &[
            "E V55 healthCheck command is only \"CMD\" at C[0].healthCheck.command; allowed: \"CMD\", program, arguments",
        ],
    );
    check_container(55, r#""healthCheck": {}"#, &["command is missing"]);
    check_container(
        55,
        &health(r#""sh", "-c", "true""#),
        &["W V55 healthCheck command does not begin with CMD or CMD-SHELL"],
    );
    check_container(
        55,
        &health(r#""CMD-SHELL", "a", "b""#),
        &["W V55 healthCheck command has words behind its script"],
    );
    check_container(55, &health(r#""CMD", "true""#), &[]);
    check_container(55, &health(r#""NONE""#), &[]);
}

#[test]
fn v56_health_numbers_are_in_range() {
    let health = |numbers: &str| format!(r#""healthCheck": {{"command": ["CMD", "true"], {numbers}}}"#);
    check_container(
        56,
        &health(r#""interval": 1"#),
        &["E V56 interval 1 at C[0].healthCheck.interval; allowed: 5 to 300"],
    );
    check_container(
        56,
        &health(r#""timeout": 61, "interval": 300, "retries": 0, "startPeriod": 301"#),
        &["timeout 61", "retries 0", "startPeriod 301"],
    );
    check_container(56, &health(r#""timeout": 6, "interval": 5"#), &["W V56 timeout 6 is above interval 5"]);
    check_container(56, &health(r#""timeout": 60, "interval": 300, "retries": 10, "startPeriod": 300"#), &[]);
}

#[test]
fn v64_volumes_come_from_another_container() {
    let from = |sources: &str| {
        let from = with(&format!(r#""volumesFrom": [{sources}]"#));
        task_json("", &format!("{from}, {}", named("data", "")))
    };
    check(
        64,
        &from(r#"{"sourceContainer": "date"}"#),
        &[
            "E V64 volumesFrom names \"date\" which is not in the task at C[0].volumesFrom[0].sourceContainer; allowed: data",
        ],
    );
    check(
        64,
        &from(r#"{"sourceContainer": "web"}, {"readOnly": true}"#),
        &["names \"web\" itself", "sourceContainer is missing"],
    );
    check(
        64,
        &from(r#"{"sourceContainer": "data"}, {"sourceContainer": "data", "readOnly": true}"#),
        &["W V64 \"data\" listed twice in volumesFrom"],
    );
    check(64, &from(r#"{"sourceContainer": "data", "readOnly": true}"#), &[]);
}

#[test]
fn v76_names_and_addresses() {
    check_container(76, r#""hostname": "a b""#, &["E V76 hostname \"a b\""]);
    check_container(76, &format!(r#""hostname": "{}""#, "a".repeat(65)), &["E V76 "]);
    check_container(
        76,
        r#""dnsServers": ["10.0.0.2", "fe80::1", "ns.local", ""]"#,
        &["dnsServers \"ns.local\" at C[0].dnsServers[2]; allowed: an IP address", "dnsServers \"\""],
    );
    check_container(
        76,
        r#""dnsSearchDomains": ["example.test", ".", "a b", ""]"#,
        &["dnsSearchDomains \"a b\"", "dnsSearchDomains \"\""],
    );
    check_container(
        76,
        r#""extraHosts": [{"hostname": "db", "ipAddress": "db.local"}, {"hostname": "a b", "ipAddress": "::1"},
            {"ipAddress": "::1"}, {"hostname": "a"}, {"hostname": "ok", "ipAddress": "10.1.2.3"}]"#,
        &[
            "E V76 extraHosts address \"db.local\" at C[0].extraHosts[0].ipAddress; allowed: an IP address",
            "hostname \"a b\"",
            "hostname is missing",
            "ipAddress is missing",
        ],
    );
}

#[test]
fn v77_where_and_as_whom_it_runs() {
    check_container(
        77,
        r#""workingDirectory": "app""#,
        &["E V77 workingDirectory \"app\" is not absolute at C[0].workingDirectory; allowed: /…"],
    );
    for user in ["a b", "1:2:3", "2147483648", ":1", "1:"] {
        check_container(77, &format!(r#""user": "{user}""#), &["E V77 user"]);
    }
    for user in ["root", "app:staff", "0", "2147483647:0", "app:0", "0:staff"] {
        check_container(77, &format!(r#""user": "{user}""#), &[]);
    }
}

#[test]
fn v78_labels_have_keys() {
    check_container(78, r#""dockerLabels": {"": "x"}"#, &["E V78 label with an empty key"]);
    check_container(
        78,
        r#""dockerLabels": {"com.amazonaws.ecs.cluster": "x"}"#,
        &["W V78 label \"com.amazonaws.ecs.cluster\" may be overwritten"],
    );
    check_container(
        78,
        r#""dockerLabels": {"dev.lighterman.task": "x"}"#,
        &["E V78 label \"dev.lighterman.task\" is the agent's own"],
    );
    check_container(78, r#""dockerLabels": {"team": ""}"#, &[]);
}

#[test]
fn v79_security_options_have_a_form() {
    check_container(
        79,
        r#""dockerSecurityOptions": ["apparmor", "label:", "seccomp:unconfined", "no-new-privileges:x"]"#,
        &[
            "E V79 security option \"apparmor\" has no value at C[0].dockerSecurityOptions[0]; allowed: no-new-privileges, apparmor:PROFILE, label:VALUE",
            "\"label:\" has no value",
            "\"seccomp:unconfined\"",
            "\"no-new-privileges:x\"",
        ],
    );
    check_container(79, r#""dockerSecurityOptions": ["no-new-privileges", "apparmor:p", "label:type:svirt_t"]"#, &[]);
    check_container(
        79,
        r#""credentialSpecs": ["credentialspec:arn:a", "file:x"]"#,
        &["2 credential specs", "credential spec \"file:x\""],
    );
    check_container(79, r#""credentialSpecs": ["credentialspecdomainless:arn:aws:ssm:a:1:b"]"#, &[]);
    check_container(86, r#""dockerSecurityOptions": ["credentialspec:file://x"]"#, &["is refused"]);
    check(79, &task_json("", PLAIN), &[]);
}
