//! Settings with their limits.
