//! The subscriber: collects fields of spans and writes a line per event.

use std::{
    io::Write,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use lighterman_ids::Wall;
use tracing::{Event, Subscriber, span};
use tracing_subscriber::{
    Layer, Registry,
    layer::{Context, SubscriberExt as _},
    registry::LookupSpan,
};

use crate::{Filter, Format, fields::Fields};

/// The process has a subscriber already; the first one stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("logging is set up already")]
pub struct AlreadySet;

/// Makes the process log through `writer`. Logging goes on when the guard is dropped; what the writer holds back is
/// then flushed.
///
/// # Errors
/// Something set a subscriber before.
pub fn init(
    filter: Filter,
    format: Format,
    clock: impl Fn() -> Wall + Send + Sync + 'static,
    writer: impl Write + Send + 'static,
) -> Result<Guard, AlreadySet> {
    let (subscriber, guard) = subscriber(filter, format, clock, writer);
    tracing::subscriber::set_global_default(subscriber).map_err(|_| AlreadySet)?;
    Ok(guard)
}

/// The subscriber that [`init`] sets, for tests and for parts of a program. `clock` is asked once per line.
pub fn subscriber(
    filter: Filter,
    format: Format,
    clock: impl Fn() -> Wall + Send + Sync + 'static,
    writer: impl Write + Send + 'static,
) -> (impl Subscriber + Send + Sync + 'static, Guard) {
    let sink = Arc::new(Mutex::new(Sink { writer: Box::new(writer), lost: 0 }));
    let guard = Guard(Arc::clone(&sink));
    let lines = Lines { format, clock, sink };
    (Registry::default().with(lines.with_filter(filter.pinned())), guard)
}

/// Flushes the log when it is dropped.
#[must_use = "dropping the guard flushes the log: keep it until the end"]
pub struct Guard(Arc<Mutex<Sink>>);

impl Guard {
    /// Lines that could not be written since the last one that could.
    #[must_use]
    pub fn lost(&self) -> u64 {
        lock(&self.0).lost
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let mut sink = lock(&self.0);
        if sink.writer.flush().is_err() {
            sink.lost += 1;
        }
    }
}

impl std::fmt::Debug for Guard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Guard").field("lost", &self.lost()).finish()
    }
}

struct Lines<C> {
    format: Format,
    clock: C,
    sink: Arc<Mutex<Sink>>,
}

struct Sink {
    writer: Box<dyn Write + Send>,
    lost: u64,
}

impl Sink {
    /// One write per line, so that lines of other processes on the same file do not mix with it.
    fn write(&mut self, line: &str, format: Format) {
        if self.lost > 0 {
            let gap = gap(self.lost, format);
            if self.writer.write_all(gap.as_bytes()).is_ok() {
                self.lost = 0;
            }
        }
        if self.writer.write_all(line.as_bytes()).is_err() {
            self.lost += 1;
        }
    }
}

fn gap(lost: u64, format: Format) -> String {
    match format {
        Format::Logfmt => format!("level=warn msg=\"log lines were lost\" lost={lost}\n"),
        Format::Json => format!("{{\"level\":\"warn\",\"msg\":\"log lines were lost\",\"lost\":{lost}}}\n"),
    }
}

/// A panic elsewhere while a line was written leaves at worst half a line.
fn lock(sink: &Mutex<Sink>) -> MutexGuard<'_, Sink> {
    sink.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<S, C> Layer<S> for Lines<C>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    C: Fn() -> Wall + Send + Sync + 'static,
{
    fn on_new_span(&self, attributes: &span::Attributes<'_>, id: &span::Id, context: Context<'_, S>) {
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        if let Some(span) = context.span(id) {
            span.extensions_mut().insert(fields);
        }
    }

    fn on_record(&self, id: &span::Id, values: &span::Record<'_>, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        if let Some(fields) = span.extensions_mut().get_mut::<Fields>() {
            values.record(fields);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut fields = Fields::default();
        for span in context.event_scope(event).into_iter().flat_map(|scope| scope.from_root()) {
            if let Some(outer) = span.extensions().get::<Fields>() {
                fields.extend(outer);
            }
        }
        event.record(&mut fields);
        let line = self.format.line((self.clock)(), event.metadata(), &fields);
        lock(&self.sink).write(&line, self.format);
    }
}
