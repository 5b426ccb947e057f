//! Task, container, resource and health status, and the tables between them.
