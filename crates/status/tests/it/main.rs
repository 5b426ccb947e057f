//! The tables of engine.md §1 over all their rows, and its scenarios.

mod derive;
mod health;
mod order;
mod progress;
mod tables;
mod text;
