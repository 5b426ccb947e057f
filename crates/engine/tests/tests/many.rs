//! Ten thousand tasks: an event costs what its own task costs.
//!
//! Work is counted by what it leaves behind (views, records, calls); nothing here measures time.

use std::sync::Arc;

use lighterman_calls::{Answer, EventAction, Outcome, Phase};
use lighterman_engine::{Engine, Event, RecordKey};
use lighterman_task_manager::TaskManager;

use crate::host::{Host, created, facts, image_is_there, shows, spec, summary, task_id};

const MANY: u32 = 10_000;

fn many() -> Host {
    let mut host = Host::connected();
    let shared = spec(0);
    for n in 1..=MANY {
        let spec = lighterman_task_manager::TaskSpec { definition: Arc::clone(&shared.definition), ..spec(n) };
        host.tell(Event::Submit(Box::new(spec)));
        host.answer(image_is_there());
        host.answer(created(n));
        host.answer(Answer::Start(Outcome::Done(())));
        host.answer(shows(facts(n, Phase::Running)));
    }
    settle(&mut host);
    host
}

/// Everything that came out is taken.
fn settle(host: &mut Host) {
    host.forget_deeds();
    let _ = (host.engine.take_dirty(), host.engine.take_views(host.now), host.engine.take_host_view());
}

#[test]
fn an_event_touches_its_own_task_only() {
    let mut host = many();
    assert_eq!(host.engine.tasks().filter(|task| task.known().is_running()).count(), MANY as usize);

    host.event(7_777, EventAction::Die { exit_code: Some(3) });
    host.does(&["inspect 7777"]);
    assert!(!host.engine.is_dirty());
    host.answer(shows(facts(7_777, Phase::Exited { code: Some(3) })));
    let dirty: Vec<_> = host.engine.take_dirty().into_iter().collect();
    assert_eq!(dirty, [RecordKey::Task(task_id(7_777)), RecordKey::Container(task_id(7_777), 0)]);
    let views = host.engine.take_views(host.now);
    assert_eq!(views.iter().map(|view| &view.id).collect::<Vec<_>>(), [&task_id(7_777)]);

    // A list in which nothing differs changes nothing, writes nothing and asks nothing.
    host.tell(Event::EventsDropped);
    let listed = (1..=MANY).filter(|n| *n != 7_777).map(summary).collect();
    host.answer(Answer::List(Outcome::Done(listed)));
    host.does(&["list"]);
    assert!(!host.engine.is_dirty() && host.engine.take_views(host.now).is_empty());

    // One in which a single container differs costs a single look.
    host.tell(Event::EventsDropped);
    let listed = (1..=MANY).filter(|n| *n != 7_777 && *n != 42).map(summary).collect();
    host.answer(Answer::List(Outcome::Done(listed)));
    host.does(&["list", "inspect 42"]);
}

#[test]
fn sizes_are_known() {
    println!("Engine: {} bytes; TaskManager: {} bytes", size_of::<Engine>(), size_of::<TaskManager>());
    assert!(size_of::<Engine>() <= 2_048);
}
