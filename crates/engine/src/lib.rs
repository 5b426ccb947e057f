//! The state machine of the host: many tasks, without I/O.
