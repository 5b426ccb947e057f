//! The containers of a task: may each take its next step, and in which order do they stop?
//!
//! A [`Plan`] says what a task is made of and what orders it: the lines `dependsOn`, `volumesFrom`, `links`, the log
//! router, and the transition dependencies that the agent adds. [`Graph::build`] checks it once and names everything
//! that is wrong with it; in a [`Graph`] that exists nobody waits for itself, at whatever distance. A [`Snapshot`] is the
//! task as it is now; with it [`Graph::readiness`] answers for each container, and [`Graph::resource_readiness`] for each resource, what
//! it may do, or what it waits for. Time, credentials and statuses are arguments.
//!
//! | question | answer |
//! | --- | --- |
//! | Is this a task one can run? | [`Graph::build`], [`Graph::admit`]: a [`GraphError`] with every [`Problem`] |
//! | May the container take its next step? | [`Readiness`]: a [`Step`], a [`Block`] that can end, or a [`Fatal`] that cannot |
//! | May the resource? | [`ResourceReadiness`] |
//! | When may that change without an event? | [`Graph::next_change`] |
//! | In which order does it stop? | [`Graph::shutdown_order`] |
//! | How does it look? | [`Graph::to_text`], [`Graph::to_tree`], [`Graph::to_dot`] |
//!
//! The rules are those of engine.md 2, row by row: `build` has 2.1 to 2.3, `readiness` steps A, D and E of 2.4,
//! `ordering` step B and 2.5, `resource` 2.7; `waits` sees to it that nobody waits for ever. A new condition is a case
//! of [`Condition`]; all enums are closed, so that the compiler names their tables. Comparisons by `==` it does not name.
//!
//! Not for: what to do about an answer (`lighterman-task-manager`), and how a task definition is written
//! (`lighterman-taskdef`). `graph` knows nothing of Docker.
//!
//! ```
//! use lighterman_graph::{Block, Condition, ContainerPlan, Graph, Node, Plan, Readiness, Snapshot, Step};
//! use lighterman_ids::ContainerName;
//! use lighterman_status::{ContainerStatus, Health};
//!
//! let mut db = ContainerPlan::new(ContainerName::parse("db")?);
//! db.has_health_check = true;
//! let mut web = ContainerPlan::new(ContainerName::parse("web")?);
//! web.depends_on = vec![(db.name.clone(), Condition::Healthy)];
//! let graph = Graph::build(Plan::new(vec![db, web]))?;
//!
//! // The database runs and is not healthy yet: the web server has to wait.
//! let mut nodes = graph.nodes();
//! nodes[0] = Node { known: ContainerStatus::Running, desired: ContainerStatus::Running, ..nodes[0] };
//! nodes[1] = Node { known: ContainerStatus::Pulled, desired: ContainerStatus::Running, ..nodes[1] };
//! let [Readiness::PastDesired, Readiness::Blocked(block)] = &graph.readiness(&Snapshot::new(&nodes))[..] else {
//!     panic!("the web server waits");
//! };
//! assert_eq!(graph.block_text(block), "db to be healthy (dependsOn[0])");
//!
//! nodes[0].health = Health::Healthy;
//! assert_eq!(graph.readiness_of(1, &Snapshot::new(&nodes)), Readiness::Ready(Step::Create));
//! // What others depend on stops after them.
//! assert_eq!(graph.shutdown_order(), [[&graph.names()[1]], [&graph.names()[0]]]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![no_std]
#![forbid(unsafe_code)]
#![warn(clippy::wildcard_enum_match_arm)]

extern crate alloc;

mod build;
mod drawing;
mod edge;
mod graph;
mod ordering;
mod plan;
mod problem;
mod readiness;
mod resource;
mod rings;
mod snapshot;
mod tree;
mod waits;
mod words;

pub use edge::{Condition, Edge, Source, Tie, UnknownCondition};
pub use graph::Graph;
pub use ordering::{Fatal, FatalCause};
pub use plan::{ContainerPlan, Gate, Plan, ResourceName, ResourcePlan};
pub use problem::{GraphError, Member, Problem, Ring};
pub use readiness::{Block, Readiness, Step};
pub use resource::{ResourceBlock, ResourceReadiness, ResourceStep};
pub use snapshot::{Node, ResourceNode, Snapshot};
