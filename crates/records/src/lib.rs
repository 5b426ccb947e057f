//! Checkpoint format: envelopes, checksums, versions, conversions.
