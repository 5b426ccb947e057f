//! Random histories: whatever happens, in whatever order, the rules hold and the task can come to its end.

use std::{collections::BTreeSet, time::Duration};

use lighterman_calls::{Answer, Lost, LostCause, Outcome, RefusalClass, Request};
use lighterman_ids::{ActionId, TaskId};
use lighterman_status::ContainerStatus;
use lighterman_task_manager::{ContainerState, TaskEvent, TaskManager, TaskState};
use proptest::prelude::*;

use crate::{
    answers::{away, cut_off, fault, refusal},
    script::{Script, spec},
    world::World,
};

#[derive(Clone, Debug)]
enum Step {
    /// The runtime carries the call out; the answer is under way and grows old.
    Begin(usize),
    Serve(usize),
    /// The answer is lost; the call was carried out, never is, or will be.
    Lose {
        nth: usize,
        effect: Effect,
        timed_out: bool,
    },
    Away(usize),
    NeverSent(usize),
    Refuse(usize, RefusalClass),
    /// An answer comes for a call that was answered or given up before.
    Stale {
        nth: usize,
        refused: bool,
    },
    DeliverOne,
    DeliverTwice,
    DropEvents,
    LateEffect,
    ProcessEnds(i32),
    SomebodyStartsIt,
    SomebodyRemovesIt,
    List,
    Stop {
        force: bool,
    },
    UntilDue,
    Pass(Duration),
    StoreFails,
    StoreWorks,
    Restart {
        late: bool,
    },
}

#[derive(Clone, Copy, Debug)]
enum Effect {
    Before,
    Never,
    Later,
}

fn step() -> impl Strategy<Value = Step> {
    let nth = 0..3_usize;
    let effect = prop_oneof![Just(Effect::Before), Just(Effect::Never), Just(Effect::Later)];
    prop_oneof![
        10 => nth.clone().prop_map(Step::Begin),
        12 => nth.clone().prop_map(Step::Serve),
        4 => (nth.clone(), effect, any::<bool>())
            .prop_map(|(nth, effect, timed_out)| Step::Lose { nth, effect, timed_out }),
        2 => nth.clone().prop_map(Step::Away),
        1 => nth.clone().prop_map(Step::NeverSent),
        1 => (nth.clone(), proptest::sample::select(RefusalClass::ALL.to_vec()))
            .prop_map(|(nth, class)| Step::Refuse(nth, class)),
        1 => (nth, any::<bool>()).prop_map(|(nth, refused)| Step::Stale { nth, refused }),
        10 => Just(Step::DeliverOne),
        1 => Just(Step::DeliverTwice),
        1 => Just(Step::DropEvents),
        1 => Just(Step::LateEffect),
        4 => (0..256_i32).prop_map(Step::ProcessEnds),
        1 => Just(Step::SomebodyStartsIt),
        1 => Just(Step::SomebodyRemovesIt),
        2 => Just(Step::List),
        2 => any::<bool>().prop_map(|force| Step::Stop { force }),
        5 => Just(Step::UntilDue),
        1 => (0..5_000_u64).prop_map(|ms| Step::Pass(Duration::from_millis(ms))),
        1 => Just(Step::StoreFails),
        1 => Just(Step::StoreWorks),
        1 => any::<bool>().prop_map(|late| Step::Restart { late }),
    ]
}

/// A script, the world beside it, and what is durable.
struct History {
    s: Script,
    world: World,
    store_fails: bool,
    durable: (TaskState, Vec<ContainerState>),
    /// Calls that are over.
    over: Vec<(ActionId, Request)>,
    /// An inspect did not succeed: where no try does, the next re-check is relied on.
    look_failed: bool,
    /// Calls that had left when the store last worked.
    left: BTreeSet<ActionId>,
}

impl History {
    fn new() -> Self {
        let s = Script::new();
        let durable = records(&s);
        Self {
            s,
            world: World::default(),
            store_fails: false,
            durable,
            over: vec![],
            look_failed: false,
            left: BTreeSet::new(),
        }
    }

