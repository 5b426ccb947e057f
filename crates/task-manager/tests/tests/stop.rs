//! RUNNING → STOPPED.

use std::time::Duration;

use lighterman_calls::{Answer, EventAction, Outcome, Phase};
use lighterman_status::{
    ContainerStatus::{Running, Stopped},
    TaskStatus,
};
use lighterman_task_manager::TaskEvent;
use lighterman_view::WaitReason;

use crate::{
    answers::{away, cut_off, fault, killed, no_container, pong, shows, stopped, timed_out},
    script::{Script, definition},
    world::World,
};

#[test]
fn a_stop_asks_once_and_looks_once() {
    let mut s = Script::running();
    s.stop();
    s.does(&["stop 30s"]);
    s.answer(stopped());
    s.does(&["inspect"]);
    s.answer(shows(s.exited(143)));
    s.does(&[]);
    assert_eq!((s.known(), s.container().exit_code, s.error()), (Stopped, Some(143), String::new()));
    assert_eq!(s.view().known, TaskStatus::Stopped);
    assert_eq!(s.view().reason, None, "stopped on request");
}

#[test]
fn a_task_keeps_the_reason_it_was_given() {
    let mut s = Script::running();
    s.tell(TaskEvent::Stop { reason: Some("  deployment   7 \n replaced it".into()), force: false });
    s.answer(stopped());
    s.answer(shows(s.exited(0)));
    assert_eq!(s.view().reason.as_deref(), Some("Deployment 7 replaced it"));
    s.tell(TaskEvent::Stop { reason: Some("another".into()), force: false });
    assert_eq!(s.view().reason.as_deref(), Some("Deployment 7 replaced it"));
}

#[test]
fn e67_an_empty_reason_is_none() {
    let mut s = Script::running();
    s.tell(TaskEvent::Stop { reason: Some(" \n".into()), force: false });
    assert_eq!(s.view().reason, None);
}

#[test]
fn e36_a_task_that_stops_cannot_be_made_to_run_again() {
    let mut s = Script::running();
    s.stop();
    s.does(&["stop 30s"]);
    s.stop();
    s.wake();
    s.does(&[]);
    assert_eq!(s.view().desired, TaskStatus::Stopped);
}

#[test]
fn b040_the_grace_of_the_container_counts_and_zero_kills_at_once() {
    for (own, expected) in [(Some(0), "stop 0s"), (Some(1), "stop 1s"), (Some(7_200), "stop 7200s"), (None, "stop 30s")]
    {
        let mut task = definition();
        task.containers[0].stop_timeout = own.map(Duration::from_secs);
        let mut s = Script::running_of(task);
        assert_eq!(s.container().stop_timeout, Duration::from_secs(own.unwrap_or(30)));
        s.stop();
        s.does(&[expected]);
    }
}

#[test]
fn b040_a_long_grace_can_be_cut_short() {
    let mut task = definition();
    task.containers[0].stop_timeout = Some(Duration::from_secs(7_200));
    let mut s = Script::running_of(task);
    s.stop();
    s.stop_by_force();
    s.does(&["stop 7200s", "kill SIGKILL"]);
    s.stop_by_force();
    s.does(&[]);
    s.answer(killed());
    s.answer(stopped());
    s.answer(shows(s.exited(137)));
    assert_eq!((s.known(), s.container().exit_code), (Stopped, Some(137)));
}

#[test]
fn a_stop_by_force_from_the_first_has_no_grace() {
    let mut s = Script::running();
    s.stop_by_force();
    s.does(&["stop 0s"]);
}

#[test]
fn force_between_two_tries_kills_and_tries_again_without_grace() {
    let mut s = Script::running();
    s.stop();
    s.answer(Answer::Stop(Outcome::Refused(fault())));
    s.does(&["stop 30s"]);
    s.stop_by_force();
    s.does(&["kill SIGKILL"]);
    s.until_due();
    s.does(&["stop 0s"]);
}

#[test]
fn e59_a_stop_that_fails_five_times_is_looked_into() {
    let mut s = Script::running();
    s.stop();
    let mut pauses = vec![];
    for nth in 1..=5 {
        s.does(&["stop 30s"]);
        s.answer(Answer::Stop(Outcome::Unknown(timed_out(150))));
        if nth < 5 {
            pauses.push(s.until_due());
        }
    }
    assert!(pauses.is_sorted(), "{pauses:?}");
    s.does(&["ping"]);
    s.answer(pong());
    s.does(&["inspect"]);
    s.answer(shows(s.exited(137)));
    s.does(&[]);
    assert_eq!((s.known(), s.container().exit_code, s.error()), (Stopped, Some(137), String::new()));
}

