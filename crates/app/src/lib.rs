//! Wiring of the agent as a library.