    fn take(&mut self, step: &Step) {
        match step {
            Step::Begin(nth) => self.world.begin(&self.s, *nth),
            Step::Serve(nth) => {
                if let Some((id, request)) = self.pick(*nth) {
                    let answer = self.world.answer(id, &request);
                    self.tell(id, request, answer);
                }
            }
            Step::Lose { nth, effect, timed_out } => self.lose(*nth, *effect, *timed_out),
            Step::Away(nth) => {
                if let Some((id, request)) = self.pick_unbegun(*nth) {
                    let answer = request.lost(away());
                    self.tell(id, request, answer);
                }
            }
            Step::NeverSent(nth) => {
                if let Some((id, _)) = self.pick_unbegun(*nth) {
                    self.s.tell(TaskEvent::NeverSent(id));
                }
            }
            Step::Refuse(nth, class) => {
                if let Some((id, request)) = self.pick_unbegun(*nth) {
                    let answer = refused(&request, *class);
                    self.tell(id, request, answer);
                }
            }
            Step::Stale { nth, refused: is_refused } => self.answer_again(*nth, *is_refused),
            Step::DeliverOne => {
                if let Some(event) = self.world.events.pop_front() {
                    self.s.tell(TaskEvent::Runtime(event));
                }
            }
            Step::DeliverTwice => {
                if let Some(event) = self.world.events.pop_front() {
                    self.s.tell(TaskEvent::Runtime(event.clone()));
                    self.s.tell(TaskEvent::Runtime(event));
                }
            }
            Step::DropEvents => {
                // Whoever loses events says so, and asks for a list.
                self.world.events.clear();
                self.s.tell(TaskEvent::Resume);
                self.world.list(&mut self.s);
            }
            Step::LateEffect => {
                if !self.world.late.is_empty() {
                    let (request, _) = self.world.late.remove(0);
                    self.world.carry_out(&request);
                }
            }
            Step::ProcessEnds(code) => self.world.process_ends(*code),
            Step::SomebodyStartsIt => self.world.somebody_starts_it(),
            Step::SomebodyRemovesIt => self.world.somebody_removes_it(),
            Step::List => self.world.list(&mut self.s),
            Step::Stop { force } => self.s.tell(TaskEvent::Stop { reason: None, force: *force }),
            Step::UntilDue => {
                if let Some(due) = self.s.due() {
                    self.world.before(due);
                    self.s.until_due();
                }
            }
            Step::Pass(time) => {
                self.world.before(self.s.now.mono.after(*time));
                self.s.passes(*time);
            }
            Step::StoreFails => {
                self.s.store_fails();
                self.store_fails = true;
            }
            Step::StoreWorks => self.store_works(),
            Step::Restart { late } => self.restart(*late),
        }
        self.gate();
    }

    /// What the gate of the turn does: while the store fails nothing that creates leaves, and nothing becomes durable.
    fn gate(&mut self) {
        if !self.store_fails {
            self.durable = records(&self.s);
            self.left = self.s.out.iter().map(|(id, _)| *id).collect();
            return;
        }
        let held = |left: &BTreeSet<ActionId>, (id, request): &(ActionId, Request)| {
            !request.is_protective() && !left.contains(id)
        };
        let is_held = |call: &(ActionId, Request)| held(&self.left, call) && !self.world.has_begun(call.0);
        while let Some(at) = self.s.out.iter().position(is_held) {
            let (id, _) = self.s.out.remove(at);
            self.s.tell(TaskEvent::NeverSent(id));
        }
    }

    fn store_works(&mut self) {
        self.store_fails = false;
        self.s.store_works();
    }

    fn pick(&mut self, nth: usize) -> Option<(ActionId, Request)> {
        (nth < self.s.out.len()).then(|| self.s.out.remove(nth))
    }

    /// One that the runtime has not carried out.
    fn pick_unbegun(&mut self, nth: usize) -> Option<(ActionId, Request)> {
        let begun = self.s.out.get(nth).is_some_and(|(id, _)| self.world.has_begun(*id));
        if begun { None } else { self.pick(nth) }
    }

    fn tell(&mut self, id: ActionId, request: Request, answer: Answer) {
        self.look_failed |= matches!(answer, Answer::Inspect(Outcome::Refused(_) | Outcome::Unknown(_)));
        self.over.push((id, request));
        self.s.tell(TaskEvent::Answer { id, answer: Box::new(answer) });
    }

    fn lose(&mut self, nth: usize, effect: Effect, timed_out: bool) {
        let Some((id, request)) = self.pick(nth) else { return };
        match effect {
            Effect::Before => {
                self.world.answer(id, &request);
            }
            Effect::Never | Effect::Later if self.world.has_begun(id) => {}
            Effect::Never => {}
            Effect::Later => self.later(request.clone()),
        }
        let lost = if timed_out {
            Lost::new(LostCause::TimedOut(Duration::from_secs(1)), "no answer in time")
        } else {
            cut_off()
        };
        let answer = request.lost(lost);
        self.tell(id, request, answer);
    }

    /// A lost call is carried out within the limit of a create at the latest.
    fn later(&mut self, request: Request) {
        let limit = self.s.now.mono.after(Duration::from_secs(60));
        self.world.late.push((request, limit));
    }

    fn answer_again(&mut self, nth: usize, is_refused: bool) {
        let mut old = self.over.iter().chain(&self.s.given_up).rev();
        let Some((id, request)) = old.nth(nth).cloned() else { return };
        let answer = if is_refused { refused(&request, RefusalClass::PeerFault) } else { request.lost(cut_off()) };
        self.s.tell(TaskEvent::Answer { id, answer: Box::new(answer) });
    }

