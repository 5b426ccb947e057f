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
use lighterman_taskdef::{ContainerDefinition, HealthCheck, HealthTest, TaskDefinition};
use lighterman_testkit::{FakeRuntime, MemoryStore};
use lighterman_turn::Turns;
use lighterman_view::TaskView;
use proptest::prelude::*;
use tokio::time::timeout;

/// No wait of a test is longer than this, in simulated time.
const BOUND: Duration = Duration::from_secs(48 * 3_600);

/// A container as both sides are told of it: by its program and check, and by what is assumed.
#[derive(Clone, Debug)]
struct Case {
    behaviour: Behaviour,
    has_check: bool,
    stop_timeout: Option<u64>,
    max_calls: usize,
}

fn case() -> impl Strategy<Value = Case> {
    // Whole tenths of a second, and no two things at one instant.
    let tenths = |most: u64| (1..most).prop_map(|tenths| Duration::from_millis(tenths * 100 + 7));
    let exit = proptest::option::of((any::<u8>(), tenths(900)).prop_map(|(code, after)| Exit { code, after }));
    let health = prop_oneof![
        Just(HealthCourse::default()),
        tenths(300).prop_map(HealthCourse::HealthyAfter),
        Just(HealthCourse::Unhealthy)
    ];
    let pull = proptest::option::of(tenths(100));
    let behaviour = (exit, health, pull).prop_map(|(exit, health, pull)| Behaviour { exit, health, pull });
    (behaviour, any::<bool>(), proptest::option::of(1..60_u64), 1..3_usize).prop_map(
        |(behaviour, has_check, stop_timeout, max_calls)| Case { behaviour, has_check, stop_timeout, max_calls },
    )
}

impl Case {
    /// The words of the test program, written down by hand: what a plan makes of the assumption is not asked.
    fn command(&self) -> Vec<String> {
        let sleep = |time: Duration| format!("sleep {}", time.as_secs_f64());
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

    fn task(&self) -> TaskSpec {
        let mut web = ContainerDefinition::new(name(), image());
        web.command = self.command();
        web.stop_timeout = self.stop_timeout.map(Duration::from_secs);
        if self.has_check {
            let words = ["CMD", "/testbox", "healthy", "/ok"].map(String::from);
            let mut check = HealthCheck::new(HealthTest::parse(&words).unwrap());
            (check.interval, check.retries) = (Duration::from_secs(5), 2);
            web.health_check = Some(check);
        }
        let id = TaskId::from_bits(5);
        TaskSpec {
            arn: id.local_arn(None),
            id,
            definition: Arc::new(TaskDefinition::new(Family::parse("site").unwrap(), vec![web])),
            digest: DefinitionDigest::parse(&format!("sha256:{}", "0".repeat(64))).unwrap(),
            seed: 5,
        }
    }

    fn settings(&self) -> HostSettings {
        HostSettings { max_calls: self.max_calls, ..host_settings(&RunSettings::RUN) }
    }

    fn plan(&self) -> Plan {
        plan(self.task(), &BTreeMap::from([(name(), self.behaviour)]), self.settings())
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
        runtime.with_model(|model, _| match self.behaviour.pull {
            None => model.add_image(&image(), testbox),
            Some(takes) => model.set_source(&image(), Source::Available { image: Box::new(testbox), layers: 1, takes }),
        });
        runtime
    }
}

fn name() -> ContainerName {
    ContainerName::parse("web").unwrap()
}

fn image() -> ImageRef {
    ImageRef::parse("site/web:1").unwrap()
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

/// The calls in words, with the ids of containers by the order in which they appear: they are drawn.
fn in_words<'a>(requests: impl Iterator<Item = &'a Request>) -> Vec<String> {
    let mut ids: Vec<String> = Vec::new();
    requests
        .map(|request| {
            let text = format!("{request:?}");
            let is_id = |word: &&str| word.len() == 64 && word.bytes().all(|b| b.is_ascii_hexdigit());
            let words: Vec<&str> = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(is_id).collect();
            words.iter().fold(text.clone(), |text, word| {
                let known = ids.iter().position(|id| id == word).unwrap_or_else(|| {
                    ids.push((*word).to_owned());
                    ids.len() - 1
                });
                text.replace(word, &format!("id-{known}"))
            })
        })
        .collect()
}

fn requests(calls: &[Planned]) -> impl Iterator<Item = &Request> {
    calls.iter().filter(|call| call.ask != Ask::Watch).filter_map(|call| call.ask.request())
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
    let planned = in_words(requests(&plan.calls).chain(requests(stop)));
    assert_eq!(planned, in_words(made.iter()), "{case:?}");
    if stop_after.is_none() {
        assert_eq!((last.exit_code(), &last.reason), (view.exit_code(), &view.reason));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn a_run_makes_the_calls_of_its_plan(case in case()) {
        same_calls(&case);
    }
}
