//! A pure model of the Docker engine.
//!
//! [`Model`] is a value that answers the calls of `lighterman-calls` as engine 20.10.24 does: states,
//! refusals and their words, the order and the stamps of events, health checks, exit codes, what is
//! known when. It has no clock and performs nothing: `now` is an argument, answers and events come out
//! of [`Model::poll`], and [`Model::poll_timeout`] says when something happens by itself. So it can be
//! cloned, compared, replayed, and run a million times from seeds. The containers run the test program
//! `testbox`, whose steps the model plays, or the pause program.
//!
//! It is also where things go wrong: a [`Disturbance`] makes one call slow, late or lost;
//! [`Model::restart_engine`] takes the engine away; the `external_…` methods do what others do behind
//! our back. Every difference that is found between the model and a real engine is mended here first;
//! `FACTS.md` lists what was seen, and which test holds it.
//!
//! Not for: events that come late, doubled or not at all (that is the stream's doing: hold back, repeat
//! or drop [`Output::Watched`]); what is in networks and volumes; resource use; the output of containers beyond
//! the lines that `testbox` prints.
//!
//! ```
//! use lighterman_calls::{Answer, Outcome, Request};
//! use lighterman_ids::Moment;
//! use lighterman_runtime_model::{Model, Output, Settings};
//!
//! let mut model = Model::new(Moment::default(), Settings::default());
//! model.begin(Moment::default(), 1, Request::Ping);
//! assert_eq!(model.poll(), None, "an answer takes a moment");
//!
//! let mono = model.poll_timeout().expect("the answer is on its way");
//! model.advance(Moment { mono, ..Moment::default() });
//! assert_eq!(model.poll(), Some(Output::Answer { token: 1, answer: Answer::Ping(Outcome::Done(())) }));
//! ```
#![no_std]
#![forbid(unsafe_code)]
#![warn(clippy::wildcard_enum_match_arm)]

extern crate alloc;

// The grammar of the test program, from where the program itself has it: a model of its own would drift.
#[path = "../../../bin/testbox/src/command.rs"]
#[allow(dead_code, unreachable_pub, reason = "the program uses all of the grammar, the model less")]
mod command;

mod census;
mod container;
mod external;
mod flight;
mod health;
mod image;
mod journal;
mod latency;
mod lifecycle;
mod model;
mod needs;
mod outage;
mod ports;
mod process;
mod pull;
mod text;
mod validate;
mod volume;

pub use census::Glance;
pub use image::{LocalImage, ProgramKind, Source};
pub use journal::REPLAY_LIMIT;
pub use latency::{Disturbance, Latencies};
pub use model::{Model, Output, Settings};
pub use outage::Failure;
pub use process::OutputStream;
