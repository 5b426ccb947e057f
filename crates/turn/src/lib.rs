//! The gate of persist-then-act: output leaves only after its commit.
