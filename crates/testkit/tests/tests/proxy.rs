//! The proxy, with a scripted server in place of the engine: each fault, streams, and an engine that is away.

use std::{
    io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use lighterman_testkit::proxy::{Fault, LineFate, Pattern, Proxy, Reply, Rule, Seen};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::{UnixListener, UnixStream},
    sync::watch,
    time::{Instant, timeout},
};

/// Longer than anything takes that goes well.
const AMPLE: Duration = Duration::from_secs(20);
/// Long enough to see that nothing comes.
const A_WHILE: Duration = Duration::from_millis(150);

/// A proxy in front of a server that answers each path in its own way.
struct Bench {
    proxy: Proxy,
    served: Arc<AtomicUsize>,
    /// Connections to the server that are open.
    open: watch::Receiver<usize>,
    _directory: TempDir,
}

impl Bench {
    fn new() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let engine = directory.path().join("engine.sock");
        let served = Arc::new(AtomicUsize::new(0));
        let (opened, open) = watch::channel(0);
        let listener = UnixListener::bind(&engine).expect("a socket");
        tokio::spawn(serve(listener, Arc::clone(&served), opened));
        let proxy = Proxy::start(&directory.path().join("proxy.sock"), &engine).expect("a socket");
        Self { proxy, served, open, _directory: directory }
    }

    fn add(&self, method: &str, path: &str, fault: Fault) {
        self.proxy.add(Rule::new(Pattern::new(method, path), fault));
    }

    fn served(&self) -> usize {
        self.served.load(Ordering::SeqCst)
    }

    async fn get(&self, path: &str) -> io::Result<Answer> {
        request(self.proxy.socket(), &format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n")).await
    }
}

/// Serves until the test ends.
async fn serve(listener: UnixListener, served: Arc<AtomicUsize>, open: watch::Sender<usize>) {
    loop {
        let Ok((stream, _)) = listener.accept().await else { return };
        let (served, open) = (Arc::clone(&served), open.clone());
        tokio::spawn(async move {
            open.send_modify(|count| *count += 1);
            // A proxy that goes away is not this server's fault.
            let _result = serve_one(stream, &served).await;
            open.send_modify(|count| *count -= 1);
        });
    }
}

async fn serve_one(stream: UnixStream, served: &AtomicUsize) -> io::Result<()> {
    let mut stream = BufReader::new(stream);
    loop {
        let Some((line, body)) = read_request(&mut stream).await? else { return Ok(()) };
        served.fetch_add(1, Ordering::SeqCst);
        let path = line.split(' ').nth(1).unwrap_or_default().trim_start_matches("/v1.41").to_owned();
        let to = stream.get_mut();
        let fixed = |body: &str| format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        match path.split('?').next().unwrap_or_default() {
            "/hello" => to.write_all(fixed("hello world").as_bytes()).await?,
            "/echo" => to.write_all(fixed(&body).as_bytes()).await?,
            "/nothing" => to.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").await?,
            "/chunked" => {
                to.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n3\r\ndef\r\n0\r\n\r\n")
                    .await?;
            }
            "/close" => {
                to.write_all(b"HTTP/1.1 200 OK\r\n\r\nuntil the end").await?;
                return Ok(());
            }
            "/events" => {
                to.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n").await?;
                for line in ["one\n", "two\n", "three\n", "last\n"] {
                    to.write_all(format!("{:x}\r\n{line}\r\n", line.len()).as_bytes()).await?;
                }
                // The stream stays open until the other side has enough.
                let mut rest = Vec::new();
                stream.read_to_end(&mut rest).await?;
                return Ok(());
            }
            "/upgrade" => {
                to.write_all(b"HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\n\r\n").await?;
                let mut line = String::new();
                stream.read_line(&mut line).await?;
                stream.get_mut().write_all(format!("you said {line}").as_bytes()).await?;
                return Ok(());
            }
            _ => to.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n").await?,
        }
    }
}

/// The request line and the body; `None` when the other side is done.
async fn read_request(stream: &mut BufReader<UnixStream>) -> io::Result<Option<(String, String)>> {
    let (mut first, mut length, mut chunked) = (String::new(), 0, false);
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await? == 0 {
            return Ok(None);
        }
        let line = line.trim_end().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if first.is_empty() {
            first.clone_from(&line);
        }
        if let Some(value) = line.strip_prefix("content-length: ") {
            length = value.parse().map_err(io::Error::other)?;
        }
        chunked |= line == "transfer-encoding: chunked";
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await?;
    while chunked {
        let mut size = String::new();
        stream.read_line(&mut size).await?;
        let size = usize::from_str_radix(size.trim(), 16).map_err(io::Error::other)?;
        let mut piece = vec![0; size + 2];
        stream.read_exact(&mut piece).await?;
        body.extend_from_slice(&piece[..size]);
        chunked = size > 0;
    }
    Ok(Some((first, String::from_utf8_lossy(&body).into_owned())))
}

