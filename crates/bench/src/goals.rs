//! What we hold, in numbers: the goals of spec/performance.md §2 that can be measured so far.
//!
//! Where we beat a goal, its number here is tightened; where one proves impossible, the new one stands here
//! with its reason.

use std::fmt;

use Bound::{AtLeast, AtMost};

/// In what something is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Milliseconds.
    Millis,
    /// Millions of bytes.
    Megabytes,
    /// Mebibytes.
    Mebibytes,
    /// Seconds of a processor.
    CpuSeconds,
    /// So many in a second.
    PerSecond,
    /// Just so many.
    Count,
    /// Times as much.
    Ratio,
}

impl Unit {
    /// Its sign, as the report has it.
    #[must_use]
    pub const fn sign(self) -> &'static str {
        match self {
            Self::Millis => "ms",
            Self::Megabytes => "MB",
            Self::Mebibytes => "MiB",
            Self::CpuSeconds => "s",
            Self::PerSecond => "/s",
            Self::Count => "",
            Self::Ratio => "x",
        }
    }

    /// A value in this unit, in at most ten characters as far as it goes.
    #[must_use]
    pub fn show(self, value: f64) -> String {
        let digits = match self {
            Self::CpuSeconds => 3,
            Self::PerSecond => 0,
            Self::Count if value.fract() == 0.0 => 0,
            Self::Millis | Self::Megabytes | Self::Mebibytes | Self::Count | Self::Ratio => digits_for(value),
        };
        match self {
            Self::Count => format!("{value:.digits$}"),
            Self::PerSecond | Self::Ratio => format!("{value:.digits$}{}", self.sign()),
            Self::Millis | Self::Megabytes | Self::Mebibytes | Self::CpuSeconds => {
                format!("{value:.digits$} {}", self.sign())
            }
        }
    }
}

/// Three digits that tell something.
fn digits_for(value: f64) -> usize {
    match value.abs() {
        large if large >= 100.0 => 0,
        middle if middle >= 10.0 => 1,
        _ => 2,
    }
}

/// Where a measured value has to lie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// Not above it.
    AtMost(f64),
    /// Not below it.
    AtLeast(f64),
}

impl Bound {
    /// Whether the value lies there.
    #[must_use]
    pub fn holds(self, value: f64) -> bool {
        match self {
            Self::AtMost(bound) => value <= bound,
            Self::AtLeast(bound) => value >= bound,
        }
    }

    /// The number alone.
    #[must_use]
    pub const fn number(self) -> f64 {
        match self {
            Self::AtMost(bound) | Self::AtLeast(bound) => bound,
        }
    }
}

/// One goal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Goal {
    /// Its number in spec/performance.md.
    pub number: &'static str,
    /// What has to hold.
    pub what: &'static str,
    /// How it is measured.
    pub how: &'static str,
    /// Where the value has to lie …
    pub bound: Bound,
    /// … in this unit.
    pub unit: Unit,
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = match self.bound {
            AtMost(_) => "at most",
            AtLeast(_) => "at least",
        };
        write!(f, "{}: {sign} {}", self.what, self.unit.show(self.bound.number()))
    }
}

macro_rules! goals {
    ($($name:ident: $number:literal, $what:literal, $bound:expr, $unit:ident, $how:literal;)+) => {
        $(
            #[doc = $what]
            pub const $name: Goal =
                Goal { number: $number, what: $what, how: $how, bound: $bound, unit: Unit::$unit };
        )+

        /// All of them, by number.
        pub const ALL: &[Goal] = &[$($name),+];
    };
}

