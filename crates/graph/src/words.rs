//! Answers in words, for people.

use alloc::{format, string::String};

use crate::{Block, Edge, Fatal, FatalCause, Graph, ResourceBlock};

/// Names of dependents that a text shows; the rest is counted.
const NAMES_SHOWN: usize = 5;

impl Graph {
    /// What is waited for, to go behind "waits for": `db to be healthy (dependsOn[0])`.
    ///
    /// # Panics
    /// The block is not of this graph.
    #[must_use]
    pub fn block_text(&self, block: &Block) -> String {
        match block {
            Block::InFlight { toward } => format!("its transition to {toward}"),
            Block::Credentials => "the credentials of the execution role".into(),
            Block::Ordering(edge) => {
                format!("{} {} ({})", self.names[edge.on], edge.condition.in_words(), edge.source)
            }
            Block::Container { on, reached, toward } => {
                format!("{} to be {reached}, before it becomes {toward}", self.names[*on])
            }
            Block::Resource { on, reached, toward } => {
                format!("{} to be {reached}, before it becomes {toward}", self.resources[*on].name)
            }
            Block::StopOrder { dependents } => self.stop_order_text(dependents),
        }
    }

    /// What a resource waits for, to go behind "waits for".
    ///
    /// # Panics
    /// The block is not of this graph.
    #[must_use]
    pub fn resource_block_text(&self, block: &ResourceBlock) -> String {
        match block {
            ResourceBlock::Container { on, reached } => format!("{} to be {reached}", self.names[*on]),
            ResourceBlock::Credentials => "the credentials of the execution role".into(),
            ResourceBlock::InFlight { toward } => format!("its transition to {toward}"),
        }
    }

    /// Why a container will never start: `waits for init to end with exit code 0 (dependsOn[0]), but init ended with
    /// exit code 1`.
    ///
    /// # Panics
    /// The edge is not of this graph.
    #[must_use]
    pub fn fatal_text(&self, fatal: &Fatal) -> String {
        let Fatal { edge: Edge { on, condition, source, .. }, cause } = fatal;
        let on = &self.names[*on];
        let but = match cause {
            FatalCause::TimedOut { limit } => format!("{on} was started more than {limit:?} ago"),
            FatalCause::NotSuccessful { exit_code: Some(code) } => format!("{on} ended with exit code {code}"),
            FatalCause::NotSuccessful { exit_code: None } => format!("{on} ended with an unknown exit code"),
            FatalCause::WillNeverStart => format!("{on} is to stop and was not started"),
            FatalCause::NeverStarted => format!("{on} has stopped and was never started"),
            FatalCause::NotHealthy { health } => format!("{on} has stopped, and its health was {}", health.as_str()),
        };
        format!("waits for {on} {} ({source}), but {but}", condition.in_words())
    }

    fn stop_order_text(&self, dependents: &[usize]) -> String {
        let mut text = String::new();
        for (n, dependent) in dependents.iter().take(NAMES_SHOWN).enumerate() {
            if n > 0 {
                text.push_str(", ");
            }
            text.push_str(self.names[*dependent].as_str());
        }
        let more = dependents.len().saturating_sub(NAMES_SHOWN);
        if more > 0 {
            text.push_str(&format!(" and {more} more"));
        }
        text.push_str(" to stop first");
        text
    }
}
