//! One connection: requests to the engine, answers back, and what is broken on the way.

use std::{future::pending, io, sync::Arc, time::Duration};

use tokio::{
    io::{AsyncBufRead, AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, copy_bidirectional},
    net::{
        UnixStream,
        unix::{OwnedReadHalf, OwnedWriteHalf},
    },
    time::{Instant, timeout, timeout_at},
};

use super::{
    Seen, Shared,
    http::{BodyReader, Framing, Head, write_end, write_piece},
    rule::{Fault, LineFate, Reply},
};

/// The client's side.
struct Client {
    from: BufReader<OwnedReadHalf>,
    to: OwnedWriteHalf,
}

/// The engine's answer, and the connection it comes on.
struct Answering {
    head: Head,
    framing: Framing,
    from: BufReader<UnixStream>,
}

/// Serves one connection until either side ends it or a fault does.
pub(super) async fn serve(client: UnixStream, shared: &Arc<Shared>) -> io::Result<()> {
    let (from, to) = client.into_split();
    let mut client = Client { from: BufReader::new(from), to };
    while let Some(head) = Head::read(&mut client.from).await? {
        let seen = seen(&head);
        let method = seen.method.clone();
        let fault = shared.note(seen);
        let mut paused = shared.paused.subscribe();
        if paused.wait_for(|paused| !paused).await.is_err() {
            return Ok(());
        }
        if !exchange(&mut client, &head, &method, fault, shared).await? {
            return Ok(());
        }
    }
    Ok(())
}

/// One request and its answer; whether another request can follow on the connection.
async fn exchange(
    client: &mut Client,
    head: &Head,
    method: &str,
    fault: Option<Fault>,
    shared: &Shared,
) -> io::Result<bool> {
    match &fault {
        Some(Fault::CutBefore) => return Ok(false),
        Some(Fault::Hang) => {
            client.gone().await;
            return Ok(false);
        }
        Some(Fault::DelayRequest(time)) => {
            if client.gone_within(*time).await {
                return Ok(false);
            }
        }
        Some(Fault::Answer(reply)) => {
            BodyReader::new(head.request_framing()).all(&mut client.from).await?;
            let head = Head { first: status_line(reply.status), headers: json() };
            client.reply(head, &reply.body).await?;
            return Ok(true);
        }
        Some(
            Fault::CutAfter
            | Fault::DropAnswer
            | Fault::DelayAnswer(_)
            | Fault::CutBody(_)
            | Fault::Trickle(..)
            | Fault::Rewrite(_)
            | Fault::Lines(_),
        )
        | None => {}
    }
    let Some(answering) = ask(client, head, method, shared).await? else { return Ok(false) };
    answer(client, answering, fault).await
}

/// Forwards the request and waits for the head of the answer; `None` when the client went away meanwhile.
async fn ask(client: &mut Client, head: &Head, method: &str, shared: &Shared) -> io::Result<Option<Answering>> {
    let mut engine = BufReader::new(UnixStream::connect(&shared.engine).await?);
    head.write(engine.get_mut()).await?;
    let framing = head.request_framing();
    let mut body = BodyReader::new(framing);
    while let Some(piece) = body.next(&mut client.from).await? {
        write_piece(engine.get_mut(), framing, &piece).await?;
    }
    write_end(engine.get_mut(), framing).await?;
    let head = tokio::select! {
        head = Head::read(&mut engine) => head?,
        () = client.gone() => return Ok(None),
    };
    let head = head.ok_or(io::ErrorKind::UnexpectedEof)?;
    let framing = head.answer_framing(method);
    Ok(Some(Answering { head, framing, from: engine }))
}

async fn answer(client: &mut Client, mut answering: Answering, fault: Option<Fault>) -> io::Result<bool> {
    match fault {
        Some(Fault::CutAfter) => return Ok(false),
        Some(Fault::DropAnswer) => {
            client.gone().await;
            return Ok(false);
        }
        Some(Fault::DelayAnswer(time)) => {
            if client.gone_within(time).await {
                return Ok(false);
            }
        }
        Some(Fault::Rewrite(change)) => {
            let body = BodyReader::new(answering.framing).all(&mut answering.from).await?;
            let reply = change(Reply { status: answering.head.status(), body });
            let head = Head { first: status_line(reply.status), ..answering.head };
            client.reply(head, &reply.body).await?;
            return Ok(true);
        }
        Some(Fault::CutBody(bytes)) => return cut_body(client, answering, bytes).await,
        Some(Fault::Trickle(bytes, every)) => return trickle(client, answering, bytes, every).await,
        Some(Fault::Lines(decide)) => return lines(client, answering, decide.as_ref()).await,
        Some(Fault::DelayRequest(_) | Fault::Hang | Fault::CutBefore | Fault::Answer(_)) | None => {}
    }
    answering.head.write(&mut client.to).await?;
    if answering.head.status() == 101 {
        return tunnel(client, answering.from).await;
    }
    let mut body = BodyReader::new(answering.framing);
    while let Some(piece) = client.unless_gone(body.next(&mut answering.from)).await? {
        write_piece(&mut client.to, answering.framing, &piece).await?;
    }
    finish(client, answering.framing).await
}

