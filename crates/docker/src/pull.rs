//! Streams that report progress and then an end: pull and load.

use std::{
    future::{Pending, pending},
    pin::{Pin, pin},
    time::Duration,
};

use bytes::Bytes;
use futures_core::Stream;
use futures_util::{
    future::{Either, select},
    stream,
};
use lighterman_calls::{Outcome, Platform, PullLimits, PullProgress, PullStep, Refusal};
use lighterman_ids::ImageRef;
use serde::Deserialize;
use tokio::time::{Timeout, timeout};

use crate::{
    Docker,
    client::timed_out,
    exchange::read_json,
    lines::Lines,
    text::tidy,
    verdict::{Addresses, NotDone, stream_class},
};

/// A pull that has not begun.
pub(crate) struct Pull {
    pub(crate) docker: Docker,
    pub(crate) image: ImageRef,
    pub(crate) platform: Option<Platform>,
    pub(crate) limits: PullLimits,
    /// Of the whole, from the first poll on.
    pub(crate) limit: Duration,
}

/// The steps of a pull, ended by `PullStep::End`. Dropping the stream closes the connection, and the
/// engine gives the pull up.
pub(crate) fn steps(pull: Pull) -> impl Stream<Item = PullStep> + Send {
    stream::unfold(State::New(pull), State::next)
}

/// Where the stream of a pull stands.
enum State {
    New(Pull),
    Running { lines: Lines, whole: Whole },
    Ended,
}

impl State {
    async fn next(self) -> Option<(PullStep, Self)> {
        let step = match self {
            Self::New(pull) => {
                let mut whole = Whole::of(pull.limit);
                whole.bounds(pull.begin()).await.map(|(step, lines)| (step, Self::Running { lines, whole }))
            }
            Self::Running { mut lines, mut whole } => {
                let step = whole.bounds(step(&mut lines, Addresses::RemoteImage)).await;
                step.map(|step| (step, Self::Running { lines, whole }))
            }
            Self::Ended => return None,
        };
        Some(match step {
            Ok((Some(progress), state)) => (PullStep::Progress(progress), state),
            Ok((None, _)) => (PullStep::End(Outcome::Done(())), Self::Ended),
            Err(not_done) => (PullStep::End(not_done.outcome()), Self::Ended),
        })
    }
}

impl Pull {
    /// Up to the first line; from there on the limit of silence counts, whatever the bytes are (engine.md 4.7.5).
    async fn begin(self) -> Result<(Option<PullProgress>, Lines), NotDone> {
        let PullLimits { first_progress, inactivity } = self.limits;
        let first = async {
            let written = self.docker.scribe().pull(&self.image, self.platform)?;
            let answer = self.docker.send(Addresses::RemoteImage, written, Bytes::new()).await?;
            let mut lines = Lines::new(answer.body);
            Ok((step(&mut lines, Addresses::RemoteImage).await?, lines))
        };
        let begun = timeout(first_progress, first).await;
        let (step, mut lines) =
            begun.unwrap_or_else(|_| Err(NotDone::Unknown(timed_out(first_progress, "no progress of the pull"))))?;
        lines.body().be_patient(inactivity);
        Ok((step, lines))
    }
}

/// The limit of a whole pull: one timer for all of its steps.
struct Whole {
    limit: Duration,
    over: Pin<Box<Timeout<Pending<()>>>>,
}

impl Whole {
    fn of(limit: Duration) -> Self {
        Self { limit, over: Box::pin(timeout(limit, pending())) }
    }

    async fn bounds<T>(&mut self, work: impl Future<Output = Result<T, NotDone>>) -> Result<T, NotDone> {
        match select(pin!(work), self.over.as_mut()).await {
            Either::Left((done, _)) => done,
            Either::Right(_) => Err(NotDone::Unknown(timed_out(self.limit, "the pull did not end"))),
        }
    }
}

/// One line of the stream.
#[derive(Default, Deserialize)]
#[serde(default)]
struct RawStep {
    status: Option<String>,
    id: Option<String>,
    error: Option<String>,
    #[serde(rename = "errorDetail")]
    error_detail: Option<RawError>,
    #[serde(rename = "progressDetail")]
    progress_detail: Option<RawProgress>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RawError {
    message: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RawProgress {
    current: Option<i64>,
    total: Option<i64>,
}

/// The next step of the stream; `None` when it ended well. An error line ends it.
pub(crate) async fn step(lines: &mut Lines, call: Addresses<'_>) -> Result<Option<PullProgress>, NotDone> {
    let Some(line) = lines.next().await? else { return Ok(None) };
    let raw: RawStep = read_json(&line).map_err(NotDone::Unknown)?;
    match raw.failure() {
        Some(text) => Err(NotDone::Refused(Refusal::new(stream_class(call, &text), text))),
        None => Ok(Some(raw.progress())),
    }
}

impl RawStep {
    fn failure(&self) -> Option<String> {
        let detail = self.error_detail.as_ref().and_then(|detail| detail.message.as_ref());
        match (detail.or(self.error.as_ref()), &self.error_detail) {
            (Some(text), _) => Some(tidy(text)),
            (None, Some(_)) => Some("the engine reports an error without a text".into()),
            (None, None) => None,
        }
    }

    fn progress(self) -> PullProgress {
        let RawProgress { current, total } = self.progress_detail.unwrap_or_default();
        // The engine writes -1 or 0 for a total it does not know.
        let bytes = |count: Option<i64>| count.and_then(|count| u64::try_from(count).ok());
        PullProgress {
            layer: tidy(&self.id.unwrap_or_default()),
            status: tidy(&self.status.unwrap_or_default()),
            current: bytes(current),
            total: bytes(total).filter(|total| *total > 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(line: &str) -> RawStep {
        read_json(line.as_bytes()).unwrap()
    }

    #[test]
    fn progress_lines_are_read() {
        let whole = raw(r#"{"status":"Pulling from web","id":"1.2"}"#).progress();
        assert_eq!((whole.layer.as_str(), whole.status.as_str(), whole.current), ("1.2", "Pulling from web", None));
        let layer =
            raw(r#"{"status":"Downloading","progressDetail":{"current":5,"total":9},"progress":"[=> ]","id":"ab12"}"#);
        assert_eq!(layer.failure(), None);
        let layer = layer.progress();
        assert_eq!((layer.layer.as_str(), layer.current, layer.total), ("ab12", Some(5), Some(9)));
        let unknown = raw(r#"{"status":"Extracting","progressDetail":{"current":5,"total":-1},"id":null}"#).progress();
        assert_eq!((unknown.layer.as_str(), unknown.current, unknown.total), ("", Some(5), None));
        let empty = raw(r#"{"status":"Waiting","progressDetail":{},"id":"ab12"}"#).progress();
        assert_eq!((empty.current, empty.total), (None, None));
    }

    #[test]
    fn error_lines_are_told_from_progress() {
        for (line, text) in [
            (
                r#"{"errorDetail":{"code":1,"message":"manifest\n unknown"},"error":"manifest unknown"}"#,
                "manifest unknown",
            ),
            (r#"{"error":"unexpected EOF"}"#, "unexpected EOF"),
            (r#"{"errorDetail":{}}"#, "the engine reports an error without a text"),
        ] {
            assert_eq!(raw(line).failure().as_deref(), Some(text));
        }
    }
}
