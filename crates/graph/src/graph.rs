//! The containers of one task and what holds between them.

use alloc::vec::Vec;

use lighterman_ids::ContainerName;

use crate::{Node, Readiness};

/// The containers of one task, in task order.
///
/// A graph that exists is well-formed. It knows names only; statuses come in with each question.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Graph {
    names: Vec<ContainerName>,
}

/// Why the containers of a task are not a graph.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GraphError {
    /// There is no container. A task like this is refused, or has stopped before it began (engine.md 4.2, A2).
    #[error("task has no containers")]
    NoContainers,
    /// Two containers share a name, so that nothing could refer to either.
    #[error("two containers are named {name}")]
    DuplicateName {
        /// The name they share.
        name: ContainerName,
    },
}

impl Graph {
    /// The graph of these containers, given in task order.
    ///
    /// # Errors
    /// The containers break the structure; the error names the first one that does.
    pub fn build(names: impl IntoIterator<Item = ContainerName>) -> Result<Self, GraphError> {
        let mut known: Vec<ContainerName> = Vec::new();
        for name in names {
            if known.contains(&name) {
                return Err(GraphError::DuplicateName { name });
            }
            known.push(name);
        }
        if known.is_empty() { Err(GraphError::NoContainers) } else { Ok(Self { names: known }) }
    }

    /// The containers, in task order.
    #[must_use]
    pub fn names(&self) -> &[ContainerName] {
        &self.names
    }

    /// What each container may do now, in the order of `nodes`.
    ///
    /// # Panics
    /// `nodes` are not the containers of this graph in its order.
    #[must_use]
    pub fn readiness(&self, nodes: &[Node<'_>]) -> Vec<Readiness> {
        self.check_order(nodes);
        nodes.iter().map(Node::readiness).collect()
    }

    /// The containers in the order in which they stop: those of one group at once, a group only after the
    /// one before it has stopped.
    ///
    /// Without ordering edges nothing waits for anything: there is one group.
    #[must_use]
    pub fn shutdown_order(&self) -> Vec<Vec<&ContainerName>> {
        [self.names.iter().collect()].into()
    }

    pub(crate) fn check_order(&self, nodes: &[Node<'_>]) {
        let same = self.names.iter().eq(nodes.iter().map(|node| node.name));
        assert!(same, "the nodes are the containers of the graph, in its order");
    }
}
