//! Tests of the simulation: that its checkers can fail, what it found, that it is the same twice.

mod found;
mod planted;
mod same;
