//! Measurements, each held against a floor of the same run (spec/performance.md).
//!
//! Absolute times mean little on a shared machine. What the engine takes is measured by the same calls without an
//! agent, in turns with the agent; what the store takes by a bare write and `fdatasync` of the same bytes. Memory,
//! processor time and counts stand for themselves. It is no test: a goal that is missed is said, and fails nothing.
//!
//! Begin with [`Case`]: what is measured, one module each. [`goals`] has every goal as a number.
//!
//! | module | what is there |
//! | --- | --- |
//! | [`goals`], [`samples`], [`findings`] | what should be, what was measured, what came out |
//! | [`table`], [`report`] | that as text and as JSON |
//! | [`stage`] | engine, command, directories, and what has to be removed |
//! | [`agent`], [`tap`], [`store`] | the agent in this process, seen from the engine's and from the store's side |
//! | [`product`] | the command as a process |
//! | [`cases`] | the cases |
//!
//! The program is `bench [CASE…] [--smoke]`; `cargo xtask bench` builds everything and starts it. It runs without
//! `cargo` too, when `LIGHTERMAN_BIN` and `LIGHTERMAN_TESTBOX` say where the command and the test program are.
//!
//! Not for: asserting times (no test does), whether the agent is right (`lighterman-sim`, `lighterman-docker-tests`).
//!
//! ```
//! use lighterman_bench::{findings::{Compare, Findings, Row}, goals, samples::Samples, table};
//!
//! let floor = Samples::from_iter([243.0, 219.0, 275.0]);
//! let row = Row::new("request to RUNNING", goals::Unit::Millis, Samples::from_iter([249.5, 228.0, 281.0]));
//! let row = row.over(floor, Compare::Difference);
//! let mut findings = Findings::default();
//! findings.judge(goals::RUNNING_ON_TOP, row.against_floor().map(|(value, _)| value));
//! findings.row(row);
//! let shown = table::show("P4", "one task", &findings);
//! assert!(shown.contains("6.50 ms"), "{shown}");
//! ```
#![forbid(unsafe_code)]

pub mod agent;
pub mod cases;
pub mod findings;
pub mod goals;
pub mod product;
pub mod report;
pub mod samples;
pub mod stage;
pub mod store;
pub mod table;
pub mod tap;

pub use cases::Case;
