//! One connection, one request, one answer.
//!
//! Nothing is spawned: whoever reads the answer drives the connection, and dropping the answer closes
//! it. So a call that is given up leaves neither a task nor a descriptor behind (B-072).

use std::{
    future::poll_fn,
    io,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use futures_util::future::{Either, select};
use http::{HeaderValue, Request, Response, StatusCode, header};
use http_body_util::Full;
use hyper::{
    body::{Body as _, Incoming},
    client::conn::http1::{self, Connection},
};
use hyper_util::rt::TokioIo;
use lighterman_calls::{Lost, LostCause};
use serde::{Deserialize, de::DeserializeOwned};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpStream, UnixStream},
    time::timeout,
};

use crate::{
    host::{Address, DockerHost},
    text,
    verdict::{NotDone, Words},
};

/// Longest answer that is read as a whole. A list of 10,000 containers with all their labels is half of it.
const LONGEST_ANSWER: usize = 64 << 20;

/// Longest body of an error that is read; its text is cut to 4,096 bytes anyway.
const LONGEST_ERROR: usize = 1 << 20;

trait Socket: AsyncRead + AsyncWrite + Send + Unpin {}
impl<S: AsyncRead + AsyncWrite + Send + Unpin> Socket for S {}

type Wire = Box<Connection<TokioIo<Box<dyn Socket>>, Full<Bytes>>>;

/// The head of an answer, and its body still to be read.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) body: Body,
}

/// Sends one request over a connection of its own and returns when the head of the answer is there.
pub(crate) async fn send(host: &DockerHost, mut request: Request<Full<Bytes>>) -> Result<Answer, Lost> {
    // A unix socket has no host name, but HTTP/1.1 wants one.
    let name = match host.address() {
        Address::Unix(_) => HeaderValue::from_static("localhost"),
        Address::Tcp(authority) => HeaderValue::from_str(authority).map_err(|error| unreachable(host, &error))?,
    };
    request.headers_mut().insert(header::HOST, name);
    let socket = dial(host).await.map_err(|error| unreachable(host, &error))?;
    let (mut sender, wire) = http1::handshake(TokioIo::new(socket)).await.map_err(|error| lost(&error))?;
    let mut wire: Wire = Box::new(wire);
    let (answer, wire) = match select(Box::pin(sender.send_request(request)), &mut wire).await {
        Either::Left((answer, _)) => (answer, Some(wire)),
        // The connection ended first. The answer, or the error, was handed over before.
        Either::Right((_, answer)) => (answer.await, None),
    };
    let (head, incoming) = answer.map(Response::into_parts).map_err(|error| lost(&error))?;
    Ok(Answer { status: head.status, body: Body { incoming, wire, patience: None } })
}

async fn dial(host: &DockerHost) -> io::Result<Box<dyn Socket>> {
    Ok(match host.address() {
        Address::Unix(path) => Box::new(UnixStream::connect(path).await?),
        Address::Tcp(authority) => Box::new(TcpStream::connect(authority).await?),
    })
}

