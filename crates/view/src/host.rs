//! The host as readers see it.

use alloc::{string::String, vec::Vec};

use lighterman_ids::{RuntimeId, RuntimeName};

/// The host as readers see it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct HostView {
    /// How it stands with the runtime.
    pub runtime: RuntimeLink,
    /// What the store said, while it takes no changes.
    pub store_failing: Option<String>,
    /// All containers of the instance were looked for at least once since the start, those without a record too.
    pub checked: bool,
    /// Tasks of which something is, or will be, in the runtime; without those that only linger, and those of which all
    /// that is left could not be removed for long.
    pub unfinished: usize,
    /// The runtime gave no proper answer for longer than the patience allows.
    pub gave_up: bool,
    /// Containers that carry our labels and are not surely ours, as the last list showed them.
    pub left_alone: Vec<LeftAlone>,
}

/// A container that carries our labels and is neither adopted, stopped nor removed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LeftAlone {
    /// Its id.
    pub id: RuntimeId,
    /// Its name.
    pub name: RuntimeName,
    /// Why it is not taken for ours.
    pub why: &'static str,
}

impl core::fmt::Display for LeftAlone {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "container {} carries the labels of this run, and is left alone: {}", self.name, self.why)
    }
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
