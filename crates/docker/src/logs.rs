//! Output of containers.

use std::collections::VecDeque;

use bytes::{Buf as _, Bytes, BytesMut};
use futures_core::Stream;
use futures_util::stream;
use lighterman_calls::{Lost, LostCause, Outcome, RefusalClass};
use lighterman_contracts::{LogChunk, LogRequest, LogStream};

use crate::{
    Docker,
    exchange::Body,
    text::tidy,
    verdict::{Addresses, NotDone},
};

/// Length of the head of a frame: kind, three zeros, length of what follows.
const HEAD: usize = 8;

/// Longest error of the engine in a log stream that is read.
const LONGEST_ERROR: usize = 4_096;

/// The output that `request` asks for. How long to wait for it is up to the reader: a container can be
/// silent for years, and its stream can outlive it (B-033).
pub(crate) fn stream(
    docker: Docker,
    request: LogRequest,
) -> impl Stream<Item = Result<LogChunk, Outcome<()>>> + Send + 'static {
    stream::unfold(State::New(docker, request), State::next)
}

/// Where the stream of a container's output stands.
enum State {
    New(Docker, LogRequest),
    Open(Logs),
    Ended,
}

impl State {
    async fn next(self) -> Option<(Result<LogChunk, Outcome<()>>, Self)> {
        let logs = match self {
            Self::New(docker, request) => Logs::open(&docker, &request).await,
            Self::Open(logs) => Ok(logs),
            Self::Ended => return None,
        };
        let read = match logs {
            Ok(mut logs) => logs.next().await.map(|chunk| (chunk, logs)),
            Err(not_done) => Err(not_done),
        };
        match read {
            Ok((Some(chunk), logs)) => Some((Ok(chunk), Self::Open(logs))),
            Ok((None, _)) => None,
            Err(not_done) => Some((Err(not_done.outcome()), Self::Ended)),
        }
    }
}

/// The output of one container.
struct Logs {
    body: Body,
    frames: Frames,
    /// Pieces that came together and have not been handed out.
    ready: VecDeque<LogChunk>,
}

impl Logs {
    async fn open(docker: &Docker, request: &LogRequest) -> Result<Self, NotDone> {
        let written = docker.scribe().logs(request)?;
        let answer = docker.send(Addresses::Container, written, Bytes::new()).await?;
        Ok(Self::new(answer.body, request.tty))
    }

    fn new(body: Body, tty: bool) -> Self {
        let frames = if tty { Frames::Raw } else { Frames::Head(BytesMut::with_capacity(HEAD)) };
        Self { body, frames, ready: VecDeque::new() }
    }

    /// The next piece; `None` at the end of the output. An error is final.
    async fn next(&mut self) -> Result<Option<LogChunk>, NotDone> {
        loop {
            if let Some(chunk) = self.ready.pop_front() {
                return Ok(Some(chunk));
            }
            match self.body.piece().await? {
                Some(piece) => self.frames.feed(piece, &mut self.ready)?,
                None => return self.frames.end().map(|()| None),
            }
        }
    }
}

/// Where in the stream reading stands. A frame is never held back until it is whole: a line of
/// 100 MB takes no more memory than the piece that has come.
#[derive(Debug)]
enum Frames {
    /// A terminal's output has no frames.
    Raw,
    /// Inside a head, with what there is of it.
    Head(BytesMut),
    /// Inside the bytes of a stream.
    Payload { stream: LogStream, left: usize },
    /// Inside an error of the engine.
    Error { text: Vec<u8>, left: usize },
}

impl Frames {
    fn feed(&mut self, mut piece: Bytes, ready: &mut VecDeque<LogChunk>) -> Result<(), NotDone> {
        while !piece.is_empty() {
            match self {
                Self::Raw => {
                    ready.push_back(LogChunk { stream: LogStream::Stdout, bytes: piece.to_vec() });
                    return Ok(());
                }
                Self::Head(head) => {
                    let taken = piece.split_to(piece.len().min(HEAD - head.len()));
                    head.extend_from_slice(&taken);
                    if head.len() == HEAD {
                        *self = Self::after(head)?;
                    }
                }
                Self::Payload { stream, left } => {
                    let bytes = piece.split_to(piece.len().min(*left)).to_vec();
                    *left -= bytes.len();
                    let done = *left == 0;
                    ready.push_back(LogChunk { stream: *stream, bytes });
                    if done {
                        *self = Self::Head(BytesMut::with_capacity(HEAD));
                    }
                }
                Self::Error { text, left } => {
                    let bytes = piece.split_to(piece.len().min(*left));
                    *left -= bytes.len();
                    let room = LONGEST_ERROR.saturating_sub(text.len());
                    text.extend(bytes.iter().take(room));
                    if *left == 0 {
                        return Err(engine_error(text));
                    }
                }
            }
        }
        Ok(())
    }

