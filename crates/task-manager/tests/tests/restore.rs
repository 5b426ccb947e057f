//! Taking a task up again after a restart (engine.md 4.11).

use std::time::Duration;

use lighterman_calls::{Answer, EventAction, Outcome, Phase, labels};
use lighterman_ids::Wall;
use lighterman_status::{
    ContainerStatus::{self, Created, Pulled, Running, Stopped},
    TaskStatus,
};
use lighterman_task_manager::{RestoreError, TaskManager};
use lighterman_view::WaitReason;

use crate::{
    answers::{away, created, fault, image_is_there, no_container, removed, shows, stopped, timed_out},
    script::{Script, definition, spec},
};

fn restarted(mut s: Script) -> Script {
    s.restart();
    s.does(&[]);
    s.wake();
    s
}

#[test]
fn a_task_that_had_done_nothing_begins_anew() {
    let mut s = restarted(Script::new());
    s.does(&["inspect-image"]);
}

#[test]
fn e135_e143_a_container_that_was_created_before_the_crash_is_adopted() {
    let mut s = Script::pulled();
    s.does(&["create"]);
    let mut s = restarted(s);
    s.does(&["inspect by name"]);
    s.answer(shows(s.facts(Phase::Running)));
    s.does(&["inspect"]);
    assert_eq!(s.known(), Running);
    let state = s.task.container_state(0).unwrap();
    assert_eq!((state.runtime_id, state.create_sent), (Some(crate::answers::runtime_id()), None));
}

#[test]
fn e143_a_created_container_is_started_and_not_created_again() {
    let mut s = Script::pulled();
    s.does(&["create"]);
    let mut s = restarted(s);
    s.answer(shows(s.facts(Phase::Created)));
    s.does(&["inspect by name", "start"]);
}

#[test]
fn e136_a_container_that_was_not_created_is_created_under_the_same_name() {
    let mut s = Script::pulled();
    let name = s.container().runtime_name;
    s.does(&["create"]);
    let mut s = restarted(s);
    s.answer(no_container());
    s.does(&["inspect by name", "inspect-image"]);
    assert_eq!(s.known(), Pulled);
    s.answer(image_is_there());
    s.does(&["create"]);
    assert_eq!(s.container().runtime_name, name);
}

#[test]
fn a_name_that_somebody_else_took_is_chosen_anew() {
    let mut s = Script::pulled();
    let name = s.container().runtime_name;
    s.does(&["create"]);
    let mut s = restarted(s);
    let mut foreign = s.facts(Phase::Running);
    foreign.labels.remove(labels::INSTANCE);
    s.answer(shows(foreign));
    s.answer(image_is_there());
    s.does(&["inspect by name", "inspect-image", "create"]);
    assert_eq!(s.known(), Pulled);
    // The name is drawn from the seed, so it is the same until it is found taken by the create call.
    assert_eq!(s.container().runtime_name, name);
}

#[test]
fn e137_a_look_that_never_succeeds_keeps_the_last_status() {
    let mut s = restarted(Script::running());
    for _ in 0..2 {
        s.answer(Answer::Inspect(Outcome::Unknown(timed_out(30))));
        assert!(s.until_due() >= Duration::from_secs(1));
    }
    s.answer(Answer::Inspect(Outcome::Unknown(timed_out(30))));
    s.does(&["inspect", "inspect", "inspect"]);
    assert_eq!((s.known(), s.view().desired, s.error()), (Running, TaskStatus::Running, String::new()));
    assert!(!s.task.is_restoring());
}

#[test]
fn e138_b014_a_container_that_ended_while_we_were_away_has_its_exit_code() {
    for code in [0, 9] {
        let mut s = restarted(Script::running());
        s.answer(shows(s.exited(code)));
        s.does(&["inspect"]);
        assert_eq!((s.known(), s.container().exit_code, s.error()), (Stopped, Some(code), String::new()));
        assert_eq!(s.container().finished_at, Some(Wall(1_700_000_009_000_000_000)), "the runtime's");
    }
}

#[test]
fn e139_a_running_container_with_an_out_of_memory_mark_runs() {
    let mut s = restarted(Script::running());
    let mut facts = s.facts(Phase::Running);
    facts.oom_killed = true;
    s.answer(shows(facts));
    assert_eq!((s.known(), s.error()), (Running, String::new()));
}

#[test]
fn e139_one_that_died_of_it_says_so() {
    let mut s = restarted(Script::running());
    let mut facts = s.exited(137);
    facts.oom_killed = true;
    s.answer(shows(facts));
    assert_eq!(s.error(), "OutOfMemoryError: Container killed due to memory usage");
}

#[test]
fn b060_a_stop_of_ours_before_the_restart_explains_the_mark() {
    let mut s = Script::running();
    s.stop();
    let mut s = restarted(s);
    let mut facts = s.exited(137);
    facts.oom_killed = true;
    s.answer(shows(facts));
    assert_eq!((s.known(), s.error()), (Stopped, String::new()));
}

#[test]
fn r4_a_container_that_is_gone_has_vanished() {
    let mut s = restarted(Script::running());
    s.answer(no_container());
    assert_eq!(s.known(), Stopped);
    assert!(s.error().starts_with("ContainerVanishedError: "), "{}", s.error());
}

#[test]
fn b063_the_exit_code_outlives_a_restart_and_the_container() {
    let mut s = Script::running();
    s.event(EventAction::Die { exit_code: Some(42) });
    s.answer(shows(s.exited(42)));
    let mut s = restarted(s);
    s.does(&[]);
    assert_eq!((s.known(), s.container().exit_code), (Stopped, Some(42)));
    s.until_due();
    s.answer(removed());
    assert_eq!((s.container().exit_code, s.view().removed), (Some(42), true));
}