/// An answer as a client reads it: status and raw body, with its framing.
#[derive(Debug, PartialEq, Eq)]
struct Answer {
    status: String,
    body: String,
}

/// Sends one request, closes the sending half later, and reads to the end of the answer or of the connection.
async fn request(socket: &Path, text: &str) -> io::Result<Answer> {
    let mut stream = UnixStream::connect(socket).await?;
    stream.write_all(text.as_bytes()).await?;
    timeout(AMPLE, read_answer(&mut stream)).await.expect("an answer, or an end")
}

/// Reads one answer; an end before it is complete gives what there was.
async fn read_answer(stream: &mut UnixStream) -> io::Result<Answer> {
    let mut stream = BufReader::new(stream);
    let (mut status, mut length, mut chunked) = (String::new(), None, false);
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await? == 0 {
            return Ok(Answer { status: "closed".into(), body: String::new() });
        }
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        if status.is_empty() {
            status = line.split(' ').nth(1).unwrap_or_default().to_owned();
        }
        let line = line.to_ascii_lowercase();
        length = line.strip_prefix("content-length: ").map_or(length, |value| value.parse::<usize>().ok());
        chunked |= line == "transfer-encoding: chunked";
    }
    let mut body = String::new();
    match length {
        _ if chunked => loop {
            let mut size = String::new();
            if stream.read_line(&mut size).await? == 0 {
                body += "|cut";
                break;
            }
            let size = usize::from_str_radix(size.trim(), 16).map_err(io::Error::other)?;
            let mut piece = vec![0; size + 2];
            stream.read_exact(&mut piece).await?;
            if size == 0 {
                break;
            }
            body += &String::from_utf8_lossy(&piece[..size]);
        },
        Some(length) => {
            let mut bytes = vec![0; length];
            for at in 0..length {
                if stream.read(&mut bytes[at..=at]).await? == 0 {
                    bytes.truncate(at);
                    body += &String::from_utf8_lossy(&bytes);
                    return Ok(Answer { status, body: body + "|cut" });
                }
            }
            body += &String::from_utf8_lossy(&bytes);
        }
        None if status == "204" || status == "304" => {}
        None => {
            stream.read_to_string(&mut body).await?;
        }
    }
    Ok(Answer { status, body })
}

fn ok(body: &str) -> Answer {
    Answer { status: "200".into(), body: body.into() }
}

fn closed() -> Answer {
    Answer { status: "closed".into(), body: String::new() }
}

#[tokio::test]
async fn without_rules_everything_passes() {
    let bench = Bench::new();
    assert_eq!(bench.get("/v1.41/hello?x=1").await.unwrap(), ok("hello world"));
    assert_eq!(bench.get("/chunked").await.unwrap(), ok("abcdef"));
    assert_eq!(bench.get("/close").await.unwrap(), ok("until the end"));
    assert_eq!(bench.get("/nothing").await.unwrap().status, "204");
    assert_eq!(bench.get("/missing").await.unwrap().status, "404");
    let seen = |path: &str, query: &str| Seen { method: "GET".into(), path: path.into(), query: query.into() };
    let requests = bench.proxy.requests();
    assert_eq!(requests[..2], [seen("/hello", "x=1"), seen("/chunked", "")]);
    assert_eq!((requests.len(), bench.served()), (5, 5));
}

#[tokio::test]
async fn bodies_of_requests_pass_in_either_framing() {
    let bench = Bench::new();
    let fixed = "POST /echo HTTP/1.1\r\nContent-Length: 4\r\n\r\nbody";
    assert_eq!(request(bench.proxy.socket(), fixed).await.unwrap(), ok("body"));
    let chunked = "POST /echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nch\r\n4\r\nunks\r\n0\r\n\r\n";
    assert_eq!(request(bench.proxy.socket(), chunked).await.unwrap(), ok("chunks"));
}

#[tokio::test]
async fn a_connection_can_be_used_again() {
    let bench = Bench::new();
    let mut stream = UnixStream::connect(bench.proxy.socket()).await.unwrap();
    for _ in 0..3 {
        stream.write_all(b"GET /hello HTTP/1.1\r\n\r\n").await.unwrap();
        assert_eq!(timeout(AMPLE, read_answer(&mut stream)).await.unwrap().unwrap(), ok("hello world"));
    }
}

#[tokio::test]
async fn an_upgrade_becomes_a_tunnel() {
    let bench = Bench::new();
    let mut stream = UnixStream::connect(bench.proxy.socket()).await.unwrap();
    stream.write_all(b"POST /upgrade HTTP/1.1\r\n\r\n").await.unwrap();
    stream.write_all(b"hi\n").await.unwrap();
    let mut all = String::new();
    timeout(AMPLE, stream.read_to_string(&mut all)).await.unwrap().unwrap();
    assert!(all.starts_with("HTTP/1.1 101") && all.ends_with("you said hi\n"), "{all}");
}

