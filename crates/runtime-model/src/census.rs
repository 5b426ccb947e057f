//! Looking at all containers at once, without copying anything: what is true, whatever the engine believes.

use alloc::{collections::BTreeMap, string::String};

use lighterman_calls::ExitCode;
use lighterman_ids::{RuntimeId, RuntimeName};

use crate::{container::State, model::Model};

/// One container as it really is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Glance<'a> {
    /// Its id.
    pub id: &'a RuntimeId,
    /// Its name.
    pub name: &'a RuntimeName,
    /// All labels, the image's included.
    pub labels: &'a BTreeMap<String, String>,
    /// How often it was started.
    pub starts: u64,
    /// The engine believes that it runs.
    pub running: bool,
    /// Its process is alive in truth.
    pub alive: bool,
    /// How its last run ended; `None` before its first end, and while a run goes on.
    pub exit_code: Option<ExitCode>,
}

impl Model {
    /// Every container, by id; no call, no event.
    pub fn census(&self) -> impl Iterator<Item = Glance<'_>> {
        self.containers.values().map(|container| Glance {
            id: &container.id,
            name: container.name(),
            labels: &container.labels,
            starts: container.runs,
            running: container.is_running(),
            alive: container.is_alive(),
            exit_code: match &container.state {
                State::Running(run) => run.end.map(|end| end.code),
                State::Created | State::Exited | State::Dead => {
                    container.finished_at.is_some().then_some(container.exit_code)
                }
            },
        })
    }
}
