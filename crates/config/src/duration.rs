//! Durations as people write them: `300ms`, `1.5s`, `1h30m`.
//!
//! The form is the reference's, which is that of Go: numbers with a unit, one after the other (config.md 1).

use std::{fmt::Write as _, time::Duration};

/// Units and their nanoseconds, the ones that begin like another first.
const UNITS: [(&str, u64); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("\u{b5}s", 1_000),
    ("\u{3bc}s", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

/// More digits after the point than any unit has nanoseconds; further ones are read and do not count.
const DIGITS_THAT_COUNT: usize = 14;

/// Why a text is not a duration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DurationError {
    /// Nothing is there.
    #[error("a duration is missing; write for example 300ms, 10s or 1h30m")]
    Empty,
    /// It begins with a minus sign.
    #[error("{text:?} is below zero; a duration is not")]
    Negative {
        /// What was found, cut to 80 characters.
        text: String,
    },
    /// Where a number should stand is something else.
    #[error("{text:?} is not a duration: a number is missing before {rest:?}; write for example 300ms, 10s or 1h30m")]
    Number {
        /// What was found, cut to 80 characters.
        text: String,
        /// From where on it cannot be read, cut to 80 characters.
        rest: String,
    },
    /// A number without a unit: `10` might be seconds, milliseconds or minutes.
    #[error("{text:?} is not a duration: {number} has no unit; write for example {number}s or {number}ms")]
    NoUnit {
        /// What was found, cut to 80 characters.
        text: String,
        /// The number.
        number: String,
    },
    /// A unit that does not exist.
    #[error("{text:?} is not a duration: there is no unit {unit:?}; allowed: ns us ms s m h")]
    Unit {
        /// What was found, cut to 80 characters.
        text: String,
        /// The unit, cut to 80 characters.
        unit: String,
    },
    /// Longer than 2^64 nanoseconds, some 584 years.
    #[error("{text:?} is too long")]
    TooLong {
        /// What was found, cut to 80 characters.
        text: String,
    },
}

/// Reads a duration: numbers, each with one of the units `ns us ms s m h`, or just `0`.
///
/// ```
/// use core::time::Duration;
/// use lighterman_config::parse_duration;
///
/// assert_eq!(parse_duration("1h30m"), Ok(Duration::from_secs(5_400)));
/// assert_eq!(parse_duration("0.1s"), Ok(Duration::from_millis(100)));
/// assert_eq!(
///     parse_duration("10").unwrap_err().to_string(),
///     r#""10" is not a duration: 10 has no unit; write for example 10s or 10ms"#,
/// );
/// ```
///
/// # Errors
/// The text has another form; the error says where it ends being one.
pub fn parse_duration(text: &str) -> Result<Duration, DurationError> {
    let whole = text.trim();
    match whole.strip_prefix('+').unwrap_or(whole) {
        "" => Err(DurationError::Empty),
        "0" => Ok(Duration::ZERO),
        rest if rest.starts_with('-') => Err(DurationError::Negative { text: cut(whole) }),
        rest => sum_of_parts(whole, rest),
    }
}

fn sum_of_parts(whole: &str, mut rest: &str) -> Result<Duration, DurationError> {
    let mut total = 0_u64;
    while !rest.is_empty() {
        let (number, after) = split(rest, |c| c.is_ascii_digit() || c == '.');
        let (unit, after) = split(after, |c| !(c.is_ascii_digit() || c == '.'));
        let part = nanoseconds(whole, rest, number, unit)?;
        total = total.checked_add(part).ok_or_else(|| DurationError::TooLong { text: cut(whole) })?;
        rest = after;
    }
    Ok(Duration::from_nanos(total))
}

/// Nanoseconds of one number with its unit.
fn nanoseconds(whole: &str, rest: &str, number: &str, unit: &str) -> Result<u64, DurationError> {
    let text = || cut(whole);
    let (integer, fraction) = number.split_once('.').unwrap_or((number, ""));
    if (integer.is_empty() && fraction.is_empty()) || fraction.contains('.') {
        return Err(DurationError::Number { text: text(), rest: cut(rest) });
    }
    if unit.is_empty() {
        return Err(DurationError::NoUnit { text: text(), number: number.into() });
    }
    let known = UNITS.iter().find(|(name, _)| *name == unit);
    let (_, size) = known.ok_or_else(|| DurationError::Unit { text: text(), unit: cut(unit) })?;
    let too_long = || DurationError::TooLong { text: text() };
    let integer: u64 = if integer.is_empty() { 0 } else { integer.parse().map_err(|_| too_long())? };
    let whole_units = integer.checked_mul(*size).ok_or_else(too_long)?;
    whole_units.checked_add(part_of_unit(fraction, *size)).ok_or_else(too_long)
}

/// Nanoseconds of the digits after the point, rounded down; always less than `size`.
fn part_of_unit(fraction: &str, size: u64) -> u64 {
    let (mut numerator, mut denominator) = (0_u128, 1_u128);
    for digit in fraction.bytes().take(DIGITS_THAT_COUNT) {
        numerator = numerator * 10 + u128::from(digit - b'0');
        denominator *= 10;
    }
    u64::try_from(numerator * u128::from(size) / denominator).expect("a part of a u64 is a u64")
}

/// What `keep` holds for at the beginning, and the rest.
fn split(text: &str, keep: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(|c| !keep(c)).unwrap_or(text.len()))
}

fn cut(text: &str) -> String {
    text.chars().take(80).collect()
}

/// Prints a duration in the form that [`parse_duration`] reads: `3m0s`, `1.5s`, `300ms`, `0s`.
#[must_use]
pub fn format_duration(duration: Duration) -> String {
    let nanos = duration.as_nanos();
    match nanos {
        0 => "0s".into(),
        1..1_000 => format!("{nanos}ns"),
        1_000..1_000_000 => decimal(nanos, 1_000, "us"),
        1_000_000..1_000_000_000 => decimal(nanos, 1_000_000, "ms"),
        1_000_000_000.. => from_seconds_up(nanos),
    }
}

fn from_seconds_up(nanos: u128) -> String {
    const MINUTE: u128 = 60_000_000_000;
    let (hours, minutes, rest) = (nanos / (60 * MINUTE), nanos / MINUTE % 60, nanos % MINUTE);
    let mut text = String::new();
    if hours > 0 {
        write!(text, "{hours}h").expect("writing to a string does not fail");
    }
    if hours > 0 || minutes > 0 {
        write!(text, "{minutes}m").expect("writing to a string does not fail");
    }
    text + &decimal(rest, 1_000_000_000, "s")
}

/// `value / size` with as many digits as it needs.
fn decimal(value: u128, size: u128, unit: &str) -> String {
    let digits = size.ilog10() as usize;
    let fraction = format!("{:0digits$}", value % size);
    let fraction = fraction.trim_end_matches('0');
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{}{point}{fraction}{unit}", value / size)
}
