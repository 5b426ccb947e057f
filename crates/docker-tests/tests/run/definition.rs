//! Task definitions for tests.

use std::fmt;

use lighterman_ids::ImageRef;
use serde_json::{Value, json};

/// The label by which a test finds its own containers.
pub(crate) const MARK: &str = "lighterman.test";

/// A task of one container, as it is written into a file.
#[derive(Clone, Debug)]
pub(crate) struct Task(Value);

impl Task {
    pub(crate) fn new(image: &ImageRef, mark: &str, words: &[&str]) -> Self {
        Self(json!({
            "family": "e2e",
            "containerDefinitions": [{
                "name": "main",
                "image": image.as_str(),
                "memory": 64,
                "command": words,
                "dockerLabels": { MARK: mark },
            }],
        }))
    }

    /// The same with this field of its container.
    pub(crate) fn with(mut self, field: &str, value: impl Into<Value>) -> Self {
        self.0["containerDefinitions"][0][field] = value.into();
        self
    }
}

impl fmt::Display for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
