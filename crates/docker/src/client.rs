//! The client: one call, one connection, one outcome.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use lighterman_calls::{Lost, LostCause, Outcome, RuntimeVersion};
use serde::de::DeserializeOwned;
use tokio::time::timeout;

use crate::{
    dialect::{ApiVersion, Dialect},
    exchange::{self, Answer},
    facts::RawVersion,
    host::DockerHost,
    scribe::{Scribe, Written},
    verdict::{Addresses, NotDone, verdict},
};

/// A Docker engine at an address; clones share what was negotiated.
///
/// Each call opens a connection of its own (less than 0.2 ms on a socket) and closes it. Nothing is
/// kept open but the streams of `watch` and `logs`.
#[derive(Clone, Debug)]
pub struct Docker(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    host: DockerHost,
    dialect: Dialect,
    scribe: Scribe,
}

impl Docker {
    /// The engine at `host`. Touches nothing yet: while nothing listens there, each call answers
    /// `Unknown(Unreachable)`, and as soon as something does, calls work.
    #[must_use]
    pub fn connect(host: DockerHost) -> Self {
        Self(Arc::new(Shared { host, dialect: Dialect::default(), scribe: Scribe::default() }))
    }

    /// Where the engine is looked for.
    #[must_use]
    pub fn host(&self) -> &DockerHost {
        &self.0.host
    }

    /// The version of the API that the next call speaks.
    #[must_use]
    pub fn api_version(&self) -> ApiVersion {
        self.0.dialect.spoken()
    }

    pub(crate) fn scribe(&self) -> &Scribe {
        &self.0.scribe
    }

    /// Sends in the negotiated version; an answer that is no success goes through the table of `verdict`.
    pub(crate) async fn send(&self, call: Addresses<'_>, written: Written, body: Bytes) -> Result<Answer, NotDone> {
        self.exchange(call, written, Some(self.api_version()), body).await
    }

    pub(crate) async fn exchange(
        &self,
        call: Addresses<'_>,
        written: Written,
        version: Option<ApiVersion>,
        body: Bytes,
    ) -> Result<Answer, NotDone> {
        let answer = exchange::send(self.host(), written.request(version, body)?).await?;
        if answer.status.is_success() || answer.status == http::StatusCode::NOT_MODIFIED {
            return Ok(answer);
        }
        let words = answer.body.words().await?;
        self.0.dialect.learn(&words.text);
        Err(verdict(call, answer.status, words))
    }

    /// A call that answers with nothing but its status.
    pub(crate) async fn command(&self, call: Addresses<'_>, written: Result<Written, NotDone>) -> Result<(), NotDone> {
        self.send(call, written?, Bytes::new()).await.map(drop)
    }

    /// A call that answers with JSON.
    pub(crate) async fn ask<T: DeserializeOwned>(
        &self,
        call: Addresses<'_>,
        written: Result<Written, NotDone>,
    ) -> Result<T, NotDone> {
        self.send(call, written?, Bytes::new()).await?.body.json().await
    }

    /// Version and ping are asked without a version: an engine that refuses ours still says which it speaks.
    pub(crate) async fn negotiate(&self) -> Result<RuntimeVersion, NotDone> {
        let written = self.scribe().version()?;
        let answer = self.exchange(Addresses::Nothing, written, None, Bytes::new()).await?;
        let facts = answer.body.json::<RawVersion>().await?.facts();
        let Some(highest) = ApiVersion::parse(&facts.api_version) else {
            return Err(NotDone::garbled(format!("the engine's API version is {:?}", facts.api_version)));
        };
        let lowest = ApiVersion::parse(&facts.min_api_version).unwrap_or_else(|| ApiVersion::OLDEST.min(highest));
        self.0.dialect.settle(lowest, highest).map_err(NotDone::Refused)?;
        Ok(facts)
    }
}

/// Bounds the whole of a call, body included (crates.md §2, point 4).
pub(crate) async fn within<T>(limit: Duration, call: impl Future<Output = Result<T, NotDone>>) -> Outcome<T> {
    match timeout(limit, call).await {
        Ok(Ok(value)) => Outcome::Done(value),
        Ok(Err(not_done)) => not_done.outcome(),
        Err(_) => Outcome::Unknown(timed_out(limit, "no complete answer from the Docker engine")),
    }
}

pub(crate) fn timed_out(limit: Duration, what: &str) -> Lost {
    Lost::new(LostCause::TimedOut(limit), format!("{what} within {limit:?}"))
}
