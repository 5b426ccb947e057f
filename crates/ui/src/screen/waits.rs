//! Which waits are told to a person: those that would not be expected, once they last.

use std::{collections::BTreeMap, time::Duration};

use lighterman_ids::{Moment, Mono};

use crate::{
    event::{Kind, WaitEvent},
    render::Renderer,
};

/// A wait that ends sooner is not worth a line: every start waits a few milliseconds for Docker.
pub(super) const TELL_AFTER: Duration = Duration::from_secs(1);

/// What was told of the waits of each container, and what is still to be.
#[derive(Debug, Default)]
pub(super) struct Waits {
    /// The kind that was told, and goes on.
    told: BTreeMap<String, Kind>,
    /// What is told when it lasts, and when that is.
    pending: BTreeMap<String, (Mono, WaitEvent)>,
}

impl Waits {
    /// Takes note of a change, and says what is told at once.
    pub(super) fn observe(&mut self, now: Moment, event: &WaitEvent, renderer: &Renderer) -> String {
        let kind = event.wait.as_ref().map(|wait| wait.kind);
        let told = self.told.get(&event.container).copied();
        if told.is_some() && told == kind {
            return String::new();
        }
        self.told.remove(&event.container);
        let pending = self.pending.remove(&event.container);
        let over = told.map_or_else(String::new, |told| renderer.wait_is_over(now.wall, event, told, kind));
        match kind {
            Some(Kind::Pause) => over + &renderer.wait_begins(now.wall, event),
            Some(kind) if kind.is_long() => {
                let goes_on = pending.filter(|(_, before)| before.wait.as_ref().is_some_and(|wait| wait.kind == kind));
                let due = goes_on.map_or_else(|| now.mono.after(TELL_AFTER), |(due, _)| due);
                self.pending.insert(event.container.clone(), (due, event.clone()));
                over
            }
            Some(_) | None => over,
        }
    }

    /// When the next wait has lasted long enough.
    pub(super) fn poll_timeout(&self) -> Option<Mono> {
        self.pending.values().map(|(due, _)| *due).min()
    }

    /// What has lasted long enough.
    pub(super) fn wake(&mut self, now: Moment, renderer: &Renderer) -> String {
        let due = self.pending.extract_if(.., |_, (due, _)| *due <= now.mono);
        let mut lines = String::new();
        for (container, (_, event)) in due {
            lines += &renderer.wait_begins(now.wall, &event);
            self.told.extend(event.wait.map(|wait| (container, wait.kind)));
        }
        lines
    }
}
