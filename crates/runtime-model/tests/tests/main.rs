//! The model against the facts that were seen on a real engine.
//!
//! Names of tests begin with the id of the scenario where there is one; the others state a fact of
//! field-faults.md, "Facts about the engine", or one that was seen while the model was written.

mod calls;
mod disturbance;
mod events;
mod health;
mod needs;
mod outage;
mod programs;
mod properties;
mod pulls;
mod rig;
mod starts;
mod stops;
