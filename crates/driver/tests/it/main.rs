//! The loop as seen from outside: what leaves when, what readers see, how it ends. Time is paused, so a
//! wait ends when nothing can happen any more, and every duration is exact.
#![expect(clippy::unwrap_used, reason = "a test that meets an error has failed")]

mod agent;
mod ending;
mod lanes;
mod order;
mod readers;
mod runtime;
mod store;
