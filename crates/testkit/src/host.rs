//! Time and randomness that a test holds in its hand.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use lighterman_contracts::{Clock, Entropy};
use lighterman_ids::{BootId, Moment, Mono, Wall};

/// A clock that moves only when it is told to. Clones show the same time.
#[derive(Clone, Debug)]
pub struct ManualClock {
    now: Arc<Mutex<Moment>>,
}

impl ManualClock {
    /// A clock that shows this.
    #[must_use]
    pub fn new(now: Moment) -> Self {
        Self { now: Arc::new(Mutex::new(now)) }
    }

    /// Time passes on both clocks.
    pub fn advance(&self, by: Duration) {
        let mut now = lock(&self.now);
        now.mono = now.mono.after(by);
        now.wall = now.wall.after(by);
    }

    /// Somebody sets the wall clock; the monotonic one does not notice.
    pub fn set_wall(&self, wall: Wall) {
        lock(&self.now).wall = wall;
    }

    /// The host starts again: another boot, whose monotonic clock begins at zero, `down` later by the wall.
    pub fn reboot(&self, boot: BootId, down: Duration) {
        let mut now = lock(&self.now);
        *now = Moment { boot, mono: Mono(0), wall: now.wall.after(down) };
    }
}

impl Default for ManualClock {
    /// Boot 1, a minute after its beginning, in 2026.
    fn default() -> Self {
        let wall = Wall(1_790_000_000_000_000_000);
        Self::new(Moment { boot: BootId(1), mono: Mono(60_000_000_000), wall })
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Moment {
        *lock(&self.now)
    }
}

/// Bits that are the same in every run. Clones draw from the same sequence.
#[derive(Clone, Debug)]
pub struct SeededEntropy {
    drawn: Arc<Mutex<u64>>,
}

impl SeededEntropy {
    /// The sequence of this seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { drawn: Arc::new(Mutex::new(seed)) }
    }
}

impl Entropy for SeededEntropy {
    fn bits(&self) -> u128 {
        let mut state = lock(&self.drawn);
        u128::from(splitmix(&mut state)) << 64 | u128::from(splitmix(&mut state))
    }
}

fn splitmix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A test that panicked elsewhere must not hide behind a poisoned lock.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_moves_only_when_told() {
        let clock = ManualClock::default();
        let (other, begin) = (clock.clone(), clock.now());
        other.advance(Duration::from_secs(2));
        assert_eq!(clock.now().since(begin), Duration::from_secs(2));
        clock.set_wall(Wall(0));
        assert_eq!((clock.now().wall, clock.now().since(begin)), (Wall(0), Duration::from_secs(2)));
        clock.reboot(BootId(2), Duration::from_secs(9));
        assert_eq!(clock.now(), Moment { boot: BootId(2), mono: Mono(0), wall: Wall(9_000_000_000) });
    }

    #[test]
    fn entropy_repeats_with_its_seed_and_never_within_a_run() {
        let draw = |seed| {
            let entropy = SeededEntropy::new(seed);
            [entropy.bits(), entropy.clone().bits(), entropy.bits()]
        };
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1)[0], draw(2)[0]);
        let [one, two, three] = draw(1);
        assert!(one != two && two != three && one != three);
    }
}
