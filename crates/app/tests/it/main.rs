//! The commands that need no Docker, and what they say.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test")]

mod plan;
mod same_calls;
