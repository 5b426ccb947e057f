//! Durations, read and printed.

use std::time::Duration;

use lighterman_config::{DurationError, format_duration, parse_duration};
use proptest::prelude::*;

#[test]
fn durations_are_read_as_the_reference_reads_them() {
    for (text, nanos) in [
        ("0", 0),
        ("0s", 0),
        ("300ms", 300_000_000),
        ("10s", 10_000_000_000),
        ("2h45m", 9_900_000_000_000),
        ("1h30m", 5_400_000_000_000),
        ("1h0m1.5s", 3_601_500_000_000),
        ("0.1s", 100_000_000),
        (".5s", 500_000_000),
        ("5.s", 5_000_000_000),
        ("+5s", 5_000_000_000),
        (" 5s ", 5_000_000_000),
        ("1s1s", 2_000_000_000),
        ("1ns", 1),
        ("1us", 1_000),
        ("1\u{b5}s", 1_000),
        ("1\u{3bc}s", 1_000),
        ("0.9ns", 0),
        ("0.333333333333333333333333333333s", 333_333_333),
    ] {
        assert_eq!(parse_duration(text), Ok(Duration::from_nanos(nanos)), "{text:?}");
    }
}

#[test]
fn what_is_not_a_duration_says_what_is_wrong_and_what_to_write() {
    let lines: Vec<String> = [
        "",
        "  ",
        "-1s",
        "10",
        "1.5",
        "1h30",
        "s",
        "ms",
        ".s",
        "1..5s",
        "1.2.3s",
        "5 s",
        "5sec",
        "1d",
        "10S",
        "1h m",
        "ten",
        "1s!",
        "99999999999999999999s",
        "600000000h",
        "1e3s",
        "\u{1b}[31m",
    ]
    .map(|text| format!("{text:?} -> {}", parse_duration(text).unwrap_err()))
    .into();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn an_error_cuts_long_text() {
    let DurationError::Unit { text, unit } = parse_duration(&format!("1{}", "x".repeat(10_000))).unwrap_err() else {
        panic!("another error");
    };
    assert_eq!((text.len(), unit.len()), (80, 80));
}

#[test]
fn durations_are_printed_as_the_reference_prints_them() {
    for (millis, text) in [(180_000, "3m0s"), (30_000, "30s"), (1_500, "1.5s"), (300, "300ms"), (0, "0s")] {
        assert_eq!(format_duration(Duration::from_millis(millis)), text);
    }
    assert_eq!(format_duration(Duration::from_secs(10_800)), "3h0m0s");
    assert_eq!(format_duration(Duration::from_nanos(1_500)), "1.5us");
    assert_eq!(format_duration(Duration::from_nanos(3_600_000_000_001)), "1h0m0.000000001s");
}

proptest! {
    #[test]
    fn what_is_printed_is_read_back(nanos in prop_oneof![any::<u64>(), 0..10_000_000_000_u64]) {
        let duration = Duration::from_nanos(nanos);
        prop_assert_eq!(parse_duration(&format_duration(duration)), Ok(duration));
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[0-9.hmsnuµ+ -]{0,20}") {
        if let Err(error) = parse_duration(&text) {
            prop_assert!(!error.to_string().is_empty());
        }
    }
}
