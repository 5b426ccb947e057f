//! One container driven by hand: every decision, every answer, and what it waits for in between.
#![expect(clippy::print_stdout, reason = "an example shows its result")]
#![expect(clippy::unwrap_used, reason = "an example that cannot go on stops")]

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use lighterman_calls::{Answer, ContainerFacts, Created, ImageFacts, Lost, LostCause, Outcome, Phase, Request};
use lighterman_ids::{
    ActionId, ActionIds, ContainerName, DefinitionDigest, Family, ImageId, ImageRef, InstanceId, Moment, RuntimeId,
    RuntimeName, TaskId, Wall,
};
use lighterman_task_manager::{Action, Context, Settings, TaskEvent, TaskManager, TaskSpec};
use lighterman_taskdef::{ContainerDefinition, TaskDefinition};

struct Hand {
    task: TaskManager,
    ids: ActionIds,
    now: Moment,
    asked: Option<(ActionId, Request)>,
}

fn main() {
    let mut hand = Hand {
        task: TaskManager::accept(spec(), Moment::default()).unwrap(),
        ids: ActionIds::new(1),
        now: Moment::default(),
        asked: None,
    };
    hand.step("woken", TaskManager::handle_timeout);
    hand.answer("not there", Answer::InspectImage(Outcome::Gone));
    let lost = Lost::new(LostCause::TimedOut(Duration::from_secs(60)), "no progress for 60 s");
    hand.answer("stalls", Answer::Pull(Outcome::Unknown(lost)));
    hand.answer("still not there", Answer::InspectImage(Outcome::Gone));
    hand.pause();
    hand.answer("pulled", Answer::Pull(Outcome::Done(())));
    hand.answer("there", Answer::InspectImage(Outcome::Done(image())));
    hand.answer("created", Answer::Create(Outcome::Done(Created { id: id(), warnings: vec![] })));
    hand.answer("started", Answer::Start(Outcome::Done(())));
    hand.answer("runs", Answer::Inspect(Outcome::Done(facts(Phase::Running))));
    hand.step("the user stops it", |task, cx| {
        task.handle_event(cx, TaskEvent::Stop { reason: Some("enough".into()), force: false });
    });
    hand.answer("stopped", Answer::Stop(Outcome::Done(())));
    hand.answer("exited 143", Answer::Inspect(Outcome::Done(facts(Phase::Exited { code: Some(143) }))));
    hand.pause();
    hand.answer("removed", Answer::Remove(Outcome::Done(())));
}

impl Hand {
    fn answer(&mut self, words: &str, answer: Answer) {
        let (id, _) = self.asked.take().unwrap();
        self.step(words, |task, cx| task.handle_event(cx, TaskEvent::Answer { id, answer: Box::new(answer) }));
    }

    /// Lets time pass until something is due.
    fn pause(&mut self) {
        let mut due = None;
        self.step("", |task, cx| due = task.poll_timeout(cx));
        self.now.mono = due.unwrap();
        self.step("time passed", TaskManager::handle_timeout);
    }

    fn step(&mut self, words: &str, step: impl FnOnce(&mut TaskManager, &mut Context<'_>)) {
        let instance = InstanceId::from_bits(1);
        let settings = Settings::REFERENCE;
        let mut cx = Context {
            now: self.now,
            ids: &mut self.ids,
            settings: &settings,
            instance: &instance,
            store_failing: None,
            awaited: None,
            closing: false,
        };
        step(&mut self.task, &mut cx);
        if words.is_empty() {
            return;
        }
        let view = self.task.view(&cx).containers.remove(0);
        let wait = view.wait.map_or_else(|| "waits for nothing".into(), |wait| format!("waits for {}", wait.reason));
        let seconds = Duration::from_nanos(self.now.mono.0).as_secs_f32();
        println!("{seconds:9.1} s  {words:18} {:15} -> {:8} {wait}", view.known.as_str(), view.desired.as_str());
        while let Some(action) = self.task.poll_action() {
            match action {
                Action::Call { id, call } => self.asked = Some((id, call.request)),
                Action::Cancel(id) => println!("{seconds:9.1} s  gives up call {id}"),
            }
        }
    }
}

fn spec() -> TaskSpec {
    let web = ContainerDefinition::new(ContainerName::parse("web").unwrap(), ImageRef::parse("web:1").unwrap());
    let id = TaskId::from_bits(1);
    TaskSpec {
        arn: id.local_arn(None),
        id,
        definition: Arc::new(TaskDefinition::new(Family::parse("site").unwrap(), vec![web])),
        digest: DefinitionDigest::parse(&format!("sha256:{}", "0".repeat(64))).unwrap(),
        seed: 1,
    }
}

fn id() -> RuntimeId {
    RuntimeId::parse(&"c0".repeat(32)).unwrap()
}

fn image() -> Box<ImageFacts> {
    let id = ImageId::parse(&format!("sha256:{}", "1".repeat(64))).unwrap();
    Box::new(ImageFacts { id, repo_digests: vec![], env_names: vec![], health_test: None })
}

fn facts(phase: Phase) -> Box<ContainerFacts> {
    Box::new(ContainerFacts {
        id: id(),
        name: RuntimeName::parse("ecs-site-1-web").unwrap(),
        labels: BTreeMap::new(),
        phase,
        oom_killed: false,
        error: String::new(),
        created_at: None,
        started_at: Some(Wall(1)),
        finished_at: None,
        health: None,
        ports: vec![],
        image: None,
    })
}
