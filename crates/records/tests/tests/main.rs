//! The checkpoint format: round trips, golden files, damage of every kind.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod damage;
mod golden;
mod history;
mod long_values;
mod round_trip;
mod samples;
mod strays;
mod versions;
