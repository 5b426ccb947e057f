//! Instants: monotonic for deadlines, wall for people (design.md R8).

use core::{fmt, time::Duration};

/// Nanoseconds of a clock that never runs backwards within one boot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mono(pub u64);

impl Mono {
    /// The instant `wait` later; the end of time when that does not fit.
    #[must_use]
    pub fn after(self, wait: Duration) -> Self {
        Self(self.0.saturating_add(u64::try_from(wait.as_nanos()).unwrap_or(u64::MAX)))
    }

    /// Time since `earlier`; zero when `earlier` lies later.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

/// Nanoseconds since 1970-01-01T00:00:00Z, as the host's clock shows them; may step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Wall(pub i64);

impl Wall {
    /// Time since `earlier`; zero when `earlier` lies later.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(u64::try_from(i128::from(self.0) - i128::from(earlier.0)).unwrap_or(0))
    }

    /// The instant `wait` later; the end of time when that does not fit.
    #[must_use]
    pub fn after(self, wait: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(wait.as_nanos()).unwrap_or(i64::MAX)))
    }
}

/// Which boot of the host a monotonic instant belongs to.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BootId(pub u128);

impl fmt::Debug for BootId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// An instant on both clocks: what `now` is, and what is persisted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Moment {
    /// The boot `mono` counts on.
    pub boot: BootId,
    /// For deadlines.
    pub mono: Mono,
    /// For people.
    pub wall: Wall,
}

impl Moment {
    /// Time since `earlier`: on the same boot monotonic, else by the wall clock and never below zero.
    ///
    /// ```
    /// # use {lighterman_ids::{BootId, Moment, Mono, Wall}, core::time::Duration};
    /// let stopped = Moment { boot: BootId(1), mono: Mono(5_000_000_000), wall: Wall(100_000_000_000) };
    /// // The wall clock was set back an hour: a deadline does not notice.
    /// let now = Moment { boot: BootId(1), mono: Mono(7_000_000_000), wall: Wall(0) };
    /// assert_eq!(now.since(stopped), Duration::from_secs(2));
    /// // Another boot: only the wall clock is left, and it never counts below zero.
    /// let rebooted = Moment { boot: BootId(2), ..now };
    /// assert_eq!(rebooted.since(stopped), Duration::ZERO);
    /// ```
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        if self.boot == earlier.boot { self.mono.since(earlier.mono) } else { self.wall.since(earlier.wall) }
    }

    /// The deadline on today's monotonic clock that lies `wait` after `earlier`.
    #[must_use]
    pub fn deadline(self, earlier: Self, wait: Duration) -> Mono {
        self.mono.after(wait.saturating_sub(self.since(earlier)))
    }
}
