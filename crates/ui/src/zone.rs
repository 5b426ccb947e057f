//! Wall time as text.

use std::fmt;

use jiff::{Timestamp, tz::TimeZone};
use lighterman_ids::Wall;

/// The time zone in which people are told the time of day.
#[derive(Clone, PartialEq, Eq)]
pub struct Zone(TimeZone);

impl Zone {
    /// UTC.
    pub const UTC: Self = Self(TimeZone::UTC);

    /// That of this machine, from `TZ` or `/etc/localtime`; UTC when neither says.
    #[must_use]
    pub fn system() -> Self {
        Self(TimeZone::system())
    }

    /// `12:01:03.123`
    pub(crate) fn time_of_day(&self, wall: Wall) -> String {
        self.0.to_datetime(timestamp(wall)).strftime("%H:%M:%S.%3f").to_string()
    }
}

/// RFC 3339 in UTC with milliseconds: what machines read.
pub(crate) fn rfc3339(wall: Wall) -> String {
    format!("{:.3}", timestamp(wall))
}

fn timestamp(wall: Wall) -> Timestamp {
    Timestamp::from_nanosecond(i128::from(wall.0)).expect("2^63 nanoseconds reach to the year 2262")
}

impl fmt::Debug for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Zone({})", self.0.iana_name().unwrap_or("unnamed"))
    }
}
