//! The pause image.

use lighterman_ids::ImageRef;

use crate::{archive::ImageArchive, builder::ImageBuilder};

/// `bin/pause/pause.rs`, compiled by the build script.
const PROGRAM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/pause"));

/// The image of the pause program, which holds the namespaces of a task (some 7 KB).
///
/// Its name is `lighterman/pause`, its tag this crate's version and the first digits of the
/// image id: agents of different builds on one engine never take the name from each other.
///
/// # Panics
/// Never: its input is fixed at compile time, and a test builds it.
#[must_use]
pub fn pause_image() -> ImageArchive {
    let reference =
        ImageRef::parse(concat!("lighterman/pause:", env!("CARGO_PKG_VERSION"))).expect("a version is a valid tag");
    ImageBuilder::new()
        .file("/pause", 0o755, PROGRAM)
        .entrypoint(["/pause"])
        .build_tagged_by_content(&reference)
        .expect("a fixed path and name make an image")
}