    fn restart(&mut self, late: bool) {
        if late {
            for (id, request) in self.s.out.clone() {
                if !self.world.has_begun(id) {
                    self.later(request);
                }
            }
        }
        let (state, containers) = self.durable.clone();
        self.s.restart_from(state, containers);
        self.store_works();
        self.s.wake();
        self.world.list(&mut self.s);
    }

    /// From here on nothing goes wrong any more. Nobody lists where every look succeeded: what was reported has
    /// to be enough.
    fn calm_down(&mut self) {
        self.store_works();
        self.world.before_all();
        if self.look_failed {
            self.world.settle(&mut self.s);
            self.world.list(&mut self.s);
        }
        self.world.settle(&mut self.s);
    }

    fn end(&mut self) {
        self.s.stop();
        self.world.settle(&mut self.s);
    }
}

fn records(s: &Script) -> (TaskState, Vec<ContainerState>) {
    let containers = (0..s.task.container_count()).filter_map(|c| s.task.container_state(c)).collect();
    (s.task.state(), containers)
}

fn refused(request: &Request, class: RefusalClass) -> Answer {
    let why = || refusal(class, "no");
    match request {
        Request::Ping => Answer::Ping(Outcome::Refused(why())),
        Request::InspectImage(_) => Answer::InspectImage(Outcome::Refused(why())),
        Request::Pull { .. } => Answer::Pull(Outcome::Refused(why())),
        // Whether a name is in use is the world's to say: a lie would be one about ownership.
        Request::Create(_) if class == RefusalClass::NameInUse => Answer::Create(Outcome::Refused(fault())),
        Request::Create(_) => Answer::Create(Outcome::Refused(why())),
        Request::Start(_) => Answer::Start(Outcome::Refused(why())),
        Request::Inspect(_) => Answer::Inspect(Outcome::Refused(why())),
        Request::Stop { .. } => Answer::Stop(Outcome::Refused(why())),
        Request::Kill { .. } => Answer::Kill(Outcome::Refused(why())),
        Request::Remove(_) => Answer::Remove(Outcome::Refused(why())),
        Request::Version
        | Request::ResolveDigest(_)
        | Request::TagImage { .. }
        | Request::RemoveImage(_)
        | Request::ListImages
        | Request::CreateVolume(_)
        | Request::InspectVolume(_)
        | Request::RemoveVolume(_)
        | Request::ListVolumes(_)
        | Request::List(_) => panic!("a task does not ask the host's questions"),
    }
}

/// More cases with `PROPTEST_CASES` in the environment.
fn config() -> ProptestConfig {
    let default = ProptestConfig::default();
    ProptestConfig { cases: default.cases * 4, max_shrink_iters: 20_000, ..default }
}

proptest! {
    #![proptest_config(config())]

    /// The rules are checked by the script after every step; here that what is shown is true once everything was
    /// reported, that the end is always in reach, and that nothing stays in the runtime.
    #[test]
    fn every_history_can_come_to_its_end(served in 0..8_usize, steps in prop::collection::vec(step(), 0..40)) {
        let mut history = History::new();
        (0..served).for_each(|_| history.take(&Step::Serve(0)));
        for step in &steps {
            history.take(step);
        }
        history.calm_down();
        if !history.s.task.is_removed() {
            prop_assert_eq!(history.s.known(), ContainerStatus::Running);
            prop_assert!(history.world.runs(), "it is taken for running and does not run");
        }
        history.end();
        prop_assert!(history.s.task.is_removed(), "{:?}", history.s.view());
        prop_assert_eq!(&history.world.container, &None);
    }

    /// What was persisted says the same as what was in memory.
    #[test]
    fn records_and_memory_agree(steps in prop::collection::vec(step(), 0..60)) {
        let mut history = History::new();
        for step in &steps {
            history.take(step);
            let (state, containers) = records(&history.s);
            let mut spec = spec(crate::script::definition());
            spec.id = TaskId::from_bits(1);
            let restored = TaskManager::restore(spec, state.clone(), containers.clone(), history.s.now).unwrap();
            let again: Vec<_> =
                (0..restored.container_count()).filter_map(|c| restored.container_state(c)).collect();
            prop_assert_eq!(restored.state(), state);
            prop_assert_eq!(again, containers);
        }
    }

    /// The same history gives the same task.
    #[test]
    fn a_history_repeats(steps in prop::collection::vec(step(), 0..40)) {
        let (mut one, mut two) = (History::new(), History::new());
        for step in &steps {
            one.take(step);
            two.take(step);
        }
        prop_assert_eq!(one.s.task, two.s.task);
    }
}
