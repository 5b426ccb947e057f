//! The fake keeps the contract, and does what its script says; the proxy breaks what it is told to.

mod contract;
mod fake;
mod proxy;
