//! Requests to a container runtime, their outcomes, and the facts that come back.
