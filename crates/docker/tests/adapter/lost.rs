//! Contact lost in every way there is: the outcome is unknown, in bounded time.

use std::time::Duration;

use lighterman_calls::{Lost, LostCause, Outcome, RefusalClass};
use lighterman_contracts::ContainerRuntime;
use lighterman_docker::{Docker, DockerHost};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::stage::{AMPLE, Play, Stage, answer, bare, chunk, head, lost, refusal, target};

/// What an inspect makes of one play.
async fn inspected(play: Play, limit: Duration) -> Lost {
    let stage = Stage::new();
    let docker = stage.docker();
    let outcome = stage.play(vec![play], docker.inspect(&target(), limit)).await;
    assert!(stage.lines().len() <= 1, "one call is at most one request");
    lost(outcome)
}

#[tokio::test]
async fn a_missing_socket_is_unreachable_until_it_is_there() {
    let stage = Stage::new();
    let docker = stage.docker();
    for outcome in [docker.ping(AMPLE).await, docker.start(&target(), AMPLE).await] {
        let lost = lost(outcome);
        assert_eq!(lost.cause, LostCause::Unreachable);
        assert!(lost.text.contains("engine.sock"), "names the address: {}", lost.text);
    }
    // The same client works as soon as an engine listens.
    let outcome = stage.play(vec![Play::Say(answer(200, "OK"))], docker.ping(AMPLE)).await;
    assert_eq!(outcome, Outcome::Done(()));
}

#[tokio::test]
async fn a_socket_without_a_listener_is_unreachable() {
    let stage = Stage::new();
    drop(tokio::net::UnixListener::bind(stage.socket()).unwrap());
    assert!(stage.socket().exists());
    let outcome = stage.docker().start(&target(), AMPLE).await;
    assert_eq!(lost(outcome).cause, LostCause::Unreachable);
}

#[tokio::test]
async fn an_engine_over_tcp_is_reached_the_same_way() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let docker = Docker::connect(DockerHost::parse(&format!("tcp://{address}")).unwrap());
    let serving = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut heard = vec![0; 4_096];
        let length = stream.read(&mut heard).await.unwrap();
        stream.write_all(&answer(200, "OK")).await.unwrap();
        String::from_utf8(heard[..length].to_vec()).unwrap().to_ascii_lowercase()
    };
    let (outcome, heard) = tokio::join!(docker.ping(AMPLE), serving);
    assert_eq!(outcome, Outcome::Done(()));
    assert!(heard.contains(&format!("host: {address}\r\n")), "{heard}");
    drop(listener);
    assert_eq!(lost(docker.ping(AMPLE).await).cause, LostCause::Unreachable);
}

#[tokio::test]
async fn b026_an_answer_that_is_cut_off_is_unknown() {
    let body = r#"{"Id":"ab","Name":"/web"}"#;
    let whole = answer(200, body);
    let chunked = [head(), chunk(&body[..10])].concat();
    let plays = [
        ("before the answer", Vec::new()),
        ("inside the status line", b"HTTP/1.1 20".to_vec()),
        ("inside the headers", b"HTTP/1.1 200 OK\r\nContent-Le".to_vec()),
        ("before the body", whole[..whole.len() - body.len()].to_vec()),
        ("inside the body", whole[..whole.len() - 5].to_vec()),
        ("between chunks", chunked.clone()),
        ("inside a chunk", chunked[..chunked.len() - 5].to_vec()),
        ("inside a body that ends with the connection", format!("HTTP/1.1 200 OK\r\n\r\n{}", &body[..12]).into_bytes()),
        ("inside the text of a refusal", {
            let refusal = refusal(409, "the container name is already in use");
            refusal[..refusal.len() - 5].to_vec()
        }),
    ];
    for (place, bytes) in plays {
        let lost = inspected(Play::Say(bytes), AMPLE).await;
        assert_eq!(lost.cause, LostCause::ConnectionLost, "{place}: {}", lost.text);
    }
}

#[tokio::test]
async fn b026_a_start_without_an_answer_is_not_a_failure() {
    let stage = Stage::new();
    let docker = stage.docker();
    let outcome = stage.play(vec![Play::Say(Vec::new())], docker.start(&target(), AMPLE)).await;
    assert_eq!(lost(outcome).cause, LostCause::ConnectionLost);
    assert_eq!(stage.lines().len(), 1, "never sent again");
}

