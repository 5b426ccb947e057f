//! Writes a few lines of log to standard output, as text and as JSON.

use lighterman_ids::Wall;
use lighterman_telemetry::{Filter, FilterError, Format, subscriber};

fn main() -> Result<(), FilterError> {
    for format in [Format::Logfmt, Format::Json] {
        let clock = || Wall(1_796_040_000_000_000_000);
        let (subscriber, _guard) = subscriber(Filter::parse("info")?, format, clock, std::io::stdout());
        tracing::subscriber::with_default(subscriber, || {
            let span = tracing::info_span!("task", task.id = "0f1e2d3c");
            let _entered = span.enter();
            tracing::info!(container.name = "web", status.known = "RUNNING", "status changed");
            tracing::warn!(error = "registry.test: 503\nService Unavailable", attempt = 2, "pull failed");
            tracing::debug!("not shown");
        });
    }
    Ok(())
}
