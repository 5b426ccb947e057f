//! What befalls which call, and what was asked.

use std::time::Duration;

use lighterman_calls::{Answer, Request, RequestKind};
use lighterman_runtime_model::Disturbance;

/// Names calls: all of a kind, about one container, some of them only.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct On {
    kind: Option<RequestKind>,
    about: Option<String>,
    skip: u32,
    times: Option<u32>,
}

impl On {
    /// Every call.
    #[must_use]
    pub fn any() -> Self {
        Self::default()
    }

    /// Every call of this kind.
    #[must_use]
    pub fn kind(kind: RequestKind) -> Self {
        Self { kind: Some(kind), ..Self::default() }
    }

    /// Only about containers, images or volumes whose name contains this.
    #[must_use]
    pub fn about(self, name: &str) -> Self {
        Self { about: Some(name.to_owned()), ..self }
    }

    /// Not the first `count` of them.
    #[must_use]
    pub fn skip(self, count: u32) -> Self {
        Self { skip: count, ..self }
    }

    /// Only `count` of them.
    #[must_use]
    pub fn times(self, count: u32) -> Self {
        Self { times: Some(count), ..self }
    }

    fn fits(&self, request: &Request, name: Option<&str>) -> bool {
        let about = |wanted: &String| name.is_some_and(|name| name.contains(wanted.as_str()));
        self.kind.is_none_or(|kind| kind == request.kind()) && self.about.as_ref().is_none_or(about)
    }
}

/// A call that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// When, since the fake was made.
    pub at: Duration,
    /// What was asked.
    pub request: Request,
    /// The limit in time it was given.
    pub limit: Duration,
}

#[derive(Clone, Debug)]
pub(super) enum Then {
    Befalls(Disturbance),
    Answered(Answer),
}

#[derive(Debug, Default)]
pub(super) struct Script {
    rules: Vec<(On, Then)>,
    recorded: Vec<Recorded>,
}

impl Script {
    pub(super) fn add(&mut self, on: On, then: Then) {
        self.rules.push((on, then));
    }

    pub(super) fn clear(&mut self) {
        self.rules.clear();
    }

    pub(super) fn recorded(&self) -> &[Recorded] {
        &self.recorded
    }

    /// Takes a call down and says what becomes of it. Every rule that fits counts it, the first whose turn it is holds.
    pub(super) fn decide(&mut self, at: Duration, request: &Request, limit: Duration, name: Option<&str>) -> Then {
        self.recorded.push(Recorded { at, request: request.clone(), limit });
        let mut decided = None;
        for (on, then) in self.rules.iter_mut().filter(|(on, _)| on.fits(request, name)) {
            if on.skip > 0 {
                on.skip -= 1;
            } else if decided.is_none() && on.times != Some(0) {
                on.times = on.times.map(|times| times - 1);
                decided = Some(then.clone());
            }
        }
        decided.unwrap_or(Then::Befalls(Disturbance::NONE))
    }
}
