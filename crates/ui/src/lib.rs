//! Terminal output of the commands.
//!
//! [`Screen`] takes what happens as it happens: views of a task, pieces of container output, steps of pulls, signals.
//! It writes it for people (one line per transition, and on a terminal lines below them that live) or as one JSON object
//! per line ([`Mode`]). What changed is found by comparing views, so a missed one costs nothing but its moment.
//!
//! - Every stop names the container, the cause and what to do; every wait can be explained: [`explain`], [`summary`].
//! - What a container, a registry or the engine writes never controls the terminal: of escape sequences only colour
//!   passes. In a file or pipe its bytes stay as they are.
//! - Memory is bounded whatever a container writes: [`LINE_LIMIT`].
//! - Time, terminal and environment are inputs: [`Look`] is decided from [`Surroundings`].
//!
//! The form of JSON is a promise, described in `docs/json-events.md`.
//!
//! Not for: logs of the program itself (`lighterman-telemetry`), nor deciding what happens.
//!
//! ```
//! use lighterman_contracts::{LogChunk, LogStream};
//! use lighterman_ids::{ContainerName, Moment};
//! use lighterman_ui::{Look, Mode, Screen};
//!
//! let mut screen = Screen::new(Mode::Text(Look::PLAIN), Vec::new(), Vec::new());
//! let web = ContainerName::parse("web")?;
//! let chunk = LogChunk { stream: LogStream::Stdout, bytes: b"listening\n".to_vec() };
//! screen.log(Moment::default(), &web, &chunk)?;
//! let (logs, _) = screen.into_writers();
//! assert_eq!(logs, b"web    | listening\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod escape;
mod event;
mod exit;
mod explain;
mod lines;
mod look;
mod messages;
mod paint;
mod plan;
mod ports;
mod pull;
mod render;
mod screen;
mod summary;
mod text;
mod timeline;
mod zone;

pub use event::{End, Failure, Started};
pub use explain::explain;
pub use lines::{LINE_LIMIT, Line, LineSplitter};
pub use look::{Look, Mode, Size, Surroundings};
pub use messages::{Leftover, failure, leftovers, problems};
pub use plan::{PlanCall, PlanCause, PlanContainer, PlanEnd, PlanField, PlanPage};
pub use screen::{Screen, StopAction, StopSignal};
pub use summary::summary;
pub use zone::Zone;
