//! Streams of JSON, one value per line.

use bytes::{Bytes, BytesMut};
use lighterman_calls::{Lost, LostCause};

use crate::exchange::Body;

/// Longest line that is waited for. The longest seen is an event with all labels of a container, some 20 KB.
const LONGEST_LINE: usize = 1 << 20;

/// The lines of a body, without their ends; empty ones are left out.
pub(crate) struct Lines {
    body: Body,
    splitter: Splitter,
}

impl Lines {
    pub(crate) fn new(body: Body) -> Self {
        Self { body, splitter: Splitter::default() }
    }

    pub(crate) const fn body(&mut self) -> &mut Body {
        &mut self.body
    }

    /// The next line; `None` at the end. What stands before the end without a line end is a line too.
    pub(crate) async fn next(&mut self) -> Result<Option<Bytes>, Lost> {
        loop {
            if let Some(line) = self.splitter.line() {
                return Ok(Some(line));
            }
            match self.body.piece().await? {
                Some(piece) => self.splitter.feed(&piece)?,
                None => return Ok(self.splitter.rest()),
            }
        }
    }
}

#[derive(Default)]
struct Splitter {
    buffer: BytesMut,
    /// So many bytes at the front hold no line end.
    searched: usize,
}

impl Splitter {
    fn feed(&mut self, piece: &[u8]) -> Result<(), Lost> {
        if self.buffer.len() + piece.len() > LONGEST_LINE && !piece.contains(&b'\n') {
            return Err(Lost::new(LostCause::Garbled, format!("a line is longer than {LONGEST_LINE} bytes")));
        }
        self.buffer.extend_from_slice(piece);
        Ok(())
    }

    fn line(&mut self) -> Option<Bytes> {
        while let Some(end) = self.buffer[self.searched..].iter().position(|byte| *byte == b'\n') {
            let line = self.buffer.split_to(self.searched + end + 1).freeze();
            self.searched = 0;
            let line = trimmed(&line);
            if !line.is_empty() {
                return Some(line);
            }
        }
        self.searched = self.buffer.len();
        None
    }

    fn rest(&mut self) -> Option<Bytes> {
        self.searched = 0;
        let rest = trimmed(&self.buffer.split().freeze());
        (!rest.is_empty()).then_some(rest)
    }
}

fn trimmed(line: &Bytes) -> Bytes {
    line.slice_ref(line.trim_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines_of(pieces: &[&[u8]]) -> Vec<Bytes> {
        let (mut splitter, mut lines) = (Splitter::default(), Vec::new());
        for piece in pieces {
            splitter.feed(piece).unwrap();
            lines.extend(std::iter::from_fn(|| splitter.line()));
        }
        lines.extend(splitter.rest());
        lines
    }

    #[test]
    fn lines_do_not_depend_on_how_they_were_cut() {
        let text = b"{\"a\":1}\r\n\n{\"b\":2}\n  \r\n{\"c\":3}";
        let whole = lines_of(&[text]);
        assert_eq!(whole, [&b"{\"a\":1}"[..], b"{\"b\":2}", b"{\"c\":3}"]);
        for at in 0..text.len() {
            assert_eq!(lines_of(&[&text[..at], &text[at..]]), whole, "cut at {at}");
        }
        let bytes: Vec<&[u8]> = text.chunks(1).collect();
        assert_eq!(lines_of(&bytes), whole);
    }

    #[test]
    fn a_line_without_an_end_is_bounded() {
        let mut splitter = Splitter::default();
        let piece = vec![b'x'; LONGEST_LINE / 2];
        splitter.feed(&piece).unwrap();
        splitter.feed(&piece).unwrap();
        assert_eq!(splitter.feed(&piece).unwrap_err().cause, LostCause::Garbled);
    }
}
