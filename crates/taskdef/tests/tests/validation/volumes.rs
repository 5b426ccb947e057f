//! V57 to V63, V65 to V68: volumes and mounts.

use lighterman_taskdef::fields::Levels;

use super::{PLAIN, check, check_as, fargate, with};
use crate::helpers::task_json;

/// A task with these volumes, all mounted.
fn volumes(task: &str, volumes: &[&str]) -> String {
    let mounts = |(n, volume): (usize, &&str)| {
        let name = volume.split('"').nth(3).unwrap_or("");
        format!(r#"{{"sourceVolume": "{name}", "containerPath": "/m{n}"}}"#)
    };
    let mounts: Vec<_> = volumes.iter().enumerate().map(mounts).collect();
    let separator = if task.is_empty() { "" } else { ", " };
    task_json(
        &format!(r#""volumes": [{}]{separator}{task}"#, volumes.join(", ")),
        &with(&format!(r#""mountPoints": [{}]"#, mounts.join(", "))),
    )
}

/// What holds although the volume could not be mounted here.
#[track_caller]
fn check_any(rule: u8, text: &str, wanted: &[&str]) {
    check_as("task.json", Levels::Any, rule, text, wanted);
}

#[test]
fn v57_volume_names_are_unique_words() {
    check(
        57,
        &volumes("", &[r#"{"name": "data"}"#, r#"{"name": "data"}"#]),
        &[
            "E V57 volume name \"data\" used twice, first at volumes[0].name, again at volumes[1].name; allowed: unique names",
        ],
    );
    check(57, &volumes("", &[r#"{"host": {}}"#]), &["name is missing at volumes[0].name"]);
    check(57, &volumes("", &[r#"{"name": "a/b"}"#]), &["name \"a/b\" holds '/'"]);
    check(57, &volumes("", &[r#"{"name": "a_B-1"}"#]), &[]);
}

#[test]
fn v58_a_volume_is_one_kind() {
    let two = r#"{"name": "a", "host": {}, "efsVolumeConfiguration": {"fileSystemId": "fs-1"}}"#;
    check(58, &volumes("", &[two]), &["E V58 host and efsVolumeConfiguration at volumes[0]; allowed: one kind"]);
    check(
        58,
        &volumes("", &[r#"{"name": "a", "dockerVolumeConfiguration": {}, "configuredAtLaunch": true}"#]),
        &["E V58 "],
    );
    check(58, &volumes("", &[r#"{"name": "a", "host": {}, "configuredAtLaunch": false}"#]), &[]);
}

#[test]
fn v59_a_path_of_the_host_is_absolute() {
    let path = |path: &str| format!(r#"{{"name": "a", "host": {{"sourcePath": "{path}"}}}}"#);
    check(
        59,
        &volumes("", &[&path("~/x")]),
        &["E V59 sourcePath \"~/x\" is not absolute at volumes[0].host.sourcePath; allowed: /…"],
    );
    check(59, &volumes("", &[&path("./x")]), &["E V59 "]);
    check(59, &volumes("", &[&path("/x")]), &[]);
    check(59, &volumes("", &[&path("")]), &[]);
}

#[test]
fn v60_volumes_of_the_engine() {
    let docker =
        |name: &str, members: &str| format!(r#"{{"name": "{name}", "dockerVolumeConfiguration": {{{members}}}}}"#);
    check(
        60,
        &volumes("", &[&docker("a", r#""autoprovision": true"#)]),
        &[
            "E V60 autoprovision with scope task at volumes[0].dockerVolumeConfiguration.autoprovision; allowed: scope shared",
        ],
    );
    check(60, &volumes("", &[&docker("a", r#""scope": "shared""#)]), &["shared volume name \"a\""]);
    check(60, &volumes("", &[&docker("_a", r#""scope": "shared""#)]), &["shared volume name \"_a\""]);
    check(60, &volumes("", &[&docker("ab", r#""scope": "shared", "autoprovision": true"#)]), &[]);
    check(
        60,
        &fargate(&format!("\"volumes\": [{}]", docker("ab", "")), PLAIN),
        &["E V60 dockerVolumeConfiguration on FARGATE"],
    );
}

#[test]
fn v61_a_mounted_volume_is_declared() {
    let mount = with(r#""mountPoints": [{"sourceVolume": "data", "containerPath": "/d"}]"#);
    let task = |volumes: &str| task_json(&format!("\"volumes\": [{volumes}]"), &mount);
    check(
        61,
        &task(r#"{"name": "site"}, {"name": "logs"}"#),
        &["E V61 unknown volume \"data\" at C[0].mountPoints[0].sourceVolume; allowed: logs, site"],
    );
    check(61, &task(""), &["E V61 unknown volume \"data\""]);
    check(61, &task(r#"{"name": "data"}"#), &[]);
    check(
        61,
        &format!("[{mount}]"),
        &["W V61 unknown volume \"data\" at [0].mountPoints[0].sourceVolume; it is an empty volume of the task"],
    );
    check(61, &task_json("", &with(r#""mountPoints": [{"containerPath": "/d"}]"#)), &["sourceVolume is missing"]);
}

#[test]
fn v62_a_path_in_a_container_is_used_once() {
    let mounts = |mounts: &str| {
        task_json(
            r#""volumes": [{"name": "a"}]"#,
            &with(&format!(
                r#""mountPoints": [{mounts}],
        "linuxParameters": {{"tmpfs": [{{"containerPath": "/t", "size": 1}}]}}"#
            )),
        )
    };
    let mount = |path: &str| format!(r#"{{"sourceVolume": "a", "containerPath": "{path}"}}"#);
    check(
        62,
        &mounts(&format!("{}, {}", mount("/data"), mount("/data/"))),
        &[
            "E V62 containerPath \"/data/\" used twice, first at C[0].mountPoints[0].containerPath, again at C[0].mountPoints[1].containerPath",
        ],
    );
    check(
        62,
        &mounts(&mount("/t")),
        &[
            "used twice, first at C[0].mountPoints[0].containerPath, again at C[0].linuxParameters.tmpfs[0].containerPath",
        ],
    );
    check(62, &mounts(&mount("data")), &["containerPath \"data\" is not absolute"]);
    check(62, &mounts(&mount("/")), &["containerPath \"/\" is the root"]);
    check(62, &mounts(r#"{"sourceVolume": "a"}"#), &["containerPath is missing"]);
    check(62, &mounts(&format!("{}, {}", mount("/a"), mount("/a/b"))), &[]);
}

#[test]
fn v63_a_volume_that_nobody_mounts_is_warned_about() {
    check(
        63,
        &task_json(r#""volumes": [{"name": "old"}]"#, PLAIN),
        &["W V63 volume \"old\" is not mounted anywhere at volumes[0]"],
    );
    check(63, &volumes("", &[r#"{"name": "used"}"#]), &[]);
}

#[test]
fn v65_a_file_system_over_nfs() {
    let efs = |members: &str| {
        let volume = format!(r#"{{"name": "a", "efsVolumeConfiguration": {{"fileSystemId": "fs-1"{members}}}}}"#);
        volumes(r#""taskRoleArn": "role""#, &[&volume])
    };
    check_any(
        65,
        &efs(r#", "authorizationConfig": {"iam": "ENABLED"}"#),
        &[
            "E V65 iam ENABLED without transitEncryption at volumes[0].efsVolumeConfiguration; allowed: transitEncryption ENABLED",
        ],
    );
    check_any(
        65,
        &efs(r#", "transitEncryptionPort": 1, "authorizationConfig": {"accessPointId": "p"}"#),
        &["accessPointId without", "transitEncryptionPort without"],
    );
    let on = r#", "transitEncryption": "ENABLED""#;
    check_any(
        65,
        &efs(&format!(r#"{on}, "rootDirectory": "/a", "authorizationConfig": {{"accessPointId": "p"}}"#)),
        &["rootDirectory \"/a\" with an access point"],
    );
    check_any(
        65,
        &efs(&format!(
            r#"{on}, "rootDirectory": "/", "transitEncryptionPort": 65535, "authorizationConfig": {{"accessPointId": "p", "iam": "ENABLED"}}"#
        )),
        &[],
    );
    check_any(65, &efs(r#", "rootDirectory": "a""#), &["rootDirectory \"a\" is not absolute"]);
    check_any(65, &efs(&format!(r#"{on}, "transitEncryptionPort": 0"#)), &["transitEncryptionPort 0"]);
    check_any(65, &volumes("", &[r#"{"name": "a", "efsVolumeConfiguration": {}}"#]), &["fileSystemId is missing"]);
    let iam = r#"{"name": "a", "efsVolumeConfiguration": {"fileSystemId": "f", "transitEncryption": "ENABLED", "authorizationConfig": {"iam": "ENABLED"}}}"#;
    check_any(65, &volumes("", &[iam]), &["iam ENABLED without taskRoleArn"]);
}

#[test]
fn v66_a_bucket_as_a_file_system() {
    let files = |members: &str| format!(r#"{{"name": "a", "s3filesVolumeConfiguration": {{{members}}}}}"#);
    let arn = r#""fileSystemArn": "arn:aws:s3files:us-west-2:1:file-system/fs-1""#;
    check_any(66, &volumes("", &[&files(arn)]), &["E V66 taskRoleArn is missing for an S3 Files volume at volumes[0]"]);
    let role = r#""taskRoleArn": "role""#;
    check_any(66, &volumes(role, &[&files("")]), &["fileSystemArn is missing"]);
    check_any(66, &volumes(role, &[&files(r#""fileSystemArn": "fs-1""#)]), &["fileSystemArn \"fs-1\""]);
    check_any(
        66,
        &volumes(role, &[&files(&format!(r#"{arn}, "rootDirectory": "/a", "accessPointArn": "arn:b""#))]),
        &["with an access point"],
    );
    check_any(
        66,
        &volumes(role, &[&files(&format!(r#"{arn}, "rootDirectory": "/a", "transitEncryptionPort": 9"#))]),
        &[],
    );
}

#[test]
fn v67_a_windows_file_server() {
    let fsx = |members: &str| format!(r#"{{"name": "a", "fsxWindowsFileServerVolumeConfiguration": {{{members}}}}}"#);
    let whole = r#""fileSystemId": "fs-1", "rootDirectory": "share", "authorizationConfig": {"credentialsParameter": "arn:a", "domain": "d"}"#;
    check_any(
        67,
        &volumes("", &[&fsx(whole)]),
        &["E V67 FSx volume on LINUX at volumes[0]; allowed: Windows platforms"],
    );
    let windows = r#""runtimePlatform": {"operatingSystemFamily": "WINDOWS_SERVER_2022_CORE"}"#;
    check_any(67, &volumes(windows, &[&fsx(whole)]), &[]);
    check_any(
        67,
        &volumes(windows, &[&fsx(r#""authorizationConfig": {}"#)]),
        &[
            "fileSystemId is missing",
            "rootDirectory is missing",
            "credentialsParameter is missing",
            "domain is missing",
        ],
    );
    check_any(
        67,
        &volumes(windows, &[&fsx(r#""fileSystemId": "a", "rootDirectory": "a""#)]),
        &["authorizationConfig is missing"],
    );
}

#[test]
fn v68_one_volume_is_named_at_launch() {
    let volume = |name: &str| format!(r#"{{"name": "{name}", "configuredAtLaunch": true}}"#);
    check(
        68,
        &volumes("", &[&volume("a"), &volume("b")]),
        &["E V68 2 volumes configured at launch at volumes; allowed: one"],
    );
    check(68, &task_json(r#""volumes": [{"configuredAtLaunch": true}]"#, PLAIN), &["E V68 name is missing"]);
    check(68, &volumes("", &[&volume("a"), r#"{"name": "b", "configuredAtLaunch": false}"#]), &[]);
}
