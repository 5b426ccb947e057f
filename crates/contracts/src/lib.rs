//! Traits between the decisions and the adapters.
