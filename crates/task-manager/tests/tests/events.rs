//! What the runtime reports, and what lists show.

use lighterman_calls::{
    Answer, EventAction, HealthFacts, HealthWord, Outcome, Phase, PortKey, Protocol, PublishedPort, RuntimeEvent,
};
use lighterman_ids::{RuntimeId, Wall};
use lighterman_status::{
    ContainerStatus::{Created, Running, Stopped},
    Health, TaskStatus,
};
use lighterman_task_manager::TaskEvent;
use lighterman_taskdef::{HealthCheck, HealthTest};

use crate::{
    answers::{away, fault, killed, no_container, removed, shows, started, stopped, timed_out},
    script::{Script, definition},
};

fn checked() -> Script {
    let mut task = definition();
    let words = ["CMD".to_string(), "true".to_string()];
    task.containers[0].health_check = Some(HealthCheck::new(HealthTest::parse(&words).unwrap()));
    Script::running_of(task)
}

fn with_health(s: &Script, word: HealthWord) -> Answer {
    let mut facts = s.facts(Phase::Running);
    facts.health = Some(HealthFacts { word, output: String::new(), exit_code: None });
    shows(facts)
}

#[test]
fn a_container_that_dies_is_looked_at_once() {
    let mut s = Script::running();
    s.event(EventAction::Die { exit_code: Some(3) });
    s.does(&["inspect"]);
    s.answer(shows(s.exited(3)));
    s.does(&[]);
    assert_eq!((s.known(), s.container().exit_code, s.error()), (Stopped, Some(3), String::new()));
    assert!(s.container().finished_at.is_some());
    assert_eq!(s.view().reason.as_deref(), Some("Essential container in task exited"));
}

#[test]
fn a_burst_of_events_costs_two_looks() {
    let mut s = Script::running();
    s.event(EventAction::Die { exit_code: Some(3) });
    s.event(EventAction::Stop);
    s.event(EventAction::Start);
    s.event(EventAction::Restart);
    s.does(&["inspect"]);
    s.answer(shows(s.facts(Phase::Running)));
    s.does(&["inspect"]);
    s.answer(shows(s.facts(Phase::Running)));
    s.does(&[]);
    assert_eq!(s.known(), Running);
}

#[test]
fn the_exit_code_of_the_event_counts_when_no_look_succeeds() {
    let mut s = Script::running();
    s.event(EventAction::Die { exit_code: Some(3) });
    // What comes with every stop by hand does not hide the end.
    s.event(EventAction::Stop);
    s.answer(Answer::Inspect(Outcome::Unknown(timed_out(30))));
    s.until_due();
    s.answer(Answer::Inspect(Outcome::Refused(fault())));
    s.until_due();
    s.answer(Answer::Inspect(Outcome::Refused(fault())));
    s.does(&["inspect", "inspect", "inspect"]);
    assert_eq!((s.known(), s.container().exit_code), (Stopped, Some(3)));
    assert_eq!(s.error(), "CannotInspectContainerError: internal server error");
}

#[test]
fn looks_that_fail_for_another_cause_change_nothing() {
    let mut s = Script::running();
    s.listed(None);
    for _ in 0..2 {
        s.answer(Answer::Inspect(Outcome::Refused(fault())));
        s.until_due();
    }
    s.answer(Answer::Inspect(Outcome::Refused(fault())));
    assert_eq!((s.known(), s.error()), (Running, String::new()));
    // The next re-check tries again.
    s.listed(None);
    s.does(&["inspect", "inspect", "inspect", "inspect"]);
}

#[test]
fn a_look_waits_for_a_runtime_that_is_away() {
    let mut s = Script::running();
    s.event(EventAction::Die { exit_code: None });
    for _ in 0..20 {
        s.answer(Answer::Inspect(Outcome::Unknown(away())));
        s.until_due();
    }
    s.answer(Answer::Inspect(Outcome::Unknown(away())));
    s.tell(TaskEvent::Resume);
    assert_eq!(s.until_due(), std::time::Duration::ZERO);
    s.answer(shows(s.exited(5)));
    assert_eq!((s.known(), s.container().exit_code), (Stopped, Some(5)));
}

