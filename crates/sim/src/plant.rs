//! Faults of our own making: each makes the world, not the core, do something wrong, so that a checker can be
//! seen to notice.

/// A planted fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Plant {
    /// The store says that a commit is durable when it only begins.
    AcknowledgesEarly,
    /// A crash takes back the last acknowledged commit, and the store does not know.
    ForgetsCommit,
    /// A second container is made under another name with each create.
    CreatesTwin,
    /// Something with our label is made beside a container, and never listed.
    LeavesOrphan,
    /// Removals are answered and not done.
    KeepsRemoved,
    /// Stops reach somebody else's container too.
    HitsForeigner,
    /// What was only created is shown as running.
    RunsTooSoon,
    /// Exit codes are off by one.
    WrongExitCode,
    /// A stopped container is shown as running afterwards.
    Resurrects,
    /// A task that was to stop is shown as one that is to run.
    DesiresLess,
    /// The reason why a container stopped is another one afterwards.
    ChangesReason,
    /// Stops are sent without grace.
    ShortensGrace,
    /// A kill follows each stop at once.
    KillsAtOnce,
    /// A container that has ended is started again.
    StartsTwice,
    /// Waits are not shown.
    HidesWaits,
    /// An answer is lost inside the driver.
    LosesAnswer,
    /// Time stands still after a while.
    Spins,
    /// Each start uses the same incarnation.
    ReusesIds,
    /// Neither events nor lists tell of ends.
    IsDeaf,
    /// The records that are taken up belong to somebody else.
    SwapsOwner,
    /// A store that should be damaged opens as if it was not.
    OverlooksDamage,
    /// A store is damaged that nobody expects to be.
    HidesDamage,
}

impl Plant {
    /// Every planted fault.
    pub const ALL: [Self; 22] = [
        Self::AcknowledgesEarly,
        Self::ForgetsCommit,
        Self::CreatesTwin,
        Self::LeavesOrphan,
        Self::KeepsRemoved,
        Self::HitsForeigner,
        Self::RunsTooSoon,
        Self::WrongExitCode,
        Self::Resurrects,
        Self::DesiresLess,
        Self::ChangesReason,
        Self::ShortensGrace,
        Self::KillsAtOnce,
        Self::StartsTwice,
        Self::HidesWaits,
        Self::LosesAnswer,
        Self::Spins,
        Self::ReusesIds,
        Self::IsDeaf,
        Self::SwapsOwner,
        Self::OverlooksDamage,
        Self::HidesDamage,
    ];
}
