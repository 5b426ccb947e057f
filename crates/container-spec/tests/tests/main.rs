//! The mapping against taskdef.md T21 to T48, and the recovery label.

#![expect(clippy::unwrap_used, reason = "a helper of a test may panic as a test may")]

mod golden;
mod helpers;
mod mapping;
mod recovery;
