//! The smallest HTTP that browsers and agents understand.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    net::{Ipv4Addr, TcpListener, TcpStream},
    thread,
    time::Duration,
};

use lighterman_testbox::Url;

use crate::{
    Failure,
    act::{print, print_line},
};

/// How long a peer may be silent; the end of a health check or of a lost connection.
const SILENCE: Duration = Duration::from_secs(5);

/// Longest head of a request or an answer; servers commonly take 8 to 16 KiB.
const HEAD_LIMIT: u64 = 16_384;

/// Answers until the program ends.
pub(crate) fn serve(port: u16, text: &str) -> Result<(), Failure> {
    let listener =
        TcpListener::bind((Ipv4Addr::UNSPECIFIED, port)).map_err(Failure::to(format!("listen on {port}")))?;
    let port = listener.local_addr().map_err(Failure::to("find out the port"))?.port();
    print_line(format!("listening on {port}").as_ref())?;
    loop {
        // Neither ends the service: a peer that left before it was accepted, a host out of
        // descriptors or threads. The peer sees a closed connection.
        let Ok((stream, _)) = listener.accept() else { continue };
        let body = format!("{text}\n");
        thread::Builder::new().spawn(move || answer(&stream, &body)).ok();
    }
}

fn answer(stream: &TcpStream, body: &str) -> io::Result<()> {
    limit(stream)?;
    let mut head = BufReader::new(stream).take(HEAD_LIMIT);
    let mut request = String::new();
    head.read_line(&mut request)?;
    let mut line = String::new();
    while head.read_line(&mut line)? > 2 {
        line.clear();
    }
    let (status, body, length) = match request.split(' ').next() {
        Some("GET") => ("200 OK", body, body.len()),
        Some("HEAD") => ("200 OK", "", body.len()),
        Some(_) | None => ("405 Method Not Allowed", "", 0),
    };
    let answer = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {length}\r\n\
         Connection: close\r\n\r\n{body}"
    );
    (&*stream).write_all(answer.as_bytes())
}

fn limit(stream: &TcpStream) -> io::Result<()> {
    stream.set_read_timeout(Some(SILENCE))?;
    stream.set_write_timeout(Some(SILENCE))
}

/// Prints the body; asks in HTTP/1.0, so that it comes unchunked and ends with the connection.
pub(crate) fn fetch(url: &Url) -> Result<(), Failure> {
    let what = format!("fetch from {}:{}", url.host, url.port);
    let (status, mut body) = request(url).map_err(Failure::to(&*what))?;
    let mut content = Vec::new();
    body.read_to_end(&mut content).map_err(Failure::to(&*what))?;
    print(&content)?;
    if status.split(' ').nth(1) == Some("200") {
        return Ok(());
    }
    Err(Failure::to(what)(format!("the answer is {:?}", status.trim_end())))
}

/// The status line, and the connection where the body begins.
fn request(url: &Url) -> io::Result<(String, impl Read)> {
    let stream = TcpStream::connect((&*url.host, url.port))?;
    limit(&stream)?;
    let request = format!("GET {} HTTP/1.0\r\nHost: {}\r\nConnection: close\r\n\r\n", url.path, authority(url));
    (&stream).write_all(request.as_bytes())?;
    let mut head = BufReader::new(stream).take(HEAD_LIMIT);
    let mut status = String::new();
    head.read_line(&mut status)?;
    let mut line = String::new();
    while head.read_line(&mut line)? > 2 {
        line.clear();
    }
    Ok((status, head.into_inner()))
}

fn authority(url: &Url) -> String {
    if url.host.contains(':') { format!("[{}]:{}", url.host, url.port) } else { format!("{}:{}", url.host, url.port) }
}
