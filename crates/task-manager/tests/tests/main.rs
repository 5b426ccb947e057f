//! Scenarios, tables and properties of the state machine of one task.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod answers;
mod clean_up;
mod clocks;
mod create;
mod events;
mod order;
mod pull;
mod random;
mod restore;
mod script;
mod start;
mod stop;
mod store;
mod tables;
mod world;
