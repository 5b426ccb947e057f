//! A container runtime that is none: the model of the engine on tokio's time.

mod runtime;
mod script;

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, Mutex},
    time::Duration,
};

use lighterman_calls::{Answer, Call, PullProgress, Request, RequestKind, VolumeRequest, Watched};
use lighterman_contracts::Clock;
use lighterman_ids::{BootId, ImageId, ImageRef, InstanceId, Moment, Mono, RuntimeId, Wall};
use lighterman_runtime_model::{Disturbance, LocalImage, Model, Output, OutputStream, Settings};
use tokio::{
    sync::Notify,
    time::{Instant, timeout_at},
};

use crate::host::lock;

pub use script::{On, Recorded};
use script::{Script, Then};

/// A fake engine: [`Model`] behind the traits of `lighterman-contracts`, on tokio's clock.
///
/// It works with the clock paused: no task of its own runs, whoever waits for an answer moves it. Clones share one
/// engine. [`on`](Self::on) and [`answer`](Self::answer) say what befalls single calls, [`calls`](Self::calls) what was
/// asked, [`with_model`](Self::with_model) gives the model itself, for all that happens behind the agent's back.
#[derive(Clone, Debug)]
pub struct FakeRuntime {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    /// Something came out of the model, or it has another next instant.
    moved: Notify,
}

#[derive(Debug)]
struct State {
    model: Model,
    /// When tokio's clock showed what `base` says.
    begun: Instant,
    base: Moment,
    last_token: u64,
    inboxes: BTreeMap<u64, VecDeque<Item>>,
    logs: BTreeMap<RuntimeId, Vec<Written>>,
    script: Script,
    /// Events still to be lost on their way.
    events_to_lose: u32,
}

/// Something for the caller of a call.
#[derive(Debug)]
enum Item {
    Answer(Answer),
    Progress(PullProgress),
    Watched(Watched),
}

#[derive(Debug)]
struct Written {
    at: Wall,
    stream: OutputStream,
    text: String,
}

impl FakeRuntime {
    /// An engine without images and containers, set up like this.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        let base = Moment { boot: BootId(1), mono: Mono(0), wall: Wall(1_790_000_000_000_000_000) };
        let state = State {
            model: Model::new(base, settings),
            begun: Instant::now(),
            base,
            last_token: 0,
            inboxes: BTreeMap::new(),
            logs: BTreeMap::new(),
            script: Script::default(),
            events_to_lose: 0,
        };
        Self { shared: Arc::new(Shared { state: Mutex::new(state), moved: Notify::new() }) }
    }

    /// Puts the image of the test program in; returns its name.
    ///
    /// # Panics
    /// Never: the name is a good one.
    pub fn add_testbox(&self) -> ImageRef {
        let name = ImageRef::parse("lighterman/testbox:fake").expect("a good reference");
        let id = ImageId::parse(&format!("sha256:{}", "7e".repeat(32))).expect("a good id");
        self.with_model(|model, _| model.add_image(&name, LocalImage::testbox(id)));
        name
    }

    /// This befalls the calls that `on` names; of several rules the first that fits counts.
    pub fn on(&self, on: On, disturbance: Disturbance) {
        lock(&self.shared.state).script.add(on, Then::Befalls(disturbance));
    }

    /// The calls that `on` names are answered so, and do nothing. The answer must be of the request's kind.
    pub fn answer(&self, on: On, answer: Answer) {
        lock(&self.shared.state).script.add(on, Then::Answered(answer));
    }

    /// Nothing befalls calls any more.
    pub fn forget_rules(&self) {
        lock(&self.shared.state).script.clear();
    }

    /// The next `count` events are lost on the way to those who watch.
    pub fn lose_events(&self, count: u32) {
        lock(&self.shared.state).events_to_lose = count;
    }

    /// Every call so far, watches and loads not among them.
    #[must_use]
    pub fn calls(&self) -> Vec<Recorded> {
        lock(&self.shared.state).script.recorded().to_vec()
    }

    /// How many calls of this kind there were.
    #[must_use]
    pub fn count(&self, kind: RequestKind) -> usize {
        lock(&self.shared.state).script.recorded().iter().filter(|call| call.request.kind() == kind).count()
    }

    /// Does something to the model, as of now.
    pub fn with_model<T>(&self, act: impl FnOnce(&mut Model, Moment) -> T) -> T {
        let mut state = lock(&self.shared.state);
        state.catch_up();
        let now = state.now();
        let result = act(&mut state.model, now);
        state.deliver();
        drop(state);
        self.shared.moved.notify_waiters();
        result
    }

    /// Somebody sets the wall clock of the host by so many nanoseconds.
    pub fn step_wall_clock(&self, by_nanos: i64) {
        let mut state = lock(&self.shared.state);
        state.catch_up();
        state.base.wall = Wall(state.base.wall.0.saturating_add(by_nanos));
    }

    /// Begins a call; the ticket is to be kept until its end.
    fn begin(&self, request: Request, limit: Duration) -> Ticket {
        let mut state = lock(&self.shared.state);
        state.catch_up();
        let token = state.open();
        let (now, since) = (state.now(), state.begun.elapsed());
        let name = state.name_of(&request);
        match state.script.decide(since, &request, limit, name.as_deref()) {
            Then::Answered(answer) => state.put(token, Item::Answer(answer)),
            Then::Befalls(disturbance) => state.model.begin_call(now, token, Call { request, limit }, disturbance),
        }
        self.opened(state, token, false)
    }

    fn begin_watch(&self, instance: InstanceId, since: Option<Wall>) -> Ticket {
        let mut state = lock(&self.shared.state);
        state.catch_up();
        let token = state.open();
        let now = state.now();
        state.model.watch(now, token, instance, since);
        self.opened(state, token, true)
    }

    fn opened(&self, mut state: std::sync::MutexGuard<'_, State>, token: u64, watch: bool) -> Ticket {
        state.deliver();
        drop(state);
        self.shared.moved.notify_waiters();
        Ticket { fake: self.clone(), token, watch }
    }

    /// Lets time pass until `look` finds something.
    async fn until<T>(&self, mut look: impl FnMut(&mut State) -> Option<T>) -> T {
        loop {
            let mut moved = std::pin::pin!(self.shared.moved.notified());
            moved.as_mut().enable();
            let (found, came_out, wakes_at) = {
                let mut state = lock(&self.shared.state);
                let came_out = state.catch_up();
                (look(&mut state), came_out, state.wakes_at())
            };
            if came_out {
                self.shared.moved.notify_waiters();
            }
            if let Some(found) = found {
                return found;
            }
            match wakes_at {
                // Whether time or a notice ends the wait: either is a reason to look again.
                Some(at) => drop(timeout_at(at, moved).await),
                None => moved.await,
            }
        }
    }
}

