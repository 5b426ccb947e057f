//! Output of containers: complete, in order, and never in the way.

use std::time::Duration;

use rustix::process::Signal;
use tokio::io::AsyncReadExt as _;

use crate::{corner::in_corner, engine::SOON};

#[tokio::test]
async fn all_of_a_thousand_lines_are_shown_in_order_though_the_container_has_long_ended() {
    in_corner(async |corner| {
        let mut words: Vec<String> = Vec::new();
        for number in 0..1_000 {
            words.extend(["print".to_owned(), format!("line {number}"), "+".to_owned()]);
        }
        words.extend(["exit".to_owned(), "4".to_owned()]);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let ended = corner.run(&corner.task(&words)).start().end().await;
        ended.assert_code(4);
        let expected: Vec<String> = (0..1_000).map(|number| format!("line {number}")).collect();
        assert_eq!(ended.said(), expected);
        corner.nothing_is_left().await;
    })
    .await;
}

/// A minute of output at five megabytes a second.
const MUCH: &[&str] = &["trap", "0", "+", "write", "5000000", "60"];

/// The command writes into a pipe that is full, and whose other end nobody reads.
async fn with_full_pipe(corner: &crate::corner::Corner, words: &[&str]) -> crate::launch::Unread {
    let mut run = corner.lighterman(&["run"]).argument(corner.file(&corner.task(words))).start_unread();
    let mut begin = vec![0; 1 << 20];
    run.stdout.read_exact(&mut begin).await.unwrap();
    run
}

#[tokio::test]
async fn nobody_reads_the_output_and_an_interrupt_ends_the_run_all_the_same() {
    in_corner(async |corner| {
        let run = with_full_pipe(corner, MUCH).await;
        run.signal(Signal::INT);
        let began = std::time::Instant::now();
        let (code, stderr) = run.end().await;
        assert_eq!(code, Some(130), "{stderr}");
        assert!(began.elapsed() < Duration::from_secs(6), "{:?}", began.elapsed());
        corner.nothing_is_left().await;
    })
    .await;
}

#[tokio::test]
async fn nobody_reads_the_output_and_the_exit_code_comes_all_the_same() {
    in_corner(async |corner| {
        let run = with_full_pipe(corner, &["write", "5000000", "1", "+", "exit", "4"]).await;
        let began = std::time::Instant::now();
        let (code, stderr) = run.end().await;
        assert!(began.elapsed() < SOON, "{:?}", began.elapsed());
        assert_eq!(code, Some(4), "{stderr}");
        corner.nothing_is_left().await;
    })
    .await;
}

#[tokio::test]
async fn a_slow_reader_gets_all_of_it() {
    in_corner(async |corner| {
        let task = corner.task(&["write", "4000000", "0.5", "+", "print", "the last", "+", "exit", "4"]);
        let mut run = corner.lighterman(&["run"]).argument(corner.file(&task)).start_unread();
        let mut all = Vec::new();
        let mut piece = vec![0; 4 << 10];
        let began = std::time::Instant::now();
        loop {
            let count = run.stdout.read(&mut piece).await.unwrap();
            if count == 0 {
                break;
            }
            all.extend_from_slice(&piece[..count]);
            if began.elapsed() < Duration::from_secs(8) {
                // As slow as a terminal on a bad line.
                pace(Duration::from_millis(20)).await;
            }
        }
        let (code, stderr) = run.end().await;
        assert_eq!(code, Some(4), "{stderr}");
        let all = String::from_utf8(all).unwrap();
        let lines: Vec<&str> = all.lines().collect();
        assert!(lines.len() > 15_000, "only {} lines: nothing had to wait", lines.len());
        let (last, numbered) = lines.split_last().unwrap();
        assert_eq!(*last, "main   | the last");
        for (number, line) in numbered.iter().enumerate() {
            assert!(line.starts_with(&format!("main   | {number:010}")), "line {number}: {line}");
        }
        corner.nothing_is_left().await;
    })
    .await;
}

