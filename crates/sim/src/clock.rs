//! The simulated clock: one time line, and what the clocks of the host make of it.

use std::{fmt, time::Duration};

use lighterman_ids::{BootId, Moment, Mono, Wall};

/// Nanoseconds since the simulation began; unlike the clocks of the host it knows no boots and no steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct At(pub u64);

impl At {
    /// This much later.
    #[must_use]
    pub fn after(self, wait: Duration) -> Self {
        Self(Mono(self.0).after(wait).0)
    }

    /// Time since `earlier`; zero when `earlier` lies later.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Duration {
        Mono(self.0).since(Mono(earlier.0))
    }
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = Duration::from_nanos(self.0);
        write!(f, "{:6}.{:06}", time.as_secs(), time.subsec_micros())
    }
}

/// When the wall clock says the simulation begins: November 2023.
const WALL_AT_START: i64 = 1_700_000_000_000_000_000;

/// The clocks of the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Clock {
    at: At,
    boot: u128,
    booted_at: At,
    /// By how much the wall clock is off, in nanoseconds.
    wall_off: i64,
}

impl Clock {
    /// At the beginning of the simulation, which is also a boot.
    pub(crate) const fn new() -> Self {
        Self { at: At(0), boot: 1, booted_at: At(0), wall_off: 0 }
    }

    /// Now, on the time line.
    pub(crate) const fn at(&self) -> At {
        self.at
    }

    /// Now, as the host's clocks show it.
    pub(crate) fn moment(&self) -> Moment {
        let passed = i64::try_from(self.at.0).unwrap_or(i64::MAX);
        let wall = WALL_AT_START.saturating_add(passed).saturating_add(self.wall_off);
        Moment { boot: BootId(self.boot), mono: self.mono(), wall: Wall(wall) }
    }

    const fn mono(&self) -> Mono {
        Mono(self.at.0 - self.booted_at.0)
    }

    /// Where an instant of this boot's monotonic clock lies on the time line.
    pub(crate) const fn line_up(&self, mono: Mono) -> At {
        At(self.booted_at.0.saturating_add(mono.0))
    }

    /// Time passes; it never runs backwards.
    pub(crate) fn pass_to(&mut self, at: At) {
        self.at = self.at.max(at);
    }

    /// Somebody sets the wall clock.
    pub(crate) const fn step_wall(&mut self, nanos: i64) {
        self.wall_off = self.wall_off.saturating_add(nanos);
    }

    /// The host starts again: the monotonic clock begins anew.
    pub(crate) const fn reboot(&mut self) {
        self.boot += 1;
        self.booted_at = self.at;
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_boot_restarts_the_monotonic_clock_and_a_step_moves_the_wall_clock_alone() {
        let mut clock = Clock::new();
        clock.pass_to(At(5_000));
        let before = clock.moment();
        clock.step_wall(-7_000);
        assert_eq!((clock.moment().mono, clock.moment().wall.0), (before.mono, before.wall.0 - 7_000));
        clock.reboot();
        clock.pass_to(At(6_000));
        assert_eq!(clock.moment().mono, Mono(1_000));
        assert_ne!(clock.moment().boot, before.boot);
        assert_eq!(clock.line_up(Mono(1_500)), At(6_500));
    }
}