#[tokio::test]
async fn garbage_is_told_from_a_lost_connection() {
    let plays = [
        ("not HTTP", Play::Say(b"SSH-2.0-OpenSSH_9.2\r\n".to_vec())),
        ("noise", Play::Say((0u8..=255).cycle().take(2_000).collect())),
        ("a greeting", Play::Greet(b"220 mail.test ESMTP\r\n".to_vec())),
        ("not JSON", Play::Say(answer(200, "<html>fine</html>"))),
        ("other JSON", Play::Say(answer(200, "[1,2,3]"))),
        ("no members", Play::Say(answer(200, "{}"))),
        ("an id that is a path", Play::Say(answer(200, r#"{"Id":"../x","Name":"/web","State":{}}"#))),
        ("a broken chunk", Play::Say([head(), b"zz\r\n{}\r\n".to_vec()].concat())),
        ("a redirection", Play::Say(bare(301))),
        ("a page of somebody else", Play::Say(answer(404, "404 page not found"))),
    ];
    for (what, play) in plays {
        let lost = inspected(play, AMPLE).await;
        assert_eq!(lost.cause, LostCause::Garbled, "{what}: {}", lost.text);
    }
}

#[tokio::test]
async fn an_answer_without_end_is_refused_by_its_size() {
    let line = vec![b' '; 1 << 20];
    let pieces = std::iter::once(b"HTTP/1.1 500 Broken\r\n\r\n".to_vec()).chain(vec![line; 3]).collect();
    let lost = inspected(Play::Trickle(Duration::ZERO, pieces), AMPLE).await;
    assert_eq!(lost.cause, LostCause::Garbled);
}

#[tokio::test]
async fn the_limit_is_around_the_whole_call() {
    let limit = Duration::from_millis(150);
    let spaces = vec![b" ".to_vec(); 1_000];
    let trickle = std::iter::once(b"HTTP/1.1 200 OK\r\n\r\n".to_vec()).chain(spaces).collect();
    let plays = [
        ("no answer", Play::Hold(Vec::new())),
        ("half a head", Play::Hold(b"HTTP/1.1 200 OK\r\n".to_vec())),
        ("a head without its body", Play::Hold(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n".to_vec())),
        ("half a body", Play::Hold([head(), chunk("{\"Id\":")].concat())),
        ("half a refusal", Play::Hold(b"HTTP/1.1 500 Broken\r\nContent-Length: 9\r\n\r\n{".to_vec())),
        ("a byte now and then", Play::Trickle(Duration::from_millis(20), trickle)),
    ];
    for (what, play) in plays {
        let (lost, took) = timed(inspected(play, limit)).await;
        assert_eq!(lost.cause, LostCause::TimedOut(limit), "{what}");
        // Twenty times the limit: room for a busy machine, none for another limit.
        assert!((limit..limit * 20).contains(&took), "{what}: gave up after {took:?}");
    }
}

#[tokio::test]
async fn half_a_second_is_not_no_time() {
    // bollard's limit is in whole seconds: half of one becomes none, and nothing works.
    let stage = Stage::new();
    let docker = stage.docker();
    let slow = Play::Trickle(Duration::from_millis(100), vec![answer(200, "OK")]);
    let outcome = stage.play(vec![slow], docker.ping(Duration::from_millis(500))).await;
    assert_eq!(outcome, Outcome::Done(()));
}

#[tokio::test]
async fn a_call_that_is_given_up_closes_its_connection() {
    let stage = Stage::new();
    let docker = stage.docker();
    let plays = vec![Play::Hold(Vec::new()), Play::Say(answer(200, "OK"))];
    let limit = Duration::from_millis(50);
    let outcomes = stage.play(plays, async { (docker.ping(limit).await, docker.ping(AMPLE).await) });
    let (first, second) = outcomes.await;
    assert_eq!(lost(first).cause, LostCause::TimedOut(limit));
    // The engine plays one connection after the other: it went on because the first was closed.
    assert_eq!((second, stage.closed()), (Outcome::Done(()), 1));
}

#[tokio::test]
async fn statuses_become_outcomes() {
    let stage = Stage::new();
    let docker = stage.docker();
    let taken = "Conflict. The container name \"/web\" is already in use by container \"ab\".";
    let plays = vec![
        Play::Say(bare(204)),
        Play::Say(bare(304)),
        Play::Say(refusal(404, &format!("No such container: {}", target()))),
        Play::Say(refusal(404, "network x not found")),
        Play::Say(refusal(409, taken)),
        Play::Say(refusal(500, "write /x:\n no space left on device")),
    ];
    let run = async {
        let mut outcomes = Vec::new();
        for _ in 0..6 {
            outcomes.push(docker.start(&target(), AMPLE).await);
        }
        outcomes
    };
    let outcomes = stage.play(plays, run).await;
    assert_eq!(outcomes[..3], [Outcome::Done(()), Outcome::Done(()), Outcome::Gone]);
    let classes: Vec<RefusalClass> = outcomes[3..]
        .iter()
        .map(|outcome| match outcome {
            Outcome::Refused(refusal) => refusal.class,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(classes, [RefusalClass::NotFound, RefusalClass::Conflict, RefusalClass::NoSpace]);
    assert_eq!(stage.lines().len(), 6, "one request per call");
}

#[expect(clippy::disallowed_methods, reason = "the test measures the limit itself")]
async fn timed<T>(work: impl Future<Output = T>) -> (T, Duration) {
    let start = std::time::Instant::now();
    (work.await, start.elapsed())
}
