//! What one container of a task becomes in the engine: task definition plus facts in, create
//! request out (engine.md 4.3, 4.4; taskdef.md 2).
//!
//! Begin with [`create_request`], which is all of the mapping, and [`runtime_name`], which is
//! chosen once and persisted before the request leaves. [`definition_digest`] and [`recover`] are
//! what a container carries so that it can be recognised and stopped rightly when our own records
//! are gone (design.md R10); [`OwnLabels`] reads ownership back from an inspect, and [`is_runtime_name`] tells a copy
//! with our labels from a container of ours.
//!
//! Not for: when a container is created (`task-manager`), how the request is sent (`docker`),
//! what is allowed in a definition (`taskdef`).
//!
//! ```
//! use lighterman_container_spec::{Surroundings, create_request, definition_digest, runtime_name};
//! # use lighterman_calls::ImageFacts;
//! # use lighterman_ids::{ContainerName, Family, ImageId, ImageRef, InstanceId, TaskId};
//! # use lighterman_taskdef::{ContainerDefinition, TaskDefinition};
//! # let web = ContainerDefinition::new(ContainerName::parse("web").unwrap(), ImageRef::parse("busybox:test").unwrap());
//! # let task = TaskDefinition::new(Family::parse("page").unwrap(), vec![web]);
//! # let image = ImageFacts {
//! #     id: ImageId::parse(&format!("sha256:{}", "0".repeat(64))).unwrap(),
//! #     repo_digests: vec![],
//! #     env_names: vec![],
//! #     health_test: None,
//! # };
//! let id = TaskId::from_bits(7);
//! let container = &task.containers[0];
//! let name = runtime_name(&task, &container.name, 0x6f0d_2a91_c4be_7735_e810);
//! assert_eq!(name.as_str(), "ecs-page-1-web-6f0d2a91c4be7735e810");
//!
//! let surroundings = Surroundings {
//!     instance: &InstanceId::from_bits(1),
//!     task_id: &id,
//!     task_arn: &id.local_arn(None),
//!     cluster: "local",
//!     digest: &definition_digest("{\"family\":\"page\"}"),
//!     image: &image,
//!     region: None,
//! };
//! let spec = create_request(&task, container, &name, &surroundings).unwrap();
//! assert_eq!(spec.request.host.cpu_shares, 2); // 0 would be 1,024 to the engine
//! assert_eq!(spec.request.config.labels["com.amazonaws.ecs.container-name"], "web");
//! ```
#![no_std]
#![forbid(unsafe_code)]
#![warn(clippy::wildcard_enum_match_arm)]

extern crate alloc;

mod digest;
mod environment;
mod health;
mod labels;
mod logs;
mod name;
mod ports;
pub mod recover;
mod request;

pub use digest::definition_digest;
pub use labels::OwnLabels;
pub use name::{is_runtime_name, runtime_name};
pub use request::{Spec, SpecError, SpecWarning, Surroundings, create_request};
