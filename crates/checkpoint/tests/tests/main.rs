//! The store against everything that may happen to it. Counts come from the environment, small by
//! default: `LIGHTERMAN_POWER_CUTS`, `LIGHTERMAN_KILLS`, `LIGHTERMAN_BIT_FLIPS`, `LIGHTERMAN_CUT_TAILS`,
//! `LIGHTERMAN_OVERWRITES`.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "helpers of tests, too")]

mod child;
mod commits;
mod damage;
mod directories;
mod failing_device;
mod full_disk;
mod growth;
mod host;
mod kills;
mod model;
mod power_cuts;
