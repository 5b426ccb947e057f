//! The command `lighterman` from end to end, on a real engine.
//!
//! Every test has a corner of its own ([`corner`]): state, label, files. It starts the command, waits for levels in
//! what the command tells as JSON, and looks at the engine with its own eyes.
#![expect(clippy::unwrap_used, reason = "a helper of a test fails like the test itself")]

mod commands;
mod corner;
mod definition;
mod engine;
mod launch;

mod failures;
mod faults;
mod foreign;
mod kills;
mod life;
mod needs_root;
mod output;
mod pulls;
#[path = "../adapter/registry.rs"]
mod registry;
mod resume;
mod signals;
mod state;
