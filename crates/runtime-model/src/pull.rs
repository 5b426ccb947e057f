//! Pulls: line by line, until the image is there or the caller gives up.

use alloc::{boxed::Box, format};
use core::time::Duration;

use lighterman_calls::{Answer, Lost, LostCause, Outcome, PullLimits, PullProgress, Request};
use lighterman_ids::ImageRef;

use crate::{
    flight::{Ask, Stage, words},
    image::Fetch,
    model::{Model, Output, Timer},
};

impl Model {
    pub(crate) fn pull_arrives(&mut self, token: u64) {
        let Some((image, limits)) = self.pull_of(token) else { return };
        let fetch = self.images.fetch(&image);
        let every = match &fetch {
            Fetch::Fails(refusal) => {
                let answer = Answer::Pull(Outcome::Refused(refusal.clone()));
                return self.reply_after_look(token, answer);
            }
            Fetch::Comes { every, .. } | Fetch::Stalls { every, .. } => *every,
        };
        if let Some(flight) = self.flights.get_mut(&token) {
            flight.stage = Stage::Pulling { fetch: Box::new(fetch), lines: 0 };
        }
        let first = every.saturating_add(self.slower_by(token));
        self.alarm(token, first, Timer::PullLine(token));
        self.expect_line(token, 0, limits.first_progress);
    }

    pub(crate) fn pull_line(&mut self, token: u64) {
        let Some((image, limits)) = self.pull_of(token) else { return };
        let Some(flight) = self.flights.get_mut(&token) else { return };
        let Stage::Pulling { fetch, lines } = &mut flight.stage else { return };
        let number = *lines;
        if matches!(**fetch, Fetch::Stalls { lines: all, .. } if number >= all) {
            return;
        }
        *lines += 1;
        match fetch.as_ref().clone() {
            Fetch::Comes { image: local, lines: all, .. } if number + 1 >= all => {
                self.images.add(&image, *local);
                self.other_events(1); // pull
                return self.reply(token, Answer::Pull(Outcome::Done(())));
            }
            Fetch::Comes { every, .. } | Fetch::Stalls { every, .. } => {
                self.alarm(token, every, Timer::PullLine(token));
            }
            Fetch::Fails(_) => return,
        }
        if self.flights.get(&token).is_some_and(|flight| flight.listening) {
            self.outputs.push_back(Output::Progress { token, step: progress(number) });
        }
        self.expect_line(token, number + 1, limits.inactivity);
    }

    fn expect_line(&mut self, token: u64, lines: u32, waited: Duration) {
        self.alarm(token, waited, Timer::PullSilent { token, lines, waited });
    }

    /// The caller's patience with a silent pull is over; it goes away, and the pull ends.
    pub(crate) fn pull_silent(&mut self, token: u64, seen: u32, waited: Duration) {
        let Some(flight) = self.flights.get(&token) else { return };
        let silent = matches!(&flight.stage, Stage::Pulling { lines, .. } if *lines == seen);
        if silent && flight.listening {
            let ask = flight.ask.clone();
            self.stop_listening(token);
            let cause = LostCause::TimedOut(waited);
            self.tell_lost(token, &ask, Lost::new(cause, words(cause)));
        }
    }

    fn pull_of(&self, token: u64) -> Option<(ImageRef, PullLimits)> {
        match &self.flights.get(&token)?.ask {
            Ask::Call(Request::Pull { image, limits, .. }) => Some((image.clone(), *limits)),
            Ask::Call(_) | Ask::Watch { .. } | Ask::Force(..) => None,
        }
    }
}

/// Lines come in pairs, one when a layer begins and one when it is there.
fn progress(line: u32) -> PullProgress {
    const LAYER: u64 = 1 << 20;
    let done = line % 2 == 1;
    PullProgress {
        layer: format!("{:012x}", u64::from(line / 2) + 1),
        status: if done { "Pull complete" } else { "Downloading" }.into(),
        current: Some(if done { LAYER } else { LAYER / 2 }),
        total: Some(LAYER),
    }
}
