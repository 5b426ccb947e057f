//! Measurements against the bare engine floor.
