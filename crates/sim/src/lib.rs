//! Seeded simulation of the whole: engine, records and gate as they ship, around them a modelled runtime, a
//! store, a clock, users, and everything that can go wrong with them.
//!
//! A [`Scenario`] is drawn from a seed, or written by hand; [`run`] plays it and reports. Nothing in a run
//! comes from anywhere but its scenario, so the same one gives the same run to the byte, a failure is one line
//! to repeat, and a log can be replayed step by step.
//!
//! | file | what |
//! | --- | --- |
//! | `scenario`, `weather`, `workload` | what is to happen, drawn before and during the run |
//! | `world` | the loop: the agent, its crashes and starts, the stream, the calls, the deeds of others |
//! | `store`, `clock` | disk and clocks |
//! | `truth` | what is true, whatever anybody believes |
//! | `checks` | the rules, one checker each; they see notes and the truth, and act on nothing |
//! | `plant` | faults of our own making that prove the checkers can fail |
//!
//! **Invariant.** Checkers know the core only by what leaves it and by what readers may see of it.
//!
//! Not for: real time, real sockets (`lighterman-testkit`), the real engine (`lighterman-docker-tests`).
//!
//! ```
//! use lighterman_sim::{Keep, Scenario, run};
//!
//! let report = run(Scenario::draw(7), Keep { log: true, stats: false });
//! assert_eq!(report.failed, None);
//! assert_eq!(report.lines, run(Scenario::draw(7), Keep { log: true, stats: false }).lines);
//! ```
#![forbid(unsafe_code)]

mod checks;
mod clock;
mod dice;
mod log;
pub mod logbook;
mod note;
mod plant;
mod run;
mod scenario;
mod stats;
mod store;
mod truth;
mod weather;
mod workload;
mod world;

pub use clock::At;
pub use plant::Plant;
pub use run::{Failed, FailureKind, Keep, Report, run};
pub use scenario::{Crashes, Deed, NextStart, Scenario};
pub use stats::Stats;
pub use store::Damage;
pub use weather::Weather;
pub use workload::{Program, Workload};
pub use world::Counts;

/// The names of all checkers that a run is put to, in their order.
#[must_use]
pub fn checkers() -> Vec<&'static str> {
    checks::Checks::new().names()
}
