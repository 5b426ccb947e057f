//! Crash-safe store of opaque records on sled.
