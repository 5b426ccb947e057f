//! Pull, watch and logs.

use std::{pin::pin, time::Duration};

use futures_util::StreamExt as _;
use lighterman_calls::{EventAction, LostCause, Outcome, PullLimits, PullStep, RefusalClass, RuntimeEvent, Watched};
use lighterman_contracts::{ContainerRuntime, LogChunk, LogRequest, LogSource, LogStream};
use lighterman_ids::{ImageRef, RuntimeId, Wall};
use tokio::time::timeout;

use crate::stage::{AMPLE, ID, Play, Stage, answer, bare, chunk, chunked, end, head, instance, lost, refusal, target};

const SHORT: Duration = Duration::from_millis(150);
const PAUSE: Duration = Duration::from_millis(50);

fn progress(current: u64) -> String {
    format!(
        "{{\"status\":\"Downloading\",\"id\":\"ab12\",\"progressDetail\":{{\"current\":{current},\"total\":9}}}}\r\n"
    )
}

/// How many steps of progress a pull shows, and how it ends.
async fn pulled(play: Play, limits: PullLimits, limit: Duration) -> (usize, Outcome<()>) {
    let stage = Stage::new();
    let docker = stage.docker();
    let image = ImageRef::parse("web:1").unwrap();
    let steps = docker.pull(&image, None, limits, limit).collect::<Vec<_>>();
    let mut steps = stage.play(vec![play], steps).await;
    assert_eq!(stage.lines().len(), 1, "a pull is never begun again");
    let Some(PullStep::End(end)) = steps.pop() else { panic!("the last step must be the end") };
    assert!(steps.iter().all(|step| matches!(step, PullStep::Progress(_))), "{steps:?}");
    (steps.len(), end)
}

const ALL: PullLimits = PullLimits { first_progress: AMPLE, inactivity: AMPLE };

#[tokio::test]
async fn a_pull_shows_progress_and_its_end() {
    let body = [progress(1), progress(2)].concat();
    let (seen, end) = pulled(Play::Say(chunked(&[body.as_bytes(), b"{\"status\":\"Done\"}"])), ALL, AMPLE).await;
    assert_eq!((seen, end), (3, Outcome::Done(())));
}

#[tokio::test]
async fn an_error_line_ends_a_pull_with_its_text() {
    let error = br#"{"errorDetail":{"message":"toomanyrequests: slow down"},"error":"toomanyrequests: slow down"}"#;
    let body = chunked(&[progress(1).as_bytes(), error, b"\n", progress(2).as_bytes()]);
    let (seen, end) = pulled(Play::Say(body), ALL, AMPLE).await;
    let Outcome::Refused(refusal) = end else { panic!("{end:?}") };
    assert_eq!(
        (seen, refusal.class, refusal.text.as_str()),
        (1, RefusalClass::RateLimited, "toomanyrequests: slow down")
    );
}

#[tokio::test]
async fn a_pull_that_cannot_begin_is_refused() {
    let text = "manifest for web:1 not found: manifest unknown";
    let (seen, end) = pulled(Play::Say(refusal(404, text)), ALL, AMPLE).await;
    assert!(matches!(end, Outcome::Refused(refusal) if refusal.class == RefusalClass::NotFound));
    assert_eq!(seen, 0);
}

#[tokio::test]
async fn a_pull_that_is_cut_off_is_never_a_success() {
    for bytes in [[head(), chunk(progress(1))].concat(), [head(), chunk(progress(1)), b"ff\r\n{".to_vec()].concat()] {
        let (seen, end) = pulled(Play::Say(bytes), ALL, AMPLE).await;
        assert_eq!((seen, lost(end).cause), (1, LostCause::ConnectionLost));
    }
    let (_, end) = pulled(Play::Say(chunked(&[b"<html>\n"])), ALL, AMPLE).await;
    assert_eq!(lost(end).cause, LostCause::Garbled);
}

#[tokio::test]
async fn b034_a_silent_pull_ends_by_its_own_limits() {
    let limits = PullLimits { first_progress: SHORT, inactivity: AMPLE };
    for silent in [Vec::new(), head()] {
        let (seen, end) = pulled(Play::Hold(silent), limits, AMPLE).await;
        assert_eq!((seen, lost(end).cause), (0, LostCause::TimedOut(SHORT)), "no first line");
    }
    let limits = PullLimits { first_progress: AMPLE, inactivity: SHORT };
    let stalled = [head(), chunk(progress(1)), chunk(progress(2))].concat();
    let (seen, end) = pulled(Play::Hold(stalled), limits, AMPLE).await;
    assert_eq!((seen, lost(end).cause), (2, LostCause::TimedOut(SHORT)), "silence after that; B-012: no last chunk");
}

