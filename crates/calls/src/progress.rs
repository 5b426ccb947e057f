//! Progress of a pull.

use alloc::string::String;

use crate::Outcome;

/// One item of a pull's stream: progress, then exactly one end.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PullStep {
    /// Something moved.
    Progress(PullProgress),
    /// The pull is over; always the last item.
    End(Outcome<()>),
}

/// How far a layer is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PullProgress {
    /// The layer's short id; empty for lines about the whole image.
    pub layer: String,
    /// The engine's word, such as `Downloading`.
    pub status: String,
    /// Bytes done, where known.
    pub current: Option<u64>,
    /// Bytes in all, where known.
    pub total: Option<u64>,
}
