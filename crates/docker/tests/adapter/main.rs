//! The adapter against a scripted engine: bytes on a unix socket, nothing else.
#![expect(clippy::unwrap_used, reason = "a helper of a test fails like the test itself")]

mod lost;
mod requests;
mod secrets;
mod stage;
mod streams;
