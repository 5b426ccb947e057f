//! Seeded simulation of engine, store, clock and runtime.
