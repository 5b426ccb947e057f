//! The calls of a plan are those that a run makes: the same task on the real driver, with tokio's time standing still.

use std::{collections::BTreeMap, future::pending, sync::Arc, time::Duration};

use lighterman_app::host_settings;
use lighterman_calls::Request;
use lighterman_config::RunSettings;
use lighterman_contracts::Clock as _;
use lighterman_driver::{Driver, Handle, Options, Update, Updates};
use lighterman_engine::{Engine, HostSettings, SavedState, TaskSpec};
use lighterman_ids::{ContainerName, DefinitionDigest, Family, ImageId, ImageRef, InstanceId, TaskId};
use lighterman_plan::{Ask, Behaviour, Ending, Exit, HealthCourse, Plan, Planned, plan};
use lighterman_records::Ledger;
use lighterman_runtime_model::{LocalImage, Settings, Source};
use lighterman_taskdef::{Condition, ContainerDefinition, Dependency, HealthCheck, HealthTest, TaskDefinition};
use lighterman_testkit::{FakeRuntime, MemoryStore};
use lighterman_turn::Turns;
use lighterman_view::TaskView;
use proptest::prelude::*;
use tokio::time::timeout;

/// No wait of a test is longer than this, in simulated time.
const BOUND: Duration = Duration::from_secs(48 * 3_600);

const NAMES: [&str; 2] = ["alpha", "beta"];

/// A container as both sides are told of it: by its program and check, and by what is assumed.
#[derive(Clone, Debug)]
struct Member {
    name: &'static str,
    behaviour: Behaviour,
    has_check: bool,
    essential: bool,
    stop_timeout: Option<u64>,
}

/// A task of two, of which the second may wait for the first.
#[derive(Clone, Debug)]
struct Case {
    members: [Member; 2],
    condition: Option<Condition>,
    max_calls: usize,
}

/// No two things happen at one instant: times are tenths of a second and some milliseconds of their own.
fn member(place: usize) -> impl Strategy<Value = Member> {
    let odd = 7 + 6 * u64::try_from(place).unwrap();
    let tenths = move |most: u64| (1..most).prop_map(move |tenths| Duration::from_millis(tenths * 100 + odd));
    let exit = proptest::option::of((0..4_u8, tenths(900)).prop_map(|(code, after)| Exit { code, after }));
    let health = prop_oneof![
        Just(HealthCourse::default()),
        tenths(300).prop_map(HealthCourse::HealthyAfter),
        Just(HealthCourse::Unhealthy)
    ];
    let pull = proptest::option::of(tenths(100));
    let behaviour = (exit, health, pull).prop_map(|(exit, health, pull)| Behaviour { exit, health, pull });
    let rest = (any::<bool>(), any::<bool>(), proptest::option::of(1..60_u64));
    (behaviour, rest).prop_map(move |(behaviour, (has_check, second, stop_timeout))| {
        let essential = place == 0 || second;
        Member { name: NAMES[place], behaviour, has_check, essential, stop_timeout }
    })
}

fn case() -> impl Strategy<Value = Case> {
    use Condition::{Complete, Create, Healthy, Start, Success};
    let condition = proptest::option::of(proptest::sample::select(vec![Create, Start, Complete, Success, Healthy]));
    (member(0), member(1), condition, 1..4_usize).prop_map(|(one, two, condition, max_calls)| {
        // Who is waited for to end is not essential, and who is waited for to be healthy has a check.
        let ends = matches!(condition, Some(Complete | Success));
        let has_check = one.has_check || condition == Some(Healthy);
        let one = Member { essential: !ends, has_check, ..one };
        let two = Member { essential: ends || two.essential, ..two };
        Case { members: [one, two], condition, max_calls }
    })
}

impl Member {
    /// The words of the test program, written down by hand: what a plan makes of the assumption is not asked.
    fn command(&self) -> Vec<String> {
        let sleep = |time: Duration| format!("sleep {}.{:03}", time.as_secs(), time.subsec_millis());
        let healthy = match self.behaviour.health {
            HealthCourse::HealthyAfter(after) => Some(after),
            HealthCourse::Unhealthy | HealthCourse::Never => None,
        };
        let mut steps = vec!["trap 143".to_owned()];
        match (self.behaviour.exit, healthy) {
            (None, None) => steps.push("on-term 143".into()),
            (None, Some(after)) => steps.extend([sleep(after), "put /ok x".into(), "on-term 143".into()]),
            (Some(exit), Some(after)) if after < exit.after => {
                let rest = exit.after - after;
                steps.extend([sleep(after), "put /ok x".into(), sleep(rest), format!("exit {}", exit.code)]);
            }
            (Some(exit), _) => steps.extend([sleep(exit.after), format!("exit {}", exit.code)]),
        }
        steps.join(" + ").split(' ').map(Into::into).collect()
    }

    fn definition(&self) -> ContainerDefinition {
        let mut container = ContainerDefinition::new(name(self.name), self.image());
        container.command = self.command();
        container.essential = self.essential;
        container.stop_timeout = self.stop_timeout.map(Duration::from_secs);
        if self.has_check {
            let words = ["CMD", "/testbox", "healthy", "/ok"].map(String::from);
            let mut check = HealthCheck::new(HealthTest::parse(&words).unwrap());
            (check.interval, check.retries) = (Duration::from_secs(5), 2);
            container.health_check = Some(check);
        }
        container
    }

    fn image(&self) -> ImageRef {
        ImageRef::parse(&format!("site/{}:1", self.name)).unwrap()
    }
}