#[test]
fn b001_a_container_removed_behind_our_back_has_vanished() {
    for by_list in [true, false] {
        let mut s = Script::running();
        if by_list {
            s.listed(None);
        } else {
            s.event(EventAction::Destroy);
        }
        s.does(&["inspect"]);
        s.answer(no_container());
        assert_eq!((s.known(), s.container().exit_code), (Stopped, None));
        assert_eq!(s.error(), "ContainerVanishedError: the container no longer exists in Docker");
        assert_eq!(s.view().known, TaskStatus::Stopped);
    }
}

#[test]
fn e47_a_list_without_the_container_is_looked_into() {
    let mut s = Script::running();
    s.listed(Some(true));
    s.does(&[]);
    s.listed(None);
    s.does(&["inspect"]);
    s.answer(shows(s.facts(Phase::Running)));
    assert_eq!(s.known(), Running, "the list was old");
}

#[test]
fn e46_a_list_finds_a_container_that_exited() {
    let mut s = Script::running();
    s.listed(Some(false));
    s.answer(shows(s.exited(3)));
    s.does(&["inspect"]);
    assert_eq!((s.known(), s.container().exit_code), (Stopped, Some(3)));
    assert_eq!(s.view().desired, TaskStatus::Stopped);
}

#[test]
fn e52_a_created_container_found_ended_has_stopped() {
    let mut s = Script::created();
    s.listed(Some(true));
    s.does(&["start", "inspect"]);
    s.answer(shows(s.exited(0)));
    assert_eq!((s.known(), s.container().exit_code), (Stopped, Some(0)));
    assert!(!s.history.contains(&Running));
    // The start call is still out; its answer changes nothing.
    s.answer(started());
    s.does(&[]);
}

#[test]
fn e49_a_running_container_takes_in_health_and_ports_and_saves_nothing() {
    let mut s = checked();
    let _ = s.task.take_dirty();
    s.event(EventAction::HealthStatus("healthy".into()));
    s.does(&["inspect"]);
    let mut facts = s.facts(Phase::Running);
    facts.health = Some(HealthFacts { word: HealthWord::Healthy, output: String::new(), exit_code: None });
    let port = PublishedPort {
        container: PortKey { port: 80, protocol: Protocol::Tcp },
        host_ip: "0.0.0.0".into(),
        host_port: 49_153,
    };
    facts.ports = vec![port.clone()];
    s.answer(shows(facts));
    assert_eq!((s.container().health, s.container().ports), (Health::Healthy, vec![port]));
    assert!(s.task.take_changed(), "readers see it");
    assert!(s.task.take_dirty().is_empty(), "nothing of it is persisted");
}

#[test]
fn ports_are_set_once_per_run() {
    let mut s = Script::running();
    let port = |host_port| PublishedPort {
        container: PortKey { port: 80, protocol: Protocol::Tcp },
        host_ip: "::".into(),
        host_port,
    };
    let look = |s: &mut Script, host_port, started: i64| {
        s.event(EventAction::Restart);
        let mut facts = s.facts(Phase::Running);
        facts.ports = vec![port(host_port)];
        facts.started_at = Some(Wall(started));
        s.answer(shows(facts));
        s.container().ports[0].host_port
    };
    assert_eq!(look(&mut s, 1, 10), 1);
    assert_eq!(look(&mut s, 2, 10), 1, "3.5.2: set only if none are stored");
    assert_eq!(look(&mut s, 3, 20), 3, "a restart publishes anew");
}

#[test]
fn e8_without_a_check_of_the_definition_health_stays_unknown() {
    let mut s = Script::running();
    s.event(EventAction::HealthStatus("unhealthy".into()));
    s.does(&[]);
    s.event(EventAction::Restart);
    s.answer(with_health(&s, HealthWord::Unhealthy));
    assert_eq!(s.container().health, Health::Unknown);
}

#[test]
fn health_follows_the_words_of_the_runtime() {
    let mut s = checked();
    for (word, health) in [
        (HealthWord::Starting, Health::Unknown),
        (HealthWord::Healthy, Health::Healthy),
        (HealthWord::Unhealthy, Health::Unhealthy),
        (HealthWord::Unrecognized("poorly".into()), Health::Unknown),
    ] {
        s.event(EventAction::HealthStatus("x".into()));
        s.answer(with_health(&s, word));
        assert_eq!(s.container().health, health);
    }
}

