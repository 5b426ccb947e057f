//! The graph as text and as DOT.

use alloc::string::String;
use core::fmt::{self, Write as _};

use lighterman_status::ContainerStatus;

use crate::{Graph, Node};

impl Graph {
    /// One line per container: its name, its known status and, where it is under way, the desired one.
    ///
    /// # Panics
    /// `nodes` are not the containers of this graph in its order.
    #[must_use]
    pub fn to_text(&self, nodes: &[Node<'_>]) -> String {
        self.check_order(nodes);
        let width = nodes.iter().map(|node| node.name.as_str().len()).max().unwrap_or(0);
        let mut text = String::new();
        for node in nodes {
            line(&mut text, format_args!("{:width$}  {}", node.name.as_str(), Way(node)));
        }
        text
    }

    /// A digraph for Graphviz; its label is the name of the task.
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
        line(&mut text, format_args!("}}"));
        text
    }
}

fn line(text: &mut String, line: fmt::Arguments<'_>) {
    writeln!(text, "{line}").expect("a String takes every text");
}

/// `CREATED -> RUNNING`, or one word for a container that is where it should be.
struct Way<'a>(&'a Node<'a>);

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
