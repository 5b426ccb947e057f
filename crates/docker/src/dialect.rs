//! Which version of the API is spoken.

use std::{
    fmt,
    sync::atomic::{AtomicU32, Ordering},
};

use lighterman_calls::{Refusal, RefusalClass};

/// A version of the Docker Engine API, such as 1.41.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ApiVersion {
    /// Before the dot.
    pub major: u16,
    /// After the dot.
    pub minor: u16,
}

impl ApiVersion {
    /// Oldest version that is spoken: engine 20.10, the one that everything here was tried with.
    pub const OLDEST: Self = Self { major: 1, minor: 41 };
    /// Newest version that is spoken: the one bollard 0.21 was generated from.
    pub const NEWEST: Self = Self { major: 1, minor: 53 };

    /// Reads `1.41`; `None` for anything else.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (major, minor) = text.split_once('.')?;
        let number = |digits: &str| digits.bytes().all(|b| b.is_ascii_digit()).then(|| digits.parse().ok()).flatten();
        Some(Self { major: number(major)?, minor: number(minor)? })
    }

    const fn packed(self) -> u32 {
        (self.major as u32) << 16 | self.minor as u32
    }
}

impl fmt::Display for ApiVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// The version that goes into every path; shared by all calls.
///
/// It is the *oldest* version that both sides speak: the one our reading was tried with most. It
/// rises only when an engine has given the older ones up (B-100).
#[derive(Debug)]
pub(crate) struct Dialect(AtomicU32);

impl Default for Dialect {
    fn default() -> Self {
        Self(AtomicU32::new(ApiVersion::OLDEST.packed()))
    }
}

impl Dialect {
    pub(crate) fn spoken(&self) -> ApiVersion {
        let packed = self.0.load(Ordering::Relaxed);
        let part = |bits: u32| u16::try_from(bits & 0xffff).unwrap_or(u16::MAX);
        ApiVersion { major: part(packed >> 16), minor: part(packed) }
    }

    fn speak(&self, version: ApiVersion) {
        self.0.store(version.packed(), Ordering::Relaxed);
    }

    /// Chooses between what the engine speaks, `lowest` to `highest`, and what we do.
    pub(crate) fn settle(&self, lowest: ApiVersion, highest: ApiVersion) -> Result<(), Refusal> {
        let common = lowest.max(ApiVersion::OLDEST);
        if common > highest.min(ApiVersion::NEWEST) {
            return Err(Refusal::new(
                RefusalClass::Unsupported,
                format!(
                    "the Docker engine speaks API versions {lowest} to {highest}, Lighterman speaks {} to {}",
                    ApiVersion::OLDEST,
                    ApiVersion::NEWEST
                ),
            ));
        }
        self.speak(common);
        Ok(())
    }

    /// Takes the hint in a refusal of our version, so that the *next* call speaks another one. An
    /// engine can be replaced by a newer one while we run.
    pub(crate) fn learn(&self, refusal: &str) {
        let asked = refused_version(refusal);
        if let Some(version) = asked.filter(|v| (ApiVersion::OLDEST..=ApiVersion::NEWEST).contains(v)) {
            tracing::debug!(api.version = %version, "the engine asks for another API version");
            self.speak(version);
        }
    }
}

/// Whether a refusal is about the version of the call.
pub(crate) fn is_version_refusal(text: &str) -> bool {
    text.contains("client version") && (text.contains("too old") || text.contains("too new"))
}

/// `client version 1.41 is too old. Minimum supported API version is 1.44, please upgrade …`, or
/// `… is too new. Maximum supported API version is 1.41` (engines 20.10 to 29).
fn refused_version(text: &str) -> Option<ApiVersion> {
    if !is_version_refusal(text) {
        return None;
    }
    let word = text.split("API version is ").nth(1)?.split_whitespace().next()?;
    ApiVersion::parse(word.trim_end_matches([',', '.', ';']))
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn v(minor: u16) -> ApiVersion {
        ApiVersion { major: 1, minor }
    }

    #[test]
    fn b100_the_oldest_common_version_is_spoken() {
        for (lowest, highest, spoken) in [(12, 41, 41), (24, 43, 41), (44, 52, 44), (41, 41, 41), (53, 60, 53)] {
            let dialect = Dialect::default();
            assert_eq!(dialect.settle(v(lowest), v(highest)), Ok(()));
            assert_eq!(dialect.spoken(), v(spoken), "{lowest} to {highest}");
        }
    }

    #[test]
    fn b100_no_common_version_is_refused_with_both() {
        for (lowest, highest) in [(12, 40), (54, 60)] {
            let dialect = Dialect::default();
            let refusal = dialect.settle(v(lowest), v(highest)).unwrap_err();
            assert_eq!(refusal.class, RefusalClass::Unsupported);
            for version in [v(lowest), v(highest), ApiVersion::OLDEST, ApiVersion::NEWEST] {
                assert!(refusal.text.contains(&version.to_string()), "{refusal}");
            }
            assert_eq!(dialect.spoken(), ApiVersion::OLDEST);
        }
    }

    #[test]
    fn b100_a_refusal_teaches_the_next_call() {
        let dialect = Dialect::default();
        dialect.learn("client version 1.41 is too old. Minimum supported API version is 1.44, please upgrade");
        assert_eq!(dialect.spoken(), v(44));
        dialect.learn("client version 1.44 is too new. Maximum supported API version is 1.41");
        assert_eq!(dialect.spoken(), v(41));
        for useless in [
            "client version 1.41 is too old. Minimum supported API version is 1.99, please upgrade",
            "client version 1.41 is too new. Maximum supported API version is 1.40",
            "client version 1.41 is too old",
            "no such container: API version is 1.44",
        ] {
            dialect.learn(useless);
            assert_eq!(dialect.spoken(), v(41), "{useless}");
        }
    }

    #[test]
    fn versions_are_two_numbers() {
        assert_eq!(ApiVersion::parse("1.41"), Some(v(41)));
        for bad in ["", "1", "1.", ".41", "1.41.2", "1.x", "+1.41", "1.-41", "1.99999"] {
            assert_eq!(ApiVersion::parse(bad), None, "{bad:?}");
        }
    }
}
