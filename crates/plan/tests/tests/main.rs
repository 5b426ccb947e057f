//! Plans of tasks, with what is assumed of their containers.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test")]

mod courses;
mod order;
mod rig;