fn after_five_failed_stops() -> Script {
    let mut s = Script::running();
    s.stop();
    for nth in 1..=5 {
        s.answer(Answer::Stop(Outcome::Unknown(timed_out(150))));
        if nth < 5 {
            s.until_due();
        }
    }
    s.does(&["stop 30s", "stop 30s", "stop 30s", "stop 30s", "stop 30s", "ping"]);
    s
}

#[test]
fn b031_a_container_that_cannot_be_stopped_is_killed_once_and_then_taken_for_stopped() {
    let mut s = after_five_failed_stops();
    s.answer(pong());
    s.answer(shows(s.facts(Phase::Running)));
    s.does(&["inspect", "kill SIGKILL"]);
    s.answer(Answer::Kill(Outcome::Unknown(timed_out(30))));
    s.answer(shows(s.facts(Phase::Running)));
    s.does(&["inspect"]);
    assert_eq!(s.known(), Stopped);
    assert_eq!(s.error(), "DockerTimeoutError: Could not transition to stopped; timed out after waiting 2m30s");
    assert_eq!(s.container().exit_code, None);
}

#[test]
fn b037_stops_that_were_cut_off_one_after_the_other_do_not_cost_the_grace() {
    for (forced, latest) in [(false, 30), (true, 8)] {
        let mut s = Script::running();
        s.stop();
        let begun = s.now.mono;
        for nth in 1..=5 {
            s.answer(Answer::Stop(Outcome::Unknown(cut_off())));
            if nth < 5 {
                s.until_due();
            }
        }
        s.answer(pong());
        s.answer(shows(s.facts(Phase::Running)));
        s.forget_deeds();
        if forced {
            s.stop_by_force();
        }
        s.until_due();
        s.answer(shows(s.facts(Phase::Running)));
        s.does(&["inspect", "kill SIGKILL"]);
        let waited = s.now.mono.since(begun);
        assert!(waited <= Duration::from_secs(latest) && (forced || waited == Duration::from_secs(30)), "{waited:?}");
    }
}

#[test]
fn e60_a_runtime_that_does_not_answer_proves_nothing() {
    let mut s = after_five_failed_stops();
    s.answer(Answer::Ping(Outcome::Unknown(timed_out(5))));
    assert_eq!(s.known(), Running);
    assert!(matches!(s.wait().unwrap().reason, WaitReason::RuntimeAway { .. }));
    s.until_due();
    s.does(&["stop 30s"]);
    s.answer(stopped());
    s.answer(shows(s.exited(0)));
    assert_eq!((s.known(), s.error()), (Stopped, String::new()));
}

#[test]
fn b025_a_kill_that_did_not_arrive_proves_nothing() {
    let mut s = after_five_failed_stops();
    s.answer(pong());
    s.answer(shows(s.facts(Phase::Running)));
    s.does(&["inspect", "kill SIGKILL"]);
    for _ in 0..10 {
        s.answer(Answer::Kill(Outcome::Unknown(away())));
        assert_eq!(s.known(), Running);
        s.until_due();
        s.does(&["kill SIGKILL"]);
    }
    s.answer(killed());
    s.answer(shows(s.exited(137)));
    s.does(&["inspect"]);
    assert_eq!((s.known(), s.container().exit_code), (Stopped, Some(137)));
}

#[test]
fn b025_a_runtime_that_goes_away_in_the_middle_of_a_stop_is_asked_again() {
    let mut s = Script::running();
    s.stop();
    s.answer(Answer::Stop(Outcome::Unknown(cut_off())));
    s.until_due();
    for _ in 0..50 {
        s.answer(Answer::Stop(Outcome::Unknown(away())));
        assert_eq!(s.known(), Running, "shown as it was until Docker says otherwise");
        s.until_due();
    }
    s.answer(stopped());
    s.answer(shows(s.exited(137)));
    assert_eq!((s.known(), s.container().exit_code, s.error()), (Stopped, Some(137), String::new()));
}

#[test]
fn e61_a_stop_that_finds_nothing_is_not_repeated() {
    let mut s = Script::running();
    s.stop();
    s.answer(Answer::Stop(Outcome::Gone));
    s.does(&["stop 30s"]);
    assert_eq!(s.known(), Stopped);
    assert_eq!(s.container().exit_code, None, "none is made up");
}

#[test]
fn e61_a_look_that_finds_nothing_after_the_stop_ends_it_too() {
    let mut s = Script::running();
    s.stop();
    s.answer(stopped());
    s.answer(no_container());
    s.does(&["stop 30s", "inspect"]);
    assert_eq!(s.known(), Stopped);
}