#[tokio::test]
async fn a_reader_that_goes_away_changes_nothing_about_the_task() {
    in_corner(async |corner| {
        for json in [&["run"][..], &["run", "--json"]] {
            let task = corner.task(&["print", "ready", "+", "write", "100000", "1", "+", "exit", "6"]);
            let mut run = corner.lighterman(json).argument(corner.file(&task)).start_unread();
            run.stdout.read_exact(&mut [0; 10]).await.unwrap();
            let (code, stderr) = run.end_without_reader().await;
            assert_eq!(code, Some(6), "{stderr}");
        }
        corner.nothing_is_left().await;
    })
    .await;
}

#[tokio::test]
async fn output_on_a_full_disk_is_told_of_and_the_exit_code_is_the_containers() {
    in_corner(async |corner| {
        for mode in ["run", "run --json"] {
            let script = format!("exec \"$0\" {mode} \"$1\" >/dev/full");
            let run = corner.through(&["sh", "-c", &script]).argument(corner.program());
            let run = run.argument(corner.file(&corner.task(&["print", "lost", "+", "exit", "6"]))).output().await;
            assert_eq!(run.code, Some(6), "{}", run.stderr);
            let told = run.stderr.matches("output cannot be written and is lost").count();
            assert_eq!(told, 1, "{}", run.stderr);
            assert!(run.stderr.contains("os error 28"), "{}", run.stderr);
        }
        corner.nothing_is_left().await;
    })
    .await;
}

#[tokio::test]
async fn a_pipe_that_does_not_block_loses_nothing() {
    in_corner(async |corner| {
        let task = corner.task(&["write", "4000000", "0.5", "+", "print", "the last", "+", "exit", "4"]);
        let (reader, writer) = std::io::pipe().unwrap();
        rustix::fs::fcntl_setfl(&writer, rustix::fs::OFlags::NONBLOCK).unwrap();
        let reading = tokio::task::spawn_blocking(move || read_slowly(reader));
        let run = corner.lighterman(&["run"]).argument(corner.file(&task));
        let (code, stderr) = run.write_to(writer).await;
        assert_eq!(code, Some(4), "{stderr}");
        let all = reading.await.unwrap().unwrap();
        let lines: Vec<&str> = all.lines().collect();
        assert!(lines.len() > 15_000, "only {} lines: nothing had to wait", lines.len());
        let (last, numbered) = lines.split_last().unwrap();
        assert_eq!(*last, "main   | the last");
        for (number, line) in numbered.iter().enumerate() {
            assert!(line.starts_with(&format!("main   | {number:010}")), "line {number}: {line}");
        }
        corner.nothing_is_left().await;
    })
    .await;
}

#[tokio::test]
async fn b084_a_line_of_a_megabyte_comes_in_pieces() {
    in_corner(async |corner| {
        let task = corner.task(&["write", "0", "0.01", "1048576", "+", "exit", "0"]);
        let ended = corner.run(&task).start().end().await;
        ended.assert_code(0);
        let pieces: Vec<_> = ended.of("log").collect();
        assert!(pieces.iter().all(|piece| piece["line"].as_str().unwrap().len() <= 16 << 10));
        assert!(pieces.iter().any(|piece| piece["first"] == true && piece["last"] == false), "{}", pieces.len());
        corner.nothing_is_left().await;
    })
    .await;
}

/// In pieces that are less than what the pipe takes.
#[expect(clippy::disallowed_methods, reason = "the pace of a slow reader, not a wait for anything")]
fn read_slowly(mut from: std::io::PipeReader) -> std::io::Result<String> {
    use std::io::Read as _;

    let (mut all, mut piece) = (Vec::new(), vec![0; 32 << 10]);
    loop {
        let count = from.read(&mut piece)?;
        if count == 0 {
            return Ok(String::from_utf8_lossy(&all).into_owned());
        }
        all.extend_from_slice(&piece[..count]);
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[expect(clippy::disallowed_methods, reason = "the pace of a slow reader, not a wait for anything")]
async fn pace(time: Duration) {
    tokio::time::sleep(time).await;
}
