//! The state machine of one task, without I/O.
