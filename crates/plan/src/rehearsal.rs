//! The loop: the real core, the model of Docker, and a clock that jumps to the next thing that happens.

use alloc::{
    boxed::Box,
    collections::{BTreeMap, VecDeque},
    format,
    vec::Vec,
};
use core::time::Duration;

use lighterman_calls::{Answer, Call, Request, RuntimeEvent, Watched, labels};
use lighterman_engine::{Action, Engine, Event, HostSettings, SavedState, SubmitError};
use lighterman_ids::{ActionId, BootId, ContainerName, ImageId, InstanceId, Moment, Mono, Wall};
use lighterman_records::Ledger;
use lighterman_runtime_model::{Disturbance, LocalImage, Model, Output as Said, Settings, Source};
use lighterman_taskdef::TaskDefinition;
use lighterman_turn::{Output, Turns};
use lighterman_view::TaskView;

use crate::Behaviour;

/// Whose containers they would be; no run has this id.
const NOBODY: u128 = 0;

/// Jitter is drawn from it.
const SEED: u64 = 1;

/// What the core asks of Docker.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Ask {
    /// A call.
    Call(Box<Call>),
    /// The event stream.
    Watch,
    /// The end of the wait for a call that is out.
    Cancel(Box<Request>),
}

impl Ask {
    /// The kind of call, `watch` or `cancel`.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Call(call) => call.request.kind().as_str(),
            Self::Watch => "watch",
            Self::Cancel(_) => "cancel",
        }
    }

    /// The call that is made or given up.
    #[must_use]
    pub const fn request(&self) -> Option<&Request> {
        match self {
            Self::Call(call) => Some(&call.request),
            Self::Cancel(request) => Some(request),
            Self::Watch => None,
        }
    }
}

/// What a turn was taken for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Arrival {
    /// Time: the core had asked to be woken.
    Time,
    /// A wish of the user's.
    Wish(Event),
    /// The answer to a call.
    Answer { request: Box<Request>, answer: Box<Answer> },
    /// The event stream stands.
    Opened,
    /// It says something.
    Told(RuntimeEvent),
    /// It ended.
    Lost,
}

/// One turn.
#[derive(Debug)]
pub(crate) struct Turn {
    pub(crate) arrival: Arrival,
    /// What left, in order.
    pub(crate) asks: Vec<Ask>,
    /// What was shown, in order.
    pub(crate) views: Vec<TaskView>,
    /// Why the task was not accepted.
    pub(crate) refused: Option<SubmitError>,
}

/// Core, model and clock. A store is not there: every commit succeeds at once.
#[derive(Clone, Debug)]
pub(crate) struct Rehearsal {
    turns: Turns,
    model: Model,
    now: Moment,
    behaviours: BTreeMap<ContainerName, Behaviour>,
    /// Calls that are out, by their token in the model.
    calls: BTreeMap<u64, (ActionId, Request)>,
    /// The event stream, by its token.
    watch: Option<(u64, ActionId)>,
    tokens: u64,
    wishes: VecDeque<Event>,
}

impl Rehearsal {
    pub(crate) fn new(
        definition: &TaskDefinition,
        behaviours: BTreeMap<ContainerName, Behaviour>,
        settings: HostSettings,
    ) -> Self {
        let now = Moment { boot: BootId(1), mono: Mono(0), wall: Wall(1_700_000_000_000_000_000) };
        let mut model = Model::new(now, Settings::default());
        for container in &definition.containers {
            let image = LocalImage::testbox(image_id());
            match behaviours.get(&container.name).and_then(|behaviour| behaviour.pull) {
                Some(takes) => {
                    model.set_source(&container.image, Source::Available { image: Box::new(image), layers: 1, takes });
                }
                None => model.add_image(&container.image, image),
            }
        }
        let engine = Engine::take_up(settings, InstanceId::from_bits(NOBODY), SavedState::default(), SEED, now)
            .expect("a new host has no state that could be another's");
        Self {
            turns: Turns::new(engine, Ledger::new()),
            model,
            now,
            behaviours,
            calls: BTreeMap::new(),
            watch: None,
            tokens: 0,
            wishes: VecDeque::new(),
        }
    }

    pub(crate) const fn now(&self) -> Moment {
        self.now
    }

    /// Whether a call is out.
    pub(crate) fn is_busy(&self) -> bool {
        !self.calls.is_empty() || self.turns.engine().calls_in_progress() > 0
    }

    /// The user wants something; the next turn is for it.
    pub(crate) fn wish(&mut self, event: Event) {
        self.wishes.push_back(event);
    }

