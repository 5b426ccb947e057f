//! Fakes, contract tests and the fault-injecting proxy.
