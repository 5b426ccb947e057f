//! What is asked for on the command line.

use serde_json::Value;

use crate::corner::in_corner;

#[tokio::test]
async fn the_version_names_the_commit() {
    in_corner(async |corner| {
        let output = corner.lighterman(&["--version"]).output().await;
        let words: Vec<&str> = output.stdout.split_whitespace().collect();
        let [name, version, commit] = words[..] else { panic!("{output:?}") };
        assert_eq!(name, "lighterman");
        assert!(version.split('.').count() == 3, "{version}");
        let commit = commit.trim_matches(['(', ')']);
        assert!(commit.len() >= 7, "{commit}");
    })
    .await;
}

#[tokio::test]
async fn the_address_of_docker_on_the_command_line_wins() {
    in_corner(async |corner| {
        let (proxy, absent) = (corner.proxy(), corner.path("absent.sock"));
        let address = format!("unix://{}", proxy.socket().display());
        let run = corner.run(&corner.task(&["exit", "3"])).docker(&absent).arguments(&["--docker-host", &address]);
        let ended = run.start().end().await;
        ended.assert_code(3);
        assert_eq!(ended.of("started").next().unwrap()["docker_host"], address.as_str());
        assert!(!proxy.requests().is_empty());
        let output = corner.lighterman(&["run", "--docker-host", "gopher://x", "task.json"]).output().await;
        assert_eq!(output.code, Some(125));
        assert!(output.stderr.contains("gopher://x"), "{}", output.stderr);
    })
    .await;
}

#[tokio::test]
async fn a_setting_that_makes_no_sense_is_refused_by_its_name() {
    in_corner(async |corner| {
        let run = corner.run(&corner.task(&["exit", "0"])).env("LIGHTERMAN_RUNTIME_PATIENCE", "soon");
        let output = run.output().await;
        assert_eq!(output.code, Some(125));
        assert!(output.stderr.contains("LIGHTERMAN_RUNTIME_PATIENCE"), "{}", output.stderr);
    })
    .await;
}

#[tokio::test]
async fn definitions_are_validated_without_docker() {
    in_corner(async |corner| {
        let good = corner.file(&corner.task(&["exit", "0"]));
        let bad = corner.file(&corner.task(&["exit", "0"]).with("memory", "much"));
        let absent = corner.path("absent.sock");
        let validate = |arguments: &[&str]| corner.lighterman(&["validate"]).arguments(arguments).docker(&absent);
        let output = validate(&[]).argument(&good).output().await;
        assert_eq!(output.code, Some(0), "{output:?}");
        assert!(output.stdout.contains("accepted"), "{output:?}");
        let output = validate(&["--json"]).argument(&good).argument(&bad).argument("nowhere.json").output().await;
        assert_eq!(output.code, Some(1), "{output:?}");
        let lines: Vec<Value> = output.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let accepted: Vec<&Value> = lines.iter().map(|line| &line["accepted"]).collect();
        assert_eq!(accepted, [true, false, false], "{output:?}");
        assert_eq!(lines[1]["findings"][0]["path"], "containerDefinitions[0].memory", "{output:?}");
        corner.nothing_is_left().await;
    })
    .await;
}
