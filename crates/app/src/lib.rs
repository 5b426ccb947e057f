//! The commands of Lighterman as a library: wiring, and what a command does around its task.
//!
//! Everything that decides about tasks is in the core (`lighterman-turn` and below); everything that acts is
//! an adapter. This crate brings them together and decides only what a *command* has to: which state
//! directory, what to do with earlier ones, what to show, what to exit with. It takes runtime, clock,
//! randomness and signals as arguments, so that tests run the whole of it with fakes.
//!
//! | module | what is there |
//! | --- | --- |
//! | `run` | `lighterman run`, from the definition to the exit code |
//! | `earlier` | which earlier runs there are |
//! | `sweep` | what dead runs left behind |
//! | `instance`, `notes` | one state directory; what it holds beside its store |
//! | `shown` | up to when output was shown |
//! | `wishes` | what signals ask for |
//! | `host` | an instance with its driver running |
//! | `stage` | the screen on its own thread |
//! | `patient` | writers that wait for their reader |
//! | `logs` | output of containers |
//! | `plan`, `graph` | what a run would do, and in which order; they need no Docker |
//! | `validate`, `state` | the other commands |
//!
//! Not for: arguments and process exit (`bin/lighterman`).
//!
//! ```
//! use lighterman_app::validate;
//! use lighterman_config::ExitCode;
//!
//! let (checked, code) = validate(&["/nowhere/task.json".into()]);
//! assert_eq!(code, ExitCode::Refused);
//! assert!(checked[0].errors[0].contains("/nowhere/task.json cannot be read"));
//! ```
#![forbid(unsafe_code)]

mod definition;
mod earlier;
mod graph;
mod host;
mod instance;
mod logs;
mod notes;
mod patient;
mod plan;
mod run;
mod settings;
mod shown;
mod stage;
pub mod state;
mod sweep;
mod validate;
mod wishes;

pub use definition::{Definition, DefinitionError};
pub use earlier::{InstancePrefix, PrefixError};
pub use graph::{Drawing, graph};
pub use patient::Patient;
pub use plan::{AssumptionError, PlanOptions, PlanOutcome, plan};
pub use run::{RunOptions, Surroundings, run};
pub use settings::host_settings;
pub use stage::{LogWriter, Stage};
pub use validate::{Checked, validate};
pub use wishes::Heard;
