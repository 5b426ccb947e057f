//! A model on a bench: calls that are waited for, time that passes, and what was heard.

use std::{collections::BTreeMap, time::Duration};

use lighterman_calls::{
    Answer, ContainerConfig, ContainerFacts, ContainerTarget, CreateRequest, EventAction, HealthTest,
    HealthcheckConfig, HostConfig, Lost, Outcome, PullProgress, Request, RuntimeEvent, Signal, Watched, labels,
};
use lighterman_ids::{BootId, ImageId, ImageRef, InstanceId, Moment, Mono, RuntimeId, RuntimeName, Wall};
use lighterman_runtime_model::{Disturbance, LocalImage, Model, Output, Settings};

pub(crate) const WATCH: u64 = 1;
/// An instant in 2026.
pub(crate) const START: Wall = Wall(1_790_000_000_000_000_000);

pub(crate) struct Rig {
    pub(crate) model: Model,
    pub(crate) now: Moment,
    last_token: u64,
    pub(crate) answers: BTreeMap<u64, Answer>,
    pub(crate) events: Vec<RuntimeEvent>,
    pub(crate) opened: usize,
    pub(crate) lost: Vec<Lost>,
    pub(crate) progress: Vec<PullProgress>,
    /// All that containers wrote.
    pub(crate) written: String,
}

pub(crate) fn instance() -> InstanceId {
    InstanceId::from_bits(7)
}

pub(crate) fn testbox() -> ImageRef {
    ImageRef::parse("lighterman/testbox:1").expect("a good reference")
}

pub(crate) fn image_id(digit: char) -> ImageId {
    ImageId::parse(&format!("sha256:{}", digit.to_string().repeat(64))).expect("a good id")
}

pub(crate) fn ms(count: u64) -> Duration {
    Duration::from_millis(count)
}

pub(crate) fn secs(count: u64) -> Duration {
    Duration::from_secs(count)
}

pub(crate) fn named(name: &str) -> ContainerTarget {
    ContainerTarget::Name(RuntimeName::parse(name).expect("a good name"))
}

/// A container of ours whose command is these words.
pub(crate) fn container(name: &str, words: &str) -> CreateRequest {
    let words = words.split_whitespace().map(ToString::to_string).collect();
    CreateRequest {
        name: RuntimeName::parse(name).expect("a good name"),
        platform: None,
        config: ContainerConfig {
            cmd: Some(words),
            labels: BTreeMap::from([(labels::INSTANCE.to_string(), instance().to_string())]),
            ..ContainerConfig::new(testbox())
        },
        host: HostConfig { cpu_shares: 2, ..HostConfig::default() },
    }
}

/// A check that runs these words of the test program every second.
pub(crate) fn check(words: &str) -> HealthcheckConfig {
    HealthcheckConfig {
        test: HealthTest::Exec {
            program: "/testbox".into(),
            arguments: words.split_whitespace().map(ToString::to_string).collect(),
        },
        interval: secs(1),
        timeout: secs(1),
        start_period: ms(1),
        retries: 2,
    }
}

impl Rig {
    /// An engine with the test image, and a watch that is open.
    pub(crate) fn new() -> Self {
        Self::with(Settings::default())
    }

    pub(crate) fn with(settings: Settings) -> Self {
        let now = Moment { boot: BootId(1), mono: Mono(1_000_000_000), wall: START };
        let mut model = Model::new(now, settings);
        model.add_image(&testbox(), LocalImage::testbox(image_id('a')));
        let mut rig = Self {
            model,
            now,
            last_token: WATCH,
            answers: BTreeMap::new(),
            events: Vec::new(),
            opened: 0,
            lost: Vec::new(),
            progress: Vec::new(),
            written: String::new(),
        };
        rig.model.watch(now, WATCH, instance(), None);
        rig.pass(ms(10));
        assert_eq!(rig.opened, 1);
        rig
    }

    pub(crate) fn send(&mut self, request: Request) -> u64 {
        self.last_token += 1;
        self.model.begin(self.now, self.last_token, request);
        self.drain();
        self.last_token
    }

    pub(crate) fn send_disturbed(&mut self, request: Request, limit: Duration, disturbance: Disturbance) -> u64 {
        self.last_token += 1;
        let call = lighterman_calls::Call { request, limit };
        self.model.begin_call(self.now, self.last_token, call, disturbance);
        self.drain();
        self.last_token
    }

    pub(crate) fn watch(&mut self, since: Option<Wall>) -> u64 {
        self.last_token += 1;
        self.events.clear();
        self.model.watch(self.now, self.last_token, instance(), since);
        self.last_token
    }

