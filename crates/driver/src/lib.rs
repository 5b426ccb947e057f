//! The tokio loop around the pure engine.