#[tokio::test]
async fn delay_of_a_request_and_of_an_answer() {
    for fault in [Fault::DelayRequest(A_WHILE), Fault::DelayAnswer(A_WHILE)] {
        let bench = Bench::new();
        let late = matches!(fault, Fault::DelayRequest(_));
        bench.add("GET", "/hello", fault);
        let begun = Instant::now();
        let mut answer = Box::pin(bench.get("/hello"));
        assert!(timeout(A_WHILE / 2, &mut answer).await.is_err());
        assert_eq!(bench.served(), usize::from(!late));
        assert_eq!(answer.await.unwrap(), ok("hello world"));
        assert!(begun.elapsed() >= A_WHILE);
    }
}

#[tokio::test]
async fn hang_and_drop_answer_never_answer() {
    for (fault, served) in [(Fault::Hang, 0), (Fault::DropAnswer, 1)] {
        let bench = Bench::new();
        bench.add("GET", "/hello", fault);
        assert!(timeout(A_WHILE, bench.get("/hello")).await.is_err());
        assert_eq!(bench.served(), served);
    }
}

#[tokio::test]
async fn cut_before_and_after() {
    for (fault, served) in [(Fault::CutBefore, 0), (Fault::CutAfter, 1)] {
        let bench = Bench::new();
        bench.add("GET", "/hello", fault);
        assert_eq!(bench.get("/hello").await.unwrap(), closed());
        assert_eq!(bench.served(), served);
    }
}

#[tokio::test]
async fn cut_in_the_middle_of_a_body() {
    for (path, expected) in [("/hello", "hello|cut"), ("/chunked", "abcde|cut"), ("/close", "until")] {
        let bench = Bench::new();
        bench.add("GET", path, Fault::CutBody(5));
        assert_eq!(bench.get(path).await.unwrap(), ok(expected));
    }
    let bench = Bench::new();
    bench.add("GET", "/hello", Fault::CutBody(0));
    assert_eq!(bench.get("/hello").await.unwrap(), ok("|cut"));
}

#[tokio::test]
async fn trickle_sends_piece_by_piece() {
    let bench = Bench::new();
    bench.add("GET", "/hello", Fault::Trickle(4, Duration::from_millis(20)));
    let begun = Instant::now();
    assert_eq!(bench.get("/hello").await.unwrap(), ok("hello world"));
    assert!(begun.elapsed() >= Duration::from_millis(60), "three pieces");
}

#[tokio::test]
async fn an_answer_in_place_of_the_engines() {
    let bench = Bench::new();
    bench.add("POST", "/echo", Fault::answer(500, "{\"message\":\"no\"}"));
    let post = "POST /echo HTTP/1.1\r\nContent-Length: 4\r\n\r\nbody";
    let answer = request(bench.proxy.socket(), post).await.unwrap();
    assert_eq!((&*answer.status, &*answer.body, bench.served()), ("500", "{\"message\":\"no\"}", 0));
}

#[tokio::test]
async fn an_answer_that_is_changed() {
    let bench = Bench::new();
    let change = |reply: Reply| Reply { status: 201, body: [reply.body.as_slice(), b" and more"].concat() };
    bench.add("GET", "/*", Fault::rewrite(change));
    for (path, body) in [("/hello", "hello world and more"), ("/chunked", "abcdef and more")] {
        let answer = bench.get(path).await.unwrap();
        assert_eq!((&*answer.status, &*answer.body), ("201", body));
    }
}

/// Reads the stream of events up to this text; what follows `|` are two lines that came later.
async fn events(bench: &Bench, end: &str) -> String {
    let mut stream = UnixStream::connect(bench.proxy.socket()).await.expect("a connection");
    stream.write_all(b"GET /events HTTP/1.1\r\n\r\n").await.expect("the connection stands");
    let reading = async {
        let mut all = String::new();
        let mut piece = [0; 256];
        while !all.contains(end) {
            let length = stream.read(&mut piece).await.expect("the connection stands");
            if length == 0 {
                all += "|cut";
                break;
            }
            all += &String::from_utf8_lossy(&piece[..length]);
        }
        all
    };
    let all = timeout(AMPLE, reading).await.expect("the line comes");
    let (_, body) = all.split_once("\r\n\r\n").expect("a head");
    let lines = body.lines().filter(|line| !line.is_empty() && u32::from_str_radix(line, 16).is_err());
    lines.collect::<Vec<_>>().join(" ")
}

