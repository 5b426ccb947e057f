//! Settings: what may be set, within which limits, and where a value came from.
//!
//! Begin with [`Effective::load`]: it reads the environment against the table [`SETTINGS`] and gives
//! [`RunSettings`] together with one [`Row`] per setting that says its value and its source. Where Docker
//! listens is [`DockerAddress`], where state goes is [`StateRoot`], what the command exits with is
//! [`ExitCode`].
//!
//! The environment is a value, [`Environment`]: nothing here reads the process's own, a file or a clock.
//!
//! | variable | a value that is not acceptable |
//! | --- | --- |
//! | `LIGHTERMAN_<KEY>`, for every setting | is an error that names the variable and what is allowed |
//! | `ECS_…`, where the reference has one | is a warning and the reference's outcome (engine.md 9, E151) |
//!
//! Of the two the first wins. There is no settings file yet.
//!
//! Not for: settings of a task, which are its definition; nor what the values are for, which is the business of
//! whoever acts on them.
//!
//! ```
//! use core::time::Duration;
//! use lighterman_config::{Effective, Environment, Source};
//!
//! let env: Environment = [("ECS_CONTAINER_STOP_TIMEOUT", "0.1s"), ("LIGHTERMAN_RUNTIME_MAX_CALLS", "4")].into();
//! let effective = Effective::load(&env).unwrap();
//! assert_eq!(effective.settings.stop_timeout, Duration::from_secs(1), "raised to the minimum");
//! assert_eq!(effective.settings.max_calls, 4);
//! assert_eq!(effective.row("runtime.stop_timeout").unwrap().source, Source::Environment("ECS_CONTAINER_STOP_TIMEOUT".into()));
//! assert_eq!(
//!     effective.warnings[0].to_string(),
//!     "ECS_CONTAINER_STOP_TIMEOUT: \"0.1s\" is below the minimum; using 1s",
//! );
//! ```
#![forbid(unsafe_code)]

mod docker_address;
mod duration;
mod effective;
mod environment;
mod exit_code;
mod run;
mod setting;
mod source;
mod state_root;

pub use docker_address::{DEFAULT_DOCKER_ADDRESS, DockerAddress, DockerWarning};
pub use duration::{DurationError, format_duration, parse_duration};
pub use effective::{Effective, Row, SettingError, SettingWarning};
pub use environment::Environment;
pub use exit_code::{ExitCode, Meaning};
pub use run::RunSettings;
pub use setting::{Below, Field, Reference, SETTINGS, Setting};
pub use source::Source;
pub use state_root::{StateRoot, StateRootError};
