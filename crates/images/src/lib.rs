//! Images built in memory, and the embedded pause program.
//!
//! What the product and its tests run on hosts without a registry is made here: an [`ImageBuilder`]
//! takes files and settings and gives an [`ImageArchive`], the bytes that an engine's load call
//! takes. The same input gives the same bytes, so the image id is known before anything is
//! loaded: look the image up by id first, and load it only where it is missing.
//!
//! - [`pause_image`]: the program that holds a task's namespaces, the only image the product loads.
//! - [`static_program_image`]: any static program as an image of its own, for tests, demo and benchmarks.
//!
//! Not for: talking to an engine (`lighterman-docker` loads the bytes), reading images, or layers of
//! other people.
//!
//! ```
//! use lighterman_ids::ImageRef;
//! use lighterman_images::ImageBuilder;
//!
//! let reference = ImageRef::parse("example/greeting:1").unwrap();
//! let build = || ImageBuilder::new().file("/etc/motd", 0o644, "hello\n").env("LANG", "C").build(&reference);
//! let image = build().unwrap();
//! assert_eq!(image.reference().as_str(), "example/greeting:1");
//! assert!(image.image_id().as_str().starts_with("sha256:"));
//! assert_eq!(image, build().unwrap(), "the same input gives the same image");
//! ```
//!
//! The id is the digest of the image's configuration, as Docker's classic image store has it. A
//! store that names images otherwise (containerd's, optional since Docker 24) will not find it; the
//! [`ImageArchive::reference`] then tells the content of a [`pause_image`] as well.
#![forbid(unsafe_code)]

mod archive;
mod builder;
mod config;
mod digest;
mod health;
mod layer;
mod pause;
mod program;

pub use archive::ImageArchive;
pub use builder::{ImageBuilder, ImageError};
pub use config::Architecture;
pub use health::HealthCheck;
pub use pause::pause_image;
pub use program::{ProgramError, StaticProgram, static_program_image};