goals! {
    BINARY_SIZE: "P1", "the stripped release binary", AtMost(15.0), Megabytes,
        "size of the file";
    IDLE_MEMORY: "P2", "resident memory of `run` with one idle task", AtMost(12.0), Mebibytes,
        "VmRSS of the command a moment after RUNNING; the goal is the agent's when idle";
    RUNNING_ON_TOP: "P4", "accepted to RUNNING, median on top of the floor", AtMost(10.0), Millis,
        "agent in this process on the real engine with its durable store, in turns with the floor";
    RUNNING_OWN: "P4", "accepted to RUNNING, outside create and start, median", AtMost(10.0), Millis,
        "less the time of these two calls of the same start, which a busy machine does not blur";
    STOPPED_ON_TOP: "P9", "engine's `die` event to STOPPED, on top of the floor", AtMost(10.0), Millis,
        "floor: a client that inspects on `die` too (engine.md 4.10). Docker 20.10 answers that only when it is done \
         with the end, some 50 ms later: without it the 10 ms of the specification cannot be held";
    STOPPED_OWN: "P9", "the same outside that inspect, median", AtMost(5.0), Millis,
        "less the time of this call for the same end; 0.6 ms were measured";
    FLUSHES: "P12", "syncs of the store for each batch", AtMost(1.0), Ratio,
        "1,000 tasks change at once; batches are those of the driver, syncs are counted by the store";
    RECORD_WRITES: "P12", "sustained record writes, median", AtLeast(50_000.0), PerSecond,
        "specified: 20,000; commits of all records of 1,000 tasks, one after the other";
    COMMIT_P99: "P12", "p99 of a commit against a bare write and fdatasync", AtMost(3.0), Ratio,
        "the batches that the driver makes of 1,000 tasks, in turns with the same bytes bare";
    STORE_SIZE: "P13", "size of the store after opening it again, to its live data", AtMost(8.0), Ratio,
        "specified: 10; 100,000 overwrites of 1,000 records of 200 bytes, then closed and opened";
    SIMULATION: "P14", "simulated task lifetimes, median", AtLeast(4_000.0), PerSecond,
        "specified: 2,000; by the processor time of one thread";
    HELP: "P15", "start to end of `--help`, median", AtMost(5.0), Millis,
        "specified: 10; spawned anew each time";
    AWAY_CPU: "P16", "processor time while the engine is away for 10 s", AtMost(0.05), CpuSeconds,
        "the command with one running task; its connections are cut and refused";
    AWAY_LINES: "P16", "log lines of the outage", AtMost(20.0), Count,
        "lines on standard error at level info";
    AWAY_EXIT: "P16", "exit during the outage known after the engine answers", AtMost(1_000.0), Millis,
        "from the moment at which connections are taken again";
    START_REQUESTS: "P17", "engine requests of a start", AtMost(4.0), Count,
        "image tracked as pulled; counted between driver and adapter";
    STOP_REQUESTS: "P17", "engine requests of a stop", AtMost(2.0), Count,
        "from the request to STOPPED; the clean-up is counted apart";
    STEADY_REQUESTS: "P17", "engine requests while a task just runs", AtMost(0.0), Count,
        "between two re-checks";
    SLOW_STORE: "P18", "rise of P4 with 50 ms more in every commit, in commits", AtMost(3.0), Count,
        "medians outside create and start; their difference in delays, to the nearest whole";
    STOP_WHILE_STORE_FAILS: "P18", "request to stop call sent while the store fails", AtMost(10.0), Millis,
        "every commit fails; from the request to the call that leaves the driver";
    KILL_WHILE_STORE_FAILS: "P18", "request to kill call sent while the store fails", AtMost(10.0), Millis,
        "every commit fails; a stop that does not wait for the graces";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goals_stand_in_the_order_of_their_numbers() {
        let numbers: Vec<u32> = ALL.iter().map(|goal| goal.number[1..].parse().unwrap()).collect();
        assert!(numbers.is_sorted(), "{numbers:?}");
    }

    #[test]
    fn bounds_hold_on_their_own_side_and_at_the_edge() {
        assert!(AtMost(2.0).holds(2.0) && !AtMost(2.0).holds(2.1));
        assert!(AtLeast(2.0).holds(2.0) && !AtLeast(2.0).holds(1.9));
    }

    #[test]
    fn values_are_shown_short() {
        for (unit, value, shown) in [
            (Unit::Millis, 0.123, "0.12 ms"),
            (Unit::Millis, 12.34, "12.3 ms"),
            (Unit::Millis, 1_234.5, "1234 ms"),
            (Unit::PerSecond, 123_456.7, "123457/s"),
            (Unit::CpuSeconds, 0.0123, "0.012 s"),
            (Unit::Count, 4.0, "4"),
            (Unit::Count, 2.25, "2.25"),
            (Unit::Ratio, 1.5, "1.50x"),
            (Unit::Mebibytes, 11.04, "11.0 MiB"),
        ] {
            assert_eq!(unit.show(value), shown);
        }
        assert_eq!(BINARY_SIZE.to_string(), "the stripped release binary: at most 15.0 MB");
    }
}
