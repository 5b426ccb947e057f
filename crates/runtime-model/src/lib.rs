//! A pure model of the Docker engine.
