//! The words that the test program `testbox` understands.
//!
//! `testbox` is what runs in the containers of our tests, demo and benchmarks: one static program
//! whose first word says what to do, and whose steps can be joined with `+`. This library is its
//! grammar alone, as data: no I/O, no clock. So the model of the runtime can read a container's
//! command and know what the real program would do. `README.md` lists the commands and says how the
//! program is built.
//!
//! Not for: doing any of it (the binary), making an image of it (`lighterman-images`).
//!
//! ```
//! use core::time::Duration;
//! use lighterman_testbox::{Command, parse};
//!
//! let steps = parse(&["sleep", "0.5", "+", "exit", "3"]).unwrap();
//! assert_eq!(steps, [Command::Sleep { time: Duration::from_millis(500) }, Command::Exit { code: 3 }]);
//! assert_eq!(parse(&["exit", "300"]).unwrap_err().to_string(), "exit: CODE is 0 to 255, and \"300\" is not");
//! ```
#![no_std]
#![forbid(unsafe_code)]
#![warn(clippy::wildcard_enum_match_arm)]

extern crate alloc;

pub mod command;

pub use command::{Command, ParseError, TermRule, Url, Writing, parse};
