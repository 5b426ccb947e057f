//! What tests on a real Docker engine share.
//!
//! A test takes its engine from [`on_engine`]. It gets a [`Fixture`]: an adapter, an instance id
//! that nobody else has, and the image of the test program. Whatever the test makes carries the
//! label of that instance, and when the test is over, failed or not, exactly these containers are
//! removed. So tests run side by side on one engine, and beside a person's own containers.
//!
//! ```no_run
//! use lighterman_contracts::ContainerRuntime;
//! use lighterman_docker_tests::{AMPLE, on_engine};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! on_engine(async |fixture| {
//!     let web = fixture.run("web", &["exit", "3"]).await;
//!     fixture.until_ended(&web).await;
//!     assert!(fixture.docker().remove(&web, AMPLE).await.is_done());
//! })
//! .await;
//! # }
//! ```
//!
//! # Without an engine
//!
//! Where no engine answers, or nobody says by [`TESTBOX_ENV`] where the test program is, a test
//! prints that it did not run and passes. With `CI=true` it fails instead. [`engine_or_skip`] is
//! the only place that decides this.
//!
//! Not for: the program itself (`lighterman-testbox`), scripted engines (`lighterman-testkit`).
#![expect(clippy::unwrap_used, reason = "a helper of a test fails like the test itself")]

mod fixture;
mod raw;
mod testbox;

pub use fixture::{AMPLE, Fixture, engine_or_skip, on_engine};
pub use raw::{Lines, Raw, RawAnswer};
pub use testbox::{DEMO_IMAGE, TESTBOX_ENV, TestboxError, testbox_program};
