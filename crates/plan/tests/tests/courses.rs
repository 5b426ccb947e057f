//! From the first call to the end.

use std::{collections::BTreeMap, time::Duration};

use lighterman_calls::Request;
use lighterman_engine::HostSettings;
use lighterman_plan::{Ask, Behaviour, Ending, Exit, HealthCourse, Plan, Planned, plan};
use lighterman_status::Health;
use lighterman_view::TaskView;
use proptest::prelude::*;

use crate::rig::{causes, container, deeds, exits, health, name, plan_of, settings, task};

fn stays(plan: &Plan) -> (Duration, &TaskView, &[Planned]) {
    match &plan.ending {
        Ending::Stays { since, view, stop } => (*since, view, stop),
        Ending::Removed { .. } | Ending::Restless { .. } | Ending::Refused { .. } => panic!("{plan:?}"),
    }
}

fn removed(plan: &Plan) -> &TaskView {
    match &plan.ending {
        Ending::Removed { view } => view,
        Ending::Stays { .. } | Ending::Restless { .. } | Ending::Refused { .. } => panic!("{plan:?}"),
    }
}

#[test]
fn what_runs_for_ever_stays_and_a_stop_keeps_to_the_grace() {
    let plan = plan_of(Behaviour::default());
    assert_eq!(deeds(&plan.calls), ["inspect-image site/web:1", "create web", "start web"]);
    let (since, view, stop) = stays(&plan);
    assert_eq!(view.containers[0].health, Health::Healthy);
    assert!(Duration::from_secs(10) < since && since < Duration::from_secs(11), "{since:?}");
    assert_eq!(deeds(stop), ["stop web", "remove web"]);
    let Ask::Call(call) = &stop[0].ask else { panic!("{stop:?}") };
    assert!(matches!(call.request, Request::Stop { grace, .. } if grace == Duration::from_secs(7)), "{call:?}");
    assert_eq!(causes(stop, "stop web").last().unwrap(), "the task was asked to stop");
}

#[test]
fn what_exits_is_removed_and_its_code_is_the_tasks() {
    let plan = plan_of(exits(3, 3_600));
    assert_eq!(removed(&plan).exit_code(), Some(3));
    assert_eq!(deeds(&plan.calls).last().unwrap(), "remove web");
    let last = plan.calls.last().unwrap().at;
    assert!(Duration::from_secs(3_600) < last && last < Duration::from_secs(3_601), "{last:?}");
}

#[test]
fn a_health_check_takes_the_assumed_course() {
    let healthy_after = |seconds| health(HealthCourse::HealthyAfter(Duration::from_secs(seconds)));
    for (behaviour, expected, earliest) in [
        (healthy_after(15), Health::Healthy, 20),
        (healthy_after(3_000), Health::Healthy, 3_000),
        (health(HealthCourse::Unhealthy), Health::Unhealthy, 20),
        (health(HealthCourse::Never), Health::Unknown, 0),
    ] {
        let plan = plan_of(behaviour);
        let (since, view, _) = stays(&plan);
        assert_eq!(view.containers[0].health, expected, "{behaviour:?}");
        let next_probe = Duration::from_secs(earliest + 11);
        assert!(Duration::from_secs(earliest) <= since && since < next_probe, "{behaviour:?}: {since:?}");
    }
}

#[test]
fn an_image_that_is_not_there_is_pulled() {
    let pull = Some(Duration::from_secs(9));
    let plan = plan_of(Behaviour { pull, ..exits(0, 1) });
    let image = "site/web:1";
    let looks = format!("inspect-image {image}");
    assert_eq!(deeds(&plan.calls)[..4], [&looks, &format!("pull {image}"), &looks, "create web"]);
    let created = plan.calls.iter().find(|call| call.ask.word() == "create").unwrap();
    assert!(created.at > Duration::from_secs(9));
    assert_eq!(
        causes(&plan.calls, "create web"),
        ["web is PULLED", "Docker answered inspect-image of site/web:1: done"]
    );
}

#[test]
fn what_ends_with_another_says_so() {
    let behaviours = BTreeMap::from([(name("job"), exits(1, 5))]);
    let plan = plan(task(vec![container("job"), container("web")]), &behaviours, settings());
    assert_eq!(removed(&plan).exit_code(), Some(1));
    let causes = causes(&plan.calls, "stop web");
    assert_eq!(causes[0], "web should be STOPPED");
    assert!(causes.contains(&"job is STOPPED".into()), "{causes:?}");
    assert!(causes.contains(&"the task should be STOPPED: Essential container in task exited".into()), "{causes:?}");
}

#[test]
fn what_comes_to_no_rest_breaks_off() {
    let always = HostSettings { recheck_every: Duration::from_millis(5), recheck_jitter: Duration::ZERO, ..settings() };
    let plan = plan(task(vec![container("web")]), &BTreeMap::new(), always);
    assert!(matches!(plan.ending, Ending::Restless { .. }), "{:?}", plan.ending);
    assert!(plan.calls.len() < 2_000);
}

#[test]
fn a_task_that_is_not_accepted_has_no_plan() {
    let plan = plan(task(Vec::new()), &BTreeMap::new(), settings());
    assert!(
        matches!(&plan.ending, Ending::Refused { error } if error.to_string().contains("no containers")),
        "{plan:?}"
    );
}

fn behaviour() -> impl Strategy<Value = Behaviour> {
    let time = || (0..100_u64).prop_map(Duration::from_secs);
    let exit = proptest::option::of((any::<u8>(), time()).prop_map(|(code, after)| Exit { code, after }));
    let health = prop_oneof![
        time().prop_map(HealthCourse::HealthyAfter),
        Just(HealthCourse::Unhealthy),
        Just(HealthCourse::Never)
    ];
    (exit, health, proptest::option::of(time())).prop_map(|(exit, health, pull)| Behaviour { exit, health, pull })
}

proptest! {
    #[test]
    fn every_plan_is_in_order_and_says_why(one in behaviour(), two in behaviour()) {
        let behaviours = BTreeMap::from([(name("one"), one), (name("two"), two)]);
        let make = || plan(task(vec![container("one"), container("two")]), &behaviours, settings());
        let plan = make();
        let ends = one.exit.is_some() || two.exit.is_some();
        let stop = if ends { &[] } else { stays(&plan).2 };
        for calls in [&plan.calls[..], stop] {
            prop_assert!(calls.is_sorted_by_key(|call| call.at));
            for call in calls {
                let (origin, changes) = call.causes.split_last().unwrap();
                prop_assert!(origin.is_origin() && !changes.iter().any(|cause| cause.is_origin()), "{call:?}");
            }
        }
        let all = [deeds(&plan.calls), deeds(stop)].concat();
        for container in ["one", "two"] {
            let count = |deed: &str| all.iter().filter(|done| **done == format!("{deed} {container}")).count();
            prop_assert!(count("create") <= 1 && count("start") <= 1 && count("stop") <= 1, "{all:?}");
            prop_assert_eq!(count("create"), count("remove"), "{:?}", all);
        }
        if ends {
            removed(&plan);
        }
        prop_assert_eq!(plan, make());
    }
}
