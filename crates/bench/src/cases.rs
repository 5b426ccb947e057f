//! The cases, one module each.

mod away;
mod commits;
mod ended;
mod floor;
mod growth;
mod help;
mod memory;
mod requests;
mod running;
mod simulation;
mod size;
mod slow_store;

use crate::{
    findings::Findings,
    stage::{Stage, Trouble},
};

/// A case, by the number of its goal where it has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    /// The engine alone.
    Floor,
    /// Size of the binary.
    P1,
    /// Memory of an idle command.
    Memory,
    /// Request to RUNNING.
    P4,
    /// Engine's event to STOPPED.
    P9,
    /// Group commit.
    P12,
    /// Size of the store.
    P13,
    /// Speed of the simulation.
    P14,
    /// Cold start.
    P15,
    /// Engine away.
    P16,
    /// Engine requests.
    P17,
    /// A slow store, and one that fails.
    P18,
}

impl Case {
    /// All of them, in the order in which they run.
    pub const ALL: [Self; 12] = [
        Self::Floor,
        Self::P1,
        Self::Memory,
        Self::P4,
        Self::P9,
        Self::P12,
        Self::P13,
        Self::P14,
        Self::P15,
        Self::P16,
        Self::P17,
        Self::P18,
    ];

    /// The case of this name, whatever its letters' case.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|case| case.name().eq_ignore_ascii_case(text))
    }

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Floor => "floor",
            Self::P1 => "P1",
            Self::Memory => "memory",
            Self::P4 => "P4",
            Self::P9 => "P9",
            Self::P12 => "P12",
            Self::P13 => "P13",
            Self::P14 => "P14",
            Self::P15 => "P15",
            Self::P16 => "P16",
            Self::P17 => "P17",
            Self::P18 => "P18",
        }
    }

    /// What it measures.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Floor => "the engine alone: time per container, several at once",
            Self::P1 => "size of the command",
            Self::Memory => "memory of `lighterman run` with one idle task",
            Self::P4 => "one task, from its acceptance to RUNNING known",
            Self::P9 => "the end of a container, from the engine's event to STOPPED known",
            Self::P12 => "the store while 1,000 tasks change at once",
            Self::P13 => "size of the store after many overwrites",
            Self::P14 => "the simulation on one core",
            Self::P15 => "start of `lighterman --help`",
            Self::P16 => "the engine is away, with one running task",
            Self::P17 => "engine requests of a one-container task",
            Self::P18 => "a slow store, and one that fails",
        }
    }

    /// Measures it.
    ///
    /// # Errors
    /// It could not be measured.
    pub async fn run(self, stage: &Stage) -> Result<Findings, Trouble> {
        match self {
            Self::Floor => floor::run(stage).await,
            Self::P1 => size::run(stage),
            Self::Memory => memory::run(stage).await,
            Self::P4 => running::run(stage).await,
            Self::P9 => ended::run(stage).await,
            Self::P12 => commits::run(stage).await,
            Self::P13 => growth::run(stage).await,
            Self::P14 => simulation::run(stage),
            Self::P15 => help::run(stage),
            Self::P16 => away::run(stage).await,
            Self::P17 => requests::run(stage).await,
            Self::P18 => slow_store::run(stage).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::goals;

    #[test]
    fn a_case_is_found_by_its_name() {
        for case in Case::ALL {
            assert_eq!(Case::parse(case.name()), Some(case));
        }
        assert_eq!(Case::parse("p17"), Some(Case::P17));
        assert_eq!(Case::parse("P3"), None);
    }

    #[test]
    fn every_goal_has_a_case() {
        for goal in goals::ALL {
            let case = if goal.number == "P2" { Some(Case::Memory) } else { Case::parse(goal.number) };
            assert!(case.is_some(), "{goal:?}");
        }
    }
}
