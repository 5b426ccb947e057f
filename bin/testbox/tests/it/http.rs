//! Serving and fetching.

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    thread,
};

use rustix::process::Signal;

use crate::process::{Running, result, run};

fn serve(text: &str) -> (Running, u16) {
    let mut running = Running::start(format!("serve 0 {text}").trim_end());
    let port = running.line().strip_prefix("listening on ").unwrap().trim().parse().unwrap();
    (running, port)
}

fn exchange(port: u16, request: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn a_served_text_can_be_fetched_until_term_ends_it_with_0() {
    let (mut running, port) = serve("hello");
    let url = format!("http://localhost:{port}/any/path?at=all");
    for _ in 0..3 {
        assert_eq!(result(&format!("fetch {url}")), (Some(0), "hello\n".to_owned()));
    }
    running.send(Signal::TERM);
    assert_eq!(running.wait().code(), Some(0));
    let refused = run(&format!("fetch {url}"));
    assert_eq!(refused.status.code(), Some(1));
    let words = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(words, format!("testbox: cannot fetch from localhost:{port}: Connection refused (os error 111)\n"));
}

#[test]
fn answers_are_plain_http() {
    let (_running, port) = serve("");
    let head =
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 3\r\nConnection: close\r\n\r\n";
    assert_eq!(exchange(port, "GET / HTTP/1.1\r\nHost: a\r\nX: y\r\n\r\n"), format!("{head}ok\n"));
    assert_eq!(exchange(port, "HEAD / HTTP/1.1\r\nHost: a\r\n\r\n"), head);
    assert!(exchange(port, "PUT / HTTP/1.1\r\nHost: a\r\n\r\n").starts_with("HTTP/1.1 405 Method Not Allowed\r\n"));
}

#[test]
fn a_silent_connection_does_not_hold_up_another() {
    let (_running, port) = serve("");
    let _silent = TcpStream::connect(("127.0.0.1", port)).unwrap();
    assert_eq!(result(&format!("fetch http://127.0.0.1:{port}/")), (Some(0), "ok\n".to_owned()));
}

#[test]
fn a_port_that_is_taken_is_a_failure() {
    let (_running, port) = serve("");
    let output = run(&format!("serve {port}"));
    assert_eq!(output.status.code(), Some(1));
    let words = String::from_utf8(output.stderr).unwrap();
    assert_eq!(words, format!("testbox: cannot listen on {port}: Address already in use (os error 98)\n"));
}

/// Answers one request with these bytes, and hands out what was asked.
fn fetch_from(answer: &'static str) -> (std::process::Output, String) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let served = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = [0; 1024];
        let length = stream.read(&mut request).unwrap();
        stream.write_all(answer.as_bytes()).unwrap();
        String::from_utf8(request[..length].to_vec()).unwrap().replace(&port.to_string(), "PORT")
    });
    let output = run(&format!("fetch http://127.0.0.1:{port}/a?b"));
    (output, served.join().unwrap())
}

#[test]
fn fetch_prints_the_body_and_judges_the_status() {
    let (output, request) = fetch_from("HTTP/1.1 200 OK\r\nA: b\r\n\r\nbody\r\n\r\nend");
    assert_eq!(request, "GET /a?b HTTP/1.0\r\nHost: 127.0.0.1:PORT\r\nConnection: close\r\n\r\n");
    assert_eq!((output.status.code(), &*output.stdout), (Some(0), &b"body\r\n\r\nend"[..]));

    let (output, _) = fetch_from("HTTP/1.0 503 Not Yet\r\n\r\nsorry");
    assert_eq!((output.status.code(), &*output.stdout), (Some(1), &b"sorry"[..]));
    assert!(String::from_utf8(output.stderr).unwrap().contains(r#"the answer is "HTTP/1.0 503 Not Yet""#));

    let (output, _) = fetch_from("");
    assert_eq!(output.status.code(), Some(1));
}
