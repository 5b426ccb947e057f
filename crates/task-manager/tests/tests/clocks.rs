//! Wall clocks that step, and other boots (class CLK).

use std::time::Duration;

use lighterman_calls::{Answer, EventAction, Outcome, Phase};
use lighterman_ids::Wall;
use lighterman_status::ContainerStatus::{Running, Stopped};

use crate::{
    answers::{no_container, no_image, shows, stopped, timed_out},
    script::Script,
};

const HOUR: i64 = 3_600_000_000_000;

#[test]
fn b078_after_the_clock_stepped_back_a_new_run_is_not_taken_for_an_old_one() {
    let mut s = Script::running();
    // Ten minutes back; then somebody restarts the container, and it ends.
    let restarted_at = Wall(1_700_000_000_000_000_000 - HOUR / 6);
    s.now.wall = restarted_at;
    s.event(EventAction::Restart);
    let mut facts = s.facts(Phase::Running);
    facts.started_at = Some(restarted_at);
    s.answer(shows(facts));
    assert_eq!(s.known(), Running);
    s.event(EventAction::Die { exit_code: Some(6) });
    let mut facts = s.exited(6);
    facts.started_at = Some(restarted_at);
    facts.finished_at = Some(restarted_at.after(Duration::from_secs(1)));
    s.answer(shows(facts));
    assert_eq!((s.known(), s.container().exit_code), (Stopped, Some(6)));
}

#[test]
fn b079_a_pause_does_not_grow_when_the_clock_goes_back() {
    let mut s = Script::new();
    s.answer(no_image());
    s.answer(Answer::Pull(Outcome::Unknown(timed_out(60))));
    s.answer(no_image());
    s.now.wall = Wall(s.now.wall.0 - 3 * HOUR);
    assert!(s.until_due() <= Duration::from_millis(1_320));
    s.does(&["inspect-image", "pull", "inspect-image", "pull"]);
}

#[test]
fn b080_a_jump_forward_fires_nothing() {
    let mut s = Script::running();
    s.stop();
    s.answer(stopped());
    s.answer(shows(s.exited(0)));
    s.does(&["stop 30s", "inspect"]);
    s.now.wall = Wall(s.now.wall.0 + 24 * HOUR);
    s.wake();
    s.does(&[]);
    assert_eq!(s.until_due(), Duration::from_secs(10_800), "the real wait");
}

fn stopped_task() -> Script {
    let mut s = Script::running();
    s.stop();
    s.answer(stopped());
    s.answer(shows(s.exited(0)));
    s
}

#[test]
fn clean_up_counts_the_time_between_two_boots_by_the_wall_clock() {
    let mut s = stopped_task();
    let wall = Wall(s.now.wall.0 + HOUR);
    s.reboot(wall);
    s.wake();
    s.does(&[]);
    assert_eq!(s.until_due(), Duration::from_secs(7_200));
    s.does(&["remove"]);
}

#[test]
fn clean_up_comes_although_the_clock_of_the_new_boot_stands_before_the_end_of_the_task() {
    let mut s = stopped_task();
    s.reboot(Wall(0));
    s.wake();
    s.does(&[]);
    // As long as if the task had just ended, and no longer.
    let mut waited = Duration::ZERO;
    for _ in 0..3 {
        s.passes(Duration::from_secs(3_000));
        s.wake();
        waited += Duration::from_secs(3_000);
    }
    s.does(&[]);
    waited += s.until_due();
    assert_eq!(waited, Duration::from_secs(10_800));
    s.does(&["remove"]);
}

#[test]
fn the_watch_for_a_lost_create_ends_although_the_clock_stands_before_it_left() {
    let mut s = Script::pulled();
    s.settings.cleanup_wait = Duration::ZERO;
    s.answer(Answer::Create(Outcome::Unknown(timed_out(240))));
    s.answer(no_container());
    s.reboot(Wall(0));
    s.wake();
    let begun = s.now.mono;
    for _ in 0..100 {
        s.answer(no_container());
        if s.task.is_removed() {
            break;
        }
        s.until_due();
    }
    assert!(s.task.is_removed());
    assert!(s.now.mono.since(begun) <= Duration::from_secs(510));
}

#[test]
fn a_short_container_may_seem_to_end_before_it_started() {
    let mut s = Script::running();
    s.event(EventAction::Die { exit_code: Some(0) });
    let mut facts = s.exited(0);
    facts.finished_at = Some(Wall(facts.started_at.unwrap().0 - 600_000));
    s.answer(shows(facts));
    assert_eq!((s.known(), s.container().exit_code), (Stopped, Some(0)));
}
