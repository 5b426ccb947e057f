//! Dependency graph of the containers of a task.
