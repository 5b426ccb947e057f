//! What signals ask for. Many that come together are one wish: a terminal that closes tells the command twice, and a
//! service manager may send several kinds at once.
//!
//! Each kind counts by itself, and what comes within [`TOGETHER`] of the signal that counted last does not count. The
//! first of any kind asks to stop, the second of one kind to kill, the third to leave at once. SIGQUIT leaves at once.

use std::{collections::BTreeMap, time::Duration};

use lighterman_ids::Mono;
use lighterman_ui::StopSignal;

/// What comes within so long is one wish.
const TOGETHER: Duration = Duration::from_secs(1);

/// A signal, and when it came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heard {
    /// Which.
    pub signal: StopSignal,
    /// When.
    pub at: Mono,
}

/// What somebody wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Wish {
    /// Containers get their stop signal and their stop timeout.
    Stop,
    /// They are killed.
    Kill,
    /// The command ends, whatever is left.
    Leave,
}

/// The signals that have come.
#[derive(Debug, Default)]
pub(crate) struct Wishes {
    counts: BTreeMap<&'static str, u32>,
    last: Option<Mono>,
    wish: Option<Wish>,
}

impl Wishes {
    /// The wish, if it goes further than the one before.
    pub(crate) fn hear(&mut self, heard: Heard) -> Option<Wish> {
        let wish = if heard.signal == StopSignal::Quit { Wish::Leave } else { self.count(heard)? };
        let goes_further = self.wish.is_none_or(|before| wish > before);
        goes_further.then(|| *self.wish.insert(wish))
    }

    /// Whether anything has been asked for.
    pub(crate) const fn any(&self) -> bool {
        self.wish.is_some()
    }

    fn count(&mut self, heard: Heard) -> Option<Wish> {
        if self.last.is_some_and(|last| heard.at.since(last) < TOGETHER) {
            return None;
        }
        self.last = Some(heard.at);
        let count = self.counts.entry(heard.signal.name()).or_default();
        *count += 1;
        Some(match count {
            1 => Wish::Stop,
            2 => Wish::Kill,
            _ => Wish::Leave,
        })
    }
}

#[cfg(test)]
mod tests {
    use StopSignal::{HangUp, Interrupt, Quit, Terminate};

    use super::*;

    /// What these signals, at these milliseconds, ask for.
    fn wishes(signals: &[(u64, StopSignal)]) -> Vec<Option<Wish>> {
        let mut wishes = Wishes::default();
        let heard = |(ms, signal): &(u64, StopSignal)| Heard { signal: *signal, at: Mono(ms * 1_000_000) };
        signals.iter().map(|signal| wishes.hear(heard(signal))).collect()
    }

    #[test]
    fn what_comes_together_is_one_wish() {
        let closed_terminal = [(0, HangUp), (0, HangUp), (900, HangUp)];
        assert_eq!(wishes(&closed_terminal), [Some(Wish::Stop), None, None]);
        let all_at_once = [(0, Terminate), (0, HangUp), (1, Interrupt), (999, Terminate)];
        assert_eq!(wishes(&all_at_once), [Some(Wish::Stop), None, None, None]);
    }

    #[test]
    fn the_second_of_a_kind_kills_and_the_third_leaves() {
        let patient = [(0, Interrupt), (1_000, Interrupt), (2_000, Interrupt), (9_000, Interrupt)];
        assert_eq!(wishes(&patient), [Some(Wish::Stop), Some(Wish::Kill), Some(Wish::Leave), None]);
        // Whoever keeps pressing it gets there, a second each.
        let hasty: Vec<_> = (0..21).map(|n| (n * 100, Interrupt)).collect();
        let heard: Vec<_> = wishes(&hasty).into_iter().flatten().collect();
        assert_eq!(heard, [Wish::Stop, Wish::Kill, Wish::Leave]);
    }

    #[test]
    fn another_kind_asks_for_nothing_new() {
        let mixed = [(0, Interrupt), (5_000, Terminate), (10_000, HangUp), (15_000, Terminate), (20_000, Interrupt)];
        assert_eq!(wishes(&mixed), [Some(Wish::Stop), None, None, Some(Wish::Kill), None]);
    }

    #[test]
    fn quit_leaves_at_once_however_soon_it_comes() {
        assert_eq!(wishes(&[(0, Quit)]), [Some(Wish::Leave)]);
        assert_eq!(wishes(&[(0, Interrupt), (1, Quit), (2, Quit)]), [Some(Wish::Stop), Some(Wish::Leave), None]);
    }
}
