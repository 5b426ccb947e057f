//! Calls that are out, and those that wait for a place (design.md R6).
//!
//! Stops and kills need no place, so that a thousand of them never wait for a slow create. Looks go
//! ahead of what creates or removes. Pulls have places of their own.

use alloc::{
    boxed::Box,
    collections::{BTreeMap, VecDeque},
    vec::Vec,
};

use lighterman_calls::{Call, Request};
use lighterman_ids::{ActionId, ImageRef, TaskId};

use super::Engine;
use crate::Action;

/// Who asked, and what.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Owner {
    pub(super) by: AskedBy,
    /// The image of a pull.
    pub(super) image: Option<ImageRef>,
    lane: Lane,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum AskedBy {
    Task(TaskId),
    Host,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Lane {
    /// Leaves at once.
    Free,
    /// Takes a place among the calls, ahead of `Work`.
    Look,
    /// Takes a place among the calls.
    Work,
    /// Takes a place among the pulls.
    Pull,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Calls {
    owners: BTreeMap<ActionId, Owner>,
    looks: VecDeque<(ActionId, Box<Call>)>,
    work: VecDeque<(ActionId, Box<Call>)>,
    pulls: VecDeque<(ActionId, Box<Call>)>,
    calls_out: usize,
    pulls_out: usize,
}

impl Calls {
    pub(super) fn len(&self) -> usize {
        self.owners.len()
    }

    /// Pulls that are out or wait.
    pub(super) fn pulls(&self) -> Vec<ActionId> {
        self.owners.iter().filter(|(_, owner)| owner.lane == Lane::Pull).map(|(id, _)| *id).collect()
    }

    /// The call is over, one way or another: its place is free. `None` for a call that is not current.
    pub(super) fn end(&mut self, id: ActionId) -> Option<Owner> {
        let owner = self.owners.remove(&id)?;
        match owner.lane {
            Lane::Free => {}
            Lane::Look | Lane::Work => self.calls_out -= 1,
            Lane::Pull => self.pulls_out -= 1,
        }
        Some(owner)
    }

    /// Forgets calls that would begin something and have not left.
    pub(super) fn drop_waiting_work(&mut self) {
        for (id, _) in self.work.drain(..) {
            self.owners.remove(&id);
        }
    }

    /// Nobody waits for the call any more. `true` when it has left and has to be cancelled.
    pub(super) fn forget(&mut self, id: ActionId) -> bool {
        for queue in [&mut self.looks, &mut self.work, &mut self.pulls] {
            if let Some(at) = queue.iter().position(|(queued, _)| *queued == id) {
                queue.remove(at);
                self.owners.remove(&id);
                return false;
            }
        }
        self.end(id).is_some()
    }
}

impl Engine {
    /// Queues a call; it leaves when it has a place.
    pub(super) fn enqueue(&mut self, by: AskedBy, id: ActionId, call: Box<Call>) {
        let lane = lane_of(&call.request);
        let image = match &call.request {
            Request::Pull { image, .. } => Some(image.clone()),
            Request::Ping
            | Request::Version
            | Request::InspectImage(_)
            | Request::ResolveDigest(_)
            | Request::TagImage { .. }
            | Request::RemoveImage(_)
            | Request::ListImages
            | Request::CreateVolume(_)
            | Request::InspectVolume(_)
            | Request::RemoveVolume(_)
            | Request::ListVolumes(_)
            | Request::Create(_)
            | Request::Start(_)
            | Request::Inspect(_)
            | Request::Stop { .. }
            | Request::Kill { .. }
            | Request::Remove(_)
            | Request::List(_) => None,
        };
        self.calls.owners.insert(id, Owner { by, image, lane });
        match lane {
            Lane::Free => self.actions.push_back(Action::Call { id, call }),
            Lane::Look => self.calls.looks.push_back((id, call)),
            Lane::Work => self.calls.work.push_back((id, call)),
            Lane::Pull => self.calls.pulls.push_back((id, call)),
        }
    }

    pub(super) fn send_what_has_a_place(&mut self) {
        while self.calls.calls_out < self.settings.max_calls {
            let Some((id, call)) = self.calls.looks.pop_front().or_else(|| self.calls.work.pop_front()) else { break };
            self.calls.calls_out += 1;
            self.actions.push_back(Action::Call { id, call });
        }
        while self.calls.pulls_out < self.settings.max_pulls {
            let Some((id, call)) = self.calls.pulls.pop_front() else { break };
            self.calls.pulls_out += 1;
            self.actions.push_back(Action::Call { id, call });
        }
    }
}

const fn lane_of(request: &Request) -> Lane {
    match request {
        Request::Stop { .. } | Request::Kill { .. } | Request::Ping | Request::Version => Lane::Free,
        Request::Inspect(_)
        | Request::InspectImage(_)
        | Request::ListImages
        | Request::InspectVolume(_)
        | Request::ListVolumes(_)
        | Request::List(_) => Lane::Look,
        Request::Create(_)
        | Request::Start(_)
        | Request::Remove(_)
        | Request::TagImage { .. }
        | Request::RemoveImage(_)
        | Request::CreateVolume(_)
        | Request::RemoveVolume(_) => Lane::Work,
        // Both wait for a registry.
        Request::Pull { .. } | Request::ResolveDigest(_) => Lane::Pull,
    }
}

pub(super) fn boxed(call: Call) -> Box<Call> {
    Box::new(call)
}
