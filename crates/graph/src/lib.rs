//! The containers of a task: may each take its next step, and in which order do they stop?
//!
//! A [`Graph`] is the structure, checked once. A [`Node`] is one container as it is now; with all of them
//! [`Graph::readiness`] answers for each container what it may do, or what it waits for.
//!
//! There are no ordering edges yet: containers are accepted side by side, and the only thing one waits for is
//! its own transition under way. `dependsOn` and its kin (engine.md §2) add edges to [`Graph::build`], the reasons
//! of 2.8 to [`Block`], and to [`Readiness`] the case that a container can never start. The enums are closed,
//! so that the compiler then shows every place to revisit.
//!
//! Not for: what to do about an answer (`lighterman-task-manager`). `graph` knows nothing of Docker.
//!
//! ```
//! use lighterman_graph::{Graph, Node, Readiness, Step};
//! use lighterman_ids::ContainerName;
//! use lighterman_status::{ContainerStatus, SteadyState};
//!
//! let web = ContainerName::parse("web")?;
//! let graph = Graph::build([web.clone()])?;
//! let node = Node {
//!     name: &web,
//!     known: ContainerStatus::Pulled,
//!     desired: ContainerStatus::Running,
//!     steady: SteadyState::Running,
//!     applied: ContainerStatus::None,
//! };
//! assert_eq!(graph.readiness(&[node]), [Readiness::Ready(Step::Create)]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![no_std]
#![forbid(unsafe_code)]
#![warn(clippy::wildcard_enum_match_arm)]

extern crate alloc;

mod drawing;
mod graph;
mod readiness;

pub use graph::{Graph, GraphError};
pub use readiness::{Block, Node, Readiness, Step};