/// The end of an answer that is complete; whether the connection stays.
async fn finish(client: &mut Client, framing: Framing) -> io::Result<bool> {
    write_end(&mut client.to, framing).await?;
    Ok(framing != Framing::UntilClose)
}

async fn cut_body(client: &mut Client, mut answering: Answering, bytes: usize) -> io::Result<bool> {
    answering.head.write(&mut client.to).await?;
    let mut body = BodyReader::new(answering.framing);
    let mut left = bytes;
    while left > 0 {
        let Some(piece) = client.unless_gone(body.next(&mut answering.from)).await? else { break };
        let piece = piece.get(..left).unwrap_or(&piece);
        left -= piece.len();
        write_piece(&mut client.to, answering.framing, piece).await?;
    }
    Ok(false)
}

async fn trickle(client: &mut Client, mut answering: Answering, bytes: usize, every: Duration) -> io::Result<bool> {
    answering.head.write(&mut client.to).await?;
    let mut body = BodyReader::new(answering.framing);
    while let Some(piece) = client.unless_gone(body.next(&mut answering.from)).await? {
        for part in piece.chunks(bytes.max(1)) {
            if client.gone_within(every).await {
                return Ok(false);
            }
            write_piece(&mut client.to, answering.framing, part).await?;
        }
    }
    finish(client, answering.framing).await
}

/// Passes lines on, or not; those that are delayed wait in a queue of their own.
async fn lines(
    client: &mut Client,
    answering: Answering,
    decide: &(dyn Fn(&str) -> LineFate + Send + Sync),
) -> io::Result<bool> {
    // The length may change: such a body is sent in chunks.
    let mut head = answering.head.with_length(0);
    head.headers.retain(|(name, _)| name != "Content-Length");
    head.headers.push(("Transfer-Encoding".into(), "chunked".into()));
    head.write(&mut client.to).await?;
    let mut cut = Cutter::default();
    let mut delayed: Vec<(Instant, String)> = Vec::new();
    // A piece that is half read must not be dropped: the future lives on over the turns of the loop.
    let mut reading = Box::pin(next_piece(BodyReader::new(answering.framing), answering.from));
    let mut ended = false;
    while !ended || !delayed.is_empty() {
        delayed.sort();
        tokio::select! {
            (piece, body, from) = &mut reading, if !ended => match piece? {
                None => ended = true,
                Some(piece) => {
                    reading.set(next_piece(body, from));
                    for line in cut.lines(&piece) {
                        match decide(&line) {
                            LineFate::Delay(time) => delayed.push((Instant::now() + time, line)),
                            LineFate::Cut => return Ok(false),
                            fate @ (LineFate::Pass | LineFate::Lose | LineFate::Double | LineFate::Replace(_)) => {
                                for line in come_of(line, fate) {
                                    write_line(client, &line).await?;
                                }
                            }
                        }
                    }
                }
            },
            () = due(delayed.first()) => {
                let (_, line) = delayed.remove(0);
                write_line(client, &line).await?;
            }
            () = gone(&mut client.from) => return Ok(false),
        }
    }
    if !cut.rest.is_empty() {
        write_piece(&mut client.to, Framing::Chunked, &cut.rest).await?;
    }
    finish(client, Framing::Chunked).await
}

type Piece = (io::Result<Option<Vec<u8>>>, BodyReader, BufReader<UnixStream>);

async fn next_piece(mut body: BodyReader, mut from: BufReader<UnixStream>) -> Piece {
    (body.next(&mut from).await, body, from)
}

