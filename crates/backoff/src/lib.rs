//! Jittered retry sequences drawn from a seed.
