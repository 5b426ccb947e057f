//! The little of HTTP/1.1 that a proxy has to know: heads, and where bodies end.

use std::io;

use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

/// Longer heads are not ours.
const LONGEST_HEAD: usize = 256 << 10;
/// Most bytes that are taken of a body at once.
const PIECE: usize = 64 << 10;

/// A request or an answer up to its empty line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Head {
    /// The request or status line.
    pub(super) first: String,
    pub(super) headers: Vec<(String, String)>,
}

/// How a body is delimited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Framing {
    Nothing,
    Length(u64),
    Chunked,
    UntilClose,
}

impl Head {
    /// Reads a head; `None` when the connection ends before its first byte.
    pub(super) async fn read(from: &mut (impl AsyncBufRead + Unpin)) -> io::Result<Option<Self>> {
        let mut lines = Vec::new();
        let mut length = 0;
        loop {
            let mut line = Vec::new();
            if from.read_until(b'\n', &mut line).await? == 0 {
                return if lines.is_empty() { Ok(None) } else { Err(io::ErrorKind::UnexpectedEof.into()) };
            }
            length += line.len();
            if length > LONGEST_HEAD {
                return Err(broken("the head is too long"));
            }
            let line = String::from_utf8_lossy(&line).trim_end().to_owned();
            match (line.is_empty(), lines.is_empty()) {
                (true, true) => {}
                (true, false) => break,
                (false, _) => lines.push(line),
            }
        }
        let first = lines.remove(0);
        let headers = lines.iter().filter_map(|line| line.split_once(':'));
        let headers = headers.map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned())).collect();
        Ok(Some(Self { first, headers }))
    }

    pub(super) async fn write(&self, to: &mut (impl AsyncWrite + Unpin)) -> io::Result<()> {
        let mut text = format!("{}\r\n", self.first);
        for (name, value) in &self.headers {
            text += &format!("{name}: {value}\r\n");
        }
        to.write_all((text + "\r\n").as_bytes()).await?;
        to.flush().await
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// The same head for a body of this length.
    pub(super) fn with_length(mut self, length: usize) -> Self {
        let framing =
            |name: &str| name.eq_ignore_ascii_case("content-length") || name.eq_ignore_ascii_case("transfer-encoding");
        self.headers.retain(|(name, _)| !framing(name));
        self.headers.push(("Content-Length".into(), length.to_string()));
        self
    }

    /// Status of an answer; 0 when the line is not one.
    pub(super) fn status(&self) -> u16 {
        self.first.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0)
    }

    /// How the body of a request ends.
    pub(super) fn request_framing(&self) -> Framing {
        match self.framing() {
            Framing::UntilClose => Framing::Nothing,
            other => other,
        }
    }

    /// How the body of the answer to a request of this method ends.
    pub(super) fn answer_framing(&self, method: &str) -> Framing {
        let status = self.status();
        if method == "HEAD" || status == 204 || status == 304 || status / 100 == 1 {
            return Framing::Nothing;
        }
        self.framing()
    }

    fn framing(&self) -> Framing {
        let chunked = |value: &str| value.to_ascii_lowercase().contains("chunked");
        if self.header("transfer-encoding").is_some_and(chunked) {
            return Framing::Chunked;
        }
        let length = self.header("content-length").and_then(|length| length.parse().ok());
        length.map_or(Framing::UntilClose, Framing::Length)
    }
}

/// Reads a body piece by piece, without its framing.
#[derive(Debug)]
pub(super) struct BodyReader {
    framing: Framing,
    /// Bytes left of the body, or of the current chunk.
    left: u64,
    done: bool,
}

impl BodyReader {
    pub(super) fn new(framing: Framing) -> Self {
        let (left, done) = match framing {
            Framing::Nothing | Framing::Length(0) => (0, true),
            Framing::Length(length) => (length, false),
            Framing::Chunked | Framing::UntilClose => (0, false),
        };
        Self { framing, left, done }
    }

    /// The next bytes, never none; `None` at the end of the body.
    pub(super) async fn next(&mut self, from: &mut (impl AsyncBufRead + Unpin)) -> io::Result<Option<Vec<u8>>> {
        if self.done {
            return Ok(None);
        }
        if self.framing == Framing::Chunked && self.left == 0 && !self.next_chunk(from).await? {
            self.done = true;
            return Ok(None);
        }
        let most = if self.framing == Framing::UntilClose { PIECE as u64 } else { self.left };
        let piece = read_some(from, most).await?;
        let complete = self.framing == Framing::UntilClose;
        if piece.is_empty() {
            self.done = true;
            return if complete { Ok(None) } else { Err(io::ErrorKind::UnexpectedEof.into()) };
        }
        if !complete {
            self.left -= piece.len() as u64;
        }
        match self.framing {
            Framing::Length(_) if self.left == 0 => self.done = true,
            Framing::Chunked if self.left == 0 => drop(read_line(from).await?),
            Framing::Nothing | Framing::Length(_) | Framing::Chunked | Framing::UntilClose => {}
        }
        Ok(Some(piece))
    }