#[test]
fn b104_a_stop_says_nothing_about_health() {
    let mut s = checked();
    s.event(EventAction::HealthStatus("healthy".into()));
    s.answer(with_health(&s, HealthWord::Healthy));
    s.does(&["inspect"]);
    s.stop();
    s.event(EventAction::HealthStatus("unhealthy".into()));
    s.does(&["stop 30s"]);
    assert_eq!(s.container().health, Health::Healthy);
}

#[test]
fn e147_e148_events_that_are_no_end_cost_nothing() {
    let mut s = Script::running();
    s.event(EventAction::Oom);
    s.event(EventAction::Create);
    s.does(&[]);
    assert_eq!(s.known(), Running);
}

#[test]
fn events_of_other_containers_are_dropped() {
    let mut s = Script::running();
    let other = RuntimeId::parse(&"ab".repeat(32)).unwrap();
    let action = EventAction::Die { exit_code: Some(1) };
    s.tell(TaskEvent::Runtime(RuntimeEvent { at: s.now.wall, container: other, action }));
    s.does(&[]);
}

#[test]
fn facts_of_another_container_are_dropped() {
    let mut s = Script::running();
    s.event(EventAction::Die { exit_code: Some(1) });
    let mut facts = s.exited(1);
    facts.id = RuntimeId::parse(&"ab".repeat(32)).unwrap();
    s.answer(shows(facts));
    assert_eq!(s.known(), Running);
}

#[test]
fn b060_out_of_memory_is_said_only_of_a_main_process_that_died_of_it() {
    for (code, marked, expected) in [
        (137, true, "OutOfMemoryError: Container killed due to memory usage"),
        (137, false, ""),
        (0, true, ""),
        (1, true, ""),
    ] {
        let mut s = Script::running();
        s.event(EventAction::Oom);
        s.event(EventAction::Die { exit_code: Some(code) });
        let mut facts = s.exited(code);
        facts.oom_killed = marked;
        s.answer(shows(facts));
        assert_eq!((s.error().as_str(), s.container().exit_code), (expected, Some(code)));
    }
}

#[test]
fn the_runtime_s_own_error_text_is_kept() {
    let mut s = Script::running();
    s.event(EventAction::Die { exit_code: Some(128) });
    let mut facts = s.exited(128);
    facts.error = "disk on fire".into();
    s.answer(shows(facts));
    assert_eq!(s.error(), "DockerStateError: disk on fire");
}

#[test]
fn a_container_that_the_runtime_cannot_remove_has_stopped() {
    let mut s = Script::running();
    s.listed(Some(false));
    s.answer(shows(s.facts(Phase::Dead { code: None })));
    assert_eq!((s.known(), s.container().exit_code), (Stopped, None));
    assert_eq!(s.error(), "ContainerVanishedError: the container is being removed from Docker, and not by us");
}

/// `docker rm -f`: by the time of the look the container is half removed (seen on 20.10.24).
#[test]
fn b001_a_container_that_is_being_removed_keeps_the_exit_code_that_the_event_told() {
    let mut s = Script::running();
    s.event(EventAction::Die { exit_code: Some(137) });
    s.answer(shows(s.facts(Phase::Dead { code: None })));
    assert_eq!((s.known(), s.container().exit_code), (Stopped, Some(137)));
    assert!(s.error().starts_with("ContainerVanishedError: "), "{}", s.error());
}

#[test]
fn b004_a_late_running_event_does_not_bring_a_stopped_container_back() {
    let mut s = Script::created();
    s.event(EventAction::Die { exit_code: Some(0) });
    s.answer(shows(s.exited(0)));
    assert_eq!(s.known(), Stopped);
    s.answer(started());
    s.event(EventAction::Start);
    s.does(&["start", "inspect", "inspect"]);
    s.answer(shows(s.exited(0)));
    s.does(&[]);
    assert_eq!((s.known(), s.error()), (Stopped, String::new()));
}

#[test]
fn an_end_that_is_known_is_not_looked_at_again() {
    let mut s = Script::running();
    s.event(EventAction::Die { exit_code: Some(0) });
    s.answer(shows(s.exited(0)));
    s.does(&["inspect"]);
    for action in [EventAction::Die { exit_code: Some(0) }, EventAction::Stop, EventAction::Destroy] {
        s.event(action);
    }
    s.does(&[]);
}

fn ended() -> Script {
    let mut s = Script::running();
    s.event(EventAction::Die { exit_code: Some(0) });
    s.answer(shows(s.exited(0)));
    s.does(&["inspect"]);
    s
}

