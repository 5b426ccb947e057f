//! The model itself: what it holds, and how time passes.

use alloc::{
    boxed::Box,
    collections::{BTreeMap, BTreeSet, VecDeque},
    format,
    string::String,
    vec::Vec,
};
use core::time::Duration;

use lighterman_calls::{
    Answer, Call, ContainerFacts, ContainerTarget, EventAction, LostCause, PullProgress, Request, RuntimeEvent,
    RuntimeVersion, Watched,
};
use lighterman_ids::{ImageRef, InstanceId, Moment, Mono, RuntimeId, RuntimeName, Wall};

use crate::{
    container::Container,
    flight::{Ask, Flight},
    image::{Images, LocalImage, Source},
    journal::Journal,
    latency::{Disturbance, Latencies},
    outage::Power,
    ports::Ports,
    process::{OutputStream, Probed},
    volume::Volumes,
};

/// How a model is set up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Settings {
    /// From which the ids of containers are drawn.
    pub seed: u64,
    /// How long things take.
    pub latencies: Latencies,
    /// `live-restore`: containers outlive the end of the engine. Off unless switched on, as in the engine.
    pub live_restore: bool,
}

/// What comes out of the model.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Output {
    /// A call is over.
    Answer {
        /// Which call.
        token: u64,
        /// How it ended.
        answer: Answer,
    },
    /// A pull moved on.
    Progress {
        /// Which pull.
        token: u64,
        /// How far it is.
        step: PullProgress,
    },
    /// An item of a watch; after [`Watched::Lost`] none follows.
    Watched {
        /// Which watch.
        token: u64,
        /// The item.
        item: Watched,
    },
    /// A container wrote something, mostly a line.
    Written {
        /// Which container.
        container: RuntimeId,
        /// When.
        at: Wall,
        /// Where to.
        stream: OutputStream,
        /// What, its line feed included.
        text: String,
    },
}

/// A pure model of the Docker engine: see the page of the crate.
///
/// Calls and watches are named by tokens of the caller's choice, below 2⁶³ and each used once. The order of use:
/// [`begin`](Self::begin), [`watch`](Self::watch) and the other operations take `now` and let time pass up to it;
/// [`poll`](Self::poll) until it has nothing more; then [`poll_timeout`](Self::poll_timeout) says when something
/// happens by itself, and [`advance`](Self::advance) lets it happen. `now` never runs backwards on the monotonic
/// clock; the wall clock may step.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Model {
    pub(crate) settings: Settings,
    pub(crate) clock: Moment,
    /// Counts timers, ids and tokens of our own.
    pub(crate) serial: u64,
    pub(crate) power: Power,
    /// How long an engine that shuts down will be away.
    pub(crate) away: Duration,
    pub(crate) containers: BTreeMap<RuntimeId, Container>,
    /// Names taken, also by containers still being made.
    pub(crate) names: BTreeMap<RuntimeName, RuntimeId>,
    pub(crate) images: Images,
    pub(crate) volumes: Volumes,
    pub(crate) ports: Ports,
    /// Containers that the engine itself is stopping, because it goes or because it came back.
    pub(crate) sweep: BTreeSet<RuntimeId>,
    /// Kills for memory go unnoticed.
    pub(crate) misses_oom: bool,
    pub(crate) flights: BTreeMap<u64, Flight>,
    pub(crate) timers: BTreeMap<(Mono, u64), Timer>,
    pub(crate) journal: Journal,
    pub(crate) outputs: VecDeque<Output>,
}

/// Something that happens by itself.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Timer {
    /// A call reaches the engine.
    Arrive(u64),
    /// The engine's own time for a call is over.
    Work(u64),
    /// An answer reaches the caller.
    Answer(u64),
    /// The caller of a call loses contact.
    Lost(u64, LostCause),
    /// The grace of a stop is over.
    Grace(u64),
    /// The next line of a pull.
    PullLine(u64),
    /// The caller gives a silent pull up, if it is still at this line.
    PullSilent { token: u64, lines: u32, waited: Duration },
    /// A process does something.
    Wake(RunKey),
    /// The engine takes note of the end of a process.
    Notice(RunKey),
    /// The engine is done with taking note.
    Settle(RunKey),
    /// A health probe begins.
    Probe(RunKey),
    /// A health probe ends.
    Probed(RunKey, Box<Probed>),
    /// The engine that shuts down, or stops what it found running, loses patience with a container.
    Patience(RunKey),
    /// An engine that is away comes back.
    Return,
}

/// Names one run of one container.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct RunKey {
    pub(crate) container: RuntimeId,
    pub(crate) run: u64,
}

