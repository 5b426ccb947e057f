//! Settings, addresses, places and exit codes.

mod durations;
mod places;
mod settings;
