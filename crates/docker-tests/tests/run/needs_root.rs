//! What only root can set up: a second engine that may be killed, and file systems that are full or read-only, and
//! other users.

mod engine_killed;
mod full_disk;
mod no_permission;
mod second_engine;