    /// Goes on to the next turn, whenever that is; each takes in one thing, so that everything in it has one origin.
    /// `None`: nothing will ever happen again.
    pub(crate) fn step(&mut self) -> Option<Turn> {
        loop {
            if let Some(arrival) = self.arrival() {
                return Some(self.end_turn(arrival));
            }
            let next = [self.model.poll_timeout(), self.turns.poll_timeout()].into_iter().flatten().min()?;
            let passes = next.since(self.now.mono);
            self.pass(passes);
        }
    }

    fn pass(&mut self, time: Duration) {
        self.now = Moment { mono: self.now.mono.after(time), wall: self.now.wall.after(time), ..self.now };
        self.model.advance(self.now);
    }

    /// Hands the core what is there: what Docker says, then time, then wishes.
    fn arrival(&mut self) -> Option<Arrival> {
        while let Some(said) = self.model.poll() {
            if let Some((event, arrival)) = self.hear(said) {
                self.turns.handle_event(self.now, event);
                return Some(arrival);
            }
        }
        if self.turns.poll_timeout().is_some_and(|at| at <= self.now.mono) {
            self.turns.handle_timeout(self.now);
            return Some(Arrival::Time);
        }
        let wish = self.wishes.pop_front()?;
        self.turns.handle_event(self.now, wish.clone());
        Some(Arrival::Wish(wish))
    }

    /// `None` for what the core takes no interest in.
    fn hear(&mut self, said: Said) -> Option<(Event, Arrival)> {
        match said {
            Said::Answer { token, answer } => {
                let (id, request) = self.calls.remove(&token)?;
                let answer = Box::new(answer);
                let event = Event::Answer { id, answer: answer.clone() };
                Some((event, Arrival::Answer { request: Box::new(request), answer }))
            }
            Said::Watched { token, item } => {
                let (_, id) = self.watch.filter(|(current, _)| *current == token)?;
                Some(match item {
                    Watched::Opened => (Event::WatchOpened(id), Arrival::Opened),
                    Watched::Event(event) => {
                        let arrival = Arrival::Told((*event).clone());
                        (Event::Runtime { id, event: *event }, arrival)
                    }
                    Watched::Lost(lost) => (Event::WatchLost { id, lost }, Arrival::Lost),
                })
            }
            Said::Progress { .. } | Said::Written { .. } => None,
        }
    }

    /// Ends the turn, commits, and carries out what leaves.
    fn end_turn(&mut self, arrival: Arrival) -> Turn {
        self.turns.end_turn(self.now);
        while self.turns.poll_commit(self.now).is_some() {
            self.turns.committed(self.now, Ok(()));
        }
        let mut turn = Turn { arrival, asks: Vec::new(), views: Vec::new(), refused: None };
        let outputs: Vec<Output> = self.turns.outputs().collect();
        for output in outputs {
            match output {
                Output::Act(action) => turn.asks.extend(self.act(action)),
                Output::Show(view) => turn.views.push(view),
                Output::ShowHost(_) => {}
                Output::Refuse(_, error) => turn.refused = Some(error),
            }
        }
        turn
    }

    /// `None` for the end of a wait that is over already.
    fn act(&mut self, action: Action) -> Option<Ask> {
        self.tokens += 1;
        let token = self.tokens;
        match action {
            Action::Call { id, call } => {
                self.calls.insert(token, (id, call.request.clone()));
                let mut played = (*call).clone();
                self.dress(&mut played.request);
                self.model.begin_call(self.now, token, played, Disturbance::NONE);
                Some(Ask::Call(call))
            }
            Action::Cancel(id) => {
                let token = self.calls.iter().find(|(_, (out, _))| *out == id).map(|(token, _)| *token)?;
                let (_, request) = self.calls.remove(&token)?;
                self.model.abandon(self.now, token);
                Some(Ask::Cancel(Box::new(request)))
            }
            Action::Watch { id, instance, since, .. } => {
                if let Some((old, _)) = self.watch.replace((token, id)) {
                    self.model.unwatch(self.now, old);
                }
                self.model.watch(self.now, token, instance, since);
                Some(Ask::Watch)
            }
        }
    }

    /// What is created does what is assumed of it, and not what the definition would have run.
    fn dress(&self, request: &mut Request) {
        if let Request::Create(create) = request {
            let name = create.config.labels.get(labels::CONTAINER);
            let behaviour = self.behaviours.iter().find(|(known, _)| name.is_some_and(|name| known.as_str() == name));
            behaviour.map_or_else(Behaviour::default, |(_, behaviour)| *behaviour).dress(create);
        }
    }
}

fn image_id() -> ImageId {
    ImageId::parse(&format!("sha256:{}", "0".repeat(64))).expect("64 hex digits")
}
