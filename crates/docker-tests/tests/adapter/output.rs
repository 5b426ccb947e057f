//! Logs.

use futures_util::StreamExt as _;
use lighterman_calls::{ContainerTarget, LogConfig, Outcome, RefusalClass};
use lighterman_contracts::{ContainerRuntime, LogRequest, LogSource, LogStream};
use lighterman_docker_tests::{AMPLE, Fixture, on_engine};
use lighterman_ids::Wall;
use tokio::time::timeout;

/// What was written to each stream.
async fn output(fixture: &Fixture, request: LogRequest) -> (String, String) {
    let reading = fixture.docker().logs(request).fold((Vec::new(), Vec::new()), async |(mut out, mut err), chunk| {
        let chunk = chunk.unwrap();
        match chunk.stream {
            LogStream::Stdout => out.extend(chunk.bytes),
            LogStream::Stderr => err.extend(chunk.bytes),
        }
        (out, err)
    });
    let (out, err) = timeout(AMPLE, reading).await.unwrap();
    (String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap())
}

fn all(container: &ContainerTarget, follow: bool) -> LogRequest {
    LogRequest { container: container.clone(), follow, since: None, tty: false }
}

const SPEAK: &[&str] = &["print", "one", "+", "eprint", "two", "+", "sleep", "0.2", "+", "print", "three"];

#[tokio::test]
async fn output_is_followed_to_its_end_in_its_streams() {
    on_engine(async |fixture| {
        let container = fixture.run("speak", SPEAK).await;
        // Followed while it runs; the stream ends by itself with the container.
        let expected = ("one\nthree\n".to_owned(), "two\n".to_owned());
        assert_eq!(output(fixture, all(&container, true)).await, expected);
        fixture.until_ended(&container).await;
        // And read afterwards.
        assert_eq!(output(fixture, all(&container, false)).await, expected);
    })
    .await;
}

#[tokio::test]
async fn output_since_an_instant_leaves_out_what_was_before() {
    on_engine(async |fixture| {
        let container = fixture.run("speak", SPEAK).await;
        fixture.until_ended(&container).await;
        let started = fixture.facts(&container).await.started_at.unwrap();
        // 100 ms after its start: between the lines, which whole seconds could not tell apart.
        let since = Some(Wall(started.0 + 100_000_000));
        let (out, err) = output(fixture, LogRequest { since, ..all(&container, false) }).await;
        assert_eq!((out.as_str(), err.as_str()), ("three\n", ""));
    })
    .await;
}

#[tokio::test]
async fn a_terminals_output_comes_raw() {
    on_engine(async |fixture| {
        let mut request = fixture.request("terminal", SPEAK);
        request.config.tty = true;
        let container = fixture.create(&request).await;
        fixture.start(&container).await;
        let (out, err) = output(fixture, LogRequest { tty: true, ..all(&container, true) }).await;
        assert_eq!((out.as_str(), err.as_str()), ("one\r\ntwo\r\nthree\r\n", ""));
    })
    .await;
}

#[tokio::test]
async fn much_output_arrives_whole() {
    on_engine(async |fixture| {
        // Lines of 40 KB, longer than the engine's own record and than a frame.
        let container = fixture.run("much", &["write", "8000000", "1", "40000"]).await;
        let (out, err) = output(fixture, all(&container, true)).await;
        fixture.until_ended(&container).await;
        let (read_again, _) = output(fixture, all(&container, false)).await;
        assert!(out.len() > 1_000_000, "{} bytes", out.len());
        assert!(out == read_again && err.is_empty(), "followed {} bytes, read {}", out.len(), read_again.len());
    })
    .await;
}

#[tokio::test]
async fn output_that_cannot_be_had_says_why() {
    on_engine(async |fixture| {
        let mut request = fixture.request("unread", &["exit", "0"]);
        request.host.log = Some(LogConfig { driver: "none".into(), options: std::collections::BTreeMap::new() });
        let container = fixture.create(&request).await;
        fixture.start(&container).await;
        fixture.until_ended(&container).await;
        let items = fixture.docker().logs(all(&container, false)).collect::<Vec<_>>().await;
        let [Err(Outcome::Refused(refusal))] = &items[..] else { panic!("{items:?}") };
        assert_eq!(refusal.class, RefusalClass::Unsupported, "{refusal}");
        assert_eq!(fixture.docker().remove(&container, AMPLE).await, Outcome::Done(()));
        let items = fixture.docker().logs(all(&container, true)).collect::<Vec<_>>().await;
        assert_eq!(items, [Err(Outcome::Gone)]);
    })
    .await;
}
