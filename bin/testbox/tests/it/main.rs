//! The grammar over all its commands, and the program as a process of this host.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod grammar;
mod http;
mod process;
mod steps;
mod term;