#[test]
fn a_stop_that_was_wanted_before_the_crash_goes_on() {
    let mut s = Script::running();
    s.stop();
    let mut s = restarted(s);
    s.does(&["inspect"]);
    s.answer(shows(s.facts(Phase::Running)));
    s.does(&["stop 30s"]);
    s.answer(stopped());
    s.answer(shows(s.exited(0)));
    assert_eq!(s.known(), Stopped);
}

#[test]
fn nothing_is_decided_before_the_first_look() {
    let mut s = restarted(Script::running());
    s.does(&["inspect"]);
    s.stop();
    s.wake();
    s.does(&[]);
    assert!(s.task.is_restoring());
}

#[test]
fn an_event_during_the_first_look_is_not_lost() {
    let mut s = restarted(Script::running());
    s.does(&["inspect"]);
    s.event(EventAction::Die { exit_code: Some(7) });
    s.does(&[]);
    // The look began before the end.
    s.answer(shows(s.facts(Phase::Running)));
    s.does(&["inspect"]);
    s.answer(shows(s.exited(7)));
    assert_eq!((s.known(), s.container().exit_code), (Stopped, Some(7)));
}

#[test]
fn a_list_during_the_first_look_is_not_lost() {
    let mut s = restarted(Script::running());
    s.listed(Some(false));
    s.answer(shows(s.facts(Phase::Running)));
    s.does(&["inspect", "inspect"]);
}

#[test]
fn the_first_look_waits_for_a_runtime_that_is_away() {
    let mut s = restarted(Script::running());
    for _ in 0..20 {
        s.answer(Answer::Inspect(Outcome::Unknown(away())));
        assert!(matches!(s.wait().unwrap().reason, WaitReason::RuntimeAway { .. }));
        s.until_due();
    }
    s.answer(shows(s.facts(Phase::Running)));
    assert_eq!(s.known(), Running);
}

#[test]
fn a_first_look_that_never_left_is_made_again() {
    let mut s = restarted(Script::running());
    s.never_sent(lighterman_calls::RequestKind::Inspect);
    assert_eq!(s.until_due(), Duration::ZERO);
    s.does(&["inspect", "inspect"]);
}

#[test]
fn b023_what_is_found_is_judged_by_how_it_stands() {
    for (phase, known) in [
        (Phase::Created, Created),
        (Phase::Running, Running),
        (Phase::Exited { code: Some(1) }, Stopped),
        (Phase::Exited { code: None }, Stopped),
        (Phase::Dead { code: None }, Stopped),
    ] {
        let mut s = Script::pulled();
        s.does(&["create"]);
        let mut s = restarted(s);
        s.answer(shows(s.facts(phase)));
        assert_eq!(s.known(), known, "{phase:?}");
    }
}

#[test]
fn e89_clean_up_that_was_due_long_ago_begins_at_once() {
    let mut s = Script::running();
    s.stop();
    s.answer(stopped());
    s.answer(shows(s.exited(0)));
    s.passes(Duration::from_secs(4 * 3_600));
    let mut s = restarted(s);
    s.does(&["remove"]);
}

#[test]
fn a_removal_that_was_cut_short_by_a_crash_is_made_again() {
    let mut s = Script::running();
    s.stop();
    s.answer(stopped());
    s.answer(shows(s.exited(0)));
    s.until_due();
    let mut s = restarted(s);
    s.does(&["remove"]);
    s.answer(Answer::Remove(Outcome::Gone));
    assert!(s.task.is_removed(), "B-018");
}

#[test]
fn records_that_do_not_fit_the_definition_are_refused() {
    let s = Script::running();
    let mut state = s.task.container_state(0).unwrap();
    state.name = lighterman_ids::ContainerName::parse("other").unwrap();
    let result = TaskManager::restore(spec(definition()), s.task.state(), vec![state.clone()], s.now);
    assert_eq!(result.unwrap_err(), RestoreError::UnknownContainer(state.name));
}

#[test]
fn a_container_without_a_record_has_not_left_none() {
    let s = Script::new();
    let restored = TaskManager::restore(spec(definition()), s.task.state(), vec![], s.now).unwrap();
    assert_eq!(restored.container_state(0).unwrap().known, ContainerStatus::None);
}

#[test]
fn a_restart_that_changes_nothing_writes_nothing() {
    let mut s = Script::running();
    let _ = s.task.take_dirty();
    s.restart();
    assert!(s.task.take_dirty().is_empty());
}

#[test]
fn a_crash_between_create_and_record_leaves_one_container() {
    let mut s = Script::pulled();
    s.answer(created());
    s.does(&["create", "start"]);
    let mut s = restarted(s);
    s.does(&["inspect"]);
    s.answer(Answer::Inspect(Outcome::Refused(fault())));
    s.until_due();
    s.answer(shows(s.facts(Phase::Created)));
    s.does(&["inspect", "start"]);
}

#[test]
fn b017_a_created_container_is_looked_at_until_a_look_succeeds() {
    // A start may have been under way: whether it ran is told by nothing else.
    for stopped in [false, true] {
        let mut s = restarted(Script::created());
        if stopped {
            s.stop();
        }
        for _ in 0..20 {
            s.answer(Answer::Inspect(Outcome::Refused(fault())));
            assert!(s.until_due() <= Duration::from_secs(24));
        }
        assert!(s.deeds().iter().skip(1).all(|call| call == "inspect"));
        s.forget_deeds();
        s.answer(shows(s.exited(7)));
        assert_eq!((s.known(), s.container().exit_code), (Stopped, Some(7)));
        s.does(&[]);
    }
}
