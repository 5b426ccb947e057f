//! An engine that is not as it should be: clear words, bounded time, the right end.

mod away;
mod garbled;
mod hung;
mod lost;
mod removals;
mod streams;

use std::time::Duration;

use lighterman_testkit::proxy::Pattern;

use crate::launch::{Ended, Running};

/// Bound on what takes a few short limits and pauses.
const BOUNDED: Duration = Duration::from_secs(20);

pub(crate) fn version() -> Pattern {
    Pattern::new("GET", "/version")
}

pub(crate) fn events() -> Pattern {
    Pattern::new("GET", "/events")
}

pub(crate) fn list() -> Pattern {
    Pattern::new("GET", "/containers/json")
}

pub(crate) fn inspect() -> Pattern {
    Pattern::new("GET", "/containers/*/json")
}

pub(crate) fn create() -> Pattern {
    Pattern::new("POST", "/containers/create")
}

pub(crate) fn start() -> Pattern {
    Pattern::new("POST", "/containers/*/start")
}

pub(crate) fn stop() -> Pattern {
    Pattern::new("POST", "/containers/*/stop")
}

pub(crate) fn kill() -> Pattern {
    Pattern::new("POST", "/containers/*/kill")
}

pub(crate) fn logs() -> Pattern {
    Pattern::new("GET", "/containers/*/logs")
}

pub(crate) fn remove() -> Pattern {
    Pattern::new("DELETE", "/containers/*")
}

pub(crate) fn pull() -> Pattern {
    Pattern::new("POST", "/images/create")
}

/// It ends within [`BOUNDED`].
async fn in_bounds(run: Running) -> Ended {
    match run.end_within(BOUNDED).await {
        Ok(ended) => ended,
        Err(run) => panic!("it takes longer than {BOUNDED:?}: {}", run.story()),
    }
}

/// What is told of trouble that is not the task's own.
fn notes(ended: &Ended) -> String {
    ended.of("note").map(|note| format!("{}\n", note["text"].as_str().unwrap())).collect()
}
