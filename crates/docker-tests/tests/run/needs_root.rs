//! What only root can set up: a second engine that may be killed, and file systems that are full or read-only.

mod engine_killed;
mod full_disk;
mod second_engine;
