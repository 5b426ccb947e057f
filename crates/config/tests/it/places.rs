//! Addresses, directories and exit codes.

use std::{
    ffi::OsString,
    os::unix::ffi::OsStringExt as _,
    path::{Path, PathBuf},
};

use lighterman_config::{DockerAddress, Environment, ExitCode, Source, StateRoot, StateRootError};
use lighterman_ids::InstanceId;

fn address(flag: Option<&str>, env: &Environment) -> (String, String, Vec<String>) {
    let address = DockerAddress::resolve(flag, env);
    let warnings = address.warnings.iter().map(ToString::to_string).collect();
    (address.text, address.source.to_string(), warnings)
}

#[test]
fn the_flag_wins_over_the_variable_over_the_default() {
    let set: Environment = [("DOCKER_HOST", "tcp://engine.test:2375")].into();
    let flag = Some("unix:///run/other.sock");
    assert_eq!(address(flag, &set), ("unix:///run/other.sock".into(), "--docker-host".into(), vec![]));
    assert_eq!(address(None, &set), ("tcp://engine.test:2375".into(), "DOCKER_HOST".into(), vec![]));
    let default = ("unix:///var/run/docker.sock".into(), "default".into(), vec![]);
    assert_eq!(address(None, &Environment::default()), default);
    assert_eq!(address(None, &[("DOCKER_HOST", "")].into()), default, "empty is not set");
}

#[test]
fn what_other_docker_tools_would_honour_is_named() {
    let (_, _, warnings) = address(None, &[("DOCKER_CONTEXT", "staging")].into());
    assert_eq!(
        warnings,
        [r#"DOCKER_CONTEXT is set to "staging", and contexts are not read; talking to unix:///var/run/docker.sock"#]
    );
    assert_eq!(address(None, &[("DOCKER_CONTEXT", "default")].into()).2, [""; 0]);
    let both = [("DOCKER_CONTEXT", "staging"), ("DOCKER_HOST", "unix:///a.sock")].into();
    assert_eq!(address(None, &both).2, [""; 0], "DOCKER_HOST wins over a context");
    let tls = [("DOCKER_HOST", "tcp://engine.test:2376"), ("DOCKER_TLS_VERIFY", "1")].into();
    assert_eq!(
        address(None, &tls).2,
        ["DOCKER_TLS_VERIFY is set, and TLS to Docker is not spoken; talking to tcp://engine.test:2376 in the clear"]
    );
    assert_eq!(address(None, &[("DOCKER_TLS_VERIFY", "1")].into()).2, [""; 0], "a socket has no TLS");
}

#[test]
fn state_goes_where_the_first_rule_says() {
    let instance = InstanceId::from_bits(0x0f);
    let below = |root: &str| Some(PathBuf::from(format!("{root}/0000000000000000000000000000000f")));
    let place = |flag: Option<&str>, env: Environment, is_root| {
        StateRoot::resolve(flag.map(Path::new), &env, is_root).ok().map(|root| root.of_instance(&instance))
    };
    let home = ("HOME", "/home/a");
    let xdg = ("XDG_STATE_HOME", "/state");
    assert_eq!(place(Some("rel/dir"), [home, xdg].into(), false), Some("rel/dir".into()));
    assert_eq!(place(None, [home, xdg].into(), false), below("/state/lighterman/run"));
    assert_eq!(place(None, [home].into(), false), below("/home/a/.local/state/lighterman/run"));
    assert_eq!(place(None, [home].into(), true), below("/home/a/.local/state/lighterman/run"));
    assert_eq!(
        place(None, [("XDG_STATE_HOME", "state"), home].into(), false),
        below("/home/a/.local/state/lighterman/run")
    );
    assert_eq!(place(None, [("HOME", "")].into(), true), below("/var/lib/lighterman/run"));
    assert_eq!(place(None, [].into(), true), below("/var/lib/lighterman/run"));
    assert_eq!(place(None, [("HOME", "relative")].into(), false), None);
}

#[test]
fn without_a_place_the_error_names_the_way_out() {
    let refused = StateRoot::resolve(None, &Environment::default(), false).unwrap_err();
    assert_eq!(refused, StateRootError::NoHome);
    assert!(refused.to_string().contains("--state-dir"));
    assert_eq!(StateRoot::resolve(Some(Path::new("")), &Environment::default(), true), Err(StateRootError::Empty));
}

#[test]
fn a_given_directory_has_no_neighbours() {
    let env: Environment = [("HOME", "/home/a")].into();
    assert_eq!(StateRoot::resolve(Some(Path::new("/s")), &env, false).unwrap().of_all(), None);
    let shared = StateRoot::resolve(None, &env, false).unwrap();
    assert_eq!(shared.of_all(), Some(Path::new("/home/a/.local/state/lighterman/run")));
    let StateRoot::Shared { source, .. } = shared else { panic!("not shared") };
    assert_eq!(source, Source::Environment("HOME".into()));
}

#[test]
fn a_home_need_not_be_utf8() {
    let odd = OsString::from_vec(b"/home/\xff".to_vec());
    let env = Environment::new([("HOME".into(), odd.clone()), (OsString::from_vec(vec![0xff]), "x".into())]);
    let root = StateRoot::resolve(None, &env, false).unwrap();
    assert_eq!(root.of_all(), Some(&*PathBuf::from(odd).join(".local/state/lighterman/run")));
    assert_eq!(env.text("HOME").as_deref(), Some("/home/\u{fffd}"));
}

#[test]
fn exit_codes() {
    for code in 0..=255 {
        assert_eq!(ExitCode::of_task(Some(code)).code(), u8::try_from(code).unwrap());
    }
    assert_eq!(ExitCode::of_task(Some(256)).code(), 255);
    assert_eq!(ExitCode::of_task(Some(-1)).code(), 255);
    assert_eq!(ExitCode::of_task(None).code(), 125, "it never ran");
    let ambiguous: Vec<i32> = (0..256).filter(|code| ExitCode::of_task(Some(*code)).is_ambiguous()).collect();
    assert_eq!(ambiguous, [125, 129, 130, 131, 143]);
    assert!(!ExitCode::of_task(None).is_ambiguous());
    const WORDS: [&str; 7] = ["task", "refused", "own-error", "hung-up", "interrupted", "quit", "terminated"];
    let all = [
        ExitCode::SUCCESS,
        ExitCode::Refused,
        ExitCode::OwnError,
        ExitCode::HungUp,
        ExitCode::Interrupted,
        ExitCode::Quit,
        ExitCode::Terminated,
    ];
    assert_eq!(all.map(ExitCode::code), [0, 1, 125, 129, 130, 131, 143]);
    assert_eq!(all.map(ExitCode::as_str), WORDS);
    for (code, meaning) in all.into_iter().skip(1).zip(ExitCode::TABLE.into_iter().skip(1)) {
        assert_eq!(code.to_string(), meaning.code);
    }
}

/// The table in the documentation of [`ExitCode`] is the one that help texts show.
#[test]
fn the_documented_table_of_exit_codes_is_the_printed_one() {
    let source = include_str!("../../src/exit_code.rs");
    for meaning in ExitCode::TABLE {
        let row = format!("/// | {} | {} |", meaning.code, meaning.when);
        assert!(source.lines().any(|line| line == row), "no row {row}");
    }
}