/// No connection was made, so the call had no effect.
fn unreachable(host: &DockerHost, error: &(dyn std::error::Error + 'static)) -> Lost {
    Lost::new(LostCause::Unreachable, format!("cannot reach the Docker engine at {host}: {}", text::chain(error)))
}

/// Contact was lost after the connection was made: the engine may have acted on the request.
fn lost(error: &hyper::Error) -> Lost {
    let cut_off = |error: &hyper::Error| error.is_incomplete_message() || error.is_closed() || error.is_shutdown();
    // Who talks before being asked has the request cancelled; how it went is the cause of that.
    let cancelled_by = std::error::Error::source(error).and_then(|source| source.downcast_ref::<hyper::Error>());
    let cut_off = if error.is_canceled() { cancelled_by.is_none_or(cut_off) } else { cut_off(error) };
    let io = std::error::Error::source(error).and_then(|source| source.downcast_ref::<io::Error>());
    // A chunk or a length that cannot be read comes as one of these two.
    let broken = io.is_some_and(|e| matches!(e.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData));
    let cause = if cut_off || (io.is_some() && !broken) { LostCause::ConnectionLost } else { LostCause::Garbled };
    let words = match cause {
        LostCause::ConnectionLost => "lost the connection to the Docker engine",
        LostCause::TimedOut(_) | LostCause::Unreachable | LostCause::Garbled => {
            "what answered does not speak HTTP as the Docker engine does"
        }
    };
    Lost::new(cause, format!("{words}: {}", text::chain(error)))
}

/// The body of an answer, in the pieces in which it comes.
pub(crate) struct Body {
    incoming: Incoming,
    /// `None` once the connection has ended; what it had read is still in `incoming`.
    wire: Option<Wire>,
    patience: Option<Duration>,
}

impl Body {
    /// From now on a silence longer than this ends the reading with `TimedOut`.
    pub(crate) const fn be_patient(&mut self, longest_silence: Duration) {
        self.patience = Some(longest_silence);
    }

    /// The next piece; `None` after the last. An error is final.
    pub(crate) async fn piece(&mut self) -> Result<Option<Bytes>, Lost> {
        let patience = self.patience;
        let piece = poll_fn(|cx| self.poll_piece(cx));
        let piece = match patience {
            None => piece.await,
            Some(longest) => timeout(longest, piece).await.map_err(|_| {
                Lost::new(LostCause::TimedOut(longest), format!("the engine was silent for {longest:?}"))
            })?,
        };
        piece.transpose().map_err(|error| lost(&error))
    }

    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, hyper::Error>>> {
        loop {
            match Pin::new(&mut self.incoming).poll_frame(cx) {
                Poll::Ready(Some(Ok(frame))) => match frame.into_data() {
                    Ok(data) if data.is_empty() => {}
                    Ok(data) => return Poll::Ready(Some(Ok(data))),
                    // Trailers carry nothing that is read.
                    Err(_) => {}
                },
                Poll::Ready(Some(Err(error))) => return Poll::Ready(Some(Err(error))),
                Poll::Ready(None) => return Poll::Ready(None),
                Poll::Pending => match &mut self.wire {
                    None => return Poll::Pending,
                    // How the connection ended shows in the body, which is looked at once more.
                    Some(wire) => match Pin::new(wire).poll(cx) {
                        Poll::Ready(_) => self.wire = None,
                        Poll::Pending => return Poll::Pending,
                    },
                },
            }
        }
    }

    async fn whole(&mut self, longest: usize) -> Result<Vec<u8>, Lost> {
        let mut whole = Vec::new();
        while let Some(piece) = self.piece().await? {
            if whole.len() + piece.len() > longest {
                return Err(Lost::new(LostCause::Garbled, format!("the answer is longer than {longest} bytes")));
            }
            whole.extend_from_slice(&piece);
        }
        Ok(whole)
    }

    /// Reads the body to its end and its JSON into `T`.
    pub(crate) async fn json<T: DeserializeOwned>(mut self) -> Result<T, NotDone> {
        let whole = self.whole(LONGEST_ANSWER).await?;
        read_json(&whole).map_err(NotDone::Unknown)
    }

    /// Reads the body of an answer that is not a success.
    pub(crate) async fn words(mut self) -> Result<Words, Lost> {
        #[derive(Deserialize)]
        struct Message {
            message: String,
        }
        let whole = self.whole(LONGEST_ERROR).await?;
        Ok(match serde_json::from_slice::<Message>(&whole) {
            Ok(Message { message }) => Words { text: text::tidy(&message), engine_form: true },
            Err(_) => Words { text: text::tidy(&String::from_utf8_lossy(&whole)), engine_form: false },
        })
    }
}

/// Reads JSON. What just stops was cut off; what cannot be read at all is not of the protocol.
pub(crate) fn read_json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Lost> {
    serde_json::from_slice(bytes).map_err(|error| {
        let cause = if error.is_eof() { LostCause::ConnectionLost } else { LostCause::Garbled };
        // The position is told, never the content: it can hold the environment of a container.
        let (line, column) = (error.line(), error.column());
        let what = match error.classify() {
            serde_json::error::Category::Eof => "ends early",
            serde_json::error::Category::Syntax => "is not JSON",
            serde_json::error::Category::Data | serde_json::error::Category::Io => "has not the expected members",
        };
        Lost::new(cause, format!("the answer {what} (line {line}, column {column})"))
    })
}
