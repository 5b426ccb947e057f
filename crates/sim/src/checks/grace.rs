//! Who is stopped has its grace: no kill before it is over, unless somebody asked for that (B-037).

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use lighterman_calls::{Answer, ContainerTarget, Outcome, RefusalClass, Request};
use lighterman_engine::{Action, Event};
use lighterman_ids::{RuntimeId, TaskId};

use super::Check;
use crate::{
    clock::At,
    note::{Note, Sight},
    truth::Real,
};

/// Every stop call carries the grace of its container, and none when the stop was forced.
#[derive(Debug, Default)]
pub(super) struct SentGrace {
    forced: Forced,
}

impl Check for SentGrace {
    fn name(&self) -> &'static str {
        "sent-grace"
    }

    fn see(&mut self, sight: &Sight<'_>, note: &Note<'_>) -> Result<(), String> {
        self.forced.see(note);
        let Note::Acts(Action::Call { id, call }) = note else { return Ok(()) };
        let Request::Stop { container, grace } = &call.request else { return Ok(()) };
        let Some((_, real)) = find(sight, container) else { return Ok(()) };
        let due = grace_of(sight, real);
        if *grace == due || (grace.is_zero() && self.forced.covers(real)) {
            return Ok(());
        }
        Err(format!("stop {id} gives {} a grace of {grace:?}, and it should have {due:?}", real.name))
    }
}

/// What ended by SIGKILL was killed by others, for memory, by force, or after its grace.
#[derive(Debug, Default)]
pub(super) struct KilledForAReason {
    forced: Forced,
    /// The first stop call that left for each.
    stopped: BTreeMap<RuntimeId, At>,
    /// Was found running when it was to be removed, and may be killed for that (engine.md 3.11).
    in_the_way: BTreeSet<RuntimeId>,
    /// How often the runtime refused to stop each: a kill is then all that is left (engine.md 4.8.4).
    refused: BTreeMap<RuntimeId, u32>,
    judged: BTreeSet<RuntimeId>,
}

/// Exit code of whoever is killed.
const KILLED: i32 = 137;

impl Check for KilledForAReason {
    fn name(&self) -> &'static str {
        "killed-for-a-reason"
    }

    fn see(&mut self, sight: &Sight<'_>, note: &Note<'_>) -> Result<(), String> {
        self.forced.see(note);
        match note {
            Note::Acts(Action::Call { call, .. }) => {
                if let Request::Stop { container, .. } = &call.request
                    && let Some((id, _)) = find(sight, container)
                {
                    self.stopped.entry(id.clone()).or_insert(sight.now);
                }
                Ok(())
            }
            Note::Answered { call, answer: Answer::Remove(Outcome::Refused(refusal)), .. }
                if refusal.class == RefusalClass::Conflict =>
            {
                if let Request::Remove(container) = &call.request
                    && let Some((id, _)) = find(sight, container)
                {
                    self.in_the_way.insert(id.clone());
                }
                Ok(())
            }
            Note::Answered { call, answer: Answer::Stop(Outcome::Refused(_)), .. } => {
                if let Request::Stop { container, .. } = &call.request
                    && let Some((id, _)) = find(sight, container)
                {
                    *self.refused.entry(id.clone()).or_default() += 1;
                }
                Ok(())
            }
            Note::Moved => self.judge(sight),
            _ => Ok(()),
        }
    }
}

impl KilledForAReason {
    fn judge(&mut self, sight: &Sight<'_>) -> Result<(), String> {
        for (id, real) in sight.truth.all() {
            let (Some(ended), true) = (real.ended_at, real.codes.contains(&KILLED)) else { continue };
            let Some(task) = real.task().filter(|_| self.judged.insert(id.clone())) else { continue };
            let program = sight.scenario.tasks.iter().find(|w| w.spec.id == *task).map(|w| w.program);
            let others = real.marks.killed || real.marks.removed || real.marks.restarts > 0 || real.marks.swept;
            let memory = program.is_some_and(crate::workload::Program::may_be_killed_for_memory);
            let graced = self.stopped.get(id).is_some_and(|stop| ended.since(*stop) >= grace_of(sight, real));
            let refused = self.refused.get(id).is_some_and(|times| *times >= sight.scenario.host.task.stop_tries);
            if !(others || refused || memory || graced || self.forced.covers(real) || self.in_the_way.contains(id)) {
                let stop = self.stopped.get(id);
                return Err(format!("{} was killed without a reason (stopped at {stop:?})", real.name));
            }
        }
        Ok(())
    }
}

/// Tasks that somebody stopped by force.
#[derive(Debug, Default)]
struct Forced(BTreeSet<TaskId>);

impl Forced {
    fn see(&mut self, note: &Note<'_>) {
        if let Note::Wished(Event::Stop { task, force: true, .. }) = note {
            self.0.insert(task.clone());
        }
    }

    fn covers(&self, real: &Real) -> bool {
        real.task().is_some_and(|task| self.0.contains(task))
    }
}

fn find<'a>(sight: &Sight<'a>, target: &ContainerTarget) -> Option<(&'a RuntimeId, &'a Real)> {
    match target {
        ContainerTarget::Id(id) => sight.truth.all().find(|(other, _)| *other == id),
        ContainerTarget::Name(name) => sight.truth.named(name),
    }
    .filter(|(_, real)| real.task().is_some())
}

fn grace_of(sight: &Sight<'_>, real: &Real) -> Duration {
    let task = sight.scenario.tasks.iter().find(|workload| Some(&workload.spec.id) == real.task());
    let own = task.and_then(|workload| workload.spec.definition.containers[0].stop_timeout);
    own.unwrap_or(sight.scenario.host.task.stop_timeout)
}
