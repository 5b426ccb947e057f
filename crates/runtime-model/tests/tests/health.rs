//! Health checks.

use lighterman_calls::{HealthTest, HealthWord, Signal};

use crate::rig::{Rig, check, container, ms, named, secs};

fn word(rig: &mut Rig) -> HealthWord {
    rig.inspect("web").health.expect("the container has a check").word
}

#[test]
fn a_verdict_comes_after_the_first_interval() {
    let mut rig = Rig::new();
    let mut request = container("web", "put /ok yes + sleep 60");
    request.config.healthcheck = Some(check("healthy /ok"));
    rig.create(request);
    assert_eq!(rig.inspect("web").health, None, "none before the first start");
    rig.start("web");
    assert_eq!(word(&mut rig), HealthWord::Starting);
    rig.pass(ms(900));
    assert_eq!(word(&mut rig), HealthWord::Starting);
    rig.pass(ms(300));
    let health = rig.inspect("web").health.unwrap();
    assert_eq!((health.word, health.exit_code, &*health.output), (HealthWord::Healthy, Some(0), "healthy\n"));
    rig.pass(secs(5));
    assert_eq!(rig.told(), ["create", "start", "healthy"], "a word is told when it changes");
}

#[test]
fn retries_in_a_row_make_it_unhealthy_and_one_success_healthy() {
    let mut rig = Rig::new();
    let mut request = container("web", "sleep 2.5 + put /ok yes + sleep 60");
    request.config.healthcheck = Some(check("healthy /ok"));
    rig.run(request);
    rig.pass(ms(1_500));
    assert_eq!(word(&mut rig), HealthWord::Starting);
    rig.pass(ms(700));
    assert_eq!(word(&mut rig), HealthWord::Unhealthy);
    rig.pass(ms(1_500));
    assert_eq!(word(&mut rig), HealthWord::Healthy);
    assert_eq!(rig.told(), ["create", "start", "unhealthy", "healthy"]);
}

#[test]
fn failures_of_the_start_period_do_not_count() {
    let mut rig = Rig::new();
    let mut request = container("web", "sleep 60");
    request.config.healthcheck =
        Some(lighterman_calls::HealthcheckConfig { start_period: ms(2_500), ..check("exit 7") });
    rig.run(request);
    // Probes begin after 1.0, 2.1, 3.1 and 4.2 s; the third is the first that counts.
    rig.pass(ms(3_900));
    assert_eq!(word(&mut rig), HealthWord::Starting);
    rig.pass(ms(600));
    assert_eq!(word(&mut rig), HealthWord::Unhealthy);
}

#[test]
fn b104_a_stop_makes_it_unhealthy_without_an_event() {
    let mut rig = Rig::new();
    let mut request = container("web", "put /ok yes + ignore-term");
    request.config.healthcheck = Some(check("healthy /ok"));
    rig.run(request);
    rig.pass(secs(2));
    let stop = rig.send(lighterman_calls::Request::Stop { container: named("web"), grace: secs(2) });
    rig.pass(secs(1));
    assert_eq!(word(&mut rig), HealthWord::Healthy, "probes go on during the grace");
    rig.answer(stop);
    assert_eq!(word(&mut rig), HealthWord::Unhealthy);
    assert_eq!(rig.told(), ["create", "start", "healthy", "die 137", "stop"]);
    rig.start("web");
    let health = rig.inspect("web").health.unwrap();
    assert_eq!((health.word, &*health.output), (HealthWord::Starting, "healthy\n"), "the old output stays");
}

#[test]
fn a_probe_that_cannot_run_or_takes_too_long_fails_with_minus_1() {
    let nope = HealthTest::Exec { program: "/nope".into(), arguments: Vec::new() };
    let shell = HealthTest::Shell { script: "exit 0".into(), arguments: Vec::new() };
    let slow = check("sleep 5").test;
    for (test, expected) in [
        (nope, "exec: \"/nope\": stat /nope: no such file or directory"),
        (shell, "exec: \"/bin/sh\": stat /bin/sh: no such file or directory"),
        (slow, "Health check exceeded timeout (1s)"),
    ] {
        let mut rig = Rig::new();
        let mut request = container("web", "sleep 60");
        request.config.healthcheck = Some(lighterman_calls::HealthcheckConfig { test, retries: 1, ..check("") });
        rig.run(request);
        rig.pass(ms(2_200));
        let health = rig.inspect("web").health.unwrap();
        assert_eq!((health.word, health.exit_code), (HealthWord::Unhealthy, Some(-1)));
        assert!(health.output.contains(expected), "{}", health.output);
    }
}

#[test]
fn b103_a_check_that_is_switched_off_shows_no_health() {
    let mut rig = Rig::new();
    let mut request = container("web", "sleep 60");
    request.config.healthcheck =
        Some(lighterman_calls::HealthcheckConfig { test: HealthTest::Disabled, ..check("exit 0") });
    rig.run(request);
    rig.pass(secs(3));
    assert_eq!(rig.inspect("web").health, None);
}

#[test]
fn health_can_be_forced_from_outside() {
    let mut rig = Rig::new();
    let mut request = container("web", "sleep 60");
    request.config.healthcheck = Some(check("exit 1"));
    rig.run(request);
    rig.model.force_health(&named("web"), Some(0));
    rig.pass(ms(1_500));
    assert_eq!(word(&mut rig), HealthWord::Healthy);
    rig.model.force_health(&named("web"), None);
    rig.pass(secs(3));
    assert_eq!(word(&mut rig), HealthWord::Unhealthy);
    rig.kill("web", Signal::Kill);
    assert_eq!(rig.model.poll_timeout(), None, "nobody probes a container that has ended");
}
