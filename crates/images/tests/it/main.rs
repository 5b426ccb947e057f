//! What an engine and a kernel would see of the images.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod archive;
mod pause;
mod program;
