//! Delays and draws.

mod delays;
mod draws;
