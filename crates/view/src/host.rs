//! The host as readers see it.

use alloc::string::String;

/// The host as readers see it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct HostView {
    /// How it stands with the runtime.
    pub runtime: RuntimeLink,
    /// What the store said, while it takes no changes.
    pub store_failing: Option<String>,
    /// All containers of the instance were looked for at least once since the start, those without a record too.
    pub checked: bool,
    /// Tasks of which something is, or will be, in the runtime; without those that only linger.
    pub unfinished: usize,
    /// The runtime gave no proper answer for longer than the patience allows.
    pub gave_up: bool,
}

/// How it stands with the runtime.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum RuntimeLink {
    /// It has not answered yet.
    Connecting {
        /// How it failed last.
        trouble: Option<String>,
    },
    /// It answers, and its events arrive.
    Up {
        /// Its version.
        version: String,
    },
    /// It answered before, and does not now.
    Away {
        /// How it fails.
        trouble: String,
    },
    /// It answers, and cannot be used.
    Unusable {
        /// Why.
        text: String,
    },
}
