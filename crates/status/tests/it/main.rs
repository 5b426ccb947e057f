//! The tables of engine.md §1 over all their rows, and its scenarios.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod derive;
mod health;
mod order;
mod tables;
mod text;
