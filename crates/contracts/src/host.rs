//! Time and randomness, which the core takes as inputs.

use lighterman_ids::Moment;

/// Reads both clocks of the host.
pub trait Clock: Send + Sync + 'static {
    /// Now. The monotonic half never runs backwards and goes on counting while the host sleeps.
    fn now(&self) -> Moment;
}

/// Random bits fit for ids that grant access.
pub trait Entropy: Send + Sync + 'static {
    /// 128 fresh bits from the operating system.
    fn bits(&self) -> u128;
}
