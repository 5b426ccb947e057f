//! Ends: stop, kill, memory, and others behind our back.

use lighterman_calls::{Answer, Outcome, Phase, RefusalClass, Request, Signal};

use crate::rig::{Rig, container, ms, named, refusal, secs};

const EXITED_137: Phase = Phase::Exited { code: Some(137) };

#[test]
fn process_1_without_a_handler_ignores_the_stop_signal() {
    let mut rig = Rig::new();
    rig.run(container("web", "sleep 60"));
    let before = rig.now;
    assert_eq!(rig.stop("web", secs(2)), Outcome::Done(()));
    let took = rig.now.since(before);
    assert!((secs(2)..ms(2_200)).contains(&took), "{took:?}");
    assert_eq!(rig.inspect("web").phase, EXITED_137);
    assert_eq!(rig.told(), ["create", "start", "die 137", "stop"]);
}

#[test]
fn a_handler_ends_it_with_its_own_code() {
    for (words, code, least) in [
        ("trap 0 + sleep 60", 0, ms(0)),
        ("on-term 7", 7, ms(0)),
        ("term-after 1.5 9", 9, ms(1_500)),
        ("serve 80", 0, ms(0)),
        ("ignore-term", 137, ms(5_000)),
        ("ignore-term 1", 137, ms(5_000)),
        ("trap 4 + ignore-term 60", 137, ms(5_000)),
    ] {
        let mut rig = Rig::new();
        // `ignore-term 1` would come to its end in the grace: something follows it.
        rig.run(container("web", &format!("{words} + sleep 60")));
        let before = rig.now;
        assert_eq!(rig.stop("web", secs(5)), Outcome::Done(()));
        assert_eq!(rig.inspect("web").phase, Phase::Exited { code: Some(code) }, "{words}");
        let took = rig.now.since(before);
        assert!(took >= least && took < least + ms(200), "{words}: {took:?}");
    }
}

#[test]
fn a_stop_without_grace_still_sends_the_stop_signal_first() {
    let mut rig = Rig::new();
    rig.run(container("web", "on-term 0"));
    assert_eq!(rig.stop("web", ms(0)), Outcome::Done(()));
    assert_eq!(rig.inspect("web").phase, Phase::Exited { code: Some(0) });
    rig.run(container("slow", "term-after 1"));
    assert_eq!(rig.stop("slow", ms(0)), Outcome::Done(()));
    assert_eq!(rig.inspect("slow").phase, EXITED_137);
}

#[test]
fn a_grace_counts_in_whole_seconds() {
    let mut rig = Rig::new();
    rig.run(container("web", "term-after 0.8 3"));
    rig.stop("web", ms(100));
    assert_eq!(rig.inspect("web").phase, Phase::Exited { code: Some(3) });
}

#[test]
fn init_ends_with_143_where_nobody_handles_the_signal() {
    let mut rig = Rig::new();
    let mut request = container("web", "sleep 60");
    request.host.init = Some(true);
    rig.run(request);
    rig.stop("web", secs(5));
    assert_eq!(rig.inspect("web").phase, Phase::Exited { code: Some(143) });
}

#[test]
fn two_stops_end_together_and_are_both_told() {
    let mut rig = Rig::new();
    rig.run(container("web", "sleep 60"));
    let long = rig.send(Request::Stop { container: named("web"), grace: secs(30) });
    let short = rig.send(Request::Stop { container: named("web"), grace: secs(2) });
    assert_eq!(rig.answer(long), Answer::Stop(Outcome::Done(())));
    assert_eq!(rig.answer(short), Answer::Stop(Outcome::Done(())));
    assert_eq!(rig.told(), ["create", "start", "die 137", "stop", "stop"]);
}

#[test]
fn a_kill_ends_a_stop_that_waits() {
    let mut rig = Rig::new();
    rig.run(container("web", "ignore-term"));
    let stop = rig.send(Request::Stop { container: named("web"), grace: secs(600) });
    rig.pass(secs(1));
    assert_eq!(rig.kill("web", Signal::Term), Outcome::Done(()));
    assert!(rig.model.is_alive(&named("web")));
    assert_eq!(rig.kill("web", Signal::Kill), Outcome::Done(()));
    assert_eq!(rig.answer(stop), Answer::Stop(Outcome::Done(())));
    assert_eq!(rig.model.poll_timeout(), None, "nothing is left of the grace");
}

#[test]
fn a_kill_answers_when_the_container_has_ended_and_a_signal_at_once() {
    let mut rig = Rig::new();
    rig.run(container("web", "term-after 1 2"));
    rig.kill("web", Signal::Term);
    assert_eq!(rig.inspect("web").phase, Phase::Running);
    rig.kill("web", Signal::Kill);
    assert_eq!(rig.inspect("web").phase, EXITED_137);
}

#[test]
fn a_stop_during_a_start_waits_for_it() {
    let mut rig = Rig::new();
    rig.create(container("web", "sleep 60"));
    let start = rig.send(Request::Start(named("web")));
    let stop = rig.send(Request::Stop { container: named("web"), grace: secs(1) });
    assert_eq!(rig.answer(start), Answer::Start(Outcome::Done(())));
    assert_eq!(rig.answer(stop), Answer::Stop(Outcome::Done(())));
    assert_eq!(rig.told(), ["create", "start", "die 137", "stop"]);
}