impl Timer {
    /// The run it belongs to.
    pub(crate) const fn run(&self) -> Option<&RunKey> {
        match self {
            Self::Wake(key)
            | Self::Notice(key)
            | Self::Settle(key)
            | Self::Probe(key)
            | Self::Probed(key, _)
            | Self::Patience(key) => Some(key),
            Self::Arrive(_)
            | Self::Work(_)
            | Self::Answer(_)
            | Self::Lost(..)
            | Self::Grace(_)
            | Self::PullLine(_)
            | Self::PullSilent { .. }
            | Self::Return => None,
        }
    }

    /// Whether it outlives the engine: only what happens in the host itself does.
    pub(crate) const fn outlives_engine(&self) -> bool {
        matches!(self, Self::Wake(_) | Self::Return)
    }
}

impl Model {
    /// A running engine without containers and images.
    #[must_use]
    pub fn new(now: Moment, settings: Settings) -> Self {
        Self {
            settings,
            clock: now,
            serial: 0,
            power: Power::Up,
            away: Duration::ZERO,
            containers: BTreeMap::new(),
            names: BTreeMap::new(),
            images: Images::default(),
            volumes: Volumes::default(),
            ports: Ports::default(),
            sweep: BTreeSet::new(),
            misses_oom: false,
            flights: BTreeMap::new(),
            timers: BTreeMap::new(),
            journal: Journal::default(),
            outputs: VecDeque::new(),
        }
    }

    /// Begins a call that nothing befalls; [`Output::Answer`] with this token ends it.
    pub fn begin(&mut self, now: Moment, token: u64, request: Request) {
        self.advance(now);
        self.launch(token, Ask::Call(request), None, Disturbance::NONE);
    }

    /// Begins a call with its limit in time, after which the answer is `Unknown`, and with what befalls it.
    pub fn begin_call(&mut self, now: Moment, token: u64, call: Call, disturbance: Disturbance) {
        self.advance(now);
        self.launch(token, Ask::Call(call.request), Some(call.limit), disturbance);
    }

    /// The caller is gone: no answer comes any more, what was begun takes its course. Only a pull ends.
    pub fn abandon(&mut self, now: Moment, token: u64) {
        self.advance(now);
        self.stop_listening(token);
    }

    /// Begins a watch of the instance's containers: [`Output::Watched`] with this token, first
    /// [`Watched::Opened`], then what the engine still remembers from `since` on, then what happens.
    pub fn watch(&mut self, now: Moment, token: u64, instance: InstanceId, since: Option<Wall>) {
        self.advance(now);
        self.launch(token, Ask::Watch { instance, since }, None, Disturbance::NONE);
    }

    /// Ends a watch from the caller's side; nothing more comes of it.
    pub fn unwatch(&mut self, now: Moment, token: u64) {
        self.advance(now);
        self.land(token);
        self.journal.close(token);
    }

    /// The stream of a watch breaks; says so, if it was open or opening.
    pub fn break_watch(&mut self, now: Moment, token: u64, lost: lighterman_calls::Lost) {
        self.advance(now);
        let opening = self.land(token).is_some();
        if self.journal.close(token) || opening {
            self.outputs.push_back(Output::Watched { token, item: Watched::Lost(lost) });
        }
    }

    /// Lets everything happen that is due by `now`, in order.
    pub fn advance(&mut self, now: Moment) {
        debug_assert_eq!(now.boot, self.clock.boot, "another boot begins with `reboot`");
        while let Some(entry) = self.timers.first_entry() {
            let due = entry.key().0;
            if due > now.mono {
                break;
            }
            let timer = entry.remove();
            let mono = due.max(self.clock.mono);
            self.clock = Moment { mono, wall: wall_at(now, mono), ..now };
            self.fire(timer);
        }
        self.clock = Moment { mono: now.mono.max(self.clock.mono), ..now };
    }

    /// The next thing that came out, in the order in which it came.
    pub fn poll(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// When something happens by itself, if nothing else does before.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Mono> {
        self.timers.first_key_value().map(|((at, _), _)| *at)
    }

    /// Gives the engine an image under this name; an image that had the name becomes nameless.
    pub fn add_image(&mut self, name: &ImageRef, image: LocalImage) {
        self.images.add(name, image);
    }

    /// Takes an image's name away, by force: the image goes with its last name, containers made from it stay.
    /// Whether there was such a name.
    pub fn remove_image(&mut self, name: &ImageRef) -> bool {
        self.images.remove(name)
    }

    /// From now on the registry answers so to a pull of this reference; without a source it is `Missing`.
    pub fn set_source(&mut self, name: &ImageRef, source: Source) {
        self.images.set_source(name, source);
    }

    /// What the engine believes of every container, by id; no call, no event.
    #[must_use]
    pub fn containers(&self) -> Vec<ContainerFacts> {
        self.containers.values().map(Container::facts).collect()
    }

    /// What the engine believes of one container.
    #[must_use]
    pub fn facts(&self, target: &ContainerTarget) -> Option<ContainerFacts> {
        self.containers.get(&self.resolve(target)?).map(Container::facts)
    }

