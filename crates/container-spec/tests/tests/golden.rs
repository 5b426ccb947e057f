//! Whole requests, as they leave.

use crate::helpers::{image, spec_with, task};

fn golden(name: &str, members: &str) {
    let mut spec = spec_with(&task(members), &image(), Some("us-west-2")).unwrap();
    // The packed label has tests of its own; here it would only hide the rest.
    let label = spec.request.config.labels.get_mut("dev.lighterman.recover").unwrap();
    *label = format!("{}…", label.rsplit_once('.').unwrap().0);
    let mut settings = insta::Settings::clone_current();
    settings.set_omit_expression(true);
    // A request does not show the values of variables by itself.
    let env = &*spec.request.config.env;
    settings.bind(|| insta::assert_snapshot!(name, format!("env: {env:#?}\n{spec:#?}")));
}

#[test]
fn the_least_a_container_can_ask_for() {
    golden("least", "");
}

#[test]
fn everything_a_container_can_ask_for() {
    golden(
        "everything",
        r#""essential": false, "cpu": 128, "memory": 64, "memoryReservation": 32, "entryPoint": ["httpd"],
           "command": ["-f", "-p", "8080", "-h", "/site"], "workingDirectory": "/site", "hostname": "web", "user": "0:0",
           "interactive": true, "pseudoTerminal": true, "privileged": true, "readonlyRootFilesystem": true,
           "portMappings": [{"containerPort": 8080, "name": "http"}, {"containerPort": 53, "hostPort": 5353, "protocol": "udp"}],
           "dockerLabels": {"team": "docs"}, "environment": [{"name": "MODE", "value": "blue"}],
           "linuxParameters": {"initProcessEnabled": true}, "stopTimeout": 7, "startTimeout": 9,
           "ulimits": [{"name": "nofile", "softLimit": 1024, "hardLimit": 2048}],
           "healthCheck": {"command": ["CMD-SHELL", "cat /site/index.html"], "interval": 5, "timeout": 2},
           "logConfiguration": {"logDriver": "json-file", "options": {"max-size": "1m"}}"#,
    );
}