#[test]
fn rm_f_tells_die_and_destroy_and_no_stop() {
    let mut rig = Rig::new();
    rig.run(container("web", "on-term 0"));
    assert!(rig.model.external_remove(rig.now, &named("web")));
    rig.pass(secs(1));
    assert_eq!(rig.told(), ["create", "start", "die 137", "destroy"]);
    assert!(!rig.model.external_remove(rig.now, &named("web")));
    rig.create(container("web", "exit 0"));
    assert!(rig.model.external_remove(rig.now, &named("web")));
    rig.pass(secs(1));
    assert_eq!(rig.told(), ["create", "destroy"]);
}

#[test]
fn somebody_elses_kill_and_restart() {
    let mut rig = Rig::new();
    rig.run(container("web", "sleep 60"));
    assert!(rig.model.external_kill(rig.now, &named("web")));
    assert!(!rig.model.external_kill(rig.now, &named("web")), "it is dead, though the engine does not know yet");
    rig.pass(secs(1));
    assert_eq!(rig.told(), ["create", "start", "die 137"]);
    assert!(rig.model.external_restart(rig.now, &named("web")));
    rig.pass(secs(1));
    assert!(rig.model.external_restart(rig.now, &named("web")));
    rig.pass(secs(1));
    assert_eq!(rig.told(), ["start", "restart", "die 137", "stop", "start", "restart"]);
    rig.run(container("polite", "term-after 1 5"));
    assert!(rig.model.external_restart_gracefully(rig.now, &named("polite"), secs(2)));
    rig.pass(secs(3));
    assert_eq!(rig.told(), ["create", "start", "die 5", "stop", "start", "restart"]);
}

#[test]
fn main_process_killed_for_memory() {
    let mut rig = Rig::new();
    let mut request = container("web", "sleep 0.5 + alloc 100");
    request.host.memory = Some(16 << 20);
    rig.run(request);
    rig.pass(secs(1));
    let facts = rig.inspect("web");
    assert_eq!((facts.phase, facts.oom_killed), (EXITED_137, true));
    assert_eq!(rig.told(), ["create", "start", "oom", "die 137"]);
}

#[test]
fn a_child_killed_for_memory_shows_only_when_the_container_ends() {
    for (words, code) in [("alloc-child 100 + sleep 1 + exit 0", 0), ("alloc-child 100 + sleep 60", 137)] {
        let mut rig = Rig::new();
        let mut request = container("web", words);
        request.host.memory = Some(16 << 20);
        rig.run(request);
        rig.pass(ms(100));
        let facts = rig.inspect("web");
        assert_eq!((facts.phase, facts.oom_killed), (Phase::Running, false));
        rig.pass(secs(2));
        rig.stop("web", secs(1));
        let facts = rig.inspect("web");
        assert_eq!((facts.phase, facts.oom_killed), (Phase::Exited { code: Some(code) }, true));
        assert_eq!(rig.told()[..3], ["create", "start", "oom"]);
    }
}

#[test]
fn the_memory_mark_of_one_run_is_still_shown_in_the_next_until_that_ends() {
    let mut rig = Rig::new();
    rig.run(container("web", "sleep 60"));
    assert!(rig.model.external_oom(rig.now, &named("web")));
    rig.kill("web", Signal::Kill);
    assert!(rig.inspect("web").oom_killed);
    rig.start("web");
    let facts = rig.inspect("web");
    assert_eq!((facts.phase, facts.oom_killed), (Phase::Running, true));
    rig.kill("web", Signal::Kill);
    assert!(!rig.inspect("web").oom_killed);
}

#[test]
fn die_is_out_before_the_state_is_shown() {
    let mut rig = Rig::new();
    rig.run(container("web", "sleep 1"));
    rig.told();
    while rig.events.is_empty() {
        let at = rig.model.poll_timeout().unwrap();
        rig.pass(at.since(rig.now.mono));
    }
    assert_eq!(rig.told(), ["die 0"]);
    let Answer::List(Outcome::Done(list)) = rig.call(Request::List(crate::rig::instance())) else { panic!() };
    assert!(list[0].running, "a list shows what stands so far");
    assert_eq!(rig.inspect("web").phase, Phase::Exited { code: Some(0) }, "an inspect waits for the new state");
}

#[test]
fn a_removal_of_a_container_that_has_just_ended_is_a_conflict_until_it_is_noticed() {
    let mut rig = Rig::new();
    rig.run(container("web", "sleep 60"));
    rig.model.external_kill(rig.now, &named("web"));
    assert_eq!(refusal(rig.remove("web")).0, RefusalClass::Conflict);
    rig.pass(secs(1));
    assert_eq!(rig.remove("web"), Outcome::Done(()));
}

#[test]
fn two_restarts_at_once_take_turns() {
    let mut rig = Rig::new();
    rig.run(container("web", "sleep 60"));
    rig.told();
    rig.model.external_restart(rig.now, &named("web"));
    rig.model.external_restart(rig.now, &named("web"));
    rig.pass(secs(2));
    assert_eq!(rig.told(), ["die 137", "stop", "stop", "start", "restart", "die 137", "stop", "start", "restart"]);
}

#[test]
fn a_kill_for_memory_can_go_unnoticed() {
    let mut rig = Rig::new();
    rig.model.miss_oom(true);
    let mut request = container("web", "alloc 100");
    request.host.memory = Some(16 << 20);
    rig.run(request);
    rig.pass(secs(1));
    let facts = rig.inspect("web");
    assert_eq!((facts.phase, facts.oom_killed), (EXITED_137, false));
    assert_eq!(rig.told(), ["create", "start", "die 137"]);
}
