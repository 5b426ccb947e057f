//! Reads ECS task definitions (JSON or TOML) into shape-valid tasks, with errors that name line and path.
