//! Which events become lines.

use tracing::{Metadata, level_filters::LevelFilter};
use tracing_subscriber::{
    EnvFilter,
    filter::{FilterExt as _, filter_fn},
    layer::Filter as LayerFilter,
};

/// Targets that stay at `info` whatever is asked for: below it they print requests and bodies, and with them
/// environments and credentials (crates.md §2).
pub const PINNED: [&str; 5] = ["bollard", "h2", "hyper", "hyper_util", "reqwest"];

/// The reference's words for levels that `tracing` has not (config.md 11).
const WORDS: [(&str, &str); 2] = [("none", "off"), ("crit", "error")];

/// Which events are wanted.
#[derive(Debug)]
pub struct Filter(EnvFilter);

/// Why a text is no filter.
#[derive(Debug, thiserror::Error)]
#[error(
    "{text:?} is no log filter; write a level (off error warn info debug trace) or target=level, separated by commas"
)]
pub struct FilterError {
    /// What was found, cut to 80 characters.
    pub text: String,
    /// What cannot be read.
    #[source]
    pub source: tracing_subscriber::filter::ParseError,
}

impl Filter {
    /// Reads a level (`none crit error warn info debug trace off`, in any case) or directives such as
    /// `info,lighterman_docker=trace`.
    ///
    /// # Errors
    /// The text is neither.
    pub fn parse(text: &str) -> Result<Self, FilterError> {
        let word = text.trim().to_lowercase();
        let known = WORDS.iter().find(|(reference, _)| *reference == word);
        let directives = known.map_or(text, |(_, ours)| ours);
        match EnvFilter::builder().parse(directives) {
            Ok(filter) => Ok(Self(filter)),
            Err(source) => Err(FilterError { text: text.chars().take(80).collect(), source }),
        }
    }

    pub(crate) fn pinned<S>(self) -> impl LayerFilter<S> + Send + Sync + 'static
    where
        S: tracing::Subscriber + for<'a> tracing_subscriber::registry::LookupSpan<'a>,
    {
        self.0.and(filter_fn(may_speak))
    }
}

/// Whether the pin lets an event or span through.
fn may_speak(metadata: &Metadata<'_>) -> bool {
    let root = metadata.target().split("::").next().unwrap_or_default();
    *metadata.level() <= LevelFilter::INFO || !PINNED.contains(&root)
}
