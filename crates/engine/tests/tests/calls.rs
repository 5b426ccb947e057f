//! Places for calls (design.md R6).

use lighterman_calls::{Answer, EventAction, Outcome, Phase, RequestKind};
use lighterman_engine::{Event, HostSettings};
use lighterman_ids::ActionId;

use crate::host::{Host, created, facts, image_is_there, kinds, no_image, shows, task_id};

/// So many places for calls and pulls.
fn narrow(max_calls: usize, max_pulls: usize) -> HostSettings {
    HostSettings { max_calls, max_pulls, ..HostSettings::REFERENCE }
}

#[test]
fn calls_wait_for_a_place_in_their_order() {
    let mut host = Host::connected_with(narrow(2, 4));
    (1..=4).for_each(|n| host.submit(n));
    host.does(&["inspect-image image1:1", "inspect-image image2:1"]);
    host.answer(no_image());
    host.does(&["inspect-image image3:1", "pull image1:1"]);
    host.answer(image_is_there());
    // A look goes ahead of what creates.
    host.does(&["inspect-image image4:1"]);
    host.answer(image_is_there());
    host.answer(image_is_there());
    host.does(&["create image2:1", "create image3:1"]);
    host.answer(created(2));
    host.does(&["create image4:1"]);
}

#[test]
fn pulls_have_places_of_their_own() {
    let mut host = Host::connected_with(narrow(16, 2));
    for n in 1..=4 {
        host.submit(n);
        host.answer(no_image());
    }
    host.deeds();
    assert_eq!(kinds(&host), [RequestKind::Pull, RequestKind::Pull]);
    host.answer(Answer::Pull(Outcome::Done(())));
    host.does(&["inspect-image image1:1", "pull image3:1"]);
    // A pull that nobody waits for any more gives its place away.
    host.stop(2);
    host.does(&["cancel pull image2:1", "pull image4:1"]);
    // One that still waits for a place just goes.
    let mut host = Host::connected_with(narrow(16, 1));
    for n in 1..=2 {
        host.submit(n);
        host.answer(no_image());
    }
    host.forget_deeds();
    host.stop(2);
    host.does(&[]);
    assert_eq!(host.engine.calls_in_progress(), 1);
}

#[test]
fn e48_a_stop_holds_no_place_and_waits_for_none() {
    let mut host = Host::connected_with(narrow(2, 4));
    host.run(1);
    host.run(2);
    // Both places are taken by creates that hang.
    (3..=5).for_each(|n| host.submit(n));
    (3..=5).for_each(|_| host.answer(image_is_there()));
    assert_eq!(kinds(&host), [RequestKind::Create, RequestKind::Create]);
    host.forget_deeds();
    host.stop(1);
    host.stop(2);
    host.does(&["stop 1", "stop 2"]);
    host.tell(Event::Stop { task: task_id(1), reason: None, force: true });
    host.does(&["kill 1"]);
    // And two stops that hang leave the places to the others.
    host.answer(created(3));
    host.does(&["create image5:1"]);
}

#[test]
fn e48_a_stop_that_hangs_delays_no_other_task() {
    let mut host = Host::connected_with(narrow(2, 4));
    host.run(1);
    host.run(2);
    host.stop(1);
    host.forget_deeds();
    host.event(2, EventAction::Die { exit_code: Some(4) });
    host.does(&["inspect 2"]);
    host.answer(shows(facts(2, Phase::Exited { code: Some(4) })));
    assert_eq!(host.container(2).exit_code, Some(4));
    assert!(host.container(1).known.is_running());
}

#[test]
fn e145_at_most_sixteen_looks_at_once_after_a_restart() {
    let mut host = Host::connected();
    (1..=40).for_each(|n| host.run(n));
    let saved = crate::persist::saved(&host.engine);
    let mut host = Host::on(HostSettings::REFERENCE, saved);
    host.answer(crate::host::version());
    host.open();
    let mut most = 0;
    let mut looks = 0;
    while let Some((_, request)) = host.out.first() {
        most = most.max(host.out.len());
        match request.kind() {
            RequestKind::List => host.list(&(1..=40).collect::<Vec<_>>()),
            RequestKind::Inspect => {
                looks += 1;
                let n = number(&host);
                host.answer(shows(facts(n, Phase::Running)));
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!((most, looks), (16, 40));
}

/// Which task the oldest inspect is for.
fn number(host: &Host) -> u32 {
    let found = host.out.iter().find_map(|(_, request)| match request {
        lighterman_calls::Request::Inspect(target) => Some(target.as_str().to_string()),
        _ => None,
    });
    u32::from_str_radix(&found.unwrap()[56..], 16).unwrap()
}

#[test]
fn a_place_is_free_again_however_its_call_ends() {
    for end in ["answered", "never sent", "cancelled"] {
        let mut host = Host::connected_with(narrow(1, 1));
        host.submit(1);
        host.submit(2);
        host.does(&["inspect-image image1:1"]);
        match end {
            "answered" => host.answer(no_image()),
            "never sent" => {
                let (id, _) = host.out.remove(0);
                host.tell(Event::NeverSent(id));
            }
            _ => host.stop(1),
        }
        assert!(host.deeds().contains(&"inspect-image image2:1".to_string()), "{end}");
        assert_eq!(host.out.iter().filter(|(_, request)| request.kind() != RequestKind::Pull).count(), 1, "{end}");
    }
}

#[test]
fn an_answer_to_a_call_that_is_not_current_is_dropped() {
    let mut host = Host::connected();
    host.submit(1);
    let (id, _) = host.out[0];
    host.answer(image_is_there());
    let before = host.engine.clone();
    // Twice the same, one of a dead incarnation, and one that was never asked.
    let dead = ActionId { incarnation: 0, counter: id.counter };
    let future = ActionId { incarnation: 1, counter: 9_999 };
    for id in [id, dead, future] {
        host.tell(Event::Answer { id, answer: Box::new(no_image()) });
        host.tell(Event::NeverSent(id));
    }
    assert_eq!(host.engine, before);
}

#[test]
fn shutdown_lets_nothing_begin_and_learns_what_is_out() {
    let mut host = Host::connected_with(narrow(1, 1));
    host.run(1);
    (2..=4).for_each(|n| host.submit(n));
    host.answer(no_image());
    // One create is out, the other waits for its place.
    host.answer(image_is_there());
    host.answer(image_is_there());
    host.stop(1);
    host.forget_deeds();
    assert_eq!(kinds(&host), [RequestKind::Pull, RequestKind::Create, RequestKind::Stop]);
    host.tell(Event::Shutdown);
    host.does(&["cancel pull image2:1"]);
    host.answer(created(3));
    host.does(&[]);
    assert_eq!(host.container(3).runtime_id, Some(crate::host::container_id(3)));
    host.answer(Answer::Stop(Outcome::Done(())));
    host.answer(shows(facts(1, Phase::Exited { code: Some(143) })));
    assert_eq!(host.container(1).exit_code, Some(143));
    host.wake();
    host.submit(5);
    host.stop(3);
    host.does(&["inspect 1"]);
    assert_eq!(host.engine.poll_timeout(), None);
    let refused: Vec<_> =
        std::iter::from_fn(|| host.engine.poll_refusal()).map(|(_, error)| error.to_string()).collect();
    assert_eq!(refused, ["the host is shutting down"]);
}