impl Case {
    fn task(&self) -> TaskSpec {
        let mut containers = self.members.each_ref().map(Member::definition);
        let on = |condition| Dependency { container: name(NAMES[0]), condition };
        containers[1].depends_on = self.condition.map(on).into_iter().collect();
        let id = TaskId::from_bits(5);
        TaskSpec {
            arn: id.local_arn(None),
            id,
            definition: Arc::new(TaskDefinition::new(Family::parse("site").unwrap(), containers.into())),
            digest: DefinitionDigest::parse(&format!("sha256:{}", "0".repeat(64))).unwrap(),
            seed: 5,
        }
    }

    fn settings(&self) -> HostSettings {
        HostSettings { max_calls: self.max_calls, ..host_settings(&RunSettings::RUN) }
    }

    fn plan(&self) -> Plan {
        let behaviours = self.members.each_ref().map(|member| (name(member.name), member.behaviour));
        plan(self.task(), &BTreeMap::from(behaviours), self.settings())
    }

    /// Runs it on the driver; the calls, and the last view of the task. What stays is stopped after a while.
    async fn run(&self, stop_after: Option<Duration>) -> (Vec<Request>, Arc<TaskView>) {
        let runtime = self.runtime();
        let instance = InstanceId::from_bits(0);
        let engine = Engine::take_up(self.settings(), instance, SavedState::default(), 1, runtime.now()).unwrap();
        let turns = Turns::new(engine, Ledger::new());
        let (shared, store) = (Arc::new(runtime.clone()), Arc::new(MemoryStore::new()));
        let (driver, handle) = Driver::new(turns, shared, store, runtime.clone(), Options::default());
        let mut updates = handle.updates();
        let driver = driver.spawn();
        handle.submit(self.task()).await.unwrap();
        if let Some(after) = stop_after {
            timeout(after, pending::<()>()).await.unwrap_err();
            handle.stop(TaskId::from_bits(5), None, false).unwrap();
        }
        let last = timeout(BOUND, until_removed(&handle, &mut updates)).await.unwrap();
        handle.shutdown();
        let ending = driver.await.unwrap();
        assert_eq!((ending.unanswered, ending.unsaved), (0, None));
        (runtime.calls().into_iter().map(|call| call.request).collect(), last)
    }

    fn runtime(&self) -> FakeRuntime {
        let runtime = FakeRuntime::new(Settings::default());
        let id = ImageId::parse(&format!("sha256:{}", "7e".repeat(32))).unwrap();
        let testbox = LocalImage::testbox(id);
        for member in &self.members {
            let (image, testbox) = (member.image(), testbox.clone());
            runtime.with_model(|model, _| match member.behaviour.pull {
                None => model.add_image(&image, testbox),
                Some(takes) => {
                    model.set_source(&image, Source::Available { image: Box::new(testbox), layers: 1, takes });
                }
            });
        }
        runtime
    }
}

fn name(text: &str) -> ContainerName {
    ContainerName::parse(text).unwrap()
}

/// Lets go of the task once it has stopped, as `run` does, and waits until it is gone.
async fn until_removed(handle: &Handle, updates: &mut Updates) -> Arc<TaskView> {
    let mut let_go = false;
    loop {
        if let Update::Task(view) = updates.next().await.unwrap() {
            if view.removed {
                return view;
            }
            if view.known.is_terminal() && !let_go {
                let_go = true;
                handle.clean_up(view.id.clone()).unwrap();
            }
        }
    }
}

/// The calls in words, with the names of containers in place of their ids, which are drawn; then the same in groups:
/// what happens at one instant may come in another order, but not for one container.
fn in_words<'a>(requests: impl Iterator<Item = &'a Request>, view: &TaskView) -> [Vec<String>; 3] {
    let ids: Vec<(String, &str)> = view
        .containers
        .iter()
        .filter_map(|container| Some((container.runtime_id.as_ref()?.to_string(), container.name.as_str())))
        .collect();
    let in_words = |request| ids.iter().fold(format!("{request:?}"), |text, (id, name)| text.replace(id, name));
    let mut all: Vec<String> = requests.map(in_words).collect();
    let of = |name: &str| all.iter().filter(|text| text.contains(name)).cloned().collect();
    let [one, two] = NAMES.map(of);
    all.sort();
    [all, one, two]
}

fn requests(calls: &[Planned]) -> impl Iterator<Item = &Request> {
    calls.iter().filter_map(|call| match &call.ask {
        Ask::Call(call) => Some(&call.request),
        Ask::Watch | Ask::Cancel(_) => None,
    })
}

fn same_calls(case: &Case) {
    let plan = case.plan();
    let (stop, stop_after, view) = match &plan.ending {
        Ending::Removed { view } => (&[][..], None, view),
        Ending::Stays { since, stop, view } => (&stop[..], Some(*since + Duration::from_secs(2)), view),
        Ending::Restless { .. } | Ending::Refused { .. } => panic!("{plan:?}"),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    let (made, last) = runtime.block_on(case.run(stop_after));
    let planned = in_words(requests(&plan.calls).chain(requests(stop)), view);
    assert_eq!(planned, in_words(made.iter(), &last), "{case:?}");
    if stop_after.is_none() {
        assert_eq!((last.exit_code(), &last.reason), (view.exit_code(), &view.reason));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn a_run_makes_the_calls_of_its_plan(case in case()) {
        same_calls(&case);
    }
}
