//! Random bits of the operating system.

use std::io;

use lighterman_contracts::Entropy;
use rustix::{
    io::Errno,
    rand::{GetRandomFlags, getrandom},
};

/// `getrandom(2)`: waits early in a boot until the kernel's pool is ready, and never after that.
#[derive(Clone, Copy, Debug)]
pub struct OsEntropy {
    _drawn_once: (),
}

impl OsEntropy {
    /// Draws once, so that a host without random bits is found out at start.
    ///
    /// # Errors
    /// The kernel gives no random bits: the call is missing or forbidden.
    pub fn new() -> io::Result<Self> {
        draw()?;
        Ok(Self { _drawn_once: () })
    }
}

impl Entropy for OsEntropy {
    /// # Panics
    /// The kernel gave random bits at start and gives none now.
    fn bits(&self) -> u128 {
        draw().expect("the kernel gave random bits at start")
    }
}

fn draw() -> Result<u128, Errno> {
    let mut bytes = [0_u8; 16];
    let mut filled = 0;
    while filled < bytes.len() {
        match getrandom(&mut bytes[filled..], GetRandomFlags::empty()) {
            Ok(count) => filled += count,
            // A signal came while the pool was not ready.
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(u128::from_ne_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_draw_repeats() {
        let entropy = OsEntropy::new().unwrap();
        let drawn: BTreeSet<u128> = (0..1_000).map(|_| entropy.bits()).collect();
        assert_eq!(drawn.len(), 1_000);
    }

    #[test]
    fn every_bit_is_drawn_both_ways() {
        let entropy = OsEntropy::new().unwrap();
        let (mut ones, mut zeros) = (0_u128, 0_u128);
        for _ in 0..200 {
            let bits = entropy.bits();
            ones |= bits;
            zeros |= !bits;
        }
        assert_eq!((ones, zeros), (u128::MAX, u128::MAX));
    }
}
