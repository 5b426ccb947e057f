//! A user who may not use Docker.

use std::{
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt as _,
};

use crate::{corner::in_corner, engine::SOON};

/// Nobody has it, and it owns nothing.
const NOBODY: &str = "65534";

#[tokio::test]
async fn who_may_not_use_the_socket_is_told_at_once_and_what_to_do() {
    in_corner(async |corner| {
        let proxy = corner.proxy();
        // What nobody may read, nobody may start.
        let public = tempfile::tempdir().unwrap();
        fs::set_permissions(public.path(), Permissions::from_mode(0o755)).unwrap();
        let program = public.path().join("lighterman");
        fs::copy(corner.program(), &program).unwrap();
        let user = [format!("--reuid={NOBODY}"), format!("--regid={NOBODY}")];
        let launch = corner.through(&["setpriv", &user[0], &user[1], "--clear-groups"]).argument(&program);
        let launch = launch.arguments(&["run", "--json", "-"]).docker(proxy.socket());
        let ended = launch.input(corner.task(&["exit", "0"]).to_string()).start().end_within(SOON).await;
        let ended = ended.unwrap_or_else(|run| panic!("it waits: {}", run.story()));
        ended.assert_code(125);
        let words = ended.failure();
        assert!(words.contains("no permission to use Docker") && words.contains("docker.sock"), "{words}");
        assert!(words.contains("group") && words.contains("sudo"), "{words}");
        assert!(proxy.requests().is_empty());
        corner.nothing_is_left().await;
    })
    .await;
}
