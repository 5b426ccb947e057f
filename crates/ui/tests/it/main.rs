//! What people and machines get to see.

mod splitter;
mod stage;
mod stories;
mod terminal;
mod texts;
mod waiting;
