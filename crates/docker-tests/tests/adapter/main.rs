//! The adapter on a real engine.
#![expect(clippy::unwrap_used, reason = "a helper of a test fails like the test itself")]

mod events;
mod images;
mod life;
mod lost;
mod output;
mod pull;
mod registry;
mod shown;
