//! Task definition plus facts to the create request of a container.