#[test]
fn e50_a_container_started_by_somebody_after_its_end_is_stopped_once() {
    let mut s = ended();
    s.event(EventAction::Start);
    s.does(&["inspect"]);
    s.answer(shows(s.facts(Phase::Running)));
    s.does(&["stop 30s"]);
    s.event(EventAction::Start);
    s.does(&["inspect"]);
    s.answer(shows(s.facts(Phase::Running)));
    s.does(&[]);
    s.answer(stopped());
    s.answer(shows(s.exited(137)));
    s.does(&["inspect"]);
    assert_eq!(s.container().exit_code, Some(0), "how it ended does not change");
    // A second time somebody wants it to run.
    s.event(EventAction::Start);
    s.answer(shows(s.facts(Phase::Running)));
    s.does(&["inspect"]);
    assert_eq!(s.known(), Stopped);
}

#[test]
fn a_list_finds_a_container_that_came_back() {
    let mut s = ended();
    s.listed(Some(true));
    s.answer(shows(s.facts(Phase::Running)));
    s.does(&["inspect", "stop 30s"]);
    s.answer(Answer::Stop(Outcome::Gone));
    // And it is removed all the same.
    s.until_due();
    s.does(&["remove"]);
    s.answer(removed());
    assert!(s.task.is_removed());
}

#[test]
fn a_container_that_came_back_and_stays_is_killed_before_it_is_removed() {
    let mut s = ended();
    s.event(EventAction::Start);
    s.answer(shows(s.facts(Phase::Running)));
    s.does(&["inspect", "stop 30s"]);
    for nth in 1..=5 {
        s.answer(stopped());
        s.answer(shows(s.facts(Phase::Running)));
        if nth < 5 {
            s.until_due();
            s.does(&["inspect", "stop 30s"]);
        }
    }
    s.answer(crate::answers::pong());
    s.answer(shows(s.facts(Phase::Running)));
    s.answer(killed());
    s.answer(shows(s.facts(Phase::Running)));
    s.does(&["inspect", "ping", "inspect", "kill SIGKILL", "inspect"]);
    assert_eq!(s.known(), Stopped);
    s.until_due();
    s.does(&["remove"]);
}

#[test]
fn an_event_during_the_look_of_a_start_is_not_lost() {
    let mut s = Script::created();
    s.answer(started());
    s.does(&["start", "inspect"]);
    s.event(EventAction::Die { exit_code: Some(4) });
    s.does(&[]);
    // The look began before the end.
    s.answer(shows(s.facts(Phase::Running)));
    assert_eq!(s.known(), Running);
    s.does(&["inspect"]);
    s.answer(shows(s.exited(4)));
    assert_eq!((s.known(), s.container().exit_code), (Stopped, Some(4)));
}

#[test]
fn an_event_that_a_later_look_covers_costs_no_call() {
    let mut s = Script::created();
    s.event(EventAction::Start);
    s.does(&["start", "inspect"]);
    s.answer(shows(s.facts(Phase::Running)));
    s.answer(started());
    s.does(&[]);
    assert_eq!(s.known(), Running);
}

#[test]
fn the_event_of_our_own_start_costs_no_look_and_the_next_one_does() {
    // During the look of the start, or after it.
    for during in [true, false] {
        let mut s = Script::created();
        s.answer(started());
        if during {
            s.event(EventAction::Start);
        }
        s.answer(shows(s.facts(Phase::Running)));
        if !during {
            s.event(EventAction::Start);
        }
        s.does(&["start", "inspect"]);
        s.event(EventAction::Start);
        s.does(&["inspect"]);
    }
}

#[test]
fn a_start_event_behind_an_end_or_a_list_is_not_taken_for_our_own() {
    let mut s = Script::running();
    s.event(EventAction::Die { exit_code: Some(0) });
    s.does(&["inspect"]);
    s.event(EventAction::Start);
    s.answer(shows(s.facts(Phase::Running)));
    s.does(&["inspect"]);

    let mut s = Script::running();
    s.listed(Some(true));
    s.event(EventAction::Start);
    s.does(&["inspect"]);
}

