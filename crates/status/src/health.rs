//! Health of a container (engine.md 1.7).

use crate::StatusTextError;

/// What the health check of a container says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Health {
    /// No result yet, the check is in its start period, or there is no check.
    #[default]
    Unknown,
    /// The last checks passed.
    Healthy,
    /// As many checks in a row failed as the check allows.
    Unhealthy,
}

impl Health {
    /// Every value.
    pub const ALL: &'static [Self] = &[Self::Unknown, Self::Healthy, Self::Unhealthy];

    /// The name, which is also the text on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unknown => "UNKNOWN",
            Self::Healthy => "HEALTHY",
            Self::Unhealthy => "UNHEALTHY",
        }
    }

    /// Reads what [`Self::as_str`] writes, and nothing else.
    ///
    /// # Errors
    /// `text` is not one of the names; case counts.
    pub fn parse(text: &str) -> Result<Self, StatusTextError> {
        match text {
            "UNKNOWN" => Ok(Self::Unknown),
            "HEALTHY" => Ok(Self::Healthy),
            "UNHEALTHY" => Ok(Self::Unhealthy),
            _ => Err(StatusTextError::new("health status", text, crate::TextFault::UnknownName)),
        }
    }

    /// What the runtime's word means; `starting`, no word and words we do not know are no result.
    #[must_use]
    pub fn from_runtime(word: &str) -> Self {
        match word {
            "healthy" => Self::Healthy,
            "unhealthy" => Self::Unhealthy,
            _ => Self::Unknown,
        }
    }
}

impl core::fmt::Display for Health {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.pad(self.as_str())
    }
}