#[tokio::test]
async fn b035_a_pull_may_take_long_as_long_as_something_moves() {
    let limits = PullLimits { first_progress: SHORT, inactivity: SHORT };
    // 8 pauses of 50 ms are longer than 150 ms of silence would be.
    let mut pieces = vec![head(), chunk(progress(1))];
    // A byte is activity too, even where no line gets whole for a while.
    pieces.extend([chunk("{"), chunk(" "), chunk(" "), chunk("\"status\":\"x\"}\n"), chunk(progress(3)), end()]);
    let (seen, end) = pulled(Play::Trickle(PAUSE, pieces), limits, AMPLE).await;
    assert_eq!((seen, end), (3, Outcome::Done(())));
}

#[tokio::test]
async fn the_whole_of_a_pull_has_a_limit_of_its_own() {
    let pieces = std::iter::once(head()).chain((0..1_000).map(|n| chunk(progress(n)))).collect();
    let (seen, end) = pulled(Play::Trickle(Duration::from_millis(10), pieces), ALL, SHORT).await;
    assert_eq!(lost(end).cause, LostCause::TimedOut(SHORT));
    assert!(seen < 1_000);
}

fn event(nanos: i64, action: &str) -> String {
    format!(
        "{{\"status\":\"{action}\",\"id\":\"{ID}\",\"Type\":\"container\",\"Action\":\"{action}\",\"Actor\":{{\"ID\":\"{ID}\",\
         \"Attributes\":{{\"exitCode\":\"3\",\"image\":\"web\"}}}},\"scope\":\"local\",\"time\":1,\"timeNano\":{nanos}}}\n"
    )
}

fn expected(nanos: i64, action: EventAction) -> Watched {
    Watched::Event(Box::new(RuntimeEvent { at: Wall(nanos), container: RuntimeId::parse(ID).unwrap(), action }))
}

#[tokio::test]
async fn a_watch_is_open_before_anything_happens() {
    let stage = Stage::new();
    let docker = stage.docker();
    let watching = async {
        let mut watch = pin!(docker.watch(&instance(), None, AMPLE));
        assert_eq!(watch.next().await, Some(Watched::Opened));
        // It stands, and nothing comes.
        assert!(timeout(SHORT, watch.next()).await.is_err());
    };
    stage.play(vec![Play::Hold(head())], watching).await;
}

#[tokio::test]
async fn a_watch_delivers_each_event_once_and_says_how_it_ended() {
    let stage = Stage::new();
    let docker = stage.docker();
    let body = [
        event(10, "start"),
        event(20, "exec_start: sh"),
        event(20, "kill"),
        event(30, "health_status: healthy"),
        event(10, "start"),
        "{\"Type\":\"hologram\",\"Action\":7}\n".into(),
        event(40, "die"),
        event(40, "die"),
        // The same stamp with another action is another event.
        event(40, "stop"),
    ];
    let pieces: Vec<&[u8]> = body.iter().map(String::as_bytes).collect();
    let watch = docker.watch(&instance(), Some(Wall(10)), AMPLE).collect::<Vec<_>>();
    let mut items = stage.play(vec![Play::Say(chunked(&pieces))], watch).await;
    let Some(Watched::Lost(lost)) = items.pop() else { panic!("{items:?}") };
    assert_eq!(lost.cause, LostCause::ConnectionLost);
    assert_eq!(
        items,
        [
            Watched::Opened,
            expected(10, EventAction::Start),
            expected(30, EventAction::HealthStatus("healthy".into())),
            expected(40, EventAction::Die { exit_code: Some(3) }),
            expected(40, EventAction::Stop),
        ]
    );
}

#[tokio::test]
async fn b002_a_watch_that_is_cut_keeps_what_was_whole() {
    let stage = Stage::new();
    let docker = stage.docker();
    let half = event(20, "die");
    let bytes = [head(), chunk(event(10, "start")), chunk(&half[..40])].concat();
    let watch = docker.watch(&instance(), None, AMPLE).collect::<Vec<_>>();
    let items = stage.play(vec![Play::Say(bytes)], watch).await;
    assert_eq!(items[..2], [Watched::Opened, expected(10, EventAction::Start)]);
    assert!(matches!(&items[2..], [Watched::Lost(lost)] if lost.cause == LostCause::ConnectionLost), "{items:?}");
}

