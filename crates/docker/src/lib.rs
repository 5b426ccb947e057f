//! The Docker Engine API as `lighterman_contracts` wants it.
//!
//! [`Docker`] implements `ContainerRuntime`, `LogSource` and `ImageStore`. Begin with [`DockerHost`]
//! and [`Docker::connect`].
//!
//! ```
//! use std::time::Duration;
//!
//! use lighterman_calls::{LostCause, Outcome};
//! use lighterman_contracts::ContainerRuntime;
//! use lighterman_docker::{Docker, DockerHost};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! // No engine has to be there to make a client; a call then says that it had no effect.
//! let docker = Docker::connect(DockerHost::parse("unix:///nowhere/docker.sock").unwrap());
//! let Outcome::Unknown(lost) = docker.ping(Duration::from_secs(1)).await else { unreachable!() };
//! assert_eq!(lost.cause, LostCause::Unreachable);
//! # }
//! ```
//!
//! **Not for**: deciding. A call is made once and its outcome told as it is: `Done`, `Refused`, `Gone`
//! or `Unknown`. Nothing is tried again, looked up afterwards or read as a status.
//!
//! # bollard, and what is added to it
//!
//! bollard writes every request; `scribe` takes it out of its request modifier, and `exchange` sends
//! it and reads the answer. The points are those of crates.md §2:
//!
//! | | what bites | what is done | where |
//! | --- | --- | --- | --- |
//! | 1 | paths carry no API version, so a newer engine answers in its newest dialect | each path begins with the oldest version that both sides speak | `dialect`, `scribe` |
//! | 2 | registry credentials go out in the wrong base64 alphabet | no credentials are sent yet; when they are, `scribe` writes the header itself | `scribe` |
//! | 3 | names in paths are neither escaped nor checked | only validated types of `lighterman_ids` get there | signatures |
//! | 4 | the limit in time ends at the headers and counts whole seconds | a limit around the whole call, body included, to the millisecond; the grace of a stop is rounded up | `client`, `scribe` |
//! | 5 | a call that is given up goes on inside the engine | `Unknown`, and a name in use is told from other conflicts | `verdict` |
//! | 6 | enums are closed: one new word ends a stream or an inspect | own tolerant readers; doubled events are dropped, a lost stream is told | `facts`, `events`, `watch` |
//!
//! Besides: it logs bodies at debug level, environment included. So the body of a create call is never
//! given to it, and [`QUIET_TARGETS`] names the log targets to keep quiet all the same.
#![forbid(unsafe_code)]

mod body;
mod client;
mod dialect;
mod events;
mod exchange;
mod facts;
mod host;
mod lines;
mod logs;
mod pull;
mod runtime;
mod scribe;
mod stamp;
mod stored;
mod text;
mod verdict;
mod watch;

pub use client::Docker;
pub use dialect::ApiVersion;
pub use host::{DockerHost, DockerHostError};

/// Directives for the log filter that hold whatever the user asks for: what these targets say below
/// `info` can hold environments and credentials.
pub const QUIET_TARGETS: &[&str] = &["bollard=info"];
