//! The clocks of the host.

use std::{fs, io};

use lighterman_contracts::Clock;
use lighterman_ids::{BootId, Moment, Mono, Wall};
use rustix::time::{ClockId, Timespec, clock_gettime};

const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";
const NANOS_PER_SEC: i64 = 1_000_000_000;

/// Clocks of this host: `CLOCK_BOOTTIME`, which goes on while the host is suspended, for deadlines, and
/// `CLOCK_REALTIME` for people (design.md R8).
#[derive(Clone, Copy, Debug)]
pub struct HostClock {
    boot: BootId,
}

/// Why the kernel's boot id is not known.
#[derive(Debug, thiserror::Error)]
pub enum BootIdError {
    /// Its file cannot be read.
    #[error("cannot read {BOOT_ID}")]
    Read(#[source] io::Error),
    /// Its file does not hold a UUID.
    #[error("{BOOT_ID} holds no boot id: {0:?}")]
    Malformed(String),
}

impl HostClock {
    /// The clocks of this boot; its id is read once.
    ///
    /// # Errors
    /// The boot id is not known: without it a persisted instant could not be told from one before a reboot.
    pub fn new() -> Result<Self, BootIdError> {
        let text = fs::read_to_string(BOOT_ID).map_err(BootIdError::Read)?;
        Ok(Self { boot: parse_boot_id(&text)? })
    }
}

fn parse_boot_id(text: &str) -> Result<BootId, BootIdError> {
    let digits: String = text.trim().chars().filter(|c| *c != '-').collect();
    let bits = u128::from_str_radix(&digits, 16).ok().filter(|_| digits.len() == 32);
    bits.map(BootId).ok_or_else(|| BootIdError::Malformed(text.chars().take(80).collect()))
}

impl Clock for HostClock {
    fn now(&self) -> Moment {
        let since_boot = nanos(clock_gettime(ClockId::Boottime));
        let mono = u64::try_from(since_boot).expect("the time since boot is not negative");
        Moment { boot: self.boot, mono: Mono(mono), wall: Wall(nanos(clock_gettime(ClockId::Realtime))) }
    }
}

/// Nanoseconds; saturating, which is beyond the year 2262.
const fn nanos(time: Timespec) -> i64 {
    time.tv_sec.saturating_mul(NANOS_PER_SEC).saturating_add(time.tv_nsec)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_monotonic_half_never_runs_backwards_and_the_boot_stays() {
        let clock = HostClock::new().unwrap();
        let mut last = clock.now();
        for _ in 0..1_000 {
            let now = clock.now();
            assert!(now.mono >= last.mono);
            assert_eq!(now.boot, last.boot);
            last = now;
        }
        assert_ne!(last.boot, BootId(0));
        assert!(last.wall > Wall(0));
    }

    #[test]
    fn a_boot_id_is_a_uuid_or_an_error_that_shows_it() {
        let id = parse_boot_id("01234567-89ab-cdef-0123-456789abcdef\n").unwrap();
        assert_eq!(id, BootId(0x0123_4567_89ab_cdef_0123_4567_89ab_cdef));
        for text in ["", "none of it", "01234567-89ab", "0123456789abcdef0123456789abcdeg"] {
            let error = parse_boot_id(text).unwrap_err();
            assert!(error.to_string().contains(text), "{error}");
        }
    }
}
