//! The graph as text and as DOT.

use alloc::string::String;
use core::fmt::{self, Write as _};

use lighterman_status::{ContainerStatus, ResourceStatus};

use crate::{Graph, Node, Tie, graph::PlacedGate};

impl Graph {
    /// One line per container: its name, its known status and, where it is under way, the desired one. Below it a
    /// line for everything that it waits for.
    ///
    /// # Panics
    /// `nodes` are not the containers of this graph in its order.
    #[must_use]
    pub fn to_text(&self, nodes: &[Node<'_>]) -> String {
        self.check_order(nodes);
        let width = nodes.iter().map(|node| node.name.as_str().len()).max().unwrap_or(0);
        let mut text = String::new();
        for (node, container) in nodes.iter().zip(&self.members) {
            line(&mut text, format_args!("{:width$}  {}", node.name.as_str(), Way(node)));
            for edge in &container.edges {
                line(&mut text, format_args!("  -[{}]-> {}", edge.tie(), self.names[edge.on]));
            }
            for gate in &container.gates {
                line(&mut text, format_args!("  -[{}]-> {}", gate.tie(), self.target(*gate)));
            }
        }
        for resource in self.resources.iter().filter(|resource| !resource.after.is_empty()) {
            line(&mut text, format_args!("{}", resource.name));
            for (on, reached) in &resource.after {
                line(&mut text, format_args!("  -[{}]-> {}", made_after(*reached), self.names[*on]));
            }
        }
        text
    }

    /// A digraph for Graphviz; its label is the name of the task. An arrow leads from who waits to what is waited
    /// for, dashed for a transition dependency.
    ///
    /// # Panics
    /// `nodes` are not the containers of this graph in its order.
    #[must_use]
    pub fn to_dot(&self, label: &str, nodes: &[Node<'_>]) -> String {
        self.check_order(nodes);
        let mut text = String::new();
        line(&mut text, format_args!("digraph {} {{", Quoted(label)));
        line(&mut text, format_args!("  node [shape=box];"));
        for node in nodes {
            let name = Quoted(node.name.as_str());
            line(&mut text, format_args!("  {name} [tooltip=\"{}\"{}];", Way(node), style(node.known)));
        }
        for resource in &self.resources {
            // No container has a colon in its name.
            line(&mut text, format_args!("  \"resource: {0}\" [label=\"{0}\", shape=ellipse];", resource.name));
        }
        self.dot_arrows(&mut text);
        line(&mut text, format_args!("}}"));
        text
    }

    fn dot_arrows(&self, text: &mut String) {
        for (name, container) in self.names.iter().zip(&self.members) {
            for edge in &container.edges {
                let on = &self.names[edge.on];
                line(text, format_args!("  \"{name}\" -> \"{on}\" [label=\"{}\"];", edge.tie()));
            }
            for gate in &container.gates {
                let (on, kind) = (self.target(*gate), gate.kind());
                let tie = gate.tie();
                line(text, format_args!("  \"{name}\" -> \"{kind}{on}\" [label=\"{tie}\", style=dashed];"));
            }
        }
        for resource in &self.resources {
            for (on, reached) in &resource.after {
                let (name, on, tie) = (&resource.name, &self.names[*on], made_after(*reached));
                line(text, format_args!("  \"resource: {name}\" -> \"{on}\" [label=\"{tie}\", style=dashed];"));
            }
        }
    }

    fn target(&self, gate: PlacedGate) -> &dyn fmt::Display {
        match gate {
            PlacedGate::Container { on, .. } => &self.names[on],
            PlacedGate::Resource { on, .. } => &self.resources[on].name,
        }
    }
}

impl PlacedGate {
    const fn tie(self) -> Tie {
        match self {
            Self::Container { toward, reached, .. } => Tie::Gate { toward: toward.as_str(), reached: reached.as_str() },
            Self::Resource { toward, reached, .. } => Tie::Gate { toward: toward.as_str(), reached: reached.as_str() },
        }
    }

    /// What the name of its target begins with in DOT.
    const fn kind(self) -> &'static str {
        match self {
            Self::Container { .. } => "",
            Self::Resource { .. } => "resource: ",
        }
    }
}

const fn made_after(reached: ContainerStatus) -> Tie {
    Tie::Gate { toward: ResourceStatus::Created.as_str(), reached: reached.as_str() }
}

pub(crate) fn line(text: &mut String, line: fmt::Arguments<'_>) {
    writeln!(text, "{line}").expect("a String takes every text");
}

/// `CREATED -> RUNNING`, or one word for a container that is where it should be.
pub(crate) struct Way<'a>(pub(crate) &'a Node<'a>);

impl fmt::Display for Way<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Node { known, desired, .. } = self.0;
        if known.at_least(*desired) { write!(f, "{known}") } else { write!(f, "{known} -> {desired}") }
    }
}

/// A DOT string: quotes and backslashes escaped, a line break written as one.
struct Quoted<'a>(&'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for character in self.0.chars() {
            match character {
                '"' | '\\' => write!(f, "\\{character}")?,
                '\n' => f.write_str("\\n")?,
                other => f.write_char(other)?,
            }
        }
        f.write_char('"')
    }
}

const fn style(known: ContainerStatus) -> &'static str {
    match known {
        ContainerStatus::Running | ContainerStatus::ResourcesProvisioned => ", style=bold",
        ContainerStatus::Stopped => ", style=dashed",
        ContainerStatus::None
        | ContainerStatus::ManifestPulled
        | ContainerStatus::Pulled
        | ContainerStatus::Created => "",
    }
}
