//! Bounds on what is read, checked before or while parsing (taskdef.md 1.1).

/// Bytes of text: the service takes 64 KiB, so 1 MiB is far above every real definition.
pub const MAX_TEXT: usize = 1_048_576;

/// Lists and objects inside each other; the API needs 8.
pub const MAX_NESTING: usize = 64;

/// Containers of one task: the service takes 10.
pub const MAX_CONTAINERS: usize = 1_000;

/// Findings that are shown; people repair the first few and run again.
pub const MAX_FINDINGS: usize = 100;
