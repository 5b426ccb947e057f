//! The link to the runtime, places for calls, routing, orphans, the store, many tasks.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod calls;
mod host;
mod link;
mod many;
mod orphans;
mod persist;
mod store;
mod tasks;
