//! Create, inspect, list, remove: what is answered in which state.

use lighterman_calls::{Answer, Outcome, Phase, RefusalClass, Request, Signal};
use lighterman_ids::{InstanceId, RuntimeName};
use lighterman_runtime_model::LocalImage;

use crate::rig::{Rig, container, image_id, instance, ms, named, refusal, secs, testbox};

fn create_outcome(rig: &mut Rig, request: lighterman_calls::CreateRequest) -> Outcome<lighterman_calls::Created> {
    match rig.call(Request::Create(Box::new(request))) {
        Answer::Create(outcome) => outcome,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_whole_life_is_told_in_order() {
    let mut rig = Rig::new();
    let id = rig.create(container("web", "sleep 0.3 + exit 5"));
    let created = rig.inspect("web");
    assert_eq!((&created.id, created.phase, created.started_at), (&id, Phase::Created, None));
    assert_eq!(rig.start("web"), Outcome::Done(()));
    assert_eq!(rig.inspect("web").phase, Phase::Running);
    rig.pass(secs(1));
    let ended = rig.inspect("web");
    assert_eq!((ended.phase, ended.oom_killed), (Phase::Exited { code: Some(5) }, false));
    assert_eq!(rig.remove("web"), Outcome::Done(()));
    assert_eq!(rig.told(), ["create", "start", "die 5", "destroy"]);
}

#[test]
fn names_are_unique_from_the_beginning_of_a_create() {
    let mut rig = Rig::new();
    let first = rig.send(Request::Create(Box::new(container("web", "exit 0"))));
    // The first is still at work: the name is taken already, and cannot be looked up yet.
    let inspect = rig.send(Request::Inspect(named("web")));
    let (class, text) = refusal(create_outcome(&mut rig, container("web", "exit 0")));
    assert_eq!(class, RefusalClass::NameInUse);
    assert!(text.starts_with("Conflict. The container name \"/web\" is already in use by container \""), "{text}");
    assert_eq!(rig.answer(inspect), Answer::Inspect(Outcome::Gone));
    assert!(matches!(rig.answer(first), Answer::Create(Outcome::Done(_))));
}

#[test]
fn a_missing_image_is_not_found() {
    let mut rig = Rig::new();
    let mut request = container("web", "exit 0");
    request.config.image = lighterman_ids::ImageRef::parse("nope:1").unwrap();
    let refused = refusal(create_outcome(&mut rig, request));
    assert_eq!(refused, (RefusalClass::NotFound, "No such image: nope:1".to_string()));
    assert_eq!(
        rig.call(Request::InspectImage(lighterman_ids::ImageRef::parse("nope:1").unwrap())),
        Answer::InspectImage(Outcome::Gone)
    );
}

#[test]
fn what_the_engine_refuses_at_create() {
    type Change = fn(&mut lighterman_calls::CreateRequest);
    let cases: [(Change, &str); 5] = [
        (|r| r.host.memory = Some(1_000_000), "Minimum memory limit allowed is 6MB"),
        (
            |r| (r.host.memory, r.host.memory_reservation) = (Some(10_000_000), Some(20_000_000)),
            "Minimum memory limit can not be less than memory reservation limit, see usage",
        ),
        (
            |r| r.config.working_dir = Some("rel".into()),
            "the working directory 'rel' is invalid, it needs to be an absolute path",
        ),
        (|r| (r.config.entrypoint, r.config.cmd) = (Some(vec![String::new()]), None), "No command specified"),
        (
            |r| {
                let interval = core::time::Duration::from_micros(1);
                r.config.healthcheck =
                    Some(lighterman_calls::HealthcheckConfig { interval, ..crate::rig::check("exit 0") });
            },
            "Interval in Healthcheck cannot be less than 1ms",
        ),
    ];
    for (change, expected) in cases {
        let mut rig = Rig::new();
        let mut request = container("web", "exit 0");
        change(&mut request);
        assert_eq!(refusal(create_outcome(&mut rig, request)), (RefusalClass::Invalid, expected.to_string()));
        assert_eq!(
            create_outcome(&mut rig, container("web", "exit 0")).map(|_| ()),
            Outcome::Done(()),
            "no name was taken"
        );
    }
}

#[test]
fn calls_by_state() {
    // Row: what was done before; then start, stop, kill, remove, each on a container of its own.
    let mut seen = String::new();
    for (state, prepare) in STATES {
        let mut row = format!("{state:<8}");
        for call in ["start", "stop", "kill", "remove"] {
            let mut rig = Rig::new();
            prepare(&mut rig);
            let outcome = match call {
                "start" => rig.start("web"),
                "stop" => rig.stop("web", secs(1)),
                "kill" => rig.kill("web", Signal::Kill),
                _ => rig.remove("web"),
            };
            row += &format!(" {call}={}", brief(&outcome));
        }
        seen += &(row.trim_end().to_owned() + "\n");
    }
    assert_eq!(
        seen,
        "none     start=gone stop=gone kill=gone remove=gone\n\
         created  start=done stop=done kill=conflict remove=done\n\
         running  start=done stop=done kill=done remove=conflict\n\
         exited   start=done stop=done kill=conflict remove=done\n\
         failed   start=invalid stop=done kill=conflict remove=done\n\
         dead     start=conflict stop=done kill=conflict remove=runtime fault\n"
    );
}

type Prepare = fn(&mut Rig);

const STATES: [(&str, Prepare); 6] = [
    ("none", |_| ()),
    ("created", |rig| drop(rig.create(container("web", "sleep 9")))),
    ("running", |rig| rig.run(container("web", "sleep 9"))),
    ("exited", |rig| {
        rig.run(container("web", "exit 3"));
        rig.pass(secs(1));
    }),
    ("failed", |rig| {
        let mut request = container("web", "");
        request.config.entrypoint = Some(vec!["/nope".into()]);
        rig.create(request);
        assert!(!rig.start("web").is_done());
    }),
    ("dead", |rig| {
        rig.create(container("web", "exit 3"));
        assert!(rig.model.wedge(&named("web"), true));
        assert!(!rig.remove("web").is_done());
        assert_eq!(rig.inspect("web").phase, Phase::Dead { code: None });
    }),
];

fn brief(outcome: &Outcome<()>) -> String {
    match outcome {
        Outcome::Done(()) => "done".into(),
        Outcome::Refused(refusal) => refusal.class.to_string(),
        Outcome::Gone => "gone".into(),
        Outcome::Unknown(lost) => lost.to_string(),
    }
}

#[test]
fn what_a_refusal_says() {
    let mut rig = Rig::new();
    let id = rig.create(container("web", "sleep 9"));
    let (_, text) = refusal(rig.kill("web", Signal::Term));
    assert_eq!(text, format!("Cannot kill container: web: Container {id} is not running"));
    rig.start("web");
    let (_, text) = refusal(rig.remove("web"));
    assert!(text.starts_with(&format!("You cannot remove a running container {id}.")), "{text}");
}

#[test]
fn a_container_that_is_being_removed_is_left_alone_by_others() {
    let mut rig = Rig::new();
    rig.create(container("web", "sleep 9"));
    let first = rig.send(Request::Remove(named("web")));
    let (class, text) = refusal(rig.remove("web"));
    assert_eq!((class, &*text), (RefusalClass::Conflict, "removal of container web is already in progress"));
    let (class, text) = refusal(rig.start("web"));
    assert_eq!((class, &*text), (RefusalClass::Conflict, "container is marked for removal and cannot be started"));
    assert_eq!(rig.answer(first), Answer::Remove(Outcome::Done(())));
    assert_eq!(rig.remove("web"), Outcome::Gone);
}

#[test]
fn a_wedged_container_can_be_removed_later() {
    let mut rig = Rig::new();
    rig.create(container("web", "exit 0"));
    rig.model.wedge(&named("web"), true);
    assert_eq!(refusal(rig.remove("web")).0, RefusalClass::PeerFault);
    rig.model.wedge(&named("web"), false);
    assert_eq!(rig.remove("web"), Outcome::Done(()));
    assert_eq!(rig.told(), ["create", "destroy"]);
}

#[test]
fn a_list_shows_the_instance_only_youngest_first() {
    let mut rig = Rig::new();
    rig.create(container("one", "exit 0"));
    rig.run(container("two", "sleep 9"));
    let mut foreign = container("foreign", "exit 0");
    foreign.config.labels.insert("dev.lighterman.instance".into(), InstanceId::from_bits(8).to_string());
    rig.create(foreign);
    let mut bare = container("bare", "exit 0");
    bare.config.labels.clear();
    rig.create(bare);
    let Answer::List(Outcome::Done(list)) = rig.call(Request::List(instance())) else { panic!() };
    let list: Vec<_> = list.iter().map(|line| (line.name.as_str(), line.running)).collect();
    assert_eq!(list, [("two", true), ("one", false)]);
}

#[test]
fn a_start_locks_its_container_and_a_list_does_not_wait() {
    let mut rig = Rig::new();
    rig.create(container("web", "sleep 9"));
    let start = rig.send(Request::Start(named("web")));
    rig.pass(ms(20));
    let inspect = rig.send(Request::Inspect(named("web")));
    let remove = rig.send(Request::Remove(named("web")));
    let Answer::List(Outcome::Done(list)) = rig.call(Request::List(instance())) else { panic!() };
    assert!(!list[0].running);
    assert!(!rig.answers.contains_key(&inspect));
    assert_eq!(rig.answer(start), Answer::Start(Outcome::Done(())));
    let Answer::Inspect(Outcome::Done(facts)) = rig.answer(inspect) else { panic!() };
    assert_eq!(facts.phase, Phase::Running);
    let Answer::Remove(outcome) = rig.answer(remove) else { panic!() };
    assert_eq!(refusal(outcome).0, RefusalClass::Conflict);
}

#[test]
fn an_image_that_lost_its_name_starts_what_was_made_from_it() {
    let mut rig = Rig::new();
    rig.create(container("web", "sleep 9"));
    assert!(rig.model.remove_image(&testbox()));
    assert_eq!(refusal(create_outcome(&mut rig, container("two", "exit 0"))).0, RefusalClass::NotFound);
    assert_eq!(rig.start("web"), Outcome::Done(()));
    // With another name left, the image stays under that one.
    let other = lighterman_ids::ImageRef::parse("other:1").unwrap();
    rig.model.add_image(&testbox(), LocalImage::testbox(image_id('b')));
    rig.model.add_image(&other, LocalImage::testbox(image_id('b')));
    assert!(rig.model.remove_image(&testbox()));
    assert!(!rig.model.remove_image(&testbox()));
    let Answer::InspectImage(Outcome::Done(facts)) = rig.call(Request::InspectImage(other)) else { panic!() };
    assert_eq!(facts.id, image_id('b'));
}

#[test]
fn ids_are_drawn_from_the_seed() {
    let ids = |seed| {
        let mut rig = Rig::with(lighterman_runtime_model::Settings { seed, ..Default::default() });
        [rig.create(container("one", "exit 0")), rig.create(container("two", "exit 0"))]
    };
    assert_eq!(ids(1), ids(1));
    assert_ne!(ids(1), ids(2));
    let [one, two] = ids(1);
    assert_ne!(one, two);
    assert_eq!(one.as_str().len(), 64);
}

#[test]
fn a_container_is_found_by_id_and_by_name() {
    let mut rig = Rig::new();
    let id = rig.create(container("web", "exit 0"));
    let by_id = lighterman_calls::ContainerTarget::Id(id.clone());
    assert_eq!(rig.model.facts(&by_id), rig.model.facts(&named("web")));
    assert_eq!(rig.model.facts(&by_id).unwrap().name, RuntimeName::parse("web").unwrap());
    assert_eq!((rig.model.starts(&by_id), rig.model.is_alive(&by_id)), (Some(0), false));
}
