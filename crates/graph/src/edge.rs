//! What one container waits for in another, and which line of the task says so.

use core::fmt;

/// How far a dependency has to be before its dependent may go on (engine.md 2.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Condition {
    /// It exists; having ended counts.
    Create,
    /// It is up, or has been and has ended.
    Start,
    /// It has ended, however.
    Complete,
    /// It has ended with exit code 0.
    Success,
    /// Its health check says that it is healthy.
    Healthy,
}

/// A text that is no condition.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown condition; allowed: CREATE, START, COMPLETE, SUCCESS, HEALTHY in upper case")]
pub struct UnknownCondition;

impl Condition {
    /// Every condition.
    pub const ALL: &'static [Self] = &[Self::Create, Self::Start, Self::Complete, Self::Success, Self::Healthy];

    /// The word of the task definition; [`Self::parse`] reads it back.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Create => "CREATE",
            Self::Start => "START",
            Self::Complete => "COMPLETE",
            Self::Success => "SUCCESS",
            Self::Healthy => "HEALTHY",
        }
    }

    /// Reads what [`Self::as_str`] writes, and nothing else.
    ///
    /// # Errors
    /// `text` is not one of the words; case counts (engine.md 2.3).
    pub fn parse(text: &str) -> Result<Self, UnknownCondition> {
        Self::ALL.iter().copied().find(|condition| condition.as_str() == text).ok_or(UnknownCondition)
    }

    /// What the dependency has to do, for "waits for db …".
    pub(crate) const fn in_words(self) -> &'static str {
        match self {
            Self::Create => "to be created",
            Self::Start => "to be up",
            Self::Complete => "to end",
            Self::Success => "to end with exit code 0",
            Self::Healthy => "to be healthy",
        }
    }

    /// Whether it looks at what becomes of the dependency after its start, so that a start timeout counts (2.5).
    pub(crate) const fn can_time_out(self) -> bool {
        match self {
            Self::Complete | Self::Success | Self::Healthy => true,
            Self::Create | Self::Start => false,
        }
    }

    /// Whether the dependency has to end first.
    pub(crate) const fn waits_for_the_end(self) -> bool {
        match self {
            Self::Complete | Self::Success => true,
            Self::Create | Self::Start | Self::Healthy => false,
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Which line of the container an edge comes from (engine.md 2.1).
///
/// `Display` writes it as a path: `dependsOn[0]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// An entry of its `dependsOn`.
    DependsOn {
        /// Which, from 0.
        at: usize,
    },
    /// An entry of its `volumesFrom`.
    VolumesFrom {
        /// Which, from 0.
        at: usize,
    },
    /// An entry of its `links`.
    Links {
        /// Which, from 0.
        at: usize,
    },
    /// Its log goes through the log router.
    LogRouter,
}

impl Source {
    /// The name of the line, without which entry it is.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::DependsOn { .. } => "dependsOn",
            Self::VolumesFrom { .. } => "volumesFrom",
            Self::Links { .. } => "links",
            Self::LogRouter => "log router",
        }
    }

    const fn entry(self) -> Option<usize> {
        match self {
            Self::DependsOn { at } | Self::VolumesFrom { at } | Self::Links { at } => Some(at),
            Self::LogRouter => None,
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.entry() {
            Some(at) => write!(f, "{}[{at}]", self.name()),
            None => f.write_str(self.name()),
        }
    }
}

/// An ordering edge of a graph. Containers are named by their place in task order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Edge {
    /// Who waits.
    pub dependent: usize,
    /// For whom; never the dependent itself.
    pub on: usize,
    /// For what.
    pub condition: Condition,
    /// Which line says so.
    pub source: Source,
}

/// Why one thing waits for another; `Display` writes the middle of `a -[dependsOn HEALTHY]-> b`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tie {
    /// An ordering edge.
    Edge {
        /// For what.
        condition: Condition,
        /// Which line says so.
        source: Source,
    },
    /// A transition dependency: a container or resource enters a status only after another has reached one.
    Gate {
        /// The status that is entered.
        toward: &'static str,
        /// The status that is waited for.
        reached: &'static str,
    },
    /// The stop order: a dependency stops after those that depend on it.
    StopOrder,
}

impl fmt::Display for Tie {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Edge { condition, source: source @ Source::DependsOn { .. } } => {
                write!(f, "{} {condition}", source.name())
            }
            // The others have one condition each, and nobody wrote it.
            Self::Edge {
                source: source @ (Source::VolumesFrom { .. } | Source::Links { .. } | Source::LogRouter),
                ..
            } => f.write_str(source.name()),
            Self::Gate { toward, reached } => write!(f, "{toward} after {reached}"),
            Self::StopOrder => f.write_str("stops after"),
        }
    }
}

impl Edge {
    pub(crate) const fn tie(&self) -> Tie {
        Tie::Edge { condition: self.condition, source: self.source }
    }
}