    /// Whether the container's process is alive in truth, whatever the engine believes.
    #[must_use]
    pub fn is_alive(&self, target: &ContainerTarget) -> bool {
        self.resolve(target).and_then(|id| self.containers.get(&id)).is_some_and(Container::is_alive)
    }

    /// How often the container was started; `None` when there is none.
    #[must_use]
    pub fn starts(&self, target: &ContainerTarget) -> Option<u64> {
        self.containers.get(&self.resolve(target)?).map(|container| container.runs)
    }

    /// Calls that are not answered yet, abandoned ones that still take their course included.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.flights.len()
    }

    /// Whether the engine answers.
    #[must_use]
    pub fn is_up(&self) -> bool {
        self.power == Power::Up
    }

    /// Now, as the model knows it.
    #[must_use]
    pub const fn now(&self) -> Moment {
        self.clock
    }

    fn fire(&mut self, timer: Timer) {
        match timer {
            Timer::Arrive(token) => self.arrive(token),
            Timer::Work(token) => self.worked(token),
            Timer::Answer(token) => self.answer_arrives(token),
            Timer::Lost(token, cause) => self.contact_lost(token, cause),
            Timer::Grace(token) => self.grace_over(token),
            Timer::PullLine(token) => self.pull_line(token),
            Timer::PullSilent { token, lines, waited } => self.pull_silent(token, lines, waited),
            Timer::Wake(key) => self.wake(&key),
            Timer::Notice(key) => self.notice(&key),
            Timer::Settle(key) => self.settle(&key),
            Timer::Probe(key) => self.probe(&key),
            Timer::Probed(key, probed) => self.probed(&key, *probed),
            Timer::Patience(key) => self.patience_over(&key),
            Timer::Return => self.engine_returns(),
        }
    }

    pub(crate) fn timer(&mut self, wait: Duration, timer: Timer) -> (Mono, u64) {
        self.timer_at(self.clock.mono.after(wait), timer)
    }

    pub(crate) fn timer_at(&mut self, at: Mono, timer: Timer) -> (Mono, u64) {
        let key = (at, self.next_serial());
        self.timers.insert(key, timer);
        key
    }

    pub(crate) const fn next_serial(&mut self) -> u64 {
        self.serial += 1;
        self.serial
    }

    /// The container that this names, if it can be looked up.
    pub(crate) fn resolve(&self, target: &ContainerTarget) -> Option<RuntimeId> {
        let id = match target {
            ContainerTarget::Id(id) => id,
            ContainerTarget::Name(name) => self.names.get(name)?,
        };
        self.containers.contains_key(id).then(|| id.clone())
    }

    /// The container of this run, if that is still the one it is in.
    pub(crate) fn of_run(&mut self, key: &RunKey) -> Option<&mut Container> {
        self.containers.get_mut(&key.container).filter(|container| container.runs == key.run && container.is_running())
    }

    /// Takes an event down and tells those who watch.
    pub(crate) fn event(&mut self, id: &RuntimeId, action: EventAction) {
        let Some(container) = self.containers.get(id) else { return };
        let make = |at| RuntimeEvent { at, container: id.clone(), action };
        let (event, told) = self.journal.record(self.clock.wall, container.instance(), make);
        for token in told {
            self.outputs.push_back(Output::Watched { token, item: Watched::Event(Box::new(event.clone())) });
        }
    }

    /// Takes down some events of kinds that nobody is told of.
    pub(crate) fn other_events(&mut self, count: usize) {
        for _ in 0..count {
            self.journal.record_other(self.clock.wall);
        }
    }

    /// A fresh id.
    pub(crate) fn draw_id(&mut self) -> RuntimeId {
        let serial = self.next_serial();
        let words = (0..4u64).map(|lane| mix(self.settings.seed ^ mix(serial.wrapping_mul(4).wrapping_add(lane))));
        let text: String = words.map(|word| format!("{word:016x}")).collect();
        RuntimeId::parse(&text).expect("64 lower-case hex digits are an id")
    }

    pub(crate) fn version() -> RuntimeVersion {
        RuntimeVersion { version: "20.10.24".into(), api_version: "1.41".into(), min_api_version: "1.12".into() }
    }
}

/// What the wall clock shows at `mono`, as seen from `now`.
pub(crate) fn wall_at(now: Moment, mono: Mono) -> Wall {
    let back = i64::try_from(now.mono.since(mono).as_nanos()).unwrap_or(i64::MAX);
    let ahead = i64::try_from(mono.since(now.mono).as_nanos()).unwrap_or(i64::MAX);
    Wall(now.wall.0.saturating_sub(back).saturating_add(ahead))
}

/// Finaliser of splitmix64.
const fn mix(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
