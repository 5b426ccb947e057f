//! Container output into lines.

use lighterman_contracts::{LogChunk, LogStream};

/// Longest piece of a line, in bytes: what one container may make us remember per stream, whatever it writes (B-084).
pub const LINE_LIMIT: usize = 16 * 1024;

/// A line, or a piece of one that is longer than [`LINE_LIMIT`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// Which stream it was written to.
    pub stream: LogStream,
    /// The bytes, as written, without the line feed; at most [`LINE_LIMIT`].
    pub bytes: &'a [u8],
    /// Whether the line begins here.
    pub first: bool,
    /// Whether the line ends here.
    pub last: bool,
}

/// Puts the pieces of a container's output together into lines, each stream by itself.
///
/// No byte is lost or doubled, wherever the pieces are cut. A piece of a long line ends before a character rather than
/// within one.
///
/// ```
/// use lighterman_contracts::{LogChunk, LogStream};
/// use lighterman_ui::LineSplitter;
///
/// let mut splitter = LineSplitter::default();
/// let mut lines = Vec::new();
/// for bytes in [b"hel".as_slice(), b"lo\nwor", b"ld"] {
///     let chunk = LogChunk { stream: LogStream::Stdout, bytes: bytes.to_vec() };
///     splitter.push(&chunk, |line| lines.push(line.bytes.to_vec()));
/// }
/// splitter.finish(|line| lines.push(line.bytes.to_vec()));
/// assert_eq!(lines, [b"hello", b"world"]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct LineSplitter {
    stdout: Partial,
    stderr: Partial,
}

/// A line that is not over yet.
#[derive(Clone, Debug, Default)]
struct Partial {
    bytes: Vec<u8>,
    /// Pieces of it have been handed on.
    begun: bool,
}

impl LineSplitter {
    /// Takes a piece of output; `emit` gets every line that it completes.
    pub fn push(&mut self, chunk: &LogChunk, mut emit: impl FnMut(Line<'_>)) {
        let partial = match chunk.stream {
            LogStream::Stdout => &mut self.stdout,
            LogStream::Stderr => &mut self.stderr,
        };
        partial.push(chunk.stream, &chunk.bytes, &mut emit);
    }

    /// The output is over: what is left without a line feed is a line too.
    pub fn finish(&mut self, mut emit: impl FnMut(Line<'_>)) {
        self.stdout.finish(LogStream::Stdout, &mut emit);
        self.stderr.finish(LogStream::Stderr, &mut emit);
    }
}

impl Partial {
    fn push(&mut self, stream: LogStream, mut bytes: &[u8], emit: &mut impl FnMut(Line<'_>)) {
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            self.extend(stream, &bytes[..end], emit);
            self.end(stream, emit);
            bytes = &bytes[end + 1..];
        }
        self.extend(stream, bytes, emit);
    }

    /// Adds bytes without a line feed, and hands on a piece whenever one is full and more follows.
    fn extend(&mut self, stream: LogStream, mut bytes: &[u8], emit: &mut impl FnMut(Line<'_>)) {
        while self.bytes.len() + bytes.len() > LINE_LIMIT {
            let room = LINE_LIMIT - self.bytes.len();
            self.bytes.extend_from_slice(&bytes[..room]);
            bytes = &bytes[room..];
            let whole = LINE_LIMIT - unfinished_character(&self.bytes);
            emit(Line { stream, bytes: &self.bytes[..whole], first: !self.begun, last: false });
            self.begun = true;
            self.bytes.drain(..whole);
        }
        self.bytes.extend_from_slice(bytes);
    }

    fn end(&mut self, stream: LogStream, emit: &mut impl FnMut(Line<'_>)) {
        emit(Line { stream, bytes: &self.bytes, first: !self.begun, last: true });
        self.bytes.clear();
        self.begun = false;
    }

    fn finish(&mut self, stream: LogStream, emit: &mut impl FnMut(Line<'_>)) {
        if self.begun || !self.bytes.is_empty() {
            self.end(stream, emit);
        }
    }
}

/// How many bytes at the end begin a UTF-8 character that goes on behind them.
fn unfinished_character(bytes: &[u8]) -> usize {
    let needed = |byte: u8| match byte {
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => 1,
    };
    let is_continuation = |byte: u8| byte & 0xc0 == 0x80;
    let tail = bytes.iter().rev().take(3).take_while(|byte| is_continuation(**byte)).count();
    let Some(lead) = bytes.len().checked_sub(tail + 1).and_then(|at| bytes.get(at)) else { return 0 };
    if needed(*lead) > tail + 1 { tail + 1 } else { 0 }
}
