//! Container runtime adapter for the Docker Engine API.