#[tokio::test]
async fn a_watch_that_cannot_open_is_lost_within_its_limit() {
    for (play, cause) in [
        (Play::Hold(Vec::new()), LostCause::TimedOut(SHORT)),
        (Play::Say(Vec::new()), LostCause::ConnectionLost),
        (Play::Say(answer(500, "<html>")), LostCause::ConnectionLost),
        (Play::Say(answer(500, r#"{"message":"no"}"#)), LostCause::Garbled),
    ] {
        let stage = Stage::new();
        let docker = stage.docker();
        let items = stage.play(vec![play], docker.watch(&instance(), None, SHORT).collect::<Vec<_>>()).await;
        assert!(matches!(&items[..], [Watched::Lost(lost)] if lost.cause == cause), "{items:?}");
    }
    let stage = Stage::new();
    let items = stage.docker().watch(&instance(), None, SHORT).collect::<Vec<_>>().await;
    assert!(matches!(&items[..], [Watched::Lost(lost)] if lost.cause == LostCause::Unreachable), "{items:?}");
}

#[tokio::test]
async fn b072_a_stream_that_is_dropped_closes_its_connection() {
    let stage = Stage::new();
    let docker = stage.docker();
    let plays = vec![Play::Hold(head()), Play::Hold(head()), Play::Say(answer(200, "OK"))];
    let run = async {
        {
            let mut watch = pin!(docker.watch(&instance(), None, AMPLE));
            assert_eq!(watch.next().await, Some(Watched::Opened));
        }
        {
            let request = LogRequest { container: target(), follow: true, since: None, tty: false };
            let mut logs = pin!(docker.logs(request));
            assert!(timeout(SHORT, logs.next()).await.is_err());
        }
        docker.ping(AMPLE).await
    };
    // The engine plays one connection after the other.
    assert_eq!(stage.play(plays, run).await, Outcome::Done(()));
    assert_eq!(stage.closed(), 2);
}

fn frame(kind: u8, text: &str) -> Vec<u8> {
    [&[kind, 0, 0, 0][..], &u32::try_from(text.len()).unwrap().to_be_bytes(), text.as_bytes()].concat()
}

async fn logged(play: Play, tty: bool) -> Vec<Result<LogChunk, Outcome<()>>> {
    let stage = Stage::new();
    let docker = stage.docker();
    let request = LogRequest { container: target(), follow: true, since: None, tty };
    stage.play(vec![play], docker.logs(request).collect()).await
}

fn piece(stream: LogStream, text: &str) -> Result<LogChunk, Outcome<()>> {
    Ok(LogChunk { stream, bytes: text.into() })
}

#[tokio::test]
async fn logs_come_in_their_streams() {
    let frames = [frame(1, "out\n"), frame(2, "err\n")].concat();
    // Frames and chunks are cut in different places.
    let items = logged(Play::Say(chunked(&[&frames[..5], &frames[5..10], &frames[10..]])), false).await;
    let expected = [piece(LogStream::Stdout, "ou"), piece(LogStream::Stdout, "t\n"), piece(LogStream::Stderr, "err\n")];
    assert_eq!(items, expected);
    let raw = logged(Play::Say(chunked(&[b"\x01\0\0\0raw"])), true).await;
    assert_eq!(raw, [piece(LogStream::Stdout, "\u{1}\0\0\0raw")]);
    assert_eq!(logged(Play::Say(chunked(&[])), false).await, []);
}

#[tokio::test]
async fn logs_that_end_early_say_so_after_what_there_was() {
    let bytes = [head(), chunk(frame(1, "out\n")), chunk(&frame(1, "never whole")[..12])].concat();
    let mut items = logged(Play::Say(bytes), false).await;
    let Some(Err(end)) = items.pop() else { panic!("{items:?}") };
    assert_eq!(lost(end).cause, LostCause::ConnectionLost);
    assert_eq!(items, [piece(LogStream::Stdout, "out\n"), piece(LogStream::Stdout, "neve")]);
    assert_eq!(logged(Play::Say(refusal(404, "No such container: x")), false).await, [Err(Outcome::Gone)]);
    let unreadable = "configured logging driver does not support reading";
    let items = logged(Play::Say(refusal(501, unreadable)), false).await;
    assert!(matches!(&items[..], [Err(Outcome::Refused(refusal))] if refusal.class == RefusalClass::Unsupported));
    assert!(matches!(&logged(Play::Say(bare(200)), false).await[..], []));
}
