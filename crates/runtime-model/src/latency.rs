//! How long things take, and what goes wrong on the way.

use core::time::Duration;

use lighterman_calls::{LostCause, Refusal};

/// How long the engine takes for its work; defaults as measured on 20.10.24 with two processors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Latencies {
    /// Ping, version, inspect, list, and refusals that need no work.
    pub look: Duration,
    /// Create; the container exists from its end on, its name is taken from the beginning.
    pub create: Duration,
    /// Start; the process begins at its end, and the container is locked until then.
    pub start: Duration,
    /// A start that fails before a process is made (port taken).
    pub start_refused: Duration,
    /// Sending a signal.
    pub signal: Duration,
    /// From the end of a process to the `die` event.
    pub notice: Duration,
    /// From `die` to the state shown; the container is locked meanwhile.
    pub settle: Duration,
    /// Remove.
    pub remove: Duration,
    /// What the engine adds to the time of a health probe.
    pub probe: Duration,
}

impl Latencies {
    /// Nothing takes time; the order of things stays.
    pub const ZERO: Self = Self {
        look: Duration::ZERO,
        create: Duration::ZERO,
        start: Duration::ZERO,
        start_refused: Duration::ZERO,
        signal: Duration::ZERO,
        notice: Duration::ZERO,
        settle: Duration::ZERO,
        remove: Duration::ZERO,
        probe: Duration::ZERO,
    };
}

impl Default for Latencies {
    fn default() -> Self {
        Self {
            look: Duration::from_millis(1),
            create: Duration::from_millis(10),
            start: Duration::from_millis(180),
            start_refused: Duration::from_millis(35),
            signal: Duration::from_millis(8),
            notice: Duration::from_millis(21),
            settle: Duration::from_millis(35),
            remove: Duration::from_millis(5),
            probe: Duration::from_millis(40),
        }
    }
}

/// What befalls one call. The default: nothing.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Disturbance {
    /// Before the engine sees the call; `None`: it never does.
    pub arrives_after: Option<Duration>,
    /// Added to the engine's own time for it.
    pub slower_by: Duration,
    /// Between the effect and the answer: what the answer tells is that old.
    pub answers_after: Duration,
    /// After this long the caller hears `Unknown`, whatever goes on; what was begun takes its course.
    pub lost_after: Option<(Duration, LostCause)>,
    /// The engine says this instead of doing anything.
    pub refused: Option<Refusal>,
}

impl Disturbance {
    /// Nothing befalls the call.
    pub const NONE: Self = Self {
        arrives_after: Some(Duration::ZERO),
        slower_by: Duration::ZERO,
        answers_after: Duration::ZERO,
        lost_after: None,
        refused: None,
    };

    /// The answer is lost this long after the call was made; the effect comes all the same.
    #[must_use]
    pub fn lost(after: Duration) -> Self {
        Self { lost_after: Some((after, LostCause::ConnectionLost)), ..Self::NONE }
    }

    /// The call takes effect only after `delay`; its answer is lost at once.
    #[must_use]
    pub fn late(delay: Duration) -> Self {
        let lost_after = Some((Duration::ZERO, LostCause::ConnectionLost));
        Self { arrives_after: Some(delay), lost_after, ..Self::NONE }
    }

    /// The engine never sees the call, and the caller hears that contact was lost.
    #[must_use]
    pub fn never(after: Duration) -> Self {
        let lost_after = Some((after, LostCause::ConnectionLost));
        Self { arrives_after: None, lost_after, ..Self::NONE }
    }

    /// Nothing comes back, ever; a limit in time is what ends the call.
    #[must_use]
    pub fn hangs() -> Self {
        Self { arrives_after: None, ..Self::NONE }
    }

    /// The engine says no.
    #[must_use]
    pub fn refuses(refusal: Refusal) -> Self {
        Self { refused: Some(refusal), ..Self::NONE }
    }
}

impl Default for Disturbance {
    fn default() -> Self {
        Self::NONE
    }
}