#[test]
fn an_answer_that_nobody_waits_for_is_dropped() {
    let mut s = Script::running();
    s.event(EventAction::Die { exit_code: Some(0) });
    let (id, _) = s.out[0];
    s.answer(shows(s.exited(0)));
    s.does(&["inspect"]);
    let view = s.view();
    s.tell(TaskEvent::Answer { id, answer: Box::new(no_container()) });
    s.tell(TaskEvent::NeverSent(id));
    s.does(&[]);
    assert_eq!(s.view(), view);
}

#[test]
fn a_created_container_that_is_not_listed_is_looked_at() {
    let mut s = Script::created();
    s.answer(started());
    s.answer(shows(s.facts(Phase::Created)));
    s.does(&["start", "inspect"]);
    assert_eq!(s.known(), Created);
    s.listed(None);
    s.does(&["inspect"]);
    s.answer(no_container());
    assert!(s.error().starts_with("ContainerVanishedError"), "{}", s.error());
}

#[test]
fn an_end_that_was_lost_while_a_start_was_looked_at_is_found() {
    let mut s = Script::created();
    // The look that the start event made begins before the end; the end is lost with other events.
    s.event(EventAction::Start);
    s.does(&["start", "inspect"]);
    s.tell(TaskEvent::Resume);
    s.listed(Some(false));
    s.answer(started());
    s.answer(shows(s.facts(Phase::Running)));
    s.does(&["inspect"]);
    s.answer(shows(s.exited(3)));
    assert_eq!((s.known(), s.container().exit_code), (Stopped, Some(3)));
}

#[test]
fn lost_events_do_not_make_a_container_vanish_that_is_being_looked_up_by_its_name() {
    let mut s = Script::pulled();
    s.answer(Answer::Create(Outcome::Unknown(timed_out(1))));
    s.does(&["create", "inspect by name"]);
    s.tell(TaskEvent::Resume);
    s.answer(no_container());
    assert!(s.error().starts_with("DockerTimeoutError"), "{}", s.error());
}

fn output_ended(s: &mut Script) {
    let name = s.container().name;
    s.tell(TaskEvent::OutputEnded(name));
}

#[test]
fn the_end_of_its_output_is_looked_into_at_once() {
    let mut s = Script::running();
    output_ended(&mut s);
    s.does(&["inspect"]);
    s.answer(shows(s.exited(3)));
    assert_eq!((s.known(), s.container().exit_code), (Stopped, Some(3)));
    output_ended(&mut s);
    s.does(&[]);
}

#[test]
fn the_end_of_its_output_that_comes_before_its_end_is_looked_into_three_times() {
    let mut s = Script::running();
    output_ended(&mut s);
    for _ in 0..2 {
        s.does(&["inspect"]);
        s.answer(shows(s.facts(Phase::Running)));
        s.until_due();
    }
    s.does(&["inspect"]);
    s.answer(shows(s.facts(Phase::Running)));
    assert_eq!((s.due(), s.known()), (None, Running), "it runs on without output");
    output_ended(&mut s);
    s.does(&["inspect"]);
    s.answer(shows(s.exited(0)));
    assert_eq!(s.known(), Stopped);
}

#[test]
fn the_end_of_output_is_no_news_of_what_does_not_run() {
    let mut s = Script::created();
    s.forget_deeds();
    output_ended(&mut s);
    s.does(&[]);
    s.tell(TaskEvent::OutputEnded(lighterman_ids::ContainerName::parse("other").unwrap()));
    s.does(&[]);
}

#[test]
fn a_restart_by_others_goes_on_and_tells_how_the_run_before_ended() {
    let mut s = Script::running();
    let again = |s: &Script, at| {
        let mut facts = s.facts(Phase::Running);
        facts.started_at = Some(Wall(at));
        shows(facts)
    };
    assert_eq!(s.container().restarted, None, "its first start is none");
    for times in 1..3 {
        s.event(EventAction::Die { exit_code: Some(10 + i32::try_from(times).unwrap()) });
        s.event(EventAction::Start);
        // The first look comes before the restart, or after it.
        s.answer(if times == 1 { shows(s.facts(Phase::Running)) } else { again(&s, 1_700_000_100_000_000_000) });
        s.answer(again(&s, 1_700_000_000_000_000_000 + i64::from(times) * 100_000_000_000));
        let restarted = s.container().restarted.unwrap();
        assert_eq!((s.known(), restarted.exit_code), (Running, Some(10 + i32::try_from(times).unwrap())));
        assert_eq!((restarted.times, s.container().exit_code), (times, None));
    }
}