    /// Lets time pass up to the answer; the test fails if none comes within an hour.
    pub(crate) fn answer(&mut self, token: u64) -> Answer {
        let limit = self.now.mono.after(secs(3_600));
        loop {
            self.drain();
            if let Some(answer) = self.answers.remove(&token) {
                return answer;
            }
            let at = self.model.poll_timeout().filter(|at| *at <= limit).expect("the call is never answered");
            self.go_to(at);
        }
    }

    pub(crate) fn call(&mut self, request: Request) -> Answer {
        let token = self.send(request);
        self.answer(token)
    }

    /// Lets this much time pass, step by step.
    pub(crate) fn pass(&mut self, time: Duration) {
        let end = self.now.mono.after(time);
        while let Some(at) = self.model.poll_timeout().filter(|at| *at <= end) {
            self.go_to(at);
        }
        self.go_to(end);
    }

    fn go_to(&mut self, at: Mono) {
        let at = at.max(self.now.mono);
        self.now = Moment { mono: at, wall: self.now.wall.after(at.since(self.now.mono)), ..self.now };
        self.model.advance(self.now);
        self.drain();
    }

    pub(crate) fn drain(&mut self) {
        while let Some(output) = self.model.poll() {
            match output {
                Output::Answer { token, answer } => {
                    let earlier = self.answers.insert(token, answer);
                    assert_eq!(earlier, None, "call {token} was answered twice");
                }
                Output::Progress { step, .. } => self.progress.push(step),
                Output::Watched { item: Watched::Opened, .. } => self.opened += 1,
                Output::Watched { item: Watched::Event(event), .. } => self.events.push(*event),
                Output::Watched { item: Watched::Lost(lost), .. } => self.lost.push(lost),
                Output::Written { text, .. } => self.written += &text,
            }
        }
    }

    pub(crate) fn create(&mut self, request: CreateRequest) -> RuntimeId {
        match self.call(Request::Create(Box::new(request))) {
            Answer::Create(Outcome::Done(created)) => created.id,
            other => panic!("{}", other.summary()),
        }
    }

    pub(crate) fn start(&mut self, name: &str) -> Outcome<()> {
        match self.call(Request::Start(named(name))) {
            Answer::Start(outcome) => outcome,
            other => panic!("{other:?}"),
        }
    }

    /// Creates and starts.
    pub(crate) fn run(&mut self, request: CreateRequest) {
        let name = request.name.to_string();
        self.create(request);
        assert_eq!(self.start(&name), Outcome::Done(()));
    }

    pub(crate) fn stop(&mut self, name: &str, grace: Duration) -> Outcome<()> {
        match self.call(Request::Stop { container: named(name), grace }) {
            Answer::Stop(outcome) => outcome,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn kill(&mut self, name: &str, signal: Signal) -> Outcome<()> {
        match self.call(Request::Kill { container: named(name), signal }) {
            Answer::Kill(outcome) => outcome,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn remove(&mut self, name: &str) -> Outcome<()> {
        match self.call(Request::Remove(named(name))) {
            Answer::Remove(outcome) => outcome,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn inspect(&mut self, name: &str) -> ContainerFacts {
        match self.call(Request::Inspect(named(name))) {
            Answer::Inspect(Outcome::Done(facts)) => *facts,
            other => panic!("{}", other.summary()),
        }
    }

    /// The names of the events heard so far, which are forgotten.
    pub(crate) fn told(&mut self) -> Vec<String> {
        self.drain();
        core::mem::take(&mut self.events).iter().map(|event| word(&event.action)).collect()
    }
}

pub(crate) fn word(action: &EventAction) -> String {
    match action {
        EventAction::Create => "create".into(),
        EventAction::Start => "start".into(),
        EventAction::Die { exit_code } => format!("die {}", exit_code.map_or("-".into(), |code| code.to_string())),
        EventAction::Stop => "stop".into(),
        EventAction::Restart => "restart".into(),
        EventAction::Oom => "oom".into(),
        EventAction::Destroy => "destroy".into(),
        EventAction::HealthStatus(word) => word.clone(),
    }
}

/// The class and the text of a refusal; the test fails on anything else.
#[track_caller]
pub(crate) fn refusal<T: core::fmt::Debug>(outcome: Outcome<T>) -> (lighterman_calls::RefusalClass, String) {
    match outcome {
        Outcome::Refused(refusal) => (refusal.class, refusal.text),
        other => panic!("not a refusal: {other:?}"),
    }
}
