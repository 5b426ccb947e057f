//! The checkers: each knows one rule, and nothing of how the core keeps it.
//!
//! A checker sees what left, what came back, what was shown, what is durable and what is true, and says what is
//! wrong. It never looks into the engine but for what readers may see there, and it never acts.

mod answered;
mod exit_codes;
mod forget_last;
mod forward;
mod fresh_ids;
mod grace;
mod hands_off;
mod no_orphans;
mod no_twins;
mod once;
mod persist_first;
mod ran_before;
mod settled;
mod taken_back;
mod waits;

use std::fmt;

use crate::note::{Note, Sight};

/// One rule.
pub(crate) trait Check: fmt::Debug {
    /// Its name in failures.
    fn name(&self) -> &'static str;

    /// Takes in what happened, and says what is wrong with it.
    fn see(&mut self, sight: &Sight<'_>, note: &Note<'_>) -> Result<(), String>;
}

/// All rules.
#[derive(Debug)]
pub(crate) struct Checks(Vec<Box<dyn Check>>);

impl Checks {
    pub(crate) fn new() -> Self {
        Self(vec![
            Box::<persist_first::PersistFirst>::default(),
            Box::<no_twins::NoTwins>::default(),
            Box::<no_orphans::NoOrphans>::default(),
            Box::<forget_last::ForgetLast>::default(),
            Box::<hands_off::HandsOff>::default(),
            Box::<forward::StoppedStays>::default(),
            Box::<forward::DesiredRises>::default(),
            Box::<forward::FirstWordStays>::default(),
            Box::<exit_codes::ExitCodes>::default(),
            Box::<ran_before::RanBefore>::default(),
            Box::<grace::SentGrace>::default(),
            Box::<grace::KilledForAReason>::default(),
            Box::<once::Once>::default(),
            Box::<waits::WaitsExplained>::default(),
            Box::<answered::Answered>::default(),
            Box::<taken_back::TakenBack>::default(),
            Box::<fresh_ids::FreshIds>::default(),
            Box::<settled::Settled>::default(),
        ])
    }

    /// Shows the note to every checker; the first that finds something wrong is named.
    pub(crate) fn see(&mut self, sight: &Sight<'_>, note: &Note<'_>) -> Result<(), (&'static str, String)> {
        for check in &mut self.0 {
            check.see(sight, note).map_err(|text| (check.name(), text))?;
        }
        Ok(())
    }

    /// The names of all checkers.
    pub(crate) fn names(&self) -> Vec<&'static str> {
        self.0.iter().map(|check| check.name()).collect()
    }
}
