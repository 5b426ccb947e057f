//! `lighterman graph`: what the containers of a definition wait for, as a drawing.

use std::path::Path;

use crate::{definition::Definition, validate::Checked};

/// How a graph is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drawing {
    /// One line per container, and one for each thing that it waits for.
    Text,
    /// A tree, the dependents at the left.
    Tree,
    /// A digraph for Graphviz.
    Dot,
}

/// Draws the graph of a definition.
///
/// # Errors
/// The definition is refused, or cannot be read.
pub fn graph(file: &Path, drawing: Drawing) -> Result<String, Checked> {
    let definition = Definition::load(file).map_err(|error| Checked::refused(file, error))?;
    let task = definition.admit().map_err(|problems| Checked::disordered(file, &definition, &problems))?;
    let (graph, nodes) = (task.graph(), task.graph().nodes());
    Ok(match drawing {
        Drawing::Text => graph.to_text(&nodes),
        Drawing::Tree => graph.to_tree(&nodes),
        Drawing::Dot => graph.to_dot(definition.definition.family.as_str(), &nodes),
    })
}
