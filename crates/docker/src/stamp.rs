//! The engine's timestamps.

use lighterman_ids::Wall;

/// A text that is not an RFC 3339 timestamp, or one outside the years that nanoseconds in 64 bits reach.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct BadStamp;

/// Reads RFC 3339 to the nanosecond. The engine writes the first instant of year 1, or nothing, for "never".
///
/// Unreadable is not "never": a start time that is taken for absent would turn an ended container
/// into one that has not run yet.
pub(crate) fn read(text: &str) -> Result<Option<Wall>, BadStamp> {
    if text.is_empty() {
        return Ok(None);
    }
    let (date, time) = text.split_once(['T', 't', ' ']).ok_or(BadStamp)?;
    let (time, zone) = time.split_at(time.find(['Z', 'z', '+', '-']).ok_or(BadStamp)?);
    let days = days(date)?;
    let seconds = days * 86_400 + seconds(time.split('.').next().unwrap_or(time))? - offset(zone)?;
    if seconds == days_from_civil(1, 1, 1) * 86_400 {
        return Ok(None);
    }
    let nanos = time.split_once('.').map_or(Ok(0), |(_, digits)| nanos(digits))?;
    let stamp = seconds.checked_mul(1_000_000_000).and_then(|base| base.checked_add(nanos)).ok_or(BadStamp)?;
    Ok(Some(Wall(stamp)))
}

/// `seconds.nanoseconds`, the form in which the engine takes an instant in a query.
pub(crate) fn query(at: Wall) -> String {
    format!("{}.{:09}", at.0.div_euclid(1_000_000_000), at.0.rem_euclid(1_000_000_000))
}

fn days(date: &str) -> Result<i64, BadStamp> {
    let mut parts = date.split('-');
    let (year, month, day) = (number(parts.next(), 4)?, number(parts.next(), 2)?, number(parts.next(), 2)?);
    if parts.next().is_some() || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return Err(BadStamp);
    }
    Ok(days_from_civil(year, month, day))
}

fn seconds(time: &str) -> Result<i64, BadStamp> {
    let mut parts = time.split(':');
    let (hour, minute, second) = (number(parts.next(), 2)?, number(parts.next(), 2)?, number(parts.next(), 2)?);
    // 60: a leap second.
    if parts.next().is_some() || hour > 23 || minute > 59 || second > 60 {
        return Err(BadStamp);
    }
    Ok(hour * 3_600 + minute * 60 + second)
}

fn offset(zone: &str) -> Result<i64, BadStamp> {
    if zone == "Z" || zone == "z" {
        return Ok(0);
    }
    let sign = if zone.starts_with('-') { -1 } else { 1 };
    let (hour, minute) = zone.get(1..).and_then(|rest| rest.split_once(':')).ok_or(BadStamp)?;
    Ok(sign * (number(Some(hour), 2)? * 3_600 + number(Some(minute), 2)? * 60))
}

fn nanos(digits: &str) -> Result<i64, BadStamp> {
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(BadStamp);
    }
    let padded: String = digits.chars().chain(std::iter::repeat('0')).take(9).collect();
    padded.parse().map_err(|_| BadStamp)
}

fn number(text: Option<&str>, width: usize) -> Result<i64, BadStamp> {
    let text = text.filter(|t| t.len() == width && t.bytes().all(|b| b.is_ascii_digit())).ok_or(BadStamp)?;
    text.parse().map_err(|_| BadStamp)
}

/// Days since 1970-01-01 in the proleptic Gregorian calendar. Years are counted from March, so that
/// the leap day is the last one.
const fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_are_read_to_the_nanosecond() {
        for (text, nanos) in [
            ("1970-01-01T00:00:00Z", 0),
            ("1970-01-01T00:00:00.000000001Z", 1),
            ("2024-02-29T12:34:56.123456789Z", 1_709_210_096_123_456_789),
            ("2024-02-29T13:34:56.1234567891+01:00", 1_709_210_096_123_456_789),
            ("2024-02-29T07:04:56.12-05:30", 1_709_210_096_120_000_000),
            ("2000-03-01T00:00:00Z", 951_868_800_000_000_000),
            ("1969-12-31T23:59:59.5Z", -500_000_000),
            ("2100-03-01T00:00:00Z", 4_107_542_400_000_000_000),
        ] {
            assert_eq!(read(text), Ok(Some(Wall(nanos))), "{text}");
        }
    }

    #[test]
    fn never_is_told_from_unreadable() {
        for never in ["", "0001-01-01T00:00:00Z", "0001-01-01T01:00:00+01:00"] {
            assert_eq!(read(never), Ok(None), "{never:?}");
        }
        for bad in [
            "yesterday",
            "2024-02-29",
            "2024-02-29T12:34:56",
            "2024-13-01T00:00:00Z",
            "2024-01-01T24:00:00Z",
            "2024-01-01T00:00Z",
            "2024-01-01T00:00:00.Z",
            "2024-01-01T00:00:00.-1Z",
            "20240-01-01T00:00:00Z",
            "9999-01-01T00:00:00Z",
            "2024-01-01T00:00:00+1:00",
            "2024-01-01T00:00:00Zjunk",
            "ä024-01-01T00:00:00Z",
        ] {
            assert_eq!(read(bad), Err(BadStamp), "{bad:?}");
        }
    }

    #[test]
    fn queries_carry_nanoseconds() {
        assert_eq!(query(Wall(1_709_210_096_000_000_789)), "1709210096.000000789");
        assert_eq!(query(Wall(0)), "0.000000000");
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "\\PC{0,40}") {
            let _: Result<Option<Wall>, BadStamp> = read(&text);
        }

        #[test]
        fn every_day_follows_the_one_before(days in -20_000i64..40_000) {
            // Walk the calendar by its own rules and compare with the formula.
            let (mut year, mut left) = (1900, days + 25_567);
            let leap = |y: i64| y % 4 == 0 && (y % 100 != 0 || y % 400 == 0);
            while left >= 365 + i64::from(leap(year)) {
                left -= 365 + i64::from(leap(year));
                year += 1;
            }
            let lengths = [31, 28 + i64::from(leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
            let mut month = 0;
            while left >= lengths[month] {
                left -= lengths[month];
                month += 1;
            }
            let text = format!("{year:04}-{:02}-{:02}T00:00:00Z", month + 1, left + 1);
            proptest::prop_assert_eq!(read(&text), Ok(Some(Wall(days * 86_400_000_000_000))));
        }
    }
}