#[tokio::test]
async fn lines_of_a_stream_are_lost_doubled_delayed_and_replaced() {
    let cases: [(LineFate, &str, &str); 6] = [
        (LineFate::Pass, "last", "one two three last"),
        (LineFate::Lose, "last", "one three last"),
        (LineFate::Double, "last", "one two two three last"),
        (LineFate::Delay(A_WHILE), "two", "one three last two"),
        (LineFate::Replace("other".into()), "last", "one other three last"),
        (LineFate::Cut, "last", "one |cut"),
    ];
    for (fate, end, expected) in cases {
        let bench = Bench::new();
        let chosen = fate.clone();
        let decide = move |line: &str| if line == "two" { chosen.clone() } else { LineFate::Pass };
        bench.add("GET", "/events", Fault::lines(decide));
        assert_eq!(events(&bench, end).await, expected, "{fate:?}");
    }
}

#[tokio::test]
async fn a_delayed_line_comes_though_the_stream_has_ended() {
    let bench = Bench::new();
    bench.add("GET", "/close", Fault::lines(|_| LineFate::Delay(A_WHILE)));
    bench.add("GET", "/chunked", Fault::lines(|_| LineFate::Delay(A_WHILE)));
    assert_eq!(bench.get("/close").await.unwrap(), ok("until the end"), "it has no line feed, so it is no line");
    assert_eq!(bench.get("/chunked").await.unwrap(), ok("abcdef"));
}

#[tokio::test]
async fn a_client_that_leaves_a_stream_ends_it_at_the_engine() {
    let bench = Bench::new();
    assert_eq!(events(&bench, "last").await, "one two three last");
    let mut open = bench.open.clone();
    timeout(AMPLE, open.wait_for(|open| *open == 0)).await.expect("the proxy lets go").unwrap();
}

#[tokio::test]
async fn rules_come_and_go_and_count() {
    let bench = Bench::new();
    let hello = Pattern::new("GET", "/hello");
    let id = bench.proxy.add(Rule::new(hello.clone(), Fault::answer(418, "")).skip(1).times(1));
    for expected in ["200", "418", "200"] {
        assert_eq!(bench.get("/hello").await.unwrap().status, expected);
    }
    bench.proxy.remove(id);
    let first = bench.proxy.add(Rule::new(hello.clone(), Fault::answer(418, "")));
    bench.proxy.add(Rule::new(Pattern::any(), Fault::answer(419, "")));
    assert_eq!(bench.get("/hello").await.unwrap().status, "418");
    bench.proxy.remove(first);
    assert_eq!(bench.get("/hello").await.unwrap().status, "419");
    bench.proxy.clear();
    assert_eq!(bench.get("/hello").await.unwrap().status, "200");
    assert_eq!((bench.proxy.count(&hello), bench.proxy.count(&Pattern::new("POST", "/hello"))), (6, 0));
}

#[tokio::test]
async fn paused_it_takes_connections_and_serves_them_later() {
    let bench = Bench::new();
    bench.proxy.pause();
    let hello = Pattern::new("GET", "/hello");
    let mut answer = Box::pin(bench.get("/hello"));
    tokio::select! {
        answer = &mut answer => panic!("{answer:?}"),
        seen = timeout(AMPLE, bench.proxy.seen(&hello, 1)) => seen.expect("the request is seen"),
    }
    assert_eq!(bench.served(), 0);
    bench.proxy.resume();
    assert_eq!(answer.await.unwrap(), ok("hello world"));
}

#[tokio::test]
async fn an_engine_that_goes_away_breaks_connections_and_refuses_new_ones() {
    let bench = Bench::new();
    let mut stream = UnixStream::connect(bench.proxy.socket()).await.unwrap();
    stream.write_all(b"GET /events HTTP/1.1\r\n\r\n").await.unwrap();
    bench.proxy.seen(&Pattern::any(), 1).await;
    bench.proxy.go_away().await;
    let mut rest = Vec::new();
    timeout(AMPLE, stream.read_to_end(&mut rest)).await.expect("the stream breaks").unwrap();
    assert_eq!(bench.get("/hello").await.unwrap_err().kind(), io::ErrorKind::ConnectionRefused);
    bench.proxy.come_back().unwrap();
    bench.proxy.come_back().unwrap();
    assert_eq!(bench.get("/hello").await.unwrap(), ok("hello world"));
}

#[tokio::test]
async fn without_an_engine_behind_it_connections_are_closed() {
    let directory = tempfile::tempdir().unwrap();
    let socket: PathBuf = directory.path().join("proxy.sock");
    let proxy = Proxy::start(&socket, &directory.path().join("nobody.sock")).unwrap();
    assert_eq!(request(&socket, "GET / HTTP/1.1\r\n\r\n").await.unwrap(), closed());
    drop(proxy);
    assert!(!socket.exists());
    assert!(Proxy::start(Path::new("/nonexistent/x.sock"), &socket).is_err());
}