    /// Reads the head of a chunk; whether one follows. Trailers are read over.
    async fn next_chunk(&mut self, from: &mut (impl AsyncBufRead + Unpin)) -> io::Result<bool> {
        let line = read_line(from).await?;
        let size = line.split(';').next().unwrap_or_default().trim();
        self.left = u64::from_str_radix(size, 16).map_err(|_| broken("no chunk size"))?;
        if self.left > 0 {
            return Ok(true);
        }
        while !read_line(from).await?.is_empty() {}
        Ok(false)
    }

    /// The rest of the body.
    pub(super) async fn all(&mut self, from: &mut (impl AsyncBufRead + Unpin)) -> io::Result<Vec<u8>> {
        let mut all = Vec::new();
        while let Some(piece) = self.next(from).await? {
            all.extend(piece);
        }
        Ok(all)
    }
}

async fn read_some(from: &mut (impl AsyncRead + Unpin), most: u64) -> io::Result<Vec<u8>> {
    let most = usize::try_from(most).unwrap_or(PIECE).min(PIECE);
    let mut piece = vec![0; most];
    let length = from.read(&mut piece).await?;
    piece.truncate(length);
    Ok(piece)
}

async fn read_line(from: &mut (impl AsyncBufRead + Unpin)) -> io::Result<String> {
    let mut line = String::new();
    if from.read_line(&mut line).await? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(line.trim_end().to_owned())
}

/// Writes a body with its framing.
pub(super) async fn write_piece(to: &mut (impl AsyncWrite + Unpin), framing: Framing, piece: &[u8]) -> io::Result<()> {
    if framing == Framing::Chunked {
        to.write_all(format!("{:x}\r\n", piece.len()).as_bytes()).await?;
        to.write_all(piece).await?;
        to.write_all(b"\r\n").await?;
    } else {
        to.write_all(piece).await?;
    }
    to.flush().await
}

pub(super) async fn write_end(to: &mut (impl AsyncWrite + Unpin), framing: Framing) -> io::Result<()> {
    if framing == Framing::Chunked {
        to.write_all(b"0\r\n\r\n").await?;
        to.flush().await?;
    }
    Ok(())
}

fn broken(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

#[cfg(test)]
mod tests {
    use tokio::io::BufReader;

    use super::*;

    async fn body(framing: Framing, text: &str) -> io::Result<String> {
        let mut from = BufReader::with_capacity(3, text.as_bytes());
        Ok(String::from_utf8(BodyReader::new(framing).all(&mut from).await?).unwrap())
    }

    #[tokio::test]
    async fn bodies_end_where_their_framing_says() {
        assert_eq!(body(Framing::Nothing, "rest").await.unwrap(), "");
        assert_eq!(body(Framing::Length(4), "bodyrest").await.unwrap(), "body");
        assert_eq!(body(Framing::UntilClose, "all of it").await.unwrap(), "all of it");
        assert_eq!(
            body(Framing::Chunked, "3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nTrailer: 1\r\n\r\nrest").await.unwrap(),
            "abcde"
        );
    }

    #[tokio::test]
    async fn bodies_that_are_cut_short_are_errors() {
        for (framing, text) in
            [(Framing::Length(9), "body"), (Framing::Chunked, "5\r\nab"), (Framing::Chunked, "2\r\nab\r\n")]
        {
            assert_eq!(body(framing, text).await.unwrap_err().kind(), io::ErrorKind::UnexpectedEof, "{text:?}");
        }
        assert_eq!(body(Framing::Chunked, "x\r\n").await.unwrap_err().kind(), io::ErrorKind::InvalidData);
    }

    #[tokio::test]
    async fn heads_are_read_and_tell_their_framing() {
        let text = "HTTP/1.1 200 OK\r\ncontent-length: 5\r\nX-A: b: c\r\n\r\nhello";
        let mut from = text.as_bytes();
        let head = Head::read(&mut from).await.unwrap().unwrap();
        assert_eq!((head.status(), head.header("x-a")), (200, Some("b: c")));
        assert_eq!(head.answer_framing("GET"), Framing::Length(5));
        assert_eq!(head.answer_framing("HEAD"), Framing::Nothing);
        assert_eq!(from, b"hello");
        assert_eq!(Head::read(&mut &b""[..]).await.unwrap(), None);
        assert!(Head::read(&mut &b"GET / HTTP/1.1\r\nHo"[..]).await.is_err());
        let chunked =
            Head::read(&mut &b"HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n"[..]).await.unwrap().unwrap();
        assert_eq!(chunked.answer_framing("GET"), Framing::Chunked);
        assert_eq!(chunked.with_length(3).answer_framing("GET"), Framing::Length(3));
        let get = Head::read(&mut &b"GET / HTTP/1.1\r\n\r\n"[..]).await.unwrap().unwrap();
        assert_eq!(get.request_framing(), Framing::Nothing);
    }
}
