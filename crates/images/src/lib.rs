//! Images built in memory, and the embedded pause program.