/// What comes at once in the place of a line.
fn come_of(line: String, fate: LineFate) -> Vec<String> {
    match fate {
        LineFate::Pass => vec![line],
        LineFate::Double => vec![line.clone(), line],
        LineFate::Replace(other) => vec![other],
        LineFate::Lose | LineFate::Delay(_) | LineFate::Cut => Vec::new(),
    }
}

async fn due(first: Option<&(Instant, String)>) {
    match first {
        // The bound is what is waited for.
        Some((at, _)) => drop(timeout_at(*at, pending::<()>()).await),
        None => pending().await,
    }
}

async fn write_line(client: &mut Client, line: &str) -> io::Result<()> {
    write_piece(&mut client.to, Framing::Chunked, format!("{line}\n").as_bytes()).await
}

/// Cuts pieces into lines.
#[derive(Default)]
struct Cutter {
    rest: Vec<u8>,
}

impl Cutter {
    fn lines(&mut self, piece: &[u8]) -> Vec<String> {
        self.rest.extend_from_slice(piece);
        let mut lines = Vec::new();
        while let Some(end) = self.rest.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.rest.drain(..=end).collect();
            lines.push(String::from_utf8_lossy(&line).trim_end().to_owned());
        }
        lines
    }
}

/// After an upgrade both sides speak what they like.
async fn tunnel(client: &mut Client, engine: BufReader<UnixStream>) -> io::Result<bool> {
    let early = engine.buffer().to_vec();
    client.to.write_all(&early).await?;
    let mut both = tokio::io::join(&mut client.from, &mut client.to);
    copy_bidirectional(&mut both, &mut engine.into_inner()).await?;
    Ok(false)
}

impl Client {
    async fn reply(&mut self, head: Head, body: &[u8]) -> io::Result<()> {
        let head = if head.status() == 204 || head.status() == 304 { head } else { head.with_length(body.len()) };
        head.write(&mut self.to).await?;
        self.to.write_all(body).await?;
        self.to.flush().await
    }

    /// Comes to its end when the client closes the connection.
    async fn gone(&mut self) {
        gone(&mut self.from).await;
    }

    /// Waits this long; whether the client went away meanwhile.
    async fn gone_within(&mut self, time: Duration) -> bool {
        timeout(time, self.gone()).await.is_ok()
    }

    /// What the future gives, unless the client goes away first: then nothing more is to be done.
    async fn unless_gone<T>(&mut self, future: impl Future<Output = io::Result<T>>) -> io::Result<T> {
        tokio::select! {
            result = future => result,
            () = gone(&mut self.from) => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }
}

/// Bytes of a next request are no reason to end; they stay where they are.
async fn gone(from: &mut (impl AsyncBufRead + Unpin)) {
    match from.fill_buf().await {
        Ok([]) | Err(_) => {}
        Ok(_) => pending().await,
    }
}

fn seen(head: &Head) -> Seen {
    let mut words = head.first.split(' ');
    let method = words.next().unwrap_or_default().to_owned();
    let target = words.next().unwrap_or_default();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    Seen { method, path: without_version(path).to_owned(), query: query.to_owned() }
}

/// `/v1.41/containers/json` is `/containers/json`.
fn without_version(path: &str) -> &str {
    let Some(rest) = path.strip_prefix("/v") else { return path };
    match rest.find('/') {
        Some(at) if rest[..at].bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') => &rest[at..],
        Some(_) | None => path,
    }
}

fn status_line(status: u16) -> String {
    let reason = match status {
        200 => "OK",
        201 => "Created",
        204 => "No Content",
        304 => "Not Modified",
        400 => "Bad Request",
        404 => "Not Found",
        409 => "Conflict",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        503 => "Service Unavailable",
        _ => "Other",
    };
    format!("HTTP/1.1 {status} {reason}")
}

fn json() -> Vec<(String, String)> {
    vec![("Content-Type".into(), "application/json".into())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_prefixes_are_left_out_of_paths() {
        for (path, expected) in [
            ("/v1.41/containers/json", "/containers/json"),
            ("/containers/json", "/containers/json"),
            ("/volumes/x", "/volumes/x"),
            ("/v1.41", "/v1.41"),
        ] {
            assert_eq!(without_version(path), expected);
        }
    }

    #[test]
    fn lines_are_cut_across_pieces() {
        let mut cut = Cutter::default();
        assert_eq!(cut.lines(b"one\ntw"), ["one"]);
        assert_eq!(cut.lines(b"o\r\n\nthree"), ["two", ""]);
        assert_eq!(cut.rest, b"three");
    }
}
