//! The watch: a stream of events, opened, read and lost.

use std::time::Duration;

use bytes::Bytes;
use futures_core::Stream;
use futures_util::stream;
use lighterman_calls::{Lost, LostCause, Outcome, Watched};

use crate::{
    Docker,
    client::within,
    events::Events,
    lines::Lines,
    scribe::Written,
    verdict::{Addresses, NotDone},
};

/// A watch that is not open.
pub(crate) struct Opening {
    pub(crate) docker: Docker,
    pub(crate) written: Result<Written, NotDone>,
    /// For the headers of the answer; events may take their time.
    pub(crate) limit: Duration,
}

/// `Opened`, events, and at last `Lost`. To open it again is not done here.
///
/// Engine 20.10 sends the headers just before it subscribes. Without a `since` an event of these
/// microseconds is missed; with one the replay brings it. Either way a look at the containers after
/// `Opened` takes longer than that.
pub(crate) fn stream(opening: Opening) -> impl Stream<Item = Watched> + Send + 'static {
    stream::unfold(State::New(opening), State::next)
}

/// Where the stream of a watch stands.
enum State {
    New(Opening),
    Open(Events),
    Ended,
}

impl State {
    async fn next(self) -> Option<(Watched, Self)> {
        let item = match self {
            Self::New(opening) => opening.open().await.map(|events| (Watched::Opened, events)),
            Self::Open(mut events) => events.next().await.map(|event| (Watched::Event(Box::new(event)), events)),
            Self::Ended => return None,
        };
        Some(match item {
            Ok((watched, events)) => (watched, Self::Open(events)),
            Err(lost) => (Watched::Lost(lost), Self::Ended),
        })
    }
}

impl Opening {
    /// Up to the headers of the answer.
    async fn open(self) -> Result<Events, Lost> {
        let Self { docker, written, limit } = self;
        let opened = within(limit, async { docker.send(Addresses::Nothing, written?, Bytes::new()).await });
        match opened.await {
            Outcome::Done(answer) => Ok(Events::new(Lines::new(answer.body))),
            Outcome::Unknown(lost) => Err(lost),
            // The engine will not be watched, and a watch has no other way to say so.
            Outcome::Refused(refusal) => Err(Lost::new(LostCause::Garbled, refusal.text)),
            Outcome::Gone => Err(Lost::new(LostCause::Garbled, "the engine has no events")),
        }
    }
}