/// engine.md E62 shows an out-of-memory error for every stop whose inspect shows the mark. The engine sets the
/// mark for a child too, and keeps it (B-060): we say so only if the main process died of it and we did
/// not stop it.
#[test]
fn e62_b060_an_out_of_memory_mark_after_our_own_stop_says_nothing() {
    let mut s = Script::running();
    s.stop();
    s.answer(stopped());
    let mut facts = s.exited(137);
    facts.oom_killed = true;
    s.answer(shows(facts));
    s.does(&["stop 30s", "inspect"]);
    assert_eq!((s.known(), s.error()), (Stopped, String::new()));
}

#[test]
fn a_stop_that_worked_is_a_fact_although_no_look_succeeds() {
    let mut s = Script::running();
    s.stop();
    s.answer(stopped());
    s.does(&["stop 30s", "inspect"]);
    for _ in 0..2 {
        s.answer(Answer::Inspect(Outcome::Unknown(timed_out(30))));
        s.until_due();
        s.does(&["inspect"]);
    }
    s.answer(Answer::Inspect(Outcome::Unknown(timed_out(30))));
    s.does(&[]);
    assert_eq!(s.known(), Stopped);
    assert_eq!(s.error(), "CannotInspectContainerError: no answer in time");
}

#[test]
fn the_exit_code_of_the_die_event_counts_when_no_look_succeeds() {
    let mut s = Script::running();
    s.stop();
    s.event(EventAction::Die { exit_code: Some(9) });
    s.answer(stopped());
    s.does(&["stop 30s", "inspect"]);
    for _ in 0..2 {
        s.answer(Answer::Inspect(Outcome::Refused(fault())));
        // The look that the event made waits behind the one of the stop.
        while s.out.is_empty() {
            s.until_due();
        }
    }
    while s.known() == Running {
        if s.out.is_empty() {
            s.until_due();
        } else {
            s.answer(Answer::Inspect(Outcome::Refused(fault())));
        }
    }
    assert_eq!((s.known(), s.container().exit_code), (Stopped, Some(9)));
}

#[test]
fn the_look_of_the_die_event_serves_the_stop_call_too() {
    let mut s = Script::running();
    s.stop();
    s.event(EventAction::Die { exit_code: Some(0) });
    s.does(&["stop 30s", "inspect"]);
    s.answer(stopped());
    s.does(&[]);
    s.answer(shows(s.exited(0)));
    s.event(EventAction::Stop);
    s.does(&[]);
    assert_eq!((s.known(), s.container().exit_code), (Stopped, Some(0)));
}

#[test]
fn a_container_seen_to_have_ended_does_not_wait_for_its_stop_call() {
    let mut s = Script::running();
    s.stop();
    s.event(EventAction::Die { exit_code: Some(0) });
    s.answer(shows(s.exited(0)));
    assert_eq!(s.known(), Stopped);
    s.answer(stopped());
    s.does(&["stop 30s", "inspect"]);
}

#[test]
fn b037_what_runs_again_after_a_stop_that_worked_is_stopped_again_with_its_grace() {
    let mut s = Script::running();
    s.stop();
    s.answer(stopped());
    s.answer(shows(s.facts(Phase::Running)));
    s.does(&["stop 30s", "inspect"]);
    for _ in 2..=5 {
        s.until_due();
        s.answer(stopped());
        s.does(&["stop 30s", "inspect"]);
        s.answer(shows(s.facts(Phase::Running)));
    }
    // Whoever starts it again and again does not keep it.
    s.answer(pong());
    s.answer(shows(s.facts(Phase::Running)));
    s.answer(killed());
    s.answer(shows(s.facts(Phase::Running)));
    s.does(&["ping", "inspect", "kill SIGKILL", "inspect"]);
    assert_eq!(s.known(), Stopped);
    assert_eq!(s.error(), "CannotStopContainerError: Docker said it was stopped, but it runs");
}

#[test]
fn stop_and_force_end_the_task_from_every_stage() {
    for served in 0..9 {
        for force in [false, true] {
            let mut s = Script::new();
            let mut world = World::default();
            for _ in 0..served {
                if !s.out.is_empty() {
                    world.serve(&mut s, 0);
                }
            }
            s.tell(TaskEvent::Stop { reason: None, force });
            world.settle(&mut s);
            assert!(s.task.is_removed(), "{served} calls, force {force}: {:?}", s.view());
            assert_eq!(world.container, None, "{served} calls, force {force}");
        }
    }
}

#[test]
fn force_ends_the_task_from_every_stage_of_a_stop() {
    for served in 0..4 {
        let mut s = Script::running();
        let mut world = World::beside_a_running(&s);
        s.stop();
        for _ in 0..served {
            if !s.out.is_empty() {
                world.serve(&mut s, 0);
            }
        }
        s.stop_by_force();
        world.settle(&mut s);
        assert!(s.task.is_removed(), "{served} calls: {:?}", s.view());
        assert_eq!(world.container, None);
    }
}