impl Default for FakeRuntime {
    fn default() -> Self {
        Self::new(Settings::default())
    }
}

impl Clock for FakeRuntime {
    fn now(&self) -> Moment {
        lock(&self.shared.state).now()
    }
}

impl State {
    fn now(&self) -> Moment {
        let passed = self.begun.elapsed();
        Moment { mono: self.base.mono.after(passed), wall: self.base.wall.after(passed), ..self.base }
    }

    /// Lets everything happen that is due; whether something came out.
    fn catch_up(&mut self) -> bool {
        let now = self.now();
        self.model.advance(now);
        self.deliver()
    }

    /// Hands out what came out of the model.
    fn deliver(&mut self) -> bool {
        let mut any = false;
        while let Some(output) = self.model.poll() {
            any = true;
            match output {
                Output::Answer { token, answer } => self.put(token, Item::Answer(answer)),
                Output::Progress { token, step } => self.put(token, Item::Progress(step)),
                Output::Watched { item: Watched::Event(_), .. } if self.events_to_lose > 0 => self.events_to_lose -= 1,
                Output::Watched { token, item } => self.put(token, Item::Watched(item)),
                Output::Written { container, at, stream, text } => {
                    self.logs.entry(container).or_default().push(Written { at, stream, text });
                }
            }
        }
        any
    }

    fn put(&mut self, token: u64, item: Item) {
        if let Some(inbox) = self.inboxes.get_mut(&token) {
            inbox.push_back(item);
        }
    }

    fn open(&mut self) -> u64 {
        self.last_token += 1;
        self.inboxes.insert(self.last_token, VecDeque::new());
        self.last_token
    }

    fn wakes_at(&self) -> Option<Instant> {
        self.model.poll_timeout().map(|at| self.begun + at.since(self.base.mono))
    }

    /// The name of the container, the image or the volume that a request is about.
    fn name_of(&self, request: &Request) -> Option<String> {
        match request {
            Request::Create(request) => Some(request.name.to_string()),
            Request::Start(target)
            | Request::Inspect(target)
            | Request::Remove(target)
            | Request::Stop { container: target, .. }
            | Request::Kill { container: target, .. } => {
                let known = self.model.facts(target).map(|facts| facts.name.to_string());
                Some(known.unwrap_or_else(|| target.to_string()))
            }
            Request::InspectImage(image) | Request::Pull { image, .. } | Request::ResolveDigest(image) => {
                Some(image.to_string())
            }
            Request::TagImage { image, .. } | Request::RemoveImage(image) => Some(image.to_string()),
            Request::CreateVolume(VolumeRequest { name, .. })
            | Request::InspectVolume(name)
            | Request::RemoveVolume(name) => Some(name.to_string()),
            Request::Ping | Request::Version | Request::ListImages | Request::ListVolumes(_) | Request::List(_) => None,
        }
    }
}

/// A call that somebody waits for. Dropped, the caller is gone.
#[derive(Debug)]
struct Ticket {
    fake: FakeRuntime,
    token: u64,
    watch: bool,
}

impl Ticket {
    async fn next(&self) -> Item {
        let token = self.token;
        self.fake.until(|state| state.inboxes.get_mut(&token)?.pop_front()).await
    }

    async fn answer(&self) -> Answer {
        loop {
            match self.next().await {
                Item::Answer(answer) => return answer,
                Item::Progress(_) | Item::Watched(_) => {}
            }
        }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut state = lock(&self.fake.shared.state);
        let now = state.now();
        if self.watch {
            state.model.unwatch(now, self.token);
        } else {
            state.model.abandon(now, self.token);
        }
        state.inboxes.remove(&self.token);
        state.deliver();
        drop(state);
        // Whoever still waits has to move the model from here on.
        self.fake.shared.moved.notify_waiters();
    }
}
