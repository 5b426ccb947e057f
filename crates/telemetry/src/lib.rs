//! Logs of the program: one line per event, to one writer.
//!
//! [`init`] sets the process's subscriber once. A line holds the time (RFC 3339, UTC, from the given clock), the
//! level, the target, the message, and the fields of all spans around it and of the event itself, in that order; a
//! name that comes twice keeps the innermost value. Fields have dotted names, the same everywhere: `task.id`,
//! `container.name`, `status.known`.
//!
//! What a line can *not* do:
//! - show what bollard and hyper log below `info`, whatever filter is asked for ([`PINNED`]): there they print
//!   whole requests, environment included;
//! - show the value of a field that is named like a secret;
//! - break out of its line, or reach the terminal with control characters: values are quoted;
//! - grow without bound: values are cut at [`VALUE_LIMIT`] bytes.
//!
//! A line that could not be written is counted, and the next one that can be is preceded by the count.
//!
//! Not for: what the commands print for people, which is `lighterman-ui`.
//!
//! ```
//! use lighterman_ids::Wall;
//! use lighterman_telemetry::{Filter, Format, subscriber};
//!
//! let (subscriber, _guard) = subscriber(Filter::parse("info")?, Format::Logfmt, || Wall(0), std::io::sink());
//! tracing::subscriber::with_default(subscriber, || {
//!     tracing::info!(task.id = "0f", attempt = 2, "pull begins");
//!     // level=info time=1970-01-01T00:00:00.000Z target=… msg="pull begins" task.id=0f attempt=2
//! });
//! # Ok::<(), lighterman_telemetry::FilterError>(())
//! ```
#![forbid(unsafe_code)]

mod fields;
mod filter;
mod layer;
mod line;

pub use fields::VALUE_LIMIT;
pub use filter::{Filter, FilterError, PINNED};
pub use layer::{AlreadySet, Guard, init, subscriber};
pub use line::Format;
