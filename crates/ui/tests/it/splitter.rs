//! Container output into lines.

use lighterman_contracts::{LogChunk, LogStream};
use lighterman_ui::{LINE_LIMIT, LineSplitter};
use proptest::prelude::*;

/// Lines of one stream, put together again, and the lengths of all pieces.
#[derive(Default)]
struct Seen {
    bytes: Vec<u8>,
    pieces: Vec<(Vec<u8>, bool, bool)>,
}

fn split(chunks: &[(LogStream, Vec<u8>)]) -> (Seen, Seen) {
    let (mut stdout, mut stderr) = (Seen::default(), Seen::default());
    let mut splitter = LineSplitter::default();
    let mut take = |line: lighterman_ui::Line<'_>| {
        let seen = match line.stream {
            LogStream::Stdout => &mut stdout,
            LogStream::Stderr => &mut stderr,
        };
        seen.bytes.extend_from_slice(line.bytes);
        if line.last {
            seen.bytes.push(b'\n');
        }
        seen.pieces.push((line.bytes.to_vec(), line.first, line.last));
    };
    for (stream, bytes) in chunks {
        splitter.push(&LogChunk { stream: *stream, bytes: bytes.clone() }, &mut take);
    }
    splitter.finish(&mut take);
    (stdout, stderr)
}

fn chunk() -> impl Strategy<Value = (LogStream, Vec<u8>)> {
    let byte = prop_oneof![4 => Just(b'a'), 1 => Just(b'\n'), 1 => Just(b'\r'), 2 => any::<u8>()];
    let short = prop::collection::vec(byte, 0..40);
    let long =
        (0..2_usize, 0..20_usize).prop_map(|(whole, rest)| vec![b'x'; whole * LINE_LIMIT + LINE_LIMIT - 10 + rest]);
    let accents = (0..20_usize).prop_map(|rest| "é🦀".repeat(LINE_LIMIT / 6 + rest).into_bytes());
    let stream = prop_oneof![Just(LogStream::Stdout), Just(LogStream::Stderr)];
    (stream, prop_oneof![8 => short, 1 => long, 1 => accents])
}

proptest! {
    // Each case moves some hundred kilobytes byte by byte: 64 take a second unoptimised.
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_chunking_is_put_together_without_loss_and_within_bounds(chunks in prop::collection::vec(chunk(), 0..30)) {
        let (stdout, stderr) = split(&chunks);
        for (stream, seen) in [(LogStream::Stdout, stdout), (LogStream::Stderr, stderr)] {
            let mut written: Vec<u8> =
                chunks.iter().filter(|(of, _)| *of == stream).flat_map(|(_, bytes)| bytes.clone()).collect();
            if !written.is_empty() && written.last() != Some(&b'\n') {
                written.push(b'\n');
            }
            prop_assert!(seen.bytes == written, "{:?} differs", stream);
            let mut begins = true;
            for (bytes, first, last) in seen.pieces {
                prop_assert!(bytes.len() <= LINE_LIMIT && !bytes.contains(&b'\n'));
                prop_assert_eq!(first, begins);
                prop_assert!(last || bytes.len() > LINE_LIMIT - 4, "a piece is as long as it can be");
                begins = last;
            }
            prop_assert!(begins, "the last piece ends its line");
        }
    }

    #[test]
    fn pieces_of_a_long_text_are_whole_characters(text in "[aé€🦀]{1,30}", cut in 1..9_usize) {
        let text = text.repeat(LINE_LIMIT / text.len() * 3);
        let chunks: Vec<_> = text.as_bytes().chunks(cut * 1_000).map(|bytes| (LogStream::Stdout, bytes.to_vec())).collect();
        for (bytes, ..) in split(&chunks).0.pieces {
            prop_assert!(std::str::from_utf8(&bytes).is_ok());
        }
    }
}

#[test]
fn a_line_of_just_the_limit_is_one_piece() {
    let mut bytes = vec![b'x'; LINE_LIMIT];
    bytes.push(b'\n');
    let pieces = split(&[(LogStream::Stdout, bytes)]).0.pieces;
    assert_eq!(
        pieces.iter().map(|(bytes, first, last)| (bytes.len(), *first, *last)).collect::<Vec<_>>(),
        [(LINE_LIMIT, true, true)]
    );
}

#[test]
fn b084_a_line_without_end_needs_bounded_memory() {
    let mut splitter = LineSplitter::default();
    let chunk = LogChunk { stream: LogStream::Stdout, bytes: vec![b'x'; 1 << 20] };
    let (mut pieces, mut bytes) = (0_usize, 0_usize);
    for _ in 0..64 {
        splitter.push(&chunk, |line| {
            assert!(line.bytes.len() <= LINE_LIMIT && !line.last);
            pieces += 1;
            bytes += line.bytes.len();
        });
    }
    splitter.finish(|line| bytes += line.bytes.len());
    assert_eq!((pieces, bytes), ((64 << 20) / LINE_LIMIT - 1, 64 << 20));
}
