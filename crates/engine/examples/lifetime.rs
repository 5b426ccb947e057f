//! A session of the host: it connects, runs a task, loses the stream, finds what happened meanwhile.
#![expect(clippy::print_stdout, reason = "an example shows its result")]
#![expect(clippy::unwrap_used, reason = "an example that cannot go on stops")]

use std::{collections::BTreeMap, sync::Arc};

use lighterman_calls::{
    Answer, ContainerFacts, ContainerSummary, Created, ImageFacts, Lost, LostCause, Outcome, Phase, RuntimeVersion,
};
use lighterman_engine::{Action, Engine, Event, HostSettings, SavedState};
use lighterman_ids::{
    ActionId, ContainerName, DefinitionDigest, Family, ImageId, ImageRef, InstanceId, Moment, RuntimeId, RuntimeName,
    TaskId, Wall,
};
use lighterman_task_manager::TaskSpec;
use lighterman_taskdef::{ContainerDefinition, TaskDefinition};

struct Session {
    engine: Engine,
    now: Moment,
    /// What is out, by the word of its kind.
    out: BTreeMap<&'static str, ActionId>,
}

fn main() {
    let now = Moment::default();
    let instance = InstanceId::from_bits(1);
    let engine = Engine::take_up(HostSettings::REFERENCE, instance, SavedState::default(), 1, now).unwrap();
    let mut session = Session { engine, now, out: BTreeMap::new() };

    println!("the host starts");
    session.wake();
    session.answer(Answer::Version(Outcome::Done(RuntimeVersion {
        version: "20.10.24".into(),
        api_version: "1.41".into(),
        min_api_version: "1.12".into(),
    })));
    session.stream(Event::WatchOpened);
    session.answer(Answer::List(Outcome::Done(vec![])));

    println!("a task is submitted");
    session.tell(Event::Submit(Box::new(task())));
    session.answer(Answer::InspectImage(Outcome::Done(image())));
    session.answer(Answer::Create(Outcome::Done(Created { id: id(), warnings: vec![] })));
    session.answer(Answer::Start(Outcome::Done(())));
    session.answer(Answer::Inspect(Outcome::Done(facts(Phase::Running))));

    println!("the stream breaks, and while nobody watches the container ends");
    session.stream(|id| Event::WatchLost { id, lost: Lost::new(LostCause::ConnectionLost, "EOF") });
    session.now.mono = session.engine.poll_timeout().unwrap();
    session.wake();
    session.stream(Event::WatchOpened);
    session.answer(Answer::List(Outcome::Done(vec![listed()])));
    session.answer(Answer::Inspect(Outcome::Done(facts(Phase::Exited { code: Some(3) }))));
}

impl Session {
    fn wake(&mut self) {
        self.engine.handle_timeout(self.now);
        self.show();
    }

    fn tell(&mut self, event: Event) {
        self.engine.handle_event(self.now, event);
        self.show();
    }

    fn answer(&mut self, answer: Answer) {
        let kind = answer.kind().as_str();
        let id = self.out.remove(kind).unwrap();
        println!("  < {kind}: {}", answer.summary());
        self.tell(Event::Answer { id, answer: Box::new(answer) });
    }

    fn stream(&mut self, event: impl FnOnce(ActionId) -> Event) {
        let event = event(self.out["watch"]);
        println!("  < the stream: {}", if matches!(event, Event::WatchOpened(_)) { "stands" } else { "is lost" });
        self.tell(event);
    }

    /// What the host decided, which records that changes, and what readers see.
    fn show(&mut self) {
        let records = self.engine.take_dirty().len();
        if records > 0 {
            println!("    {records} records to write before the next line leaves");
        }
        while let Some(action) = self.engine.poll_action() {
            let word = match &action {
                Action::Call { call, .. } => call.request.kind().as_str(),
                Action::Watch { .. } => "watch",
                Action::Cancel(_) => "cancel",
            };
            println!("  > {word}");
            if let Some(id) = action.id() {
                self.out.insert(word, id);
            }
        }
        for view in self.engine.take_views(self.now) {
            let container = &view.containers[0];
            let wait = container.wait.as_ref().map(|wait| format!(", waits for {}", wait.reason)).unwrap_or_default();
            let code = container.exit_code.map(|code| format!(", exit code {code}")).unwrap_or_default();
            println!("    {}/{}: {}{code}{wait}", view.family, container.name, container.known);
        }
    }
}

fn task() -> TaskSpec {
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

fn name() -> RuntimeName {
    RuntimeName::parse("ecs-site-1-web").unwrap()
}

fn listed() -> ContainerSummary {
    ContainerSummary { id: id(), name: name(), labels: BTreeMap::new(), running: false }
}

fn facts(phase: Phase) -> Box<ContainerFacts> {
    Box::new(ContainerFacts {
        id: id(),
        name: name(),
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
