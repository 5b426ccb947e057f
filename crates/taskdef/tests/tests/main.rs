//! The reader against the rules and scenarios of taskdef.md.

#![expect(clippy::unwrap_used, reason = "a helper of a test may panic as a test may")]

mod examples;
mod helpers;
mod hostile;
mod input;
mod members;
mod records;
mod rules;
mod validation;
