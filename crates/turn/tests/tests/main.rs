//! The gate of persist-then-act: its rules one by one, and random histories against what is durable.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod random;
mod rig;
mod rules;
