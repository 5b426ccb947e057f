//! Waiting for a point in time: the one place where this crate does it.

use std::{future::Future, time::Duration};

use lighterman_contracts::Clock;
use lighterman_ids::Mono;
use tokio::time::{Instant, error::Elapsed};

/// Further ahead than any deadline of the core; keeps sums of instants from overflowing.
const FAR: Duration = Duration::from_secs(365 * 24 * 3600);

/// Waits for a deadline of the core, never less; for ever when there is none.
///
/// The core counts on a clock that goes on while the host is suspended, the timer does not. After a
/// suspension a deadline that passed meanwhile is noticed with the next input, at the latest when the rest
/// of the wait has passed awake.
pub(crate) async fn until<C: Clock>(clock: &C, deadline: Option<Mono>) {
    match deadline {
        Some(deadline) => {
            let wait = deadline.since(clock.now().mono).min(FAR);
            tokio::time::sleep_until(Instant::now() + wait).await;
        }
        None => std::future::pending().await,
    }
}

/// Waits for this at most so long.
pub(crate) async fn within<F: Future>(limit: Duration, future: F) -> Result<F::Output, Elapsed> {
    tokio::time::timeout(limit, future).await
}