    /// What a whole head says comes next.
    fn after(head: &mut BytesMut) -> Result<Self, NotDone> {
        let kind = head[0];
        head.advance(4);
        let left = usize::try_from(head.get_u32()).unwrap_or(usize::MAX);
        match (kind, left) {
            (0..=2, 0) => Ok(Self::Head(BytesMut::with_capacity(HEAD))),
            // 0 is standard input, echoed; it belongs to what a person would see.
            (0 | 1, left) => Ok(Self::Payload { stream: LogStream::Stdout, left }),
            (2, left) => Ok(Self::Payload { stream: LogStream::Stderr, left }),
            (3, 0) => Err(engine_error(&[])),
            (3, left) => Ok(Self::Error { text: Vec::new(), left }),
            (4.., _) => Err(NotDone::garbled(format!("a log frame of unknown kind {kind}"))),
        }
    }

    fn end(&self) -> Result<(), NotDone> {
        match self {
            Self::Raw => Ok(()),
            Self::Head(head) if head.is_empty() => Ok(()),
            Self::Error { text, .. } => Err(engine_error(text)),
            Self::Head(_) | Self::Payload { .. } => {
                Err(Lost::new(LostCause::ConnectionLost, "the log stream ended inside a frame").into())
            }
        }
    }
}

fn engine_error(text: &[u8]) -> NotDone {
    NotDone::refused(RefusalClass::PeerFault, tidy(&String::from_utf8_lossy(text)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn frame(kind: u8, payload: &[u8]) -> Vec<u8> {
        let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
        [&[kind, 0, 0, 0][..], &length, payload].concat()
    }

    type Joined = Vec<(LogStream, Vec<u8>)>;

    /// What comes out of the pieces, neighbours of one stream joined, and how it ended.
    fn read(tty: bool, pieces: &[&[u8]]) -> (Joined, Result<(), NotDone>) {
        let mut frames = if tty { Frames::Raw } else { Frames::Head(BytesMut::new()) };
        let mut ready = VecDeque::new();
        let fed = pieces.iter().try_for_each(|piece| frames.feed(Bytes::copy_from_slice(piece), &mut ready));
        let ended = fed.and_then(|()| frames.end());
        let mut joined = Joined::new();
        for chunk in ready {
            match joined.last_mut() {
                Some((stream, bytes)) if *stream == chunk.stream => bytes.extend(chunk.bytes),
                _ => joined.push((chunk.stream, chunk.bytes)),
            }
        }
        (joined, ended)
    }

    #[test]
    fn frames_do_not_depend_on_how_they_were_cut() {
        let text = [frame(1, b"one\n"), frame(2, b"two"), frame(1, b""), frame(0, b"three")].concat();
        let expected = [
            (LogStream::Stdout, b"one\n".to_vec()),
            (LogStream::Stderr, b"two".to_vec()),
            (LogStream::Stdout, b"three".to_vec()),
        ];
        for at in 0..text.len() {
            let (chunks, ended) = read(false, &[&text[..at], &text[at..]]);
            assert_eq!((chunks.as_slice(), ended), (&expected[..], Ok(())), "cut at {at}");
        }
    }

    #[test]
    fn a_terminals_output_is_taken_as_it_is() {
        let (chunks, ended) = read(true, &[&[1, 0, 0, 0, 0, 0, 0, 9], b"raw"]);
        assert_eq!(chunks, [(LogStream::Stdout, b"\x01\0\0\0\0\0\0\x09raw".to_vec())]);
        assert_eq!(ended, Ok(()));
    }

    #[test]
    fn an_early_end_is_told_from_the_end() {
        let text = frame(1, b"four");
        for at in 1..text.len() {
            let (_, ended) = read(false, &[&text[..at]]);
            let Err(NotDone::Unknown(lost)) = ended else { panic!("cut at {at} must be lost") };
            assert_eq!(lost.cause, LostCause::ConnectionLost);
        }
        assert_eq!(read(false, &[]).1, Ok(()));
    }

    #[test]
    fn the_engines_own_error_ends_the_stream() {
        let text = [frame(1, b"out"), frame(3, b"error grabbing logs:  EOF\n")].concat();
        let (chunks, ended) = read(false, &[&text]);
        assert_eq!(chunks.len(), 1);
        assert_eq!(ended, Err(NotDone::refused(RefusalClass::PeerFault, "error grabbing logs: EOF")));
        let (_, ended) = read(false, &[&frame(9, b"x")]);
        assert!(matches!(ended, Err(NotDone::Unknown(lost)) if lost.cause == LostCause::Garbled));
    }

    proptest! {
        #[test]
        fn bytes_come_out_as_they_went_in(
            frames in proptest::collection::vec((1u8..=2, proptest::collection::vec(any::<u8>(), 0..50)), 0..8),
            size in 1usize..20,
        ) {
            let text: Vec<u8> = frames.iter().flat_map(|(kind, bytes)| frame(*kind, bytes)).collect();
            let pieces: Vec<&[u8]> = text.chunks(size).collect();
            let (chunks, ended) = read(false, &pieces);
            prop_assert_eq!(ended, Ok(()));
            for (kind, stream) in [(1, LogStream::Stdout), (2, LogStream::Stderr)] {
                let sent: Vec<u8> =
                    frames.iter().filter(|(k, _)| *k == kind).flat_map(|(_, bytes)| bytes.clone()).collect();
                let got: Vec<u8> =
                    chunks.iter().filter(|(s, _)| *s == stream).flat_map(|(_, bytes)| bytes.clone()).collect();
                prop_assert_eq!(got, sent);
            }
        }
    }
}
